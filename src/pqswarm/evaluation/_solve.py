"""Positive definite systems, with what is known of their conditioning."""

from dataclasses import dataclass

import numpy as np

from pqswarm._typing import FloatArray

__all__ = ["Factor", "factorise", "smallest_eigenpairs"]


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
    """Return the factor of a symmetric matrix, None if rounding leaves it not positive definite."""
    from scipy.linalg.lapack import dpotrf, dtrtri

    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed:
        return None
    inverse, failed = dtrtri(lower, lower=1)
    return None if failed else Factor(lower, inverse, float(np.vdot(inverse, inverse)))


def smallest_eigenpairs(matrix: FloatArray, limit: float) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues below the limit, ascending, and their eigenvectors as columns."""
    from scipy.linalg.lapack import dsyevr

    lowest = -1.0 - float(np.abs(matrix).sum())
    values, vectors, count, _, failed = dsyevr(matrix, range="V", vl=lowest, vu=limit)
    if failed:  # as good as never
        values, vectors = np.linalg.eigh(matrix)
        count = int(np.searchsorted(values, limit))
    return np.asarray(values[:count]), np.asarray(vectors[:, :count])
