"""Exact k-nearest-neighbour predictions of all events at once: compiled code, arrays in, arrays out.

For one subset of features, every event looks for its nearest events of other folds. Most pairs are never
looked at:

1. Near events are brought together in blocks of 32 (``_knn_order_kernels.py``). Blocks that are too far away as a
   whole are left out.
2. How far is too far is known beforehand: the distances to events that are probably near, which are those of the
   space of all features, bound the distance to the k-th neighbour from above. The bound falls as nearer events are
   found, first of all in the event's own block.
3. The 32 events of a block are tested at once by codes of few bits (``_knn_filter_kernels.py``). Of all pairs about
   one in two hundred passes.
4. Distances to what passes are computed in single precision. Only where rounding could change the set of
   neighbours are they computed again in double precision, added in the order of the features as scikit-learn
   does, with ties to the lower index.

Codes and single precision filter and never decide: all their comparisons allow for a bound of their error.
Hence fast-math is harmless in the functions that carry it.
"""

import numpy as np
from numba import njit

from pqswarm.evaluation._knn_filter_kernels import (
    BLOCK,
    N_KEYS,
    boxes_by_largest,
    boxes_by_squares,
    slot,
    within_box,
    within_euclidean,
    within_manhattan,
)
from pqswarm.evaluation._knn_order_kernels import SAFETY, UNIT, arrange
from pqswarm.evaluation._vector_kernels import chebyshev, first_bit, manhattan, squared_euclidean

__all__ = ["CHEBYSHEV", "EUCLIDEAN", "MANHATTAN", "N_PIVOTS", "arrange", "predict"]

MANHATTAN, EUCLIDEAN, CHEBYSHEV = 0, 1, 2
N_PIVOTS = 8
_TOGETHER = 8  # blocks that are tested together
_ENOUGH = 16  # events that pass the tests before their distances are computed
_FIRST_FEATURES = 8  # of a Chebyshev distance, the widest: mostly they are enough to leave a block


@njit(cache=True, nogil=True, error_model="numpy")
def _exactly(a, b, selected, metric):
    """Distance of two rows in double precision, term by term; its square where the metric is Euclidean."""
    total = 0.0
    for f in selected:
        d = abs(a[f] - b[f])
        if metric == 0:
            total += d
        elif metric == 1:
            total += d * d
        else:
            total = max(total, d)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _with_error(distance, floor, growth, metric):
    """The largest single-precision distance that may be as small as `distance` in truth (squares if Euclidean)."""
    if metric == 1:
        root = np.sqrt(distance)
        root += 2.0 * (floor + growth * root)
        return root * root * (1.0 + 8.0 * UNIT)
    return (distance + 2.0 * (floor + growth * distance)) * (1.0 + 8.0 * UNIT)


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest_exactly(data, event, candidates, count, selected, metric, chosen, distances):
    """The nearest of the candidates in double precision, ties to the lower index, into `chosen`."""
    k = chosen.size
    for a in range(k):
        distances[a] = np.inf
        chosen[a] = -1
    for s in range(count):
        j = candidates[s]
        d = _exactly(data[event], data[j], selected, metric)
        a = k - 1
        if d > distances[a] or (d == distances[a] and chosen[a] != -1 and j > chosen[a]):
            continue
        while a > 0 and (
            d < distances[a - 1] or (d == distances[a - 1] and (j < chosen[a - 1] or chosen[a - 1] == -1))
        ):
            distances[a] = distances[a - 1]
            chosen[a] = chosen[a - 1]
            a -= 1
        distances[a] = d
        chosen[a] = j


@njit(cache=True, nogil=True, error_model="numpy")
def _vote(chosen, labels):
    """The label that most of the chosen have, the smallest of those."""
    winner = -1
    most = 0
    for a in range(chosen.size):
        label = labels[chosen[a]]
        votes = 0
        for b in range(chosen.size):
            votes += labels[chosen[b]] == label
        if votes > most or (votes == most and label < winner):
            most = votes
            winner = label
    return winner


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_smallest(smallest, value):
    """Insert `value` into the ascending `smallest`, dropping the largest; no branch."""
    for a in range(smallest.size):
        kept = smallest[a]
        smaller = value < kept
        smallest[a] = value if smaller else kept
        value = kept if smaller else value


