"""Exact k-nearest-neighbor errors of many subsets on an NVIDIA GPU.

Most pairs are skipped, and the others are filtered coarsely first:

1. Under each subset the samples are sorted by their distance to a pivot (Chebyshev: by one feature). By the triangle
   inequality, samples far apart in this order are far apart, so the neighbors of a sample lie in a window. Its width
   follows from the distances to samples that are near by all features (``guess``).
2. Inside the windows, distances are computed on a grid of 256 levels, four features per word, one instruction each. The
   grid distance of two samples exceeds the true one by at most their own distances to the grid, which are known.
   Possible neighbors are kept as one bit per pair, about one pair in a hundred (``filter``).
3. Their distances are computed in single precision. Only where rounding could change the neighbors are they computed
   again in double precision, in the order of the features, with ties to the lower index (``decide``).

Lists do not overflow on data with many ties: only more bits are set. The counts always equal those of the CPU code.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation.base import CudaBackend, cuda_source
from pqswarm.evaluation.exact.knn.evaluator import FoldView, KNNEvaluator

_SIDE = 128  # positions in a tile
_KEYS = 4  # sort keys, of which the best is used; 1 for the Chebyshev distance
_SLAB = 1 << 26  # maximum bytes of the bits of a subset; with many samples, rows are tested in parts
_GROUP = 512  # rows ordered by window width
_ROWS = 8  # rows per block in `decide`
_REACH = 16  # bytes per sample of its search limits
_KERNELS = ("common.cu", "arrange.cu", "filter.cu", "decide.cu")
_FUNCTIONS = (
    "scale_features",
    "arrange",
    "sort_samples",
    "choose_keys",
    "list_places",
    "limit",
    "group_rows",
    "filter",
    "decide",
)


def knn_cuda_grid(columns: Any, metric: int) -> tuple[np.float32, np.float32, np.float32]:
    """Return the grid of levels for data of shape (p, n): half its span, its step, and the last level.

    There are 256 levels, or fewer, so that the largest sum of squared differences fits into 30 bits.
    """
    last = 255 if metric != 1 else min(255, int(np.sqrt((1 << 30) / len(columns))))
    span = np.float32(max(float(np.abs(columns).max()), 1e-30))
    return span, np.float32(2 * span / last), np.float32(last)


def knn_cuda_pivots(data: FloatArray) -> npt.NDArray[np.int32]:
    """Return a pivot for each sort key, each as far as possible from the earlier ones."""
    pivots = [int(np.abs(data - data.mean(axis=0)).sum(axis=1).argmax())]
    nearest = np.full(len(data), np.inf)
    while len(pivots) < _KEYS:
        nearest = np.minimum(nearest, np.abs(data - data[pivots[-1]]).sum(axis=1))
        pivots.append(int(nearest.argmax()))
    return np.array(pivots, dtype=np.int32)


class _ViewOnGpu:
    """A view of the data in GPU memory."""

    def __init__(self, cp: Any, view: FoldView, n_padded: int, metric: int) -> None:
        self.columns = cp.zeros((view.columns.shape[0], n_padded), dtype=cp.float32)
        self.columns[:, : view.columns.shape[1]] = cp.asarray(view.columns)
        self.data = cp.asarray(view.data)
        self.exponents = cp.asarray(view.exponents.astype(np.int32))
        self.variances = view.columns.var(axis=1, dtype=np.float64) * 4.0 ** np.maximum(view.exponents, -500)
        self.grid = knn_cuda_grid(view.columns, metric)
        self.tested = view.tested


class KNNOnCuda(CudaBackend[KNNEvaluator]):
    """k-NN on the GPU, by the CUDA sources next to this file."""

    def __init__(self, evaluator: KNNEvaluator) -> None:
        super().__init__(evaluator)
        cp = self._cp
        self._metric = evaluator.metric_number
        self._n = n = len(evaluator.data)
        self._n_padded = -(-n // _SIDE) * _SIDE
        self._slab = min(self._n_padded, max(1, _SLAB // (16 * self._n_padded)) * _SIDE)
        self._keys = 1 if self._metric == 2 else _KEYS
        self._views = [_ViewOnGpu(cp, view, self._n_padded, self._metric) for view in evaluator.views]
        self._pivots = cp.asarray(knn_cuda_pivots(evaluator.views[0].data))
        n_guesses = max(12, 2 * evaluator.n_neighbors)
        options = ("--std=c++14", f"-DK={evaluator.n_neighbors}", f"-DMETRIC={self._metric}", f"-DGUESSES={n_guesses}")
        module = cp.RawModule(code=cuda_source(__package__, *_KERNELS), options=options)
        self._kernels = {name: module.get_function(name) for name in _FUNCTIONS}
        available = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        self._n_sorted = 1 << (n - 1).bit_length()
        if 8 * self._n_sorted <= available:
            self._kernels["sort_samples"].max_dynamic_shared_size_bytes = 8 * self._n_sorted
        else:
            self._n_sorted = 0
        self._guesses = self._guess(module.get_function("guess"), n_guesses)

    def _guess(self, kernel: Any, count: int) -> Any:
        """Samples near each sample in the space of all features."""
        cp = self._cp
        view = self._views[0]
        exponents = self.evaluator.views[0].exponents
        scales = cp.asarray(np.ldexp(1.0, np.maximum(exponents - exponents.max(), -200)).astype(np.float32))
        guesses = cp.empty((self._n, count), dtype=cp.int32)
        numbers = (np.int32(self._n), np.int32(self._n_padded), np.int32(len(view.columns)))
        kernel((self._n,), (128,), (view.columns, *numbers, scales, self._folds, guesses))
        return guesses

    def _bytes_each(self, masks: BoolArray) -> int:
        words = -(-int(masks.sum(axis=1).max(initial=1)) // 4)
        each = self._n_padded * (20 * words + 8 * self._keys + 28 + _REACH) + self._slab * self._n_padded // 8
        return max(each, 1 << 17)  # a CUDA grid holds at most 65535 subsets

    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        cp = self._cp
        m = len(masks)
        counts = cp.zeros((m, self.evaluator.folds.n_folds), dtype=cp.int32)
        labels = cp.empty((m, self._n), dtype=cp.int16) if predicted else None
        selected, sizes, widest = self._pack(masks)
        for view in self._views:
            self._test(view, view.tested, masks, (selected, sizes, widest), counts, labels)
        return np.asarray(cp.asnumpy(counts if labels is None else labels), dtype=np.int64)

    def _test(
        self, view: _ViewOnGpu, folds: range, masks: BoolArray, subsets: tuple[Any, Any, int], counts: Any, labels: Any
    ) -> None:
        """Test the samples of some folds, scaled as in the view, under each subset."""
        cp = self._cp
        m = len(masks)
        i32 = np.int32
        k = self._kernels
        selected, sizes, widest = subsets
        n = i32(self._n)
        n_padded = i32(self._n_padded)
        words = i32(-(-widest // 4))
        n_tested = int(self.evaluator.folds.sizes[folds.start : folds.stop].sum())
        tested = i32(n_tested)
        edges = (i32(folds.start), i32(folds.stop))
        scales = cp.empty((m, widest), dtype=cp.float32)
        errors = cp.empty((m, 2), dtype=cp.float32)
        k["scale_features"](
            (-(-m // 4),), (128,), (selected, sizes, i32(m), i32(widest), view.exponents, scales, errors)
        )

        rows = cp.empty((m, self._n, 4 * words), dtype=cp.float32)
        keys = cp.empty((m, self._n_padded, self._keys), dtype=cp.float32)
        blurs = cp.empty((m, self._n), dtype=cp.float32)
        moments = cp.zeros((m, self._keys, 2))
        most_blur = cp.zeros(m, dtype=cp.int32)
        most_key = cp.zeros(m, dtype=cp.int32)
        given = (view.columns, n, n_padded, selected, scales, sizes, i32(widest), words, self._pivots)
        arranged_parts = (rows, keys, blurs, most_blur, most_key, moments)
        k["arrange"]((-(-self._n // 256), m), (256,), (*given, self._leads(view, masks), *view.grid, *arranged_parts))
        order, sorted_keys = self._sort(keys, moments)

        packed = cp.empty((m, int(words), self._n_padded), dtype=cp.uint32)
        reaches = cp.empty((m, self._n_padded, _REACH), dtype=cp.uint8)
        arranged = (rows, n, n_padded, sizes, words, order, sorted_keys, blurs, most_blur, most_key, errors)
        placed = cp.empty((m, self._n_padded, 2), dtype=cp.int32)
        placed_keys = cp.empty_like(keys)
        known = (self._guesses, self._folds, *edges, keys, packed, placed, placed_keys, reaches)
        k["limit"]((self._n_padded // 64, m), (256,), (*arranged, *view.grid, *known))
        listed: Any = 0
        if n_tested < self._n:
            listed = cp.empty((m, self._n), dtype=cp.int32)
            k["list_places"]((m,), (1024,), (order, n, n_padded, self._folds, *edges, listed))
        places = cp.empty((m, self._n), dtype=cp.int32)
        k["group_rows"]((-(-n_tested // _GROUP), m), (_GROUP,), (reaches, listed, tested, n, n_padded, places))

        slab = min(self._slab, -(-n_tested // _SIDE) * _SIDE)
        bits = cp.empty((m, slab, self._n_padded // 8), dtype=cp.uint8)
        exact = (rows, view.data, i32(view.data.shape[1]), n, n_padded, selected, sizes, i32(widest), words, errors)
        out = (self._labels, i32(counts.shape[1]), counts, 0 if labels is None else labels)
        for first in range(0, n_tested, slab):
            here = min(slab, n_tested - first)
            at = (i32(first), i32(slab), bits)
            filtered = (packed, n_padded, sizes, words, reaches, places, tested, n, *at)
            k["filter"]((-(-here // _SIDE), m), (256,), filtered)
            k["decide"](
                (-(-here // _ROWS), m), (256,), (*exact, placed, placed_keys, reaches, places, tested, *at, *out)
            )

    def _leads(self, view: _ViewOnGpu, masks: BoolArray) -> Any:
        """The sort feature of each subset for the Chebyshev distance: the one of largest variance."""
        if self._metric != 2:
            return 0
        features = np.where(masks, view.variances, -1.0).argmax(axis=1)
        before = np.cumsum(masks, axis=1)[np.arange(len(masks)), features] - 1
        return self._cp.asarray(before.astype(np.int32))

    def _sort(self, keys: Any, moments: Any) -> tuple[Any, Any]:
        """Samples sorted by the key of largest variance, (m, n_padded), and their keys."""
        cp = self._cp
        m = len(keys)
        n = np.int32(self._n)
        n_padded = np.int32(self._n_padded)
        order = cp.empty((m, self._n_padded), dtype=cp.int32)
        sorted_keys = cp.empty((m, self._n_padded), dtype=cp.float32)
        if self._n_sorted:
            given = (keys, moments, n, n_padded, np.int32(self._n_sorted), order, sorted_keys)
            self._kernels["sort_samples"]((m,), (1024,), given, shared_mem=8 * self._n_sorted)
            return order, sorted_keys
        chosen = cp.empty_like(sorted_keys)
        self._kernels["choose_keys"]((-(-self._n_padded // 256), m), (256,), (keys, moments, n, n_padded, chosen))
        for row in range(m):  # one by one: sorting all together takes far more memory
            order[row] = cp.argsort(chosen[row])
            sorted_keys[row] = chosen[row][order[row]]
        order[:, self._n :] = -1
        return order, sorted_keys
