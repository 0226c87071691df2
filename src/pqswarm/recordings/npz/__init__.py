"""Archives of arrays (``.npz``): read and write."""

from pqswarm.recordings.npz.reader import NPZ, write_npz

__all__ = ["NPZ", "write_npz"]
