"""What is searched: the evaluator, the algorithm with its parameters, and the features that are left to it."""

import dataclasses
import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pqswarm._random import derived_seed
from pqswarm._typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import FILTERS, Choice, Splits, choose_evaluator, prefilter
from pqswarm.evaluation.classifiers.sklearn import seed_estimator
from pqswarm.evaluation.estimators import check_classes
from pqswarm.search import Run, Search, SearchResult, filter_of
from pqswarm.search.registry import search_class
from pqswarm.selector.checks import is_whole, sized_parameters, threads_of
from pqswarm.selector.storage import describe, digest

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

__all__ = ["WIDE", "Data", "Problem", "default_estimator", "make_problem"]

WIDE = 300
"""Of more features the search is left so many, those that rank first by a filter."""


@dataclass(frozen=True)
class Data:
    """What a selector is fitted to."""

    X: FloatArray
    y: AnyArray
    groups: AnyArray | None = None
    sample_weight: AnyArray | None = None

    def take(self, rows: IntArray) -> "Data":
        """Return some of the events."""
        groups = None if self.groups is None else self.groups[rows]
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return Data(self.X[rows], self.y[rows], groups, weights)


@dataclass(frozen=True)
class Problem:
    """A search to be done.

    `estimator` is seeded; `kept` are the features that the prefilter leaves, as the sentence `prefilter` says, which
    is None if all are left.
    """

    seed: int
    estimator: Any
    choice: Choice
    search: type[Search]
    parameters: dict[str, Any]
    kept: BoolArray
    prefilter: str | None
    identity: dict[str, str]

    def make_runs(self, count: int, max_evaluations: int) -> list[Run]:
        """Return runs that have not begun, each with a seed of its own."""
        seeds = [derived_seed(self.seed, (run,)) for run in range(count)]
        return [Run(self.search(int(self.kept.sum()), seed, self.parameters), max_evaluations) for seed in seeds]

    def widen(self, masks: BoolArray) -> BoolArray:
        """Return masks of the kept features as masks of all features."""
        whole = np.zeros((*masks.shape[:-1], self.kept.size), dtype=np.bool_)
        whole[..., self.kept] = masks
        return whole

    def widen_result(self, result: SearchResult) -> SearchResult:
        """Return the result of a run with masks of all features."""
        front = None if result.front_masks is None else self.widen(result.front_masks)
        return dataclasses.replace(result, mask=self.widen(result.mask), front_masks=front)

    def score(self, error: float) -> float:
        """Return the score whose error is given."""
        return -error if self.choice.evaluator.is_loss else 1.0 - error


def default_estimator() -> Any:
    """Return the classifier of the paper: three nearest neighbours by Manhattan distance, after scaling."""
    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=3, metric="manhattan"))


def make_problem(selector: "SwarmSelector", data: Data, seed: int) -> Problem:
    """Return what a selector searches in some data."""
    X, y = data.X, data.y
    given = default_estimator() if selector.estimator is None else selector.estimator
    estimator = seed_estimator(given, seed)
    classifies = hasattr(estimator, "fit") and hasattr(estimator, "get_params") and is_classifier(estimator)
    if classifies:
        check_classes(y)
    search = search_class(selector.algorithm)
    parameters = sized_parameters(selector.algorithm_params, selector.n_features_to_select, X.shape[1])
    kept, order, sentence = _prefilter(selector.prefilter, X, y, parameters.get("size"), classifies)
    if (ranking := filter_of(search, parameters)) is not None:
        parameters["order"] = ranking.rank(X[:, kept], y)
    elif order and "order" not in parameters and hasattr(search.Parameters, "order"):
        parameters["order"] = order
    splits = Splits.from_cv(_fewer_folds(selector.cv, y, classifies), X, y, data.groups, classifier=classifies)
    choice = choose_evaluator(
        estimator,
        X[:, kept],
        y,
        splits,
        scoring=selector.scoring,
        sample_weight=data.sample_weight,
        n_jobs=threads_of(selector.n_jobs),
    )
    return Problem(
        seed=seed,
        estimator=estimator,
        choice=choice,
        search=search,
        parameters=parameters,
        kept=kept,
        prefilter=sentence,
        identity={
            "data": digest(X, y, data.sample_weight),
            "splits": digest(*(part for split in splits.split() for part in split)),
            "estimator": describe(estimator),
            "scoring": describe(selector.scoring),
            "algorithm": search.name,
            "algorithm_params": json.dumps(dataclasses.asdict(search.Parameters.of(parameters)), sort_keys=True),
            "prefilter": str(selector.prefilter),
            "n_runs": str(selector.n_runs),
            "random_state": str(seed),
        },
    )


def _prefilter(
    given: Any, X: FloatArray, y: AnyArray, size: int | None, classifies: bool
) -> tuple[BoolArray, tuple[int, ...], str | None]:
    """The features that the prefilter keeps, their order, and a sentence; no fewer than are to be selected."""
    n_features, keep, name = X.shape[1], WIDE, "anova"
    if is_whole(given) and given >= 1:
        keep = int(given)
    elif isinstance(given, str):
        name = name if given == "auto" else given
        if name not in FILTERS:
            raise unknown_name("prefilter", given, ["auto", *FILTERS])
    elif given is not None:
        raise PqswarmError(f"prefilter must be 'auto', a filter, a number of features or None, not {given!r}.")
    keep = max(keep, size or 1)
    if given is None or n_features <= keep:
        return np.ones(n_features, dtype=np.bool_), (), None
    found = prefilter(X, y, keep, name, continuous=not classifies)
    kept = np.zeros(n_features, dtype=np.bool_)
    kept[found.columns] = True
    return kept, found.order, found.sentence


def _fewer_folds(cv: Any, y: AnyArray, classifies: bool) -> Any:
    """A number of folds, no more of them than the events allow; any other cross-validation as it is."""
    if not is_whole(cv):
        return cv
    most = int(np.unique(y, return_counts=True)[1].max()) if classifies else len(y)
    if not 2 <= most < cv:
        return cv
    warnings.warn(
        f"cv={cv} folds are too many for {'classes of at most ' if classifies else ''}{most} events: "
        f"{most} folds are used.",
        stacklevel=5,
    )
    return most
