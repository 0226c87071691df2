"""Analyse many files: scan folders, watch them, keep a journal."""
