"""The wavelet transform and the eleven functions of the paper, of several signals side by side: compiled code.

No fast-math: sums run in a fixed order, so that the features do not depend on the processor's vector
width or on the number of threads.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES, absolute, choose, fill, find_between, load, lower, store, upper
from pqswarm._kernels.math import logarithm, logarithm_of_normal
from pqswarm._kernels.sums import squared_distance


@njit(cache=True, nogil=True, error_model="numpy")
def join_wavelet_lanes(signals, places, lanes):
    """Fill the lanes with the values at `places` of up to eight `signals`, float64[m, n]; the last fills the rest."""
    last = signals.shape[0] - 1
    for i in range(places.size):
        place = places[i]
        for lane in range(LANES):
            lanes[LANES * i + lane] = signals[min(lane, last), place] if place >= 0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def prolong_wavelet_lanes(signals, places, prolonged):
    """Extend signals, the lanes `signals`, at their ends.

    `places`, int64[2 (length + taps / 2 - 1)], maps each filter input to a sample; -1 means zero.
    """
    for i in range(places.size):
        store(load(signals, places[i]) if places[i] >= 0 else fill(0.0), prolonged, i)


@njit(cache=True, nogil=True, error_model="numpy")
def filter_wavelet_lanes(prolonged, low_pass, length, approximations, details):
    """Apply the low-pass and high-pass filters to extended signals, and keep every second value.

    `low_pass`, float64[taps], starts with the newest sample. `approximations` and `details`, lanes of that `length` or
    more, are filled.
    """
    taps = low_pass.size
    for i in range(length):
        low = fill(0.0)
        high = fill(0.0)
        for tap in range(0, taps, 2):
            newest = taps - 1 - tap
            newer = load(prolonged, 2 * i + newest)
            older = load(prolonged, 2 * i + newest - 1)
            low = low + fill(low_pass[tap]) * newer + fill(low_pass[tap + 1]) * older
            high = high - fill(low_pass[newest]) * newer + fill(low_pass[newest - 1]) * older
        store(low, approximations, i)
        store(high, details, i)


_SORTED = 192  # maximum number of coefficients that are sorted
SAMPLE = 128  # size of the sample that brackets the medians of longer ones
# ranks of the sample between the one expected and the edges of brackets: 0.9 and 3.2 deviations
_NEAR = 5
_FAR = 18


@njit(cache=True, nogil=True, error_model="numpy")
def _sort_for_median(lanes, n):
    """Sort the first `n` places, each lane by itself (Batcher's merge exchange, Knuth 5.2.2 M)."""
    half = 1
    while 2 * half < n:
        half *= 2
    run = half
    while run > 0:
        distance = run
        start = 0
        merged = half
        while True:
            for first in range(start, n - distance, 2 * run):
                for i in range(first, min(first + run, n - distance)):
                    a = load(lanes, i)
                    b = load(lanes, i + distance)
                    store(lower(a, b), lanes, i)
                    store(upper(a, b), lanes, i + distance)
            if merged == run:
                break
            distance = merged - run
            start = run
            merged = merged // 2
        run //= 2


@njit(cache=True, nogil=True, error_model="numpy")
def _count_below(values, n, edges, counts):
    """Count in each lane the values below each of the inner four of six edges: all are at or above the first."""
    zero = fill(0.0)
    one = fill(1.0)
    store(zero, counts, 0)
    for j in range(1, 5):
        edge = load(edges, j)
        count = zero
        for i in range(n):
            count = count + choose(load(values, i), edge, zero, one)
        store(count, counts, j)
    store(fill(float(n)), counts, 5)


@njit(cache=True, nogil=True, error_model="numpy")
def _narrow_to_median(values, n, ranks, width, sample, kept):
    """Move the values that may have `ranks` ... `ranks` + `width` - 1 to `kept`; return the largest count.

    The ranks become those within `kept`, or -1 in lanes where that would be more than half. A sorted sample brackets
    the ranks; shorter lanes are padded with infinity.
    """
    for i in range(SAMPLE):
        store(load(values, i * n // SAMPLE), sample, i)
    _sort_for_median(sample, SAMPLE)
    edges = np.empty(6 * LANES)
    counts = np.empty(6 * LANES)
    for lane in range(LANES):
        expected = ranks[lane] * SAMPLE // n
        edges[lane] = -np.inf
        edges[5 * LANES + lane] = np.inf
        for j, offset in enumerate((-_FAR, -_NEAR, _NEAR, _FAR), 1):
            edges[LANES * j + lane] = sample[LANES * min(max(expected + offset, 0), SAMPLE - 1) + lane]
    _count_below(values, n, edges, counts)

    for lane in range(LANES):
        rank = max(ranks[lane], 0)
        below = 4
        above = 1
        while counts[LANES * below + lane] > rank:
            below -= 1
        while above <= below or counts[LANES * above + lane] < rank + width:
            above += 1
        fewer = counts[LANES * below + lane]
        usable = ranks[lane] >= 0 and counts[LANES * above + lane] - fewer <= n // 2
        ranks[lane] = rank - int(fewer) if usable else -1
        sample[lane] = edges[LANES * below + lane] if usable else np.inf
        sample[LANES + lane] = edges[LANES * above + lane]
    low = load(sample, 0)
    high = load(sample, 1)
    sizes = np.zeros(LANES, np.int64)
    for i in range(n):
        found = find_between(load(values, i), low, high)
        if found:
            for lane in range(LANES):
                kept[LANES * sizes[lane] + lane] = values[LANES * i + lane]
                sizes[lane] += found >> lane & 1
    largest = sizes.max()
    for lane in range(LANES):
        kept[LANES * sizes[lane] + lane : LANES * largest : LANES] = np.inf
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def band_medians(bands, n, scratch, sample, out):
    """Write the median of each lane's first `n` coefficients to `out`.

    `scratch` has lanes for `n` places, `sample` for 128.
    """
    # of the one in the middle, or of the two
    rank = (n - 1) // 2
    width = 2 - n % 2
    ranks = np.full(LANES, rank)
    values = bands
    size = n
    while size > _SORTED:
        size = _narrow_to_median(values, size, ranks, width, sample, scratch)
        values = scratch
    if n <= _SORTED:
        scratch[: LANES * n] = bands[: LANES * n]
    _sort_for_median(scratch, size)
    for lane in range(LANES):
        middle = scratch[LANES * min(ranks[lane], size - 1) + lane]
        next_one = scratch[LANES * min(ranks[lane] + width - 1, size - 1) + lane]
        if ranks[lane] < 0:  # many equal coefficients, or a misleading sample
            whole = np.sort(bands[lane : LANES * n : LANES])
            middle = whole[rank]
            next_one = whole[rank + width - 1]
        out[lane] = 0.5 * (middle + next_one) if width == 2 else middle


_SMALLEST = 1e-150  # below it, squares leave the range of normal numbers: no energy, no spread
_TINY = 2.0**-1022  # the smallest normal number
_BLOCK = 64  # positions at a time, which stay in the fastest memory


@njit(cache=True, nogil=True, error_model="numpy")
def _entropy_terms(squares, out):
    """Write x log x for x in [0, 1], 0 at 0, to `out`: a loop of its own, so that it vectorizes."""
    for i in range(squares.size):
        out[i] = squares[i] * logarithm_of_normal(max(squares[i], _TINY))


@njit(cache=True, nogil=True, error_model="numpy")
def _find_band_ranges(bands, n, out):
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
def _band_sums(bands, n, scales, squares, logs, out):
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
        _entropy_terms(squares[: LANES * count], logs)
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

    Values below `rounding`, float64[m], count as zero. `scratch` and `sample` are those of :func:`band_medians`.
    """
    ranges = np.empty(4 * LANES)
    scales = np.empty(3 * LANES)
    sums = np.empty(6 * LANES)
    middles = np.empty(LANES)
    _find_band_ranges(bands, n, ranges)
    band_medians(bands, n, scratch, sample, middles)
    for lane in range(LANES):
        minimum, maximum, total, lost = ranges[lane::LANES]
        mean = (total + lost) / n
        magnitude = max(abs(minimum), abs(maximum))
        spread = max(maximum - mean, mean - minimum)
        scales[lane] = 1.0 / magnitude if magnitude > _SMALLEST else 0.0
        scales[LANES + lane] = mean
        scales[2 * LANES + lane] = 1.0 / spread if spread > _SMALLEST else 0.0
    _band_sums(bands, n, scales, scratch, sample, sums)
    for lane in range(features.shape[0]):
        out = features[lane]
        minimum, maximum, _, _ = ranges[lane::LANES]
        energy, weighted, first, second, third, fourth = sums[lane::LANES]
        mean = scales[LANES + lane]
        magnitude = max(abs(minimum), abs(maximum))
        spread = max(maximum - mean, mean - minimum)
        variance = second / (n - 1)
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
            out[6] = third / ((n - 1) * variance * deviation)
            out[10] = fourth / ((n - 1) * variance * variance)
        out[7] = deviation * spread
        out[8] = first / n * spread
        out[9] = variance * spread * spread


@njit(cache=True, nogil=True, error_model="numpy")
def extract_features(signals, places, lengths, low_pass, rounding, workspace, features):
    """Fill `features`, float64[m, bands, 11], from `signals`, float64[m, n].

    `places`, level by level, are those of :func:`prolong_wavelet_lanes`, and `lengths` the numbers of coefficients of
    the levels; `low_pass` is that of :func:`filter_wavelet_lanes`, and `rounding`, float64[m, bands], that of
    :func:`band_functions`. `workspace`, float64[4, 8 lengths[0]], is scratch.
    """
    taps = low_pass.size
    signal = workspace[0]
    approximations = workspace[1]
    details = workspace[2]
    scratch = workspace[3]
    prolonged = np.empty(LANES * (2 * _BLOCK + taps - 2))
    sample = np.empty(LANES * SAMPLE)
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
                filter_wavelet_lanes(
                    prolonged, low_pass, count, approximations[LANES * begin :], details[LANES * begin :]
                )
            start += 2 * n + taps - 2
            signal, approximations = approximations, signal
            band_functions(details, n, rounding[rows, level], scratch, sample, features[rows, level])
        band_functions(signal, n, rounding[rows, -1], scratch, sample, features[rows, -1])


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
