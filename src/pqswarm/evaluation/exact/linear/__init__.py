"""Linear models (LDA, QDA, linear and ridge regression): evaluators and kernels."""

__all__: list[str] = []
