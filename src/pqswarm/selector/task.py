"""The task of a selector: evaluator, algorithm with parameters, and features to search; and its checks."""

import dataclasses
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pqswarm._base.checks import check_name, is_integer
from pqswarm._base.random import derived_seed
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import EvaluatorChoice, Splits, choose_evaluator
from pqswarm.evaluation.classifiers.sklearn import seed_sklearn_estimator
from pqswarm.evaluation.estimators import check_estimator_classes
from pqswarm.search import Run, Search, SearchResult, filter_of
from pqswarm.search.registry import search_class
from pqswarm.selector.prefiltering import keep_features
from pqswarm.selector.storage import describe_for_storage, digest_for_storage

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

__all__ = [
    *(
        "SelectorData",
        "SelectionTask",
        "check_task_rule",
        "default_estimator",
        "make_task",
        "seed_of",
        "threads_of_task",
    ),
]

RULES = ("best", "1se")


@dataclass(frozen=True)
class SelectorData:
    """The data of a selector."""

    X: FloatArray
    y: AnyArray
    groups: AnyArray | None = None
    sample_weight: AnyArray | None = None

    def take(self, rows: IntArray) -> "SelectorData":
        """Return the given events."""
        groups = None if self.groups is None else self.groups[rows]
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return SelectorData(self.X[rows], self.y[rows], groups, weights)


@dataclass(frozen=True)
class SelectionTask:
    """A search to run.

    `estimator` is seeded; `kept` are the features that the prefilter keeps, as the sentence `prefilter` says; it is
    None if all are kept.
    """

    seed: int
    estimator: Any
    choice: EvaluatorChoice
    search: type[Search]
    parameters: dict[str, Any]
    kept: BoolArray
    prefilter: str | None
    identity: dict[str, str]

    def make_runs(self, count: int, max_evaluations: int) -> list[Run]:
        """Return new runs with different seeds."""
        seeds = [derived_seed(self.seed, (run,)) for run in range(count)]
        return [Run(self.search(int(self.kept.sum()), seed, self.parameters), max_evaluations) for seed in seeds]

    def widen(self, masks: BoolArray) -> BoolArray:
        """Return masks of the kept features as masks over all features."""
        whole = np.zeros((*masks.shape[:-1], self.kept.size), dtype=np.bool_)
        whole[..., self.kept] = masks
        return whole

    def widen_result(self, result: SearchResult) -> SearchResult:
        """Return the result of a run with masks over all features."""
        front = None if result.front_masks is None else self.widen(result.front_masks)
        return dataclasses.replace(result, mask=self.widen(result.mask), front_masks=front)

    def score(self, error: float) -> float:
        """Return the score of an error."""
        return -error if self.choice.evaluator.is_loss else 1.0 - error


def default_estimator() -> Any:
    """Return the paper's classifier: three nearest neighbours by Manhattan distance, after scaling."""
    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=3, metric="manhattan"))


