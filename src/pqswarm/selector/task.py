"""The task of a selector: its data, evaluator, algorithm with parameters, and features to search; and its checks.

Wide data are filtered before the search. Filtering on all samples makes cross-validation optimistic, the more so the
more features are kept; with few samples the search then finds nothing else. How many are kept is therefore decided with
the filter inside each split.
"""

import dataclasses
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_y, validate_data

from pqswarm._base.checks import check_integer, check_name, is_integer
from pqswarm._base.random import derived_seed
from pqswarm._base.text import count_text
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import (
    FILTERS,
    EvaluatorChoice,
    FeatureGroups,
    GroupedEvaluator,
    Splits,
    choose_evaluator,
)
from pqswarm.evaluation.base import check_memory
from pqswarm.evaluation.choose import reasons_to_fit_estimator
from pqswarm.evaluation.estimators import (
    accepts_argument,
    as_numbers,
    check_estimator_classes,
    check_estimator_kind,
    fit_estimator,
    is_table,
    take_params,
    take_table,
    weights_key,
)
from pqswarm.evaluation.learners import seed_sklearn_estimator
from pqswarm.search import Merit, Search
from pqswarm.search.ranking import required_filter
from pqswarm.search.registry import search_class
from pqswarm.selector.storage import describe_for_storage, digest_for_storage

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

CONSTRAINTS = ("fixed", "excluded", "groups")
_FOLDS = 5  # by default, where the estimator is fitted; else 10
_EVALUATIONS = 600  # of all searches by default, where the estimator is fitted; else of each
_ALONE = 3000  # evaluations of a single search by default, where the estimator is not fitted
_START_SIZE = 8  # of MERIT: with more, a feature of a large scale is in every subset
_NAMED = 5  # refused columns that a message names
_MANY_CLASSES = 50  # numbers as labels, above which they may be quantities
WIDE = 300
"""Maximum number of features to search; of more, those ranked first by a filter are kept."""

_SIZES = (5, 10, 20, 50, 100, 200)  # features of a prefilter
_SPLITS = 10  # maximum number of splits used
_ROOM = 3  # features kept for each that the filter alone needs


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
        """Return the given samples."""
        return SelectorData(
            X=take_table(self.X, rows),
            y=self.y[rows],
            groups=None if self.groups is None else self.groups[rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            fit_params=take_params(self.fit_params, len(self.y), rows),
            score_params=take_params(self.score_params, len(self.y), rows),
            split_params=take_params(self.split_params, len(self.y), rows),
        )

    @property
    def evaluator_options(self) -> dict[str, Any]:
        """The arguments of choose_evaluator for weights and parameters."""
        return {
            "sample_weight": self.sample_weight,
            "fit_params": self.fit_params,
            "score_params": self.score_params,
        }

    def fit(self, estimator: Any, support: BoolArray) -> Any:
        """Return a clone of the estimator, fitted to the features of a mask."""
        params = take_params(self.fit_params, len(self.y), np.arange(len(self.y)), support)
        if self.sample_weight is not None:
            params[weights_key(estimator)] = self.sample_weight
        return fit_estimator(clone(estimator), take_table(self.X, np.flatnonzero(support), axis=1), self.y, **params)

    def fit_all(self, estimator: Any, subsets: BoolArray, n_jobs: int) -> list[Any]:
        """Return clones of the estimator, each fitted to the features of a mask, in threads."""
        fits = (delayed(self.fit)(estimator, subset) for subset in subsets)
        return list(Parallel(n_jobs=n_jobs, require="sharedmem")(fits))

    def score(self, scorer: Any, model: Any) -> float:
        """Return the score of a fitted model."""
        params = dict(self.score_params)
        if self.sample_weight is not None:
            params["sample_weight"] = self.sample_weight
        return float(scorer(model, self.X, self.y, **params))


def given_estimator(selector: Any) -> Any:
    """Return the estimator of a selector: by default three nearest neighbors by Manhattan distance, after scaling."""
    if selector.estimator is not None:
        return selector.estimator
    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=3, metric="manhattan"))


