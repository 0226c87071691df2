"""What a study finds out besides its runs: frozen records that the store keeps as JSON."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Self

import numpy as np
from pydantic import ConfigDict, PlainSerializer, PlainValidator, TypeAdapter

from pqswarm._typing import BoolArray, IntArray
from pqswarm.evaluation import GridSearchResult
from pqswarm.study.records import mask_text, text_mask

__all__ = [
    "ALL_FEATURES",
    "ONE_STANDARD_ERROR",
    "About",
    "AllFeatures",
    "ClassifierFinding",
    "Events",
    "Finding",
    "Finished",
    "Grid",
    "HeldOut",
    "Hyperparameters",
    "OneStandardError",
    "ProblemDigest",
    "StageTwo",
]

ALL_FEATURES = "all features"
"""Name of the subset of all features, beside the names of algorithms."""

ONE_STANDARD_ERROR = "one standard error"
"""Name of the smallest subset within one standard error of the reference's best."""

_Mask = Annotated[BoolArray, PlainValidator(text_mask), PlainSerializer(mask_text)]
_Counts = Annotated[
    IntArray, PlainValidator(lambda rows: np.array(rows, dtype=np.int64)), PlainSerializer(np.ndarray.tolist)
]


def _read_grid(given: dict[str, Any]) -> GridSearchResult:
    points = tuple(tuple(point) for point in given["points"])
    accuracies = np.array(given["accuracies"], dtype=np.float64)
    return GridSearchResult(tuple(given["names"]), points, accuracies, tuple(given["usable"]))


def _write_grid(grid: GridSearchResult) -> dict[str, Any]:
    return {"names": grid.names, "points": grid.points, "accuracies": grid.accuracies.tolist(), "usable": grid.usable}


@dataclass(frozen=True, eq=False)
class Finding:
    """Something found out once and never changed.

    Examples
    --------
    >>> found = AllFeatures("NB", 0.11)
    >>> found.to_json()
    '{"classifier": "NB", "error": 0.11}'
    >>> AllFeatures.from_json(found.to_json()).error
    0.11
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=False)

    @property
    def place(self) -> tuple[str, str]:
        """Which one of its kind it is: of which classifier, and at which noise level; empty where there is one only."""
        return ("", "")

    def to_json(self) -> str:
        """Return it as JSON, numbers exact to the last bit."""
        return json.dumps(_adapter(type(self)).dump_python(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the finding that was written as JSON; a ValueError if the text can't be one of this kind."""
        found: Self = _adapter(cls).validate_python(json.loads(text))
        return found


@cache
def _adapter(kind: type[Finding]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@dataclass(frozen=True, eq=False)
class About(Finding):
    """What study it is.

    Attributes
    ----------
    plan : dict
        The plan, for :func:`pqswarm.study.plan.restore_plan`.
    version : str
        Of pqswarm.
    began : float
        When, in seconds since 1970.
    machine : dict
        Where.
    """

    plan: dict[str, Any]
    version: str
    began: float
    machine: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Finished(Finding):
    """That all is done, and when, in seconds since 1970."""

    at: float


@dataclass(frozen=True, eq=False)
class Events(Finding):
    """The events: how many, and a digest of their features and labels."""

    count: int
    digest: str


@dataclass(frozen=True, eq=False)
class ClassifierFinding(Finding):
    """Something found out with one classifier, by its name in the plan."""

    classifier: str

    @property
    def place(self) -> tuple[str, str]:
        """Which one of its kind it is."""
        return (self.classifier, "")


@dataclass(frozen=True, eq=False)
class Grid(ClassifierFinding):
    """The grid search for its hyperparameters."""

    result: Annotated[GridSearchResult, PlainValidator(_read_grid), PlainSerializer(_write_grid)]


@dataclass(frozen=True, eq=False)
class Hyperparameters(ClassifierFinding):
    """The hyperparameters that were used, given or found by grid search."""

    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class ProblemDigest(ClassifierFinding):
    """A digest of all that decides errors: events, folds and classifier."""

    digest: str


@dataclass(frozen=True, eq=False)
class AllFeatures(ClassifierFinding):
    """The error of all features, J(U)."""

    error: float


@dataclass(frozen=True, eq=False)
class OneStandardError(ClassifierFinding):
    """The smallest subset found within one standard error of the reference's best.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_features,)
        The subset.
    error : float
        Its error.
    standard_error : float
        Standard error of the error of the best subset.
    """

    mask: _Mask
    error: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class HeldOut(ClassifierFinding):
    """Errors on events that no search saw, by name: of algorithms, `ALL_FEATURES` and `ONE_STANDARD_ERROR`."""

    errors: dict[str, float]


@dataclass(frozen=True, eq=False)
class StageTwo(ClassifierFinding):
    """The best subsets at one noise level, with another partition.

    Attributes
    ----------
    level : float
        Noise level [dB].
    accuracy : dict of str to float
        Accuracy of each subset [%], by name: of algorithms, `ALL_FEATURES` and `ONE_STANDARD_ERROR`.
    before, after : ndarray of int or None
        Confusion matrices with all features and with the reference's best subset; without noise only.
    """

    level: float
    accuracy: dict[str, float]
    before: _Counts | None = None
    after: _Counts | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Which one of its kind it is."""
        return (self.classifier, f"{self.level:g}")