def make_task(selector: "SwarmSelector", data: SelectorData, seed: int) -> SelectionTask:
    """Return the task of a selector on some data."""
    X, y = data.X, data.y
    given = default_estimator() if selector.estimator is None else selector.estimator
    estimator = seed_sklearn_estimator(given, seed)
    classifies = hasattr(estimator, "fit") and hasattr(estimator, "get_params") and is_classifier(estimator)
    if classifies:
        check_estimator_classes(y)
    search = search_class(selector.algorithm)
    parameters = sized_task_parameters(selector.algorithm_params, selector.n_features_to_select, X.shape[1])
    splits = Splits.from_cv(_reduce_folds(selector.cv, y, classifies), X, y, data.groups, classifier=classifies)
    options: dict[str, Any] = {"scoring": selector.scoring, "sample_weight": data.sample_weight}
    options["n_jobs"] = threads_of_task(selector.n_jobs)
    minimum, continuous = parameters.get("size"), not classifies
    kept = keep_features(selector.prefilter, estimator, X, y, splits, minimum=minimum, continuous=continuous, **options)
    if (ranking := filter_of(search, parameters)) is not None:
        parameters["order"] = ranking.rank(X[:, kept.mask], y)
    elif kept.order and "order" not in parameters and hasattr(search.Parameters, "order"):
        parameters["order"] = kept.order
    return SelectionTask(
        seed=seed,
        estimator=estimator,
        choice=choose_evaluator(estimator, X[:, kept.mask], y, splits, **options),
        search=search,
        parameters=parameters,
        kept=kept.mask,
        prefilter=kept.sentence,
        identity={
            "data": digest_for_storage(X, y, data.sample_weight),
            "splits": digest_for_storage(*(part for split in splits.split() for part in split)),
            "estimator": describe_for_storage(estimator),
            "scoring": describe_for_storage(selector.scoring),
            "algorithm": search.name,
            "algorithm_params": json.dumps(dataclasses.asdict(search.Parameters.of(parameters)), sort_keys=True),
            "prefilter": str(selector.prefilter),
            "n_runs": str(selector.n_runs),
            "random_state": str(seed),
        },
    )


def _reduce_folds(cv: Any, y: AnyArray, classifies: bool) -> Any:
    """Limit a number of folds to what the events allow; return any other cross-validation unchanged."""
    if not is_integer(cv):
        return cv
    limit = int(np.unique(y, return_counts=True)[1].max()) if classifies else len(y)
    if not 2 <= limit < cv:
        return cv
    warnings.warn(
        f"cv={cv} folds are too many for {'classes of at most ' if classifies else ''}{limit} events: "
        f"{limit} folds are used.",
        stacklevel=5,
    )
    return limit


def check_task_rule(rule: Any, n_features_to_select: Any) -> None:
    """Raise an error unless a rule is known and consistent with the number of features."""
    if isinstance(rule, str):
        check_name("rule", rule, RULES)
    else:
        if not (is_integer(rule) and rule >= 1):
            raise PqswarmError(f"rule must be 'best', '1se' or a number of features, not {rule!r}.")
        if n_features_to_select is not None:
            raise PqswarmError("give n_features_to_select or a number of features as rule, not both.")


def seed_of(random_state: Any) -> int:
    """Return a seed from a scikit-learn random_state; the global one is not used."""
    if random_state is None:
        return derived_seed(np.random.SeedSequence().entropy, ())  # type: ignore[arg-type]
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    raise PqswarmError(f"random_state must be an integer of at least 0, a RandomState or None, not {random_state!r}.")


def threads_of_task(n_jobs: Any) -> int:
    """Return the number of threads of scikit-learn's n_jobs: None is 1, or that of joblib.parallel_config."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise PqswarmError(f"n_jobs must be an integer other than 0, -1 for all cores, or None, not {n_jobs!r}.")
    from joblib import effective_n_jobs

    return max(1, int(effective_n_jobs(None if n_jobs is None else int(n_jobs))))


def sized_task_parameters(given: Any, wanted: Any, n_features: int) -> dict[str, Any]:
    """Return the parameters of an algorithm, with the number of features to select."""
    if given is not None and not isinstance(given, Mapping):
        raise PqswarmError(f"algorithm_params must be a mapping of names to values, not {given!r}.")
    parameters = dict(given or {})
    if wanted is None:
        return parameters
    whole = is_integer(wanted) and 1 <= wanted <= n_features
    fraction = isinstance(wanted, float | np.floating) and 0 < wanted < 1
    if not (whole or fraction):
        raise PqswarmError(
            f"n_features_to_select must be an integer from 1 to {n_features}, a fraction between 0 and 1, "
            f"or None, not {wanted!r}."
        )
    if "size" in parameters:
        raise PqswarmError("give n_features_to_select or the size in algorithm_params, not both.")
    return parameters | {"size": int(wanted) if whole else max(1, int(wanted * n_features))}
