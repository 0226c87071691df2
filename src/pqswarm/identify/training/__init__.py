"""Train a model, correct it and check it."""

__all__: list[str] = []
