"""Naive Bayes, Gaussian and kernel: definitions, evaluators, CPU and CUDA kernels."""

__all__: list[str] = []
