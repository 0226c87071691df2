"""k-nearest neighbours: definition, evaluators, CPU and CUDA kernels. See README.md in this folder."""