def scorer_of(selector: Any) -> Any:
    """Return the scorer of a selector: accuracy or R2 by default."""
    estimator = given_estimator(selector)
    default = "accuracy" if check_estimator_kind(estimator) else "r2"
    return check_scoring(estimator, default if selector.scoring is None else selector.scoring)


def read_input(selector: "SwarmSelector", X: Any, y: Any, groups: Any, params: Mapping[str, Any]) -> SelectorData:
    """Return the checked input of `fit`; set the selector's number and names of features."""
    estimator = given_estimator(selector)
    table, target = _checked_table(selector, estimator, X, y)
    if get_config()["enable_metadata_routing"]:
        return _routed_data(selector, table, target, {"groups": groups} | dict(params))
    params = dict(params)
    sample_weight = params.pop("sample_weight", None)
    for name in params:
        if not accepts_argument(estimator.fit, name):
            raise PqswarmError(f"fit of {type(estimator).__name__} does not accept {name}: leave it out.")
    return SelectorData(table, target, _array_or_none(groups), _array_or_none(sample_weight), params)


def _checked_table(selector: "SwarmSelector", estimator: Any, X: Any, y: Any) -> tuple[Any, AnyArray]:
    """X and y, checked as scikit-learn does; a data frame stays one."""
    classifies = check_estimator_kind(estimator)
    targets = np.asarray(y)
    if targets.dtype == np.object_ and targets.ndim:
        missing = [target is None for target in targets.flat]
        if any(missing):
            raise PqswarmError(f"y must not hold None, but value {missing.index(True)} is: leave such samples out.")
    checks: dict[str, Any] = {"multi_output": targets.ndim == 2 and targets.shape[1] > 1, "y_numeric": not classifies}
    is_frame = is_table(X) and not issparse(X)
    if is_frame and as_numbers(X) is None:
        validate_data(selector, X, y, skip_check_array=True)
        target = _check_y(y, estimator=selector, **checks)
        if len(target) != X.shape[0]:
            raise PqswarmError(f"X has {X.shape[0]} rows, but y has {len(target)}.")
        return X, target
    checks["accept_sparse"] = ("csr", "csc") if get_tags(estimator).input_tags.sparse else False
    # Estimators without NaN support raise an error with its position.
    table, target = validate_data(selector, X, y, dtype=np.float64, ensure_all_finite="allow-nan", **checks)
    return (X if is_frame else table), target


def _routed_data(selector: "SwarmSelector", table: Any, target: AnyArray, given: Mapping[str, Any]) -> SelectorData:
    """The data with what scikit-learn's metadata routing sends to the estimator, the scorer and the splitter."""
    routed = process_routing(selector, "fit", **{key: value for key, value in given.items() if value is not None})
    split_params = dict(routed.splitter.split)
    fit_params = dict(routed.estimator.fit)
    score_params = dict(routed.scorer.score)
    weights = fit_params.get("sample_weight")
    if weights is not None and weights is score_params.get("sample_weight") and len(fit_params | score_params) == 1:
        fit_params = {}
        score_params = {}
    else:
        weights = None
    groups = _array_or_none(split_params.pop("groups", None))
    return SelectorData(table, target, groups, _array_or_none(weights), fit_params, score_params, split_params)


def _array_or_none(given: Any) -> Any:
    return None if given is None else np.asarray(given)


