"""Errors of many subsets from a table of log-likelihoods.

The score of a class is a sum over the selected features. Subsets of a batch often share features, above all the
neighbours of one subset: the features common to the batch, its halves, their halves and so on are summed once. A sample
is classified correctly if the score of its own class, which comes first, exceeds all others.
"""

import numpy as np
from numba import uint64

from pqswarm._kernels.compiling import njit
from pqswarm.evaluation.exact.knn.vector_kernels import at_most, first_bit
from pqswarm.evaluation.exact.naive_bayes.kernels import winner

_UNIT = 2.0**-24  # rounding unit of single precision
_SAFETY = 1.1
_ONE = 4096  # a class in a sum of classes, to which its number is added
_FEW = 8  # samples of a block for each error, from which on the classes of errors are found one by one
_CLIPPED = -1e29  # lower scores may include clipped terms


@njit(cache=True, nogil=True, error_model="numpy")
def plan_nb_table_sums(masks, parents, slots, starts, subsets, features):
    """Plan the summation of the features of all `masks`, bool[m, p]; neighbouring masks should be similar.

    Node i, stored in `slots[i]`, is the sum of `parents[i]` (0 is the empty sum) and `features[starts[i] : starts[i +
    1]]`. It is the sum of the mask `subsets[i]`, or -1. Return the numbers of nodes, below 2 m, and of slots.
    """
    n_masks, n_features = masks.shape
    deepest = 3  # of nested halves
    while 1 << (deepest - 3) < n_masks:
        deepest += 1
    included = np.zeros((deepest, n_features), np.bool_)  # features in the sum of each slot
    common = np.empty(n_features, np.bool_)
    todo = np.empty((2 * deepest, 3), np.int64)
    todo[0, 0] = 0  # elements: slices take seconds to compile
    todo[0, 1] = n_masks
    todo[0, 2] = 0
    n_todo = 1
    n_nodes = 0
    n_added = 0
    n_slots = 1
    while n_todo:
        n_todo -= 1
        first, last, slot = todo[n_todo]
        for f in range(n_features):
            common[f] = masks[first, f]
        for row in range(first + 1, last):
            for f in range(n_features):
                common[f] &= masks[row, f]
        new = 0
        for f in range(n_features):
            new += common[f] & ~included[slot, f]
        count = last - first
        if count == 1 or new * (count - 1) > 2:  # else not worth a memory round trip
            parents[n_nodes] = slot
            slots[n_nodes] = slot + 1
            starts[n_nodes] = n_added
            subsets[n_nodes] = first if count == 1 else -1
            for f in range(n_features):
                if common[f] and not included[slot, f]:
                    features[n_added] = f
                    n_added += 1
            n_nodes += 1
            slot += 1
            for f in range(n_features):
                included[slot, f] = common[f]
            n_slots = max(n_slots, slot + 1)
        if count > 1:
            middle = (first + last) >> 1
            todo[n_todo, 0] = middle
            todo[n_todo, 1] = last
            todo[n_todo, 2] = slot
            todo[n_todo + 1, 0] = first
            todo[n_todo + 1, 1] = middle
            todo[n_todo + 1, 2] = slot
            n_todo += 2
    starts[n_nodes] = n_added
    return n_nodes, n_slots


@njit(cache=True, nogil=True, error_model="numpy")
def _add_nb_table_rows(sums, source, target, table, rows, width):
    """Add rows of the table, starting at `rows`, to the sum at `source`, and store the result at `target`."""
    # It vectorises only with unsigned indices, and with += if source and target are the same.
    if rows.size == 0:
        for j in range(width):
            sums[target + j] = sums[source + j]
        return
    a = rows[0]
    for j in range(width):
        sums[target + j] = sums[source + j] + table[a + j]
    for k in range(1, rows.size - 3, 4):
        a = rows[k]
        b = rows[k + 1]
        c = rows[k + 2]
        d = rows[k + 3]
        for j in range(width):
            sums[target + j] += (table[a + j] + table[b + j]) + (table[c + j] + table[d + j])
    for k in range(rows.size - (rows.size - 1) % 4, rows.size):
        a = rows[k]
        for j in range(width):
            sums[target + j] += table[a + j]


