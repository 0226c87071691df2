"""Helpers for all packages: options, checks, registries, random streams, text, files."""
