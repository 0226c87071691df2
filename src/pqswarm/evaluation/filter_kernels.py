"""Inner loops of the filters."""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def count_information(codes, n_codes, other, n_other, table, out):
    """Set out[f] to n times the mutual information of codes[f] and other, both integers from 0.

    table[c] is c log(c), rounded so that its sums are exact in any order: equal features get equal scores.
    """
    n = other.size
    ones = np.zeros(n_codes, np.int64)
    others = np.zeros(n_other, np.int64)
    pairs = np.zeros((n_codes, n_other), np.int64)
    for sample in range(n):
        others[other[sample]] += 1
    alone = table[n]
    for value in range(n_other):
        alone -= table[others[value]]
    for f in range(codes.shape[0]):
        ones[:] = 0
        pairs[:] = 0
        row = codes[f]
        for sample in range(n):
            pairs[row[sample], other[sample]] += 1
        total = alone
        for a in range(n_codes):
            for b in range(n_other):
                ones[a] += pairs[a, b]
                total += table[pairs[a, b]]
            total -= table[ones[a]]
        out[f] = total


@njit(cache=True, nogil=True)
def add_relief(rows, columns, labels, counts, looked_at, k, weights):
    """Add the ReliefF terms of feature f to weights[f] for samples `looked_at`; `columns` are `rows` transposed."""
    n, width = rows.shape
    distances = np.empty(n)
    near = np.empty((counts.size, k), np.int64)
    for sample in looked_at:
        distances[:] = 0.0
        for f in range(width):  # feature by feature: the sums are the same on every processor
            column = columns[f]
            here = column[sample]
            for other in range(n):
                distances[other] += abs(column[other] - here)
        label = labels[sample]
        n_near = np.zeros(counts.size, np.int64)
        for other in range(n):
            if other == sample:
                continue
            c = labels[other]
            if n_near[c] == k and distances[near[c, k - 1]] <= distances[other]:
                continue
            place = min(n_near[c], k - 1)
            while place > 0 and distances[near[c, place - 1]] > distances[other]:
                near[c, place] = near[c, place - 1]
                place -= 1
            near[c, place] = other
            n_near[c] = min(n_near[c] + 1, k)
        for c in range(counts.size):
            if n_near[c] == 0:
                continue
            share = -1.0 if c == label else counts[c] / (n - counts[label])
            for neighbor in near[c, : n_near[c]]:
                for f in range(width):
                    weights[f] += share / n_near[c] * abs(rows[sample, f] - rows[neighbor, f])
