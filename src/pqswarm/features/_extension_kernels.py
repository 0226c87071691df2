"""Similarity of successive cycles, and cubic splines through equally spaced samples: compiled code."""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES
from pqswarm._kernels.sums import squared_distance


@njit(cache=True, nogil=True, error_model="numpy")
def squared_extension_distances(signal, ends, cycle, lags):
    """Squared distance between the `cycle` samples before each of `ends` and those each of `lags` earlier."""
    distances = np.empty((ends.size, lags.size))
    sums = np.empty(LANES)
    for i in range(ends.size):
        last = signal[ends[i] - cycle : ends[i]]
        for j in range(lags.size):
            earlier = signal[ends[i] - cycle - lags[j] : ends[i] - lags[j]]
            distances[i, j] = squared_distance(last, earlier, sums)
    return distances


@njit(cache=True, nogil=True, error_model="numpy")
def interpolate_extension(samples, positions):
    """Values of the cubic spline through six or more `samples`, at `positions` [samples] from the first to the last.

    At the ends the third derivative is continuous ("not a knot"), which makes the second derivative of the last sample
    but one its second difference; those between follow from a tridiagonal system.
    """
    n = samples.size
    curvature = np.empty(n)
    factor = np.zeros(n)
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
