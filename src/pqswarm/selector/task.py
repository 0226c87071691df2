"""The task of a selector: evaluator, algorithm with parameters, and features to search; and its checks."""

import dataclasses
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.checks import check_name, is_integer
from pqswarm._base.random import derived_seed
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import EvaluatorChoice, FeatureGroups, GroupedEvaluator, Splits, choose_evaluator
from pqswarm.evaluation.choose import explain_fitting
from pqswarm.evaluation.estimators import check_estimator_classes, check_estimator_kind
from pqswarm.evaluation.learners import seed_sklearn_estimator
from pqswarm.evaluation.tables import take_table
from pqswarm.search import Merit, Run, Search
from pqswarm.search.ranking import required_filter
from pqswarm.search.registry import search_class
from pqswarm.selector.inputs import SelectorData, given_estimator
from pqswarm.selector.prefiltering import keep_features, rank_by_filter
from pqswarm.selector.rescoring import Pool, other_partitions
from pqswarm.selector.storage import describe_for_storage, digest_for_storage

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

RULES = ("filter-check", "rescored", "best", "1se")
CONSTRAINTS = ("fixed", "excluded", "groups")
_FOLDS = 5  # by default, where the estimator is fitted; else 10
_EVALUATIONS = 600  # likewise; else 6000
_START_SIZE = 8  # of MERIT: with more, a feature of a large scale is in every subset
_MANY_CLASSES = 50  # numbers as labels, above which they may be quantities


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
    partitions: Callable[[], Iterator[Splits]]
    splits: Splits
    choose: Callable[[IntArray, Splits], EvaluatorChoice]
    identity: dict[str, str]

    @property
    def subset_size(self) -> int | None:
        """The number of bits that each subset must have; None leaves it to the search."""
        return self.parameters.get("size")

    def make_run(self) -> Run:
        """Return a new run."""
        search = self.search(self.groups.n_bits, derived_seed(self.seed, (0,)), self.parameters)
        return Run(search, self.max_evaluations, self.evaluator.blocks)

    def make_pool(self) -> Pool:
        """Return a pool for the best subsets of the run."""
        return Pool(self.groups.n_bits, self.subset_size)

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

    def scores(self, errors: FloatArray) -> FloatArray:
        """Return the scores of errors."""
        return -errors if self.choice.evaluator.is_loss else 1.0 - errors


def make_task(selector: "SwarmSelector", data: SelectorData, seed: int) -> SelectionTask:
    """Return the task of a selector on some data."""
    estimator = given_estimator(selector)
    classifies = check_estimator_kind(estimator)
    estimator = seed_sklearn_estimator(estimator, seed)
    if classifies:
        check_task_classes(estimator, data.y)
    search, parameters = _algorithm(selector.algorithm)
    names = getattr(selector, "feature_names_in_", range(data.X.shape[1]))
    groups = _constrained_groups(list(names), selector.constraints)
    if selector.n_features_to_select is not None:
        parameters["size"] = _checked_size(selector.n_features_to_select, parameters, groups)
    n_jobs = threads_of_task(selector.n_jobs)
    splits, max_evaluations, budget = _task_budget(selector, estimator, data, classifies)

    def choose(columns: IntArray, splits: Splits) -> EvaluatorChoice:
        table = take_table(data.X, columns, axis=1)
        options = {"scoring": selector.scoring, "n_jobs": n_jobs} | data.evaluator_options
        return choose_evaluator(estimator, table, data.y, splits, **options)

    free = np.flatnonzero(groups.owner < groups.n_bits)
    kept = keep_features(
        selector.prefilter,
        lambda columns, split: choose(free[columns], split),
        take_table(data.X, free, axis=1),
        data.y,
        splits,
        minimum=parameters.get("size"),
        continuous=not classifies,
    )
    keep = groups.fixed.copy()
    keep[free[kept.mask]] = True
    groups = groups.keep(keep)
    among = groups.among_used()
    if (ranking := required_filter(search, parameters)) is not None:
        used = take_table(data.X, np.flatnonzero(groups.used), axis=1)
        order = rank_by_filter(ranking.name, used, data.y, continuous=not classifies)
        parameters["order"] = among.rank_bits(order)
    elif kept.order and "order" not in parameters and hasattr(search.Parameters, "order"):
        parameters["order"] = groups.rank_bits(free[list(kept.order)].tolist())
    if search is Merit and "order" not in parameters:
        parameters.setdefault("start_size", _START_SIZE)
    choice = choose(np.flatnonzero(groups.used), splits)
    identity = {
        "data": digest_for_storage(data.X, data.y, data.sample_weight),
        "splits": digest_for_storage(*(part for split in splits.split() for part in split)),
        "estimator": describe_for_storage(estimator),
        "scoring": describe_for_storage(selector.scoring),
        "algorithm": search.name,
        "parameters": json.dumps(dataclasses.asdict(search.Parameters.of(parameters)), sort_keys=True),
        "prefilter": str(selector.prefilter),
        "constraints": str(groups.owner.tolist()) if selector.constraints else "none",
        "random_state": str(seed),
    }
    return SelectionTask(
        seed=seed,
        estimator=estimator,
        classifies=classifies,
        choice=dataclasses.replace(choice, reason=choice.reason + budget),
        evaluator=choice.evaluator if among.is_plain else GroupedEvaluator(choice.evaluator, among),
        search=search,
        parameters=parameters,
        max_evaluations=max_evaluations,
        n_jobs=n_jobs,
        names=names,
        groups=groups,
        prefilter=kept.sentence,
        partitions=partial(other_partitions, selector.cv, splits, data.y, classifies=classifies, seed=seed),
        splits=splits,
        choose=choose,
        identity=identity,
    )


