"""Exact k-nearest-neighbour predictions of all events at once: compiled code, arrays in, arrays out.

For one subset of features, every event looks for its nearest events of other folds. Most pairs are never
looked at:

1. Events are sorted by a key that changes by no more than the distance, and cut into blocks of 32
   (``_knn_arrange.py``). Only blocks whose keys are near enough are looked at, from the event's own outwards.
2. How near is known beforehand: the distances to events that are probably near bound the distance to the k-th
   neighbour from above. The bound falls as nearer events are found.
3. Events of a block are tested all at once by codes of few bits (``_knn_filters.py``). Hardly one in a hundred pairs
   passes that is not needed.
4. Distances to what passes are computed in single precision. Only where rounding could change the set of
   neighbours are they computed again in double precision, added in the order of the features as scikit-learn
   does, with ties to the lower index.

Codes and single precision filter and never decide: all their comparisons allow for a bound of their error.
Hence fast-math is harmless in the functions that carry it.
"""

import numpy as np
from numba import njit

from pqswarm.evaluation._knn_arrange import LOOSE, SAFETY, UNIT, arrange
from pqswarm.evaluation._knn_filters import (
    BLOCK,
    chebyshev,
    first_bit,
    manhattan,
    slot,
    squared_euclidean,
    within_box,
    within_euclidean,
    within_manhattan,
)

__all__ = ["CHEBYSHEV", "EUCLIDEAN", "MANHATTAN", "N_PIVOTS", "arrange", "predict"]

MANHATTAN, EUCLIDEAN, CHEBYSHEV = 0, 1, 2
N_PIVOTS = 8
_ENOUGH = 24  # events that pass the tests before their distances are computed
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
def predict(arranged, data, selected, guesses, folds, fold, labels, k, metric, first, last, predicted, neighbours):
    """Predict the label of every event of `fold` (of all events if it is negative) into `predicted`, int64[n].

    `arranged` is what `arrange` made of the events, of which those from `first` to `last` in its order are predicted.
    `data`, float64[n, p], are the events; `selected`, int64[q], the features to use, ascending, at least one;
    `guesses`, int32[n, m], events of other folds that are probably near each event, m may be 0; `folds` and `labels`,
    int64[n], are those of each event. Every event has at least `k` events in other folds. `metric` is MANHATTAN,
    EUCLIDEAN or CHEBYSHEV. `neighbours`, int32[n, k], is filled too, with ascending indices, unless it is empty.
    """
    order, rows, keys, codes, points, off, block_off, step, floor, slack = arranged
    n, width = order.size, rows.shape[1]
    growth = SAFETY * UNIT * (selected.size + 4.0)
    n_blocks = block_off.size
    n_points = points.size // (n_blocks * BLOCK) - 1
    n_guesses = guesses.shape[1]
    per_step = 1.000001 / np.float64(step)
    place = np.empty(n, np.int32)
    own_folds = np.full(n_blocks * BLOCK, -1, np.int32)
    for i in range(n):
        place[order[i]] = i
        own_folds[i] = folds[order[i]]

    smallest = np.empty(k, np.float32)
    found = np.empty(max(_ENOUGH + BLOCK, n_guesses) + 1, np.int32)
    near = np.empty(max(_ENOUGH + BLOCK, n_guesses) + 1, np.float32)
    kept_events = np.empty(n_blocks * BLOCK + 1, np.int32)
    kept_near = np.empty(n_blocks * BLOCK + 1, np.float32)
    chosen = np.empty(k, np.int64)
    distances = np.empty(k, np.float64)
    candidates = np.empty(n, np.int64)
    lows = np.empty(width, np.uint8)

    for i in range(first, last):
        event = order[i]
        own = own_folds[i]
        if fold >= 0 and own != fold:
            continue
        home, lane = i // BLOCK, i % BLOCK
        count = n_guesses
        for g in range(n_guesses):
            found[g] = place[guesses[event, g]]
        bound = limit = np.inf  # of the k-th distance in single precision, and with its error
        kept = -1
        b = home
        towards = 1
        while True:
            if metric == 0:
                for s in range(count):
                    near[s] = manhattan(rows, i, found[s])
            elif metric == 1:
                for s in range(count):
                    near[s] = squared_euclidean(rows, i, found[s])
            else:
                for s in range(count):
                    near[s] = chebyshev(rows, i, found[s])
            if kept < 0:  # the guesses, which will be found again
                smallest[:] = np.inf
                for s in range(count):
                    _keep_smallest(smallest, near[s])
                bound = np.float64(smallest[k - 1])
                smallest[:] = np.inf
                kept = 0
            else:
                for s in range(count):
                    j = found[s]
                    kept_events[kept] = j
                    kept_near[kept] = near[s]
                    if (near[s] <= limit) & (own_folds[j] != own) & (own_folds[j] >= 0):
                        kept += 1
                        _keep_smallest(smallest, near[s])
                bound = min(bound, np.float64(smallest[k - 1]))
            limit = _with_error(bound, floor, growth, metric)
            if b < 0:
                break

            reach = np.sqrt(bound) if metric == 1 else bound
            reach = (reach + floor + growth * reach) * 1.000001 + floor + slack
            lowest, highest = keys[i] - reach, keys[i] + reach
            count = 0
            size = BLOCK * width
            if metric == 1:
                size = BLOCK * (n_points + 1)
                query = home * size + BLOCK + lane
                point_limit = np.float32(0.5000005 * reach * reach - off[i])
            else:
                query = home * size + slot(lane) * 8
                code_reach = min((reach + off[i]) * per_step, 1e9)
                if metric == 2:
                    side = np.uint8(min(code_reach + block_off[0], 128.0))
                    sides = np.uint8(min(2 * side, 255))
                    for f in range(width):
                        lows[f] = codes[home * size + f * BLOCK + lane] - side
            while count < _ENOUGH:
                if towards > 0 and (b == n_blocks or keys[b * BLOCK] > highest):
                    b = home - 1
                    towards = -1
                if towards < 0 and (b < 0 or keys[b * BLOCK + BLOCK - 1] < lowest):
                    b = -1
                    break
                if metric == 0:
                    bits = within_manhattan(codes, b * size, query, width // 8, int(code_reach + block_off[b]))
                elif metric == 1:
                    bits = within_euclidean(points, b * size, query, n_points, point_limit)
                else:
                    bits = within_box(codes, b * size, lows, 0, _FIRST_FEATURES, sides)
                    if bits != 0 and width > _FIRST_FEATURES:
                        bits &= within_box(codes, b * size, lows, _FIRST_FEATURES, width, sides)
                found[count] = b * BLOCK + first_bit(bits)
                count += bits != 0
                bits &= bits - 1
                while bits != 0:
                    found[count] = b * BLOCK + first_bit(bits)
                    count += 1
                    bits &= bits - 1
                b += towards

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
            chosen.sort()
            for a in range(k):
                neighbours[event, a] = chosen[a]
