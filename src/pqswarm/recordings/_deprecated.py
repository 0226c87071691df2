"""Names of earlier versions, which still work, with a warning."""

import warnings
from importlib import import_module
from typing import Any

__all__ = ["__getattr__"]


def __getattr__(name: str) -> Any:
    if name == "characterise":
        found, now = import_module("pqswarm.measure").characterise, "pqswarm.measure.characterise"
    elif name == "FORMATS":
        found, now = tuple(import_module("pqswarm.recordings").READERS), "pqswarm.recordings.READERS"
    else:
        raise AttributeError(f"module 'pqswarm.recordings' has no attribute {name!r}")
    warnings.warn(f"pqswarm.recordings.{name} is deprecated: use {now}.", DeprecationWarning, stacklevel=2)
    return found
