"""Count errors and hits by fold."""

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def count_errors(predicted, labels, folds, first, counts):
    """Set counts[m, f] to the number of events of fold first + f that predicted[m] misclassifies."""
    counts[:, :] = 0
    for row in range(predicted.shape[0]):
        for event in range(labels.size):
            fold = folds[event] - first
            if 0 <= fold < counts.shape[1]:
                counts[row, fold] += predicted[row, event] != labels[event]


@njit(cache=True, nogil=True)
def count_hits(predicted, labels, folds, weights, right, guessed):
    """Add to guessed[m, f, k] the weights of fold f that predicted[m] puts into class k; to right those of class k."""
    for row in range(predicted.shape[0]):
        for event in range(labels.size):
            fold, label = folds[event], predicted[row, event]
            guessed[row, fold, label] += weights[event]
            right[row, fold, label] += weights[event] * (label == labels[event])
