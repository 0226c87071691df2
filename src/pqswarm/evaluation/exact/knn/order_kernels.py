"""Arrange samples so that likely neighbours under one subset of features are adjacent.

For each subset the samples are

1. scaled in single precision, the largest feature from -1 to 1;
2. given *keys*, which differ by at most the distance, and vary strongly: sums and differences of all features
   (Manhattan), the first principal components (Euclidean), the widest features (Chebyshev);
3. sorted in slices by the first key, within these by the second, and within these by the third, then cut into blocks of
   32. The minimum and maximum keys of a block are its *box*: a sample far outside it is far from all samples in it;
4. coded for the tests of ``filter_kernels.py``: by bytes, or by coordinates along the directions of largest variance,
   with a bound on the error of each code.

Directions are estimated from a few samples: a poor estimate costs time, never a neighbour.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm.evaluation.exact.knn.filter_kernels import BLOCK, N_KEYS, filter_slot
from pqswarm.evaluation.exact.knn.vector_kernels import encode, project

LOOSE = {"reassoc", "nsz", "contract", "arcp", "nnan"}
UNIT = 2.0**-24  # rounding unit of single precision
SAFETY = 1.1
_PROBES = 128  # maximum number of samples that estimate directions
_DIRECTIONS = 16  # of Euclidean codes
_ROUNDS = 1  # of power iteration: more are better and slower
_LEVELS = 255  # of a byte, above 0
_FINEST = 16000.0  # length of the longest point in its code: products of two fit into 32 bits


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _order_dot_product(a, b):
    total = a[0] * b[0]
    for f in range(1, a.size):
        total += a[f] * b[f]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _add_scaled_order_row(total, row, factor):
    for f in range(row.size):
        total[f] += factor * row[f]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _center_probes(rows, selected, factors):
    """The selected features of some samples, times their factors, centred."""
    n = rows.shape[0]
    q = selected.size
    m = min(max(n // 16, _DIRECTIONS), n, _PROBES)
    probes = np.empty((m, q), np.float32)
    mean = np.zeros(q, np.float32)
    for i in range(m):
        for f in range(q):
            probes[i, f] = rows[i * n // m, selected[f]] * factors[f]
        _add_scaled_order_row(mean, probes[i], np.float32(1.0 / m))
    for i in range(m):
        _add_scaled_order_row(probes[i], mean, np.float32(-1.0))
    return probes


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _orthonormalize_order_axes(directions):
    """Orthonormalise the rows of `directions`, float64, in place; dependent rows become zero."""
    for a in range(directions.shape[0]):
        before = _order_dot_product(directions[a], directions[a])
        for turn in range(2 * a):  # twice, against rounding
            other = directions[turn % a]
            _add_scaled_order_row(directions[a], other, -_order_dot_product(directions[a], other))
        squares = _order_dot_product(directions[a], directions[a])
        factor = 1.0 / np.sqrt(squares) if squares > 1e-12 * before and squares > 1e-60 else 0.0
        for f in range(directions.shape[1]):
            directions[a, f] *= factor


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _widest_directions(probes, count):
    """Directions of largest variance, float64[count, q], roughly the widest first; orthonormal, or zero."""
    m, q = probes.shape
    directions = np.empty((count, q))
    total = np.empty(q, np.float32)
    direction = np.empty(q, np.float32)
    for a in range(count):
        for f in range(q):
            directions[a, f] = probes[a * m // count, f]
    _orthonormalize_order_axes(directions)
    for _ in range(_ROUNDS):
        for a in range(count):
            for f in range(q):
                direction[f] = directions[a, f]
                total[f] = 0.0
            for row in probes:
                _add_scaled_order_row(total, row, _order_dot_product(row, direction))
            for f in range(q):
                directions[a, f] = total[f]
        _orthonormalize_order_axes(directions)
    return directions


@njit(cache=True, nogil=True, error_model="numpy")
def _widest_first(rows, exponents, largest, selected):
    """The selected features by falling variance, estimated from some samples."""
    stride = max(rows.shape[0] // _PROBES, 1)
    variances = np.empty(selected.size)
    order = np.empty(selected.size, np.int64)
    for f in range(selected.size):
        values = rows[::stride, selected[f]]
        total = squares = 0.0
        for value in values:
            total += value
            squares += value * value
        spread = (squares - total * total / values.size) * 4.0 ** max(exponents[selected[f]] - largest, -200)
        a = f
        while a > 0 and variances[a - 1] < spread:
            variances[a] = variances[a - 1]
            order[a] = order[a - 1]
            a -= 1
        variances[a] = spread
        order[a] = selected[f]
    return order


@njit(cache=True, nogil=True, error_model="numpy")
def _samples_sorted_by_key(words, shift, order):
    """The samples in `order`, stably sorted by eight bits of their words from `shift` on."""
    starts = np.zeros(256, np.int32)
    for word in words:
        starts[(word >> np.uint32(shift)) & np.uint32(255)] += 1
    total = 0
    for rank in range(256):
        count = starts[rank]
        starts[rank] = total
        total += count
    arranged = np.empty_like(order)
    for sample in order:
        rank = (words[sample] >> np.uint32(shift)) & np.uint32(255)
        arranged[starts[rank]] = sample
        starts[rank] += 1
    return arranged


@njit(cache=True, nogil=True, error_model="numpy")
def _nested_order(keys, n_blocks):
    """Samples, int32[n], in slices by the first key, in these by the second, and in these by the third.

    Keys are float32[n, ...]. Slices are whole blocks, about as many on each level.
    """
    n = keys.shape[0]
    each = int(np.ceil(n_blocks ** (1.0 / 3.0)))
    size = BLOCK * each * -(-n_blocks // (each * each))
    order = np.empty(n, np.int32)
    for i in range(n):
        order[i] = i
    words = np.empty(n, np.uint32)
    values = words.view(np.float32)
    slices = np.zeros(n, np.uint32)
    for level in range(3):
        for i in range(n):
            values[i] = keys[i, level]
        for i in range(n):  # integers in the order of the floats
            words[i] ^= np.uint32(0x80000000) | (np.uint32(0) - (words[i] >> np.uint32(31)))
        order = _samples_sorted_by_key(words, 24, _samples_sorted_by_key(words, 16, order))  # the upper 16 bits suffice
        if level > 0:
            order = _samples_sorted_by_key(slices, 0, order)
            if n > 256 * size * each:
                order = _samples_sorted_by_key(slices, 8, order)
        for i in range(n):
            slices[order[i]] = i // size
        size //= each
    return order


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _code_ordered_features(row, lows, step, codes, place):
    """Code a sample for Chebyshev distances, one byte per feature; return the maximum error."""
    per_step = np.float32(1.0) / step
    worst = np.float32(0.0)
    for f in range(row.size):
        above = row[f] - lows[f]
        level = np.int32(min(max(above * per_step + np.float32(0.5), np.float32(0.0)), np.float32(_LEVELS)))
        codes[place + f * BLOCK] = level
        off = abs(above - np.float32(level) * step)
        worst = off if off > worst else worst
    return worst


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _longest_ordered_point(points):
    """The largest squared length of the points."""
    most = np.float32(0.0)
    for point in points:
        most = max(most, _order_dot_product(point, point))
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def _code_points(points, order, step, pairs, codes, lengths, off):
    """Fill `codes`, half their squared `lengths`, and their errors `off`, for the test of points."""
    for i in range(order.size):
        start = i // BLOCK * BLOCK * 2 * pairs
        lane = i % BLOCK
        squares = 0
        errors = np.float32(0.0)
        for a in range(2 * pairs):
            value = points[order[i], a] / step
            code = int(np.rint(value))
            codes[start + (a // 2 * BLOCK + lane) * 2 + a % 2] = code
            squares += code * code
            errors += (value - code) * (value - code)
        lengths[i] = squares // 2
        off[i] = np.sqrt(errors) * step


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _key_boxes(keys, n_blocks):
    """Minimum and maximum key of each block, float32[words, 2 * keys, 32]; a word is 32 blocks, the last partial."""
    boxes = np.empty((-(-n_blocks // BLOCK), 2 * N_KEYS, BLOCK), np.float32)
    low = np.empty(N_KEYS, np.float32)
    high = np.empty(N_KEYS, np.float32)
    for b in range(boxes.shape[0] * BLOCK):
        low[:] = np.float32(3e38)  # no sample
        high[:] = np.float32(-3e38)
        for i in range(b * BLOCK, min(b * BLOCK + BLOCK, keys.shape[0])):
            for a in range(N_KEYS):
                low[a] = min(low[a], keys[i, a])
                high[a] = max(high[a], keys[i, a])
        for a in range(N_KEYS):
            boxes[b // BLOCK, 2 * a, b % BLOCK] = low[a]
            boxes[b // BLOCK, 2 * a + 1, b % BLOCK] = high[a]
    return boxes


@njit(cache=True, nogil=True, error_model="numpy")
def _sample_points(rows, selected, factors, probes, metric):
    """Coordinates of the samples, float32[n, 16 or 8]; the first are their keys.

    Keys differ by at most the distance, and so do all coordinates together if it is Euclidean.
    """
    n = rows.shape[0]
    q = selected.size
    count = _DIRECTIONS if metric == 1 else 8
    points = np.zeros((n, count), np.float32)
    if metric == 2:
        for i in range(n):
            for a in range(min(q, N_KEYS)):
                points[i, a] = rows[i, selected[a]] * factors[a]
        return points
    directions = _widest_directions(probes, count)
    packed = np.empty((count // 8, q, 8), np.float32)
    for a in range(count):
        for f in range(q):
            share = directions[a, f] if metric == 1 else (-1.0 if directions[a, f] < 0.0 else 1.0)
            packed[a // 8, f, a % 8] = share * factors[f]
    for i in range(0, n, 4):
        for part in range(count // 8):
            project(rows, i, selected, packed, part * 8 * q, points, count)
    return points


@njit(cache=True, nogil=True, error_model="numpy")
def arrange(rows, extents, exponents, selected, metric):
    """Sort and code the samples for one subset of features; see above.

    `rows`, float32[n, p], are the samples, each feature centred and divided by 2 ** `exponents`, int64[p], so that its
    values lie between minus and plus its entry of `extents`, float32[p]. `selected`, int64[q], are the features.

    Return the order, int32[n]; the samples in this order, float32[..., width], and their keys, float32[n, 4]; boxes
    (see `_key_boxes`); codes of bytes, or codes of points and half their squared lengths; the error of each code,
    float32[n], and its step; a bound on the error of distances by rounding the data; and one for keys and codes.
    """
    n = rows.shape[0]
    q = selected.size
    width = (q + 7) // 8 * 8
    largest = exponents[selected[0]]
    for f in selected:
        largest = max(largest, exponents[f])
    if metric == 2:
        selected = _widest_first(rows, exponents, largest, selected)
    factors = np.empty(q, np.float32)
    lows = np.zeros(width, np.float32)
    size = 0.0  # norm of the largest possible coordinates
    widest = np.float32(0.0)
    for f in range(q):
        factor = 2.0 ** max(exponents[selected[f]] - largest, -200)
        factors[f] = factor
        size = size + factor if metric == 0 else (np.hypot(size, factor) if metric == 1 else 1.0)
        lows[f] = -extents[selected[f]] * factors[f]
        widest = max(widest, -lows[f])
    floor = SAFETY * 3.0 * UNIT * size + 1e-30
    slack = SAFETY * 16.0 * UNIT * size * (q + 4.0)

    probes = _center_probes(rows, selected, factors)
    points = _sample_points(rows, selected, factors, probes, metric)
    n_blocks = -(-n // BLOCK)
    order = _nested_order(points, n_blocks)
    near = np.zeros((n_blocks * BLOCK, width), np.float32)
    keys = np.empty((n, N_KEYS), np.float32)
    for i in range(n):
        sample = order[i]
        for f in range(q):
            near[i, f] = rows[sample, selected[f]] * factors[f]
        for a in range(N_KEYS):
            keys[i, a] = points[sample, a]
    boxes = _key_boxes(keys, n_blocks)

    shift = 2 if width == 8 and metric == 0 else (1 if width == 16 and metric == 0 else 0)
    n_bytes = width << shift if metric != 1 else 0
    pairs = (min(_DIRECTIONS, q) + 1) // 2 if metric == 1 else 0
    codes = np.zeros(n_blocks * BLOCK * n_bytes, np.uint8)
    coordinates = np.zeros(n_blocks * BLOCK * 2 * pairs, np.int16)
    lengths = np.zeros(n_blocks * BLOCK if metric == 1 else 0, np.int32)
    off = np.empty(n, np.float32)
    if metric == 1:
        step = max(np.float32(np.sqrt(_longest_ordered_point(points)) / _FINEST), np.float32(1e-30))
        _code_points(points, order, step, pairs, coordinates, lengths, off)
        return order, near, keys, boxes, codes, coordinates, lengths, off, step, floor, slack
    step = max(np.float32(2.0) * widest / np.float32(_LEVELS << shift), np.float32(1e-30))
    for i in range(n):
        start = i // BLOCK * BLOCK * n_bytes
        if metric == 0:
            off[i] = encode(near, i, lows, step, shift, codes, start + filter_slot(i % BLOCK) * 8, BLOCK * 8)
        else:
            off[i] = _code_ordered_features(near[i], lows, step, codes, start + i % BLOCK)
    return order, near, keys, boxes, codes, coordinates, lengths, off, step, floor, slack
