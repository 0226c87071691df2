"""The parts of the race of benchmarks/peers.py: data, methods, one fit in a process of its own, tables."""
