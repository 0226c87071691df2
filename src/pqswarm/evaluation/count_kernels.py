"""Count errors and hits by fold."""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def count_errors(predicted, labels, folds, first, counts):
    """Set counts[m, f] to the number of samples of fold first + f that predicted[m] misclassifies."""
    counts[:, :] = 0
    for row in range(predicted.shape[0]):
        for sample in range(labels.size):
            fold = folds[sample] - first
            if 0 <= fold < counts.shape[1]:
                counts[row, fold] += predicted[row, sample] != labels[sample]


@njit(cache=True, nogil=True)
def count_hits(predicted, labels, folds, weights, right, guessed):
    """Add to guessed[m, f, k] the weights of fold f that predicted[m] puts into class k; to right those of class k."""
    for row in range(predicted.shape[0]):
        for sample in range(labels.size):
            fold = folds[sample]
            label = predicted[row, sample]
            guessed[row, fold, label] += weights[sample]
            right[row, fold, label] += weights[sample] * (label == labels[sample])


@njit(cache=True, nogil=True, error_model="numpy")
def mean_ratios(right, true, guessed, by_true, by_guessed, totals):
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
