"""A study plan: a validated, frozen description; :mod:`pqswarm.study.plan_file` reads and writes it."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sized
from functools import cached_property
from math import inf
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events.preset_file import write_preset
from pqswarm.study.changes import change_plan
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR
from pqswarm.study.multiverse import MultiversePlan, Specification
from pqswarm.study.plan_data import (
    DatasetPlan,
    HeldOutPlan,
    NamedEvents,
    NamedFile,
    OwnDataPlan,
    OwnHeldOutPlan,
    PlanPart,
    Seed,
    Title,
    is_own,
)
from pqswarm.study.plan_methods import AlgorithmPlan, ClassifierPlan, FoldsPlan, SubsetsPlan

_NEW: dict[str, Any] = {"subsets": None, "id": None, "ignore": (), "drop_missing": False}
# Names reserved by tables, for other subsets and for columns.
_RESERVED = (ALL_FEATURES, ONE_STANDARD_ERROR, "algorithm", "level", "all", "result", "source", "p", "chi2")

# Keys that affect the report, but not the results.
_SHOWN = ("title", "paper", "control", "comparisons", "margin")


_Data = Annotated[Annotated[DatasetPlan, Tag("generated")] | Annotated[OwnDataPlan, Tag("own")], Discriminator(is_own)]
_HeldOut = Annotated[
    Annotated[HeldOutPlan, Tag("generated")] | Annotated[OwnHeldOutPlan, Tag("own")] | Annotated[None, Tag("none")],
    Discriminator(is_own),
]
_Named = Annotated[Annotated[NamedEvents, Tag("generated")] | Annotated[NamedFile, Tag("own")], Discriminator(is_own)]


class StudyPlan(PlanPart):
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
    baseline : str
        The algorithm that SFFS is compared with and whose subsets are examined in detail.
    control : str or None
        The algorithm that tests compare with every other, by name or title; None: the baseline, ``"best"``: the one
        with the best average rank. Like `comparisons` and `margin`, it affects only the report.
    comparisons : tuple of (str, str)
        Additional pairs of algorithms to compare, the first against the second.
    margin : float
        Means shown to differ by less than this fraction of the first are called practically equal.
    paper : bool
        Whether the report shows the paper's values for comparison.
    stage_two : bool
        Whether to test the subsets found: with another partition, with noise and on held-out data. The specifications
        of a multiverse are not tested.
    dataset : DatasetPlan or OwnDataPlan
        The data: generated events or your own.
    datasets : tuple of NamedEvents or NamedFile
        Several data sets instead, each with a name: the study runs on each and tests over them.
    held_out : HeldOutPlan, OwnHeldOutPlan or None
        Data that no search uses, for a final test; by default none for your own data.
    folds : FoldsPlan
        The cross-validation.
    subsets : SubsetsPlan or None
        Features that stay, are left out, or are chosen together; None: any subset.
    classifiers : tuple of ClassifierPlan
        At least one.
    algorithms : tuple of AlgorithmPlan
        At least one that is run repeatedly.
    multiverse : MultiversePlan or None
        What to vary: the study then runs on the data sets of each specification.
    """

    title: Title = "Feature selection for power quality events"
    runs: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 40
    max_evaluations: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 6000
    seed: Seed = 0
    baseline: str = "2d-upso"
    control: str | None = None
    comparisons: tuple[tuple[str, str], ...] = ()
    margin: Annotated[float, Field(gt=0, le=1)] = 0.05
    paper: Annotated[bool, Field(strict=True)] = False
    stage_two: Annotated[bool, Field(strict=True)] = True
    dataset: _Data = DatasetPlan()
    datasets: tuple[_Named, ...] = ()
    held_out: _HeldOut = HeldOutPlan()
    folds: FoldsPlan = FoldsPlan()
    subsets: SubsetsPlan | None = None
    classifiers: Annotated[tuple[ClassifierPlan, ...], Field(min_length=1)]
    algorithms: Annotated[tuple[AlgorithmPlan, ...], Field(min_length=1)]
    multiverse: MultiversePlan | None = None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with cells of its own."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("specification_cells", None)
        return copied

    @model_validator(mode="before")
    @classmethod
    def _set_defaults_of_data(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        data = given.get("dataset", {})
        several = given.get("datasets", ())
        if given.get("multiverse") is not None or given.get("stage_two") is False:
            given = {"held_out": None} | given
        if is_own(data) == "own" or (
            isinstance(several, list | tuple) and any(is_own(one) == "own" for one in several)
        ):
            return {"title": "Feature selection", "held_out": None} | given
        seeds = data.get("seeds") if isinstance(data, dict) else ()
        n_seeds = len(seeds) if isinstance(seeds, Sized) else 0
        if several or n_seeds:
            alone = several or n_seeds < 2
            return {"held_out": None if alone else {"cross_dataset": True}} | given
        return given

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, group in (("classifiers", self.classifiers), ("algorithms", self.algorithms)):
            _check_unique(f"{what} contains the name", [member.name for member in group], "change one of them")
            ids = [member.id or member.name for member in group]
            _check_unique(f"{what} contains the id", ids, "change one of them")
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
        if self.baseline not in (names := [algorithm.name for algorithm in self.searched]):
            raise unknown_name("baseline", self.baseline, names)
        self.compared(self.control, self.comparisons)
        if self.multiverse is not None and "held_out" in self.model_fields_set and self.held_out is not None:
            raise ValueError("held_out: the specifications of a multiverse are not tested: remove it")
        self._check_data()
        return self

    def _check_data(self) -> None:
        """Check the data of each cell; see :meth:`cells`."""
        if self.datasets and self.dataset != DatasetPlan():
            raise ValueError("dataset and datasets are both given: keep one of them")
        _check_unique("datasets contains the name", [data.name for data in self.datasets], "rename one of them")
        files = [data.file for data in self.datasets if isinstance(data, NamedFile)]
        _check_unique("datasets contains the file", files, "it would count twice")
        if isinstance(self.held_out, HeldOutPlan) and self.held_out.cross_dataset and len(self.dataset_seeds) < 2:
            raise ValueError("held_out.cross_dataset needs several dataset.seeds")
        for cell in self.cells().values() if self.multiverse is None else ():  # a specification has checked its own
            cell._check_cell()
        self.cells()

    def _check_cell(self) -> None:
        data = self.dataset
        held_out = self.held_out
        if isinstance(data, OwnDataPlan):
            if isinstance(held_out, HeldOutPlan):
                raise ValueError("held_out: hold out your own data by file or by fraction: give one")
            if self.paper:
                raise ValueError(
                    "paper: the paper's values apply to its own data: remove it when dataset.file is given"
                )
            return
        if isinstance(held_out, OwnHeldOutPlan):
            raise ValueError("held_out: file and fraction need your own data, given by dataset.file")
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
    def dataset_seeds(self) -> tuple[int, ...]:
        """Seeds of the generated data sets; empty for others."""
        return (self.dataset.seeds or ()) if isinstance(self.dataset, DatasetPlan) and not self.datasets else ()

    def cells(self) -> dict[str, "StudyPlan"]:
        """Return the plan of the study on each data set alone, by its name; the only data set has an empty name.

        Examples
        --------
        >>> from pqswarm.study import load_plan
        >>> list(load_plan("smoke").cells())
        ['']
        """
        return self._cells_by_dataset() if self.multiverse is None else self.specification_cells

    @cached_property
    def specification_cells(self) -> "dict[str, StudyPlan]":
        """The cells of all specifications of a multiverse."""
        specifications = () if self.multiverse is None else self.multiverse.list_specifications()
        return {
            f"{specification.name}, {name}" if name else specification.name: cell
            for specification in specifications
            for name, cell in self.plan_for(specification).cells().items()
        }

    def plan_for(self, specification: Specification) -> "StudyPlan":
        """Return the plan of one specification of a multiverse."""
        try:
            read = type(self).model_validate(self.tree_of(specification))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(
                f"multiverse: specification {specification.name} ({specification.changes}): {where} {first['msg']}"
            ) from None
        for kind in ("classifiers", "algorithms"):
            if [one.name for one in getattr(read, kind)] != [one.name for one in getattr(self, kind)]:
                raise ValueError(f"multiverse: {kind} must have the same names in all specifications")
        for part, own in ((read.dataset, self.dataset), *zip(read.datasets, self.datasets, strict=True)):
            if isinstance(part, OwnDataPlan) and isinstance(own, OwnDataPlan):
                part.lie_in(own.located(""))
        return read

    def tree_of(self, specification: Specification) -> dict[str, Any]:
        """Return the content of the plan of a specification."""
        base = self.model_dump(exclude={"multiverse", "held_out", "stage_two"})
        for part in (base["dataset"], *base["datasets"]):
            part |= {"snr": (inf,)} if "snr" in part else {}
        return change_plan(base, specification.changes) | {"held_out": None, "stage_two": False}

    def _cells_by_dataset(self) -> "dict[str, StudyPlan]":
        if self.datasets:
            without = {"datasets": ()}
            return {one.name: self._only(one.alone(), without) for one in self.datasets}
        seeds = self.dataset_seeds
        data = self.dataset
        if not seeds:
            return {"": self}
        cells = {}
        for seed in seeds:
            tested = self.held_out
            if isinstance(tested, HeldOutPlan) and tested.cross_dataset:
                assert isinstance(data, DatasetPlan)  # noqa: S101
                others = tuple(other for other in seeds if other != seed)
                tested = tested.model_copy(update={"events_per_class": data.events_per_class, "seeds": others})
            alone = data.model_copy(update={"seed": seed, "seeds": None})
            cells[f"seed {seed}"] = self._only(alone, {"held_out": tested})
        return cells

    def _only(self, data: DatasetPlan | OwnDataPlan, changes: dict[str, Any]) -> "StudyPlan":
        return self.model_copy(update={"dataset": data} | changes)

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
        """Runs of all algorithms with all classifiers on one data set."""
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
        once = [name for algorithm in self.sequential for name in (algorithm.name, algorithm.title)]
        named = [name for pair in pairs for name in pair]
        for name in (*named, control):
            if name in once:
                raise PqswarmError(f"{name} runs once on a data set: comparisons are of algorithms with several runs.")
        for name in named:
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
        """Return the seed of a run, determined by the identifiers and the run number alone."""
        ids = (self.algorithm(algorithm).id or algorithm, self.classifier(classifier).id or classifier)
        words = [int.from_bytes(hashlib.sha256(one.encode()).digest()[:4]) for one in ids]
        return derived_seed(self.seed, (*words, run))

    def canonical(self) -> str:
        """Return everything that determines the results as canonical JSON."""
        # Of a file only its content matters, which the study knows by its digest, not its name.
        left_out: Any = {**dict.fromkeys(_SHOWN, True), "dataset": {"file"}, "held_out": {"file"}}
        left_out["datasets"] = {"__all__": {"file"}}
        return json.dumps(_without_unset(self.model_dump(mode="python", exclude=left_out)), sort_keys=True)

    def differences(self, other: "StudyPlan") -> list[tuple[str, Any, Any]]:
        """Return each key that affects the results and differs, with its value here and in the other plan."""
        plans = [json.loads(plan.canonical()) for plan in (self, other)]
        if {type(plan["dataset"].get("preset")) for plan in plans} == {str, dict}:
            for plan, full in zip(plans, (self, other), strict=True):  # a name is compared by its content
                assert isinstance(full.dataset, DatasetPlan)  # noqa: S101
                plan["dataset"]["preset"] = write_preset(full.dataset.whole_preset)
        ours, theirs = map(_flat_plan, plans)
        pairs = {key: (ours.get(key, "absent"), theirs.get(key, "absent")) for key in dict.fromkeys([*ours, *theirs])}
        return [(key, one, two) for key, (one, two) in pairs.items() if one != two]


def _check_unique(what: str, names: list[str], remedy: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{what} {twice!r} twice: {remedy}")


def _without_unset(tree: Any) -> Any:
    """Leave out keys that plans of older studies do not have, unless they are used."""
    if isinstance(tree, dict):
        kept = {key: value for key, value in tree.items() if not (key in _NEW and value == _NEW[key])}
        return {key: _without_unset(value) for key, value in kept.items()}
    return [_without_unset(one) for one in tree] if isinstance(tree, list | tuple) else tree


def held_out_levels(plan: StudyPlan) -> tuple[float, ...]:
    """Return the noise levels [dB] of the tests on held-out data: all, or only infinity on the other data sets."""
    only_one = isinstance(plan.held_out, HeldOutPlan) and plan.held_out.cross_dataset
    return (inf,) if only_one else plan.dataset.snr


def held_out_seeds(plan: StudyPlan) -> tuple[int, ...]:
    """Return the seeds of the held-out sets; empty if nothing is held out."""
    if isinstance(plan.held_out, HeldOutPlan):
        return plan.held_out.seeds
    return () if plan.held_out is None else (plan.held_out.seed,)


def _flat_plan(tree: Any, prefix: str = "") -> dict[str, Any]:
    """The leaves of nested mappings and lists, by path."""
    if isinstance(tree, dict):
        return {k: v for key, branch in tree.items() for k, v in _flat_plan(branch, f"{prefix}.{key}").items()}
    if isinstance(tree, list) and any(isinstance(branch, dict | list) for branch in tree):
        # Members with a name are identified by it, not by position.
        keys = [branch.get("name", i) if isinstance(branch, dict) else i for i, branch in enumerate(tree)]
        pairs = zip(keys, tree, strict=True)
        return {k: v for key, branch in pairs for k, v in _flat_plan(branch, f"{prefix}[{key}]").items()}
    return {prefix.lstrip("."): tree}
