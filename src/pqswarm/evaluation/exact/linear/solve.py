"""Positive definite systems, with a bound on their conditioning."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray


@dataclass(frozen=True)
class Factor:
    """A Cholesky factor, its inverse, and the trace of the inverse of the matrix: no eigenvalue is below 1 / trace."""

    lower: FloatArray
    inverse: FloatArray
    trace: float

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution of the system for each column of the right-hand side."""
        from scipy.linalg.lapack import dpotrs

        return np.asarray(dpotrs(self.lower, right, lower=1)[0])


def factorise(matrix: FloatArray) -> Factor | None:
    """Return the factor of a symmetric matrix, or None if it is numerically not positive definite."""
    from scipy.linalg.lapack import dpotrf, dtrtri

    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed:
        return None
    inverse, failed = dtrtri(lower, lower=1)
    return None if failed else Factor(lower, inverse, float(np.vdot(inverse, inverse)))


def factorise_all(matrices: FloatArray, *, with_inverse: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return transposed Cholesky factors, their inverses, and the traces of the inverses of the matrices."""
    from pqswarm.evaluation.exact.linear.kernels import factorise_batch

    upper, traces = np.empty(matrices.shape), np.empty(len(matrices))
    inverse = np.ones(matrices.shape) if with_inverse else np.empty((0, 0, 0))
    factorise_batch(np.ascontiguousarray(matrices), upper, inverse, traces)
    return upper, inverse, traces


def solve_all(upper: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solutions of several systems for all columns of their right-hand sides."""
    from pqswarm.evaluation.exact.linear.kernels import solve_batch

    found = np.empty(right.shape)
    solve_batch(np.ascontiguousarray(upper), np.ascontiguousarray(right), found)  # else compiled for each layout
    return found
