"""The exact error of k-NN regression."""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.evaluation.base import EvaluatorOptions
from pqswarm.evaluation.exact.knn.evaluator import METRICS, KNNEvaluator
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.regression import RegressionEvaluator


class KNNRegressionHyperparameters(Parameters):
    """Hyperparameters of k-NN regression."""

    n_neighbors: int = parameter("neighbours whose mean is predicted", default=5, low=1, high=15, symbol="k")
    metric: str = parameter("distance", default="euclidean", choices=METRICS)


class KNNRegressionEvaluator(RegressionEvaluator):
    """The exact cross-validated error of a k-nearest-neighbour regressor.

    Of equal distances the lower sample index is nearer, as in :class:`KNNEvaluator`.

    Parameters
    ----------
    X, y, folds, scoring, scaling, n_jobs
        See :class:`RegressionEvaluator`.
    n_neighbors : int
        Number of neighbours whose mean is predicted, 1 to 15.
    metric : {"manhattan", "euclidean", "chebyshev"}
        Distance.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> evaluator = KNNRegressionEvaluator(X, y, Folds(np.arange(442) % 10))
    >>> bool(evaluator.errors(np.ones((1, 10), dtype=bool))[0] < 0.7)
    True
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        scoring: str | None = None,
        *,
        n_neighbors: int = 5,
        metric: str = "euclidean",
        **options: Unpack[EvaluatorOptions],
    ) -> None:
        super().__init__(X, y, folds, scoring, **options)
        checked = KNNRegressionHyperparameters(n_neighbors=n_neighbors, metric=metric)
        anything = np.arange(len(self.data)) % 2  # labels do not affect the neighbours
        self._search = KNNEvaluator(self.data, anything, folds, checked.n_neighbors, checked.metric, **options)

    def _predict(self, masks: BoolArray) -> FloatArray:
        predicted = np.empty((len(masks), len(self.data)))

        def work(row: int) -> None:
            near = np.sort(self._search.neighbors(masks[row]), axis=1)  # so that sums have one order
            predicted[row] = self.target[near].mean(axis=1)

        work(0)  # creates shared data before threads use it
        self.in_threads(work, list(range(1, len(masks))))
        return predicted
