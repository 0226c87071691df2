"""Data sets of events and their features: made, saved and loaded."""

from pqswarm.datasets.dataset import Dataset
from pqswarm.datasets.files import load
from pqswarm.datasets.make import make_dataset

__all__ = ["Dataset", "load", "make_dataset"]
