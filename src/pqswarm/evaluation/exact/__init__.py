"""Exact evaluators; each package holds the evaluator and its kernels."""

__all__: list[str] = []
