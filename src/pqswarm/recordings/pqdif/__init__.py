"""PQDIF (IEEE 1159.3): read."""

from pqswarm.recordings.pqdif.reader import PQDIF

__all__ = ["PQDIF"]
