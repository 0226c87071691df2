"""Recordings in the workbench: routes, files, analysis queue, uploads, corrections."""

__all__: list[str] = []
