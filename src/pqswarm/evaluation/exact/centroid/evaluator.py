"""The exact error of the nearest-centroid classifier."""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.options import Parameters, option, parameters
from pqswarm._base.typing import IntArray
from pqswarm.evaluation.base import EvaluatorOptions
from pqswarm.evaluation.exact.linear.foldwise import EPSILON, Foldwise, FoldwiseEvaluator
from pqswarm.evaluation.folds import Folds


@parameters
class NearestCentroidHyperparameters(Parameters):
    """Hyperparameters of the nearest centroid."""

    metric: str = option(
        "distance; centroids are means (Euclidean) or medians (Manhattan)",
        default="euclidean",
        choices=("euclidean", "manhattan"),
    )


class NearestCentroidEvaluator(FoldwiseEvaluator):
    """The exact cross-validated error of scikit-learn's NearestCentroid.

    The centroids of all features are computed once for each fold. scikit-learn fits the folds in which rounding could
    decide.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    metric : {"euclidean", "manhattan"}
        As in NearestCentroid; centroids are means or medians.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = NearestCentroidEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.05)
    True
    """

    def __init__(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, metric: str = "euclidean", **options: Unpack[EvaluatorOptions]
    ) -> None:
        super().__init__(X, y, folds, **options)
        self.metric = NearestCentroidHyperparameters(metric=metric).metric
        self._foldwise = Foldwise(self, self.labels)
        centre = np.mean if metric == "euclidean" else np.median
        self._classes, self._centroids, self._events, self._varies = [], [], [], []
        for fold, test in enumerate(self._foldwise.tests):
            train = self._foldwise.train(fold)
            data, labels = self._foldwise.view(fold), self.labels[train]
            classes = np.unique(labels)
            centroids = [centre(data[train[labels == label]], axis=0) for label in classes]
            self._classes.append(classes)
            self._centroids.append(np.ascontiguousarray(np.stack(centroids).T))
            self._events.append(np.ascontiguousarray(data[test]))
            self._varies.append(np.ptp(data[train], axis=0) > 0)

    def estimator(self) -> object:
        """Return scikit-learn's estimator."""
        from sklearn.neighbors import NearestCentroid

        return NearestCentroid(metric=self.metric)

    def _winners(self, fold: int, selected: IntArray) -> IntArray | None:
        """The labels of the fold's test events, or None if rounding could decide, or scikit-learn refuses."""
        from pqswarm.evaluation.exact.centroid.kernels import nearest_centroids

        classes = self._classes[fold]
        if classes.size < 2 or not self._varies[fold][selected].any():
            return None
        squared = self.metric == "euclidean"
        largest = self._foldwise.largest(fold)[selected]
        # scikit-learn expands the squares, so its rounding is relative to the squares of the values.
        size = float(np.square(largest).sum() if squared else largest.sum())
        doubt = 4.0 * EPSILON * (selected.size + 4.0 * np.sqrt(len(self.data))) * size
        found = np.empty(len(self._events[fold]), dtype=np.int64)
        sure = nearest_centroids(self._events[fold], self._centroids[fold], selected, squared, doubt, found)
        return np.asarray(classes[found]) if sure else None
