"""A study plan: what to run, as a checked, frozen description; :mod:`pqswarm.study.planfile` reads and writes it."""

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

# Names that tables use otherwise: of subsets that no algorithm has found, and of columns.
_TAKEN = (ALL_FEATURES, ONE_STANDARD_ERROR, "algorithm", "level", "all", "result", "source", "p", "chi2")

# Keys that decide what a report shows, and no result.
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
        Seed of the partition of stage I, in which features are selected.
    stage_two_seed : int
        Seed of the partition of stage II, in which selected subsets are tested.
    """

    number: Annotated[int, Field(ge=2, le=100, strict=True)] = 10
    seed: Seed = 0
    stage_two_seed: Seed = 1


class ClassifierPlan(_Plan):
    """A classifier, with hyperparameters that are given, or found by grid search if none is.

    Attributes
    ----------
    name : str
        Its name in tables.
    kind : str
        A name in :data:`pqswarm.evaluation.CLASSIFIERS`.
    parameters : dict
        Its hyperparameters, which in a file may also stand beside `kind`; those not named have their defaults. Any
        classifier of scikit-learn is planned by its import path, ``estimator = "sklearn.svm.LinearSVC"``, in place
        of `kind`, and `parameters` are its own then.
    scaling : {"once", "minmax", "standard", "robust"}
        Whether features are scaled to [0, 1] by all events, or by the training events of each fold, to [0, 1], by mean
        and standard deviation, or by median and quartiles.
    grid_search : bool
        Whether to search the grid of hyperparameters also if they are given, for the figure.

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
        """Move hyperparameters that stand beside `kind` to the others, and complete them."""
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
        """Return the classifier with the planned hyperparameters, or with others, such as a grid search has found."""
        return CLASSIFIERS.find(self.kind)(self.parameters if settings is None else settings)


