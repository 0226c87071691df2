"""Scores of the labels that an exact evaluator predicts: by formulas of the counts, or by any function of labels."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator

_Formula = Callable[[IntArray, IntArray, IntArray], FloatArray]
"""A score of the counts of recognised, true and guessed events by class, (..., n_classes)."""


def is_score_of_labels(scorer: Any) -> bool:
    """Return whether one of scikit-learn's scorers compares true and predicted labels, nothing else."""
    return hasattr(scorer, "_score_func") and getattr(scorer, "_response_method", None) == "predict"


class ScoredEvaluator(Evaluator):
    """The cross-validated score of a classifier with an exact evaluator, computed from its predicted labels.

    Accuracy, balanced accuracy, precision, recall, F1, Jaccard, the Matthews correlation and Cohen's kappa are computed
    for all subsets of a batch at once; scikit-learn computes any other score of labels, fold by fold. Scores agree with
    scikit-learn's to rounding.
    """

    def __init__(self, evaluator: ClassificationEvaluator, scorer: Any) -> None:
        if not is_score_of_labels(scorer):
            raise PqswarmError(f"scorer must be a scorer of predicted labels by scikit-learn, not {scorer!r}.")
        super().__init__(evaluator.data, evaluator.folds, scaling=evaluator.scaling, n_jobs=evaluator.n_jobs)
        self.evaluator = evaluator
        self._function, self._sign, self._kwargs = scorer._score_func, scorer._sign, dict(scorer._kwargs)
        self._score = _find_score(self._function.__name__, self._kwargs, evaluator.classes)
        tested = [evaluator.labels[test] for _, test in self.folds.split()]
        self._true = np.array([np.bincount(labels, minlength=evaluator.classes.size) for labels in tested])

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss rather than one minus a score."""
        return bool(self._sign < 0)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset: the mean over the folds, infinite for an empty one."""
        return np.asarray(self.fold_errors(masks).mean(axis=1))

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, shape (m, n_folds); infinite for an empty one."""
        return self._evaluate(masks, np.full(self.folds.n_folds, np.inf), self._fold_errors)

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the predicted label of each event when its fold is tested."""
        return self.evaluator.predictions(mask)

    def _fold_errors(self, masks: BoolArray) -> FloatArray:
        predicted = self.evaluator._predict(masks)
        refused = predicted[:, 0] < 0
        predicted[refused] = 0
        scores = self._scores(predicted)
        if not np.isfinite(scores[~refused]).all():
            row, fold = np.argwhere(~np.isfinite(scores) & ~refused[:, np.newaxis])[0]
            raise PqswarmError(
                f"{self._function.__name__} gives {scores[row, fold]} on fold {fold} of {self.folds.sizes[fold]} "
                f"events, with features {np.flatnonzero(masks[row]).tolist()}: use other folds or another scoring."
            )
        errors = -self._sign * scores if self.is_loss else 1.0 - scores
        errors[refused] = np.inf
        return errors

    def _scores(self, predicted: IntArray) -> FloatArray:
        """The scores of each fold for predicted positions in the classes, (m, n): shape (m, n_folds)."""
        from pqswarm.evaluation.count_kernels import count_hits

        e = self.evaluator
        found = np.full((len(predicted), e.folds.n_folds), np.nan)
        if self._score is not None:
            right, guessed = np.zeros((2, *found.shape, e.classes.size), dtype=np.int64)
            count_hits(predicted, e.labels, e.folds.test_fold, right, guessed)
            with np.errstate(divide="ignore", invalid="ignore"):
                found = self._score(right, self._true, guessed)
        for row, fold in np.argwhere(np.isnan(found)):  # undefined, or a score without a formula here
            test = e.folds.test(int(fold))
            true, labels = e.classes[e.labels[test]], e.classes[predicted[row, test]]
            with warnings.catch_warnings(action="ignore"):  # such as those of classes that are not predicted
                found[row, fold] = self._function(true, labels, **self._kwargs)
        return found


def _find_score(name: str, kwargs: Mapping[str, Any], classes: AnyArray) -> _Formula | None:
    """The formula of a score; None if scikit-learn must compute it."""
    plain = {"accuracy_score": _accuracy, "balanced_accuracy_score": _balanced, "matthews_corrcoef": _matthews}
    plain["cohen_kappa_score"] = _kappa
    if name in plain:
        return None if kwargs else plain[name]
    ratios = {"precision_score": (0, 1), "recall_score": (1, 0), "f1_score": (0.5, 0.5), "jaccard_score": (1, 1)}
    average, positive = kwargs.get("average", "binary"), kwargs.get("pos_label", 1)
    is_binary = classes.size == 2 and positive in classes.tolist()
    known = ("macro", "micro", "weighted", *(["binary"] if is_binary else []))
    if name not in ratios or average not in known or not kwargs.keys() <= {"average", "pos_label"}:
        return None
    by_true, by_guessed = ratios[name]

    def score(right: IntArray, true: IntArray, guessed: IntArray) -> FloatArray:
        if average == "binary":
            right, true, guessed = (part[..., classes == positive][..., 0] for part in (right, true, guessed))
        elif average == "micro":
            right, true, guessed = (part.sum(axis=-1) for part in (right, true, guessed))
        whole = by_true * true + by_guessed * guessed + (1 - by_true - by_guessed) * right
        each = np.divide(right, whole, out=np.zeros(right.shape), where=whole > 0)  # 0/0 is 0, as with a warning there
        if average == "macro":
            return np.asarray(each.sum(axis=-1) / np.count_nonzero(true + guessed, axis=-1))
        return np.asarray((each * true).sum(axis=-1) / true.sum(axis=-1) if average == "weighted" else each)

    return score


def _accuracy(right: IntArray, true: IntArray, guessed: IntArray) -> FloatArray:  # noqa: ARG001
    return np.asarray(right.sum(axis=-1) / true.sum(axis=-1))


def _balanced(right: IntArray, true: IntArray, guessed: IntArray) -> FloatArray:  # noqa: ARG001
    """The mean recall of the classes that occur."""
    return np.asarray((right / np.maximum(true, 1)).sum(axis=-1) / np.count_nonzero(true, axis=-1))


def _matthews(right: IntArray, true: IntArray, guessed: IntArray) -> FloatArray:
    n = true.sum(axis=-1)
    between = right.sum(axis=-1) * n - (true * guessed).sum(axis=-1)
    product = (n**2 - (true**2).sum(axis=-1)) * (n**2 - (guessed**2).sum(axis=-1))
    return np.asarray(np.divide(between, np.sqrt(product), out=np.zeros(product.shape), where=product > 0))


def _kappa(right: IntArray, true: IntArray, guessed: IntArray) -> FloatArray:
    n = true.sum(axis=-1)
    return np.asarray(1.0 - (n - right.sum(axis=-1)) * n / (n**2 - (true * guessed).sum(axis=-1)))