def _algorithm(given: Any) -> tuple[type[Search], dict[str, Any]]:
    """The search class and its parameters."""
    algorithm, parameters = given if isinstance(given, tuple) and len(given) == 2 else (given, {})
    if not isinstance(parameters, Mapping):
        raise PqswarmError(f"algorithm must be a name or class, or a pair of it and a mapping, not {given!r}.")
    return search_class(algorithm), dict(parameters)


def _constrained_groups(names: Sequence[Any], constraints: Any) -> FeatureGroups:
    """The features that bits select, by the constraints of a selector."""
    if constraints is None:
        return FeatureGroups.of(names)
    if not isinstance(constraints, Mapping):
        raise PqswarmError(f"constraints must map {', '.join(CONSTRAINTS)} to features, not {constraints!r}.")
    for key in constraints:
        check_name("constraint", key, CONSTRAINTS)
    return FeatureGroups.of(names, **constraints)


def _checked_size(wanted: Any, parameters: Mapping[str, Any], groups: FeatureGroups) -> int:
    """The number of bits to select, beside the fixed features, for a number or fraction of features."""
    n_fixed = int(groups.fixed.sum())
    n_features = groups.n_bits + n_fixed
    whole = is_integer(wanted) and 1 <= wanted <= n_features
    fraction = isinstance(wanted, float | np.floating) and 0 < wanted < 1
    if not (whole or fraction):
        raise PqswarmError(
            f"n_features_to_select must be an integer from 1 to {n_features}, a fraction between 0 and 1, "
            f"or None, not {wanted!r}."
        )
    if "size" in parameters:
        raise PqswarmError("give n_features_to_select or the size among the parameters of the algorithm, not both.")
    size = int(wanted) if whole else max(1, int(wanted * n_features))
    if size <= n_fixed:
        raise PqswarmError(f"n_features_to_select must exceed the {n_fixed} fixed features, but is {wanted!r}.")
    return size - n_fixed


def _task_budget(
    selector: "SwarmSelector", estimator: Any, data: SelectorData, classifies: bool
) -> tuple[Splits, int, str]:
    """The splits, the evaluations, and a sentence if they are the defaults of an estimator that is fitted."""

    def split(cv: Any) -> Splits:
        cv = _reduce_folds(cv, data.y, classifies)
        return Splits.from_cv(cv, data.X, data.y, data.groups, classifier=classifies, **data.split_params)

    splits = split(10 if selector.cv is None else selector.cv)
    evaluations = 6000 if selector.max_evaluations is None else selector.max_evaluations
    open_ended = selector.cv is None or selector.max_evaluations is None
    if not open_ended or not explain_fitting(
        estimator, data.X, data.y, splits, selector.scoring, **data.evaluator_options
    ):
        return splits, evaluations, ""
    defaults = []
    if selector.cv is None:
        splits = split(_FOLDS)
        defaults.append(f"{splits.n_folds} folds")
    if selector.max_evaluations is None:
        evaluations = _EVALUATIONS
        defaults.append(f"{_EVALUATIONS} evaluations")
    return splits, evaluations, f" The defaults are therefore {' and '.join(defaults)}."


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
    """Limit a number of folds to what the samples allow; return any other cross-validation unchanged."""
    if not is_integer(cv):
        return cv
    limit = int(np.unique(y, return_counts=True)[1].max()) if classifies and y.ndim == 1 else len(y)
    if not 2 <= limit < cv:
        return cv
    smallest = "classes of at most " if classifies else ""
    warnings.warn(
        f"cv={cv} folds are too many for {smallest}{limit} samples: using {limit} folds.",
        stacklevel=8,
    )
    return limit


def check_selection_rule(rule: Any) -> None:
    """Raise an error unless a rule is known."""
    check_name("selection_rule", rule, RULES)


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
