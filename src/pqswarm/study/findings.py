"""What a study finds out besides its runs: frozen records that the store keeps as JSON."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import ConfigDict, PlainSerializer, PlainValidator, TypeAdapter

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.evaluation import GridSearchResult
from pqswarm.study.records import mask_text, text_mask

__all__ = [
    "ALL_FEATURES",
    "ONE_STANDARD_ERROR",
    "About",
    "AllFeatures",
    "Events",
    "Finding",
    "Finished",
    "GridFinding",
    "HeldOut",
    "Hyperparameters",
    "OneStandardError",
    "ProblemDigest",
    "StageTwo",
    "place_text",
]

ALL_FEATURES = "all features"
"""Name of the subset of all features, beside the names of algorithms."""

ONE_STANDARD_ERROR = "one standard error"
"""Name of the smallest subset within one standard error of the reference's best."""


def place_text(level: float | None, seed: int | None) -> str:
    """Return a noise level and a seed as the store writes them; empty if there are none."""
    parts = ["" if level is None else f"{level:g}", "" if seed is None else f"seed {seed}"]
    return ", ".join(filter(None, parts))


def _read_grid(given: dict[str, Any]) -> GridSearchResult:
    points, accuracies = tuple(map(tuple, given["points"])), np.array(given["accuracies"], dtype=np.float64)
    return GridSearchResult(tuple(given["names"]), points, accuracies, tuple(given["usable"]))


def _write_grid(grid: GridSearchResult) -> dict[str, Any]:
    return vars(grid) | {"accuracies": grid.accuracies.tolist()}


_Counts = Annotated[IntArray, PlainValidator(partial(np.array, dtype=np.int64)), PlainSerializer(np.ndarray.tolist)]
_Grid = Annotated[GridSearchResult, PlainValidator(_read_grid), PlainSerializer(_write_grid)]
_Mask = Annotated[BoolArray, PlainValidator(text_mask), PlainSerializer(mask_text)]


@dataclass(frozen=True, eq=False)
class Finding:
    """Something found out once and never changed, about the study or one of its classifiers.

    Examples
    --------
    >>> found = AllFeatures("NB", 0.11)
    >>> found.to_json()
    '{"classifier": "NB", "error": 0.11}'
    >>> AllFeatures.from_json(found.to_json()).error
    0.11
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    kind: ClassVar[str]  # the word for it in the store

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind or cls.__name__

    @property
    def place(self) -> tuple[str, str]:
        """Which one of its kind it is: of which classifier, at which noise level and seed; empty where there is one."""
        level, seed = getattr(self, "level", None), getattr(self, "seed", None)
        return getattr(self, "classifier", ""), place_text(level, seed)

    def to_json(self) -> str:
        """Return it as JSON, numbers exact to the last bit."""
        return json.dumps(TypeAdapter(type(self)).dump_python(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the finding that was written as JSON; a ValueError if the text can't be one of this kind."""
        return TypeAdapter(cls).validate_python(json.loads(text))


@dataclass(frozen=True, eq=False)
class About(Finding):
    """What study it is: its plan in full, the version of pqswarm, when it began (seconds since 1970), and where."""

    plan: dict[str, Any]
    version: str
    began: float
    machine: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Finished(Finding):
    """That all is done, and when (seconds since 1970)."""

    at: float


@dataclass(frozen=True, eq=False)
class Events(Finding):
    """The events, or samples of one's own: how many, a digest of features and labels, and what these are called.

    Of samples of one's own also how many are held out, and their digest if they have a file of their own.
    """

    count: int
    digest: str
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    held_out: int = 0
    held_out_digest: str = ""


@dataclass(frozen=True, eq=False)
class GridFinding(Finding, kind="Grid"):
    """The grid search for the hyperparameters of a classifier, which is known by its name in the plan."""

    classifier: str
    result: _Grid


@dataclass(frozen=True, eq=False)
class Hyperparameters(Finding):
    """The hyperparameters that were used: given, or found by grid search."""

    classifier: str
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class ProblemDigest(Finding):
    """A digest of all that decides errors: events, folds and classifier."""

    classifier: str
    digest: str


@dataclass(frozen=True, eq=False)
class AllFeatures(Finding):
    """The error of all features, J(U)."""

    classifier: str
    error: float


@dataclass(frozen=True, eq=False)
class OneStandardError(Finding):
    """The smallest subset within one standard error of the reference's best: its mask, its error, and that width."""

    classifier: str
    mask: _Mask
    error: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class HeldOut(Finding):
    """Errors on events that no search saw, by the name of an algorithm, `ALL_FEATURES` or `ONE_STANDARD_ERROR`.

    The events are those of a seed at a noise level [dB]. Both are None in studies of earlier versions, which had one
    set of events without noise.
    """

    classifier: str
    errors: dict[str, float]
    level: float | None = None
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class StageTwo(Finding):
    """Accuracies [%] at one noise level [dB], with another partition, by the same names as in :class:`HeldOut`.

    Without noise, also the confusion matrices with all features, and with the reference's best subset.
    """

    classifier: str
    level: float
    accuracy: dict[str, float]
    before: _Counts | None = None
    after: _Counts | None = None
