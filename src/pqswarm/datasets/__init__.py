"""Data sets of events and their features: generate, save, load; and tables of your own samples."""

from pqswarm.datasets.dataset import Dataset
from pqswarm.datasets.files import load_dataset
from pqswarm.datasets.make import make_dataset
from pqswarm.datasets.samples import Samples
from pqswarm.datasets.tabular import read_samples

__all__ = ["Dataset", "Samples", "load_dataset", "make_dataset", "read_samples"]
