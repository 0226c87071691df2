"""The exact error of linear and ridge regression."""

import numpy as np
import numpy.typing as npt

from pqswarm._options import Parameters, option, parameters
from pqswarm._threads import one_blas_thread
from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation._solve import Factor, factorise
from pqswarm.evaluation.base import Scaling
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.foldwise import Columns, Foldwise, Products
from pqswarm.evaluation.regression import RegressionEvaluator

__all__ = ["LinearEvaluator", "LinearHyperparameters", "RidgeHyperparameters"]

_HARDLY_VARIES = 1e-10  # below this share of a feature's size, its variation is rounding
_WELL_CONDITIONED = 3e3  # trace of the inverse up to which products lose no digits that matter
_RIDGE = 3e5  # the same for ridge regression, which scikit-learn solves by products too
_RANGE = 1e10  # ratio of eigenvalues beyond which scikit-learn may leave out directions
_STEPS = 6  # refinements at most
_CONVERGED = 1e-13


@parameters
class LinearHyperparameters(Parameters):
    """Hyperparameters of linear regression."""

    fit_intercept: bool = option(default=True, meaning="whether there is a constant term")


@parameters
class RidgeHyperparameters(Parameters):
    """Hyperparameters of ridge regression."""

    alpha: float = option(default=1.0, meaning="weight of the squares of the coefficients", low=0.0, high=1e300)
    fit_intercept: bool = option(default=True, meaning="whether there is a constant term")


