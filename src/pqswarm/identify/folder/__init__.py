"""Analyze many files: scan folders, watch them, deliver their events."""
