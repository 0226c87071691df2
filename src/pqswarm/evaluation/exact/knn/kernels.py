"""Exact k-nearest-neighbor predictions of all samples for one subset of features.

Each sample searches its nearest samples of other folds. Most pairs are skipped:

1. Nearby samples are grouped into blocks of 32 (``filter_kernels.py``). Distant blocks are skipped as a whole.
2. The distances to likely neighbors, those in the space of all features, bound the distance to the k-th neighbor
   from above. The bound shrinks as nearer samples are found, starting with the sample's own block.
3. The 32 samples of a block are tested together by codes of few bits. About one pair in two
   hundred passes.
4. The remaining distances are computed in single precision. Where rounding could change the set of neighbors, they
   are computed again in double precision, in the order of the features as in scikit-learn, with ties to the lower
   index.

Codes and single precision filter, but never decide: all comparisons allow for a bound on their error. Fast-math is
therefore harmless in the functions that use it. ``tests/reference/definitions.py`` holds the plain version.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.vectors import bits_at_most, first_bit
from pqswarm.evaluation.exact.knn.filter_kernels import (
    BLOCK,
    N_KEYS,
    SAFETY,
    UNIT,
    knn_boxes_by_largest,
    knn_boxes_by_squares,
    knn_chebyshev,
    knn_filter_by_box,
    knn_filter_by_euclidean,
    knn_filter_by_manhattan,
    knn_filter_slot,
    knn_manhattan,
    knn_squared_euclidean,
)

_WORDS = 8  # of 32 blocks, searched before the bounds are updated
_FIRST_FEATURES = 8  # of a Chebyshev distance, the widest, which usually suffice to reject a block


@njit(inline="always", error_model="numpy")
def _exact_knn_distance(data, i, j, selected, metric):
    """Distance of two samples in double precision, term by term; squared if Euclidean."""
    total = 0.0
    for f in selected:
        d = abs(data[i, f] - data[j, f])
        if metric == 0:
            total += d
        elif metric == 1:
            total += d * d
        else:
            total = max(total, d)
    return total


@njit(inline="always", error_model="numpy")
def _knn_distance_with_error(distance, floor, growth, metric):
    """The largest single-precision distance that may truly be as small as `distance` (squares if Euclidean)."""
    if metric == 1:
        root = np.sqrt(distance)
        root += 2.0 * (floor + growth * root)
        return root * root * (1.0 + 8.0 * UNIT)
    return (distance + 2.0 * (floor + growth * distance)) * (1.0 + 8.0 * UNIT)


@njit(inline="always", error_model="numpy")
def _nearest_knn_exactly(data, sample, candidates, count, selected, metric, chosen, distances):
    """The nearest of the candidates in double precision, ties to the lower index, into `chosen`."""
    for a in range(chosen.size):
        distances[a] = np.inf
        chosen[a] = len(data)  # farther than any sample
    for s in range(count):
        j = candidates[s]
        d = _exact_knn_distance(data, sample, j, selected, metric)
        for a in range(chosen.size):  # what is farther moves on by one place
            other = chosen[a]
            apart = distances[a]
            if d < apart or (d == apart and j < other):
                distances[a] = d
                chosen[a] = j
                d = apart
                j = other


@njit(inline="always", error_model="numpy")
def _knn_vote(chosen, labels):
    """The most frequent label of the chosen samples; of equal votes the smallest."""
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


@njit(inline="always", error_model="numpy")
def _keep_smallest_knn_distance(smallest, t, value):
    """Insert `value` into the ascending row t of `smallest`, dropping the largest; no branch."""
    for a in range(smallest.shape[1]):
        kept = smallest[t, a]
        smaller = value < kept
        smallest[t, a] = value if smaller else kept
        value = kept if smaller else value


@njit(inline="always", error_model="numpy")
def _append_knn_positions(bits, offset, positions, count):
    """Append `offset` plus the position of each set bit to the `count` numbers in `positions`; return the new count."""
    positions[count] = offset + first_bit(bits)
    count += bits != 0
    bits &= bits - 1
    while bits != 0:
        positions[count] = offset + first_bit(bits)
        count += 1
        bits &= bits - 1
    return count


@njit(inline="always", error_model="numpy")
def _near_knn_distances(rows, samples, n_samples, nearby, starts, metric, near):
    """Distances of each sample to those found for it, in single precision; squared if Euclidean.

    Four are computed at a time; those beyond the last of a sample are overwritten by those of the next.
    """
    for s in range(starts[n_samples], starts[n_samples] + 3):
        nearby[s] = 0  # any sample, if there is no next
    for t in range(n_samples):
        if metric == 0:
            for s in range(starts[t], starts[t + 1], 4):
                knn_manhattan(rows, samples[t], nearby, s, near)
        elif metric == 1:
            for s in range(starts[t], starts[t + 1], 4):
                knn_squared_euclidean(rows, samples[t], nearby, s, near)
        else:
            for s in range(starts[t], starts[t + 1], 4):
                knn_chebyshev(rows, samples[t], nearby, s, near)


@njit(inline="always", error_model="numpy")
def _find_near_knn_blocks(boxes, keys, samples, n_samples, reaches, metric, first, n_words, blocks, starts):
    """Collect the blocks with samples within reach of each sample, in `n_words` words of 32 from word `first` on."""
    size = boxes.shape[1] * BLOCK
    count = 0
    for t in range(n_samples):
        reach = reaches[t] if reaches[t] < 1e19 else 1e19
        place = samples[t] * N_KEYS
        own = samples[t] // BLOCK
        for w in range(first, first + n_words):
            word = w if w < boxes.shape[0] else w - boxes.shape[0]
            if metric == 1:
                bits = knn_boxes_by_squares(boxes, word * size, keys, place, np.float32(reach * reach))
            else:
                bits = knn_boxes_by_largest(boxes, word * size, keys, place, np.float32(reach))
            if word == own // BLOCK:
                bits &= ~(1 << (own % BLOCK))
            count = _append_knn_positions(bits, word * BLOCK, blocks, count)
        starts[t + 1] = count


@njit(inline="always", error_model="numpy")
def _test_knn_blocks(
    codes, points, lengths, width, samples, n_samples, code_reaches, metric, blocks, starts, lows, passed
):
    """Set `passed` to the bits of the samples of each block that pass the tests; `width` is the size of a code."""
    size = BLOCK * width
    if metric == 0:
        for t in range(n_samples):
            query = samples[t] // BLOCK * size + knn_filter_slot(samples[t] % BLOCK) * 8
            most = np.int64(code_reaches[t] if code_reaches[t] < 1e9 else 1e9)
            for b in range(starts[t], starts[t + 1]):
                passed[b] = knn_filter_by_manhattan(codes, blocks[b] * size, query, width // 8, most)
    elif metric == 1:
        for t in range(n_samples):
            query = samples[t] // BLOCK * size + samples[t] % BLOCK * 2
            square = code_reaches[t] * code_reaches[t]
            most = np.int64(0.5 * square if square < 4e9 else 2e9) + 1 - lengths[samples[t]]
            for b in range(starts[t], starts[t + 1]):
                passed[b] = knn_filter_by_euclidean(points, lengths, blocks[b], query, width // 2, most)
    else:
        for t in range(n_samples):
            side = min(int(min(code_reaches[t], 128.0)), 128)
            sides = np.uint8(min(2 * side, 255))
            place = samples[t] // BLOCK * size + samples[t] % BLOCK
            for f in range(width):
                lows[f * BLOCK + t] = codes[place + f * BLOCK] - np.uint8(side)
            for b in range(starts[t], starts[t + 1]):
                passed[b] = knn_filter_by_box(codes, blocks[b] * size, lows, t, 0, _FIRST_FEATURES, sides)
        for t in range(n_samples):
            sides = np.uint8(min(2 * int(min(code_reaches[t], 128.0)), 255))
            for b in range(starts[t], starts[t + 1]):
                f = _FIRST_FEATURES
                while f < width and passed[b] != 0:
                    passed[b] &= knn_filter_by_box(codes, blocks[b] * size, lows, t, f, f + _FIRST_FEATURES, sides)
                    f += _FIRST_FEATURES


def _make_knn_prediction(metric):
    """A compiled function that predicts samples by one metric; the others are not compiled with it."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def predict(arranged, data, selected, guesses, folds, tested, labels, first, last, scratch, predicted, neighbors):
        """Predict the label of every sample of the folds from `tested[0]` up to `tested[1]` into `predicted`, int64[n].

        `arranged` is the result of `KNNArrangement.arrange`; samples `first` to `last` in its order are predicted.
        `data`, float64[n, p], are the samples; `selected`, int64[q], the features, ascending, at least one; `guesses`,
        int32[n, m], likely neighbors of other folds, m may be 0; `folds` and `labels`, int64[n], those of each sample.
        Every sample has at least k samples in other folds. `scratch` is the result of `knn_scratch`. `neighbors`,
        int32[n, k], is filled with indices in any order unless it is empty.

        Up to 32 samples are processed together, step by step, for instruction-level parallelism.
        """
        order, rows, keys, boxes, codes, points, lengths, off, step, floor, slack = arranged
        samples, kept, starts, block_starts, chosen, candidates, blocks, passed = scratch[0]
        place, own_folds, nearby, kept_samples = scratch[2]
        bounds, limits, reaches, code_reaches, distances, smallest, near, kept_near, lows = scratch[1]
        n_guesses = guesses.shape[1]
        k = chosen.size
        growth = SAFETY * UNIT * (selected.size + 4.0)
        n_words = boxes.shape[0]
        width = lows.size // BLOCK
        per_step = 1.000001 / np.float64(step)
        most_off = 0.0
        for i in range(order.size):
            place[order[i]] = i
            own_folds[i] = folds[order[i]]
            most_off = max(most_off, np.float64(off[i]))
        while first < last:
            n_samples = 0
            while n_samples < BLOCK and first < last:
                samples[n_samples] = first
                n_samples += tested[0] <= own_folds[first] < tested[1]
                first += 1
            for t in range(n_samples):
                kept[t] = 0
                bounds[t] = np.inf
                starts[t + 1] = starts[t] + n_guesses
                for g in range(n_guesses):
                    nearby[starts[t] + g] = place[guesses[order[samples[t]], g]]
            word = samples[0] // (BLOCK * BLOCK)
            for turn in range(-1, 1 + -(-n_words // _WORDS)):  # guesses, own block, all other blocks
                if turn == 0:
                    for t in range(n_samples):
                        blocks[t] = samples[t] // BLOCK
                        block_starts[t + 1] = t + 1
                elif turn > 0:
                    rest = n_words - (turn - 1) * _WORDS
                    todo = rest if rest < _WORDS else _WORDS
                    _find_near_knn_blocks(
                        boxes, keys, samples, n_samples, reaches, metric, word, todo, blocks, block_starts
                    )
                    word = (word + todo) % n_words
                if turn >= 0:
                    _test_knn_blocks(
                        codes, points, lengths, width, samples, n_samples, code_reaches, metric, blocks, block_starts,
                        lows, passed,
                    )  # fmt: skip
                    for t in range(n_samples):
                        count = starts[t]
                        for b in range(block_starts[t], block_starts[t + 1]):
                            count = _append_knn_positions(passed[b], blocks[b] * BLOCK, nearby, count)
                        starts[t + 1] = count
                _near_knn_distances(rows, samples, n_samples, nearby, starts, metric, near)
                for t in range(n_samples):
                    if turn <= 0:  # guesses are found again later
                        for a in range(k):
                            smallest[t, a] = np.inf
                    if turn < 0:
                        for s in range(starts[t], starts[t + 1]):
                            _keep_smallest_knn_distance(smallest, t, near[s])
                        continue
                    own = own_folds[samples[t]]
                    count = kept[t]
                    limit = np.float32(limits[t]) * np.float32(1.000001)
                    for s in range(starts[t], starts[t + 1], BLOCK):
                        rest = starts[t + 1] - s
                        bits = bits_at_most(near, s, limit) & ((1 << (rest if rest < BLOCK else BLOCK)) - 1)
                        while bits != 0:
                            at = s + first_bit(bits)
                            bits &= bits - 1
                            kept_samples[t, count] = nearby[at]
                            kept_near[t, count] = near[at]
                            count += (own_folds[nearby[at]] != own) & (own_folds[nearby[at]] >= 0)
                    for s in range(kept[t], count):
                        _keep_smallest_knn_distance(smallest, t, kept_near[t, s])
                    kept[t] = count
                for t in range(n_samples):
                    found = np.float64(smallest[t, k - 1])
                    bounds[t] = found if found < bounds[t] else bounds[t]
                    limits[t] = _knn_distance_with_error(bounds[t], floor, growth, metric)
                    reach = np.sqrt(bounds[t]) if metric == 1 else bounds[t]
                    reaches[t] = (reach + floor + growth * reach) * 1.000001 + floor + slack
                    code_reaches[t] = (reaches[t] + off[samples[t]] + most_off) * per_step

            for t in range(n_samples):
                sample = order[samples[t]]
                close = 0
                for s in range(kept[t]):
                    candidates[close] = order[kept_samples[t, s]]
                    close += kept_near[t, s] <= limits[t]
                if close == k:
                    for a in range(k):
                        chosen[a] = candidates[a]
                else:
                    _nearest_knn_exactly(data, sample, candidates, close, selected, metric, chosen, distances)
                predicted[sample] = _knn_vote(chosen, labels)
                if neighbors.shape[0] > 0:
                    for a in range(k):
                        neighbors[sample, a] = chosen[a]

    return predict


PREDICT_KNN = tuple(_make_knn_prediction(metric) for metric in range(3))
"""The compiled functions that predict samples, by the number of the metric."""


def knn_scratch(n, n_guesses, k, width):
    """Return arrays for the intermediate results of `PREDICT_KNN`; `width` is the size of a code."""
    padded = -(-n // BLOCK) * BLOCK
    most = _WORDS * BLOCK * BLOCK
    room = BLOCK * max(min(most, n + BLOCK), n_guesses) + 4
    integers = (
        np.empty(BLOCK, np.int64),  # samples
        np.empty(BLOCK, np.int64),  # number of samples kept for each
        np.zeros(BLOCK + 1, np.int64),  # starts of their parts of the nearby samples
        np.zeros(BLOCK + 1, np.int64),  # and of the blocks
        np.empty(k, np.int64),  # chosen neighbors
        np.empty(n + 1, np.int64),  # candidates
        np.empty(most + 1, np.int64),  # blocks
        np.empty(most, np.int64),  # bits of the samples of each block that passed
    )
    reals = (
        np.empty(BLOCK),  # bounds of the k-th distance in single precision
        np.empty(BLOCK),  # with its error
        np.empty(BLOCK),  # in keys
        np.empty(BLOCK),  # in codes
        np.empty(k),  # distances of the chosen
        np.empty((BLOCK, k), np.float32),  # smallest distances
        np.empty(room + BLOCK, np.float32),  # distances of nearby samples
        np.empty((BLOCK, n + 1), np.float32),  # and of kept ones
        np.empty(BLOCK * width, np.uint8),  # codes of the samples
    )
    indices = (
        np.empty(n, np.int32),  # positions of samples in the order
        np.full(padded, -1, np.int32),  # folds in this order; -1 for padding, since the last block is not full
        np.zeros(room, np.int32),  # nearby samples
        np.empty((BLOCK, n + 1), np.int32),  # kept samples
    )
    return integers, reals, indices
