"""The eleven functions of the paper in one compiled pass: arrays in, arrays out.

No fast-math: sums run in a fixed order, so that the features do not depend on the processor's vector
width or on the number of threads.
"""

import numpy as np
from numba import njit

from pqswarm._math_kernels import logarithm

__all__ = ["band_functions"]

_SMALLEST = 1e-150  # below it, squares leave the range of normal numbers: no energy, no spread
_TINY = 2.0**-1022  # the smallest normal number
_SAMPLE = 128  # size of the sample that brackets the median
_BRACKET = 18  # half width of the bracket in ranks of the sample, about 3.2 standard deviations


@njit(cache=True, nogil=True, error_model="numpy")
def _select(values, n, rank):
    """The element of that rank among the first `n` of `values`, which are reordered (Hoare's quickselect)."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) >> 1
        a, b, c = values[low], values[middle], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@njit(cache=True, nogil=True, error_model="numpy")
def _middle_pair(values, n, rank):
    """The elements of `rank` and `rank` + 1 (the latter only where it is needed by the caller)."""
    first = _select(values, n, rank)
    second = np.inf
    for i in range(rank + 1, n):
        if values[i] < second:
            second = values[i]
    return first, second


@njit(cache=True, nogil=True, error_model="numpy")
def _median(band, scratch):
    """Median of `band`: a sorted sample brackets it, one pass collects what lies in the bracket."""
    n = band.size
    rank = (n - 1) // 2
    even = n % 2 == 0
    if n >= 8 * _SAMPLE:
        stride = n // _SAMPLE
        for i in range(_SAMPLE):
            scratch[i] = band[i * stride]
        sample = scratch[:_SAMPLE]
        sample.sort()
        low = sample[_SAMPLE // 2 - _BRACKET]
        high = sample[_SAMPLE // 2 + _BRACKET]
        below = 0
        kept = 0
        for i in range(n):
            value = band[i]
            below += value < low
            scratch[kept] = value
            kept += (value >= low) & (value <= high)
        if below <= rank and rank + even < below + kept:
            first, second = _middle_pair(scratch, kept, rank - below)
            return 0.5 * (first + second) if even else first
    for i in range(n):
        scratch[i] = band[i]
    first, second = _middle_pair(scratch, n, rank)
    return 0.5 * (first + second) if even else first


@njit(cache=True, nogil=True, error_model="numpy")
def _weighted_logs(squares, out):
    """Write x log x for x in [0, 1], 0 at 0, to `out`: a loop of its own, so that it vectorises."""
    for i in range(squares.size):
        out[i] = squares[i] * logarithm(max(squares[i], _TINY))


@njit(cache=True, nogil=True, error_model="numpy")
def _functions(band, rounding, scratch, squares, out):
    """Write the eleven functions of one band into `out`; what is below `rounding` counts as zero."""
    n = band.size
    minimum = band[0]
    maximum = band[0]
    total = 0.0
    lost = 0.0  # what rounding took from the total (Neumaier's sum)
    for i in range(n):
        value = band[i]
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        grown = total + value
        if abs(total) >= abs(value):
            lost += (total - grown) + value
        else:
            lost += (value - grown) + total
        total = grown
    mean = (total + lost) / n
    magnitude = max(abs(minimum), abs(maximum))
    spread = max(maximum - mean, mean - minimum)

    out[0] = minimum
    out[1] = maximum
    out[2] = _median(band, scratch)
    out[4] = mean

    energy = 0.0
    entropy = 0.0
    if magnitude > _SMALLEST:
        shrink = 1.0 / magnitude
        for i in range(n):
            scaled = band[i] * shrink
            squares[i] = scaled * scaled
        _weighted_logs(squares, scratch)
        weighted = 0.0
        for i in range(n):
            energy += squares[i]
            weighted += scratch[i]
        if magnitude > rounding:
            entropy = max(logarithm(energy) - weighted / energy, 0.0)
    out[3] = energy * magnitude * magnitude
    out[5] = entropy

    absolute = 0.0
    second = 0.0
    third = 0.0
    fourth = 0.0
    if spread > _SMALLEST:
        shrink = 1.0 / spread
        for i in range(n):
            d = (band[i] - mean) * shrink
            square = d * d
            absolute += abs(d)
            second += square
            third += square * d
            fourth += square * square
    variance = second / (n - 1)
    deviation = np.sqrt(variance)
    if spread > rounding and spread > _SMALLEST:
        out[6] = third / ((n - 1) * variance * deviation)
        out[10] = fourth / ((n - 1) * variance * variance)
    else:
        out[6] = 0.0
        out[10] = 0.0
    out[7] = deviation * spread
    out[8] = absolute / n * spread
    out[9] = variance * spread * spread


@njit(cache=True, nogil=True, error_model="numpy")
def band_functions(bands, rounding, features):
    """Fill each row of `features` (11 values) from a row of `bands`; see `_functions` for `rounding`."""
    n = bands.shape[1]
    scratch = np.empty(n)
    squares = np.empty(n)
    for row in range(bands.shape[0]):
        _functions(bands[row], rounding[row], scratch, squares, features[row])
