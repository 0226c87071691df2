"""Recordings in the workbench: routes, files, analysis queue, uploads, corrections."""
