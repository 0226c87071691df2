"""Results of a study other than its runs: frozen records, stored as JSON."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, ConfigDict, PlainSerializer, PlainValidator, TypeAdapter

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.evaluation import GridSearchResult
from pqswarm.study.records import mask_text, text_mask

ALL_FEATURES = "all features"
"""Name of the set of all features, where others are named after algorithms."""

ONE_STANDARD_ERROR = "one standard error"
"""Name of the smallest subset within one standard error of the baseline's best."""


def mean_name(algorithm: str, number: int) -> str:
    """Return the name of the mean of the classifiers of an algorithm's best subsets.

    >>> mean_name("2D-UPSO", 5)
    '2D-UPSO, mean of 5'
    """
    return f"{algorithm}, mean of {number}"


def place_text(level: float | None, seed: int | None) -> str:
    """Return a noise level and a seed as stored; empty if there are none."""
    parts = ["" if level is None else f"{level:g}", "" if seed is None else f"seed {seed}"]
    return ", ".join(filter(None, parts))


def _read_grid_finding(given: dict[str, Any]) -> GridSearchResult:
    points = tuple(map(tuple, given["points"]))
    accuracies = np.array(given["accuracies"], dtype=np.float64)
    return GridSearchResult(tuple(given["names"]), points, accuracies, tuple(given["usable"]))


_Counts = Annotated[IntArray, PlainValidator(partial(np.array, dtype=np.int64)), PlainSerializer(np.ndarray.tolist)]
_Grid = Annotated[
    GridSearchResult,
    PlainValidator(_read_grid_finding),
    PlainSerializer(lambda grid: vars(grid) | {"accuracies": grid.accuracies.tolist()}),
]
_Mask = Annotated[BoolArray, PlainValidator(text_mask), PlainSerializer(mask_text)]
# Of each run of an algorithm, by number; of any other subset one value, as of all subsets in older studies.
_Rates = Annotated[
    tuple[float, ...], BeforeValidator(lambda given: (given,) if isinstance(given, int | float) else given)
]


def rate_of_run(rates: tuple[float, ...], run: int) -> float:
    """Return the value of a run, or the only one.

    >>> rate_of_run((0.2, 0.1), 1), rate_of_run((0.3,), 1)
    (0.1, 0.3)
    """
    return rates[run if len(rates) > 1 else 0]


@dataclass(frozen=True, eq=False)
class Finding:
    """A result about the study or one of its classifiers, computed once.

    >>> AllFeatures.from_json(AllFeatures("NB", 0.11).to_json())
    AllFeatures(classifier='NB', error=0.11)
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    kind: ClassVar[str]  # the word for it in the store

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind or cls.__name__

    @property
    def place(self) -> tuple[str, str]:
        """Its key within its kind: classifier, and noise level and seed; empty if not applicable."""
        return getattr(self, "classifier", ""), place_text(getattr(self, "level", None), getattr(self, "seed", None))

    def to_json(self) -> str:
        """Return it as JSON, with exact numbers."""
        return json.dumps(TypeAdapter(type(self)).dump_python(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a finding from JSON; raise a ValueError if it is not of this kind."""
        return TypeAdapter(cls).validate_python(json.loads(text))


@dataclass(frozen=True, eq=False)
class About(Finding):
    """The complete plan, the version of pqswarm, the start time (seconds since 1970) and the machine."""

    plan: dict[str, Any]
    version: str
    began: float
    machine: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Finished(Finding):
    """The time at which the study finished (seconds since 1970)."""

    at: float


@dataclass(frozen=True, eq=False)
class Events(Finding):
    """The events, or your own samples: their number, a digest of features and labels, and the names of both.

    For your own samples also the number of held-out ones, and their digest if they come from a separate file.
    """

    count: int
    digest: str
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    held_out: int = 0
    held_out_digest: str = ""


@dataclass(frozen=True, eq=False)
class GridFinding(Finding, kind="Grid"):
    """The grid search for the hyperparameters of a classifier, given by its name in the plan."""

    classifier: str
    result: _Grid


@dataclass(frozen=True, eq=False)
class Hyperparameters(Finding):
    """The hyperparameters used: given, or found by grid search."""

    classifier: str
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class AllFeatures(Finding):
    """The error of all features, J(U)."""

    classifier: str
    error: float


@dataclass(frozen=True, eq=False)
class OneStandardError(Finding):
    """The smallest subset within one standard error of the baseline's best: mask, error and standard error."""

    classifier: str
    mask: _Mask
    error: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class HeldOut(Finding):
    """Errors on held-out events, by the name of an algorithm or a mean, `ALL_FEATURES` or `ONE_STANDARD_ERROR`.

    An algorithm has the error of each run's subset, any other name one error. The events are those of a seed at a noise
    level [dB]; None for a single set without noise.
    """

    classifier: str
    errors: dict[str, _Rates]
    level: float | None = None
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class StageTwo(Finding):
    """Cross-validated accuracies [%] at one noise level [dB], by name and run as in :class:`HeldOut`.

    Without noise also the confusion matrices with all features and with the baseline's best subset.
    """

    classifier: str
    level: float
    accuracy: dict[str, _Rates]
    before: _Counts | None = None
    after: _Counts | None = None
