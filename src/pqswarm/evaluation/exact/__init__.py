"""Exact evaluators; each package holds the evaluators and their kernels."""
