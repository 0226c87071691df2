"""k-nearest neighbors: evaluators, CPU and CUDA kernels. See README.md in this folder."""