@njit(cache=True, nogil=True, error_model="numpy")
def _positions(bits, offset, found, count):
    """Append `offset` and the position of each bit that is set to `count` numbers in `found`; return the new count."""
    found[count] = offset + first_bit(bits)
    count += bits != 0
    bits &= bits - 1
    while bits != 0:
        found[count] = offset + first_bit(bits)
        count += 1
        bits &= bits - 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _all_near(rows, i, found, count, metric, near):
    """Distances of row i to the found rows in single precision; squares where the metric is Euclidean."""
    for s in range(count, count + 3):  # they are computed four at a time
        found[s] = i
    if metric == 0:
        for s in range(0, count, 4):
            manhattan(rows, i, found, s, near)
    elif metric == 1:
        for s in range(0, count, 4):
            squared_euclidean(rows, i, found, s, near)
    else:
        for s in range(0, count, 4):
            chebyshev(rows, i, found, s, near)


@njit(cache=True, nogil=True, error_model="numpy")
def _bounds(order, rows, guesses, folds, fold, k, metric, first, last):
    """Bounds, float32[last - first], of the k-th distance of each event of the fold by guesses, in single precision.

    All at once, as the processor then works on several events at a time.
    """
    n, count = guesses.shape
    bounds = np.empty(last - first, np.float32)
    place = np.empty(n, np.int32)
    for i in range(n):
        place[order[i]] = i
    found = np.empty(count + 3, np.int32)
    near = np.empty(count + 3, np.float32)
    smallest = np.empty(k, np.float32)
    for i in range(first, last):
        if fold >= 0 and folds[order[i]] != fold:
            continue
        for g in range(count):
            found[g] = place[guesses[order[i], g]]
        _all_near(rows, i, found, count, metric, near)
        for a in range(k):
            smallest[a] = np.inf
        for g in range(count):
            _keep_smallest(smallest, near[g])
        bounds[i - first] = smallest[k - 1]
    return bounds


