"""Helpers for all packages: options, checks, registries, random streams, text, files."""

__all__: list[str] = []
