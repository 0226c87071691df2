"""Naive Bayes from tables of log-likelihoods: compiled code, arrays in, arrays out.

The log-likelihood of an event under a class is a sum over features. With fixed folds each term is known
beforehand, so that the scores of many subsets are one matrix product, in single precision. Where its
rounding could change the winner, the sum is made again in double precision.
"""

from math import factorial

import numpy as np
from numba import njit

from pqswarm._math_kernels import exponential, logarithm

__all__ = ["decide", "decide_exactly", "gaussian_winners", "kernel_terms", "mix_uniform"]

_UNIT = 2.0**-24  # rounding unit of single precision
_SAFETY = 1.1
_CLIPPED = -1e29  # scores below may hold terms that single precision could not hold
_EQUAL = 1e-12  # of the sum of absolute terms: a hundred times their rounding
_NEGLIGIBLE = 50.0  # terms smaller by exp(-50) than the largest do not change the sum of a million
_FARTHEST = 1e300  # half a squared distance, in widths, beyond which nothing is told apart
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_EVEN = tuple(1.0 / factorial(k) for k in range(12, 1, -2))  # factors of the series of exp, from its square on,
_ODD = tuple(1.0 / factorial(k) for k in range(13, 2, -2))  # and from its cube on


@njit(cache=True, nogil=True, error_model="numpy")
def _exponentials(powers, n, bits, out):
    """out[:n] = exp(-powers[:n]) for powers of 0 to 600; without calls or branches, so that it vectorises.

    exp(-x) = 2^k exp(r) with |r| <= 0.35, where the series has an error below 5e-18 after the 13th power. Products and
    sums are not fused, so that it is the same on every processor.
    """
    for i in range(n):
        k = np.floor(0.5 - powers[i] * _LOG2_E)
        bits[i] = np.int64(k + 1023.0) << 52
        r = (-powers[i] - k * _LN2_HIGH) - k * _LN2_LOW
        square = r * r
        even, odd = _EVEN[0], _ODD[0]  # two short chains are done at the same time
        for term, other in zip(_EVEN[1:], _ODD[1:]):  # noqa: B905
            even = even * square + term
            odd = odd * square + other
        out[i] = 1.0 + (r + square * (even + r * odd))
    scales = bits.view(np.float64)
    for i in range(n):
        out[i] *= scales[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _position(values, low, high, x):
    """The first place from `low` to `high` whose value is not below x."""
    while low < high:
        middle = (low + high) >> 1
        below = values[middle] < x
        low = middle + 1 if below else low
        high = high if below else middle
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_of_others(parts, value_folds, low, high, fold):
    """Sum of the parts whose fold is another, in twice the precision, so that their order does not matter."""
    total = 0.0
    lost = 0.0
    for j in range(high - low):
        part = parts[j] if value_folds[low + j] != fold else 0.0
        grown = total + part
        shadow = grown - total
        lost += (total - (grown - shadow)) + (part - shadow)
        total = grown
    return total + lost


@njit(cache=True, nogil=True, error_model="numpy")
def kernel_terms(queries, query_folds, values, value_folds, starts, log_counts, width, terms):
    """Fill `terms`, float64[m, classes], with the log-likelihood of each query under each class, for one feature.

    The density of a class is the mean of normal densities of width `width` around its training events: all of the class
    but those in the query's own fold, `query_folds`, int64[m] (-1: none). The training events are `values`, class by
    class from `starts`, int64[classes + 1], ascending within each, between -inf and inf; `value_folds` are their folds.
    `log_counts`, float64[folds + 1, classes], is the logarithm of the number of training events without each fold, the
    last row for all. A class without training events has -inf and gets the term 0.
    """
    constant = logarithm(width * np.sqrt(2.0 * np.pi))
    per_width = 1.0 / width
    powers = np.empty(values.size)
    bits = np.empty(values.size, np.int64)
    parts = np.empty(values.size)
    for i in range(queries.size):
        x = queries[i]
        fold = query_folds[i]
        for c in range(starts.size - 1):
            if log_counts[fold, c] == -np.inf:
                terms[i, c] = 0.0
                continue
            first, last = starts[c] + 1, starts[c + 1] - 1
            right = _position(values, first, last, x)
            left = right - 1
            while value_folds[left] == fold:
                left -= 1
            while value_folds[right] == fold:
                right += 1
            z0 = min(x - values[left], values[right] - x) * per_width
            nearest = min(0.5 * z0 * z0, _FARTHEST)
            reach = np.sqrt(z0 * z0 + 2.0 * _NEGLIGIBLE) * width
            # Far away rounding could leave the nearest out of reach.
            low = min(_position(values, first, last, x - reach), max(left, first))
            high = max(_position(values, first, last, x + reach), min(right + 1, last))
            for j in range(high - low):
                z = abs(values[low + j] - x) * per_width
                # Events of the query's own fold may be nearer; they do not count below.
                powers[j] = min(max(0.5 * (z - z0) * (z + z0), 0.0), 600.0)
            _exponentials(powers, high - low, bits, parts)
            terms[i, c] = (
                (logarithm(_sum_of_others(parts, value_folds, low, high, fold)) - log_counts[fold, c])
                - nearest
                - constant
            )


@njit(cache=True, nogil=True, error_model="numpy")
def mix_uniform(terms, floor):
    """Mix densities, given by their logarithms, float64[p, n, classes], with a share `floor` of a uniform one: log(1).

    It is log((1 - floor) exp(term) + floor), to about 1e-16 of the greater of 1 and its size.
    """
    highest, lowest = logarithm(1.0 - floor), logarithm(floor)
    values = terms.reshape(-1)
    for i in range(values.size):
        kept = values[i] + highest
        values[i] = max(kept, lowest) + logarithm(1.0 + exponential(-abs(kept - lowest)))


@njit(cache=True, nogil=True, error_model="numpy")
def gaussian_winners(columns, starts, selected, means, variances, smoothing, log_priors, winners, doubtful):
    """The class of the largest score of each event under normal densities, and where another one comes close.

    `columns`, float64[p, n], hold a feature per row, events fold by fold from `starts`, int64[folds + 1]. `means` and
    `variances`, float64[folds, p, classes], are those of the training events of each fold, NaN for a class without any;
    `smoothing`, float64[folds], positive, is added to the variances. `log_priors`, float64[folds, classes], are -inf
    for a class without events. Filled are `winners`, int64[n], and `doubtful`, bool[n]: scores that differ by less than
    1e-9 of their size, where rounding could have its say.
    """
    n_classes = means.shape[2]
    longest = 0
    for fold in range(starts.size - 1):
        longest = max(longest, starts[fold + 1] - starts[fold])
    scores = np.empty((n_classes, longest))
    for fold in range(starts.size - 1):
        first = starts[fold]
        n = starts[fold + 1] - first
        size = 0.0
        for c in range(n_classes):
            row = scores[c]
            constant = log_priors[fold, c]
            for i in range(n):
                row[i] = 0.0
            if constant > -np.inf:
                for f in selected:
                    variance = variances[fold, f, c] + smoothing[fold]
                    constant -= 0.5 * np.log(2.0 * np.pi * variance)
                    size = max(size, abs(constant))
                    mean = means[fold, f, c]
                    weight = 0.5 / variance
                    column = columns[f, first : first + n]
                    for i in range(n):
                        d = column[i] - mean
                        row[i] += d * d * weight
            for i in range(n):
                row[i] = constant - row[i]
        for i in range(n):
            best = -np.inf
            second = -np.inf
            winner = 0
            for c in range(n_classes):
                score = scores[c, i]
                if score > best:
                    second = best
                    best = score
                    winner = c
                elif score > second:
                    second = score
            winners[first + i] = winner
            doubtful[first + i] = not (best - second > 1e-9 * (abs(best) + size + 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def decide(scores, sizes, highest, n_classes, winners, doubtful):
    """The class of the largest score of each event, and the events where rounding leaves that in doubt.

    `scores`, float32[m, n * n_classes], are sums of logarithms, each of `sizes`, int64[m], terms, none larger than
    `highest`, which is not negative; terms below -1e30 were raised to that. Filled are `winners`, int64[m, n], with the
    first class of the largest score, and `doubtful`, bool[m, n]: whether another comes within the error of the sums.
    """
    n = winners.shape[1]
    for row in range(scores.shape[0]):
        relative = _SAFETY * _UNIT * (sizes[row] + 3.0)
        # The absolute terms of a sum S add up to at most |S| + 2 size highest.
        fixed = relative * 2.0 * sizes[row] * highest
        for event in range(n):
            base = event * n_classes
            best = scores[row, base]
            second = np.float32(-np.inf)
            winner = 0
            for c in range(1, n_classes):
                score = scores[row, base + c]
                better = score > best
                loser = best if better else score
                second = loser if loser > second else second
                winner = c if better else winner
                best = score if better else best
            winners[row, event] = winner
            if second == -np.inf:
                doubtful[row, event] = best == -np.inf
            else:
                error = 2.0 * fixed + relative * (abs(best) + abs(second))
                doubtful[row, event] = not (best - second > error and best > _CLIPPED)


@njit(cache=True, nogil=True, error_model="numpy")
def decide_exactly(table, priors, selected, events, winners):
    """The class of the largest score in double precision, first of equals, for the given events of one subset.

    Scores count as equal if they differ by no more than rounding can make of equal ones: in data with repeated
    values, classes of different sizes often have the same score in truth. A score is the sum of `priors`,
    float64[n, classes], and the terms of the `selected` features in `table`, float64[p, n, classes]. `winners`,
    int64[n], is filled at `events`.
    """
    n_classes = priors.shape[1]
    totals = np.empty(n_classes)
    for event in events:
        best = -np.inf
        size = 0.0
        for c in range(n_classes):
            total = priors[event, c]
            absolute = abs(total)
            if total > -np.inf:
                for f in selected:
                    total += table[f, event, c]
                    absolute += abs(table[f, event, c])
            totals[c] = total
            if total > best:
                best = total
                size = absolute
        least = best - _EQUAL * (1.0 + size)
        for c in range(n_classes):
            if totals[c] >= least:
                winners[event] = c
                break
