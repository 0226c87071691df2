"""The exact errors of linear discriminant analysis, linear and ridge regression, which share their work by fold."""

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Unpack

import numpy as np

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import (
    MAX_SOLVED_BYTES,
    ClassificationEvaluator,
    Evaluator,
    EvaluatorOptions,
    RegressionEvaluator,
)
from pqswarm.evaluation.estimators import refit_fold
from pqswarm.evaluation.folds import CrossValidation, Folds

EPSILON = float(np.finfo(np.float64).eps)
_TABLE = 2**25  # maximum size of a table of products; larger ones are computed on demand
_HARDLY_VARIES = 1e-10  # relative variation of a feature below which it is rounding

Columns = IntArray | slice


class LinearFolds(Evaluator):
    """An evaluator that keeps the samples scaled for each fold, and lets scikit-learn decide where rounding could."""

    def _prepare_folds(self) -> None:
        self._views = self.fold_views()
        self._largest = [np.abs(view).max(axis=0) for view in self._views]
        self._real = np.arange(self.folds.sizes.max()) < self.folds.sizes[:, np.newaxis]

    def _fill_row(
        self, row: AnyArray, of_folds: AnyArray, sure: BoolArray, selected: IntArray, target: AnyArray
    ) -> None:
        """Fill a row of predictions with those of each fold, (folds, widest), or where not sure with scikit-learn's."""
        row[self.folds.by_fold] = of_folds[self._real]
        for fold in np.flatnonzero(~sure).tolist():
            row[self.folds.rows(fold)] = refit_fold(self, fold, selected, target=target)

    def take(self, fold: int, samples: IntArray, features: Columns) -> FloatArray:
        """Return some features of some samples, scaled for the fold, without copying others."""
        view = self.fold_view(fold)
        return view[samples] if isinstance(features, slice) else np.asarray(view[samples[:, np.newaxis], features])

    def largest(self, fold: int) -> FloatArray:
        """Return the largest absolute value of each feature: rounding errors are proportional to it."""
        return np.asarray(self._largest[fold % len(self._largest)])

    def hardly_varying(self, fold: int, spread: FloatArray) -> BoolArray:
        """Return which features have a standard deviation, `spread`, that may be rounding."""
        return (spread <= _HARDLY_VARIES * self.largest(fold)) & (self.largest(fold) > 0)


class LinearProducts:
    """Products of some columns of matrices, which `columns(part, which)` returns; computed once if their table fits."""

    def __init__(self, columns: Callable[[int, Columns], FloatArray], n_parts: int, width: int) -> None:
        self._columns = columns
        self._table = np.empty((n_parts, width, width)) if n_parts * width**2 <= _TABLE else None
        if self._table is not None:
            for part, products in enumerate(self._table):
                matrix = columns(part, slice(None))
                np.matmul(matrix.T, matrix, out=products)

    def all(self, selected: IntArray, scale: FloatArray) -> FloatArray:
        """Return the products of the selected columns of each matrix, times its `scale`."""
        from pqswarm.evaluation.exact.linear.kernels import gather_linear_products

        products = np.empty((scale.size, selected.size, selected.size))
        if self._table is not None:
            gather_linear_products(self._table, selected, scale, products)
        else:
            for part in range(scale.size):
                products[part] = self.of(part, selected) * scale[part]
        return products

    def of(self, part: int, selected: IntArray) -> FloatArray:
        """Return the products of the selected columns of one matrix."""
        if self._table is not None:
            return np.asarray(self._table[part][selected[:, np.newaxis], selected])
        matrix = self._columns(part, selected)
        return np.asarray(matrix.T @ matrix)


def linear_systems_fit_memory(n_folds: int, size: int) -> bool:
    """Return whether the systems of all folds, with factors and inverses, fit into memory; else scikit-learn fits."""
    return 8 * 8 * n_folds * size**2 <= MAX_SOLVED_BYTES


