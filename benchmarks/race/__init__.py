"""Parts of benchmarks/peers.py: data, methods, one fit in a separate process, tables."""
