"""Choose the evaluator of an estimator: an exact one if there is one, else fitting as usual; and say why."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from pqswarm._base.typing import ArrayLike, BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import MAX_TABLE_BYTES, Evaluator, check_evaluator_labels, check_features, check_target
from pqswarm.evaluation.estimators import (
    as_numbers,
    check_estimator_classes,
    check_estimator_kind,
    check_estimator_weights,
    is_table,
    pipeline_steps,
)
from pqswarm.evaluation.folds import CrossValidation, Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.learners import find_classifier, find_regressor
from pqswarm.evaluation.scaling import WITHIN_FOLDS, Scaling, scale_for_fold
from pqswarm.evaluation.scores import ScoredEvaluator, is_slow_score
from pqswarm.evaluation.wrappers import RepeatedEvaluator, TargetsEvaluator

_FEW = 16  # samples, at least as many as neighbors
_SLOW = 0.5  # seconds; above, one subset is timed
_SCALERS: dict[str, Scaling] = {"MinMaxScaler": "minmax", "StandardScaler": "standard", "RobustScaler": "robust"}
_SEED = re.compile(r", random_state=\d+|random_state=\d+, |random_state=\d+")  # not of interest, perhaps not given


@dataclass(frozen=True, eq=False)
class EvaluatorChoice:
    """An evaluator, and why it was chosen: its name and the reason, as a sentence."""

    evaluator: Evaluator
    reason: str

    @property
    def name(self) -> str:
        """The class name of the evaluator, or of the evaluator of each partition."""
        return self.reason.partition(":")[0]

    @cached_property
    def seconds_per_subset(self) -> float:
        """Seconds per subset, timed once on at most three subsets of half the features.

        The first includes one-off work such as compilation, and counts only if it is slow.
        """
        rng = np.random.Generator(np.random.PCG64(0))
        n = self.evaluator.n_features
        masks = np.zeros((3, n), dtype=np.bool_)
        for mask in masks:
            mask[rng.permutation(n)[: (n + 1) // 2]] = True
        first = self.time(masks[:1])
        return first if first > _SLOW and self.name == "GenericEvaluator" else self.time(masks[1:])

    def time(self, masks: BoolArray) -> float:
        """Return the seconds per subset that the evaluation of some takes."""
        start = time.perf_counter()
        self.evaluator.errors(masks)
        return (time.perf_counter() - start) / len(masks)


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
    scoring : str, callable or None, default=None
        See :class:`GenericEvaluator`.
    sample_weight : array_like of shape (n_samples,), default=None
        Weights of the samples in fitting and scoring.
    n_jobs : int or None, default=None
        Threads; see :class:`Evaluator`.
    **params
        `fit_params` and `score_params` of :class:`GenericEvaluator`.

    Returns
    -------
    EvaluatorChoice
        With ``.evaluator``, ``.reason`` and ``.seconds_per_subset``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
    >>> choose_evaluator(model, X, y, Folds.stratified(y)).reason
    'KNNEvaluator: exact for 5 nearest neighbors by Euclidean distance, scaled by StandardScaler inside each fold.'
    """
    if not isinstance(splits, CrossValidation):
        raise PqswarmError("splits must be Splits or Folds: make them with Splits.from_cv(cv, X, y).")
    if check_estimator_kind(estimator) and np.ndim(y) == 1:
        classes, labels = check_evaluator_labels(y, len(splits))
        check_estimator_classes(classes[labels])
    data = X if is_table(X) else check_features(X, takes_nan=True)
    match = _ExactMatch(estimator, data, y, splits, scoring, sample_weight, **params)
    against = match.reasons_against()
    if not against:
        return match.choice(n_jobs)
    generic = GenericEvaluator(
        data,
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


def reasons_to_fit_estimator(
    estimator: Any, X: Any, y: ArrayLike, splits: CrossValidation, scoring: Any = None, **params: Any
) -> list[str]:
    """Return why :func:`choose_evaluator` fits the estimator; empty if there is an exact evaluator."""
    return _ExactMatch(estimator, X, y, splits, scoring, **params).reasons_against()


class _ExactMatch:
    """The exact learner, scaler and scorer that reproduce an estimator with its data, or why there are none."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        splits: CrossValidation,
        scoring: Any,
        sample_weight: Any = None,
        fit_params: Any = None,
        score_params: Any = None,
    ) -> None:
        self._classifies = check_estimator_kind(estimator)
        self._X = X
        self._y = y
        self._splits = splits
        self._scoring = scoring
        self._sample_weight = sample_weight
        self._has_params = bool(fit_params or score_params)
        self._exact: Any = None
        self._scaling: Scaling = "none"
        self._scaler = ""
        self._scorer: Any = None  # if errors are not counted
        self._why_not = self._match(estimator)

    def _match(self, estimator: Any) -> str:
        """Find the learner, scaler and scorer; return why there are none."""
        from sklearn.pipeline import Pipeline

        steps = [step for _, step in pipeline_steps(estimator)]
        if isinstance(estimator, Pipeline) and (type(estimator) is not Pipeline or not steps):
            return f"{_short_estimator_repr(estimator)} is not scikit-learn's own Pipeline"
        *before, last = steps
        exact: Any = find_classifier(last) if self._classifies else find_regressor(last)
        if exact is None:
            return f"there is no exact evaluator for {_short_estimator_repr(last)}"
        scorer, is_slow = self._find_scorer(exact, last)
        if is_slow:
            return f"the exact evaluator does not score by {_short_estimator_repr(self._scoring)}"
        if len(before) > 1:
            return f"the pipeline has {len(before)} steps before {type(last).__name__}"
        for step in before:
            scaling = _scaling_of_step(step)
            if scaling is None:
                is_scaler = type(step).__name__ in _SCALERS
                kind = "has options that no exact evaluator knows" if is_scaler else "is not a scaler"
                return f"{_short_estimator_repr(step)} {kind}"
            self._scaling = scaling
            self._scaler = type(step).__name__
        self._exact = exact
        self._scorer = scorer
        return ""

    def _find_scorer(self, exact: Any, last: Any) -> tuple[Any, bool]:
        """The scorer of a classifier, if errors are not counted, and whether it takes a fit."""
        from sklearn.metrics import check_scoring

        weighted = self._sample_weight is not None
        counted = ("accuracy",) if self._classifies else exact.scorings
        is_counted = self._scoring is None or (isinstance(self._scoring, str) and self._scoring in counted)
        if is_counted and not (self._classifies and weighted):
            return None, False
        scorer = None
        if self._classifies and not isinstance(self._scoring, list | tuple | set | dict):
            scorer = check_scoring(last, "accuracy" if self._scoring is None else self._scoring)
        return scorer, is_slow_score(scorer, exact.fast_evaluator, np.unique(self._y).size, weighted)

    def reasons_against(self) -> list[str]:
        """Return why the estimator must be fitted."""
        return [*self._reasons_in_arguments(), *self._reasons_in_data()]

    def _reasons_in_arguments(self) -> Iterator[str]:
        if self._why_not:
            yield self._why_not
        fast = getattr(self._exact, "fast_evaluator", None)
        if self._sample_weight is not None and fast and "sample_weight" not in signature(fast).parameters:
            yield "samples have weights"
        if self._has_params:
            yield "fit has parameters"
        if np.ndim(self._y) == 2 and self._classifies:
            yield "y has several labels"
        elif self._scorer is not None and self._scorer._response_method != "predict" and self._lacks_class():
            yield "a training or test set lacks a class"

    def _reasons_in_data(self) -> Iterator[str]:
        data = self._table()
        if data is None:
            yield "X is not an array or frame of numbers"
        elif np.isnan(data.data if is_table(data) else data).any():
            yield "X has NaN"
        partitions = self._splits.partitions()
        if partitions is None and self._exact and not self._exact.fast_evaluator.takes_splits and self._is_small():
            yield f"a test set that is not a fold of a partition has fewer than {_FEW} samples, or one class"
        elif data is not None:
            copies = self._splits.n_folds
            if partitions is not None and self._scaling not in WITHIN_FOLDS:
                copies = len(partitions)
            needed = copies * data.data.nbytes * 3 // 2  # in double and single precision
            if needed > MAX_TABLE_BYTES:
                yield f"its scaled copies of X would take {needed / 2**30:.0f} GiB"

    def _table(self) -> Any:
        """X as an exact evaluator takes it: an array of floats, or a sparse matrix; None if it does not."""
        if hasattr(self._X, "tocsr"):
            return self._X if self._exact is not None and self._exact.takes_sparse and not self._scaler else None
        return as_numbers(self._X)

    def _is_small(self) -> bool:
        """Whether a sample of each class, and enough in the test set, are missing in some split."""
        y = np.asarray(self._y)
        pairs = list(self._splits.split())
        single = self._classifies and any(np.unique(y[np.concatenate(pair)]).size < 2 for pair in pairs)
        return single or min(test.size for _, test in pairs) < _FEW

    def _lacks_class(self) -> bool:
        labels = np.asarray(self._y)
        n_classes = np.unique(labels).size
        return any(np.unique(labels[part]).size < n_classes for split in self._splits.split() for part in split)

    def choice(self, n_jobs: int | None) -> EvaluatorChoice:
        """Return the exact evaluator, one for each partition, split and target."""
        data = self._table()
        options: dict[str, Any] = {"scaling": self._scaling, "n_jobs": n_jobs}
        if not self._classifies:
            options["scoring"] = self._scoring
        weights = None
        if self._sample_weight is not None:
            options["sample_weight"] = weights = check_estimator_weights(self._sample_weight, len(self._splits))
        targets = list(check_target(self._y, len(self._splits)).T) if np.ndim(self._y) == 2 else [np.asarray(self._y)]
        partitions = self._splits.partitions()
        is_held_out = partitions is None and not self._exact.fast_evaluator.takes_splits
        problems: list[tuple[Any, Any, Any]]
        if is_held_out:
            problems = [_held_out_problem(data, split, self._scaling) for split in self._splits.split()]
            options["scaling"] = "none"
        else:
            problems = [(data, slice(None), folds) for folds in partitions or (self._splits,)]
        parts: list[Evaluator] = []
        for part, rows, folds in problems:
            evaluators = [self._exact._evaluator(part, target[rows], folds, **options) for target in targets]
            kind = type(evaluators[0]).__name__
            if self._scorer is not None:
                parts.append(ScoredEvaluator(evaluators[0], self._scorer, weights))
            else:
                parts.append(evaluators[0] if len(evaluators) == 1 else TargetsEvaluator(evaluators))
        evaluator = parts[0]
        times = ""
        if is_held_out or len(parts) > 1:
            evaluator = RepeatedEvaluator(parts, self._splits, data if is_held_out else None)
            times = f", in {len(parts)} {'splits' if is_held_out else 'partitions'}"
        by = f", scaled by {self._scaler} inside each fold" if self._scaler else ""
        return EvaluatorChoice(evaluator, f"{kind}: exact for {self._exact.describe()}{by}{times}.")


def _held_out_problem(data: Any, split: tuple[IntArray, IntArray], scaling: Scaling) -> tuple[Any, IntArray, Folds]:
    """The scaled samples of a split, their places, and folds: the second is the test set."""
    train = np.sort(split[0])
    test = split[1]
    rows = np.concatenate([train, test])
    return scale_for_fold(data, train, scaling)[rows], rows, Folds(np.repeat([0, 1], [train.size, test.size]))


def _scaling_of_step(step: Any) -> Scaling | None:
    """The scaling of a pipeline step; None for another transformer, or a scaler with options."""
    from sklearn import preprocessing

    scalings = {getattr(preprocessing, name): scaling for name, scaling in _SCALERS.items()}
    kind = type(step)
    return scalings[kind] if kind in scalings and {**step.get_params(), "copy": True} == kind().get_params() else None


def _short_estimator_repr(estimator: Any) -> str:
    """The repr of an object in one short line."""
    text = _SEED.sub("", " ".join(repr(estimator).split()))
    return text if len(text) <= 80 else f"{type(estimator).__name__}(...)"
