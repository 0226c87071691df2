"""Identify the events of a recording: by the rules of the standard and by a trained model."""

from pqswarm.identify.analysis import identify
from pqswarm.identify.class_limits import possible_labels
from pqswarm.identify.features.compute import BANDWIDTHS, FEATURES, compute_features, usable_features
from pqswarm.identify.folder.batch import Failure, find_recordings, identify_file, load_site
from pqswarm.identify.model import Model, Prediction, Subset, default_model
from pqswarm.identify.model_file import load_model
from pqswarm.identify.training.corrections import Correction, CorrectionFile, corrections_path, load_corrections
from pqswarm.identify.training.specs import TRAINING_SNR
from pqswarm.identify.training.train import train
from pqswarm.identify.training.validation import Check, check_model
from pqswarm.identify.verdict import COLUMNS, EventVerdict, Reference, Verdict

__all__ = [
    "BANDWIDTHS",
    "COLUMNS",
    "FEATURES",
    "TRAINING_SNR",
    "Check",
    "Correction",
    "CorrectionFile",
    "EventVerdict",
    "Failure",
    "Model",
    "Prediction",
    "Reference",
    "Subset",
    "Verdict",
    "check_model",
    "compute_features",
    "corrections_path",
    "default_model",
    "find_recordings",
    "identify",
    "identify_file",
    "load_corrections",
    "load_model",
    "load_site",
    "possible_labels",
    "train",
    "usable_features",
]
