"""Nearest centroid: evaluator and kernels."""

__all__: list[str] = []
