"""The exact error of k-nearest-neighbour classifiers."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pqswarm._options import Parameters, option, parameters
from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import Evaluator, Scaling
from pqswarm.evaluation.folds import Folds

if TYPE_CHECKING:
    from pqswarm.evaluation._knn_cuda import KNNOnCuda

__all__ = ["METRICS", "KNNEvaluator", "KNNHyperparameters", "View"]

METRICS: tuple[str, ...] = ("manhattan", "euclidean", "chebyshev")
"""The distances that the evaluator computes at full speed."""

_GUESSES = 12  # near events of the whole space, whose distances bound the search under any mask


@parameters
class KNNHyperparameters(Parameters):
    """Hyperparameters of nearest neighbours."""

    n_neighbors: int = option(default=3, meaning="neighbours that vote", low=1, high=15, symbol="k")
    metric: str = option(default="manhattan", meaning="distance", choices=METRICS)


class KNNEvaluator(Evaluator):
    """The cross-validated error of a k-nearest-neighbour classifier, exactly and fast.

    Uniform votes; of equal distances the lower event index is nearer, of equal votes the smallest label
    wins. Distances decide in double precision. How it is fast is told in ``_knn_kernels.py``.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`Evaluator`.
    n_neighbors : int
        Neighbours that vote, 1 to 15.
    metric : {"manhattan", "euclidean", "chebyshev"}
        Distance.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = KNNEvaluator(X, y, Folds.stratified(y, seed=1))
    >>> masks = np.ones((2, 13), dtype=bool)
    >>> masks[1, 1:] = False
    >>> evaluator.error_counts(masks).sum(axis=1).tolist()
    [6, 58]
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        n_neighbors: int = 3,
        metric: str = "manhattan",
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(X, y, folds, scaling=scaling, n_jobs=n_jobs, device=device)
        checked = KNNHyperparameters(n_neighbors=n_neighbors, metric=metric)
        smallest = len(self.data) - int(folds.sizes.max())
        if smallest < n_neighbors:
            raise PqswarmError(f"a fold is trained on {smallest} events, fewer than the n_neighbors of {n_neighbors}.")
        self.n_neighbors, self.metric = checked.n_neighbors, checked.metric
        self.metric_number = METRICS.index(metric)
        # One view of the data if all folds share it, else one for each fold.
        numbers = range(folds.n_folds) if scaling == "fold" else [-1]
        self.views = [View(self.fold_data(fold), fold) for fold in numbers]
        self._smallest = smallest

    @cached_property
    def _cuda(self) -> "KNNOnCuda":
        from pqswarm.evaluation._knn_cuda import KNNOnCuda

        return KNNOnCuda(self)

    @cached_property
    def pivots(self) -> IntArray:
        """Choose pivots, each as far from the earlier ones as can be."""
        from pqswarm.evaluation._knn_kernels import N_PIVOTS

        data = self.views[0].data
        pivots = [int(np.abs(data - data.mean(axis=0)).sum(axis=1).argmax())]
        nearest = np.full(len(data), np.inf)
        while len(pivots) < N_PIVOTS:
            nearest = np.minimum(nearest, np.abs(data - data[pivots[-1]]).sum(axis=1))
            pivots.append(int(nearest.argmax()))
        return np.array(pivots, dtype=np.int64)

    @cached_property
    def _guesses(self) -> IntArray:
        """Events near each event in the space of all features."""
        count = min(max(_GUESSES, 2 * self.n_neighbors), self._smallest)
        guesses = np.empty((len(self.data), count), dtype=np.int64)
        nobody = np.empty((len(self.data), 0), dtype=np.int64)
        self._run(np.arange(self.n_features), nobody, count, np.empty(len(self.data), np.int64), guesses)
        return guesses

    def _run(self, selected: IntArray, guesses: IntArray, k: int, predicted: IntArray, neighbours: IntArray) -> None:
        from pqswarm.evaluation._knn_kernels import predict

        for view in self.views:
            predict(
                view.data,
                view.columns,
                view.exponents,
                selected,
                self.pivots,
                guesses,
                self.folds.test_fold,
                view.fold,
                self.labels,
                k,
                self.metric_number,
                predicted,
                neighbours,
            )

    def _counts(self, masks: BoolArray) -> IntArray:
        return self._cuda.counts(masks)[0] if self.device == "cuda" else super()._counts(masks)

    def _predict(self, masks: BoolArray) -> IntArray:
        if self.device == "cuda":
            labels = self._cuda.counts(masks, predicted=True)[1]
            return np.asarray(labels)
        predicted = np.empty((len(masks), len(self.data)), dtype=np.int64)
        guesses, _ = self._guesses, self.pivots  # made here, before threads ask for them
        nothing = np.empty((0, 0), dtype=np.int64)

        def work(row: int) -> None:
            self._run(np.flatnonzero(masks[row]), guesses, self.n_neighbors, predicted[row], nothing)

        self._in_threads(work, list(range(len(masks))))
        return predicted

    def neighbours(self, mask: npt.ArrayLike) -> IntArray:
        """Return the neighbours of each event under one mask, in no particular order.

        Parameters
        ----------
        mask : array_like of bool, shape (n_features,)
            One feature subset, not empty.

        Returns
        -------
        ndarray of int64, shape (n_events, n_neighbors)
            Indices of events of other folds.
        """
        checked = self.checked_mask(mask)
        found = np.empty((len(self.data), self.n_neighbors), dtype=np.int64)
        predicted = np.empty(len(self.data), dtype=np.int64)
        self._run(np.flatnonzero(checked), self._guesses, self.n_neighbors, predicted, found)
        return found


class View:
    """The data as the kernel wants them."""

    def __init__(self, data: FloatArray, fold: int) -> None:
        self.data = data
        low, high = data.min(axis=0), data.max(axis=0)
        half = high / 2 - low / 2
        # Each feature is centred and divided by a power of two, which keeps single precision at its best.
        self.exponents = np.where(half > 0, np.frexp(half)[1], -2000).astype(np.int64)
        centred = data - (low / 2 + high / 2)
        self.columns = np.ascontiguousarray(np.ldexp(centred, -np.maximum(self.exponents, -1000)).T, dtype=np.float32)
        self.fold = fold
