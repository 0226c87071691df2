"""Linear models: LDA, QDA, linear and ridge regression."""

__all__: list[str] = []
