"""Parts of suites.py: problems, runs and tables."""
