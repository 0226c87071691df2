"""Helpers for all packages: parameters, checks, registries, random streams, text, files."""
