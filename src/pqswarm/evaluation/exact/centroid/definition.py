"""The nearest centroid by definition: plain NumPy that the kernel of this package must reproduce."""

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray


def nearest_centroid_labels(
    train: FloatArray, labels: IntArray, test: FloatArray, metric: str = "euclidean"
) -> IntArray:
    """Return the class whose centroid is nearest: the mean (Euclidean) or the median (Manhattan) of its events.

    Of equal distances the smallest label wins. Where rounding could decide, scikit-learn's NearestCentroid does.
    """
    classes = np.unique(labels)
    centre = np.mean if metric == "euclidean" else np.median
    distances = []
    for label in classes:
        difference = np.abs(test - centre(train[labels == label], axis=0))
        distances.append((np.square(difference) if metric == "euclidean" else difference).sum(axis=1))
    return np.asarray(classes[np.argmin(distances, axis=0)])
