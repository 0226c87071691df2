"""Naive Bayes from tables of log-likelihoods.

The log-likelihood of a sample under a class is a sum over features. With fixed folds, each term of kernel densities is
computed once, and summed in single precision; where rounding could change the result, the terms are summed again in
double precision. Subsets of a batch often share features, above all the neighbors of one subset: the features common
to the batch, its halves, their halves and so on are summed once. A sample is classified correctly if the score of its
own class, which comes first, exceeds all others.
"""

from math import factorial

import numpy as np
from numba import uint64

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.math import exponential, logarithm
from pqswarm._kernels.vectors import bits_at_most, first_bit

_EQUAL = 1e-12  # relative to the sum of absolute terms: a hundred times their rounding
_NEGLIGIBLE = 50.0  # terms below exp(-50) of the largest do not change a sum of a million
_FARTHEST = 1e300  # half a squared distance, in bandwidths, beyond which all are equal
_SAMPLES = 512  # per block of normal densities: their columns fit into the cache
_AT_ONCE = 16  # exponentials computed together, for vectorization
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_EVEN = tuple(1.0 / factorial(k) for k in range(12, 1, -2))  # factors of the series of exp, from the square on,
_ODD = tuple(1.0 / factorial(k) for k in range(13, 2, -2))  # and from the cube on


