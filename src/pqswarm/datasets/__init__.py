"""Data sets of events and their features: generate, save, load; and tables of your own samples."""

from pqswarm.datasets.dataset import Dataset, load_dataset, make_dataset
from pqswarm.datasets.samples import Samples, read_samples

__all__ = ["Dataset", "Samples", "load_dataset", "make_dataset", "read_samples"]
