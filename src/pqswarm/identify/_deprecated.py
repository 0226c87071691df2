"""Names of earlier versions, which still work, with a warning."""

import warnings
from typing import Any

from pqswarm.identify import features

__all__ = ["CLASSIFIER_NAMES", "__getattr__"]

CLASSIFIER_NAMES = {"nb": "kernel-nb", "knn": "k-nn"}
"""What classifiers of models are called now."""

_OLD = {"available": "usable_features", "features_of": "compute_features"}


def __getattr__(name: str) -> Any:
    if name not in _OLD:
        raise AttributeError(f"module 'pqswarm.identify' has no attribute {name!r}")
    message = f"pqswarm.identify.{name} is deprecated: use pqswarm.identify.{_OLD[name]}."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(features, _OLD[name])
