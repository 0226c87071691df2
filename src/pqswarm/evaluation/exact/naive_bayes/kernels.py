"""Naive Bayes from tables of log-likelihoods.

The log-likelihood of a sample under a class is a sum over features. With fixed folds, each term of kernel densities is
computed once: ``count_kernels.py`` sums them in single precision; where rounding could change the result, this module
sums them again in double precision.
"""

from math import factorial

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.math import exponential, logarithm

_EQUAL = 1e-12  # relative to the sum of absolute terms: a hundred times their rounding
_NEGLIGIBLE = 50.0  # terms below exp(-50) of the largest do not change a sum of a million
_FARTHEST = 1e300  # half a squared distance, in bandwidths, beyond which all are equal
_SAMPLES = 512  # per block of normal densities: their columns fit into the cache
_AT_ONCE = 16  # exponentials computed together, for vectorisation
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_EVEN = tuple(1.0 / factorial(k) for k in range(12, 1, -2))  # factors of the series of exp, from the square on,
_ODD = tuple(1.0 / factorial(k) for k in range(13, 2, -2))  # and from the cube on


@njit(cache=True, nogil=True, error_model="numpy")
def _exponentials(powers, n, bits, out):
    """out[:n] = exp(-powers[:n]) for powers from 0 to 600; without calls or branches, to vectorise.

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
def kernel_terms(queries, query_folds, values, value_folds, starts, log_counts, width, terms):
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
            _exponentials(powers, -(-near.size // _AT_ONCE) * _AT_ONCE, bits, parts)
            others = logarithm(_nb_sum_of_other_folds(parts, value_folds[low:high], fold))
            terms[i, c] = (others - log_counts[fold, c]) - nearest - constant


@njit(cache=True, nogil=True, error_model="numpy")
def _gaussian_constants(selected, variances, smoothing, log_priors, weights, constants):
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
def mix_uniform_in_place(values, floor):
    """Mix densities, given by their logarithms, float64[n], with a fraction `floor` of a uniform one.

    The result is log((1 - floor) exp(term) + floor), to about 1e-16 of max(1, |result|).
    """
    highest = logarithm(1.0 - floor)
    lowest = logarithm(floor)
    for i in range(values.size):
        kept = values[i] + highest
        values[i] = max(kept, lowest) + logarithm(1.0 + exponential(-abs(kept - lowest)))


@njit(cache=True, nogil=True, error_model="numpy")
def gaussian_winners(columns, starts, selected, means, variances, smoothing, log_priors, winners, doubtful):
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
        size = _gaussian_constants(selected, variances[fold], smoothing[fold], log_priors[fold], weights, constants)
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
def winner(table, priors, selected, sample, totals, absolute):
    """The class of the largest score of one sample, as in `decide_exactly`; the last two arrays are filled."""
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
def decide_exactly(table, priors, selected, samples, winners):
    """The class of the largest score in double precision, first of equals, for the given samples of one subset.

    Scores are equal if they differ by no more than rounding: in data with repeated values, classes of different sizes
    often have the same true score. A score is the sum of `priors`, float64[n, classes], and the terms of the `selected`
    features in `table`, float64[p, n, classes]. `winners`, int64[n], is filled at `samples`.
    """
    totals = np.empty(priors.shape[1])
    absolute = np.empty(priors.shape[1])
    for sample in samples:
        winners[sample] = winner(table, priors, selected, sample, totals, absolute)
