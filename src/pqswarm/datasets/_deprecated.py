"""Old names of :mod:`pqswarm.datasets`, for one release."""

import warnings
from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name != "load":
        raise AttributeError(f"module 'pqswarm.datasets' has no attribute {name!r}")
    from pqswarm.datasets.files import load_dataset

    warnings.warn("pqswarm.datasets.load is deprecated: use load_dataset.", DeprecationWarning, stacklevel=2)
    return load_dataset
