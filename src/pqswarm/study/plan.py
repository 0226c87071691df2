"""A study plan: a validated, frozen description; :mod:`pqswarm.study.planfile` reads and writes it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.events.preset_text import write_preset
from pqswarm.search import ALGORITHMS, Search, filter_of
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR
from pqswarm.study.plan_parts import DatasetPlan, HeldOutPlan, OwnDataPlan, OwnHeldOutPlan, Seed, Title, is_own

__all__ = [
    "AlgorithmPlan",
    "ClassifierPlan",
    "DatasetPlan",
    "FoldsPlan",
    "HeldOutPlan",
    "OwnDataPlan",
    "OwnHeldOutPlan",
    "StudyPlan",
]

# Names reserved by tables, for other subsets and for columns.
_RESERVED = (ALL_FEATURES, ONE_STANDARD_ERROR, "algorithm", "level", "all", "result", "source", "p", "chi2")

# Keys that affect the report, but not the results.
_SHOWN = ("title", "paper", "control", "comparisons", "margin")

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$")]


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FoldsPlan(_Plan):
    """The cross-validation.

    Attributes
    ----------
    number : int
        Folds.
    seed : int
        Seed of the partition of stage I, which selects features.
    stage_two_seed : int
        Seed of the partition of stage II, which tests the selected subsets.
    """

    number: Annotated[int, Field(ge=2, le=100, strict=True)] = 10
    seed: Seed = 0
    stage_two_seed: Seed = 1


class ClassifierPlan(_Plan):
    """A classifier with given hyperparameters, or with those found by grid search.

    Attributes
    ----------
    name : str
        Its name in tables.
    kind : str
        A name in :data:`pqswarm.evaluation.CLASSIFIERS`.
    parameters : dict
        Its hyperparameters; others have their defaults. In a file they may also be next to `kind`. Any scikit-learn
        classifier can be used by its import path, ``estimator = "sklearn.svm.LinearSVC"``, instead of `kind`;
        `parameters` are then its own.
    scaling : {"once", "minmax", "standard", "robust"}
        Scale features to [0, 1] over all events, or on the training events of each fold to [0, 1], by mean and standard
        deviation, or by median and quartiles.
    grid_search : bool
        Whether to run the grid search even if hyperparameters are given, for the figure.

    Examples
    --------
    >>> plan = ClassifierPlan(name="5-NN", kind="k-nn", n_neighbors=5)
    >>> plan.parameters, plan.make().describe()
    ({'n_neighbors': 5, 'metric': 'manhattan'}, '5 nearest neighbours by Manhattan distance')
    """

    name: Name
    kind: str
    parameters: dict[str, Any] = {}
    scaling: Literal["once", "minmax", "standard", "robust"] = "once"
    grid_search: Annotated[bool, Field(strict=True)] = True

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, given: Any) -> Any:
        """Move hyperparameters given next to `kind` into `parameters`, and complete them."""
        if not isinstance(given, dict):
            return given
        own = {key: value for key, value in given.items() if key in cls.model_fields}
        parameters = own.get("parameters", {})
        if "estimator" in given and own.setdefault("kind", "estimator") == "estimator":
            parameters = {"estimator": given["estimator"], "parameters": parameters}
        if not isinstance(parameters, dict) or not isinstance(own.get("kind"), str):
            return own
        kind = CLASSIFIERS.find(own["kind"])
        known = {field.name for field in fields(kind.Hyperparameters)}
        for key in given:
            if key in cls.model_fields or (key == "estimator" and key in parameters):
                continue
            if key not in known:
                unknown: object = unknown_name("key", key, {**cls.model_fields, **kind.Hyperparameters().settings()})
                if "estimator" in parameters:
                    value = json.dumps(given[key], default=str)
                    unknown = f"{unknown} Parameters of an estimator belong in parameters = {{ {key} = {value} }}"
                raise ValueError(unknown)
            if key in parameters:
                raise ValueError(f"{key} is given twice")
            parameters = parameters | {key: given[key]}
        settings = kind(parameters).settings
        return own | {"parameters": settings if parameters else {}}

    def make(self, settings: Mapping[str, Any] | None = None) -> Classifier:
        """Return the classifier with the planned hyperparameters, or with others, such as those of a grid search."""
        return CLASSIFIERS.find(self.kind)(self.parameters if settings is None else settings)


class AlgorithmPlan(_Plan):
    """A search algorithm with its parameters.

    Attributes
    ----------
    name : str
        Its name in the study, by default that of the algorithm.
    algorithm : str
        A name in :data:`pqswarm.search.ALGORITHMS`.
    parameters : dict
        Parameters that differ from the defaults. A search that is given the size of the reference's best subset, such
        as SFFS, can be given another ``size``, or ``"all"`` to search all sizes within the budget of a run.
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
        ALGORITHMS.find(self.algorithm).Parameters.of(self.settings)
        filter_of(self.search, self.settings)
        return self

    @property
    def search(self) -> type[Search]:
        """The algorithm itself."""
        return ALGORITHMS[self.algorithm]

    @property
    def title(self) -> str:
        """Its name in tables and figures; of an unnamed ranking, including its filter."""
        ranking = filter_of(self.search, self.settings)
        if ranking is not None and self.name in (self.algorithm, f"{self.algorithm}-{ranking.name}"):
            return f"{self.search.title} ({ranking.title})"
        return self.search.title if self.name == self.algorithm else self.name

    @property
    def sequential(self) -> bool:
        """Whether it runs once, after the others, and stops by itself."""
        return self.search.runs_once

    @property
    def needs_size(self) -> bool:
        """Whether it needs the size of the reference's best subset."""
        return self.search.needs_size and "size" not in self.parameters

    @property
    def all_sizes(self) -> bool:
        """Whether it searches all sizes within the budget of a run, instead of a given size."""
        return self.search.needs_size and self.parameters.get("size") == "all"

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as passed to the algorithm."""
        return self.parameters | ({"size": None} if self.all_sizes else {})


_Data = Annotated[Annotated[DatasetPlan, Tag("generated")] | Annotated[OwnDataPlan, Tag("own")], Discriminator(is_own)]
_HeldOut = Annotated[
    Annotated[HeldOutPlan, Tag("generated")] | Annotated[OwnHeldOutPlan, Tag("own")] | Annotated[None, Tag("none")],
    Discriminator(is_own),
]


class StudyPlan(_Plan):
    """A whole study.

    Attributes
    ----------
    title : str
        Heading of the report.
    runs : int
        Independent runs of each algorithm with each classifier.
    max_evaluations : int
        Subsets evaluated per run.
    seed : int
        Seed of the searches.
    reference : str
        The algorithm that SFFS is compared with and whose subsets are examined in detail.
    control : str or None
        The algorithm that tests compare with every other, by name or title; None: the reference, ``"best"``: the one
        with the best average rank. Like `comparisons` and `margin`, it affects only the report.
    comparisons : tuple of (str, str)
        Additional pairs of algorithms to compare, the first against the second.
    margin : float
        Means shown to differ by less than this fraction of the first are called practically equal.
    paper : bool
        Whether the report shows the paper's values for comparison.
    dataset : DatasetPlan or OwnDataPlan
        The data: generated events or your own.
    held_out : HeldOutPlan, OwnHeldOutPlan or None
        Data that no search uses, for a final test; by default none for your own data.
    folds : FoldsPlan
        The cross-validation.
    classifiers : tuple of ClassifierPlan
        At least one.
    algorithms : tuple of AlgorithmPlan
        At least one that is run repeatedly.
    """

    title: Title = "Feature selection for power quality events"
    runs: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 40
    max_evaluations: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 6000
    seed: Seed = 0
    reference: str = "2d-upso"
    control: str | None = None
    comparisons: tuple[tuple[str, str], ...] = ()
    margin: Annotated[float, Field(gt=0, le=1)] = 0.05
    paper: Annotated[bool, Field(strict=True)] = False
    dataset: _Data = DatasetPlan()
    held_out: _HeldOut = HeldOutPlan()
    folds: FoldsPlan = FoldsPlan()
    classifiers: Annotated[tuple[ClassifierPlan, ...], Field(min_length=1)]
    algorithms: Annotated[tuple[AlgorithmPlan, ...], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _set_defaults_of_own_data(cls, given: Any) -> Any:
        if isinstance(given, dict) and is_own(given.get("dataset", {})) == "own":
            return {"title": "Feature selection", "held_out": None} | given
        return given

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, group in (("classifiers", self.classifiers), ("algorithms", self.algorithms)):
            names = [member.name for member in group]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"{what} contains the name {twice!r} twice: rename one of them")
        for algorithm in self.algorithms:
            if algorithm.name.lower() in _RESERVED:
                raise ValueError(
                    f"algorithms cannot contain the name {algorithm.name!r}, which is reserved: choose another name"
                )
            alike = [other.name for other in self.algorithms if other.title == algorithm.title]
            if len(alike) > 1:
                raise ValueError(
                    f"algorithms contains {alike[0]!r} and {alike[1]!r}, both called {algorithm.title!r} in tables: "
                    f"rename one of them"
                )
        if not self.searched:
            raise ValueError("algorithms must contain at least one that is run repeatedly, such as 2d-upso or ga")
        if self.reference not in (names := [algorithm.name for algorithm in self.searched]):
            raise unknown_name("reference", self.reference, names)
        self.compared(self.control, self.comparisons)
        self._check_data()
        return self

    def _check_data(self) -> None:
        data, held_out = self.dataset, self.held_out
        if isinstance(data, OwnDataPlan):
            if isinstance(held_out, HeldOutPlan):
                raise ValueError("held_out: hold out your own data by file or by share: give one")
            if self.paper:
                raise ValueError(
                    "paper: the paper's values apply to its own data: remove it when dataset.file is given"
                )
            return
        if isinstance(held_out, OwnHeldOutPlan):
            raise ValueError("held_out: file and share need your own data, given by dataset.file")
        if held_out is not None and data.seed in held_out.seeds:
            raise ValueError("held_out.seeds must not contain dataset.seed: those events are used by the searches")
        if self.folds.number > data.events_per_class:
            raise ValueError(
                f"folds.number is {self.folds.number}, more than dataset.events_per_class, {data.events_per_class}"
            )
        self.check_sizes(data.n_features)

    def check_sizes(self, n_features: int) -> None:
        """Raise an error if an algorithm is to select more features than there are."""
        for algorithm in self.algorithms:
            size = algorithm.search.Parameters.of(algorithm.settings).size
            if size is not None and size > n_features:
                raise PqswarmError(f"size of {algorithm.name} is {size}, but there are only {n_features} features.")

    @property
    def searched(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that are run repeatedly."""
        return tuple(algorithm for algorithm in self.algorithms if not algorithm.sequential)

    @property
    def sequential(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that run once, after the others."""
        return tuple(algorithm for algorithm in self.algorithms if algorithm.sequential)

    @property
    def n_runs(self) -> int:
        """Runs of all algorithms with all classifiers."""
        return (len(self.searched) * self.runs + len(self.sequential)) * len(self.classifiers)

    def algorithm(self, name: str) -> AlgorithmPlan:
        """Return the algorithm of that name."""
        return next(algorithm for algorithm in self.algorithms if algorithm.name == name)

    def classifier(self, name: str) -> ClassifierPlan:
        """Return the classifier of that name."""
        return next(classifier for classifier in self.classifiers if classifier.name == name)

    def compared(self, control: str | None, pairs: Iterable[tuple[str, str]]) -> Self:
        """Return the plan with another `control` and other `comparisons`."""
        known = [name for algorithm in self.searched for name in dict.fromkeys((algorithm.name, algorithm.title))]
        pairs = tuple((str(one), str(other)) for one, other in pairs)
        for name in (name for pair in pairs for name in pair):
            if name not in known:
                raise unknown_name("algorithm in comparisons", name, known)
        if control is not None and control not in (*known, "best"):
            raise unknown_name("control", control, (*known, "best"))
        for one, other in pairs:
            if self.title_of(one) == self.title_of(other):
                raise PqswarmError(f"comparisons must be pairs of different algorithms, not {one!r} and {other!r}.")
        return self.model_copy(update={"control": control, "comparisons": pairs})

    def title_of(self, name: str) -> str:
        """Return the title of a repeated algorithm by its name or title."""
        return next(a.title for a in self.searched if name in (a.name, a.title))

    def run_seed(self, classifier: str, algorithm: str, run: int) -> int:
        """Return the seed of a run, determined by the names and the run number alone."""
        words = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) for name in (algorithm, classifier)]
        return derived_seed(self.seed, (*words, run))

    def canonical(self) -> str:
        """Return everything that determines the results as canonical JSON."""
        # Of a file only its content matters, which the study knows by its digest, not its name.
        left_out: Any = {**dict.fromkeys(_SHOWN, True), "dataset": {"file"}, "held_out": {"file"}}
        return json.dumps(self.model_dump(mode="python", exclude=left_out), sort_keys=True)

    def differences(self, other: "StudyPlan") -> list[tuple[str, Any, Any]]:
        """Return each key that affects the results and differs, with its value here and in the other plan."""
        plans = [json.loads(plan.canonical()) for plan in (self, other)]
        if {type(plan["dataset"].get("preset")) for plan in plans} == {str, dict}:
            for plan, full in zip(plans, (self, other), strict=True):  # a name is compared by its content
                assert isinstance(full.dataset, DatasetPlan)  # noqa: S101
                plan["dataset"]["preset"] = write_preset(full.dataset.whole_preset)
        ours, theirs = map(_flat, plans)
        pairs = {key: (ours.get(key, "absent"), theirs.get(key, "absent")) for key in dict.fromkeys([*ours, *theirs])}
        return [(key, one, two) for key, (one, two) in pairs.items() if one != two]


def _flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """The leaves of nested mappings and lists, by path."""
    if isinstance(tree, dict):
        return {k: v for key, branch in tree.items() for k, v in _flat(branch, f"{prefix}.{key}").items()}
    if isinstance(tree, list):
        # Members with a name are identified by it, not by position.
        keys = [branch.get("name", i) if isinstance(branch, dict) else i for i, branch in enumerate(tree)]
        pairs = zip(keys, tree, strict=True)
        return {k: v for key, branch in pairs for k, v in _flat(branch, f"{prefix}[{key}]").items()}
    return {prefix.lstrip("."): tree}
