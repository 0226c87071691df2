"""Choose the evaluator of an estimator: an exact one if there is one, else fitting as usual; and say why."""

import time
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import AnyArray, BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import Evaluator, check_evaluator_labels, check_features
from pqswarm.evaluation.estimators import (
    check_estimator_classes,
    check_estimator_kind,
    check_estimator_weights,
    pipeline_steps,
)
from pqswarm.evaluation.folds import CrossValidation, Folds
from pqswarm.evaluation.generic import GenericEvaluator, check_target
from pqswarm.evaluation.memory import MAX_TABLE_BYTES
from pqswarm.evaluation.registry import find_classifier, find_regressor
from pqswarm.evaluation.repeated import RepeatedEvaluator, TargetsEvaluator
from pqswarm.evaluation.scaling import WITHIN_FOLDS, Scaling, scale_for_fold
from pqswarm.evaluation.scores import ScoredEvaluator, explain_slow_score
from pqswarm.evaluation.tables import as_numbers, is_table

_FEW = 16  # samples, at least as many as neighbours
_SLOW = 0.5  # seconds; above, one subset is timed


@dataclass(frozen=True, eq=False)
class EvaluatorChoice:
    """An evaluator, and why it was chosen: its name and the reason, as a sentence."""

    evaluator: Evaluator
    reason: str

    @property
    def name(self) -> str:
        """The class name of the evaluator, or of the evaluator of each partition."""
        return self.reason.partition(":")[0]

    def measure(self) -> float:
        """Return the seconds per subset, timed once on at most three subsets of half the features.

        The first includes one-off work such as compilation, and counts only if it is slow.
        """
        return self._seconds

    @cached_property
    def _seconds(self) -> float:
        rng = np.random.Generator(np.random.PCG64(0))
        n = self.evaluator.n_features
        masks = np.zeros((3, n), dtype=np.bool_)
        for mask in masks:
            mask[rng.permutation(n)[: (n + 1) // 2]] = True
        first = self._time(masks[:1])
        return first if first > _SLOW and self.name == "GenericEvaluator" else self._time(masks[1:]) / 2

    def _time(self, masks: BoolArray) -> float:
        start = time.perf_counter()
        self.evaluator.errors(masks)
        return time.perf_counter() - start


def choose_evaluator(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    splits: CrossValidation,
    *,
    scoring: Any = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> EvaluatorChoice:
    """Choose the evaluator of feature subsets by an estimator: an exact one if there is one.

    Exact evaluators cover an estimator alone, or in a pipeline after a MinMaxScaler, StandardScaler or RobustScaler
    with default options.

    Parameters
    ----------
    estimator : object
        A scikit-learn classifier or regressor, or a pipeline that ends with one.
    X : array_like, data frame or sparse matrix of shape (n_samples, n_features)
        Features; a frame or sparse matrix reaches an estimator that is fitted as it is.
    y : array_like of shape (n_samples,) or (n_samples, n_targets)
        Labels, or targets of a regression.
    splits : Splits or Folds
        Cross-validation.
    scoring : str, callable or None
        See :class:`GenericEvaluator`.
    sample_weight : array_like of shape (n_samples,), optional
        Weights of the samples in fitting and scoring.
    n_jobs : int or None
        Threads; see :class:`Evaluator`.
    **params
        `fit_params` and `score_params` of :class:`GenericEvaluator`.

    Returns
    -------
    EvaluatorChoice
        With ``.evaluator``, ``.reason`` and ``.measure()``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
    >>> choose_evaluator(model, X, y, Folds.stratified(y)).reason
    'KNNEvaluator: exact for 5 nearest neighbours by Euclidean distance, scaled by StandardScaler inside each fold.'
    """
    if not isinstance(splits, CrossValidation):
        raise PqswarmError("splits must be Splits or Folds: make them with Splits.from_cv(cv, X, y).")
    classifies = check_estimator_kind(estimator)
    if classifies and np.ndim(y) == 1:
        classes, labels = check_evaluator_labels(y, len(splits))
        check_estimator_classes(classes[labels])
    match = _ExactChoice.of(estimator, classifies, scoring, y, sample_weight)
    data = _fast_table(X, match) if is_table(X) else check_features(X, takes_nan=True)
    against = explain_fitting(estimator, X, y, splits, scoring, sample_weight=sample_weight, **params)
    if against:
        generic = GenericEvaluator(
            X if is_table(X) else data,
            y,
            splits,
            estimator,
            scoring,
            scaling="none",
            n_jobs=n_jobs,
            sample_weight=sample_weight,
            **params,
        )
        return EvaluatorChoice(generic, f"GenericEvaluator: fitted fold by fold, because {', and '.join(against)}.")
    options: dict[str, Any] = {"scaling": match.scaling, "n_jobs": n_jobs}
    if not classifies:
        options["scoring"] = scoring
    weights = None if sample_weight is None else check_estimator_weights(sample_weight, len(splits))
    if weights is not None:
        options["sample_weight"] = weights
    targets = check_target(y, len(splits)).T if np.ndim(y) == 2 else [np.asarray(y)]
    partitions = splits.partitions()
    held_out = None
    problems: list[tuple[Any, Any, Any]]
    if partitions is None and not match.exact.fast_evaluator.takes_splits:
        held_out = data
        problems = [_held_out(data, split, match.scaling) for split in splits.split()]
        options["scaling"] = "none"
    else:
        problems = [(data, slice(None), folds) for folds in partitions or (splits,)]
    made = [
        [match.exact._evaluator(part, target[rows], folds, **options) for target in targets]
        for part, rows, folds in problems
    ]
    kind = type(made[0][0]).__name__
    parts: list[Evaluator] = [each[0] if len(each) == 1 else TargetsEvaluator(each) for each in made]
    if match.scorer is not None:
        parts = [ScoredEvaluator(each[0], match.scorer, weights) for each in made]
    single = len(parts) == 1 and held_out is None
    evaluator = parts[0] if single else RepeatedEvaluator(parts, splits, held_out)
    by = f", scaled by {match.scaler} inside each fold" if match.scaler else ""
    times = "" if single else f", in {len(parts)} {'partitions' if held_out is None else 'splits'}"
    return EvaluatorChoice(evaluator, f"{kind}: exact for {match.exact.describe()}{by}{times}.")


def explain_fitting(
    estimator: Any, X: Any, y: ArrayLike, splits: CrossValidation, scoring: Any = None, **params: Any
) -> list[str]:
    """Return why :func:`choose_evaluator` fits the estimator; empty if there is an exact evaluator."""
    classifies = check_estimator_kind(estimator)
    match = _ExactChoice.of(estimator, classifies, scoring, y, params.get("sample_weight"))
    against = [match.why_not] if match.why_not else []
    fast = getattr(match.exact, "fast_evaluator", None)
    if params.get("sample_weight") is not None and fast and "sample_weight" not in signature(fast).parameters:
        against.append("samples have weights")
    if params.get("fit_params") or params.get("score_params"):
        against.append("fit has parameters")
    if np.ndim(y) == 2 and classifies:
        against.append("y has several labels")
    elif match.scorer is not None and match.scorer._response_method != "predict" and _lacks_class(y, splits):
        against.append("a training or test set lacks a class")
    data = _fast_table(X, match)
    if data is None:
        against.append("X is not an array or frame of numbers")
    elif np.isnan(data.data if is_table(data) else data).any():
        against.append("X has NaN")
    partitions = splits.partitions()
    if partitions is None and fast and not fast.takes_splits and _is_small(np.asarray(y), splits, classifies):
        against.append(f"a test set that is not a fold of a partition has fewer than {_FEW} samples, or one class")
    elif data is not None:
        copies = splits.n_folds if partitions is None or match.scaling in WITHIN_FOLDS else len(partitions)
        needed = copies * data.data.nbytes * 3 // 2  # in double and single precision
        if needed > MAX_TABLE_BYTES:
            against.append(f"its scaled copies of X would take {needed / 2**30:.0f} GiB")
    return against


def _fast_table(X: Any, match: "_ExactChoice") -> Any:
    """X as an exact evaluator takes it: an array of floats, or a sparse matrix; None if it does not."""
    if hasattr(X, "tocsr"):
        return X if match.exact is not None and match.exact.takes_sparse and not match.scaler else None
    return as_numbers(X)


def _held_out(data: Any, split: tuple[IntArray, IntArray], scaling: Scaling) -> tuple[Any, IntArray, Folds]:
    """The scaled samples of a split, their places, and folds: the second is the test set."""
    train = np.sort(split[0])
    test = split[1]
    rows = np.concatenate([train, test])
    return scale_for_fold(data, train, scaling)[rows], rows, Folds(np.repeat([0, 1], [train.size, test.size]))


def _is_small(y: AnyArray, splits: CrossValidation, classifies: bool) -> bool:
    """Whether a sample of each class, and enough in the test set, are missing in some split."""
    pairs = list(splits.split())
    single = classifies and any(np.unique(y[np.concatenate(pair)]).size < 2 for pair in pairs)
    return single or min(test.size for _, test in pairs) < _FEW


def _lacks_class(y: ArrayLike, splits: CrossValidation) -> bool:
    labels = np.asarray(y)
    n_classes = np.unique(labels).size
    return any(np.unique(labels[part]).size < n_classes for split in splits.split() for part in split)


@dataclass(frozen=True)
class _ExactChoice:
    """The exact learner and the scaler that reproduce an estimator, or why there are none."""

    exact: Any = None
    scaling: Scaling = "none"
    scaler: str = ""
    why_not: str = ""
    scorer: Any = None  # if errors are not counted

    @classmethod
    def of(cls, estimator: Any, classifies: bool, scoring: Any, y: Any, sample_weight: Any) -> "_ExactChoice":
        from sklearn.metrics import check_scoring
        from sklearn.pipeline import Pipeline

        steps = [step for _, step in pipeline_steps(estimator)]
        if isinstance(estimator, Pipeline) and (type(estimator) is not Pipeline or not steps):
            return cls(why_not=f"{_short_repr(estimator)} is not scikit-learn's own Pipeline")
        *before, last = steps
        exact: Any = find_classifier(last) if classifies else find_regressor(last)
        if exact is None:
            return cls(why_not=f"there is no exact evaluator for {_short_repr(last)}")
        known = (None, "accuracy") if classifies else (None, *exact.scorings)
        scorer = None
        weighted = sample_weight is not None
        by_name = any(scoring is one or (isinstance(scoring, str) and scoring == one) for one in known)
        if not by_name or (classifies and weighted):
            if classifies and not isinstance(scoring, list | tuple | set | dict):
                scorer = check_scoring(last, "accuracy" if scoring is None else scoring)
            if explain_slow_score(scorer, exact.fast_evaluator, np.unique(y).size, weighted):
                return cls(why_not=f"the exact evaluator does not score by {_short_repr(scoring)}")
        if not before:
            return cls(exact, scorer=scorer)
        scaling = _scaling_of(before[0])
        if len(before) > 1:
            return cls(why_not=f"the pipeline has {len(before)} steps before {type(last).__name__}")
        if scaling is None:
            kind = "has options that no exact evaluator knows" if _is_scaler(before[0]) else "is not a scaler"
            return cls(why_not=f"{_short_repr(before[0])} {kind}")
        return cls(exact, scaling, type(before[0]).__name__, scorer=scorer)


def _scaling_of(step: Any) -> Scaling | None:
    """The scaling of a pipeline step; None for another transformer, or a scaler with options."""
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

    if type(step) is MinMaxScaler and tuple(step.feature_range) == (0, 1) and not step.clip:
        return "minmax"
    if type(step) is StandardScaler and step.with_mean and step.with_std:
        return "standard"
    if type(step) is RobustScaler and step.with_centering and step.with_scaling and not step.unit_variance:
        return "robust" if tuple(step.quantile_range) == (25.0, 75.0) else None
    return None


def _is_scaler(step: Any) -> bool:
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

    return type(step) in (MinMaxScaler, StandardScaler, RobustScaler)


def _short_repr(thing: Any) -> str:
    """The repr of an object in one short line."""
    text = " ".join(repr(thing).split())
    return text if len(text) <= 80 else f"{type(thing).__name__}(...)"