class LinearEvaluator(RegressionEvaluator):
    """The cross-validated error of scikit-learn's LinearRegression, or of its Ridge, exactly and fast.

    Products of all features with each other and with the target are computed once for each fold; a subset takes its
    part of them, and solves. Where features are nearly collinear the solution is refined from the events themselves,
    and where that is not enough, scikit-learn fits the fold. Errors agree to about 1e-10.

    Parameters
    ----------
    X, y, folds, scoring, scaling, n_jobs
        See :class:`RegressionEvaluator`.
    alpha : float or None
        Weight of the squares of the coefficients in Ridge; None is LinearRegression.
    fit_intercept : bool
        Whether there is a constant term.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> evaluator = LinearEvaluator(X, y, Folds(np.arange(442) % 10), alpha=1.0)
    >>> evaluator.errors(np.ones((1, 10), dtype=bool)).round(3).tolist()
    [0.514]
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        scoring: str | None = None,
        *,
        alpha: float | None = None,
        fit_intercept: bool = True,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(X, y, folds, scoring, scaling=scaling, n_jobs=n_jobs)
        self.alpha = None if alpha is None else RidgeHyperparameters(alpha=alpha).alpha
        self.fit_intercept = LinearHyperparameters(fit_intercept=fit_intercept).fit_intercept
        self._foldwise = Foldwise(self, self.target, self._estimator)
        shape = (folds.n_folds, self.n_features)
        self._middle, self._centre = np.zeros(shape), np.zeros(folds.n_folds)
        self._spread, self._unsure = np.ones(shape), np.zeros(shape, dtype=np.bool_)
        for fold, (train, _) in enumerate(self._foldwise.splits):
            data, largest = self._foldwise.view(fold)[train], self._foldwise.largest(fold)
            if self.fit_intercept:
                self._middle[fold], self._centre[fold] = data.mean(axis=0), self.target[train].mean()
            spread = np.sqrt(np.square(data - self._middle[fold]).mean(axis=0))
            self._spread[fold, spread > 0] = spread[spread > 0]
            if not self.alpha:
                self._unsure[fold] = (spread <= _HARDLY_VARIES * largest) & (largest > 0)
        self._tests = [
            np.ascontiguousarray(((self._foldwise.view(fold)[test] - self._middle[fold]) / self._spread[fold]).T)
            for fold, (_, test) in enumerate(self._foldwise.splits)
        ]
        with one_blas_thread():
            self._products = Products(self._columns, folds.n_folds, self.n_features + 1)

    def _estimator(self) -> object:
        from sklearn.linear_model import LinearRegression, Ridge

        if self.alpha is None:
            return LinearRegression(fit_intercept=self.fit_intercept)
        return Ridge(self.alpha, fit_intercept=self.fit_intercept)

    def _columns(self, fold: int, which: Columns) -> FloatArray:
        """Training events in units of their standard deviation, the target as last column."""
        train, _ = self._foldwise.splits[fold]
        features = (self._foldwise.view(fold)[train] - self._middle[fold]) / self._spread[fold]
        return np.column_stack([features, self.target[train] - self._centre[fold]])[:, which]

    def _predict(self, masks: BoolArray) -> FloatArray:
        import scipy.linalg  # noqa: F401  # before its threads are limited

        predicted = np.empty((len(masks), len(self.data)))

        def work(row: int) -> None:
            selected = np.flatnonzero(masks[row])
            for fold, (_, test) in enumerate(self._foldwise.splits):
                slopes = self._slopes(fold, selected)
                if slopes is None:
                    predicted[row, test] = self._foldwise.fit(fold, selected)
                else:
                    predicted[row, test] = slopes @ self._tests[fold][selected] + self._centre[fold]

        with one_blas_thread():
            self.in_threads(work, list(range(len(masks))))
        return predicted

    def _slopes(self, fold: int, selected: IntArray) -> FloatArray | None:
        """The coefficients, in units of the standard deviations, or None where rounding could matter."""
        train, _ = self._foldwise.splits[fold]
        if self._unsure[fold, selected].any():
            return None
        products = self._products.of(fold, np.append(selected, self.n_features))
        products /= train.size
        matrix, right = products[:-1, :-1], products[:-1, -1:]
        diagonal = np.einsum("ii->i", matrix)  # a view of it
        spread = self._spread[fold, selected]
        if self.alpha:
            diagonal += self.alpha / (train.size * spread**2)
            scale = 1.0 / np.sqrt(diagonal)
            factor = factorise(scale[:, np.newaxis] * matrix * scale)
            solved = factor is not None and factor.trace <= _RIDGE
            return scale * factor.solve(scale[:, np.newaxis] * right)[:, 0] if factor and solved else None
        diagonal[diagonal == 0] = 1.0  # features without variation have the coefficient 0
        factor = factorise(matrix)
        if factor is None or _has_wide_range(matrix, factor, spread):
            return None
        slopes = factor.solve(right)[:, 0]
        if factor.trace <= _WELL_CONDITIONED:
            return slopes
        return self._refined(fold, selected, factor, slopes)

    def _refined(self, fold: int, selected: IntArray, factor: Factor, slopes: FloatArray) -> FloatArray | None:
        """The coefficients, improved by what the residuals of the training events still hold of them."""
        train, _ = self._foldwise.splits[fold]
        data = self._foldwise.view(fold)[:, selected][train]
        data -= self._middle[fold, selected]
        data /= self._spread[fold, selected]
        target = self.target[train] - self._centre[fold]
        for _ in range(_STEPS):
            rest = (target - data @ slopes) @ data / train.size
            change = factor.solve(rest[:, np.newaxis])[:, 0]
            slopes = slopes + change
            # By what the predictions change, not the coefficients, of which some are hardly determined.
            if np.square(factor.lower.T @ change).sum() <= _CONVERGED**2 * np.square(target).mean():
                return slopes
        return None


def _has_wide_range(matrix: FloatArray, factor: Factor, spread: FloatArray) -> bool:
    """Whether the eigenvalues, in the units of the features, are too far apart to be sure of scikit-learn's rank."""
    inverse = np.einsum("ij,ij->j", factor.inverse, factor.inverse)
    variances = spread**2
    if float((np.diag(matrix) * variances).sum()) * float((inverse / variances).sum()) <= _RANGE:
        return False
    values = np.linalg.eigvalsh(spread[:, np.newaxis] * matrix * spread)
    return bool(values[0] * _RANGE <= values[-1])
