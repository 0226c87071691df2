"""The exact error of quadratic discriminant analysis."""

from functools import cache
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.options import Parameters, option, parameters
from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.evaluation.base import EvaluatorOptions
from pqswarm.evaluation.exact.linear.foldwise import (
    EPSILON,
    Columns,
    Foldwise,
    FoldwiseEvaluator,
    FoldwiseProducts,
    foldwise_product_error,
)
from pqswarm.evaluation.exact.linear.solve import factorise
from pqswarm.evaluation.folds import Folds

_MIN_VARIANCE = 1e-4  # scikit-learn's tolerance, below which it refuses


@parameters
class QDAHyperparameters(Parameters):
    """Hyperparameters of quadratic discriminant analysis."""

    reg_param: float = option(
        "fraction of each covariance replaced by the unit matrix", default=0.01, low=0.0, high=1.0
    )


class QDAEvaluator(FoldwiseEvaluator):
    """The exact cross-validated error of scikit-learn's QuadraticDiscriminantAnalysis.

    The covariances of all features are computed once for each fold and class; a subset uses its part of them.
    scikit-learn fits the folds in which rounding could decide. As in scikit-learn, a class is refused if its variance
    is below 1e-4 in some direction, or if it has no more events than features.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    reg_param : float
        As in QuadraticDiscriminantAnalysis, 0 to 1. The default is our choice: with scikit-learn's 0, features
        scaled to [0, 1] are often refused.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = QDAEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.03)
    True
    """

    def __init__(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, reg_param: float = 0.01, **options: Unpack[EvaluatorOptions]
    ) -> None:
        super().__init__(X, y, folds, **options)
        self.reg_param = QDAHyperparameters(reg_param=reg_param).reg_param
        self._foldwise = Foldwise(self, self.labels)
        n_classes = self.classes.size
        self._sizes = self._foldwise.class_counts(n_classes)
        self._means = np.zeros((self._sizes.size, self.n_features))
        for part in np.flatnonzero(self._sizes).tolist():
            self._means[part] = self._foldwise.view(part // n_classes)[self._members(part)].mean(axis=0)
        with one_blas_thread():
            self._products = FoldwiseProducts(self._centred, self._sizes.size, self.n_features)

    def estimator(self) -> object:
        """Return scikit-learn's estimator."""
        from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

        return QuadraticDiscriminantAnalysis(reg_param=self.reg_param)

    def _members(self, part: int) -> IntArray:
        """The training events of a fold that are of one class."""
        fold, label = divmod(part, self.classes.size)
        train = self._foldwise.train(fold)
        return np.asarray(train[self.labels[train] == label])

    def _centred(self, part: int, which: Columns) -> FloatArray:
        """The training events of one class, minus their mean."""
        result = self._foldwise.take(part // self.classes.size, self._members(part), which)
        result -= self._means[part, which]
        return result

    def _winners(self, fold: int, selected: IntArray) -> IntArray | None:
        """The labels of the fold's test events, or None if rounding could decide."""
        present = np.flatnonzero(self._sizes[fold])
        if present.size < 2 or self._sizes[fold, present].min() <= selected.size:
            return None
        test = self._foldwise.tests[fold]
        events = self._foldwise.take(fold, test, selected)
        scores, errors = np.empty((present.size, test.size)), np.empty((present.size, test.size))
        for row, label in enumerate(present):
            found = self._scores(fold, int(label), selected, events)
            if found is None:
                return None
            scores[row], errors[row] = found
        best, everyone = scores.argmax(axis=0), np.arange(test.size)
        lowest = scores[best, everyone] - errors[best, everyone]
        scores += errors
        scores[best, everyone] = -np.inf
        return None if (lowest <= scores.max(axis=0)).any() else np.asarray(present[best])

    def _scores(
        self, fold: int, label: int, selected: IntArray, events: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Each event's log of density times prior of a class, and a bound on its rounding error."""
        part, size = fold * self.classes.size + label, int(self._sizes[fold, label])
        covariance = self._products.of(part, selected)
        covariance *= (1.0 - self.reg_param) / (size - _qda_lost_freedom())
        diagonal = np.einsum("ii->i", covariance)  # a view
        diagonal += self.reg_param
        if self.reg_param <= _MIN_VARIANCE:
            lowered = covariance.copy()
            lowered[np.diag_indices_from(lowered)] -= _MIN_VARIANCE * (1.0 + 1e-6) + 1e-13 * diagonal.sum()
            if factorise(lowered) is None:  # a variance below the tolerance, or too close to it
                return None
        scale = np.sqrt(diagonal)
        factor = factorise(covariance / (scale[:, np.newaxis] * scale))
        if factor is None:
            return None
        deviations = (events - self._means[part, selected]) / scale
        squares = np.square(deviations @ factor.inverse.T).sum(axis=1)
        spread = 2.0 * float(np.log(scale).sum() + np.log(np.diag(factor.lower)).sum())
        prior = np.log(size / self._sizes[fold].sum())
        # To first order in the errors of covariance and mean.
        shifts = 4.0 * EPSILON * np.sqrt(size) * np.linalg.norm(self._foldwise.largest(fold)[selected] / scale)
        error = 4.0 * foldwise_product_error(size, selected.size) * factor.trace
        errors = 0.5 * error * (squares + 1.0) + shifts * np.sqrt(factor.trace * squares) + EPSILON * abs(spread)
        return prior - 0.5 * (squares + spread), errors


@cache
def _qda_lost_freedom() -> int:
    """Degrees of freedom that scikit-learn subtracts: versions differ."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    model = QuadraticDiscriminantAnalysis().fit([[-1.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    return round(2 - 2.0 / float(model.scalings_[0][0]))
