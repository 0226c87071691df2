"""PQDIF (IEEE 1159.3): read."""
