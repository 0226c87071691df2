"""Nearest centroid: definition, evaluator and kernel."""

__all__: list[str] = []
