"""A study plan: a validated, frozen description; :mod:`pqswarm.study.plan_file` reads and writes it."""

import copy
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields
from functools import cached_property
from math import inf, log2, prod
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    StrictBool,
    Tag,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from pqswarm._base.checks import check_name
from pqswarm._base.random import derived_seed, stream
from pqswarm._base.text import printable
from pqswarm._base.toml import parse_toml
from pqswarm._base.typing import IntArray
from pqswarm.datasets.dataset import count_features
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier, Folds
from pqswarm.events import NOISE_LEVELS, Preset, check_snr, get_preset, load_preset
from pqswarm.events.preset_file import read_preset, write_preset
from pqswarm.features import FeatureOptions
from pqswarm.search import Search
from pqswarm.search.ranking import required_filter
from pqswarm.search.registry import search_class
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR, mean_name

_OWN_KEYS = {
    "algorithms": ("name", "id", "algorithm", "parameters"),
    "classifiers": ("name", "id", "kind", "parameters", "scaling", "grid_search", "estimator"),
}
_LISTS = (*_OWN_KEYS, "datasets")


def parse_changes(given: Iterable[str]) -> dict[str, Any]:
    """Return changes written as ``key=value``, with values as in TOML; what is not TOML is text.

    >>> parse_changes(["runs=5", "dataset.seeds=[1, 2]", "dataset.preset=field"])
    {'runs': 5, 'dataset.seeds': [1, 2], 'dataset.preset': 'field'}
    """
    changes: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise PqswarmError(f"--set takes KEY=VALUE, such as --set runs=5, not {text!r}.")
        try:
            changes[key.strip()] = parse_toml(f"value = {value}", key)["value"]
        except PqswarmError as error:
            if value.strip().startswith(("[", "{")):
                column = re.search(r"column (\d+)", str(error))
                rest = value[int(column[1]) - len("value = ") - 1 :] if column else value
                raise PqswarmError(
                    f"--set {key.strip()}: the list or table {value.strip()!r} is not understood from {rest!r} on: "
                    f'separate values by commas, and quote texts, as in ["sag", "swell"].'
                ) from None
            changes[key.strip()] = value.strip()
    return changes