@dataclass(frozen=True)
class SelectionTask:
    """What is to be selected, and how.

    `estimator` is seeded; `choice` evaluates the features that `groups` uses, `choose` any columns in any splits.
    `limit` is the number of features of all subsets together: None for none, "auto" for the size of the best subset,
    which is the smallest within one standard error if `is_smallest`. `allowed` features are not excluded; `prefilter`
    is None if it keeps them all. `repartition` returns a random partition of labels or targets by a number of folds and
    a seed, or None if `cv` is not a plain k-fold.
    """

    seed: int
    y: AnyArray
    estimator: Any
    classifies: bool
    choice: EvaluatorChoice
    search: type[Search]
    parameters: dict[str, Any]
    max_evaluations: int
    n_subsets: int
    limit: Any
    is_smallest: bool
    n_jobs: int
    names: Sequence[Any]
    groups: FeatureGroups
    allowed: BoolArray
    prefilter: str | None
    splits: Splits
    repartition: Callable[[AnyArray, int, int], Splits | None]
    choose: Callable[[IntArray, Splits], EvaluatorChoice]
    identity: dict[str, str]

    @property
    def has_partitions(self) -> bool:
        """Whether there are other partitions of the samples."""
        return self.partition(1) is not None

    def partition(self, number: int) -> Splits | None:
        """Return another partition of the samples by its number from 1; None if there are none."""
        return self.repartition(self.y, self.splits.n_folds, derived_seed(self.seed, (2**31 + 2, number - 1)))

    def evaluator(self, groups: FeatureGroups, partition: int) -> Any:
        """Return the evaluator of bits in a partition: 0 is the given one, which stands for those that do not exist."""
        splits = self.partition(partition) if partition else None
        if splits is None and groups is self.groups:
            evaluator = self.choice.evaluator
        else:
            evaluator = self.choose(np.flatnonzero(groups.used), splits or self.splits).evaluator
        among = groups.among_used()
        return evaluator if among.is_plain else GroupedEvaluator(evaluator, among)

    def score(self, error: Any) -> Any:
        """Return the score of an error, or of an array of errors."""
        return -error if self.choice.evaluator.is_loss else 1.0 - error


def make_task(selector: "SwarmSelector", data: SelectorData, seed: int) -> SelectionTask:
    """Return the task of a selector on some data."""
    estimator = given_estimator(selector)
    classifies = check_estimator_kind(estimator)
    estimator = seed_sklearn_estimator(estimator, seed)
    if classifies:
        check_task_classes(estimator, data.y)
    search, parameters = _selector_algorithm(selector.algorithm)
    names = getattr(selector, "feature_names_in_", range(data.X.shape[1]))
    groups = _constrained_groups(list(names), selector.constraints)
    check_column_transformers(estimator, names, groups.fixed)
    is_smallest = isinstance(selector.n_features_to_select, str) and selector.n_features_to_select == "1se"
    if not is_smallest and selector.n_features_to_select is not None:
        parameters["size"] = _checked_size(selector.n_features_to_select, parameters, groups)
    n_subsets = check_integer("n_subsets", selector.n_subsets, 1)
    limit = _checked_limit(selector.max_features, n_subsets, groups)
    n_jobs = threads_of_task(selector.n_jobs)
    splits, max_evaluations, budget = _task_budget(selector, estimator, data, n_subsets, 1 if limit is None else 2)

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
        minimum=parameters.get("size") or 1,
        continuous=not classifies,
    )
    keep = groups.fixed.copy()
    keep[free[kept.mask]] = True
    allowed = groups.used
    groups = groups.keep(keep)
    if (ranking := required_filter(search, parameters)) is not None:
        used = take_table(data.X, np.flatnonzero(groups.used), axis=1)
        order = rank_by_filter(ranking.name, used, data.y, continuous=not classifies)
        parameters["order"] = groups.among_used().rank_bits(order)
    elif kept.order and "order" not in parameters and hasattr(search.Parameters, "order"):
        parameters["order"] = groups.rank_bits(free[list(kept.order)].tolist())
    if search is Merit and "order" not in parameters:
        parameters.setdefault("start_size", _START_SIZE)
    choice = choose(np.flatnonzero(groups.used), splits)
    if hasattr(choice.evaluator, "refusal"):
        check_columns(choice.evaluator, estimator, [names[place] for place in np.flatnonzero(groups.used).tolist()])
    identity = {
        "data": digest_for_storage(data.X, data.y, data.sample_weight),
        "splits": digest_for_storage(*(part for split in splits.split() for part in split)),
        "estimator": describe_for_storage(estimator),
        "scoring": describe_for_storage(selector.scoring),
        "algorithm": search.name,
        "parameters": json.dumps(dataclasses.asdict(search.Parameters.of(parameters)), sort_keys=True),
        "prefilter": str(selector.prefilter),
        "constraints": str(groups.owner.tolist()) if selector.constraints else "none",
        "n_subsets": str(n_subsets),
        "max_features": str(limit),
        "random_state": str(seed),
    }
    return SelectionTask(
        seed=seed,
        y=data.y,
        estimator=estimator,
        classifies=classifies,
        choice=dataclasses.replace(choice, reason=choice.reason + budget),
        search=search,
        parameters=parameters,
        max_evaluations=max_evaluations,
        n_subsets=n_subsets,
        limit=limit,
        is_smallest=is_smallest,
        n_jobs=n_jobs,
        names=names,
        groups=groups,
        allowed=allowed,
        prefilter=kept.sentence,
        splits=splits,
        repartition=partial(plain_partition, selector.cv, classifies=classifies),
        choose=choose,
        identity=identity,
    )


