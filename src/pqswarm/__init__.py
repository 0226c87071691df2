"""Analyze power-quality recordings, and select the few features that identify power-quality events.

The sub-packages follow the flow of the data, in two columns that meet in an analysis::

    events                        recordings
    features                      measure
    datasets                         |
    evaluation, search               |
    study, statistics, report        |
         |                           |
         +-------- identify ---------+

Imports point upwards only. Packages are imported on first use, so that ``import pqswarm`` stays fast.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from pqswarm.evaluation.exact.naive_bayes.estimator import KernelNB
    from pqswarm.selector import SwarmSelector

__version__ = "0.2.0"

__all__ = [
    "KernelNB",
    "SwarmSelector",
    "__version__",
    "datasets",
    "evaluation",
    "events",
    "features",
    "identify",
    "measure",
    "recordings",
    "report",
    "search",
    "statistics",
    "study",
]

_CLASSES = {"KernelNB": "pqswarm.evaluation.exact.naive_bayes.estimator", "SwarmSelector": "pqswarm.selector"}


def __getattr__(name: str) -> _Any:
    if name in _CLASSES:
        return getattr(_import_module(_CLASSES[name]), name)
    if name in __all__:
        return _import_module(f"pqswarm.{name}")
    raise AttributeError(f"module 'pqswarm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
