"""The filters by their definitions, slow and obvious."""

import math
from collections import Counter

import numpy as np


def bins(values, n_bins):
    """Few values are their own bins; else bins of equal counts, by the mean rank of equal values."""
    levels = sorted(set(values))
    if len(levels) <= n_bins:
        return [levels.index(value) for value in values]
    n = len(values)
    return [
        n_bins * (sum(other < value for other in values) + sum(other <= value for other in values)) // (2 * n)
        for value in values
    ]


def binned(X):
    """All features in bins, their number the cube root of that of the events, from 2 to 10."""
    n_bins = min(10, max(2, round(len(X) ** (1 / 3))))
    return [bins(column, n_bins) for column in X.T.tolist()]


def entropy(values):
    return -sum(n / len(values) * math.log(n / len(values)) for n in Counter(values).values())


def information(a, b):
    """Mutual information [nat]."""
    return entropy(a) + entropy(b) - entropy(list(zip(a, b, strict=True)))


def symmetric_uncertainty(a, b):
    both = entropy(a) + entropy(b)
    return 2 * information(a, b) / both if both else 0.0


def best_of(worth):
    """The key worth most; of equals, but for rounding, the lowest."""
    most = max(worth.values())
    return min(key for key, value in worth.items() if value >= most - 1e-9)


def mrmr(X, y):
    """Ding and Peng (2005), MIQ: relevance by the mean redundancy with those chosen before, and 0.001."""
    features, order, y = binned(X), [], list(y)
    while len(order) < len(features):
        worth = {f: information(features[f], y) for f in range(len(features)) if f not in order}
        if order:
            for f in worth:
                worth[f] /= np.mean([information(features[f], features[g]) for g in order]) + 0.001
        order.append(best_of(worth))
    return tuple(order)


def cfs_merit(features, y, subset):
    """Hall (1999): k mean(r_cf) / sqrt(k + k (k - 1) mean(r_ff))."""
    k = len(subset)
    with_class = np.mean([symmetric_uncertainty(features[f], y) for f in subset])
    pairs = [symmetric_uncertainty(features[f], features[g]) for f in subset for g in subset if f < g]
    return k * with_class / math.sqrt(k + k * (k - 1) * (np.mean(pairs) if pairs else 0.0))


def cfs(X, y):
    """In turn the feature with which the merit is highest."""
    features, order, y = binned(X), [], list(y)
    while len(order) < len(features):
        left = [f for f in range(len(features)) if f not in order]
        order.append(best_of({f: cfs_merit(features, y, [*order, f]) for f in left}))
    return tuple(order)


def relieff(X, y, k=10):
    """Kononenko (1994), all events: equal distances to the lower index, classes of few events with all they have."""
    low, high = X.min(axis=0), X.max(axis=0)
    data = (X - low) / np.where(high > low, high - low, 1)
    weights = np.zeros(X.shape[1])
    for i in range(len(y)):
        for c in sorted(set(y)):
            others = [j for j in range(len(y)) if j != i and y[j] == c]
            near = sorted(others, key=lambda j: (np.cumsum(np.abs(data[i] - data[j]))[-1], j))[:k]
            if near:
                difference = np.mean([np.abs(data[i] - data[j]) for j in near], axis=0)
                prior, own = np.mean(y == c), np.mean(y == y[i])
                weights += -difference if c == y[i] else prior / (1 - own) * difference
    return weights / len(y)