def change_plan(tree: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan, as read from TOML, with new values by dotted key.

    A classifier, algorithm or data set is given by its name, or ``*`` for all. Keys of algorithms and classifiers that
    are not their own are parameters, which ``*`` changes where they exist. A preset given by name becomes one that
    extends it.
    """
    changed = copy.deepcopy(dict(tree))
    for key, value in changes.items():
        _change_plan_key(changed, key, key.split("."), copy.deepcopy(value))
    return changed


def _change_plan_key(tree: dict[str, Any], key: str, parts: list[str], value: Any) -> None:
    first, *rest = parts
    if not rest:
        tree[first] = value
        return
    if first in _LISTS:
        _change_plan_members(tree, key, parts, value)
        return
    below = tree.setdefault(first, {})
    if first == "preset" and isinstance(below, str):
        below = tree[first] = {"extends": below}
    if not isinstance(below, dict):
        raise PqswarmError(f"{key}: {first} is not a table of the plan, so it has no key {rest[0]!r}.")
    _change_plan_key(below, key, rest, value)


def _change_plan_members(tree: dict[str, Any], key: str, parts: list[str], value: Any) -> None:
    kind, wanted, *rest = parts
    named = {_plan_member_name(member): member for member in tree.get(kind, []) if isinstance(member, dict)}
    if wanted != "*" and wanted not in named:
        raise unknown_name(f"name in {key!r}:", wanted, [*named, "*"])
    if not rest:
        raise PqswarmError(f"{key} is a table: name one of its keys, such as {key}.name.")
    touched = 0
    for member in named.values() if wanted == "*" else [named[wanted]]:
        if kind not in _OWN_KEYS or rest[0] in (*_OWN_KEYS[kind], *member):
            _change_plan_key(member, key, rest, value)
        elif wanted != "*" or _has_plan_parameter(kind, member, rest[0]):
            _change_plan_key(member.setdefault("parameters", {}), key, rest, value)
        else:
            continue
        touched += 1
    if not touched:
        raise PqswarmError(f"{key}: none of the {kind} has a parameter {rest[0]!r}.")


def _plan_member_name(member: Mapping[str, Any]) -> str:
    """The name of a classifier, algorithm or data set, by default that of its algorithm, file or preset."""
    given = member.get("name", _algorithm_name(member.get("algorithm", member.get("kind"))))
    return str(given if given is not None else PurePath(str(member.get("file", member.get("preset", "paper")))).stem)


def _algorithm_name(algorithm: Any) -> Any:
    """The name of an algorithm in a plan that gives none: that of its class, if it is given by an import path."""
    return algorithm.rpartition(":")[2] if isinstance(algorithm, str) else algorithm


def _has_plan_parameter(kind: str, member: Mapping[str, Any], parameter: str) -> bool:
    known = (
        CLASSIFIERS.find(str(member.get("kind", "estimator"))).Hyperparameters
        if kind == "classifiers"
        else search_class(member.get("algorithm")).Parameters
    )
    return parameter in {field.name for field in fields(known)}


def _check_each_once(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("contains a seed twice: its events would count twice")
    return seeds


Seed = Annotated[int, Field(ge=0, le=2**63 - 1, strict=True)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1, max_length=1000), AfterValidator(_check_each_once)]
Title = Annotated[
    str,
    Field(min_length=1, max_length=200),
    BeforeValidator(lambda given: printable(" ".join(given.split())) if isinstance(given, str) else given),
]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$")]
FileName = Annotated[str, Field(min_length=1, max_length=1000)]

# Only the options that differ from the defaults, so that equal plans compare equal.
_FeatureOptions = Annotated[
    dict[str, Any],
    BeforeValidator(lambda given: FeatureOptions.of(given).changed() if isinstance(given, dict) else given),
]
_GENERATED = ("preset", "classes", "events_per_class", "snr", "features", "seed", "seeds")
"""Keys of generated events, which do not apply to your own data."""


class PlanPart(BaseModel):
    """A table of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def embed_preset_file(key: str, given: Any, folder: Path) -> Any:
    """Return the value of a key; the file of a preset is replaced by its content, as in :class:`DatasetPlan`."""
    named = given.get("extends") if isinstance(given, dict) else given
    if key.rpartition(".")[2] != "preset" or not (isinstance(named, str) and named.endswith(".toml")):
        return given
    return write_preset(read_preset(given, folder=folder) if isinstance(given, dict) else load_preset(folder / given))


def _embed_plan_preset(given: Any, info: ValidationInfo) -> Any:
    """Replace a preset file or table by its full content, so that the study does not depend on the file."""
    folder = (info.context or {}).get("folder", Path())
    if isinstance(given, dict):
        return write_preset(read_preset(given, folder=folder))
    return embed_preset_file("preset", given, folder)


class DatasetPlan(PlanPart):
    """The events to study and their features.

    Attributes
    ----------
    preset : str or dict
        Name of a preset, or the content of a preset file. In a plan file also the path of a preset file, relative to
        the plan, or a table with its content.
    classes : tuple of str or None
        Classes of the preset to use; by default all.
    events_per_class : int
        Events per class.
    snr : tuple of float
        Noise levels [dB] of stage II, including infinity, that of stage I.
    seed : int
        Seed of the events.
    seeds : tuple of int or None
        Seeds of several data sets, instead of `seed`: the study then runs on each, and tests over them.
    features : dict
        Options of :class:`pqswarm.features.FeatureOptions` that differ from the defaults.

    Examples
    --------
    >>> plan = DatasetPlan(preset={"extends": "paper", "common": {"frequency": 60}}, features={"wavelet": "db4"})
    >>> plan.preset_name, plan.make_preset().common["frequency"], plan.n_features
    ('own', Fixed(value=60.0), 99)
    """

    preset: Annotated[str | dict[str, Any], BeforeValidator(_embed_plan_preset)] = "paper"
    classes: Annotated[tuple[str, ...], Field(min_length=2)] | None = None  # None: all classes of the preset
    events_per_class: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 250
    snr: tuple[Annotated[float, BeforeValidator(check_snr)], ...] = NOISE_LEVELS
    seed: Seed = 0
    seeds: Seeds | None = None
    features: _FeatureOptions = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.seeds is not None and "seed" in self.model_fields_set and self.seed != 0:
            raise ValueError("seed and seeds are both given: keep only seeds")
        self.n_features  # noqa: B018 (raises if there are none)
        if inf not in self.snr:
            raise ValueError("snr must contain inf, the level at which features are selected")
        if len({f"{level:g}" for level in self.snr}) != len(self.snr):
            raise ValueError("snr contains a level twice")
        return self

    @cached_property
    def whole_preset(self) -> Preset:
        """The preset with all of its classes."""
        return get_preset(self.preset) if isinstance(self.preset, str) else read_preset(self.preset)

    def make_preset(self) -> Preset:
        """Return the preset with the chosen classes."""
        return self.whole_preset if self.classes is None else self.whole_preset.with_classes(self.classes)

    @property
    def preset_name(self) -> str:
        """Name of the preset."""
        return self.whole_preset.name

    @property
    def feature_options(self) -> FeatureOptions:
        """Wavelet, level and border mode of the features."""
        return FeatureOptions.of(self.features)

    @cached_property
    def n_features(self) -> int:
        """Features of an event."""
        return count_features(self.make_preset(), self.feature_options)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The event classes, in the order of the preset."""
        return self.make_preset().classes

    @property
    def n_events(self) -> int:
        """Events of all classes."""
        return len(self.class_names) * self.events_per_class


def data_kind(given: Any) -> Literal["own", "generated", "none"]:
    """Return whether a table of a plan describes your own data, generated events, or is absent."""
    if given is None:
        return "none"
    keys = type(given).model_fields if isinstance(given, BaseModel) else given if isinstance(given, dict) else {}
    return "own" if keys.keys() & {"file", "fraction"} else "generated"


class _FromFile(PlanPart):
    """A table that may name a file, relative to the folder of the plan."""

    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="before")
    @classmethod
    def _explain(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key in _GENERATED and key not in cls.model_fields:
                raise ValueError(f"{key} applies to generated events, not to your own data: remove it")
            check_name("key", key, cls.model_fields)
        return given

    def model_post_init(self, context: Any, /) -> None:
        """Keep the folder of relative paths."""
        self._folder = (context or {}).get("folder", Path())

    def located(self, file: str) -> Path:
        """Return the path of a file."""
        return self._folder / file


class OwnDataPlan(_FromFile):
    """Your own data: a CSV or npz file, see :func:`pqswarm.datasets.read_samples`.

    Attributes
    ----------
    file : str
        Path of the file, relative to the plan.
    label : str or None
        Label column of a CSV file; by default the one named label, class or target, otherwise the last.
    ignore : tuple of str
        Columns of a CSV file to leave out, such as an identifier.
    drop_missing : bool
        Whether to leave out rows with missing values; otherwise these are an error.
    """

    file: FileName
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    ignore: tuple[str, ...] = ()
    drop_missing: StrictBool = False

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.located(self.file)

    @property
    def snr(self) -> tuple[float, ...]:
        """The noise levels [dB]: only infinity."""
        return (inf,)


class _NamedPart(PlanPart):
    """A table with a name."""

    name: Name

    @model_validator(mode="before")
    @classmethod
    def _named_after_content(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("preset", "paper"), str):
            return {"name": _plan_member_name(given)} | given
        return given


class NamedEvents(_NamedPart, DatasetPlan):
    """One of several data sets: generated events, with a name."""

    @model_validator(mode="after")
    def _one_seed(self) -> Self:
        if self.seeds is not None:
            raise ValueError("seeds belongs in [dataset]: give each of [[datasets]] one seed")
        return self

    def alone(self) -> DatasetPlan:
        """Return the data set without its name."""
        return DatasetPlan.model_validate(self.model_dump(exclude={"name"}))


class NamedFile(_NamedPart, OwnDataPlan):
    """One of several data sets: a file of your own, with a name."""

    def alone(self) -> OwnDataPlan:
        """Return the data set without its name."""
        return OwnDataPlan.model_validate(self.model_dump(exclude={"name"}), context={"folder": self._folder})


class OwnHeldOutPlan(_FromFile):
    """Your own samples that no search uses: another file, or a fraction of each class.

    Attributes
    ----------
    file : str or None
        Path of the other file, relative to the plan.
    fraction : float or None
        Fraction of each class to hold out; give it or `file`.
    seed : int
        Seed of the split.
    """

    file: FileName | None = None
    fraction: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file is None) == (self.fraction is None):
            raise ValueError("give file or fraction, not both")
        return self

    @property
    def path(self) -> Path | None:
        """Path of the file, if there is one."""
        return None if self.file is None else self.located(self.file)


class HeldOutPlan(PlanPart):
    """Generated events that no search uses, to test selected subsets.

    Attributes
    ----------
    events_per_class : int
        Events per class and set.
    seeds : tuple of int
        Seeds, one set of events each.
    cross_dataset : bool
        Whether to use the events of the other data sets of the study instead; the default with ``dataset.seeds``.
    """

    events_per_class: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 250
    seeds: Seeds = (1, 2, 3, 4, 5)
    cross_dataset: StrictBool = False

    @model_validator(mode="before")
    @classmethod
    def _one_seed(cls, given: Any) -> Any:
        """Accept a single seed."""
        if not isinstance(given, dict) or "seed" not in given:
            return given
        if "seeds" in given:
            raise ValueError("seed and seeds are both given: keep only seeds")
        return {"seeds" if key == "seed" else key: [value] if key == "seed" else value for key, value in given.items()}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.cross_dataset and (self.events_per_class, self.seeds) != (250, (1, 2, 3, 4, 5)):  # the defaults
            raise ValueError("cross_dataset uses the events of the other data sets: remove seeds and events_per_class")
        return self


class FoldsPlan(PlanPart):
    """The cross-validation.

    Attributes
    ----------
    number : int
        Folds.
    seed : int
        Seed of the partition of stage I, which selects features.
    stage_two_seed : int or None
        Seed of another partition for stage II, which tests the selected subsets; by default it has that of stage I.
    """

    number: Annotated[int, Field(ge=2, le=100, strict=True)] = 10
    seed: Seed = 0
    stage_two_seed: Seed | None = None

    def partition(self, labels: IntArray, *, stage_two: bool = False) -> Folds:
        """Return the partition of a stage; see :meth:`pqswarm.evaluation.Folds.stratified`."""
        other = self.stage_two_seed if stage_two else None
        return Folds.stratified(labels, self.number, self.seed if other is None else other)


class SubsetsPlan(PlanPart):
    """Which subsets the searches may propose, and how many are averaged; features are given by name or position.

    Attributes
    ----------
    averaged : int
        Number of best subsets of each algorithm, at most `runs`, whose classifiers are averaged and tested next to the
        best one alone; 1: none are. Averaged are class probabilities, otherwise decision functions, otherwise votes.
    fixed : tuple of str or int
        Features in every subset.
    excluded : tuple of str or int
        Features in no subset.
    groups : tuple of tuples of str or int
        Features that are chosen together.

    Examples
    --------
    >>> from pqswarm.study import load_plan
    >>> load_plan("paper", {"subsets": 5}).subsets.averaged
    5
    """

    averaged: Annotated[int, Field(ge=1, strict=True)] = 1
    fixed: tuple[str | int, ...] = ()
    excluded: tuple[str | int, ...] = ()
    groups: tuple[tuple[str | int, ...], ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _number_alone(cls, given: Any) -> Any:
        """Accept a number of subsets to average instead of a table."""
        return given if isinstance(given, dict | SubsetsPlan) else {"averaged": given}


class ClassifierPlan(PlanPart):
    """A classifier with given hyperparameters, or with those found by grid search.

    Attributes
    ----------
    name : str
        Its name in tables.
    id : str
        What its seeds depend on, by default the name: set it to the old name when you rename it.
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
    ({'n_neighbors': 5, 'metric': 'manhattan'}, '5 nearest neighbors by Manhattan distance')
    """

    name: Name
    id: Name | None = None
    kind: str
    parameters: dict[str, Any] = Field(default={})
    scaling: Literal["once", "minmax", "standard", "robust"] = "once"
    grid_search: StrictBool = True

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
        settings = kind(parameters).settings  # checked even if none are given
        return own | {"parameters": settings if parameters else {}}

    def make(self, settings: Mapping[str, Any] | None = None) -> Classifier:
        """Return the classifier with the planned hyperparameters, or with others, such as those of a grid search."""
        return CLASSIFIERS.find(self.kind)(self.parameters if settings is None else settings)


class AlgorithmPlan(_NamedPart):
    """A search algorithm with its parameters.

    Attributes
    ----------
    name : str
        Its name in the study, by default that of the algorithm.
    id : str
        What its seeds depend on, by default the name: set it to the old name when you rename it.
    algorithm : str
        A name in :data:`pqswarm.search.ALGORITHMS`, or the import path of a class, ``"my_module:MySearch"``.
    parameters : dict
        Parameters that differ from the defaults. A search that is given the size of the baseline's best subset, such
        as SFFS, can be given another ``size``, or ``"all"`` to search all sizes within the budget of a run.
    """

    id: Name | None = None
    algorithm: str
    parameters: dict[str, Any] = Field(default={})  # checked by the algorithm

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.search.Parameters.of(self.settings)
        required_filter(self.search, self.settings)
        return self

    @property
    def search(self) -> type[Search]:
        """The algorithm itself."""
        return search_class(self.algorithm)

    @property
    def title(self) -> str:
        """Its name in tables and figures; of an unnamed ranking, including its filter."""
        ranking = required_filter(self.search, self.settings)
        if ranking is not None and self.name in (self.algorithm, f"{self.algorithm}-{ranking.name}"):
            return f"{self.search.title} ({ranking.title})"
        return self.search.title if self.name == _algorithm_name(self.algorithm) else self.name

    @property
    def sequential(self) -> bool:
        """Whether it runs once, after the others, and stops by itself."""
        return self.search.runs_once

    @property
    def needs_size(self) -> bool:
        """Whether it needs the size of the baseline's best subset."""
        return self.search.needs_size and "size" not in self.parameters

    @property
    def all_sizes(self) -> bool:
        """Whether it searches all sizes within the budget of a run, instead of a given size."""
        return self.search.needs_size and self.parameters.get("size") == "all"

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as passed to the algorithm."""
        return self.parameters | ({"size": None} if self.all_sizes else {})


_TABLES = ("dataset", "folds", "classifiers", "algorithms", "runs", "max_evaluations", "seed")
_MOST = 10_000  # specifications

Changes = dict[str, Any]
"""New values of keys of a plan, by dotted name; see :func:`pqswarm.study.plan.change_plan`."""


@dataclass(frozen=True)
class Specification:
    """One specification of what is open."""

    name: str  # a number after r, or the name of a marked specification
    chosen: dict[str, str]  # the alternative of each choice
    changes: Changes
    marked: bool = False  # whether the plan names it: it is shown, but not counted among those of the design


class MultiversePlan(PlanPart):
    """Which choices to vary, and in which combinations.

    Attributes
    ----------
    choices : dict
        The alternatives of each choice, the first one being that of the plan: a list of values for a key, given by its
        dotted name, or a table with a name for each alternative and the keys that it changes.
    design : {"array", "full", "random", "one-at-a-time"}
        An orthogonal array, in which every two choices meet in all combinations equally often; all combinations; random
        ones; or one change at a time.
    specifications : int or None
        Number of specifications of an array (a power of two, by default the smallest possible) or of random ones (64).
    seed : int
        Seed of the design.
    marked : dict
        Further specifications to show by name, such as published ones, each with the alternatives that are not the
        first.

    Examples
    --------
    >>> choices = {"dataset.features.border": ["symmetric", "zero"], "folds.number": [10, 5]}
    >>> MultiversePlan(choices=choices, design="one-at-a-time").list_specifications()[1].chosen
    {'dataset.features.border': 'zero', 'folds.number': '10'}
    """

    choices: Annotated[dict[str, dict[str, Changes]], Field(min_length=1, max_length=100)]
    design: Literal["array", "full", "random", "one-at-a-time"] = "array"
    specifications: Annotated[int, Field(ge=2, le=_MOST, strict=True)] | None = None
    seed: Seed = 0
    marked: dict[Name, dict[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _name_alternatives(cls, given: Any, info: ValidationInfo) -> Any:
        """Turn lists of values into alternatives with names and changes."""
        if not isinstance(given, dict) or not isinstance(given.get("choices"), dict):
            return given
        folder = (info.context or {}).get("folder", Path())
        choices: dict[str, Any] = {}
        for choice, alternatives in _dotted_plan_keys(given["choices"]).items():
            if isinstance(alternatives, list | tuple):
                names = [format(value) for value in alternatives]
                if len(set(names)) < len(names):
                    raise ValueError(f"choices: {choice} contains an alternative twice")
                changes = [{choice: value} for value in alternatives]
            elif isinstance(alternatives, dict) and all(isinstance(keys, dict) for keys in alternatives.values()):
                names = list(alternatives)
                changes = [_dotted_plan_keys(keys) for keys in alternatives.values()]
            else:
                raise ValueError(f"choices: {choice} must be a list of values, or a table of alternatives")
            if len(names) < 2:
                raise ValueError(f"choices: {choice} needs at least two alternatives")
            choices[choice] = {
                name: {key: embed_preset_file(key, value, folder) for key, value in change.items()}
                for name, change in zip(names, changes, strict=True)
            }
        return given | {"choices": choices}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.specifications is not None and self.design in ("full", "one-at-a-time"):
            raise ValueError(f"specifications: a {self.design} design has {len(self._combinations())}: remove it")
        for name, chosen in self.marked.items():
            if name[0] == "r" and name[1:].isdigit():
                raise ValueError(f"marked: {name} is the name of a specification of the design: choose another")
            for choice, alternative in chosen.items():
                check_name(f"choice of marked.{name}", choice, self.choices)
                check_name(f"alternative of marked.{name}.{choice}", alternative, self.choices[choice])
        self._combinations()
        return self

    def list_specifications(self) -> list[Specification]:
        """Return the specifications of the design, followed by the marked ones."""
        combinations = self._combinations()
        digits = len(str(len(combinations)))
        names = {choice: list(alternatives) for choice, alternatives in self.choices.items()}
        first = {choice: alternatives[0] for choice, alternatives in names.items()}
        designed = [
            self._specification(
                f"r{number:0{digits}}", {choice: names[choice][k] for choice, k in zip(names, row, strict=True)}
            )
            for number, row in enumerate(combinations, 1)
        ]
        marked = [self._specification(name, first | changed, marked=True) for name, changed in self.marked.items()]
        return [*designed, *marked]

    def _specification(self, name: str, chosen: dict[str, str], marked: bool = False) -> Specification:
        alternatives = [self.choices[choice][alternative] for choice, alternative in chosen.items()]
        changes = {key: value for alternative in alternatives for key, value in alternative.items()}
        return Specification(name, chosen, changes, marked)

    def _combinations(self) -> list[tuple[int, ...]]:
        """The number of the alternative of each choice, in each specification of the design."""
        levels = [len(alternatives) for alternatives in self.choices.values()]
        if self.design == "one-at-a-time":
            rows = [tuple(k * (i == j) for j in range(len(levels))) for i, n in enumerate(levels) for k in range(1, n)]
            return [(0,) * len(levels), *rows]
        total = prod(levels)
        if self.design == "full":
            if total > _MOST:
                raise ValueError(
                    f"a full design has {total} specifications, above {_MOST}: use an array or random ones"
                )
            return list(itertools.product(*map(range, levels)))
        rng = stream(self.seed, ())
        if self.design == "array":
            return orthogonal_array(levels, self.specifications, rng)
        wanted = 64 if self.specifications is None else self.specifications
        if wanted > total:
            raise ValueError(f"specifications: there are only {total} combinations of the choices")
        rows_drawn: dict[tuple[int, ...], None] = {}
        while len(rows_drawn) < wanted:
            rows_drawn[tuple(int(rng.integers(n)) for n in levels)] = None
        return list(rows_drawn)


def orthogonal_array(levels: Sequence[int], rows: int | None, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return an orthogonal array for choices of 2 or 4 alternatives: every two meet in all combinations equally often.

    Rows are the vectors of GF(2)^m; a choice of two alternatives is a linear function of them, one of four a pair of
    functions. Functions of an odd number of coordinates come first: no main effect is then aliased with an interaction
    of two choices, as long as they suffice. The alternatives are relabeled at random.

    >>> orthogonal_array([2, 2, 2], 4, np.random.default_rng(0))
    [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 0)]
    """
    odd = [i for i, n in enumerate(levels) if n not in (2, 4)]
    if odd:
        raise ValueError(f"an array takes choices of 2 or 4 alternatives, not {levels[odd[0]]}: use another design")
    least = next(m for m in itertools.count(2) if _independent_functions(levels, m))
    m = least if rows is None else round(log2(rows))
    if m < least or rows not in (None, 2**m):
        raise ValueError(
            f"specifications: an array of these choices has a power of two, at least {2**least}, not {rows}"
        )
    functions = _independent_functions(levels, m) or []
    relabeled = [rng.permutation(n).tolist() for n in levels]
    return [
        tuple(
            names[sum((row & one).bit_count() % 2 << place for place, one in enumerate(own))]
            for own, names in zip(functions, relabeled, strict=True)
        )
        for row in range(2**m)
    ]


def _independent_functions(levels: Sequence[int], m: int) -> list[tuple[int, ...]] | None:
    """For each choice one linear function on GF(2)^m, or two, so that all are independent in pairs; None if too few."""
    ordered = sorted(range(1, 2**m), key=lambda v: (v.bit_count() % 2 == 0, v.bit_count(), v))
    taken: set[int] = set()
    functions: dict[int, tuple[int, ...]] = {}
    for i in sorted(range(len(levels)), key=lambda i: -levels[i]):  # those of four need three functions each
        free = [function for function in ordered if function not in taken]
        spaces: Iterator[tuple[int, ...]] = itertools.combinations(free, levels[i] // 2)
        if levels[i] == 4:
            spaces = (space for space in spaces if space[0] ^ space[1] not in taken)
        space = next(spaces, None)
        if space is None:
            return None
        functions[i] = space
        taken |= {space[0], space[-1], space[0] ^ space[-1]} - {0}
    return [functions[i] for i in range(len(levels))]


def _dotted_plan_keys(table: Mapping[str, Any], is_inner: bool = False) -> dict[str, Any]:
    """A table whose keys, if they are those of a plan, are dotted: TOML reads a.b = 1 as a table in a table."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and value and (is_inner or key in _TABLES):
            flat |= {f"{key}.{rest}": below for rest, below in _dotted_plan_keys(value, is_inner=True).items()}
        else:
            flat[key] = value
    return flat


# Names reserved by tables, for other subsets and for columns.
_RESERVED = (ALL_FEATURES, ONE_STANDARD_ERROR, "algorithm", "level", "all", "result", "source", "p", "chi2")

# Keys that affect the report, but not the results.
_SHOWN = ("title", "paper", "control", "comparisons", "margin")


_Data = Annotated[
    Annotated[DatasetPlan, Tag("generated")] | Annotated[OwnDataPlan, Tag("own")], Discriminator(data_kind)
]
_HeldOut = Annotated[
    Annotated[HeldOutPlan, Tag("generated")] | Annotated[OwnHeldOutPlan, Tag("own")] | Annotated[None, Tag("none")],
    Discriminator(data_kind),
]
_Named = Annotated[
    Annotated[NamedEvents, Tag("generated")] | Annotated[NamedFile, Tag("own")], Discriminator(data_kind)
]


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
        Whether to test the subsets found: with noise and on held-out data, which a multiverse does not have.
    dataset : DatasetPlan or OwnDataPlan
        The data: generated events or your own.
    datasets : tuple of NamedEvents or NamedFile
        Several data sets instead, each with a name: the study runs on each and tests over them.
    held_out : HeldOutPlan, OwnHeldOutPlan or None
        Data that no search uses, for a final test; by default none for your own data, and ``false`` for none.
    folds : FoldsPlan
        The cross-validation.
    subsets : SubsetsPlan or None
        Features that stay, are left out, or are chosen together, and how many best subsets are averaged, which can be
        given alone: ``subsets = 5``; None: any subset, and none are averaged.
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
    paper: StrictBool = False
    stage_two: StrictBool = True
    dataset: _Data = DatasetPlan()
    datasets: tuple[_Named, ...] = ()
    held_out: _HeldOut = HeldOutPlan()
    folds: FoldsPlan = FoldsPlan()
    subsets: Annotated[SubsetsPlan | None, AfterValidator(lambda given: None if given == SubsetsPlan() else given)] = (
        None
    )
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
        if given.get("held_out") is False:
            given = given | {"held_out": None}
        if given.get("multiverse") is not None or given.get("stage_two") is False:
            given = {"held_out": None} | given
        if data_kind(data) == "own" or (
            isinstance(several, list | tuple) and any(data_kind(data) == "own" for data in several)
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
            _check_unique_in_plan(f"{what} contains the name", [member.name for member in group], "change one of them")
            ids = [member.id or member.name for member in group]
            _check_unique_in_plan(f"{what} contains the id", ids, "change one of them")
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
        check_name("baseline", self.baseline, [algorithm.name for algorithm in self.searched])
        self.compared(self.control, self.comparisons)
        if self.averaged > self.runs:
            raise ValueError(f"subsets is {self.averaged}, more than runs, {self.runs}: average fewer or run more")
        if self.multiverse is not None and "held_out" in self.model_fields_set and self.held_out is not None:
            raise ValueError("held_out: a multiverse is tested with noise, not on held-out data: remove it")
        self._check_data()
        return self

    def _check_data(self) -> None:
        """Check the data of each cell; see :meth:`cells`."""
        if self.datasets and self.dataset != DatasetPlan():
            raise ValueError("dataset and datasets are both given: keep one of them")
        _check_unique_in_plan("datasets contains the name", [data.name for data in self.datasets], "rename one of them")
        files = [data.file for data in self.datasets if isinstance(data, NamedFile)]
        _check_unique_in_plan("datasets contains the file", files, "it would count twice")
        if self.is_tested_across and len(self.dataset_seeds) < 2:
            raise ValueError("held_out.cross_dataset needs several dataset.seeds")
        for cell in self.cells().values():
            if self.multiverse is None:  # a specification has checked its own
                cell._check_cell()

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
        base = self.model_dump(exclude={"multiverse", "held_out"})
        tree = change_plan(base, specification.changes) | {"held_out": None}
        own = [part for part in (self.dataset, *self.datasets) if isinstance(part, OwnDataPlan)]
        try:
            read = type(self).model_validate(tree, context={"folder": own[0].located("") if own else Path()})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(
                f"multiverse: specification {specification.name} ({specification.changes}): {where} {first['msg']}"
            ) from None
        for kind in ("classifiers", "algorithms"):
            if [member.name for member in getattr(read, kind)] != [member.name for member in getattr(self, kind)]:
                raise ValueError(f"multiverse: {kind} must have the same names in all specifications")
        return read

    def named_specification(self, name: str) -> Specification:
        """Return a specification of the multiverse by its name."""
        if self.multiverse is None:
            raise PqswarmError(f"the plan has no multiverse, so it has no specification {name!r}: leave it out.")
        specifications = {each.name: each for each in self.multiverse.list_specifications()}
        check_name("specification", name, specifications)
        return specifications[name]

    def _cells_by_dataset(self) -> "dict[str, StudyPlan]":
        if self.datasets:
            return {
                data.name: self.model_copy(update={"dataset": data.alone(), "datasets": ()}) for data in self.datasets
            }
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
            cells[f"seed {seed}"] = self.model_copy(update={"dataset": alone, "held_out": tested})
        return cells

    @property
    def is_tested_across(self) -> bool:
        """Whether the subsets found on each data set are tested on the events of the others."""
        return isinstance(self.held_out, HeldOutPlan) and self.held_out.cross_dataset

    @property
    def searched(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that are run repeatedly."""
        return tuple(algorithm for algorithm in self.algorithms if not algorithm.sequential)

    @property
    def sequential(self) -> tuple[AlgorithmPlan, ...]:
        """The algorithms that run once, after the others."""
        return tuple(algorithm for algorithm in self.algorithms if algorithm.sequential)

    @property
    def averaged(self) -> int:
        """Best subsets of each algorithm whose classifiers are averaged; 1: none are."""
        return 1 if self.subsets is None else self.subsets.averaged

    @property
    def ensembles(self) -> dict[str, AlgorithmPlan]:
        """The algorithms whose best subsets are averaged, by the name of their mean."""
        return {mean_name(each.name, self.averaged): each for each in self.searched if self.averaged > 1}

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
            check_name("algorithm in comparisons", name, known)
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
        words = [int.from_bytes(hashlib.sha256(identifier.encode()).digest()[:4]) for identifier in ids]
        return derived_seed(self.seed, (*words, run))

    def canonical(self) -> str:
        """Return everything that determines the results as canonical JSON."""
        # Of a file only its content matters, which the study knows by its digest, not its name.
        left_out: Any = {**dict.fromkeys(_SHOWN, True), "dataset": {"file"}, "held_out": {"file"}}
        left_out["datasets"] = {"__all__": {"file"}}
        return json.dumps(self.model_dump(mode="python", exclude=left_out, exclude_none=True), sort_keys=True)

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


def _check_unique_in_plan(what: str, names: list[str], remedy: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{what} {twice!r} twice: {remedy}")


def held_out_levels(plan: StudyPlan) -> tuple[float, ...]:
    """Return the noise levels [dB] of the tests on held-out data: all, or only infinity on the other data sets."""
    return (inf,) if plan.is_tested_across else plan.dataset.snr


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
