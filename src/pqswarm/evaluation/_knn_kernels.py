"""Exact k-nearest-neighbour predictions of all events at once: compiled code, arrays in, arrays out.

For one subset of features, every event looks for its nearest events of other folds. Most pairs are never
looked at:

1. Distances of all events to a few far-apart *pivots* are cheap, and |D(i, p) - D(j, p)| <= D(i, j).
   Events are sorted by their distance to one pivot, so that the candidates of an event are a window; the
   other pivots thin the window out. (Under the Chebyshev distance single features take the place of pivots:
   |x_f - y_f| <= D(x, y).)
2. How far the window must reach is known beforehand: the distances to the event's nearest events in
   the space of all features bound the distance to its k-th neighbour from above.
3. Distances to what is left are computed in single precision. Only where rounding could change the set of
   neighbours are they computed again in double precision, added in the order of the features as scikit-learn
   does, with ties to the lower index.

Single precision filters and never decides: all its comparisons allow for a bound of its rounding error.
Hence fast-math is harmless in the functions that carry it.
"""

import numpy as np
from numba import njit

__all__ = ["CHEBYSHEV", "EUCLIDEAN", "MANHATTAN", "N_PIVOTS", "predict"]

MANHATTAN, EUCLIDEAN, CHEBYSHEV = 0, 1, 2
N_PIVOTS = 8
_LOOSE = {"reassoc", "nsz", "contract", "arcp", "nnan"}
_UNIT = 2.0**-24  # rounding unit of single precision
_SAFETY = 1.1
_BUCKETS = 2048


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _manhattan(a, b, width):
    total = np.float32(0.0)
    for f in range(width):
        total += abs(a[f] - b[f])
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _squared_euclidean(a, b, width):
    total = np.float32(0.0)
    for f in range(width):
        d = a[f] - b[f]
        total += d * d
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _chebyshev(a, b, width):
    largest = np.float32(0.0)
    for f in range(width):
        d = abs(a[f] - b[f])
        largest = d if d > largest else largest
    return largest


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _all_near(rows, i, found, count, width, metric, near):
    """Distances of row i to the found rows in single precision; squares where the metric is Euclidean."""
    row = rows[i]  # one loop per metric: a choice inside the loop would keep it from being vectorised
    if metric == 0:
        for s in range(count):
            near[s] = _manhattan(row, rows[found[s]], width)
    elif metric == 1:
        for s in range(count):
            near[s] = _squared_euclidean(row, rows[found[s]], width)
    else:
        for s in range(count):
            near[s] = _chebyshev(row, rows[found[s]], width)


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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _pivot_distances(columns, pivots, metric, distances):
    """Fill distances[p, i] with the distance of event i to pivot p (Manhattan or Euclidean)."""
    n = columns.shape[1]
    distances[:, :] = 0.0
    for p in range(pivots.size):
        row = distances[p]
        for f in range(columns.shape[0]):
            column = columns[f]
            centre = column[pivots[p]]
            if metric == 0:
                for i in range(n):
                    row[i] += abs(column[i] - centre)
            else:
                for i in range(n):
                    d = column[i] - centre
                    row[i] += d * d
        if metric == 1:
            for i in range(n):
                row[i] = np.sqrt(row[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _variance(values):
    total = np.float32(0.0)
    squares = np.float32(0.0)
    for value in values:
        total += value
        squares += value * value
    return squares / values.size - (total / values.size) * (total / values.size)


@njit(cache=True, nogil=True, error_model="numpy")
def _widest_features(columns, coordinates):
    """Fill `coordinates` with the features of largest variance, which bound Chebyshev distances better than pivots."""
    q = columns.shape[0]
    variances = np.empty(q)
    for f in range(q):
        variances[f] = _variance(columns[f])
    order = np.argsort(-variances)
    for p in range(coordinates.shape[0]):
        column = columns[order[p % q]]
        for i in range(column.size):  # to assign it as a whole takes five seconds to compile
            coordinates[p, i] = column[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _widest(distances):
    """The row whose values vary most: sorting by it leaves the shortest windows."""
    best = 0
    for p in range(1, distances.shape[0]):
        if _variance(distances[p]) > _variance(distances[best]):
            best = p
    return best


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _mark_possible(sides, i, first, last, reach, marks):
    """marks[j] = whether event first + j can lie within `reach` of event i, by its distances to the pivots."""
    a0, a1, a2, a3 = sides[0, i], sides[1, i], sides[2, i], sides[3, i]
    a4, a5, a6, a7 = sides[4, i], sides[5, i], sides[6, i], sides[7, i]
    s0, s1, s2, s3 = sides[0, first:last], sides[1, first:last], sides[2, first:last], sides[3, first:last]
    s4, s5, s6, s7 = sides[4, first:last], sides[5, first:last], sides[6, first:last], sides[7, first:last]
    for j in range(last - first):
        a = abs(s0[j] - a0)
        b = abs(s1[j] - a1)
        c = abs(s2[j] - a2)
        d = abs(s3[j] - a3)
        a = a if a > b else b
        c = c if c > d else d
        a = a if a > c else c
        b = abs(s4[j] - a4)
        c = abs(s5[j] - a5)
        d = abs(s6[j] - a6)
        e = abs(s7[j] - a7)
        b = b if b > c else c
        d = d if d > e else e
        b = b if b > d else d
        a = a if a > b else b
        marks[j] = a <= reach


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(marks, words, n, offset, found):
    """Collect offset + j where marks[j]; `words` are the marks eight at a time, most of which are zero."""
    for j in range(n, (n + 7) // 8 * 8):
        marks[j] = 0
    count = 0
    for w in range((n + 7) // 8):
        if words[w] != 0:
            for j in range(8 * w, 8 * w + 8):
                found[count] = offset + j
                count += marks[j]
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _bucket(distance, per_unit):
    """The bucket of a distance from the lowest value; it grows with the distance."""
    return int(min(max(distance * per_unit, np.float32(0.0)), np.float32(_BUCKETS - 1)))


@njit(cache=True, nogil=True, error_model="numpy")
def _bucket_starts(values, lowest, per_unit, starts):
    """starts[b] = number of the ascending `values` in buckets below b."""
    starts[:] = 0
    for value in values:
        starts[_bucket(value - lowest, per_unit) + 1] += 1
    for b in range(1, starts.size):
        starts[b] += starts[b - 1]


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_smallest(smallest, value):
    """Insert `value` into the ascending `smallest`, dropping the largest; no branch."""
    for a in range(smallest.size):
        kept = smallest[a]
        smaller = value < kept
        smallest[a] = value if smaller else kept
        value = kept if smaller else value


@njit(cache=True, nogil=True, error_model="numpy")
def _with_error(distance, floor, growth, metric):
    """The largest single-precision distance that may be as small as `distance` in truth (squares if Euclidean)."""
    if metric == 1:
        root = np.sqrt(distance)
        root += 2.0 * (floor + growth * root)
        return root * root * (1.0 + 8.0 * _UNIT)
    return (distance + 2.0 * (floor + growth * distance)) * (1.0 + 8.0 * _UNIT)


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
def predict(data, columns, exponents, selected, pivots, guesses, folds, fold, labels, k, metric, predicted, neighbours):
    """Predict the label of every event of `fold` (of all events if it is negative) into `predicted`, int64[n].

    The events are given twice: `data`, float64[n, p], and `columns`, float32[p, n], each feature centred and divided by
    2 ** `exponents`, int64[p], so that it goes from -1 to 1. `selected`, int64[q], are the features to use, ascending,
    at least one; `pivots`, int64[N_PIVOTS], events far from each other; `guesses`, int64[n, m], events of other folds
    that are probably near each event, m may be 0; `folds` and `labels`, int64[n], are those of each event. Every event
    has at least `k` events in other folds. `metric` is MANHATTAN, EUCLIDEAN or CHEBYSHEV. `neighbours`, int64[n, k], is
    filled too, in no particular order, unless it is empty.
    """
    n = data.shape[0]
    q = selected.size
    width = (q + 7) // 8 * 8

    # Single precision sees the selected features on a common scale, the largest of them from -1 to 1: no
    # distance overflows, and what underflows is far below the error that is allowed for.
    largest = exponents[selected].max()
    near_columns = np.empty((q, n), np.float32)
    size = 0.0  # of the largest possible rounded coordinates, by the norm of the metric
    for f in range(q):
        factor = 2.0 ** max(exponents[selected[f]] - largest, -200)
        for i in range(n):
            near_columns[f, i] = columns[selected[f], i] * np.float32(factor)
        size = size + factor if metric == 0 else (np.hypot(size, factor) if metric == 1 else 1.0)

    unsorted = np.empty((N_PIVOTS, n), np.float32)
    if metric == 2:
        _widest_features(near_columns, unsorted)
    else:
        _pivot_distances(near_columns, pivots, metric, unsorted)
    lead = _widest(unsorted)
    order = np.argsort(unsorted[lead])
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    sides = np.empty((N_PIVOTS, n), np.float32)
    for p in range(N_PIVOTS):
        source = unsorted[lead if p == 0 else (0 if p == lead else p)]
        for i in range(n):
            sides[p, i] = source[order[i]]
    rows = np.zeros((n, width), np.float32)
    for f in range(q):
        column = near_columns[f]
        for i in range(n):
            rows[i, f] = column[order[i]]

    # Error of a single-precision distance d: `floor` from rounding the data, `growth` d from the sums.
    floor = _SAFETY * 3.0 * _UNIT * size + 1e-30
    growth = _SAFETY * _UNIT * (q + 4.0)
    farthest = 0.0
    for p in range(N_PIVOTS):
        farthest = max(farthest, np.abs(sides[p]).max())
    bound_error = 2.0 * (floor + growth * farthest)

    # Where the window of an event begins and ends is looked up in buckets of the leading pivot's distance.
    starts = np.empty(_BUCKETS + 1, np.int64)
    lowest = sides[0, 0]
    per_unit = np.float32(_BUCKETS / max(sides[0, n - 1] - lowest, 1e-30))
    _bucket_starts(sides[0], lowest, per_unit, starts)

    marks = np.zeros((n + 15) // 8 * 8, np.uint8)
    words = marks.view(np.uint64)
    found = np.empty(n + 1, np.int64)
    near = np.empty(n + 1, np.float32)
    smallest = np.empty(k, np.float32)
    chosen = np.empty(k, np.int64)
    distances = np.empty(k, np.float64)
    candidates = np.empty(n, np.int64)

    for i in range(n):
        event = order[i]
        own = folds[event]
        if fold >= 0 and own != fold:
            continue
        for g in range(guesses.shape[1]):
            found[g] = place[guesses[event, g]]
        _all_near(rows, i, found, guesses.shape[1], width, metric, near)
        smallest[:] = np.inf
        for g in range(guesses.shape[1]):
            _keep_smallest(smallest, near[g])
        known = np.float64(smallest[k - 1])
        if metric == 1:
            known = np.sqrt(known)
        if known < np.inf:
            reach = np.float32(known + floor + growth * known + bound_error)
            first = starts[_bucket(sides[0, i] - reach - lowest, per_unit)]
            last = starts[_bucket(sides[0, i] + reach - lowest, per_unit) + 1]
            _mark_possible(sides, i, first, last, reach, marks)
            count = _collect(marks, words, last - first, first, found)
        else:
            count = n
            for j in range(n):
                found[j] = j
        _all_near(rows, i, found, count, width, metric, near)

        # Keep what may be among the nearest: all within the error of the k-th distance so far.
        smallest[:] = np.inf
        limit = _with_error(known * known if metric == 1 else known, floor, growth, metric)
        kept = 0
        for s in range(count):
            if near[s] <= limit and folds[order[found[s]]] != own:
                found[kept] = found[s]
                near[kept] = near[s]
                kept += 1
                _keep_smallest(smallest, near[s])
                if smallest[k - 1] < np.inf:
                    limit = min(limit, _with_error(np.float64(smallest[k - 1]), floor, growth, metric))
        close = 0
        for s in range(kept):
            if near[s] <= limit:
                candidates[close] = order[found[s]]
                close += 1
        if close == k:
            for a in range(k):
                chosen[a] = candidates[a]
        else:
            _nearest_exactly(data, event, candidates, close, selected, metric, chosen, distances)
        predicted[event] = _vote(chosen, labels)
        if neighbours.shape[0] > 0:
            for a in range(k):
                neighbours[event, a] = chosen[a]
