"""A study plan: what to run, as a checked, frozen description that is written as a TOML file."""

import hashlib
import json
import math
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pqswarm._random import derived_seed
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events import NOISE_LEVELS, PRESETS, check_snr, get_preset
from pqswarm.features import feature_names
from pqswarm.search import ALGORITHMS

__all__ = [
    "PLANS",
    "AlgorithmPlan",
    "ClassifierPlan",
    "DatasetPlan",
    "FoldsPlan",
    "FreshPlan",
    "StudyPlan",
    "load_plan",
    "plan_of",
    "plan_text",
    "read_plan",
]

PLANS: tuple[str, ...] = ("quick", "paper", "smoke")
"""The plans that come with pqswarm."""

# Names that tables use otherwise: of subsets that no algorithm has found, and of columns.
_TAKEN = ("all features", "one standard error", "algorithm", "level", "all", "result", "source", "p", "chi2")

Seed = Annotated[int, Field(ge=0, le=2**63 - 1, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$")]


_IN_WORDS = {
    "bool_type": "must be true or false",
    "dict_type": "must be a table of keys",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "missing": "is missing",
    "model_type": "must be a table of keys",
    "string_pattern_mismatch": "must be 1 to 40 letters, digits, blanks and . _ + -, the first a letter or digit",
    "string_too_long": "must be at most 200 characters",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "too_short": "must hold at least one",
    "tuple_type": "must be a list",
}
"""Kinds of mistakes, by pydantic's names for them, where its own words are not plain."""


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetPlan(_Plan):
    """The events to study.

    Attributes
    ----------
    preset : str
        Ranges of their parameters.
    events_per_class : int
        Events of each of the 14 classes.
    snr : tuple of float
        Noise levels [dB] of the second stage; infinity, the level of the first, is always among them.
    seed : int
        Seed of the events.
    """

    preset: str = "paper"
    events_per_class: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 250
    snr: tuple[Annotated[float, BeforeValidator(check_snr)], ...] = NOISE_LEVELS
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.preset not in PRESETS:
            raise unknown_name("preset", self.preset, PRESETS)
        get_preset(self.preset)
        if math.inf not in self.snr:
            raise ValueError("snr must hold inf, the level at which features are selected")
        if len({f"{level:g}" for level in self.snr}) != len(self.snr):
            raise ValueError("snr holds a level twice")
        return self


class FreshPlan(_Plan):
    """Events that no search ever saw, on which the selected subsets are tested in the end.

    Attributes
    ----------
    events_per_class : int
        Events of each class.
    seed : int
        Their seed, another than that of the study's events.
    """

    events_per_class: Count = 250
    seed: Seed = 1


class FoldsPlan(_Plan):
    """The partitions of the cross-validation.

    Attributes
    ----------
    number : int
        Folds.
    seed, stage_two_seed : int
        Seeds of the partition of the first and of the second stage.
    """

    number: Annotated[int, Field(ge=2, le=100, strict=True)] = 10
    seed: Seed = 0
    stage_two_seed: Seed = 1


class ClassifierPlan(_Plan):
    """A classifier, with hyperparameters that are given, or found by grid search if they are not.

    Attributes
    ----------
    name : str
        Its name in tables.
    kind : {"k-nn", "kernel-nb"}
        Nearest neighbours or kernel naive Bayes.
    n_neighbors, metric : int, str or None
        Of nearest neighbours.
    width : float or None
        Of the kernels.
    scaling : {"once", "fold"}
        Whether features are scaled to [0, 1] by all events or by the training events of each fold.
    grid_search : bool
        Whether to search the grid of hyperparameters also if they are given, for the figure.
    """

    name: Name
    kind: Literal["k-nn", "kernel-nb"]
    n_neighbors: Annotated[int, Field(ge=1, le=15, strict=True)] | None = None
    metric: Literal["manhattan", "euclidean", "chebyshev"] | None = None
    width: Annotated[float, Field(gt=1e-30, lt=1e30, strict=True)] | None = None
    scaling: Literal["once", "fold"] = "once"
    grid_search: Annotated[bool, Field(strict=True)] = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        wrong = ("width",) if self.kind == "k-nn" else ("n_neighbors", "metric")
        for key in wrong:
            if getattr(self, key) is not None:
                raise ValueError(f"{key} is not a hyperparameter of {self.kind}")
        if (self.n_neighbors is None) != (self.metric is None):
            raise ValueError("n_neighbors and metric belong together: give both, or neither for a grid search")
        if not self.hyperparameters and not self.grid_search:
            raise ValueError("hyperparameters are neither given nor searched: give them, or grid_search = true")
        return self

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The given hyperparameters; empty if they are to be searched."""
        given = {"n_neighbors": self.n_neighbors, "metric": self.metric, "width": self.width}
        return {name: value for name, value in given.items() if value is not None}


class AlgorithmPlan(_Plan):
    """A search algorithm with its parameters.

    Attributes
    ----------
    name : str
        Its name in this study, by default that of the algorithm.
    algorithm : str
        A name in :data:`pqswarm.search.ALGORITHMS`.
    parameters : dict
        Parameters that are not the paper's.
    """

    name: Name
    algorithm: str
    parameters: dict[str, Any] = {}  # checked by the algorithm

    @model_validator(mode="before")
    @classmethod
    def _named_after_algorithm(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("algorithm"), str):
            return {"name": given["algorithm"]} | given
        return given

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.algorithm not in ALGORITHMS:
            raise unknown_name("algorithm", self.algorithm, ALGORITHMS)
        size = ALGORITHMS[self.algorithm].Parameters.of(self.parameters).size
        if size is not None and size > len(feature_names()):
            raise ValueError(f"size is {size}, but an event has only {len(feature_names())} features")
        return self

    @property
    def title(self) -> str:
        """Its name in tables and figures."""
        return ALGORITHMS[self.algorithm].title if self.name == self.algorithm else self.name

    @property
    def sequential(self) -> bool:
        """Whether it is SFFS, which runs once, at the size of the reference's best subset."""
        return self.algorithm == "sffs"


class StudyPlan(_Plan):
    """A whole study.

    Attributes
    ----------
    title : str
        Heading of the report.
    runs, max_evaluations : int
        Independent runs of each algorithm with each classifier, and the budget of each.
    seed : int
        Seed of the searches.
    reference : str
        The algorithm against which SFFS is compared and whose subsets are looked at closely.
    paper : bool
        Whether the report lays the paper's values beside those of the study.
    dataset, fresh, folds, classifiers, algorithms
        The parts.
    """

    title: Annotated[str, Field(min_length=1, max_length=200)] = "Feature selection for power quality events"
    runs: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 40
    max_evaluations: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 6000
    seed: Seed = 0
    reference: str = "2d-upso"
    paper: Annotated[bool, Field(strict=True)] = False
    dataset: DatasetPlan = DatasetPlan()
    fresh: FreshPlan = FreshPlan()
    folds: FoldsPlan = FoldsPlan()
    classifiers: Annotated[tuple[ClassifierPlan, ...], Field(min_length=1)]
    algorithms: Annotated[tuple[AlgorithmPlan, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, group in (("classifiers", self.classifiers), ("algorithms", self.algorithms)):
            names = [member.name for member in group]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"{what} holds the name {twice!r} twice: give one of them another name")
        for algorithm in self.algorithms:
            if algorithm.name.lower() in _TAKEN:
                raise ValueError(f"algorithms cannot hold the name {algorithm.name!r}: tables use it otherwise")
            alike = [other.name for other in self.algorithms if other.title == algorithm.title]
            if len(alike) > 1:
                raise ValueError(
                    f"algorithms holds {alike[0]!r} and {alike[1]!r}, which are both {algorithm.title!r} in tables: "
                    f"give one of them another name"
                )
        swarms = [algorithm.name for algorithm in self.algorithms if not algorithm.sequential]
        if self.reference not in swarms:
            raise unknown_name("reference", self.reference, swarms)
        if self.fresh.seed == self.dataset.seed:
            raise ValueError("fresh.seed must differ from dataset.seed, or its events are not fresh")
        if self.folds.number > self.dataset.events_per_class:
            raise ValueError(
                f"folds.number is {self.folds.number}, more than dataset.events_per_class, "
                f"{self.dataset.events_per_class}"
            )
        return self

    @property
    def searched(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that run many times."""
        return tuple(algorithm for algorithm in self.algorithms if not algorithm.sequential)

    @property
    def sequential(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that run once, after the others."""
        return tuple(algorithm for algorithm in self.algorithms if algorithm.sequential)

    def algorithm(self, name: str) -> AlgorithmPlan:
        """Return the algorithm of that name."""
        return next(algorithm for algorithm in self.algorithms if algorithm.name == name)

    def classifier(self, name: str) -> ClassifierPlan:
        """Return the classifier of that name."""
        return next(classifier for classifier in self.classifiers if classifier.name == name)

    def run_seed(self, classifier: str, algorithm: str, run: int) -> int:
        """Return the seed of one run; it depends on the names and the number alone, not on what else is planned.

        Parameters
        ----------
        classifier, algorithm : str
            Names in the plan.
        run : int
            Number of the run.

        Returns
        -------
        int
            A seed for :func:`pqswarm.search.minimize`.
        """
        words = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) for name in (algorithm, classifier)]
        return derived_seed(self.seed, (*words, run))

    def canonical(self) -> str:
        """Return all that decides the results, as JSON, always the same for the same plan."""
        return json.dumps(self.model_dump(mode="python", exclude={"title", "paper"}), sort_keys=True)

    def differences(self, other: str) -> list[str]:
        """Return in words how the plan differs from another in canonical form.

        Parameters
        ----------
        other : str
            What :meth:`canonical` of the other plan returned.

        Returns
        -------
        list of str
            One line for each key.
        """
        there, here = _flat(json.loads(other)), _flat(json.loads(self.canonical()))
        return [
            f"{key}: {there.get(key, 'absent')} there, {here.get(key, 'absent')} now"
            for key in dict.fromkeys([*there, *here])
            if there.get(key, "absent") != here.get(key, "absent")
        ]


def _flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """The leaves of nested mappings and lists, by their path."""
    if isinstance(tree, dict):
        return {k: v for key, branch in tree.items() for k, v in _flat(branch, f"{prefix}.{key}").items()}
    if isinstance(tree, list):
        # Parts with a name are known by it, not by their place.
        keys = [branch.get("name", i) if isinstance(branch, dict) else i for i, branch in enumerate(tree)]
        pairs = zip(keys, tree, strict=True)
        return {k: v for key, branch in pairs for k, v in _flat(branch, f"{prefix}[{key}]").items()}
    return {prefix.lstrip("."): tree}


def plan_text(name: str) -> str:
    """Return the text of a plan that comes with pqswarm.

    Parameters
    ----------
    name : str
        One of :data:`PLANS`.

    Returns
    -------
    str
        TOML.

    Examples
    --------
    >>> "runs = 40" in plan_text("paper")
    True
    """
    if name not in PLANS:
        raise unknown_name("plan", name, PLANS)
    return (files("pqswarm.study") / "plans" / f"{name}.toml").read_text(encoding="utf-8")


def read_plan(text: str, source: str = "the plan") -> StudyPlan:
    """Read a plan from TOML.

    Parameters
    ----------
    text : str
        TOML.
    source : str
        Where it comes from, for messages.

    Returns
    -------
    StudyPlan
        The plan.

    Examples
    --------
    >>> read_plan(plan_text("paper")).max_evaluations
    6000
    """
    try:
        return StudyPlan.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise PqswarmError(f"{source} is not valid TOML: {error}.") from None
    except ValidationError as error:
        raise PqswarmError("\n".join([f"{source} cannot be used:", *_explained(error)])) from None


def _explained(error: ValidationError) -> list[str]:
    """One line for each mistake: the key and what is wrong with it."""
    lines = []
    mistakes = error.errors(include_url=False)
    deeper = {mistake["loc"][:1] for mistake in mistakes if len(mistake["loc"]) > 1}
    for mistake in mistakes:
        if mistake["type"] == "too_short" and mistake["loc"] in deeper:
            continue  # a member was refused, and that is said already
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake["loc"]).lstrip(".")
        message = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "must be").rstrip(".")
        message = _IN_WORDS.get(mistake["type"], message)
        if mistake["type"] == "extra_forbidden":
            message = f"there is no such key: {_known_keys(mistake['loc'])}"
        elif mistake["type"] != "value_error" and mistake["type"] != "missing":
            message = f"{message}, not {mistake['input']!r}"
        lines.append(f"  {place + ': ' if place else ''}{message}.")
    return lines