@njit(cache=True, nogil=True, error_model="numpy")
def predict(arranged, data, selected, guesses, folds, fold, labels, k, metric, first, last, predicted, neighbours):
    """Predict the label of every event of `fold` (of all events if it is negative) into `predicted`, int64[n].

    `arranged` is what `arrange` made of the events, of which those from `first` to `last` in its order are predicted.
    `data`, float64[n, p], are the events; `selected`, int64[q], the features to use, ascending, at least one;
    `guesses`, int32[n, m], events of other folds that are probably near each event, m may be 0; `folds` and `labels`,
    int64[n], are those of each event. Every event has at least `k` events in other folds. `metric` is MANHATTAN,
    EUCLIDEAN or CHEBYSHEV. `neighbours`, int32[n, k], is filled too, with ascending indices, unless it is empty.
    """
    order, rows, keys, boxes, codes, points, lengths, off, step, floor, slack = arranged
    n, width = order.size, rows.shape[1]
    growth = SAFETY * UNIT * (selected.size + 4.0)
    n_blocks, n_words = rows.shape[0] // BLOCK, boxes.shape[0]
    pairs = points.size // (2 * n_blocks * BLOCK)
    box = 2 * N_KEYS * BLOCK
    size = codes.size // n_blocks
    most_off = 0.0
    per_step = 1.000001 / np.float64(step)
    own_folds = np.empty(n_blocks * BLOCK, np.int32)
    for i in range(n, n_blocks * BLOCK):
        own_folds[i] = -1  # there is no such event: the last block is not full
    for i in range(n):
        own_folds[i] = folds[order[i]]
        most_off = max(most_off, np.float64(off[i]))
    bounds = _bounds(order, rows, guesses, folds, fold, k, metric, first, last)

    smallest = np.empty(k, np.float32)
    found = np.empty(_TOGETHER * BLOCK + _ENOUGH + 4, np.int32)
    near = np.empty(found.size, np.float32)
    kept_events = np.empty(n_blocks * BLOCK + 1, np.int32)
    kept_near = np.empty(n_blocks * BLOCK + 1, np.float32)
    blocks = np.empty(BLOCK + 1, np.int64)
    passed = np.empty(_TOGETHER, np.int64)
    chosen = np.empty(k, np.int64)
    distances = np.empty(k, np.float64)
    candidates = np.empty(n, np.int64)
    lows = np.empty(width, np.uint8)

    for i in range(first, last):
        event = order[i]
        own = own_folds[i]
        if fold >= 0 and own != fold:
            continue
        bound = np.float64(bounds[i - first])  # of the k-th distance in single precision
        home, lane = i // BLOCK, i % BLOCK
        kept = 0
        for a in range(k):
            smallest[a] = np.inf
        blocks[0] = home  # goes first, as it holds near events
        at, n_near = 0, 1
        word, todo = home // BLOCK, n_words
        enough = 1
        while at < n_near or todo > 0:
            limit = _with_error(bound, floor, growth, metric)
            reach = np.sqrt(bound) if metric == 1 else bound
            reach = (reach + floor + growth * reach) * 1.000001 + floor + slack
            code_reach = min((reach + off[i] + most_off) * per_step, 1e9)
            count = 0
            while count < enough:
                if at == n_near:
                    if todo == 0:
                        break
                    if metric == 1:
                        furthest = np.float32(min(reach * reach, 1e38))
                        bits = boxes_by_squares(boxes, word * box, keys, i * N_KEYS, furthest)
                    else:
                        bits = boxes_by_largest(boxes, word * box, keys, i * N_KEYS, np.float32(min(reach, 1e38)))
                    if word == home // BLOCK:
                        bits &= ~(1 << (home % BLOCK))
                    at, n_near = 0, _positions(bits, word * BLOCK, blocks, 0)
                    word = word + 1 if word + 1 < n_words else 0
                    todo -= 1
                    continue
                stop = min(at + _TOGETHER, n_near)
                if metric == 0:
                    query = home * size + slot(lane) * 8
                    most = int(code_reach)
                    for a in range(at, stop):
                        passed[a - at] = within_manhattan(codes, blocks[a] * size, query, size // (8 * BLOCK), most)
                elif metric == 1:
                    query = (home * BLOCK * pairs + lane) * 2
                    most = int(0.5 * min(code_reach * code_reach, 4e9)) + 1 - lengths[i]
                    for a in range(at, stop):
                        passed[a - at] = within_euclidean(points, lengths, blocks[a], query, pairs, most)
                else:
                    side = np.uint8(min(code_reach, 128.0))
                    sides = np.uint8(min(2 * side, 255))
                    for f in range(width):
                        lows[f] = codes[home * size + f * BLOCK + lane] - side
                    for a in range(at, stop):
                        passed[a - at] = within_box(codes, blocks[a] * size, lows, 0, _FIRST_FEATURES, sides)
                    for a in range(at, stop):
                        f = _FIRST_FEATURES
                        while f < width and passed[a - at] != 0:
                            passed[a - at] &= within_box(codes, blocks[a] * size, lows, f, f + _FIRST_FEATURES, sides)
                            f += _FIRST_FEATURES
                for a in range(at, stop):
                    count = _positions(passed[a - at], blocks[a] * BLOCK, found, count)
                at = stop
            enough = _ENOUGH
            _all_near(rows, i, found, count, metric, near)
            before = kept
            for s in range(count):
                j = found[s]
                kept_events[kept] = j
                kept_near[kept] = near[s]
                kept += (near[s] <= limit) & (own_folds[j] != own) & (own_folds[j] >= 0)
            for s in range(before, kept):
                _keep_smallest(smallest, kept_near[s])
            bound = min(bound, np.float64(smallest[k - 1]))

        limit = _with_error(bound, floor, growth, metric)
        close = 0
        for s in range(kept):
            if kept_near[s] <= limit:
                candidates[close] = order[kept_events[s]]
                close += 1
        if close == k:
            for a in range(k):
                chosen[a] = candidates[a]
        else:
            _nearest_exactly(data, event, candidates, close, selected, metric, chosen, distances)
        predicted[event] = _vote(chosen, labels)
        if neighbours.shape[0] > 0:
            for a in range(k):
                b = a
                while b > 0 and neighbours[event, b - 1] > chosen[a]:
                    neighbours[event, b] = neighbours[event, b - 1]
                    b -= 1
                neighbours[event, b] = chosen[a]
