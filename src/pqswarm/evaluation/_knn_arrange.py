"""Events arranged so that those that can be near each other under one subset of features lie together.

For each subset the events are

1. brought to a common scale, in single precision, the largest feature from -1 to 1;
2. sorted by a *key* that changes by no more than the distance does, and as much as such a key can: a sum and
   difference of all features (Manhattan), the first principal component (Euclidean), the widest feature (Chebyshev).
   So the events within some distance of an event are a stretch of this order;
3. cut into blocks of 32 and coded for the tests of ``_knn_filters.py``: by bytes, or by coordinates along the
   directions in which they vary most. Codes know how far they are from what they stand for.

Directions are estimated from a few hundred events: a poor estimate costs time, never a neighbour.
"""

import numpy as np
from numba import njit

from pqswarm.evaluation._knn_filters import BLOCK, slot

__all__ = ["LOOSE", "SAFETY", "UNIT", "arrange"]

LOOSE = {"reassoc", "nsz", "contract", "arcp", "nnan"}
UNIT = 2.0**-24  # rounding unit of single precision
SAFETY = 1.1
_SAMPLE = 256  # events that estimate directions
_DIRECTIONS = 16
_ROUNDS = 2  # of finding directions: more make them better, and take longer
_LEVELS = 255


@njit(cache=True, nogil=True, error_model="numpy")
def _scaled_rows(rows, factors, selected):
    """The selected features of all events times their factors, float32[n, width], width the next multiple of eight."""
    n, q = rows.shape[0], selected.size
    scaled = np.zeros((n, (q + 7) // 8 * 8), np.float32)
    for i in range(n):
        for f in range(q):
            scaled[i, f] = rows[i, selected[f]] * factors[f]
    return scaled


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _dot(a, b):
    total = np.float32(0.0)
    for f in range(a.size):
        total += a[f] * b[f]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _add_times(total, row, factor):
    for f in range(row.size):
        total[f] += factor * row[f]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _centred_sample(rows):
    """Some of the events, without the mean of each feature, and this mean."""
    n, width = rows.shape
    stride = max(n // _SAMPLE, 1)
    sample = rows[::stride].copy()
    mean = np.zeros(width, np.float32)
    for row in sample:
        _add_times(mean, row, np.float32(1.0 / sample.shape[0]))
    for row in sample:
        _add_times(row, mean, np.float32(-1.0))
    return sample, mean


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _widest_signs(sample):
    """Signs, float32[width], whose sum of features varies much; each step can only widen it."""
    signs = np.ones(sample.shape[1], np.float32)
    total = np.empty(sample.shape[1], np.float32)
    for _ in range(8):
        total[:] = 0.0
        for row in sample:
            _add_times(total, row, _dot(row, signs))
        changed = 0
        for f in range(signs.size):
            sign = np.float32(-1.0 if total[f] < 0.0 else 1.0)
            changed += sign != signs[f]
            signs[f] = sign
        if changed == 0:
            break
    return signs


@njit(cache=True, nogil=True, error_model="numpy")
def _orthonormal(directions):
    """Make the columns of `directions`, float64, orthogonal to each other and of length one, or zero; in place."""
    width, count = directions.shape
    for a in range(count):
        before = 0.0
        for f in range(width):
            before += directions[f, a] * directions[f, a]
        for step in range(2 * a):  # each twice, as once leaves a rest by rounding
            b = step % a
            share = 0.0
            for f in range(width):
                share += directions[f, a] * directions[f, b]
            for f in range(width):
                directions[f, a] -= share * directions[f, b]
        squares = 0.0
        for f in range(width):
            squares += directions[f, a] * directions[f, a]
        factor = 1.0 / np.sqrt(squares) if squares > 1e-12 * before and squares > 1e-60 else 0.0
        for f in range(width):
            directions[f, a] *= factor


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _widest_directions(sample, count):
    """Orthonormal directions, float32[width, count], in which the sample varies most, about the widest first."""
    m, width = sample.shape
    found = np.empty((width, count))
    directions = np.empty((width, count), np.float32)
    along = np.empty(count, np.float32)
    for f in range(width):
        for a in range(count):
            found[f, a] = sample[a * m // count, f]
    for turn in range(_ROUNDS + 1):
        _orthonormal(found)
        for f in range(width):
            for a in range(count):
                directions[f, a] = found[f, a]
                found[f, a] = 0.0
        if turn == _ROUNDS:
            break
        for row in sample:
            along[:] = 0.0
            for f in range(width):
                for a in range(count):
                    along[a] += row[f] * directions[f, a]
            for f in range(width):
                for a in range(count):
                    found[f, a] += row[f] * along[a]
    return directions


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _features_by_width(sample):
    """Features in the order of falling variance."""
    squares = np.zeros(sample.shape[1], np.float32)
    for row in sample:
        for f in range(row.size):
            squares[f] += row[f] * row[f]
    return np.argsort(-squares)


@njit(cache=True, nogil=True, error_model="numpy")
def _sorted_order(keys):
    """Positions, int32[n], that sort float32 keys: by eleven bits at a time."""
    n = keys.size
    bits = keys.view(np.uint32).copy()
    for i in range(n):  # integers in the order of the numbers
        bits[i] ^= np.uint32(0xFFFFFFFF) if bits[i] >> np.uint32(31) else np.uint32(0x80000000)
    order, other = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    starts = np.empty(2049, np.int32)
    for shift in (0, 11, 22):
        starts[:] = 0
        for i in range(n):
            starts[((bits[i] >> np.uint32(shift)) & np.uint32(2047)) + 1] += 1
        for b in range(2048):
            starts[b + 1] += starts[b]
        for i in order:
            b = (bits[i] >> np.uint32(shift)) & np.uint32(2047)
            other[starts[b]] = i
            starts[b] += 1
        order, other = other, order
    return order


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _encode(row, lows, step, codes):
    """Fill `codes`, uint8[width], with the nearest level of each value; return by how much they are off, in all."""
    per_step = np.float32(1.0) / step
    off = np.float32(0.0)
    for f in range(row.size):
        above = row[f] - lows[f]
        code = np.uint8(min(max(above * per_step + np.float32(0.5), np.float32(0.0)), np.float32(_LEVELS)))
        codes[f] = code
        off += abs(above - np.float32(code) * step)
    return off


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _most_off(row, lows, step, codes):
    """By how much the codes are off in the worst feature."""
    most = np.float32(0.0)
    for f in range(row.size):
        off = abs(row[f] - lows[f] - np.float32(codes[f]) * step)
        most = off if off > most else most
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def _code_bytes(rows, lows, step, metric, wide, codes, off):
    """Fill `codes` and `off`, by how much those of each event are off, for the tests of bytes."""
    n, width = rows.shape
    own = np.empty(width, np.uint8)
    words = own.view(np.uint64)
    groups = codes.view(np.uint64)
    for i in range(n):
        off[i] = _encode(rows[i], lows, step, own)
        start, lane = i // BLOCK * BLOCK * width, i % BLOCK
        if metric == 0:
            for g in range(width // 8):
                groups[start // 8 + g * BLOCK + slot(lane)] = words[g]
        else:
            off[i] = _most_off(rows[i], lows, step, own)
            for f in range(width):
                codes[start + f * BLOCK + lane] = own[wide[f]]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _project(row, mean, directions, along):
    along[:] = 0.0
    for f in range(row.size):
        value = row[f] - mean[f]
        for a in range(along.size):
            along[a] += value * directions[f, a]


@njit(cache=True, nogil=True, error_model="numpy")
def _code_points(points, order, codes, off):
    """Fill `codes` for the test of points, and `off` with half their squared lengths, both less their rounding error."""
    n, count = points.shape
    share = 0.5 - 3.0 * SAFETY * UNIT * (count + 2.0)
    for i in range(n):
        start, lane = i // BLOCK * BLOCK * (count + 1), i % BLOCK
        squares = 0.0
        for a in range(count):
            value = points[order[i], a]
            codes[start + (a + 1) * BLOCK + lane] = value
            squares += np.float64(value) * value
        codes[start + lane] = off[i] = share * squares


@njit(cache=True, nogil=True, error_model="numpy")
def arrange(rows, halves, exponents, selected, metric):
    """Sort and code the events for one subset of features; see above.

    `rows`, float32[n, p], are the events, each feature centred and divided by 2 ** `exponents`, int64[p], so that it
    goes from minus to plus its entry of `halves`, float32[p]. `selected`, int64[q], are the features to use.

    Returns the order, int32[n]; the events in this order, float32[n, width]; their keys, float32[n]; codes of bytes and
    of points, one of them empty; what belongs to the code of each event, float32[n]; the step of bytes; the error
    of distances by rounding the data; and that of keys and points, beside it.
    """
    n, q = rows.shape[0], selected.size
    largest = exponents[selected].max()
    factors = np.empty(q, np.float32)
    lows = np.zeros((q + 7) // 8 * 8, np.float32)
    size = 0.0  # of the largest possible rounded coordinates, by the norm of the metric
    widest = np.float32(0.0)
    for f in range(q):
        factor = 2.0 ** max(exponents[selected[f]] - largest, -200)
        factors[f] = factor
        size = size + factor if metric == 0 else (np.hypot(size, factor) if metric == 1 else 1.0)
        lows[f] = -halves[selected[f]] * factors[f]
        widest = max(widest, -lows[f])
    unsorted = _scaled_rows(rows, factors, selected)
    width = unsorted.shape[1]
    sample, mean = _centred_sample(unsorted)

    keys = np.empty(n, np.float32)
    points = np.empty((0, 0), np.float32)
    wide = np.empty(0, np.int64)
    if metric == 0:
        signs = _widest_signs(sample)
        for i in range(n):
            keys[i] = _dot(unsorted[i], signs)
    elif metric == 1:
        directions = _widest_directions(sample, min(_DIRECTIONS, width))
        points = np.empty((n, directions.shape[1]), np.float32)
        for i in range(n):
            _project(unsorted[i], mean, directions, points[i])
            keys[i] = points[i, 0]
    else:
        wide = _features_by_width(sample)
        for i in range(n):
            keys[i] = unsorted[i, wide[0]]
    order = _sorted_order(keys)
    n_blocks = -(-n // BLOCK)
    near = np.zeros((n_blocks * BLOCK, width), np.float32)
    sorted_keys = np.empty(n_blocks * BLOCK, np.float32)
    sorted_keys[n:] = np.inf
    for i in range(n):
        sorted_keys[i] = keys[order[i]]
        source = unsorted[order[i]]
        for f in range(width):
            near[i, f] = source[f]

    off = np.empty(n, np.float32)
    step = max(np.float32(2.0) * widest / np.float32(_LEVELS), np.float32(1e-30))
    codes = np.zeros(n_blocks * BLOCK * width if metric != 1 else 0, np.uint8)
    coordinates = np.zeros(n_blocks * BLOCK * (points.shape[1] + 1) if metric == 1 else 0, np.float32)
    if metric == 1:
        _code_points(points, order, coordinates, off)
    else:
        _code_bytes(near[:n], lows, step, metric, wide, codes, off)
    floor = SAFETY * 3.0 * UNIT * size + 1e-30
    slack = SAFETY * 16.0 * UNIT * size * (q + 4.0)
    block_off = np.zeros(n_blocks, np.float32)
    for i in range(n):
        b = i // BLOCK if metric == 0 else 0
        block_off[b] = max(block_off[b], off[i] / step * np.float32(1.00001))
    return order, near, sorted_keys, codes, coordinates, off, block_off, step, floor, slack