def _known_keys(place: tuple[int | str, ...]) -> str:
    parts: dict[str, type[_Plan]] = {
        "dataset": DatasetPlan,
        "fresh": FreshPlan,
        "folds": FoldsPlan,
        "classifiers": ClassifierPlan,
        "algorithms": AlgorithmPlan,
    }
    owner = parts.get(str(place[0]), StudyPlan) if len(place) > 1 else StudyPlan
    return "known here are " + ", ".join(owner.model_fields)


def load_plan(given: str | Path) -> StudyPlan:
    """Return a plan by the name of one that comes with pqswarm, or from a file.

    Parameters
    ----------
    given : str or Path
        One of :data:`PLANS`, or the path of a TOML file.

    Returns
    -------
    StudyPlan
        The plan.
    """
    if str(given) in PLANS:
        return read_plan(plan_text(str(given)), f"plan {given!s}")
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        names = ", ".join(PLANS)
        raise PqswarmError(
            f"there is no plan {str(given)!r}: give the path of a TOML file, or one of {names}."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PqswarmError(f"cannot read the plan {path}: {error}.") from None
    return read_plan(text, str(path))


def plan_of(canonical: str, title: str) -> StudyPlan:
    """Return the plan that was kept in canonical form.

    Parameters
    ----------
    canonical : str
        What :meth:`StudyPlan.canonical` returned.
    title : str
        Its title.

    Returns
    -------
    StudyPlan
        The plan.
    """
    try:
        return StudyPlan.model_validate(json.loads(canonical) | {"title": title})
    except (ValueError, TypeError) as error:
        raise PqswarmError(f"the plan that the study keeps cannot be read: {error}") from None
