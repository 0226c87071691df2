"""Count errors by fold."""

from pqswarm._kernels.compiling import njit

__all__ = ["count_errors"]


@njit(cache=True, nogil=True)
def count_errors(predicted, labels, folds, counts):
    """Set counts[m, f] to the number of events of fold f that predicted[m] misclassifies."""
    counts[:, :] = 0
    for row in range(predicted.shape[0]):
        for event in range(labels.size):
            counts[row, folds[event]] += predicted[row, event] != labels[event]