def factorized_systems(matrices: FloatArray, *, with_inverse: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return transposed Cholesky factors, their inverses, and the traces of the inverses of the matrices."""
    from pqswarm.evaluation.exact.linear.kernels import factorize_linear_systems

    upper = np.empty(matrices.shape)
    traces = np.empty(len(matrices))
    inverse = np.ones(matrices.shape) if with_inverse else np.empty((0, 0, 0))
    factorize_linear_systems(np.ascontiguousarray(matrices), upper, inverse, traces)
    return upper, inverse, traces


def solved_systems(upper: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solutions of several systems for all columns of their right-hand sides."""
    from pqswarm.evaluation.exact.linear.kernels import solve_linear_systems

    solutions = np.empty(right.shape)
    # Contiguous: else they are compiled for each layout.
    solve_linear_systems(np.ascontiguousarray(upper), np.ascontiguousarray(right), solutions)
    return solutions


_NEAR = 1e-3  # relative distance to the limit within which a variance could lie on either side


class LinearSystems:
    """Positive definite matrices in units of variances, one per fold, ready to solve.

    Where a system is not `sure`, it is unclear which directions to omit, and the unit matrix replaces it. `traces` are
    those of the inverses: no remaining variance is below 1 / trace. `ranks` count the remaining directions. `gaps` lie
    between the omitted and the remaining variances; they are 1 if none is omitted.
    """

    def __init__(self, n: int, p: int) -> None:
        self._upper, self.inverse = np.zeros((2, n, p, p))
        self._omitted = np.zeros((n, p, 0))
        self.sure = np.zeros(n, dtype=np.bool_)
        self.traces = np.empty(n)
        self.gaps = np.ones(n)
        self.ranks = np.full(n, p)
        self.forget(np.ones(n, dtype=np.bool_))

    def forget(self, folds: IntArray | BoolArray) -> None:
        """Replace invalid systems by unit matrices."""
        self.sure[folds] = False
        self.traces[folds] = 1.0
        self._upper[folds] = np.eye(self._upper.shape[1])

    @classmethod
    def regular(cls, matrices: FloatArray) -> "LinearSystems":
        """Return the systems of the positive definite matrices; the others are invalid."""
        systems = cls(*matrices.shape[:2])
        systems._factorize(np.arange(len(matrices)), matrices)
        return systems

    @classmethod
    def without_small(cls, matrices: FloatArray, limit: float, error: float, units: FloatArray) -> "LinearSystems":
        """Return the systems of covariances, (n, p, p), without directions of variance below the limit.

        Directions of one fold are a guess for the others, in the same `units` of the features, (n, p).
        """
        systems = cls(*matrices.shape[:2])
        rest = np.arange(1, len(matrices))
        if not systems._factorize(np.arange(1), matrices, limit).all():
            start = systems._leave_out(0, matrices[0], limit)
            if start.shape[1]:
                guesses = (start[np.newaxis] * (units[1:] / units[0])[:, :, np.newaxis]).transpose(0, 2, 1)
                rest = rest[~systems._deflate(rest, matrices[1:], np.ascontiguousarray(guesses), limit, error)]
        if rest.size:
            for fold in rest[~systems._factorize(rest, matrices[rest], limit)]:
                systems._leave_out(int(fold), matrices[fold], limit)
        return systems

    def _factorize(self, folds: IntArray, matrices: FloatArray, limit: float = 0.0) -> BoolArray:
        """Set the systems of some folds, if positive definite; return where all variances exceed four limits."""
        upper, inverse, traces = factorized_systems(matrices[: folds.size], with_inverse=True)
        regular = np.isfinite(traces)
        self._set(folds[regular], upper[regular], inverse[regular], traces[regular])
        return traces * limit < 0.25 if limit else regular

    def _deflate(
        self, folds: IntArray, matrices: FloatArray, guesses: FloatArray, limit: float, error: float
    ) -> BoolArray:
        """Omit the directions near the guesses; return in which folds they are exactly those to omit."""
        from pqswarm.evaluation.exact.linear.kernels import deflate_linear_systems

        count = guesses.shape[1]
        deflated = np.empty_like(matrices)
        residuals = np.empty(len(folds))
        parts = np.empty((len(folds), count, count))
        deflate_linear_systems(matrices, guesses, 0.25 * error, parts, residuals, deflated)
        usable = residuals <= 0.25 * error
        parts[~usable] = 1.0
        largest = np.linalg.eigvalsh(parts)[:, -1]
        upper, inverse, traces = factorized_systems(deflated, with_inverse=True)
        usable &= (largest < (1.0 - _NEAR) * limit) & (traces * limit < 0.25)
        self._set(folds[usable], upper[usable], inverse[usable], traces[usable])
        gaps = 1.0 / traces[usable] - largest[usable]
        self._omit(folds[usable], guesses[usable].transpose(0, 2, 1), gaps)
        return usable

    def _leave_out(self, fold: int, matrix: FloatArray, limit: float) -> FloatArray:
        """Omit directions of one fold by their eigenvectors, which are returned as columns."""
        values, vectors = _smallest_linear_eigenpairs(matrix, 4.0 * limit)
        count = int(np.searchsorted(values, limit))
        directions = vectors[:, :count]
        which = np.array([fold])
        if (np.abs(values - limit) <= _NEAR * limit).any() or count == len(matrix):
            self.forget(which)
            return directions
        if count:
            # Omitted directions get the variance 1: the system is regular, and they have no effect.
            matrix = matrix + (directions * (1.0 - values[:count])) @ directions.T
            upper, inverse, traces = factorized_systems(matrix[np.newaxis], with_inverse=True)
            self._set(which, upper, inverse, traces)
            smallest = values[count] if count < values.size else max(4.0 * limit, 1.0 / traces[0])
            self._omit(which, directions, smallest - values[count - 1])
        if not np.isfinite(self.traces[fold]):
            self.forget(which)
        return directions

    def _set(self, folds: IntArray, upper: FloatArray, inverse: FloatArray, traces: FloatArray) -> None:
        self._upper[folds] = upper
        self.inverse[folds] = inverse
        self.traces[folds] = traces
        self.sure[folds] = True

    def _omit(self, folds: IntArray, directions: FloatArray, gaps: FloatArray) -> None:
        """Note which directions some folds omit, as columns, and the gaps between their variances and the others."""
        count = directions.shape[-1]
        self._omitted = np.pad(self._omitted, [(0, 0), (0, 0), (0, max(0, count - self.n_omitted))])
        self._omitted[folds, :, :count] = directions
        self.ranks[folds] -= count
        self.gaps[folds] = gaps

    @property
    def n_omitted(self) -> int:
        """Maximum number of omitted directions in a fold."""
        return self._omitted.shape[2]

    def without(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns without the omitted directions, and their components in them, one row each."""
        parts = self._omitted.transpose(0, 2, 1) @ columns
        return (columns - self._omitted @ parts if self.n_omitted else columns), parts.transpose(0, 2, 1)

    def solve(self, columns: FloatArray) -> FloatArray:
        """Return the solutions for columns without components in the omitted directions."""
        return self.without(solved_systems(self._upper, columns))[0]

    def measure(self, folds: IntArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lengths of the solutions for single rows of the given folds, and of their omitted components."""
        from pqswarm.evaluation.exact.linear.kernels import solve_linear_rows

        beside = np.zeros(folds.size)
        if self.n_omitted:
            parts = (rows[:, np.newaxis] @ self._omitted[folds])[:, 0]
            rows = rows - (self._omitted[folds] @ parts[:, :, np.newaxis])[:, :, 0]
            beside = np.sqrt(np.square(parts).sum(axis=1))
        solutions = rows.copy()
        solve_linear_rows(self._upper, folds, solutions)
        return np.sqrt(np.square(solutions).sum(axis=1)), beside


def _smallest_linear_eigenpairs(matrix: FloatArray, limit: float) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues below the limit, ascending, and their eigenvectors as columns."""
    from scipy.linalg.lapack import dsyevr

    lowest = -1.0 - float(np.abs(matrix).sum())
    values, vectors, count, _, failed = dsyevr(matrix, range="V", vl=lowest, vu=limit)
    if failed:  # practically never
        values, vectors = np.linalg.eigh(matrix)
        count = int(np.searchsorted(values, limit))
    return np.asarray(values[:count]), np.asarray(vectors[:, :count])


_RANK = 1e-8  # scikit-learn's tolerance of singular values, 1e-4, squared for eigenvalues
_FAR = 1e3  # standard deviations from the origin beyond which solvers without centring lose digits
_RANGE = 1e10  # eigenvalue ratio beyond which solvers of scikit-learn lose digits or omit directions
_GATHERED = 2**23  # numbers gathered at a time


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

    def estimator(self) -> Any:
        """Return scikit-learn's classifier."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis(solver=self.solver, shrinkage=self.shrinkage or None)


class LDAEvaluator(LinearFolds, ClassificationEvaluator):
    """The exact cross-validated error of scikit-learn's LinearDiscriminantAnalysis.

    The covariances of all features are computed once for each fold; a subset uses its part of them. This loses digits
    if features are nearly collinear: the loss is bounded, and scikit-learn fits the folds in which it could decide.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        As in LinearDiscriminantAnalysis; "svd" omits directions of negligible variance within classes.
    shrinkage : float, default=0.0
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
        self._prepare_folds()
        self._moments = _LDAMoments(self)
        with one_blas_thread:
            self._products = LinearProducts(self._moments.within, folds.n_folds, self.n_features)

    def estimator(self) -> object:
        """Return scikit-learn's classifier."""
        return self.hyperparameters.estimator()

    def _predict(self, masks: BoolArray) -> IntArray:
        import scipy.linalg  # noqa: F401  # before BLAS threads are limited

        def predict(selected: IntArray, row: IntArray) -> None:
            self._fill_row(row, *self._decide(selected), selected, self.labels)

        with one_blas_thread:
            return self._predict_rows(masks, predict)

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the discriminants of each prediction and class, and bounds on the rounding of their differences."""
        moments = self._moments
        scores = np.empty((self.folds.n_rows, self.classes.size))
        errors = np.full(len(scores), np.inf)
        if linear_systems_fit_memory(self.folds.n_folds, selected.size):
            with one_blas_thread:
                used, constants, doubt, sure = self._discriminants(selected)
            rates, offsets = doubt.largest(moments.reach(selected))
            for fold in np.flatnonzero(sure).tolist():
                rows = self.folds.rows(fold)
                samples = moments.samples[fold, selected, : rows.size]
                scores[rows] = samples.T @ used[fold] + constants[fold]
                errors[rows] = rates[fold] * np.sqrt(np.square(samples).sum(axis=0)) + offsets[fold]
        return scores, errors

    def _discriminants(self, selected: IntArray) -> tuple[FloatArray, FloatArray, "_LDAScoreErrors", BoolArray]:
        """The slopes and constants of each fold, (folds, features, classes) and (folds, classes), and their errors.

        The last is where rounding cannot change which directions scikit-learn keeps.
        """
        moments = self._moments
        by_svd = self.hyperparameters.solver == "svd"
        # The rounding error of mean products of standardized samples, with a safety factor.
        error = np.full(len(moments.n), 2.0 * EPSILON * np.sqrt(selected.size * (1.0 + len(self.data) / 64.0)))
        systems = self._systems(selected, float(error[0]))
        sure = systems.sure & np.logical_not(moments.unsure[:, selected].any(axis=1))
        if not by_svd:  # the other solvers do not center the samples, and round relative to their size
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

    def _decide(self, selected: IntArray) -> tuple[IntArray, BoolArray]:
        """The labels of each fold's test samples, and the folds in which rounding cannot change them."""
        from pqswarm.evaluation.exact.linear.kernels import find_linear_winners

        moments = self._moments
        if not linear_systems_fit_memory(self.folds.n_folds, selected.size):
            return np.zeros(self._real.shape, dtype=np.int64), np.zeros(self.folds.n_folds, dtype=np.bool_)
        used, constants, doubt, sure = self._discriminants(selected)
        rates, offsets = doubt.largest(moments.reach(selected))
        best = np.empty(self._real.shape, dtype=np.int64)
        doubtful = np.empty(self._real.shape, dtype=np.bool_)
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

    def _systems(self, selected: IntArray, error: float) -> LinearSystems:
        """The within-class covariances, ready to solve."""
        own = self.hyperparameters
        moments = self._moments
        spread = moments.spread[:, selected]
        if own.solver == "svd":
            freedom = moments.n - _lda_lost_freedom() * moments.n_classes
            within = self._products.all(selected, 1.0 / freedom)
            return LinearSystems.without_small(within, _RANK, error, spread)
        within = self._products.all(selected, (1.0 - own.shrinkage) / moments.n)
        variances = np.square(spread)
        diagonals = np.einsum("fii->fi", within)  # a view
        if own.shrinkage:
            varying = variances * moments.varies[:, selected]
            diagonals += own.shrinkage * varying.mean(axis=1, keepdims=True) / variances
        systems = LinearSystems.regular(within)
        # They must also be far from singular in the units of the features.
        inverse = np.square(systems.inverse).sum(axis=2)
        ranges = (diagonals * variances).sum(axis=1) * (inverse / variances).sum(axis=1)
        systems.forget(ranges > _RANGE)
        return systems


class _LDAMoments:
    """The moments of each fold's training samples, and its test samples in their units; folds are the first axis."""

    def __init__(self, evaluator: LDAEvaluator) -> None:
        self._evaluator = evaluator
        n_folds = evaluator.folds.n_folds
        n_classes = evaluator.classes.size
        p = evaluator.n_features
        self.tested = evaluator.folds.sizes
        trains = (train for train, _ in evaluator.folds.split())
        counts = np.array([np.bincount(evaluator.labels[train], minlength=n_classes) for train in trains])
        self.n = counts.sum(axis=1)
        self._class_means = np.zeros((n_folds, n_classes, p))
        self.spread = np.empty((n_folds, p))
        self.means = np.zeros((n_folds, p, n_classes))
        self.varies, self.unsure = np.ones((2, n_folds, p), dtype=np.bool_)
        self.sizes, self.shifts = np.empty((2, n_folds, p))
        self.samples = np.zeros((n_folds, p, self.tested.max()))
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
        evaluator = self._evaluator
        train = evaluator.folds.train(fold)
        data = evaluator.fold_view(fold)
        labels = evaluator.labels[train]
        present = np.flatnonzero(counts)
        for label in present:
            self._class_means[fold, label] = data[train[labels == label]].mean(axis=0)
        spread = np.std(data[train] - self._class_means[fold, labels], axis=0)
        self.unsure[fold] = evaluator.hardly_varying(fold, spread)
        self.varies[fold] = spread > 0
        self.spread[fold] = spread = np.where(spread > 0, spread, 1.0)
        middle = counts / train.size @ self._class_means[fold]
        self.means[fold][:, present] = ((self._class_means[fold, present] - middle) / spread).T
        self.samples[fold, :, : self.tested[fold]] = ((data[evaluator.folds.test(fold)] - middle) / spread).T
        # Errors of means, and of scores far from the origin, in these units.
        self.sizes[fold] = evaluator.largest(fold) / spread
        self.shifts[fold] = 4.0 * EPSILON * np.sqrt(train.size) * self.sizes[fold]

    def reach(self, selected: IntArray) -> FloatArray:
        """Return the largest length of a class mean in each fold."""
        return np.asarray(np.sqrt(np.square(self.means[:, selected]).sum(axis=1).max(axis=1)))

    def within(self, fold: int, which: Columns) -> FloatArray:
        """Deviations of training samples from their class mean, in units of their standard deviation."""
        train = self._evaluator.folds.train(fold)
        result = self._evaluator.take(fold, train, which)
        result -= self._class_means[fold][:, which][self._evaluator.labels[train]]
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
        traces = factorized_systems(complete, with_inverse=True)[2]
        lengths = np.square(weighted).sum(axis=(1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = 4.0 * error * lengths * (1.0 + n_classes * error * lengths / sizes)
            all_kept = 1.0 / traces > 2.0 * _RANK * sizes + 10.0 * errors
        some = np.flatnonzero(~all_kept)
        if some.size == 0:
            return some, np.empty((0, *squares.shape[1:])), np.empty(0)
        # By eigenvectors, for these folds.
        weights = self._weights[some]
        values, vectors = np.linalg.eigh(between[some])
        lengths = np.square(weighted[some] @ vectors).sum(axis=1)
        largest = values[:, -1:]
        limit = _RANK * largest
        second = 1.0 + error[some, np.newaxis] * lengths.max(axis=1, keepdims=True) / np.maximum(largest, EPSILON)
        errors = 4.0 * error[some, np.newaxis] * lengths * second
        near = (np.abs(values - limit) <= errors + 0.05 * limit).any(axis=1)
        near |= largest[:, 0] <= 10.0 * errors.max(axis=1)
        keep = values > limit
        caution = np.where(keep.sum(axis=1) == np.minimum(self.n_classes[some] - 1, ranks[some]), 1.0, 20.0)
        chosen = vectors * keep[:, np.newaxis]
        scale = np.where(weights > 0, weights, 1.0)
        kept = scale[:, :, np.newaxis] * (chosen @ chosen.transpose(0, 2, 1)) / scale[:, np.newaxis]
        return some, kept, np.where(near, np.inf, caution)


class _LDAScoreErrors:
    """Bounds on the errors of scores, to first order in the errors of covariances and means."""

    def __init__(
        self, systems: LinearSystems, slopes: FloatArray, parts: FloatArray, error: FloatArray, shifts: FloatArray
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
        if self._systems.n_omitted:
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
        if self._systems.n_omitted:
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
    model = LDAHyperparameters().estimator().fit([[-1.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    return round(2 - 2 * float(model.scalings_[0, 0]) ** 2)


_WELL_CONDITIONED = 3e3  # trace of the inverse up to which products are accurate enough
_RIDGE = 3e5  # the same for ridge regression, which scikit-learn also solves by products


class LinearHyperparameters(Parameters):
    """Hyperparameters of linear regression."""

    fit_intercept: bool = parameter("whether there is a constant term", default=True)


class RidgeHyperparameters(Parameters):
    """Hyperparameters of ridge regression."""

    alpha: float = parameter("penalty on the squared coefficients", default=1.0, low=0.0, high=1e300)
    fit_intercept: bool = parameter("whether there is a constant term", default=True)


class LinearEvaluator(LinearFolds, RegressionEvaluator):
    """The exact cross-validated error of scikit-learn's LinearRegression or Ridge.

    Products of all features and the target are computed once for each fold; a subset uses its part of them. If features
    are nearly collinear, least squares are solved by a triangular factor of the samples, and if rounding could still
    matter, scikit-learn fits the fold. Errors agree to about 1e-10.

    Parameters
    ----------
    X, y, folds, scoring, sample_weight, scaling, n_jobs
        See :class:`RegressionEvaluator`.
    alpha : float or None, default=None
        Penalty on the squared coefficients in Ridge. If None, fit LinearRegression.
    fit_intercept : bool, default=True
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
        self._prepare_folds()
        weights = np.ones(self.n_samples) if sample_weight is None else sample_weight
        self._roots = None if sample_weight is None else np.sqrt(sample_weight)
        shape = (folds.n_folds, self.n_features)
        self._middle = np.zeros(shape)
        self._center = np.zeros(folds.n_folds)
        self._spread = np.ones(shape)
        self._unsure = np.zeros(shape, dtype=np.bool_)
        self._n = np.empty(folds.n_folds)
        self._tests = np.zeros((*shape, self._real.shape[1]))
        for fold in range(folds.n_folds):
            train = folds.train(fold)
            view = self.fold_view(fold)
            data = view[train]
            own = None if sample_weight is None else weights[train]
            if self.fit_intercept:
                self._middle[fold] = np.average(data, axis=0, weights=own)
                self._center[fold] = np.average(self.target[train], weights=own)
            spread = np.sqrt(np.average(np.square(data - self._middle[fold]), axis=0, weights=own))
            self._spread[fold, spread > 0] = spread[spread > 0]
            if not self.alpha:
                self._unsure[fold] = self.hardly_varying(fold, spread)
            self._n[fold] = weights[train].sum()
            tested = (view[folds.test(fold)] - self._middle[fold]) / self._spread[fold]
            self._tests[fold, :, : len(tested)] = tested.T
        with one_blas_thread:
            self._products = LinearProducts(self._columns, folds.n_folds, self.n_features + 1)

    def estimator(self) -> object:
        """Return scikit-learn's estimator."""
        from sklearn.linear_model import LinearRegression, Ridge

        if self.alpha is None:
            return LinearRegression(fit_intercept=self.fit_intercept)
        return Ridge(self.alpha, fit_intercept=self.fit_intercept)

    def _columns(self, fold: int, which: Columns) -> FloatArray:
        """Training samples in units of their standard deviation, with the target as last column."""
        train = self.folds.train(fold)
        features = which if isinstance(which, slice) else which[:-1]
        part = self.take(fold, train, features)
        part -= self._middle[fold, features]
        part /= self._spread[fold, features]
        columns = np.column_stack([part, self.target[train] - self._center[fold]])
        return columns if self._roots is None else columns * self._roots[train, np.newaxis]

    def _predict(self, masks: BoolArray) -> FloatArray:
        import scipy.linalg  # noqa: F401  # before BLAS threads are limited

        from pqswarm.evaluation.exact.linear.kernels import predict_linear

        def predict(selected: IntArray, row: FloatArray) -> None:
            slopes, sure = self._solve(selected)
            predictions = np.empty(self._real.shape)
            predict_linear(self._tests, selected, slopes, self._center, predictions)
            self._fill_row(row, predictions, sure, selected, self.target)

        with one_blas_thread:
            return self._predict_rows(masks, predict, np.inf)

    def _solve(self, selected: IntArray) -> tuple[FloatArray, BoolArray]:
        """The coefficients in units of the standard deviations, (folds, features), and where they are certain."""
        if not linear_systems_fit_memory(self.folds.n_folds, selected.size):
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
        upper, _, traces = factorized_systems(matrices, with_inverse=bool((bounds > _RIDGE).any()))
        sure = np.where(np.isfinite(traces), np.minimum(bounds, np.where(traces > 0, traces, np.inf)), np.inf) <= _RIDGE
        upper[~sure] = np.eye(selected.size)
        return scale * solved_systems(upper, right * scale[:, :, np.newaxis])[:, :, 0], sure

    def _least_squares(self, selected: IntArray) -> tuple[FloatArray, BoolArray]:
        """The coefficients without a penalty."""
        matrices, right = self._system(selected)
        diagonals = np.einsum("fii->fi", matrices)
        diagonals[diagonals == 0] = 1.0  # constant features have the coefficient 0
        variances = np.square(self._spread[:, selected])
        upper, inverse, traces = factorized_systems(matrices, with_inverse=True)
        sizes = (diagonals * variances).sum(axis=1)
        ranges = sizes * (np.square(inverse).sum(axis=2) / variances).sum(axis=1)
        regular = (traces <= _WELL_CONDITIONED) & (ranges <= _RANGE)
        upper[~regular] = np.eye(selected.size)
        slopes = solved_systems(upper, right)[:, :, 0]
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
