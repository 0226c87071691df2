"""Analyse many files: scan folders, watch them, keep a journal."""

__all__: list[str] = []
