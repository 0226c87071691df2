"""Cross-validation by the plain definitions of the classifiers."""

import numpy as np

from tests.reference.definitions import kernel_nb_labels, knn_neighbors, knn_vote


def scaled(data, train, scaling):
    """Min-max scaling by all events, by the training events, or not at all."""
    if scaling == "none":
        return data
    fitted = data if scaling == "once" else data[train]
    low, high = fitted.min(axis=0), fitted.max(axis=0)
    return (data - low) / np.where(high > low, high - low, 1.0)


def predictions(labels_of, data, y, splits, *settings, scaling="none"):
    """Predicted labels of all events, each by a classifier trained without its fold."""
    classes, labels = np.unique(y, return_inverse=True)
    predicted = np.zeros(len(y), dtype=np.int64)
    for train, test in splits:
        x = scaled(data, train, scaling)
        predicted[test] = labels_of(x[train], labels[train], x[test], *settings)
    return classes[predicted]


def knn_predictions(data, y, splits, k, metric, scaling="none"):
    """Predictions by k-NN, and where a tie decided which events are neighbors."""
    ties = []

    def labels_of(train, labels, test):
        neighbors, tied = knn_neighbors(test, train, k, metric)
        ties.append(tied)
        return knn_vote(labels, neighbors)

    found = predictions(labels_of, data, y, splits, scaling=scaling)
    tied = np.zeros(len(y), dtype=bool)
    for (_, test), those in zip(splits, ties, strict=True):
        tied[test] = those
    return found, tied


def kernel_nb_predictions(data, y, splits, bandwidth, scaling="none"):
    return predictions(kernel_nb_labels, data, y, splits, bandwidth, scaling=scaling)
