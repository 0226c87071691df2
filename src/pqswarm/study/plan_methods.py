"""Parts of a plan about methods: cross-validation, classifiers and algorithms."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from pqswarm.errors import unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.search import ALGORITHMS, Search
from pqswarm.search.ranking import required_filter
from pqswarm.study.plan_data import PlanPart, Seed

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$")]


class FoldsPlan(PlanPart):
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


class SubsetsPlan(PlanPart):
    """Which subsets the searches may propose; features are given by name or position.

    Attributes
    ----------
    fixed : tuple of str or int
        Features in every subset.
    excluded : tuple of str or int
        Features in no subset.
    groups : tuple of tuples of str or int
        Features that are chosen together.
    """

    fixed: tuple[str | int, ...] = ()
    excluded: tuple[str | int, ...] = ()
    groups: tuple[tuple[str | int, ...], ...] = ()


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
    ({'n_neighbors': 5, 'metric': 'manhattan'}, '5 nearest neighbours by Manhattan distance')
    """

    name: Name
    id: Name | None = None
    kind: str
    parameters: dict[str, Any] = Field(default={})
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


class AlgorithmPlan(PlanPart):
    """A search algorithm with its parameters.

    Attributes
    ----------
    name : str
        Its name in the study, by default that of the algorithm.
    id : str
        What its seeds depend on, by default the name: set it to the old name when you rename it.
    algorithm : str
        A name in :data:`pqswarm.search.ALGORITHMS`.
    parameters : dict
        Parameters that differ from the defaults. A search that is given the size of the baseline's best subset, such
        as SFFS, can be given another ``size``, or ``"all"`` to search all sizes within the budget of a run.
    """

    name: Name
    id: Name | None = None
    algorithm: str
    parameters: dict[str, Any] = Field(default={})  # checked by the algorithm

    @model_validator(mode="before")
    @classmethod
    def _named_after_algorithm(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("algorithm"), str):
            return {"name": given["algorithm"]} | given
        return given

    @model_validator(mode="after")
    def _check(self) -> Self:
        ALGORITHMS.find(self.algorithm).Parameters.of(self.settings)
        required_filter(self.search, self.settings)
        return self

    @property
    def search(self) -> type[Search]:
        """The algorithm itself."""
        return ALGORITHMS[self.algorithm]

    @property
    def title(self) -> str:
        """Its name in tables and figures; of an unnamed ranking, including its filter."""
        ranking = required_filter(self.search, self.settings)
        if ranking is not None and self.name in (self.algorithm, f"{self.algorithm}-{ranking.name}"):
            return f"{self.search.title} ({ranking.title})"
        return self.search.title if self.name == self.algorithm else self.name

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
