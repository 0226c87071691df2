"""Medians of several bands side by side: compiled code, arrays in, arrays out."""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES, choose, fill, find_between, load, lower, store, upper

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
def _quickselect(values, rank):
    """The element of that rank among `values`, which are reordered (Hoare's quickselect)."""
    low = 0
    high = values.size - 1
    while low < high:
        middle = (low + high) >> 1
        a = values[low]
        b = values[middle]
        c = values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i = low
        j = high
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
def _count_below(values, n, edges, counts):
    """Count in each lane the values below each of the inner four of six edges: all are at or above the first."""
    first = load(edges, 1)
    second = load(edges, 2)
    third = load(edges, 3)
    fourth = load(edges, 4)
    zero = fill(0.0)
    one = fill(1.0)
    a = zero
    b = zero
    c = zero
    d = zero
    for i in range(n):
        x = load(values, i)
        a = a + choose(x, first, zero, one)
        b = b + choose(x, second, zero, one)
        c = c + choose(x, third, zero, one)
        d = d + choose(x, fourth, zero, one)
    store(zero, counts, 0)
    store(a, counts, 1)
    store(b, counts, 2)
    store(c, counts, 3)
    store(d, counts, 4)
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
    largest = 0
    for lane in range(LANES):
        largest = max(largest, sizes[lane])
    for lane in range(LANES):
        for i in range(sizes[lane], largest):
            kept[LANES * i + lane] = np.inf
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def medians(bands, n, scratch, sample, out):
    """Write the median of each lane's first `n` coefficients to `out`.

    `scratch` has lanes for `n` places, `sample` for 128, or for `n` numbers if that is more.
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
        for i in range(LANES * n):
            scratch[i] = bands[i]
    _sort_for_median(scratch, size)
    for lane in range(LANES):
        middle = scratch[LANES * min(ranks[lane], size - 1) + lane]
        next_one = scratch[LANES * min(ranks[lane] + width - 1, size - 1) + lane]
        if ranks[lane] < 0:  # many equal coefficients, or a misleading sample
            whole = sample[:n]
            for i in range(n):
                whole[i] = bands[LANES * i + lane]
            middle = _quickselect(whole, rank)
            next_one = whole[rank + 1 :].min() if width == 2 else middle
        out[lane] = 0.5 * (middle + next_one) if width == 2 else middle
