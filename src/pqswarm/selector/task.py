"""The task of a selector: evaluator, algorithm with parameters, and features to search; and its checks."""

import dataclasses
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pqswarm._base.checks import check_name, is_integer
from pqswarm._base.random import derived_seed
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import EvaluatorChoice, FeatureGroups, GroupedEvaluator, Splits, choose_evaluator
from pqswarm.evaluation.choose import explain_fitting
from pqswarm.evaluation.estimators import check_estimator_classes, check_estimator_kind, weights_key
from pqswarm.evaluation.learners import seed_sklearn_estimator
from pqswarm.evaluation.tables import take_params, take_table
from pqswarm.search import Merit, Run, Search, filter_of
from pqswarm.search.registry import search_class
from pqswarm.selector.prefiltering import keep_features, rank_by_filter
from pqswarm.selector.rescoring import Pool, other_partitions
from pqswarm.selector.storage import describe_for_storage, digest_for_storage

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

RULES = ("nested", "rescored", "best", "1se")
_FOLDS, _EVALUATIONS = 5, 600  # defaults where the estimator is fitted
_START_SIZE = 8  # of MERIT: with more, a feature of a large scale is in every subset
_MANY_CLASSES = 50  # numbers as labels, above which they may be quantities


@dataclass(frozen=True)
class SelectorData:
    """The data of a selector: an array of floats, a data frame or a sparse matrix, with what accompanies its rows."""

    X: Any
    y: AnyArray
    groups: AnyArray | None = None
    sample_weight: AnyArray | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    split_params: Mapping[str, Any] = field(default_factory=dict)

    def take(self, rows: IntArray) -> "SelectorData":
        """Return the given events."""
        groups = None if self.groups is None else self.groups[rows]
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        given = (self.fit_params, self.score_params, self.split_params)
        params = (take_params(each, len(self.y), rows) for each in given)
        return SelectorData(take_table(self.X, rows), self.y[rows], groups, weights, *params)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of choose_evaluator for weights and parameters."""
        params = {"fit_params": self.fit_params, "score_params": self.score_params}
        return {"sample_weight": self.sample_weight} | params

    def fit(self, estimator: Any, support: BoolArray) -> Any:
        """Return a clone of the estimator, fitted to the features of a mask."""
        params = take_params(self.fit_params, len(self.y), np.arange(len(self.y)), support)
        if self.sample_weight is not None:
            params[weights_key(estimator)] = self.sample_weight
        return clone(estimator).fit(take_table(self.X, np.flatnonzero(support), axis=1), self.y, **params)

    def score(self, scorer: Any, model: Any, support: BoolArray) -> float:
        """Return the score of a fitted model."""
        params = dict(self.score_params)
        if self.sample_weight is not None:
            params["sample_weight"] = self.sample_weight
        return float(scorer(model, take_table(self.X, np.flatnonzero(support), axis=1), self.y, **params))


@dataclass(frozen=True)
class SelectionTask:
    """A search to run.

    `estimator` is seeded; `choice` evaluates features, `evaluator` bits of the search, whose features `groups` states;
    `prefilter` is None if it keeps all. `partitions` are others than `splits`; `choose` evaluates columns in any.
    """

    seed: int
    estimator: Any
    classifies: bool
    choice: EvaluatorChoice
    evaluator: Any
    search: type[Search]
    parameters: dict[str, Any]
    max_evaluations: int
    n_jobs: int
    names: Sequence[Any]
    groups: FeatureGroups
    prefilter: str | None
    scorings: Mapping[str, Callable[[], EvaluatorChoice]]
    partitions: Callable[[], Iterator[Splits]]
    splits: Splits
    choose: Callable[[IntArray, Splits], EvaluatorChoice]
    identity: dict[str, str]

    def make_runs(self, count: int) -> list[Run]:
        """Return new runs with different seeds."""
        seeds = [derived_seed(self.seed, (run,)) for run in range(count)]
        bits, budget = self.groups.n_bits, self.max_evaluations
        return [Run(self.search(bits, seed, self.parameters), budget, self.evaluator.blocks) for seed in seeds]

    def make_pool(self) -> Pool:
        """Return a pool for the best subsets of the runs."""
        return Pool(self.groups.n_bits, self.search(self.groups.n_bits, 0, self.parameters).size)

    def errors_in(self, splits: Splits, bits: BoolArray) -> FloatArray:
        """Return the errors of bits in another partition."""
        used = self.groups.used
        return np.asarray(self.choose(np.flatnonzero(used), splits).evaluator.errors(self.widen(bits)[:, used]))

    def widen(self, bits: BoolArray) -> BoolArray:
        """Return bits of the search as masks over all features."""
        return self.groups.expand(bits)

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
    classifies = check_estimator_kind(given)
    estimator = seed_sklearn_estimator(given, seed)
    if classifies:
        check_task_classes(estimator, y)
    search = search_class(selector.algorithm)
    names = getattr(selector, "feature_names_in_", range(X.shape[1]))
    groups = FeatureGroups.of(list(names), selector.fixed_features, selector.excluded_features, selector.feature_groups)
    n_fixed = int(groups.fixed.sum())
    parameters = sized_task_parameters(
        selector.algorithm_params, selector.n_features_to_select, groups.n_bits + n_fixed, n_fixed
    )
    scorings = named_scorings(selector.scoring, selector.refit)
    wanted = next(iter(scorings.values()))
    options = {"n_jobs": threads_of_task(selector.n_jobs)} | data.options
    splits, max_evaluations, budget = _task_budget(selector, estimator, wanted, data, classifies)
    free = np.flatnonzero(groups.owner < groups.n_bits)
    minimum, continuous = parameters.get("size"), not classifies

    def choose(columns: IntArray, splits: Splits) -> EvaluatorChoice:
        return choose_evaluator(estimator, take_table(X, columns, axis=1), y, splits, scoring=wanted, **options)

    kept = keep_features(
        selector.prefilter, lambda columns, split: choose(free[columns], split), take_table(X, free, axis=1), y, splits,
        minimum=minimum, continuous=continuous,
    )  # fmt: skip
    keep = groups.fixed.copy()
    keep[free[kept.mask]] = True
    groups = groups.keep(keep)
    used = take_table(X, np.flatnonzero(groups.used), axis=1)
    among = groups.among_used()
    if (ranking := filter_of(search, parameters)) is not None:
        parameters["order"] = among.rank_bits(rank_by_filter(ranking.name, used, y, continuous=continuous))
    elif kept.order and "order" not in parameters and hasattr(search.Parameters, "order"):
        parameters["order"] = groups.rank_bits(free[list(kept.order)].tolist())
    if search is Merit and "order" not in parameters:
        parameters.setdefault("start_size", _START_SIZE)
    choices = {
        name: cache(partial(choose_evaluator, estimator, used, y, splits, scoring=scoring, **options))
        for name, scoring in scorings.items()
    }
    choice = next(iter(choices.values()))()
    constraints = (selector.fixed_features, selector.excluded_features, selector.feature_groups)
    identity = {
        "data": digest_for_storage(X, y, data.sample_weight),
        "splits": digest_for_storage(*(part for split in splits.split() for part in split)),
        "estimator": describe_for_storage(estimator),
        "scoring": describe_for_storage(wanted),
        "algorithm": search.name,
        "algorithm_params": json.dumps(dataclasses.asdict(search.Parameters.of(parameters)), sort_keys=True),
        "prefilter": str(selector.prefilter),
        "n_runs": str(selector.n_runs),
        "random_state": str(seed),
    }
    if constraints != (None, None, None):
        identity["fixed, excluded and grouped features"] = str(groups.owner.tolist())
    return SelectionTask(
        seed=seed,
        estimator=estimator,
        classifies=classifies,
        choice=dataclasses.replace(choice, reason=choice.reason + budget),
        evaluator=choice.evaluator if among.is_plain else GroupedEvaluator(choice.evaluator, among),
        search=search,
        parameters=parameters,
        max_evaluations=max_evaluations,
        n_jobs=options["n_jobs"],
        names=names,
        groups=groups,
        prefilter=kept.sentence,
        scorings=choices,
        partitions=partial(other_partitions, selector.cv, splits, y, classifies=classifies, seed=seed),
        splits=splits,
        choose=choose,
        identity=identity,
    )


def named_scorings(scoring: Any, refit: Any) -> dict[str, Any]:
    """Return the scores by name, the one that is optimised first; a single score is named ``"score"``."""
    if not isinstance(scoring, list | tuple | set | dict):
        if not isinstance(refit, bool):
            raise PqswarmError(f"refit must be True or False if there is one score, not {refit!r}.")
        return {"score": scoring}
    names = dict(scoring) if isinstance(scoring, dict) else {name: name for name in scoring}
    if not names or not all(isinstance(name, str) for name in names):
        raise PqswarmError(f"scoring must list names of scores, or map names to scores, not {scoring!r}.")
    best = next(iter(names)) if isinstance(refit, bool) else refit
    if best not in names:
        raise unknown_name("score in refit", refit, names)
    return {best: names.pop(best)} | names


def _task_budget(
    selector: "SwarmSelector", estimator: Any, scoring: Any, data: SelectorData, classifies: bool
) -> tuple[Splits, int, str]:
    """The splits, the evaluations of a run, and a sentence if they are the defaults of an estimator that is fitted."""

    def split(cv: Any) -> Splits:
        cv = _reduce_folds(cv, data.y, classifies)
        return Splits.from_cv(cv, data.X, data.y, data.groups, classifier=classifies, **data.split_params)

    splits = split(10 if selector.cv is None else selector.cv)
    evaluations, sentence = selector.max_evaluations, ""
    open_ended = selector.cv is None or evaluations is None
    if open_ended and explain_fitting(estimator, data.X, data.y, splits, scoring, **data.options):
        defaults = []
        if selector.cv is None:
            splits = split(_FOLDS)
            defaults.append(f"{splits.n_folds} folds")
        if evaluations is None:
            evaluations = _EVALUATIONS
            defaults.append(f"{_EVALUATIONS} evaluations a run")
        sentence = f" The defaults are therefore {' and '.join(defaults)}."
    return splits, 6000 if evaluations is None else evaluations, sentence


def check_task_classes(estimator: Any, y: AnyArray) -> None:
    """Raise an error if labels are continuous; warn if they are many whole numbers, which may be quantities."""
    if y.ndim > 1:
        return
    check_estimator_classes(y)
    if y.dtype.kind in "iuf" and (many := np.unique(y).size) > _MANY_CLASSES:
        warnings.warn(
            f"y holds {many} different numbers, and {type(estimator).__name__} takes each for a class: use a regressor "
            f"if they are quantities.",
            stacklevel=6,
        )


def _reduce_folds(cv: Any, y: AnyArray, classifies: bool) -> Any:
    """Limit a number of folds to what the events allow; return any other cross-validation unchanged."""
    if not is_integer(cv):
        return cv
    limit = int(np.unique(y, return_counts=True)[1].max()) if classifies and y.ndim == 1 else len(y)
    if not 2 <= limit < cv:
        return cv
    warnings.warn(
        f"cv={cv} folds are too many for {'classes of at most ' if classifies else ''}{limit} events: "
        f"{limit} folds are used.",
        stacklevel=8,
    )
    return limit


def check_task_rule(rule: Any, n_features_to_select: Any) -> None:
    """Raise an error unless a rule is known and consistent with the number of features."""
    if isinstance(rule, str):
        check_name("rule", rule, RULES)
    else:
        if not (is_integer(rule) and rule >= 1):
            raise PqswarmError(f"rule must be one of {RULES} or a number of features, not {rule!r}.")
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


def sized_task_parameters(given: Any, wanted: Any, n_features: int, n_fixed: int = 0) -> dict[str, Any]:
    """Return the parameters of an algorithm, with the number of features to select beside the fixed ones."""
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
    size = int(wanted) if whole else max(1, int(wanted * n_features))
    if size <= n_fixed:
        raise PqswarmError(f"n_features_to_select must exceed the {n_fixed} fixed features, but is {wanted!r}.")
    return parameters | {"size": size - n_fixed}
