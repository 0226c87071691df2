"""Linear models (LDA, QDA, linear and ridge regression): definitions, evaluators and kernels."""

__all__: list[str] = []
