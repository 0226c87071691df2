"""Compilation, and compiled functions shared by several packages: mathematics, random numbers, sums."""

__all__: list[str] = []
