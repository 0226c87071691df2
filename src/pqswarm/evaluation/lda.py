"""The exact error of linear discriminant analysis."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pqswarm._options import Parameters, option, parameters
from pqswarm._threads import one_blas_thread
from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation._solve import Factor, factorise, smallest_eigenpairs
from pqswarm.evaluation.base import ClassificationEvaluator, Scaling
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.foldwise import EPSILON, Columns, Foldwise, Products, product_error

__all__ = ["LDAEvaluator", "LDAHyperparameters"]

_RANK = 1e-8  # scikit-learn's tolerance of singular values, 1e-4, as one of eigenvalues
_FAR = 1e3  # standard deviations from the origin, beyond which solvers that do not centre events lose digits
_HARDLY_VARIES = 1e-10  # below this share of a feature's size, its variation is rounding


@parameters
class LDAHyperparameters(Parameters):
    """Hyperparameters of linear discriminant analysis."""

    solver: str = option(default="svd", meaning="scikit-learn's solver", choices=("svd", "lsqr", "eigen"))
    shrinkage: float = option(
        default=0.0, meaning="share of the mean variance in the covariance, not with svd", low=0.0, high=1.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.solver == "svd" and self.shrinkage:
            raise PqswarmError("shrinkage needs the solver 'lsqr' or 'eigen', not 'svd'.")


class LDAEvaluator(ClassificationEvaluator):
    """The cross-validated error of scikit-learn's LinearDiscriminantAnalysis, exactly and fast.

    The covariances of all features are computed once for each fold; a subset takes its part of them, and solves. That
    loses digits where features are nearly collinear: what is lost is estimated, and folds in which it could decide
    about an event are fitted by scikit-learn itself.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    solver : {"svd", "lsqr", "eigen"}
        As in LinearDiscriminantAnalysis: "svd" leaves out directions in which events of a class hardly differ.
    shrinkage : float
        As in LinearDiscriminantAnalysis, 0 to 1; 0 is its None.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = LDAEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.03)
    True
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        solver: str = "svd",
        shrinkage: float = 0.0,
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(X, y, folds, scaling=scaling, n_jobs=n_jobs)
        self.hyperparameters = LDAHyperparameters(solver=solver, shrinkage=shrinkage)
        self._foldwise = Foldwise(self, self.labels, self._estimator)
        self._moments = _Moments(self._foldwise, self.labels, self.classes.size)
        with one_blas_thread():
            self._products = Products(self._moments.within, folds.n_folds, self.n_features)

    def _estimator(self) -> object:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        own = self.hyperparameters
        return LinearDiscriminantAnalysis(solver=own.solver, shrinkage=own.shrinkage or None)

    def _predict(self, masks: BoolArray) -> IntArray:
        import scipy.linalg  # noqa: F401  # before its threads are limited

        predicted = np.empty((len(masks), len(self.data)), dtype=np.int64)

        def work(row: int) -> None:
            selected = np.flatnonzero(masks[row])
            best, sure = self._decide(selected)
            for fold, (_, test) in enumerate(self._foldwise.splits):
                found = best[fold, : test.size] if sure[fold] else self._foldwise.fit(fold, selected)
                predicted[row, test] = found

        with one_blas_thread():
            self.in_threads(work, list(range(len(masks))))
        return predicted

    def _decide(self, selected: IntArray) -> tuple[IntArray, BoolArray]:
        """The labels of each fold's test events, and in which folds rounding could not change one."""
        moments, by_svd = self._moments, self.hyperparameters.solver == "svd"
        sure = np.logical_not(moments.unsure[:, selected].any(axis=1))
        if not by_svd:
            sure &= (moments.sizes[:, selected] < _FAR).all(axis=1)
        systems = [self._system(fold, selected) if sure[fold] else None for fold in range(len(sure))]
        sure = np.array([system is not None for system in systems])
        means = moments.means[:, selected]
        slopes, parts = np.zeros_like(means), np.zeros((len(sure), self.classes.size, len(selected)))
        for fold, system in enumerate(systems):
            if system is not None:
                means[fold], found = system.without(means[fold])
                parts[fold, :, : found.shape[1]] = found
                slopes[fold] = system.solve(means[fold])
        squares = means.transpose(0, 2, 1) @ slopes
        error = np.full(len(sure), product_error(len(self.data), selected.size))
        if not by_svd:  # the other solvers do not centre the events, and round in proportion to their size
            error *= (1.0 + moments.sizes[:, selected].max(axis=1)) ** 2
        used = slopes
        if by_svd:
            ranks = np.array([0 if system is None else system.rank for system in systems])
            kept, caution = moments.kept(squares, slopes, error, ranks)
            error *= caution
            sure &= error < np.inf
            error[~sure] = 0.0
            some = np.flatnonzero((caution > 1.0) & sure)
            if some.size:
                used = slopes.copy()
                used[some] = slopes[some] @ kept[some]
                squares[some] = kept[some].transpose(0, 2, 1) @ squares[some] @ kept[some]
        events = moments.events[:, selected]
        scores = used.transpose(0, 2, 1) @ events
        scores += (moments.log_priors - 0.5 * np.einsum("fkk->fk", squares))[:, :, np.newaxis]
        best = scores.argmax(axis=1)
        highest = np.take_along_axis(scores, best[:, np.newaxis], axis=1)[:, 0]
        np.put_along_axis(scores, best[:, np.newaxis], -np.inf, axis=1)
        doubt = _Doubt(systems, slopes, parts, error, moments.shifts[:, selected])
        unsure = highest - scores.max(axis=1) <= doubt.largest(moments.reach[:, selected])[:, np.newaxis]
        folds, events_there = np.nonzero(unsure & moments.real & sure[:, np.newaxis])
        if folds.size:
            among = best[folds, events_there]
            gaps = highest[folds, events_there][:, np.newaxis] - scores[folds, :, events_there]
            near = events[folds, :, events_there] - moments.means[folds[:, np.newaxis], selected, among[:, np.newaxis]]
            wrong = (gaps <= doubt.bounds(folds, among, near)).any(axis=1)
            sure[folds[wrong]] = False
        return best, sure

    def _system(self, fold: int, selected: IntArray) -> "_System | None":
        """The covariance within classes, ready to solve; None if rounding could decide what to leave out."""
        within = self._products.of(fold, selected)
        within /= self._moments.n[fold]
        spread, shrinkage = self._moments.spread[fold, selected], self.hyperparameters.shrinkage
        if shrinkage:
            within *= 1.0 - shrinkage
            varying = spread**2 * (self._moments.varies[fold, selected])
            within[np.diag_indices_from(within)] += shrinkage * varying.mean() / spread**2
        return _System.of(within) if self.hyperparameters.solver == "svd" else _System.regular(within, spread)


