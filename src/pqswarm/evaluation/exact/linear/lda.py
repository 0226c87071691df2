"""The exact error of linear discriminant analysis."""

from copy import copy
from functools import cache
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, EvaluatorOptions, SubsetError
from pqswarm.evaluation.exact.linear.foldwise import (
    EPSILON,
    Columns,
    Foldwise,
    FoldwiseProducts,
    can_be_solved,
    foldwise_product_error,
)
from pqswarm.evaluation.exact.linear.systems import Systems, factorize_all
from pqswarm.evaluation.folds import Folds

_RANK = 1e-8  # scikit-learn's tolerance of singular values, 1e-4, squared for eigenvalues
_FAR = 1e3  # standard deviations from the origin beyond which solvers without centring lose digits
_RANGE = 1e10  # eigenvalue ratio beyond which solvers that invert the covariance lose digits
_GATHERED = 2**23  # numbers gathered at a time
_HARDLY_VARIES = 1e-10  # relative variation of a feature below which it is rounding


class LDAHyperparameters(Parameters):
    """Hyperparameters of linear discriminant analysis."""

    solver: str = parameter("scikit-learn's solver", default="svd", choices=("svd", "lsqr", "eigen"))
    shrinkage: float = parameter(
        "fraction of the covariance replaced by the mean variance; not with svd", default=0.0, low=0.0, high=1.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.solver == "svd" and self.shrinkage:
            raise PqswarmError("shrinkage needs the solver 'lsqr' or 'eigen', not 'svd'.")


class LDAEvaluator(ClassificationEvaluator):
    """The exact cross-validated error of scikit-learn's LinearDiscriminantAnalysis.

    The covariances of all features are computed once for each fold; a subset uses its part of them. This loses digits
    if features are nearly collinear: the loss is bounded, and scikit-learn fits the folds in which it could decide.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    solver : {"svd", "lsqr", "eigen"}
        As in LinearDiscriminantAnalysis; "svd" omits directions of negligible variance within classes.
    shrinkage : float
        As in LinearDiscriminantAnalysis, 0 to 1; 0 is its None.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = LDAEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.03)
    True
    """

    takes_splits = True

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        solver: str = "svd",
        shrinkage: float = 0.0,
        **options: Unpack[EvaluatorOptions],
    ) -> None:
        super().__init__(X, y, folds, **options)
        self.hyperparameters = LDAHyperparameters(solver=solver, shrinkage=shrinkage)
        self._foldwise = Foldwise(self, self.labels)
        self._moments = _LDAMoments(self._foldwise, self.labels, self.classes.size)
        with one_blas_thread():
            self._products = FoldwiseProducts(self._moments.within, folds.n_folds, self.n_features)

    def estimator(self) -> object:
        """Return scikit-learn's classifier."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        own = self.hyperparameters
        return LinearDiscriminantAnalysis(solver=own.solver, shrinkage=own.shrinkage or None)

    def _predict(self, masks: BoolArray, folds: range | None = None) -> IntArray:
        import scipy.linalg  # noqa: F401  # before BLAS threads are limited

        predicted = np.zeros((len(masks), self._foldwise.n_rows), dtype=np.int64)
        tested = range(self.folds.n_folds) if folds is None else folds
        moments = self._moments if folds is None else self._moments.of(folds)

        def work(row: int) -> None:
            selected = np.flatnonzero(masks[row])
            best, sure = self._decide(selected, moments, tested.start)
            try:
                for place, fold in enumerate(tested):
                    rows = self._foldwise.rows[fold]
                    labels = best[place, : rows.size] if sure[place] else self._foldwise.fit(fold, selected)
                    predicted[row, rows] = labels
            except SubsetError:
                predicted[row] = -1

        with one_blas_thread():
            self.in_threads(work, range(len(masks)))
        return predicted

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the discriminants of each prediction and class, and bounds on the rounding of their differences."""
        n = self._foldwise.n_rows
        moments = self._moments
        scores = np.empty((n, self.classes.size))
        errors = np.full(n, np.inf)
        if can_be_solved(self.folds.n_folds, selected.size):
            with one_blas_thread():
                used, constants, doubt, sure = self._discriminants(selected, moments, 0)
            rates, offsets = doubt.largest(moments.reach(selected))
            for fold in np.flatnonzero(sure):
                rows = self._foldwise.rows[fold]
                samples = moments.samples[fold, selected, : rows.size]
                scores[rows] = samples.T @ used[fold] + constants[fold]
                errors[rows] = rates[fold] * np.sqrt(np.square(samples).sum(axis=0)) + offsets[fold]
        return scores, errors

    def _discriminants(
        self, selected: IntArray, moments: "_LDAMoments", first: int
    ) -> tuple[FloatArray, FloatArray, "_LDAScoreErrors", BoolArray]:
        """The slopes and constants of each fold, (folds, features, classes) and (folds, classes), and their errors.

        The last is where rounding cannot change which directions scikit-learn keeps. `moments` are those of the folds
        from `first` on.
        """
        by_svd = self.hyperparameters.solver == "svd"
        error = np.full(len(moments.n), foldwise_product_error(len(self.data), selected.size))
        systems = self._systems(selected, float(error[0]), moments, first)
        sure = systems.sure & np.logical_not(moments.unsure[:, selected].any(axis=1))
        if not by_svd:  # the other solvers do not centre the samples, and round relative to their size
            sure &= (moments.sizes[:, selected] < _FAR).all(axis=1)
            error *= (1.0 + moments.sizes[:, selected].max(axis=1)) ** 2
        means, parts = systems.without(moments.means[:, selected])
        slopes = systems.solve(means)
        squares = means.transpose(0, 2, 1) @ slopes
        used = np.ascontiguousarray(slopes)
        if by_svd:
            some, kept, caution = moments.kept(squares, slopes, error, systems.ranks)
            error[some] *= caution
            sure &= error < np.inf
            error[~sure] = 0.0
            cut = caution > 1.0
            if cut.any():
                some = some[cut]
                kept = kept[cut]
                used = slopes.copy()
                used[some] = slopes[some] @ kept
                squares[some] = kept.transpose(0, 2, 1) @ squares[some] @ kept
        constants = moments.log_priors - 0.5 * np.einsum("fkk->fk", squares)
        return used, constants, _LDAScoreErrors(systems, slopes, parts, error, moments.shifts[:, selected]), sure

    def _decide(self, selected: IntArray, moments: "_LDAMoments", first: int) -> tuple[IntArray, BoolArray]:
        """The labels of each fold's test samples, and the folds in which rounding cannot change them."""
        from pqswarm.evaluation.exact.linear.kernels import find_linear_winners

        if not can_be_solved(self.folds.n_folds, selected.size):
            return np.empty((self.folds.n_folds, 0), dtype=np.int64), np.zeros(self.folds.n_folds, dtype=np.bool_)
        used, constants, doubt, sure = self._discriminants(selected, moments, first)
        rates, offsets = doubt.largest(moments.reach(selected))
        best = np.empty(moments.shape, dtype=np.int64)
        doubtful = np.empty(moments.shape, dtype=np.bool_)
        sizes = np.where(sure, moments.tested, 0)
        if find_linear_winners(moments.samples, selected, used, constants, sizes, rates, offsets, best, doubtful):
            # Some at a time: slopes and omitted directions are gathered for each of these samples.
            at_once = max(1, _GATHERED // (selected.size * (self.classes.size + doubt.n_omitted)))
            every_fold, every_sample = np.nonzero(doubtful)
            for start in range(0, every_fold.size, at_once):
                folds = every_fold[start : start + at_once]
                which = every_sample[start : start + at_once]
                samples = moments.samples[folds[:, np.newaxis], selected, which[:, np.newaxis]]
                among = best[folds, which]
                scores = np.einsum("ij,ijk->ik", samples, used[folds]) + constants[folds]
                gaps = scores[np.arange(folds.size), among][:, np.newaxis] - scores
                gaps[np.arange(folds.size), among] = np.inf
                near = samples - moments.means[folds[:, np.newaxis], selected, among[:, np.newaxis]]
                sure[folds[(gaps <= doubt.bounds(folds, among, near)).any(axis=1)]] = False
        return best, sure

    def _systems(self, selected: IntArray, error: float, moments: "_LDAMoments", first: int) -> Systems:
        """The within-class covariances, ready to solve."""
        own = self.hyperparameters
        spread = moments.spread[:, selected]
        if own.solver == "svd":
            freedom = moments.n - _lda_lost_freedom() * moments.n_classes
            within = self._products.all(selected, 1.0 / freedom, first)
            return Systems.without_small(within, _RANK, error, spread)
        within = self._products.all(selected, (1.0 - own.shrinkage) / moments.n, first)
        variances = np.square(spread)
        diagonals = np.einsum("fii->fi", within)  # a view
        if own.shrinkage:
            varying = variances * moments.varies[:, selected]
            diagonals += own.shrinkage * varying.mean(axis=1, keepdims=True) / variances
        systems = Systems.regular(within)
        # They must also be far from singular in the units of the features.
        inverse = np.square(systems.inverse).sum(axis=2)
        ranges = (diagonals * variances).sum(axis=1) * (inverse / variances).sum(axis=1)
        systems.forget(ranges > _RANGE)
        return systems


class _LDAMoments:
    """The moments of each fold's training samples, and its test samples in their units; folds are the first axis."""

    def __init__(self, foldwise: Foldwise, labels: IntArray, n_classes: int) -> None:
        self._foldwise = foldwise
        self._labels = labels
        n_folds = len(foldwise.tests)
        p = foldwise.view(0).shape[1]
        self.tested = np.array([test.size for test in foldwise.tests])
        counts = foldwise.class_counts(n_classes)
        self.n = counts.sum(axis=1)
        self._class_means = np.zeros((n_folds, n_classes, p))
        self.spread = np.empty((n_folds, p))
        self.means = np.zeros((n_folds, p, n_classes))
        self.varies, self.unsure = np.ones((2, n_folds, p), dtype=np.bool_)
        self.sizes, self.shifts = np.empty((2, n_folds, p))
        self.shape = n_folds, int(self.tested.max())
        self.samples = np.zeros((n_folds, p, self.shape[1]))
        self.n_classes = (counts > 0).sum(axis=1)
        with np.errstate(divide="ignore"):
            self.log_priors = np.log(counts / self.n[:, np.newaxis])
        # scikit-learn's weights of the distances between class means.
        self._weights = np.sqrt(counts / np.maximum(1, self.n_classes - 1)[:, np.newaxis])
        present = counts > 0
        length = np.sqrt(counts / self.n[:, np.newaxis])  # weighted class means cannot differ in this direction
        self._redundant = length[:, :, np.newaxis] * length[:, np.newaxis]
        self._redundant += (~present)[:, :, np.newaxis] * np.eye(n_classes)  # nor in those of absent classes
        for fold in range(n_folds):
            self._measure(fold, counts[fold])
        self.unsure[(self.n_classes < 2) | (self.n_classes == self.n)] = True

    def _measure(self, fold: int, counts: IntArray) -> None:
        train = self._foldwise.train(fold)
        test = self._foldwise.tests[fold]
        data = self._foldwise.view(fold)
        labels = self._labels[train]
        largest = self._foldwise.largest(fold)
        present = np.flatnonzero(counts)
        for label in present:
            self._class_means[fold, label] = data[train[labels == label]].mean(axis=0)
        spread = np.std(data[train] - self._class_means[fold, labels], axis=0)
        self.unsure[fold] = (spread <= _HARDLY_VARIES * largest) & (largest > 0)
        self.varies[fold] = spread > 0
        self.spread[fold] = spread = np.where(spread > 0, spread, 1.0)
        middle = counts / train.size @ self._class_means[fold]
        self.means[fold][:, present] = ((self._class_means[fold, present] - middle) / spread).T
        self.samples[fold, :, : test.size] = ((data[test] - middle) / spread).T
        # Errors of means, and of scores far from the origin, in these units.
        self.sizes[fold] = largest / spread
        self.shifts[fold] = 4.0 * EPSILON * np.sqrt(train.size) * self.sizes[fold]

    def reach(self, selected: IntArray) -> FloatArray:
        """Return the largest length of a class mean in each fold."""
        return np.asarray(np.sqrt(np.square(self.means[:, selected]).sum(axis=1).max(axis=1)))

    def of(self, folds: range) -> "_LDAMoments":
        """Return those of some consecutive folds, without copies."""
        part = copy(self)
        places = slice(folds.start, folds.stop)
        part.shape = len(folds), self.shape[1]
        for name, each in vars(self).items():
            if isinstance(each, np.ndarray) and name != "_labels":
                setattr(part, name, each[places])
        return part

    def within(self, fold: int, which: Columns) -> FloatArray:
        """Deviations of training samples from their class mean, in units of their standard deviation."""
        train = self._foldwise.train(fold)
        result = self._foldwise.take(fold, train, which)
        result -= self._class_means[fold][:, which][self._labels[train]]
        result /= self.spread[fold, which]
        return result

    def kept(
        self, squares: FloatArray, slopes: FloatArray, error: FloatArray, ranks: IntArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """What scikit-learn keeps of the differences between classes, in the folds where it may not keep all.

        It omits directions in which classes differ by less than 1e-4 of their largest difference. Return these folds,
        the projections, and factors for the errors: 1 if all is kept, infinite if it is unclear.
        """
        between = self._weights[:, :, np.newaxis] * squares * self._weights[:, np.newaxis]
        weighted = slopes * self._weights[:, np.newaxis]
        n_classes = squares.shape[1]
        sizes = np.trace(between, axis1=1, axis2=2)
        # Class means span one direction fewer than there are classes; with that one added, the smallest eigenvalue
        # exceeds the reciprocal of the trace of the inverse.
        complete = between + sizes[:, np.newaxis, np.newaxis] * self._redundant
        traces = factorize_all(complete, with_inverse=True)[2]
        lengths = np.square(weighted).sum(axis=(1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = 4.0 * error * lengths * (1.0 + n_classes * error * lengths / sizes)
            all_kept = 1.0 / traces > 2.0 * _RANK * sizes + 10.0 * errors
        some = np.flatnonzero(~all_kept)
        if some.size == 0:
            return some, np.empty((0, *squares.shape[1:])), np.empty(0)
        kept, caution = self._partly_kept(some, between[some], weighted[some], error[some], ranks[some])
        return some, kept, caution

    def _partly_kept(
        self, some: IntArray, between: FloatArray, weighted: FloatArray, error: FloatArray, ranks: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same by eigenvectors, for some folds."""
        weights = self._weights[some]
        values, vectors = np.linalg.eigh(between)
        lengths = np.square(weighted @ vectors).sum(axis=1)
        largest = values[:, -1:]
        limit = _RANK * largest
        second = 1.0 + error[:, np.newaxis] * lengths.max(axis=1, keepdims=True) / np.maximum(largest, EPSILON)
        errors = 4.0 * error[:, np.newaxis] * lengths * second
        near = (np.abs(values - limit) <= errors + 0.05 * limit).any(axis=1)
        near |= largest[:, 0] <= 10.0 * errors.max(axis=1)
        keep = values > limit
        caution = np.where(keep.sum(axis=1) == np.minimum(self.n_classes[some] - 1, ranks), 1.0, 20.0)
        chosen = vectors * keep[:, np.newaxis]
        scale = np.where(weights > 0, weights, 1.0)
        kept = scale[:, :, np.newaxis] * (chosen @ chosen.transpose(0, 2, 1)) / scale[:, np.newaxis]
        return kept, np.where(near, np.inf, caution)


class _LDAScoreErrors:
    """Bounds on the errors of scores, to first order in the errors of covariances and means."""

    def __init__(
        self, systems: Systems, slopes: FloatArray, parts: FloatArray, error: FloatArray, shifts: FloatArray
    ) -> None:
        self._systems = systems
        self._slopes = slopes
        self._parts = parts
        self._error = error
        self.n_omitted = systems.n_omitted
        self._shifts = (shifts[:, np.newaxis] @ np.abs(slopes))[:, 0]
        self._length = np.sqrt(np.square(shifts).sum(axis=1))

    def largest(self, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a bound on the errors of each fold: its slope over the length of a sample, and its offset.

        `reach` is the largest length of a class mean.
        """
        traces = self._systems.traces
        gaps = self._systems.gaps
        slopes = 2.0 * np.sqrt(np.square(self._slopes).sum(axis=1).max(axis=1))
        products = slopes * 2.0 * traces
        if self._systems.any_omitted:
            parts = 2.0 * np.sqrt(np.square(self._parts).sum(axis=2).max(axis=1))
            products += 2.0 * (parts * traces + slopes) / gaps
        rates = self._error * products + 2.0 * self._length * traces
        return rates, rates * reach + 2.0 * self._shifts.max(axis=1)

    def bounds(self, fold: IntArray, best: IntArray, near: FloatArray) -> FloatArray:
        """Return bounds on the errors of score differences to the best class, shape (samples, classes).

        Samples are given by fold, best class, and deviation from its mean.
        """
        lengths, beside = (each[:, np.newaxis] for each in self._systems.measure(fold, near))
        slopes = _lda_row_distances(self._slopes.transpose(0, 2, 1))[fold, best]
        solutions = lengths + 0.5 * slopes
        products = slopes * solutions
        if self._systems.any_omitted:
            parts = _lda_row_distances(self._parts)[fold, best]
            products += (parts * solutions + (beside + 0.5 * parts) * slopes) / self._systems.gaps[fold, np.newaxis]
        shifts = self._shifts[fold, best][:, np.newaxis] + self._shifts[fold]
        shifts += self._length[fold, np.newaxis] * solutions
        return np.asarray(self._error[fold, np.newaxis] * products + shifts)


def _lda_row_distances(rows: FloatArray) -> FloatArray:
    """The Euclidean distances between all rows, in each fold."""
    products = rows @ rows.transpose(0, 2, 1)
    squares = np.einsum("fkk->fk", products)
    return np.asarray(np.sqrt(np.maximum(squares[:, :, np.newaxis] + squares[:, np.newaxis] - 2.0 * products, 0.0)))


@cache
def _lda_lost_freedom() -> int:
    """Degrees of freedom that scikit-learn's svd subtracts per class: versions differ."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    return round(2 - 2 * float(model.scalings_[0, 0]) ** 2)
