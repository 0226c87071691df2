"""Parts of research/peers.py: data, methods, one fit in a separate process, tables."""
