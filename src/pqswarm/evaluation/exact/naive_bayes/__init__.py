"""Naive Bayes, Gaussian and kernel: evaluators, CPU and CUDA kernels."""

__all__: list[str] = []