@njit(cache=True, nogil=True, error_model="numpy")
def _highest_other_nb_table_score(sums, start, n_classes, samples, most):
    """Fill `most` with the largest score of all classes but the first, for a block of `samples`."""
    for j in range(samples):
        most[j] = sums[start + samples + j]
    c = uint64(2)
    while c + uint64(4) <= n_classes:
        a = start + c * samples
        b = a + samples
        d = a + uint64(2) * samples
        e = a + uint64(3) * samples
        for j in range(samples):
            most[j] = max(max(max(sums[a + j], sums[b + j]), max(sums[d + j], sums[e + j])), most[j])
        c += uint64(4)
    while c < n_classes:
        a = start + c * samples
        for j in range(samples):
            most[j] = max(sums[a + j], most[j])
        c += uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def _find_other_nb_table_class(sums, start, n_classes, samples, lowest, near):
    """Fill `near` with the sum of _ONE + class over the classes but the first whose scores are at least `lowest`."""
    none = np.float32(0.0)
    last = n_classes - uint64(1)
    c = uint64(1)
    for j in range(samples):
        near[j] = none
    while c <= last:  # three at a time, the last one repeatedly, but counted once
        a = start + c * samples
        two = min(c + uint64(1), last)
        three = min(c + uint64(2), last)
        b = start + two * samples
        d = start + three * samples
        k = np.float32(np.float32(_ONE) + np.float32(c))
        p = np.float32(k + np.float32(1.0)) if two > c else none
        q = np.float32(k + np.float32(2.0)) if three > two else none
        for j in range(samples):
            low = lowest[j]
            some = (k if sums[a + j] >= low else none) + (p if sums[b + j] >= low else none)
            near[j] += some + (q if sums[d + j] >= low else none)
        c += uint64(3)


