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

from pqswarm._base.checks import is_integer
from pqswarm._base.random import derived_seed
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.evaluation import Choice, Splits, choose_evaluator
from pqswarm.evaluation.classifiers.sklearn import seed_estimator
from pqswarm.evaluation.estimators import check_classes
from pqswarm.search import Run, Search, SearchResult, filter_of
from pqswarm.search.registry import search_class
from pqswarm.selector.checks import sized_parameters, threads_of
from pqswarm.selector.storage import describe, digest
from pqswarm.selector.wide import keep_features

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

__all__ = ["Data", "Problem", "default_estimator", "make_problem"]


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
    splits = Splits.from_cv(_fewer_folds(selector.cv, y, classifies), X, y, data.groups, classifier=classifies)
    options: dict[str, Any] = {"scoring": selector.scoring, "sample_weight": data.sample_weight}
    options["n_jobs"] = threads_of(selector.n_jobs)
    least, continuous = parameters.get("size"), not classifies
    kept = keep_features(selector.prefilter, estimator, X, y, splits, least=least, continuous=continuous, **options)
    if (ranking := filter_of(search, parameters)) is not None:
        parameters["order"] = ranking.rank(X[:, kept.mask], y)
    elif kept.order and "order" not in parameters and hasattr(search.Parameters, "order"):
        parameters["order"] = kept.order
    return Problem(
        seed=seed,
        estimator=estimator,
        choice=choose_evaluator(estimator, X[:, kept.mask], y, splits, **options),
        search=search,
        parameters=parameters,
        kept=kept.mask,
        prefilter=kept.sentence,
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


def _fewer_folds(cv: Any, y: AnyArray, classifies: bool) -> Any:
    """A number of folds, no more of them than the events allow; any other cross-validation as it is."""
    if not is_integer(cv):
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