def _selector_algorithm(given: Any) -> tuple[type[Search], dict[str, Any]]:
    """The search class and its parameters."""
    algorithm, parameters = given if isinstance(given, tuple) and len(given) == 2 else (given, {})
    if not isinstance(parameters, Mapping):
        raise PqswarmError(f"algorithm must be a name or class, or a pair of it and a mapping, not {given!r}.")
    return search_class(algorithm), dict(parameters)


def _constrained_groups(names: Sequence[Any], constraints: Any) -> FeatureGroups:
    """The features that bits select, by the constraints of a selector."""
    given = {} if constraints is None else constraints
    if not isinstance(given, Mapping):
        raise PqswarmError(f"constraints must map {', '.join(CONSTRAINTS)} to features, not {given!r}.")
    for key in given:
        check_name("constraint", key, CONSTRAINTS)
    return FeatureGroups.of(names, **given)


def _checked_size(wanted: Any, parameters: Mapping[str, Any], groups: FeatureGroups) -> int:
    """The number of bits to select, in addition to the fixed features, for a number or fraction of features."""
    n_fixed = int(groups.fixed.sum())
    size = _number_of_features("n_features_to_select", wanted, groups.n_bits + n_fixed, "'1se'")
    if "size" in parameters:
        raise PqswarmError("give n_features_to_select or the size among the parameters of the algorithm, not both.")
    if size <= n_fixed:
        raise PqswarmError(f"n_features_to_select must exceed the {n_fixed} fixed features, but is {wanted!r}.")
    return size - n_fixed


def _number_of_features(name: str, wanted: Any, n_features: int, word: str) -> int:
    """A number of features, given as such or as a fraction; `word` is allowed, too, for the message."""
    if is_integer(wanted) and 1 <= wanted <= n_features:
        return int(wanted)
    if isinstance(wanted, float | np.floating) and 0 < wanted < 1:
        return max(1, int(wanted * n_features))
    raise PqswarmError(
        f"{name} must be an integer from 1 to {n_features}, a fraction between 0 and 1, {word} or None, not {wanted!r}."
    )


def _checked_limit(wanted: Any, n_subsets: int, groups: FeatureGroups) -> Any:
    """The limit on the features of all subsets together: a number, "auto", or None for none."""
    if wanted is None or (isinstance(wanted, str) and wanted == "auto"):
        return wanted if n_subsets > 1 else None
    n_features = int(groups.used.sum())
    limit = _number_of_features("max_features", wanted, n_features, "'auto'")
    if n_subsets == 1:
        raise PqswarmError("max_features limits several subsets together: for one, use n_features_to_select.")
    smallest = int(groups.fixed.sum() + np.bincount(groups.owner)[: groups.n_bits].min())
    if limit < smallest:
        raise PqswarmError(f"max_features must be at least {smallest}, for the fixed features and a free one or group.")
    return None if limit >= n_features else limit


