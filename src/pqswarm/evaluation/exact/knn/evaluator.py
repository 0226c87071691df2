"""The exact errors of k-nearest-neighbor classifiers and regressors."""

from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import EvaluatorOptions, ExactEvaluator, ExactOptions, RegressionEvaluator
from pqswarm.evaluation.folds import Folds

METRICS: tuple[str, ...] = ("manhattan", "euclidean", "chebyshev")
"""The distances that the evaluator supports."""

_GUESSES = 8  # near samples in the space of all features, which bound the search under any mask
_MIN_EXPONENT = -300  # of data whose squares do not underflow
_PART = 1024  # samples per task of a thread

_Indices = npt.NDArray[np.int32]
_Singles = npt.NDArray[np.float32]


class KNNHyperparameters(Parameters):
    """Hyperparameters of nearest neighbors."""

    n_neighbors: int = parameter("neighbors that vote", default=3, low=1, high=15, symbol="k")
    metric: str = parameter("distance", default="manhattan", choices=METRICS)


class KNNEvaluator(ExactEvaluator):
    """The exact cross-validated error of a k-nearest-neighbor classifier.

    Votes are uniform. Ties of distances are broken by the lower sample index, ties of votes by the smallest label.
    Distances are compared in double precision.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`ExactEvaluator`.
    n_neighbors : int, default=3
        Number of neighbors, 1 to 15.
    metric : {"manhattan", "euclidean", "chebyshev"}, default="manhattan"
        The distance between two samples, over the selected features.

    Examples
    --------
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
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        n_neighbors: int = 3,
        metric: str = "manhattan",
        **options: Unpack[ExactOptions],
    ) -> None:
        super().__init__(X, y, folds, **options)
        checked = KNNHyperparameters(n_neighbors=n_neighbors, metric=metric)
        smallest = len(self.data) - int(folds.sizes.max())
        if smallest < n_neighbors:
            raise PqswarmError(f"a fold is trained on {smallest} samples, fewer than the n_neighbors of {n_neighbors}.")
        self.n_neighbors = checked.n_neighbors
        self.metric = checked.metric
        self.metric_number = METRICS.index(metric)
        # One view if all folds share the scaled data, else one per fold.
        views = self.fold_views(copies=2)  # the data, and two copies in single precision
        tested = [range(fold, fold + 1) for fold in range(folds.n_folds)] if len(views) > 1 else [range(folds.n_folds)]
        self.views = [FoldView(*given) for given in zip(views, tested, strict=True)]
        self.least_training = smallest
        if self.device == "cuda":
            from pqswarm.evaluation.exact.knn.cuda import KNNOnCuda

            self._gpu = KNNOnCuda(self)

    def neighbors(self, selected: IntArray) -> IntArray:
        """Return the neighbors of each sample by some features, (n_samples, n_neighbors), in ascending order."""
        neighbors = np.empty((self.n_samples, self.n_neighbors), dtype=np.int32)
        self._run(selected, np.empty(self.n_samples, dtype=np.int64), neighbors)
        return np.sort(neighbors, axis=1).astype(np.int64)

    @cached_property
    def _rows(self) -> list[tuple[_Singles, _Singles]]:
        """The samples of each view in single precision, row by row, and the maximum of each feature."""
        return [(np.ascontiguousarray(view.columns.T), np.abs(view.columns).max(axis=1)) for view in self.views]

    @cached_property
    def _guesses(self) -> _Indices:
        """Samples near each sample in the space of all features; they bound the search under any mask."""
        n = self.n_samples
        count = min(max(_GUESSES, 2 * self.n_neighbors), self.least_training)
        guesses = np.empty((n, count), dtype=np.int32)
        none = np.empty((n, 0), dtype=np.int32)
        everything = np.arange(self.n_features)
        predicted = np.empty(n, dtype=np.int64)
        arrangement = self._arrangement(self.n_features)
        for number, view in enumerate(self.views):
            arranged = arrangement.arrange(*self._rows[number], view.exponents, everything)

            def work(first: int, view: FoldView = view, arranged: Any = arranged) -> None:
                part = (first, min(first + _PART, n))
                scratch = self._scratch(arranged, 0, count)
                self._search(arranged, view, everything, none, part, scratch, predicted, guesses)

            self.in_threads(work, range(0, n, _PART))
        return guesses

    def _arrangement(self, n_selected: int) -> Any:
        from pqswarm.evaluation.exact.knn.filter_kernels import KNNArrangement

        return KNNArrangement(self.n_samples, n_selected, self.metric_number)  # type: ignore[no-untyped-call]

    def _scratch(self, arranged: Any, n_guesses: int, k: int) -> Any:
        from pqswarm.evaluation.exact.knn.kernels import knn_scratch

        _, near, _, _, codes, points = arranged[:6]
        width = (codes.size + points.size) // len(near)
        return knn_scratch(self.n_samples, n_guesses, k, width)  # type: ignore[no-untyped-call]

    def _search(
        self,
        arranged: Any,
        view: "FoldView",
        selected: IntArray,
        guesses: _Indices,
        part: tuple[int, int],
        scratch: Any,
        predicted: IntArray,
        neighbors: _Indices,
    ) -> None:
        from pqswarm.evaluation.exact.knn.kernels import PREDICT_KNN

        samples = (self.folds.test_fold, (view.tested.start, view.tested.stop), self.labels)
        predict = PREDICT_KNN[self.metric_number]
        predict(arranged, view.data, selected, guesses, *samples, *part, scratch, predicted, neighbors)

    def _run(self, selected: IntArray, predicted: IntArray, neighbors: _Indices) -> None:
        """Predict the samples under one subset; fill `neighbors` too, unless it is empty."""
        guesses = self._guesses
        everyone = (0, self.n_samples)
        arrangement = self._arrangement(selected.size)
        scratch = None
        for number, view in enumerate(self.views):
            arranged = arrangement.arrange(*self._rows[number], view.exponents, selected)
            scratch = scratch or self._scratch(arranged, guesses.shape[1], self.n_neighbors)
            self._search(arranged, view, selected, guesses, everyone, scratch, predicted, neighbors)

    def _predict_on_cpu(self, masks: BoolArray) -> IntArray:
        none = np.empty((0, 0), dtype=np.int32)
        _ = self._guesses  # before threads use them
        return self._predict_rows(masks, lambda selected, labels: self._run(selected, labels, none))


class FoldView:
    """The data, scaled for the `tested` folds, as the kernels expect them."""

    def __init__(self, data: FloatArray, tested: range) -> None:
        size = int(np.frexp(np.abs(data).max())[1])
        self.data = data = np.ldexp(data, -size) if size < _MIN_EXPONENT else data  # exact
        low = data.min(axis=0)
        high = data.max(axis=0)
        half = high / 2 - low / 2
        # Each feature is centered and divided by a power of two, for the best use of single precision.
        self.exponents = np.where(half > 0, np.frexp(half)[1], -2000).astype(np.int64)
        centered = data - (low / 2 + high / 2)
        self.columns = np.ascontiguousarray(np.ldexp(centered, -np.maximum(self.exponents, -1000)).T, dtype=np.float32)
        self.tested = tested


class KNNRegressionHyperparameters(Parameters):
    """Hyperparameters of k-NN regression."""

    n_neighbors: int = parameter("neighbors whose mean is predicted", default=5, low=1, high=15, symbol="k")
    metric: str = parameter("distance", default="euclidean", choices=METRICS)


class KNNRegressionEvaluator(RegressionEvaluator):
    """The exact cross-validated error of a k-nearest-neighbor regressor.

    Ties of distances are broken by the lower sample index, as in :class:`KNNEvaluator`.

    Parameters
    ----------
    X, y, folds, scoring, scaling, n_jobs
        See :class:`RegressionEvaluator`.
    n_neighbors : int, default=5
        Number of neighbors whose mean is predicted, 1 to 15.
    metric : {"manhattan", "euclidean", "chebyshev"}, default="euclidean"
        The distance between two samples, over the selected features.

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
        anything = np.arange(len(self.data)) % 2  # labels do not affect the neighbors
        self._search = KNNEvaluator(self.data, anything, folds, checked.n_neighbors, checked.metric, **options)

    def _predict(self, masks: BoolArray) -> FloatArray:
        def predict(selected: IntArray, row: FloatArray) -> None:
            row[:] = self.target[self._search.neighbors(selected)].mean(axis=1)  # ascending: sums have one order

        _ = self._search._guesses  # before threads use them
        return self._predict_rows(masks, predict, np.inf)
