"""Naive Bayes, Gaussian, kernel and discrete: evaluators, CPU and CUDA kernels."""

__all__: list[str] = []
