"""Nearest centroid: evaluator and kernel."""

__all__: list[str] = []
