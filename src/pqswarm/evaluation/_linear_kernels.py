"""Positive definite systems, many of the same size: compiled code, arrays in, arrays out."""

import numpy as np
from numba import njit

__all__ = ["factorise_all", "gather", "predict_all", "solve_all"]


@njit(cache=True, nogil=True)
def gather(table, selected, scale, out):
    """Set out[f] to the selected rows and columns of table[f], times scale[f]."""
    for f in range(table.shape[0]):
        for i in range(selected.size):
            row = table[f, selected[i]]
            for j in range(selected.size):
                out[f, i, j] = row[selected[j]] * scale[f]


@njit(cache=True, nogil=True)
def factorise_all(matrices, upper, inverse, traces):
    """Set upper[f] to the transposed Cholesky factor of matrices[f], and inverse[f] to its inverse, also upper.

    The trace of the inverse of the matrix goes to traces[f]; it is infinite if the matrix is not positive definite.
    An empty `inverse` is left alone, and then traces of regular matrices are 0.
    """
    p = matrices.shape[1]
    for f in range(matrices.shape[0]):
        u = upper[f]
        u[:, :] = matrices[f]
        traces[f] = np.inf
        regular = True
        for i in range(p):
            if not u[i, i] > 0.0:
                regular = False
                break
            u[i, i] = np.sqrt(u[i, i])
            one = 1.0 / u[i, i]
            for k in range(i + 1, p):
                u[i, k] *= one
            for j in range(i + 1, p):
                factor = u[i, j]
                for k in range(j, p):
                    u[j, k] -= factor * u[i, k]
            for k in range(i):
                u[i, k] = 0.0
        if not regular:
            continue
        traces[f] = 0.0
        if inverse.size == 0:
            continue
        # Rows from the last upwards: each is a combination of those below it.
        v = inverse[f]
        total = 0.0
        for i in range(p - 1, -1, -1):
            v[i, :] = 0.0
            for j in range(i + 1, p):
                factor = u[i, j]
                for k in range(j, p):
                    v[i, k] -= factor * v[j, k]
            one = 1.0 / u[i, i]
            v[i, i] = 1.0
            for k in range(i, p):
                v[i, k] *= one
                total += v[i, k] * v[i, k]
        traces[f] = total


@njit(cache=True, nogil=True)
def solve_all(upper, right, out):
    """Set out[f], of shape (p, m), to the solution for the columns of right[f], by the transposed Cholesky factor."""
    p, m = right.shape[1], right.shape[2]
    for f in range(upper.shape[0]):
        u, x = upper[f], out[f]
        x[:, :] = right[f]
        for i in range(p):
            one = 1.0 / u[i, i]
            for c in range(m):
                x[i, c] *= one
            for j in range(i + 1, p):
                factor = u[i, j]
                for c in range(m):
                    x[j, c] -= factor * x[i, c]
        for i in range(p - 1, -1, -1):
            for j in range(i + 1, p):
                factor = u[i, j]
                for c in range(m):
                    x[i, c] -= factor * x[j, c]
            one = 1.0 / u[i, i]
            for c in range(m):
                x[i, c] *= one


@njit(cache=True, nogil=True)
def predict_all(events, selected, slopes, offsets, out):
    """Set out[f, i] to offsets[f] plus the product of slopes[f] with the selected features of events[f, :, i]."""
    for f in range(events.shape[0]):
        out[f, :] = offsets[f]
        for j in range(selected.size):
            row, slope = events[f, selected[j]], slopes[f, j]
            for i in range(out.shape[1]):
                out[f, i] += slope * row[i]
