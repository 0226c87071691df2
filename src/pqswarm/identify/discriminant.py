"""A linear discriminant on scaled features and two non-linear functions of each."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray

_SHRINKAGE = 1e-3


@dataclass(frozen=True, eq=False)
class Discriminant:
    """Fisher's discriminant: normal densities with a common covariance, slightly shrunk towards a sphere.

    `weights` (3 n_features, n_classes) are those of each feature, its square, and its distance from the middle; `bias`
    of a class without events is minus infinity.
    """

    weights: FloatArray
    bias: FloatArray

    @classmethod
    def fit(cls, data: FloatArray, labels: IntArray, n_classes: int) -> "Discriminant":
        """Fit it to features scaled to 0 ... 1."""
        expanded = _expand_for_discriminant(data)
        own, places = np.unique(labels, return_inverse=True)
        means = np.array([expanded[labels == label].mean(axis=0) for label in own])
        rest = expanded - means[places]
        covariance = rest.T @ rest / max(len(labels) - own.size, 1)
        covariance[np.diag_indices_from(covariance)] += _SHRINKAGE * np.trace(covariance) / len(covariance) + 1e-9
        solved = np.linalg.solve(covariance, means.T)
        weights = np.zeros((expanded.shape[1], n_classes))
        bias = np.full(n_classes, -np.inf)
        weights[:, own] = solved
        bias[own] = -0.5 * np.einsum("ij,ji->i", means, solved)
        return cls(weights, bias)

    def log_scores(self, rows: FloatArray) -> FloatArray:
        """Return the logarithm of the probability of each class, (n, n_classes), if all are equally frequent."""
        scores = _expand_for_discriminant(rows) @ self.weights + self.bias
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def _expand_for_discriminant(data: FloatArray) -> FloatArray:
    return np.hstack([data, data**2, np.abs(data - 0.5)])
