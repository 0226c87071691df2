"""Positive definite systems of several folds, without the directions of negligible variance."""

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray


def factorize_all(matrices: FloatArray, *, with_inverse: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return transposed Cholesky factors, their inverses, and the traces of the inverses of the matrices."""
    from pqswarm.evaluation.exact.linear.kernels import factorize_batch

    upper = np.empty(matrices.shape)
    traces = np.empty(len(matrices))
    inverse = np.ones(matrices.shape) if with_inverse else np.empty((0, 0, 0))
    factorize_batch(np.ascontiguousarray(matrices), upper, inverse, traces)
    return upper, inverse, traces


def solve_all(upper: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solutions of several systems for all columns of their right-hand sides."""
    from pqswarm.evaluation.exact.linear.kernels import solve_batch

    solutions = np.empty(right.shape)
    solve_batch(np.ascontiguousarray(upper), np.ascontiguousarray(right), solutions)  # else compiled for each layout
    return solutions


_NEAR = 1e-3  # relative distance to the limit within which a variance could lie on either side


class Systems:
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
    def regular(cls, matrices: FloatArray) -> "Systems":
        """Return the systems of the positive definite matrices; the others are invalid."""
        systems = cls(*matrices.shape[:2])
        systems._factorize(np.arange(len(matrices)), matrices)
        return systems

    @classmethod
    def without_small(cls, matrices: FloatArray, limit: float, error: float, units: FloatArray) -> "Systems":
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
        upper, inverse, traces = factorize_all(matrices[: folds.size], with_inverse=True)
        regular = np.isfinite(traces)
        self._set(folds[regular], upper[regular], inverse[regular], traces[regular])
        return traces * limit < 0.25 if limit else regular

    def _deflate(
        self, folds: IntArray, matrices: FloatArray, guesses: FloatArray, limit: float, error: float
    ) -> BoolArray:
        """Omit the directions near the guesses; return in which folds they are exactly those to omit."""
        from pqswarm.evaluation.exact.linear.kernels import deflate_all

        count = guesses.shape[1]
        deflated = np.empty_like(matrices)
        residuals = np.empty(len(folds))
        parts = np.empty((len(folds), count, count))
        deflate_all(matrices, guesses, 0.25 * error, parts, residuals, deflated)
        usable = residuals <= 0.25 * error
        parts[~usable] = 1.0
        largest = np.linalg.eigvalsh(parts)[:, -1]
        upper, inverse, traces = factorize_all(deflated, with_inverse=True)
        usable &= (largest < (1.0 - _NEAR) * limit) & (traces * limit < 0.25)
        self._set(folds[usable], upper[usable], inverse[usable], traces[usable])
        self._widen(count)
        self._omitted[folds[usable], :, :count] = guesses[usable].transpose(0, 2, 1)
        self.ranks[folds[usable]] -= count
        self.gaps[folds[usable]] = 1.0 / traces[usable] - largest[usable]
        return usable

    def _leave_out(self, fold: int, matrix: FloatArray, limit: float) -> FloatArray:
        """Omit directions of one fold by their eigenvectors, which are returned as columns."""
        values, vectors = _smallest_system_eigenpairs(matrix, 4.0 * limit)
        count = int(np.searchsorted(values, limit))
        directions = vectors[:, :count]
        which = np.array([fold])
        if (np.abs(values - limit) <= _NEAR * limit).any() or count == len(matrix):
            self.forget(which)
            return directions
        if count:
            # Omitted directions get the variance 1: the system is regular, and they have no effect.
            matrix = matrix + (directions * (1.0 - values[:count])) @ directions.T
            upper, inverse, traces = factorize_all(matrix[np.newaxis], with_inverse=True)
            self._set(which, upper, inverse, traces)
            self._widen(count)
            self._omitted[fold, :, :count] = directions
            self.ranks[fold] -= count
            smallest = values[count] if count < values.size else max(4.0 * limit, 1.0 / traces[0])
            self.gaps[fold] = smallest - values[count - 1]
        if not np.isfinite(self.traces[fold]):
            self.forget(which)
        return directions

    def _set(self, folds: IntArray, upper: FloatArray, inverse: FloatArray, traces: FloatArray) -> None:
        self._upper[folds] = upper
        self.inverse[folds] = inverse
        self.traces[folds] = traces
        self.sure[folds] = True

    def _widen(self, count: int) -> None:
        missing = count - self._omitted.shape[2]
        if missing > 0:
            self._omitted = np.concatenate([self._omitted, np.zeros((*self._omitted.shape[:2], missing))], axis=2)

    @property
    def n_omitted(self) -> int:
        """Maximum number of omitted directions in a fold."""
        return self._omitted.shape[2]

    @property
    def any_omitted(self) -> bool:
        """Whether any direction is omitted."""
        return self.n_omitted > 0

    def without(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns without the omitted directions, and their components in them, one row each."""
        parts = self._omitted.transpose(0, 2, 1) @ columns
        return (columns - self._omitted @ parts if self.any_omitted else columns), parts.transpose(0, 2, 1)

    def solve(self, columns: FloatArray) -> FloatArray:
        """Return the solutions for columns without components in the omitted directions."""
        return self.without(solve_all(self._upper, columns))[0]

    def measure(self, folds: IntArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lengths of the solutions for single rows of the given folds, and of their omitted components."""
        from pqswarm.evaluation.exact.linear.kernels import solve_each

        beside = np.zeros(folds.size)
        if self.any_omitted:
            parts = (rows[:, np.newaxis] @ self._omitted[folds])[:, 0]
            rows = rows - (self._omitted[folds] @ parts[:, :, np.newaxis])[:, :, 0]
            beside = np.sqrt(np.square(parts).sum(axis=1))
        solutions = rows.copy()
        solve_each(self._upper, folds, solutions)
        return np.sqrt(np.square(solutions).sum(axis=1)), beside


def _smallest_system_eigenpairs(matrix: FloatArray, limit: float) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues below the limit, ascending, and their eigenvectors as columns."""
    from scipy.linalg.lapack import dsyevr

    lowest = -1.0 - float(np.abs(matrix).sum())
    values, vectors, count, _, failed = dsyevr(matrix, range="V", vl=lowest, vu=limit)
    if failed:  # practically never
        values, vectors = np.linalg.eigh(matrix)
        count = int(np.searchsorted(values, limit))
    return np.asarray(values[:count]), np.asarray(vectors[:, :count])