@njit(cache=True, nogil=True, error_model="numpy")
def count_subset_errors(table, shape, span, fold_starts, sizes, highest, tree, cells, counts, hits, doubtful):
    """Add the errors of each subset in each fold to `counts`, int64[m, folds]; return the number of doubtful samples.

    Unless `hits`, int64[h, m, folds * classes], is empty, errors are instead subtracted from all of it by true class
    and, if h is 2, added to hits[1] by predicted class. `cells`, int64[2, n], are the places there of each sample's
    fold and true class.

    `table`, flat float32 of shape (blocks, features + 1, classes, samples), holds the terms of each sample, followed by
    its log prior; the first class is the sample's own; terms are at least -1e30, priors at least -3e38. `shape` are the
    last three sizes, the number of samples, which are ordered by fold from `fold_starts`, int64[folds + 1], and the
    range of those that count. `span` is the range of blocks. `sizes`, int64[m], are those of the subsets; no term
    exceeds `highest`, which is not negative.
    `tree` is what :func:`plan_nb_table_sums` fills and returns. Where rounding could change whether a sample is an
    error, it is not counted, and subset * n + sample goes to `doubtful`, int32, which must be large enough.
    """
    parents, slots, starts, subsets, features, n_nodes, n_slots = tree
    n_rows, n_classes, samples, n, start_sample, end_sample = shape
    width = uint64(n_classes * samples)
    per_class = uint64(samples)
    classes = uint64(n_classes)
    sums = np.empty(n_slots * n_classes * samples, np.float32)
    most = np.empty(samples, np.float32)
    wrong = np.empty(samples, np.int32)
    unsure = np.empty(samples, np.int32)
    lowest = np.empty(samples, np.float32)
    near = np.empty(samples, np.float32)
    is_right = np.ones(samples + 31, np.float32)
    rows = np.empty(features.size, np.uint64)
    n_doubtful = 0
    fold = 0
    for block in range(span[0], span[1]):
        start = uint64(block) * uint64(n_rows) * width
        for k in range(features.size):
            rows[k] = start + uint64(features[k]) * width
        first = block * samples
        begin = max(first, start_sample)
        last = min(end_sample, first + samples)
        while fold_starts[fold + 1] <= begin:
            fold += 1
        prior = start + uint64(n_rows - 1) * width
        for j in range(width):
            sums[j] = table[prior + j]
        for node in range(n_nodes):
            target = uint64(slots[node]) * width
            _add_nb_table_rows(
                sums, uint64(parents[node]) * width, target, table, rows[starts[node] : starts[node + 1]], width
            )
            subset = subsets[node]
            if subset < 0:
                continue
            _highest_other_nb_table_score(sums, target, classes, per_class, most)
            size = sizes[subset] + 1.0
            relative = np.float32(_SAFETY * _UNIT * (size + 3.0))
            # The absolute terms of a sum S total at most |S| + 2 size highest, and two sums are compared.
            fixed = np.float32(relative * 4.0 * size * highest)
            clipped = np.float32(_CLIPPED)
            for j in range(per_class):
                own = sums[target + j]
                other = most[j]
                error = fixed + relative * (abs(own) + abs(other))
                sure = (abs(own - other) > error) & (max(own, other) > clipped)
                unsure[j] = not sure
                wrong[j] = sure & (other > own)
            if hits.shape[0] > 0:
                n_wrong = np.int32(0)
                for j in range(per_class):
                    is_right[j] = np.float32(1 - wrong[j])
                    n_wrong += wrong[j]
                many = n_wrong * _FEW > samples
                if hits.shape[0] > 1:
                    for j in range(per_class):
                        lowest[j] = most[j] - (fixed + np.float32(2.1) * relative * abs(most[j]))
                    if many:
                        _find_other_nb_table_class(sums, target, classes, per_class, lowest, near)
                for some in range(0, samples, 32):
                    bits = at_most(is_right, some, np.float32(0.0))
                    while bits != 0:
                        j = some + first_bit(bits)
                        bits &= bits - 1
                        zero = cells[0, first + j]
                        cell = cells[1, first + j]
                        if hits.shape[0] > 1:
                            others = np.int64(near[j]) if many else 0
                            place = target + uint64(j)
                            for c in range(0 if many else 1, 0 if many else n_classes):
                                place += per_class
                                others += (_ONE + c) * (sums[place] >= lowest[j])
                            if others >= 2 * _ONE:
                                wrong[j] = 0
                                unsure[j] = 1
                                continue
                            guess = zero + others - _ONE
                            hits[1, subset, zero if guess == cell else guess] += 1
                            hits[1, subset, cell] -= 1
                        hits[0, subset, cell] -= 1
            in_doubt = np.int32(0)
            for j in range(uint64(begin - first), uint64(last - first)):  # unsigned, to vectorise
                in_doubt += unsure[j]
            low = begin
            f = fold
            while low < last and hits.shape[0] == 0:
                high = min(last, fold_starts[f + 1])
                errors = np.int32(0)
                for j in range(uint64(low - first), uint64(high - first)):
                    errors += wrong[j]
                counts[subset, f] += errors
                low = high
                f = f + 1
            if in_doubt:
                for j in range(begin - first, last - first):
                    if unsure[j]:
                        doubtful[n_doubtful] = subset * n + first + j
                        n_doubtful += 1
    return n_doubtful


@njit(cache=True, nogil=True, error_model="numpy")
def count_doubtful(table, priors, masks, doubtful, by_fold, labels, folds, counts, hits):
    """Add the errors of doubtful samples, decided by :func:`decide_exactly`, to `counts` and `hits`, as above.

    `doubtful` are numbers subset * samples + sample, samples in the order `by_fold`, int64[n]; `labels` and `folds` are
    in the order of `table` and `priors`.
    """
    n, n_classes = priors.shape
    totals = np.empty(n_classes)
    absolute = np.empty(n_classes)
    selected = np.empty(masks.shape[1], np.int64)
    for number in doubtful:
        subset = number // n
        sample = by_fold[number % n]
        size = 0
        for f in range(masks.shape[1]):
            if masks[subset, f]:
                selected[size] = f
                size += 1
        guess = winner(table, priors, selected[:size], sample, totals, absolute)
        counts[subset, folds[sample]] += guess != labels[sample]
        for part in range(hits.shape[0] if guess != labels[sample] else 0):
            hits[part, subset, folds[sample] * n_classes + labels[sample]] -= 1
            hits[part, subset, folds[sample] * n_classes + guess] += part
