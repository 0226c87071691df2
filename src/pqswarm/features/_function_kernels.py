"""The wavelet transform and the eleven functions of the paper, of several signals side by side: compiled code.

No fast-math: sums run in a fixed order, so that the features do not depend on the processor's vector
width or on the number of threads.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES, absolute, choose, fill, load, lower, store, upper
from pqswarm._kernels.math import logarithm, logarithm_of_normal
from pqswarm.features._median_kernels import SAMPLE, medians
from pqswarm.features._wavelet_kernels import analyze, join_wavelet_lanes, prolong_wavelet_lanes

_SMALLEST = 1e-150  # below it, squares leave the range of normal numbers: no energy, no spread
_TINY = 2.0**-1022  # the smallest normal number
_BLOCK = 64  # positions at a time, which stay in the fastest memory


@njit(cache=True, nogil=True, error_model="numpy")
def _weighted_logs(squares, out):
    """Write x log x for x in [0, 1], 0 at 0, to `out`: a loop of its own, so that it vectorises."""
    for i in range(squares.size):
        out[i] = squares[i] * logarithm_of_normal(max(squares[i], _TINY))


@njit(cache=True, nogil=True, error_model="numpy")
def _find_ranges(bands, n, out):
    """Write minimum, maximum, sum and its rounding error (Neumaier's sum) to `out`."""
    minimum = load(bands, 0)
    maximum = load(bands, 0)
    total = fill(0.0)
    lost = fill(0.0)
    for i in range(n):
        x = load(bands, i)
        minimum = lower(x, minimum)
        maximum = upper(x, maximum)
        grown = total + x
        larger = choose(absolute(total), absolute(x), total, x)
        smaller = choose(absolute(total), absolute(x), x, total)
        lost = lost + ((larger - grown) + smaller)
        total = grown
    store(minimum, out, 0)
    store(maximum, out, 1)
    store(total, out, 2)
    store(lost, out, 3)


@njit(cache=True, nogil=True, error_model="numpy")
def _sums(bands, n, scales, squares, logs, out):
    """Write six sums to `out`.

    They are those of y^2, y^2 log y^2, |d|, d^2, d^3 and d^4; y is x times the first of the `scales`, d is x less the
    second, times the third.
    """
    shrink = load(scales, 0)
    mean = load(scales, 1)
    narrow = load(scales, 2)
    energy = fill(0.0)
    weighted = fill(0.0)
    first = fill(0.0)
    second = fill(0.0)
    third = fill(0.0)
    fourth = fill(0.0)
    for start in range(0, n, _BLOCK):
        count = min(_BLOCK, n - start)
        for i in range(count):
            y = load(bands, start + i) * shrink
            store(y * y, squares, i)
        _weighted_logs(squares[: LANES * count], logs)
        for i in range(count):
            energy = energy + load(squares, i)
            weighted = weighted + load(logs, i)
            d = (load(bands, start + i) - mean) * narrow
            square = d * d
            first = first + absolute(d)
            second = second + square
            third = third + square * d
            fourth = fourth + square * square
    store(energy, out, 0)
    store(weighted, out, 1)
    store(first, out, 2)
    store(second, out, 3)
    store(third, out, 4)
    store(fourth, out, 5)


@njit(cache=True, nogil=True, error_model="numpy")
def band_functions(bands, n, rounding, scratch, sample, features):
    """Fill each row of `features`, float64[m, 11], from the first `n` coefficients of a lane.

    Values below `rounding`, float64[m], count as zero. `scratch` and `sample` are those of :func:`medians`.
    """
    ranges = np.empty(4 * LANES)
    scales = np.empty(3 * LANES)
    sums = np.empty(6 * LANES)
    middles = np.empty(LANES)
    _find_ranges(bands, n, ranges)
    medians(bands, n, scratch, sample, middles)
    for lane in range(LANES):
        minimum, maximum, total, lost = ranges[lane::LANES]
        mean = (total + lost) / n
        magnitude = max(abs(minimum), abs(maximum))
        spread = max(maximum - mean, mean - minimum)
        scales[lane] = 1.0 / magnitude if magnitude > _SMALLEST else 0.0
        scales[LANES + lane] = mean
        scales[2 * LANES + lane] = 1.0 / spread if spread > _SMALLEST else 0.0
    _sums(bands, n, scales, scratch, sample, sums)
    for lane in range(features.shape[0]):
        out = features[lane]
        minimum = ranges[lane]
        maximum = ranges[LANES + lane]
        mean = scales[LANES + lane]
        magnitude = max(abs(minimum), abs(maximum))
        spread = max(maximum - mean, mean - minimum)
        energy = sums[lane]
        weighted = sums[LANES + lane]
        variance = sums[3 * LANES + lane] / (n - 1)
        deviation = np.sqrt(variance)
        out[0] = minimum
        out[1] = maximum
        out[2] = middles[lane]
        out[3] = energy * magnitude * magnitude
        out[4] = mean
        out[5] = 0.0
        if magnitude > rounding[lane] and magnitude > _SMALLEST:
            out[5] = max(logarithm(energy) - weighted / energy, 0.0)
        out[6] = 0.0
        out[10] = 0.0
        if spread > rounding[lane] and spread > _SMALLEST:
            out[6] = sums[4 * LANES + lane] / ((n - 1) * variance * deviation)
            out[10] = sums[5 * LANES + lane] / ((n - 1) * variance * variance)
        out[7] = deviation * spread
        out[8] = sums[2 * LANES + lane] / n * spread
        out[9] = variance * spread * spread


@njit(cache=True, nogil=True, error_model="numpy")
def extract_features(signals, places, lengths, low_pass, rounding, workspace, features):
    """Fill `features`, float64[m, bands, 11], from `signals`, float64[m, n].

    `places`, level by level, are those of :func:`prolong_wavelet_lanes`, and `lengths` the numbers of coefficients of
    the levels; `low_pass` is that of :func:`analyse`, and `rounding`, float64[m, bands], that of
    :func:`band_functions`. `workspace`, float64[4, 8 lengths[0]], is scratch.
    """
    taps = low_pass.size
    signal = workspace[0]
    approximations = workspace[1]
    details = workspace[2]
    scratch = workspace[3]
    prolonged = np.empty(LANES * (2 * _BLOCK + taps - 2))
    sample = np.empty(max(LANES * SAMPLE, lengths[0]))
    for first in range(0, signals.shape[0], LANES):
        rows = slice(first, first + LANES)
        start = 0
        for level in range(lengths.size):
            n = lengths[level]
            for begin in range(0, n, _BLOCK):
                count = min(_BLOCK, n - begin)
                look = places[start + 2 * begin : start + 2 * (begin + count) + taps - 2]
                if level == 0:
                    join_wavelet_lanes(signals[rows], look, prolonged)
                else:
                    prolong_wavelet_lanes(signal, look, prolonged)
                analyze(prolonged, low_pass, count, approximations[LANES * begin :], details[LANES * begin :])
            start += 2 * n + taps - 2
            signal, approximations = approximations, signal
            band_functions(details, n, rounding[rows, level], scratch, sample, features[rows, level])
        band_functions(signal, n, rounding[rows, -1], scratch, sample, features[rows, -1])
