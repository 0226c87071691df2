"""Compiled counts: what filters rank features by, and the errors and hits of predictions."""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def count_mutual_information(codes, n_codes, other, n_other, table, out):
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
def add_relief_weights(rows, columns, labels, counts, looked_at, k, weights):
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


@njit(cache=True, nogil=True)
def count_fold_errors(predicted, labels, folds, counts):
    """Add to counts[m, f] the number of samples of fold f that predicted[m] misclassifies."""
    for row in range(predicted.shape[0]):
        for sample in range(labels.size):
            counts[row, folds[sample]] += predicted[row, sample] != labels[sample]


@njit(cache=True, nogil=True)
def count_class_hits(predicted, labels, folds, weights, right, guessed):
    """Add to guessed[m, f, k] the weights of fold f that predicted[m] puts into class k; to right those of class k."""
    for row in range(predicted.shape[0]):
        for sample in range(labels.size):
            fold = folds[sample]
            label = predicted[row, sample]
            guessed[row, fold, label] += weights[sample]
            right[row, fold, label] += weights[sample] * (label == labels[sample])


@njit(cache=True, nogil=True, error_model="numpy")
def mean_class_ratios(right, true, guessed, by_true, by_guessed, totals):
    """Return the mean over classes of right / (by_true true + by_guessed guessed + the rest to 1 right), shape (m, f).

    `right` and `guessed` are of shape (m, f, classes), `true` of shape (f, classes). Ratios 0/0 are 0. The mean is over
    the classes that occur, or weighted by `true` if its `totals`, of shape (f,), are given. Terms are added in the
    order of NumPy's pairwise sums.
    """
    scores = np.empty(right.shape[:2])
    n = true.shape[1]
    rest = 1.0 - by_true - by_guessed
    terms = np.empty(n)
    whole = n // 8 * 8
    for row in range(right.shape[0]):
        for fold in range(true.shape[0]):
            n_occurring = 0
            for k in range(n):
                a = true[fold, k]
                b = guessed[row, fold, k]
                c = right[row, fold, k]
                terms[k] = c / max(by_true * a + by_guessed * b + rest * c, 5e-324)
                n_occurring += a + b > 0
            if totals.size:
                terms *= true[fold]
            total = 0.0
            if whole > 0:
                for k in range(8, whole):
                    terms[k % 8] += terms[k]
                total = (terms[0] + terms[1]) + (terms[2] + terms[3])
                total += (terms[4] + terms[5]) + (terms[6] + terms[7])
            for k in range(whole, n):
                total += terms[k]
            scores[row, fold] = total / (totals[fold] if totals.size else max(n_occurring, 1))
    return scores
