"""Archives of arrays (``.npz``)."""

from pqswarm.recordings.npz.reader import NPZ

__all__ = ["NPZ"]
