"""Data sets of events and their features: made, saved and loaded."""

from pqswarm.datasets._deprecated import __getattr__ as __getattr__
from pqswarm.datasets.dataset import Dataset
from pqswarm.datasets.files import load_dataset
from pqswarm.datasets.make import make_dataset

__all__ = ["Dataset", "load_dataset", "make_dataset"]
