"""The nearest of several centroids."""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def nearest_centroids(events, centroids, selected, squared, doubt, nearest):
    """Set nearest[i] to the nearest centroid of event i; return whether all lead by more than doubt.

    Events are of shape (n, features), centroids of shape (features, classes). Distances are sums of absolute
    differences, or of their squares.
    """
    sure = True
    n_classes = centroids.shape[1]
    distances = np.empty(n_classes)
    for event in range(events.shape[0]):
        distances[:] = 0.0
        for feature in selected:
            value = events[event, feature]
            if squared:
                for k in range(n_classes):
                    distances[k] += (value - centroids[feature, k]) ** 2
            else:
                for k in range(n_classes):
                    distances[k] += abs(value - centroids[feature, k])
        best = 0
        for k in range(1, n_classes):
            if distances[k] < distances[best]:
                best = k
        for k in range(n_classes):
            if k != best and distances[k] - distances[best] <= doubt:
                sure = False
        nearest[event] = best
    return sure