@njit(cache=True, nogil=True, error_model="numpy")
def _nb_exponentials(powers, n, bits, out):
    """out[:n] = exp(-powers[:n]) for powers from 0 to 600; without calls or branches, to vectorize.

    exp(-x) = 2^k exp(r) with |r| <= 0.35, where the series has an error below 5e-18 after the 13th power. Products and
    sums are not fused: the result is the same on every processor.
    """
    for i in range(n):
        k = np.floor(0.5 - powers[i] * _LOG2_E)
        bits[i] = np.int64(k + 1023.0) << 52
        r = (-powers[i] - k * _LN2_HIGH) - k * _LN2_LOW
        square = r * r
        even = _EVEN[0]  # two short chains run in parallel
        odd = _ODD[0]
        for term, other in zip(_EVEN[1:], _ODD[1:]):  # noqa: B905
            even = even * square + term
            odd = odd * square + other
        out[i] = 1.0 + (r + square * (even + r * odd))
    scales = bits.view(np.float64)
    for i in range(n):
        out[i] *= scales[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _find_nb_position(values, low, high, x):
    """The first position from `low` to `high` whose value is not below x."""
    while low < high:
        middle = (low + high) >> 1
        below = values[middle] < x
        low = middle + 1 if below else low
        high = high if below else middle
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _nb_sum_of_other_folds(parts, folds, fold):
    """Sum of the parts of other folds, in double-double precision, so that order does not matter."""
    total = 0.0
    lost = 0.0
    for j in range(folds.size):
        part = parts[j] if folds[j] != fold else 0.0
        grown = total + part
        shadow = grown - total
        lost += (total - (grown - shadow)) + (part - shadow)
        total = grown
    return total + lost


@njit(cache=True, nogil=True, error_model="numpy")
def kernel_nb_terms(queries, query_folds, values, value_folds, starts, log_counts, width, terms):
    """Fill `terms`, float64[m, classes], with the log-likelihood of each query under each class, for one feature.

    The density of a class is the mean of normal densities of bandwidth `width` around its training samples: all but
    those in the query's own fold, `query_folds`, int64[m] (-1: none). The training samples are `values`, class by class
    from `starts`, int64[classes + 1], ascending within each, bracketed by -inf and inf; `value_folds` are their folds.
    `log_counts`, float64[folds + 1, classes], is the log number of training samples without each fold, the last row for
    all. A class without training samples has -inf and gets the term 0.
    """
    constant = logarithm(width * np.sqrt(2.0 * np.pi))
    per_width = 1.0 / width
    most = values.size + _AT_ONCE
    powers = np.zeros(most)
    bits = np.empty(most, np.int64)
    parts = np.empty(most)
    for i in range(queries.size):
        x = queries[i]
        fold = query_folds[i]
        for c in range(starts.size - 1):
            if log_counts[fold, c] == -np.inf:
                terms[i, c] = 0.0
                continue
            first = starts[c] + 1
            last = starts[c + 1] - 1
            right = _find_nb_position(values, first, last, x)
            left = right - 1
            while value_folds[left] == fold:
                left -= 1
            while value_folds[right] == fold:
                right += 1
            z0 = min(x - values[left], values[right] - x) * per_width
            nearest = min(0.5 * z0 * z0, _FARTHEST)
            reach = np.sqrt(z0 * z0 + 2.0 * _NEGLIGIBLE) * width
            # Far away, rounding could put the nearest out of reach.
            low = min(_find_nb_position(values, first, last, x - reach), max(left, first))
            high = max(_find_nb_position(values, first, last, x + reach), min(right + 1, last))
            # It could also exclude others of equal value; otherwise these loops end at once.
            while low > first and values[low - 1] == values[low]:
                low -= 1
            while high < last and values[high] == values[high - 1]:
                high += 1
            near = values[low:high]
            for j in range(near.size):
                z = abs(near[j] - x) * per_width
                # Samples of the query's own fold may be nearer; they are excluded below.
                powers[j] = min(max(0.5 * (z - z0) * (z + z0), 0.0), 600.0)
            _nb_exponentials(powers, -(-near.size // _AT_ONCE) * _AT_ONCE, bits, parts)
            others = logarithm(_nb_sum_of_other_folds(parts, value_folds[low:high], fold))
            terms[i, c] = (others - log_counts[fold, c]) - nearest - constant


@njit(cache=True, nogil=True, error_model="numpy")
def _gaussian_nb_constants(selected, variances, smoothing, log_priors, weights, constants):
    """Fill the weights of squared deviations and the constants of the scores in one fold; return the largest constant.

    Logarithms are taken of products of as many factors as a double can hold.
    """
    size = 0.0
    for c in range(constants.size):
        constant = log_priors[c]
        product = 1.0
        if constant > -np.inf:
            for k in range(selected.size):
                variance = variances[selected[k], c] + smoothing
                weights[c, k] = 0.5 / variance
                factor = 2.0 * np.pi * variance
                if not 1e-290 < product * factor < 1e290:
                    constant -= 0.5 * logarithm(product)
                    size = max(size, abs(constant))
                    product = 1.0
                product *= factor
            constant -= 0.5 * logarithm(product)
            size = max(size, abs(constant))
        constants[c] = constant
    return size


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add_nb_deviations(columns, first, selected, means, weights, sums):
    """Add the weighted squares of deviations from the means to `sums`, float64[n], for n samples from `first`."""
    last = first + sums.size
    for k in range(0, selected.size - 3, 4):
        one = columns[selected[k], first:last]
        two = columns[selected[k + 1], first:last]
        three = columns[selected[k + 2], first:last]
        four = columns[selected[k + 3], first:last]
        mean_1 = means[k]
        mean_2 = means[k + 1]
        mean_3 = means[k + 2]
        mean_4 = means[k + 3]
        weight_1 = weights[k]
        weight_2 = weights[k + 1]
        weight_3 = weights[k + 2]
        weight_4 = weights[k + 3]
        for i in range(sums.size):
            a = one[i] - mean_1
            b = two[i] - mean_2
            c = three[i] - mean_3
            d = four[i] - mean_4
            sums[i] += (a * a * weight_1 + b * b * weight_2) + (c * c * weight_3 + d * d * weight_4)
    for k in range(selected.size // 4 * 4, selected.size):
        column = columns[selected[k], first:last]
        mean = means[k]
        weight = weights[k]
        for i in range(sums.size):
            a = column[i] - mean
            sums[i] += a * a * weight


@njit(cache=True, nogil=True, error_model="numpy")
def mix_uniform_into_nb_densities(values, floor):
    """Mix densities, given by their logarithms, float64[n], with a fraction `floor` of a uniform one.

    The result is log((1 - floor) exp(term) + floor), to about 1e-16 of max(1, |result|).
    """
    highest = logarithm(1.0 - floor)
    lowest = logarithm(floor)
    for i in range(values.size):
        kept = values[i] + highest
        values[i] = max(kept, lowest) + logarithm(1.0 + exponential(-abs(kept - lowest)))


@njit(cache=True, nogil=True, error_model="numpy")
def gaussian_nb_winners(columns, starts, selected, means, variances, smoothing, log_priors, winners, doubtful):
    """The class of the largest score of each sample under normal densities, and where another class is close.

    `columns`, float64[p, n], hold a feature per row, samples fold by fold from `starts`, int64[folds + 1]. `means` and
    `variances`, float64[folds, p, classes], are those of the training samples of each fold, NaN for a class without;
    `smoothing`, float64[folds], positive, is added to the variances. `log_priors`, float64[folds, classes], are -inf
    for a class without samples. Fills `winners`, int64[n], and `doubtful`, bool[n]: scores that differ by less than
    1e-9 of their size, where rounding could decide.
    """
    n_classes = means.shape[2]
    weights = np.empty((n_classes, selected.size))
    centers = np.empty((n_classes, selected.size))
    constants = np.empty(n_classes)
    sums = np.empty(_SAMPLES)
    best = np.empty(_SAMPLES)
    second = np.empty(_SAMPLES)
    for fold in range(starts.size - 1):
        size = _gaussian_nb_constants(selected, variances[fold], smoothing[fold], log_priors[fold], weights, constants)
        for c in range(n_classes):
            for k in range(selected.size):
                centers[c, k] = means[fold, selected[k], c]
        for first in range(starts[fold], starts[fold + 1], _SAMPLES):
            last = min(first + _SAMPLES, starts[fold + 1])
            own = winners[first:last]
            n = own.size
            own[:] = 0
            best[:] = -np.inf
            second[:] = -np.inf
            for c in range(n_classes):
                if constants[c] == -np.inf:
                    continue
                sums[:] = 0.0
                _add_nb_deviations(columns, first, selected, centers[c], weights[c], sums[:n])
                for i in range(n):
                    score = constants[c] - sums[i]
                    highest = best[i]
                    label = own[i]
                    second[i] = max(second[i], min(highest, score))
                    own[i] = c if score > highest else label
                    best[i] = max(highest, score)
            for i in range(n):
                doubtful[first + i] = not (best[i] - second[i] > 1e-9 * (abs(best[i]) + size + 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def kernel_nb_winner(table, priors, selected, sample, totals, absolute):
    """The class of the largest score of one sample, as in `decide_nb_exactly`; the last two arrays are filled."""
    n_classes = priors.shape[1]
    for c in range(n_classes):
        totals[c] = priors[sample, c]
        absolute[c] = abs(totals[c])
    for f in selected:
        for c in range(n_classes):
            term = table[f, sample, c]
            totals[c] += term
            absolute[c] += abs(term)
    best = -np.inf
    size = 0.0
    for c in range(n_classes):
        if totals[c] > best:
            best = totals[c]
            size = absolute[c]
    least = best - _EQUAL * (1.0 + size)
    for c in range(n_classes):
        if totals[c] >= least:
            return c
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def decide_nb_exactly(table, priors, selected, samples, winners):
    """The class of the largest score in double precision, first of equals, for the given samples of one subset.

    Scores are equal if they differ by no more than rounding: in data with repeated values, classes of different sizes
    often have the same true score. A score is the sum of `priors`, float64[n, classes], and the terms of the `selected`
    features in `table`, float64[p, n, classes]. `winners`, int64[n], is filled at `samples`.
    """
    totals = np.empty(priors.shape[1])
    absolute = np.empty(priors.shape[1])
    for sample in samples:
        winners[sample] = kernel_nb_winner(table, priors, selected, sample, totals, absolute)


_UNIT = 2.0**-24  # rounding unit of single precision
_SAFETY = 1.1
_ONE = 4096  # a class in a sum of classes, to which its number is added
_FEW = 8  # samples of a block for each error, from which on the classes of errors are found one by one
_CLIPPED = -1e29  # lower scores may include clipped terms


@njit(cache=True, nogil=True, error_model="numpy")
def plan_nb_table_sums(masks, parents, slots, starts, subsets, features):
    """Plan the summation of the features of all `masks`, bool[m, p]; neighboring masks should be similar.

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
    # It vectorizes only with unsigned indices, and with += if source and target are the same.
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
def count_kernel_nb_errors(table, shape, span, fold_starts, sizes, highest, tree, cells, counts, hits, doubtful):
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
                    bits = bits_at_most(is_right, some, np.float32(0.0))
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
            for j in range(uint64(begin - first), uint64(last - first)):  # unsigned, to vectorize
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
def count_doubtful_nb_errors(table, priors, masks, doubtful, by_fold, labels, folds, counts, hits):
    """Add the errors of doubtful samples, decided by :func:`decide_nb_exactly`, to `counts` and `hits`, as above.

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
        guess = kernel_nb_winner(table, priors, selected[:size], sample, totals, absolute)
        counts[subset, folds[sample]] += guess != labels[sample]
        for part in range(hits.shape[0] if guess != labels[sample] else 0):
            hits[part, subset, folds[sample] * n_classes + labels[sample]] -= 1
            hits[part, subset, folds[sample] * n_classes + guess] += part
