"""The common part of the evaluators of regressors: scores and errors."""

from abc import abstractmethod
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_name
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import Evaluator, EvaluatorOptions
from pqswarm.evaluation.folds import CrossValidation
from pqswarm.evaluation.generic import check_target

SCORINGS: tuple[str, ...] = ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error")
"""scikit-learn's names of the supported scores."""


class RegressionOptions(EvaluatorOptions, total=False):
    """Keyword arguments common to the evaluators of regressors; see :class:`RegressionEvaluator`."""

    scoring: str | None
    sample_weight: FloatArray | None


class RegressionEvaluator(Evaluator):
    """The cross-validated error of a regressor. A new evaluator only needs `_predict`.

    The error is that of :class:`GenericEvaluator`: 1 - R2, or the mean loss.

    Parameters
    ----------
    X, folds, scaling, n_jobs
        See :class:`Evaluator`.
    y : array_like of shape (n_samples,)
        Targets.
    scoring : str or None
        One of :data:`SCORINGS`; None is R2.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights of the samples in fitting, if the regressor accepts them, and scoring.

    Attributes
    ----------
    target : ndarray of shape (n_samples,)
        The targets as floats.
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: CrossValidation,
        scoring: str | None = None,
        *,
        sample_weight: FloatArray | None = None,
        **options: Unpack[EvaluatorOptions],
    ) -> None:
        super().__init__(X, folds, **options)
        self.target = check_target(y, len(self.data))
        self.scoring = SCORINGS[0] if scoring is None else scoring
        check_name("scoring", self.scoring, SCORINGS)
        if self.scoring == "r2" and folds.sizes.min() < 2:
            raise PqswarmError("scoring 'r2' needs two samples in each fold: use fewer folds, or another scoring.")
        self._by_fold = np.argsort(folds.row_folds, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(folds.sizes)[:-1]])
        self.sample_weight = sample_weight
        weights = np.ones(self.n_samples) if sample_weight is None else sample_weight
        self._tested, self._weights = (each[folds.row_samples][self._by_fold] for each in (self.target, weights))
        self._whole = np.add.reduceat(self._weights, self._starts)
        means = np.add.reduceat(self._weights * self._tested, self._starts) / self._whole
        self._total = np.add.reduceat(
            self._weights * np.square(self._tested - np.repeat(means, folds.sizes)), self._starts
        )

    @abstractmethod
    def _predict(self, masks: BoolArray) -> FloatArray:
        """Predictions for each non-empty mask and tested sample: shape (m, n)."""

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss rather than one minus a score."""
        return self.scoring != "r2"

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, shape (m, n_folds); infinite for an empty one."""
        return self._evaluate(masks, np.full(self.folds.n_folds, np.inf), self._fold_errors)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset: the mean over the folds, infinite for an empty one."""
        return np.asarray(self.fold_errors(masks).mean(axis=1))

    def predictions(self, mask: ArrayLike) -> FloatArray:
        """Return the prediction for each sample when its fold is tested."""
        return self._by_sample(self._predict(self.checked_mask(mask)[np.newaxis])[0])

    def _fold_errors(self, masks: BoolArray) -> FloatArray:
        missed = self._predict(masks)[:, self._by_fold] - self._tested
        if self.scoring == "neg_mean_absolute_error":
            return np.asarray(np.add.reduceat(self._weights * np.abs(missed), self._starts, axis=1) / self._whole)
        squares = np.add.reduceat(self._weights * np.square(missed), self._starts, axis=1)
        if self.scoring == "r2":
            # If all targets of a fold are equal, scikit-learn's R2 is 1 for a perfect prediction, else 0.
            ratios = np.divide(squares, self._total, out=np.ones_like(squares), where=self._total > 0)
            return np.where((self._total == 0) & (squares == 0), 0.0, ratios)
        squares /= self._whole
        return np.asarray(np.sqrt(squares) if self.scoring == "neg_root_mean_squared_error" else squares)
