"""Exact k-nearest-neighbour errors of many subsets at once, on an NVIDIA GPU.

Under each subset the events are sorted by their distance to a pivot (under the Chebyshev distance, by one feature):
by the triangle inequality events far apart in this order are far apart. One block looks for the neighbours of 128
events in a row. It goes through the events 128 at a time, from its own place outwards:

1. Distances of a tile are added up in registers, in single precision, 8 x 8 for each thread.
2. From the first tile each event learns how far its k-th neighbour can be at most, rounding allowed for. What is
   farther is dropped at once; what is nearer is kept in a short list, and the limit shrinks with it. When the next tile
   on a side is farther than all limits, that side is done.
3. In the end the list holds the neighbours and what rounding cannot tell from them. Only if it holds more than k
   are distances computed again in double precision, in the order of the features, ties to the lower index.

An event whose list overflows (data full of ties) is done by brute force in double precision by another kernel. So
the counts are those of the processor's code in every case.
"""

from typing import TYPE_CHECKING

import numpy as np

from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.backend import CudaBackend
from pqswarm.evaluation.cuda import pack_masks, source

if TYPE_CHECKING:
    from pqswarm.evaluation.knn import KNNEvaluator

__all__ = ["KNNOnCuda", "error_floors", "list_length", "mask_scales"]

_SIDE = 128  # events in a tile, both ways
_UNIT = 2.0**-24  # rounding unit of single precision
_SAFETY = 1.1
_STATIC = 4608  # bytes of fast memory that kernels take besides what is asked for
_MOST_SORTED = 8192  # events that fit into the fast memory of a block; more are taken as they come


def mask_scales(masks: BoolArray, exponents: IntArray) -> FloatArray:
    """Return for each subset and feature the factor that brings its features to a common scale, the largest to 1.

    The factors, (m, n_features), are powers of two, at most 1 for selected features; `exponents` are the powers of two
    by which the features were divided. No subset may be empty.
    """
    if not masks[:, exponents != exponents.max()].any():  # as a rule: data that were scaled
        return np.ones(masks.shape)
    largest = np.where(masks, exponents, -(10**6)).max(axis=1, keepdims=True)
    return np.asarray(np.ldexp(1.0, np.clip(exponents - largest, -200, 0).astype(np.int32)))


def error_floors(masks: BoolArray, scales: FloatArray, metric: int) -> FloatArray:
    """Return a bound, (m,), of the error that rounding the data makes in the distances of each subset."""
    inside = np.where(masks, scales, 0.0)
    sizes = (inside.sum(axis=1), np.sqrt((inside**2).sum(axis=1)), np.ones(len(masks)))[metric]
    return np.asarray(_SAFETY * 3.0 * _UNIT * sizes + 1e-30)


