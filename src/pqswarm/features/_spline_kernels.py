"""Values between equally spaced samples, by a cubic spline: compiled code, arrays in, arrays out."""

import numpy as np
from numba import njit

__all__ = ["interpolate"]


@njit(cache=True, nogil=True, error_model="numpy")
def interpolate(samples, positions):
    """Values of the cubic spline through six or more `samples`, at `positions` [samples] from the first to the last.

    At the ends the third derivative is continuous ("not a knot"), which makes the second derivative of the last sample
    but one its second difference; those between follow from a tridiagonal system.
    """
    n = samples.size
    curvature, factor = np.empty(n), np.zeros(n)
    for i in range(1, n - 1):
        curvature[i] = samples[i - 1] - 2.0 * samples[i] + samples[i + 1]
    for i in range(2, n - 2):
        factor[i] = 1.0 / (4.0 - factor[i - 1])
        curvature[i] = (6.0 * curvature[i] - curvature[i - 1]) * factor[i]
    for i in range(n - 3, 1, -1):
        curvature[i] -= factor[i] * curvature[i + 1]
    curvature[0] = 2.0 * curvature[1] - curvature[2]
    curvature[n - 1] = 2.0 * curvature[n - 2] - curvature[n - 3]
    out = np.empty(positions.size)
    for j in range(positions.size):
        i = min(max(int(positions[j]), 0), n - 2)
        right = positions[j] - i
        left = 1.0 - right
        bend = (left * left * left - left) * curvature[i] + (right * right * right - right) * curvature[i + 1]
        out[j] = left * samples[i] + right * samples[i + 1] + bend * (1.0 / 6.0)
    return out
