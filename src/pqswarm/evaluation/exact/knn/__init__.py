"""k-nearest neighbours: definition, evaluators, CPU and CUDA kernels. See README.md in this folder."""

__all__: list[str] = []