def list_length(k: int, shared: int) -> int:
    """Return how many near events a block remembers for each of its events, if the GPU gives it `shared` bytes.

    Examples
    --------
    >>> list_length(3, 101_376), list_length(15, 101_376), list_length(3, 65_536)
    (32, 48, 27)
    """
    room = (shared - _STATIC - 4 * _SIDE * (_SIDE // 2 + 1)) // (8 * _SIDE)
    if room < k + 4:
        raise PqswarmError(
            f"this GPU gives {shared} bytes of fast memory to a block, too few for {k} neighbours: use device 'cpu'."
        )
    return min(room, 32 if k <= 5 else 48)


class KNNOnCuda(CudaBackend["KNNEvaluator"]):
    """The GPU's part of a k-NN evaluator: the compiled code of ``knn_order.cu`` and ``knn.cu``."""

    def __init__(self, evaluator: "KNNEvaluator") -> None:
        super().__init__(evaluator)
        cp, n = self._cp, len(evaluator.data)
        self._n, self._n_padded = n, -(-n // _SIDE) * _SIDE
        self._n_sorted = 1 << (n - 1).bit_length() if n <= _MOST_SORTED else 0
        # At random, so that near events do not come together where they are not sorted.
        order = np.random.Generator(np.random.PCG64(0)).permutation(n)
        place = np.argsort(order)
        self._event_at = cp.asarray(order.astype(np.int32))
        self._pivots = cp.asarray(place[evaluator.pivots].astype(np.int32))
        self._views = []
        for view in evaluator.views:
            columns = np.zeros((view.columns.shape[0], self._n_padded), dtype=np.float32)
            columns[:, :n] = view.columns[:, order]
            tested = n if view.fold < 0 else int(evaluator.folds.sizes[view.fold])
            self._views.append((cp.asarray(columns), cp.asarray(view.data), view.exponents, view.fold, tested))
        k, metric = evaluator.n_neighbors, evaluator.metric_number
        device = cp.cuda.Device().attributes
        shared = device["MaxSharedMemoryPerBlockOptin"]
        slots = list_length(k, shared)
        self._n_sorted = self._n_sorted if 8 * self._n_sorted + _STATIC <= shared else 0
        options = ("--std=c++14", f"-DK={k}", f"-DMETRIC={metric}", f"-DLIST={slots}")
        module = cp.RawModule(code=source("knn_order.cu", "knn.cu"), options=options)
        names = ("sort_events", "gather", "neighbours", "brute_force")
        self._sort, self._gather, self._neighbours, self._brute_force = (module.get_function(name) for name in names)
        self._shared = 4 * _SIDE * (_SIDE // 2 + 1) + 8 * _SIDE * slots
        self._neighbours.max_dynamic_shared_size_bytes = self._shared
        self._sort.max_dynamic_shared_size_bytes = 8 * self._n_sorted
        self._blocks = 16 * device["MultiProcessorCount"]

    def _bytes_each(self, masks: BoolArray) -> int:
        widest = int(masks.sum(axis=1).max(initial=1))
        # At most 65535 subsets fit into a grid.
        return max(4 * self._n_padded * (widest + 5), 1 << 15)

    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        cp, n, n_folds, m = self._cp, self._n, self.evaluator.folds.n_folds, len(masks)
        counts = cp.zeros((m, n_folds), dtype=cp.int32)
        labels = cp.empty((m, n), dtype=cp.int16) if predicted else None
        order, keys = cp.empty((m, self._n_padded), dtype=cp.int32), cp.empty((m, self._n_padded), dtype=cp.float32)
        rows, n_rows = cp.empty((m, n), dtype=cp.int32), cp.empty(m, dtype=cp.int32)
        overflowed = cp.empty(m * n, dtype=cp.int32)
        i32, n_padded = np.int32, np.int32(self._n_padded)
        for columns, data, exponents, fold, tested in self._views:
            scales = mask_scales(masks, exponents)
            floors = cp.asarray(error_floors(masks, scales, self.evaluator.metric_number))
            packed, packed_scales, packed_sizes = pack_masks(masks, scales)
            selected, sizes, widest = cp.asarray(packed), cp.asarray(packed_sizes), i32(packed.shape[1])
            factors = cp.asarray(packed_scales.astype(np.float32))
            sorted_columns = cp.empty((m, packed.shape[1], self._n_padded), dtype=cp.float32)
            n_overflowed = cp.zeros(1, dtype=cp.int32)
            subset = (selected, factors, sizes, widest)
            given = (columns, self._event_at, i32(n), n_padded, i32(self._n_sorted), self._pivots, *subset, self._folds)
            self._sort((m,), (1024,), (*given, i32(fold), order, keys, rows, n_rows), shared_mem=8 * self._n_sorted)
            self._gather(
                (-(-self._n_padded // 256), m), (256,), (columns, i32(n), n_padded, *subset, order, sorted_columns)
            )
            features = i32(data.shape[1])
            shared = (self._folds, self._labels, i32(n), i32(n_folds), counts, labels if labels is not None else 0)
            arranged = (sorted_columns, data, self._event_at, order, keys, rows, n_rows, n_padded, features)
            self._neighbours(
                (-(-tested // _SIDE), m),
                (256,),
                (*arranged, selected, sizes, widest, floors, *shared, overflowed, n_overflowed),
                shared_mem=self._shared,
            )
            self._brute_force(
                (self._blocks,), (128,), (data, features, selected, sizes, widest, *shared, overflowed, n_overflowed)
            )
        return np.asarray(cp.asnumpy(counts if labels is None else labels), dtype=np.int64)