def _task_budget(
    selector: "SwarmSelector", estimator: Any, data: SelectorData, n_subsets: int, n_phases: int
) -> tuple[Splits, int, str]:
    """The splits, the evaluations, and a sentence if they are the defaults of an estimator that is fitted."""
    classifies = check_estimator_kind(estimator)

    def split(cv: Any) -> Splits:
        cv = _limit_selector_folds(cv, data.y, classifies, selector.scoring)
        return Splits.from_cv(cv, data.X, data.y, data.groups, classifier=classifies, **data.split_params)

    splits = split(10 if selector.cv is None else selector.cv)
    evaluations = selector.max_evaluations
    if evaluations is None:
        evaluations = _ALONE if n_subsets == 1 else n_phases * n_subsets * _EVALUATIONS
    check_integer("max_evaluations", evaluations, 1)
    open_ended = selector.cv is None or selector.max_evaluations is None
    if not open_ended or not reasons_to_fit_estimator(
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


def _limit_selector_folds(cv: Any, y: AnyArray, classifies: bool, scoring: Any) -> Any:
    """Limit a number of folds to what the samples allow, two in each for R2; return any other one unchanged."""
    if not is_integer(cv):
        return cv
    fewest = 1 if classifies or scoring not in (None, "r2") else 2
    limit = int(np.unique(y, return_counts=True)[1].max()) if classifies and y.ndim == 1 else len(y) // fewest
    if not 2 <= limit < cv:
        return cv
    few = f"classes of at most {limit}" if classifies else len(y)
    warnings.warn(
        f"cv={cv} folds are too many for {few} samples: using {limit} folds.",
        stacklevel=8,
    )
    return limit


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


@dataclass(frozen=True)
class Kept:
    """The kept features as a mask, in their order, best first, and a sentence; empty and None if all are kept."""

    mask: BoolArray
    order: tuple[int, ...] = ()
    sentence: str | None = None


def keep_features(
    given: Any,
    choose: Callable[[IntArray, Splits], EvaluatorChoice],
    X: Any,
    y: AnyArray,
    splits: Splits,
    *,
    minimum: int,
    continuous: bool,
) -> Kept:
    """Return the features that a prefilter keeps, at least `minimum`; `choose` evaluates some columns.

    ``"auto"`` keeps all columns of a frame that holds other things than numbers.
    """
    if isinstance(given, str):
        check_name("prefilter", given, ["auto", *FILTERS])
    elif given is not None and not (is_integer(given) and given >= 1):
        raise PqswarmError(f"prefilter must be 'auto', a filter, a number of features or None, not {given!r}.")
    name = given if given in FILTERS else "anova"
    most = max(int(given) if is_integer(given) else WIDE, minimum)
    mask = np.ones(X.shape[1], dtype=np.bool_)
    if given is None or mask.size <= most:
        return Kept(mask)
    numbers = dense_numbers(X)
    if numbers is None:
        if given == "auto":
            return Kept(mask)
        raise PqswarmError(f"prefilter={given!r} ranks numbers, but X has other columns: use prefilter=None.")

    def rank(rows: Any) -> list[int]:
        return rank_by_filter(name, numbers[rows], y[rows], continuous=continuous)

    keep = most
    why = ""
    ranked = rank(slice(None))
    if isinstance(given, str):
        sizes = [*(size for size in _SIZES if minimum <= size < most), most]
        needed, error = _size_by_filter(rank, choose, splits, sizes)
        keep = min(most, _ROOM * needed)
        why = (
            f" In cross-validation with the filter inside each split, its first {needed} features have an error of "
            f"{error:.2g}. The score of the search is also better because the filter has seen all samples."
        )
    mask[:] = False
    mask[ranked[:keep]] = True
    sentence = f"Kept the best {keep} of {mask.size} features by {FILTERS[name].title}.{why}"
    return Kept(mask, tuple(int(place) for place in ranked[:keep]), sentence)


def _size_by_filter(
    rank: Callable[[IntArray], list[int]],
    choose: Callable[[IntArray, Splits], EvaluatorChoice],
    splits: Splits,
    sizes: Sequence[int],
) -> tuple[int, float]:
    """The smallest number of features, ranked inside each split, within one standard error of the best; its error."""
    masks = np.arange(sizes[-1]) < np.array(sizes)[:, np.newaxis]
    pairs = list(splits.split())
    rows = []
    for train, test in pairs[:: -(-len(pairs) // _SPLITS)]:
        first = np.array(rank(train)[: sizes[-1]])
        rows.append(choose(first, Splits([(train, test)], len(splits))).evaluator.errors(masks))
    errors = np.array(rows)
    means = errors.mean(axis=0)
    doubt = errors[:, means.argmin()].std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    needed = int(np.argmax(means <= means.min() + doubt))
    return sizes[needed], float(means[needed])


def dense_numbers(X: Any) -> FloatArray | None:
    """Return the features as an array for the filter; None if they are not all numbers."""
    if not hasattr(X, "toarray"):
        numbers: FloatArray | None = as_numbers(X)
        return numbers
    remedy = "put SelectKBest before the selector, or use prefilter=None"
    check_memory("the dense copy of X for the filter", 8 * X.shape[0] * X.shape[1], remedy)
    return np.asarray(X.toarray(), dtype=np.float64)


def rank_by_filter(name: str, X: Any, y: AnyArray, *, continuous: bool) -> list[int]:
    """Return the features, best first; for several targets, by the sum of their ranks."""
    numbers = dense_numbers(X)
    if numbers is None:
        raise PqswarmError(f"the filter {name} ranks numbers, but X has other columns: leave them out.")
    ranks = [FILTERS[name].rank(numbers, column, continuous=continuous) for column in np.atleast_2d(y.T)]
    return [int(place) for place in np.argsort(np.sum(np.argsort(ranks, axis=1), axis=0), kind="stable")]


def plain_partition(cv: Any, y: AnyArray, n_folds: int, seed: int, *, classifies: bool) -> Splits | None:
    """Return a random partition of the kind of `cv` into at most `n_folds`; None if that is not a plain k-fold."""
    kind = type(cv)
    if cv is None or is_integer(cv):
        kind = StratifiedKFold if classifies and y.ndim == 1 else KFold
    if kind not in (KFold, StratifiedKFold):
        return None
    most = len(y)
    if kind is StratifiedKFold:
        _, y, counts = np.unique(y, return_inverse=True, return_counts=True)
        most = int(counts.max())
    folds = kind(max(2, min(n_folds, most)), shuffle=True, random_state=seed % 2**32)
    with warnings.catch_warnings(action="ignore"):  # of small classes the given folds have warned
        return Splits.from_cv(folds, y, y)


def check_columns(evaluator: Any, estimator: Any, names: Sequence[Any]) -> None:
    """Raise an error with the features that the estimator of an evaluator refuses in any company.

    All features are tried together; if they are refused, each alone, and what is no number with a number too; and those
    that are refused, together with all that are not.
    """
    if not evaluator.refusal(np.ones(evaluator.n_features, dtype=np.bool_)):
        return
    alone = np.eye(evaluator.n_features, dtype=np.bool_)
    reasons = [evaluator.refusal(mask) for mask in alone]
    taken = np.array([not reason for reason in reasons])
    others = taken & [as_numbers(take_table(evaluator.data, np.flatnonzero(mask), axis=1)) is None for mask in alone]
    number = alone[np.argmax(taken & ~others)] & taken
    for place in np.flatnonzero(others).tolist():
        reasons[place] = evaluator.refusal(number | alone[place])
        taken[place] = not reasons[place]
    if not taken.any():
        return  # the search says so
    refused = [place for place in np.flatnonzero(~taken).tolist() if evaluator.refusal(taken | alone[place])]
    if refused:
        listed = ", ".join(f"{names[place]!r} ({reasons[place].rstrip('.')})" for place in refused[:_NAMED])
        raise PqswarmError(
            f"{type(estimator).__name__} refuses {count_text(len(refused), 'feature')}, {listed}: encode or "
            f"impute in a pipeline, such as make_pipeline(make_column_transformer((OneHotEncoder("
            f"handle_unknown='ignore'), make_column_selector(dtype_exclude='number')), remainder='passthrough'), ...), "
            f"or leave columns out by constraints={{'excluded': [...]}}."
        )


def check_column_transformers(estimator: Any, names: Sequence[Any], fixed: BoolArray) -> None:
    """Raise an error if a ColumnTransformer asks for columns that a subset may lack, or finds others by position."""
    always = {name for name, is_fixed in zip(names, fixed, strict=True) if is_fixed}
    for part in estimator.get_params().values():
        for _, _, columns in part.transformers if isinstance(part, ColumnTransformer) else ():
            asked = np.atleast_1d(np.asarray(columns, dtype=object))
            if not callable(columns) and not all(isinstance(one, str) and one in always for one in asked):
                raise PqswarmError(
                    f"ColumnTransformer asks for {columns!r}, which most subsets lack: use make_column_selector, which "
                    f"finds the columns that there are, or names in constraints={{'fixed': [...]}}."
                )
