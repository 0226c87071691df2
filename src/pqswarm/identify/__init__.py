"""From a recording to a verdict: a trained model beside the rules of the standard."""

from pqswarm.identify.check import Check, check_model
from pqswarm.identify.files import load_model
from pqswarm.identify.model import GROUPS, Model, Prediction, Subset, default_model
from pqswarm.identify.outcome import ChannelVerdict, Verdict
from pqswarm.identify.prepare import FEATURES, available, features_of
from pqswarm.identify.train import TRAINING_SNR, train
from pqswarm.identify.verdict import identify

__all__ = [
    "FEATURES",
    "GROUPS",
    "TRAINING_SNR",
    "ChannelVerdict",
    "Check",
    "Model",
    "Prediction",
    "Subset",
    "Verdict",
    "available",
    "check_model",
    "default_model",
    "features_of",
    "identify",
    "load_model",
    "train",
]
