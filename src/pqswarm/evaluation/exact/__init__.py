"""Exact evaluators; each package holds the evaluator, its kernels and its plain definition."""
