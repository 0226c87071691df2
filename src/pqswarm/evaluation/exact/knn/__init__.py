"""k-nearest neighbours: evaluators, CPU and CUDA kernels. See README.md in this folder."""
