"""Slow, obvious versions of the statistics, each from its definition."""

from math import nan
from statistics import NormalDist, mean, median, pvariance, variance


def mean_ranks(values):
    """Rank of a value in its block: one more than the number of smaller ones, equals sharing their mean place."""
    ranks = []
    for block in values:
        ordered = sorted(block)
        ranks.append([mean(place for place, other in enumerate(ordered, start=1) if other == value) for value in block])
    return [mean(column) for column in zip(*ranks, strict=True)]


def chi2(values):
    n, k = len(values), len(values[0])
    return 12 * n / (k * (k + 1)) * (sum(rank**2 for rank in mean_ranks(values)) - k * (k + 1) ** 2 / 4)


def contrasts(values):
    k = len(values[0])
    z = [[median(row[u] - row[v] for row in values) for v in range(k)] for u in range(k)]
    m = [sum(z[u]) / k for u in range(k)]
    return [[m[u] - m[v] for v in range(k)] for u in range(k)]


def stability(masks, alpha=0.05):
    """Stability, variance and confidence interval: Definition 4, Theorem 7 and Corollary 9 of Nogueira et al. 2018."""
    n_runs, d = len(masks), len(masks[0])
    sizes = [sum(row) for row in masks]
    k = mean(sizes)
    if k in (0, d):
        return nan, nan, nan, nan
    chance = k / d * (1 - k / d)
    phi = 1 - mean(variance([float(row[f]) for row in masks]) for f in range(d)) / chance
    share = [sum(row[f] for row in masks) / n_runs for f in range(d)]
    contributions = []
    for row, size in zip(masks, sizes, strict=True):
        overlap = sum(row[f] * share[f] for f in range(d)) / d
        second = phi / 2 * (2 * size * k / d**2 - size / d - k / d + 1)
        contributions.append((overlap - size * k / d**2 + second) / chance)
    spread = 4 / n_runs * pvariance(contributions)
    margin = NormalDist().inv_cdf(1 - alpha / 2) * spread**0.5
    return phi, spread, phi - margin, phi + margin
