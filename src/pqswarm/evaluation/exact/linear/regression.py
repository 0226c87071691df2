"""The exact error of linear and ridge regression."""

from functools import cache, cached_property
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation.base import EvaluatorOptions, SubsetError
from pqswarm.evaluation.exact.linear.foldwise import Columns, Foldwise, FoldwiseProducts, can_be_solved
from pqswarm.evaluation.exact.linear.systems import factorize_all, solve_all
from pqswarm.evaluation.folds import CrossValidation
from pqswarm.evaluation.memory import MAX_SOLVED_BYTES
from pqswarm.evaluation.regression import RegressionEvaluator

_HARDLY_VARIES = 1e-10  # relative variation of a feature below which it is rounding
_WELL_CONDITIONED = 3e3  # trace of the inverse up to which products are accurate enough
_RIDGE = 3e5  # the same for ridge regression, which scikit-learn also solves by products
_RANGE = 1e10  # eigenvalue ratio beyond which scikit-learn may omit directions


class LinearHyperparameters(Parameters):
    """Hyperparameters of linear regression."""

    fit_intercept: bool = parameter("whether there is a constant term", default=True)


class RidgeHyperparameters(Parameters):
    """Hyperparameters of ridge regression."""

    alpha: float = parameter("penalty on the squared coefficients", default=1.0, low=0.0, high=1e300)
    fit_intercept: bool = parameter("whether there is a constant term", default=True)


