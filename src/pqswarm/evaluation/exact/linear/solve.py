"""Positive definite systems, with a bound on their conditioning."""

import numpy as np

from pqswarm._base.typing import FloatArray


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

    found = np.empty(right.shape)
    solve_batch(np.ascontiguousarray(upper), np.ascontiguousarray(right), found)  # else compiled for each layout
    return found
