"""Identify the events of a recording: by the rules of the standard and by a trained model."""

from pqswarm.identify.analysis import COLUMNS, Analysis, EventResult, Reference
from pqswarm.identify.archive.archive import Archive
from pqswarm.identify.archive.queries import ArchiveQueries, EventFilter
from pqswarm.identify.classify import identify, possible_labels
from pqswarm.identify.features import BANDWIDTHS, FEATURES, compute_features, usable_features
from pqswarm.identify.folder.batch import Failure, find_recordings, identify_file, load_site
from pqswarm.identify.model import FeatureSubset, Model, Prediction, default_model, load_model
from pqswarm.identify.training import TRAINING_SNR, Correction, ModelCheck, check_model, train

__all__ = [
    "BANDWIDTHS",
    "COLUMNS",
    "FEATURES",
    "TRAINING_SNR",
    "Analysis",
    "Archive",
    "ArchiveQueries",
    "Correction",
    "EventFilter",
    "EventResult",
    "Failure",
    "FeatureSubset",
    "Model",
    "ModelCheck",
    "Prediction",
    "Reference",
    "check_model",
    "compute_features",
    "default_model",
    "find_recordings",
    "identify",
    "identify_file",
    "load_model",
    "load_site",
    "possible_labels",
    "train",
    "usable_features",
]
