"""k-nearest neighbours by definition: plain NumPy that every kernel of this package must reproduce bit for bit."""

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray


def knn_distances(test: FloatArray, train: FloatArray, metric: str) -> FloatArray:
    """Return the distances of test samples to training samples, (n_test, n_train); squared if Euclidean.

    Terms are added in the order of the features, in double precision: a tie is an equality of these sums.
    """
    total = np.zeros((len(test), len(train)))
    columns = np.ascontiguousarray(train.T)
    for start in range(0, len(test), 16):  # few rows at a time stay in the cache
        some = total[start : start + 16]
        rows = test[start : start + 16]
        for feature, column in enumerate(columns):
            difference = np.abs(rows[:, feature, np.newaxis] - column)
            if metric == "manhattan":
                some += difference
            elif metric == "euclidean":
                some += np.square(difference)
            else:  # Chebyshev
                np.maximum(some, difference, out=some)
    return total


def knn_neighbors(test: FloatArray, train: FloatArray, k: int, metric: str) -> tuple[IntArray, BoolArray]:
    """Return the k nearest training samples of each, of equals the first, and whether a tie decided which they are."""
    distances = knn_distances(test, train, metric)
    order = np.argsort(distances, axis=1, kind="stable")
    ascending = np.take_along_axis(distances, order, axis=1)
    tied = ascending[:, k - 1] == ascending[:, k] if len(train) > k else np.zeros(len(test), dtype=np.bool_)
    return order[:, :k], tied


def knn_labels(
    train: FloatArray, labels: IntArray, test: FloatArray, k: int = 3, metric: str = "manhattan"
) -> IntArray:
    """Return the class of each test sample: the majority of its k neighbours, of equal votes the smallest label."""
    return knn_vote(labels, knn_neighbors(test, train, k, metric)[0])


def knn_vote(labels: IntArray, neighbors: IntArray) -> IntArray:
    """Return the most frequent label of each row of neighbours; of equal votes the smallest label."""
    return np.array([np.bincount(labels[nearest]).argmax() for nearest in neighbors], dtype=np.int64)