class LinearEvaluator(RegressionEvaluator):
    """The exact cross-validated error of scikit-learn's LinearRegression or Ridge.

    Products of all features and the target are computed once for each fold; a subset uses its part of them. If features
    are nearly collinear, least squares are solved by a triangular factor of the samples, and if rounding could still
    matter, scikit-learn fits the fold. Errors agree to about 1e-10.

    Parameters
    ----------
    X, y, folds, scoring, sample_weight, scaling, n_jobs
        See :class:`RegressionEvaluator`.
    alpha : float or None
        Penalty on the squared coefficients in Ridge; None is LinearRegression.
    fit_intercept : bool
        Whether there is a constant term.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from pqswarm.evaluation import Folds
    >>> evaluator = LinearEvaluator(X, y, Folds(np.arange(442) % 10), alpha=1.0)
    >>> evaluator.errors(np.ones((1, 10), dtype=bool)).round(3).tolist()
    [0.516]
    """

    takes_splits = True

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: CrossValidation,
        scoring: str | None = None,
        *,
        alpha: float | None = None,
        fit_intercept: bool = True,
        sample_weight: FloatArray | None = None,
        **options: Unpack[EvaluatorOptions],
    ) -> None:
        super().__init__(X, y, folds, scoring, sample_weight=sample_weight, **options)
        self.alpha = None if alpha is None else RidgeHyperparameters(alpha=alpha).alpha
        self.fit_intercept = LinearHyperparameters(fit_intercept=fit_intercept).fit_intercept
        self._foldwise = Foldwise(self, self.target)
        weights = np.ones(self.n_samples) if sample_weight is None else sample_weight
        self._roots = None if sample_weight is None else np.sqrt(sample_weight)
        shape = (folds.n_folds, self.n_features)
        self._middle = np.zeros(shape)
        self._center = np.zeros(folds.n_folds)
        self._spread = np.ones(shape)
        self._unsure = np.zeros(shape, dtype=np.bool_)
        for fold in range(folds.n_folds):
            train = self._foldwise.train(fold)
            largest = self._foldwise.largest(fold)
            data = self._foldwise.view(fold)[train]
            own = None if sample_weight is None else weights[train]
            if self.fit_intercept:
                self._middle[fold] = np.average(data, axis=0, weights=own)
                self._center[fold] = np.average(self.target[train], weights=own)
            spread = np.sqrt(np.average(np.square(data - self._middle[fold]), axis=0, weights=own))
            self._spread[fold, spread > 0] = spread[spread > 0]
            if not self.alpha:
                self._unsure[fold] = (spread <= _HARDLY_VARIES * largest) & (largest > 0)
        self._n = np.array([weights[train].sum() for train, _ in folds.split()])
        self._real = np.arange(folds.sizes.max()) < folds.sizes[:, np.newaxis]
        self._tests = np.zeros((*shape, int(folds.sizes.max())))
        for fold, test in enumerate(self._foldwise.tests):
            data = (self._foldwise.view(fold)[test] - self._middle[fold]) / self._spread[fold]
            self._tests[fold, :, : test.size] = data.T
        with one_blas_thread():
            self._products = FoldwiseProducts(self._columns, folds.n_folds, self.n_features + 1)

    def estimator(self) -> object:
        """Return scikit-learn's estimator."""
        from sklearn.linear_model import LinearRegression, Ridge

        if self.alpha is None:
            return LinearRegression(fit_intercept=self.fit_intercept)
        return Ridge(self.alpha, fit_intercept=self.fit_intercept)

    def _columns(self, fold: int, which: Columns) -> FloatArray:
        """Training samples in units of their standard deviation, with the target as last column."""
        train = self._foldwise.train(fold)
        features = which if isinstance(which, slice) else which[:-1]
        part = self._foldwise.take(fold, train, features)
        part -= self._middle[fold, features]
        part /= self._spread[fold, features]
        columns = np.column_stack([part, self.target[train] - self._center[fold]])
        return columns if self._roots is None else columns * self._roots[train, np.newaxis]

    def _predict(self, masks: BoolArray) -> FloatArray:
        import scipy.linalg  # noqa: F401  # before BLAS threads are limited

        from pqswarm.evaluation.exact.linear.kernels import predict_all

        predicted = np.empty((len(masks), self._foldwise.n_rows))

        def work(row: int) -> None:
            selected = np.flatnonzero(masks[row])
            slopes, sure = self._solve(selected)
            predictions = np.empty(self._real.shape)
            predict_all(self._tests, selected, slopes, self._center, predictions)
            predicted[row, self._by_fold] = predictions[self._real]
            try:
                for fold in np.flatnonzero(~sure):
                    predicted[row, self._foldwise.rows[fold]] = self._foldwise.fit(int(fold), selected)
            except SubsetError:
                predicted[row] = np.inf

        with one_blas_thread():
            self.in_threads(work, range(len(masks)))
        return predicted

    def _solve(self, selected: IntArray) -> tuple[FloatArray, BoolArray]:
        """The coefficients in units of the standard deviations, (folds, features), and where they are certain."""
        if not can_be_solved(self.folds.n_folds, selected.size):
            return np.zeros((self.folds.n_folds, selected.size)), np.zeros(self.folds.n_folds, dtype=np.bool_)
        return self._ridge(selected) if self.alpha else self._least_squares(selected)

    def _system(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean products of the selected features with one another and with the target, in each fold."""
        products = self._products.all(np.append(selected, self.n_features), 1.0 / self._n)
        return products[:, :-1, :-1], products[:, :-1, -1:]

    def _ridge(self, selected: IntArray) -> tuple[FloatArray, BoolArray]:
        """The coefficients with a penalty."""
        matrices, right = self._system(selected)
        diagonals = np.einsum("fii->fi", matrices)  # a view
        penalties = (self.alpha or 0.0) / (self._n[:, np.newaxis] * np.square(self._spread[:, selected]))
        diagonals += penalties
        scale = 1.0 / np.sqrt(diagonals)
        matrices = matrices * scale[:, :, np.newaxis] * scale[:, np.newaxis]
        # The smallest relative penalty bounds the eigenvalues from below, which often suffices.
        bounds = selected.size / (penalties * np.square(scale)).min(axis=1)
        upper, _, traces = factorize_all(matrices, with_inverse=bool((bounds > _RIDGE).any()))
        sure = np.where(np.isfinite(traces), np.minimum(bounds, np.where(traces > 0, traces, np.inf)), np.inf) <= _RIDGE
        upper[~sure] = np.eye(selected.size)
        return scale * solve_all(upper, right * scale[:, :, np.newaxis])[:, :, 0], sure

    def _least_squares(self, selected: IntArray) -> tuple[FloatArray, BoolArray]:
        """The coefficients without a penalty."""
        matrices, right = self._system(selected)
        diagonals = np.einsum("fii->fi", matrices)
        diagonals[diagonals == 0] = 1.0  # constant features have the coefficient 0
        variances = np.square(self._spread[:, selected])
        upper, inverse, traces = factorize_all(matrices, with_inverse=True)
        sizes = (diagonals * variances).sum(axis=1)
        ranges = sizes * (np.square(inverse).sum(axis=2) / variances).sum(axis=1)
        regular = (traces <= _WELL_CONDITIONED) & (ranges <= _RANGE)
        upper[~regular] = np.eye(selected.size)
        slopes = solve_all(upper, right)[:, :, 0]
        sure = np.logical_not(self._unsure[:, selected].any(axis=1))
        for fold in np.flatnonzero(~regular & sure):
            solution = self._by_triangle(int(fold), selected)
            sure[fold] = solution is not None
            slopes[fold] = 0.0 if solution is None else solution
        return slopes, sure

    @cached_property
    def _triangles(self) -> list[FloatArray]:
        """The triangular factor of each fold's training samples: the same singular values in far fewer rows."""
        return [
            np.asarray(np.linalg.qr(self._columns(fold, slice(None)) * np.append(self._spread[fold], 1.0), mode="r"))
            for fold in range(self.folds.n_folds)
        ]

    def _by_triangle(self, fold: int, selected: IntArray) -> FloatArray | None:
        """The coefficients of nearly collinear features; None if rounding could decide, or memory is short."""
        from scipy.linalg import lstsq

        if 8 * self.folds.n_folds * min(len(self.data), self.n_features + 1) * (self.n_features + 1) > MAX_SOLVED_BYTES:
            return None
        triangle = self._triangles[fold]
        tolerance = _linear_regression_tolerance()
        slopes, _, _, values = lstsq(triangle[:, selected], triangle[:, -1], cond=tolerance)
        limit = tolerance * values[0]
        return None if (np.abs(values - limit) <= 1e-6 * limit).any() else slopes * self._spread[fold, selected]


@cache
def _linear_regression_tolerance() -> float:
    """scikit-learn's tolerance of singular values, relative to the largest."""
    from sklearn.linear_model import LinearRegression

    return float(getattr(LinearRegression(), "tol", np.finfo(np.float64).eps))  # since scikit-learn 1.7