@dataclass(frozen=True)
class _System:
    """A covariance, factorised, without the directions that have hardly any variance."""

    factor: Factor
    left_out: FloatArray | None = None  # those directions, as columns
    gap: float = 1.0  # from their variances to the others

    @classmethod
    def of(cls, within: FloatArray) -> "_System | None":
        """The system, None if a variance is too near to scikit-learn's limit to tell."""
        factor = factorise(within)
        if factor is not None and factor.trace * _RANK < 0.25:  # the least eigenvalue is above 1 / trace
            return cls(factor)
        values, vectors = smallest_eigenpairs(within, 4.0 * _RANK)
        small = int(np.searchsorted(values, _RANK))
        if (np.abs(values - _RANK) <= 1e-3 * _RANK).any() or small == len(within):
            return None
        if small == 0:
            return None if factor is None else cls(factor)
        left_out = vectors[:, :small]
        # Directions that are left out get the variance 1; then the system is regular, and they play no part.
        factor = factorise(within + (left_out * (1.0 - values[:small])) @ left_out.T)
        least = values[small] if small < values.size else 4.0 * _RANK
        return None if factor is None else cls(factor, left_out, float(least - values[small - 1]))

    @classmethod
    def regular(cls, within: FloatArray, spread: FloatArray) -> "_System | None":
        """The system of a matrix that is far from singular, also in the units of the features, or None."""
        factor = factorise(within)
        if factor is None:
            return None
        inverse = np.einsum("ij,ij->j", factor.inverse, factor.inverse)
        size = float((np.diag(within) * spread**2).sum())
        return None if size * float((inverse / spread**2).sum()) > 1e10 else cls(factor)

    @property
    def rank(self) -> int:
        """Directions that are not left out."""
        return len(self.factor.lower) - (0 if self.left_out is None else self.left_out.shape[1])

    def without(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Columns without the directions that are left out, and their parts in those, one row each."""
        if self.left_out is None:
            return columns, np.zeros((columns.shape[1], 0))
        parts = self.left_out.T @ columns
        return columns - self.left_out @ parts, parts.T

    def solve(self, columns: FloatArray) -> FloatArray:
        """The solutions, for columns that have no part in the directions left out."""
        found = self.factor.solve(columns)
        return found if self.left_out is None else found - self.left_out @ (self.left_out.T @ found)


class _Moments:
    """The moments of each fold's training events, and its test events in their units; folds come first."""

    def __init__(self, foldwise: Foldwise, labels: IntArray, n_classes: int) -> None:
        self._foldwise, self._labels = foldwise, labels
        n_folds, p = len(foldwise.splits), foldwise.view(0).shape[1]
        self.n = np.array([train.size for train, _ in foldwise.splits])
        self._class_means = np.zeros((n_folds, n_classes, p))
        self.spread, self.reach = np.empty((n_folds, p)), np.empty((n_folds, p))
        self.means = np.zeros((n_folds, p, n_classes))
        self.varies, self.unsure = np.ones((2, n_folds, p), dtype=np.bool_)
        self.sizes, self.shifts = np.empty((2, n_folds, p))
        sizes = np.array([test.size for _, test in foldwise.splits])
        self.real = np.arange(sizes.max()) < sizes[:, np.newaxis]
        self.events = np.zeros((n_folds, p, int(sizes.max())))
        counts = np.array([np.bincount(labels[train], minlength=n_classes) for train, _ in foldwise.splits])
        self.n_classes = (counts > 0).sum(axis=1)
        with np.errstate(divide="ignore"):
            self.log_priors = np.log(counts / self.n[:, np.newaxis])
        # What scikit-learn weighs the distances of the class means by.
        self._weights = np.sqrt(counts / np.maximum(1, self.n_classes - 1)[:, np.newaxis])
        for fold in range(n_folds):
            self._measure(fold, counts[fold])
        self.unsure[(self.n_classes < 2) | (self.n_classes == self.n)] = True

    def _measure(self, fold: int, counts: IntArray) -> None:
        train, test = self._foldwise.splits[fold]
        data, labels, largest = self._foldwise.view(fold), self._labels[train], self._foldwise.largest(fold)
        present = np.flatnonzero(counts)
        for label in present:
            self._class_means[fold, label] = data[train[labels == label]].mean(axis=0)
        spread = np.std(data[train] - self._class_means[fold, labels], axis=0)
        self.unsure[fold] = (spread <= _HARDLY_VARIES * largest) & (largest > 0)
        self.varies[fold] = spread > 0
        self.spread[fold] = spread = np.where(spread > 0, spread, 1.0)
        middle = counts / train.size @ self._class_means[fold]
        self.means[fold][:, present] = ((self._class_means[fold, present] - middle) / spread).T
        self.events[fold, :, : test.size] = ((data[test] - middle) / spread).T
        reach = np.abs(self.events[fold]).max(axis=1)
        self.reach[fold] = np.maximum(reach, np.abs(self.means[fold]).max(axis=1))
        # Means, and scores far from the origin, are off by as much as this, in these units.
        self.sizes[fold] = largest / spread
        self.shifts[fold] = 4.0 * EPSILON * np.sqrt(train.size) * self.sizes[fold]

    def within(self, fold: int, which: Columns) -> FloatArray:
        """Training events as deviations from the mean of their class, in units of their standard deviation."""
        train, _ = self._foldwise.splits[fold]
        means = self._class_means[fold][:, which][self._labels[train]]
        return np.asarray((self._foldwise.view(fold)[train][:, which] - means) / self.spread[fold, which])

    def kept(
        self, squares: FloatArray, slopes: FloatArray, error: FloatArray, ranks: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """What scikit-learn keeps of the differences between classes, and factors for the errors, 1 where it keeps all.

        It leaves out directions in which classes differ by less than 1e-4 of the direction in which they differ most.
        The factor is infinite where it cannot be told which.
        """
        weights = self._weights
        values, vectors = np.linalg.eigh(weights[:, :, np.newaxis] * squares * weights[:, np.newaxis])
        lengths = np.square((slopes * weights[:, np.newaxis]) @ vectors).sum(axis=1)
        most = values[:, -1:]
        limit = _RANK * most
        second = 1.0 + error[:, np.newaxis] * lengths.max(axis=1, keepdims=True) / np.maximum(most, EPSILON)
        errors = 4.0 * error[:, np.newaxis] * lengths * second
        near = (np.abs(values - limit) <= errors + 0.05 * limit).any(axis=1)
        near |= most[:, 0] <= 10.0 * errors.max(axis=1)
        keep = values > limit
        caution = np.where(keep.sum(axis=1) == np.minimum(self.n_classes - 1, ranks), 1.0, 20.0)
        chosen = vectors * keep[:, np.newaxis]
        scale = np.where(weights > 0, weights, 1.0)
        kept = scale[:, :, np.newaxis] * (chosen @ chosen.transpose(0, 2, 1)) / scale[:, np.newaxis]
        return kept, np.where(near, np.inf, caution)


class _Doubt:
    """How far scores may be off, to first order in the errors of covariances and means."""

    def __init__(
        self,
        systems: "list[_System | None]",
        slopes: FloatArray,
        parts: FloatArray,
        error: FloatArray,
        shifts: FloatArray,
    ) -> None:
        self._systems, self._slopes, self._error = systems, slopes, error
        widest = max((len(s.factor.lower) - s.rank for s in systems if s is not None), default=0)
        self._parts = parts[:, :, :widest]
        self._gap = np.array([1.0 if system is None else system.gap for system in systems])
        self._shifts = (shifts[:, np.newaxis] @ np.abs(slopes))[:, 0]
        self._length = np.sqrt(np.square(shifts).sum(axis=1))

    def largest(self, reach: FloatArray) -> FloatArray:
        """A bound of all errors of each fold, for events and means that reach as far as given."""
        traces = np.array([1.0 if system is None else system.factor.trace for system in self._systems])
        length = 2.0 * np.sqrt(np.square(reach).sum(axis=1))
        solutions = 2.0 * length * traces
        slopes = 2.0 * np.sqrt(np.square(self._slopes).sum(axis=1).max(axis=1))
        products = slopes * solutions
        if self._parts.size:
            parts = 2.0 * np.sqrt(np.square(self._parts).sum(axis=2).max(axis=1))
            products += (parts * solutions + 2.0 * length * slopes) / self._gap
        return np.asarray(self._error * products + 2.0 * self._shifts.max(axis=1) + self._length * solutions)

    def bounds(self, fold: IntArray, best: IntArray, near: FloatArray) -> FloatArray:
        """Bounds of the errors of score differences, shape (events, classes), between the best class and each.

        Events are given by their folds, best classes, and differences from the means of those.
        """
        lengths, beside = np.empty((fold.size, 1)), np.zeros((fold.size, 1))
        for number in np.unique(fold):
            here, system = fold == number, self._systems[number]
            assert system is not None  # noqa: S101  # folds without one are not decided here
            columns, parts = system.without(near[here].T)
            lengths[here, 0] = np.linalg.norm(system.solve(columns), axis=0)
            beside[here, 0] = np.linalg.norm(parts, axis=1)
        slopes = _distances(self._slopes.transpose(0, 2, 1))[fold, best]
        solutions = lengths + 0.5 * slopes
        products = slopes * solutions
        if self._parts.size:
            parts = _distances(self._parts)[fold, best]
            products += (parts * solutions + (beside + 0.5 * parts) * slopes) / self._gap[fold, np.newaxis]
        shifts = self._shifts[fold, best][:, np.newaxis] + self._shifts[fold]
        shifts += self._length[fold, np.newaxis] * solutions
        return np.asarray(self._error[fold, np.newaxis] * products + shifts)


def _distances(rows: FloatArray) -> FloatArray:
    """The Euclidean distances between all rows, in each fold."""
    products = rows @ rows.transpose(0, 2, 1)
    squares = np.einsum("fkk->fk", products)
    return np.asarray(np.sqrt(np.maximum(squares[:, :, np.newaxis] + squares[:, np.newaxis] - 2.0 * products, 0.0)))
