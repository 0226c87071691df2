"""Several evaluators as one: of the partitions or splits of a cross-validation, and of the targets of a regression."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator
from pqswarm.evaluation.folds import CrossValidation


class RepeatedEvaluator(Evaluator):
    """The mean error over the folds of several partitions of the samples.

    Parameters
    ----------
    parts : sequence of Evaluator
        One per partition, on the same data.
    splits : CrossValidation
        The folds of all partitions, in the same order.
    X : array_like of shape (n_samples, n_features), optional
        The features of all samples, if each part is of the samples of one split, whose test set is its second fold.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import RepeatedStratifiedKFold
    >>> from pqswarm.evaluation import GaussianNBEvaluator, Splits
    >>> X, y = load_wine(return_X_y=True)
    >>> splits = Splits.from_cv(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0), X, y)
    >>> parts = [GaussianNBEvaluator(X, y, folds) for folds in splits.partitions()]
    >>> RepeatedEvaluator(parts, splits).error_counts(np.ones((1, 13), dtype=bool)).shape
    (1, 10)
    """

    takes_splits = True
    folds: Any

    def __init__(self, parts: Sequence[Evaluator], splits: CrossValidation, X: Any = None) -> None:
        self._first = 0 if X is None else 1
        if not parts or sum(part.folds.n_folds - self._first for part in parts) != splits.n_folds:
            raise PqswarmError("parts must be one evaluator for each partition of the splits.")
        data = parts[0].data if X is None else X
        super().__init__(data, splits, scaling=parts[0].scaling, n_jobs=parts[0].n_jobs)
        self.parts = tuple(parts)
        self.counts_errors = all(part.counts_errors for part in parts)

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss rather than one minus a score."""
        return self.parts[0].is_loss

    def error_counts(self, masks: ArrayLike, folds: range | None = None) -> IntArray:
        """Return the misclassified samples of each fold, or of some; see :class:`ClassificationEvaluator`."""
        counts = []
        start = 0
        for part in self.parts:
            if not isinstance(part, ClassificationEvaluator):
                raise PqswarmError("error counts exist only for classifiers: use errors.")
            first = self._first
            n = part.folds.n_folds - self._first
            if folds is None:
                counts.append(part.error_counts(masks)[:, first:])
            elif inside := range(max(folds.start - start, 0) + first, min(folds.stop - start, n) + first):
                counts.append(part.error_counts(masks, inside))
            start += n
        return np.concatenate(counts, axis=1)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset: the mean over all folds of all partitions."""
        if isinstance(self.parts[0], ClassificationEvaluator):
            return np.asarray(self.folds.mean_rates(self.error_counts(masks)))
        return np.array([np.mean(row) for row in self.fold_errors(masks)])

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold of each partition, shape (m, n_folds)."""
        return np.concatenate([part.fold_errors(masks)[:, self._first :] for part in self.parts], axis=1)

    def predictions(self, mask: ArrayLike) -> AnyArray:  # noqa: ARG002
        """Raise an error: each sample is predicted once in each partition; use one of `parts`."""
        raise PqswarmError("each sample is predicted once in each partition: use one of the evaluators in parts.")


class TargetsEvaluator(Evaluator):
    """The mean error over targets, a part for each, of a regressor that fits each alone, as in scikit-learn."""

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        super().__init__(parts[0].data, parts[0].folds, scaling=parts[0].scaling, n_jobs=parts[0].n_jobs)
        self.parts = tuple(parts)

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss rather than one minus a score."""
        return self.parts[0].is_loss

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset: the mean over targets and folds."""
        return np.asarray(self.fold_errors(masks).mean(axis=1))

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the mean error over the targets of each subset in each fold, shape (m, n_folds)."""
        return np.asarray(np.mean([part.fold_errors(masks) for part in self.parts], axis=0))

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the predictions for each sample when its fold is tested, shape (n_samples, n_targets)."""
        return np.column_stack([part.predictions(mask) for part in self.parts])
