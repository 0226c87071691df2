"""k-nearest neighbours: evaluator, CPU and CUDA kernels."""

__all__: list[str] = []