class AlgorithmPlan(_Plan):
    """A search algorithm with its parameters.

    Attributes
    ----------
    name : str
        Its name in this study, by default that of the algorithm.
    algorithm : str
        A name in :data:`pqswarm.search.ALGORITHMS`.
    parameters : dict
        Parameters that are not the defaults. One that is told the size of the reference's best subset, as SFFS is, can
        be given another, or ``size = "all"``: then it goes through all sizes, within the budget of a run.
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
        """Its name in tables and figures; of a ranking that has no other name, with the filter that makes it."""
        ranking = filter_of(self.search, self.settings)
        if ranking is not None and self.name in (self.algorithm, f"{self.algorithm}-{ranking.name}"):
            return f"{self.search.title} ({ranking.title})"
        return self.search.title if self.name == self.algorithm else self.name

    @property
    def sequential(self) -> bool:
        """Whether it runs once, after the others, and ends by itself."""
        return self.search.runs_once

    @property
    def needs_size(self) -> bool:
        """Whether it must be told the size of the subset: that of the reference's best, unless it is given."""
        return self.search.needs_size and "size" not in self.parameters

    @property
    def all_sizes(self) -> bool:
        """Whether one that could be told a size goes through all of them, within the budget of a run."""
        return self.search.needs_size and self.parameters.get("size") == "all"

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as the algorithm knows them."""
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
        Subsets that a run evaluates.
    seed : int
        Seed of the searches.
    reference : str
        The algorithm against which SFFS is compared and whose subsets are looked at closely.
    control : str or None
        The algorithm that tests compare with each of the others, by name or title; None: the reference, ``"best"``: the
        one with the best average rank. Like `comparisons` and `margin` it decides what the report says, no result.
    comparisons : tuple of (str, str)
        Pairs of algorithms to compare besides, the first of each against the second.
    margin : float
        Means that differ by less than this share of the first one's are called practically equal, if a test says so.
    paper : bool
        Whether the report lays the paper's values beside those of the study.
    dataset : DatasetPlan or OwnDataPlan
        The data: generated events, or one's own.
    held_out : HeldOutPlan, OwnHeldOutPlan or None
        Data that no search sees, for a last test; of one's own data by default none.
    folds : FoldsPlan
        The cross-validation.
    classifiers : tuple of ClassifierPlan
        At least one.
    algorithms : tuple of AlgorithmPlan
        At least one that runs many times.
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
        if not self.searched:
            raise ValueError("algorithms must hold at least one that runs many times, such as 2d-upso or ga")
        if self.reference not in (names := [algorithm.name for algorithm in self.searched]):
            raise unknown_name("reference", self.reference, names)
        self.compared(self.control, self.comparisons)
        self._check_data()
        return self

    def _check_data(self) -> None:
        data, held_out = self.dataset, self.held_out
        if isinstance(data, OwnDataPlan):
            if isinstance(held_out, HeldOutPlan):
                raise ValueError("held_out: data of one's own are held out by file, or by share: give one of them")
            if self.paper:
                raise ValueError("paper: the paper's values are of its own data: leave it out beside dataset.file")
            return
        if isinstance(held_out, OwnHeldOutPlan):
            raise ValueError("held_out: file and share are for data of one's own, which dataset.file names")
        if held_out is not None and data.seed in held_out.seeds:
            raise ValueError("held_out.seeds must not hold dataset.seed, or its events are not held out")
        if self.folds.number > data.events_per_class:
            raise ValueError(
                f"folds.number is {self.folds.number}, more than dataset.events_per_class, {data.events_per_class}"
            )
        self.check_sizes(data.n_features)

    def check_sizes(self, n_features: int) -> None:
        """Raise an error if an algorithm shall select more features than there are."""
        for algorithm in self.algorithms:
            size = algorithm.search.Parameters.of(algorithm.settings).size
            if size is not None and size > n_features:
                raise PqswarmError(f"size of {algorithm.name} is {size}, but there are only {n_features} features.")

    @property
    def searched(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that run many times."""
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
        """Return the same plan with another control and other pairs to compare; see there what these can be."""
        known = [name for algorithm in self.searched for name in dict.fromkeys((algorithm.name, algorithm.title))]
        pairs = tuple((str(one), str(other)) for one, other in pairs)
        for name in (name for pair in pairs for name in pair):
            if name not in known:
                raise unknown_name("algorithm in comparisons", name, known)
        if control is not None and control not in (*known, "best"):
            raise unknown_name("control", control, (*known, "best"))
        for one, other in pairs:
            if self.title_of(one) == self.title_of(other):
                raise PqswarmError(f"comparisons must hold pairs of two algorithms, not {one!r} and {other!r}.")
        return self.model_copy(update={"control": control, "comparisons": pairs})

    def title_of(self, name: str) -> str:
        """Return the title of an algorithm that runs many times, by its name or title."""
        return next(a.title for a in self.searched if name in (a.name, a.title))

    def run_seed(self, classifier: str, algorithm: str, run: int) -> int:
        """Return the seed of one run, by names and number alone, whatever else is planned."""
        words = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) for name in (algorithm, classifier)]
        return derived_seed(self.seed, (*words, run))

    def canonical(self) -> str:
        """Return all that decides the results, as JSON, always the same for the same plan."""
        # Of a file counts what is in it, which the study knows by a digest, not what it is called.
        left_out: Any = {**dict.fromkeys(_SHOWN, True), "dataset": {"file"}, "held_out": {"file"}}
        return json.dumps(self.model_dump(mode="python", exclude=left_out), sort_keys=True)

    def differences(self, other: "StudyPlan") -> list[str]:
        """Return in words how the plan differs from another: one line for each key that decides the results."""
        plans = [json.loads(plan.canonical()) for plan in (other, self)]
        if {type(plan["dataset"].get("preset")) for plan in plans} == {str, dict}:
            for plan, full in zip(plans, (other, self), strict=True):  # a name is compared by what it stands for
                assert isinstance(full.dataset, DatasetPlan)  # noqa: S101
                plan["dataset"]["preset"] = write_preset(full.dataset.whole_preset)
        there, here = map(_flat, plans)
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
