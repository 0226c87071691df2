"""Exact naive Bayes errors of many subsets at once, on an NVIDIA GPU.

Kernel naive Bayes: the scores of a batch are one matrix product in single precision; where its rounding leaves the
winner in doubt, the sums are made again in double precision, in the order of the features, as the processor does it.
Normal densities: sums in double precision; events in doubt are left to the processor, which asks scikit-learn.
"""

from typing import TYPE_CHECKING

import numpy as np

from pqswarm._typing import BoolArray, IntArray
from pqswarm.evaluation.backend import CudaBackend
from pqswarm.evaluation.cuda import cupy, pack_masks, pieces, source
from pqswarm.evaluation.gaussian_nb import GaussianNBEvaluator, GaussianNBOnCpu

if TYPE_CHECKING:
    from pqswarm.evaluation.naive_bayes import KernelNBEvaluator

__all__ = ["GaussianNBOnCuda", "KernelNBOnCuda"]

_THREADS = 256


class KernelNBOnCuda(CudaBackend["KernelNBEvaluator"]):
    """The GPU's part of a kernel naive Bayes evaluator: a matrix product, and the compiled code of ``kernel_nb.cu``."""

    def __init__(self, evaluator: "KernelNBEvaluator") -> None:
        super().__init__(evaluator)
        cp = self._cp
        self._table = cp.asarray(evaluator.table)
        self._priors = cp.asarray(evaluator.priors)
        self._table32 = cp.asarray(evaluator.table32.reshape(len(evaluator.table32), -1))
        options = ("--std=c++14", f"-DMOST_CLASSES={evaluator.classes.size}")
        module = cp.RawModule(code=source("kernel_nb.cu"), options=options)
        self._decide, self._exactly = module.get_function("decide"), module.get_function("decide_exactly")
        self._blocks = 8 * cp.cuda.Device().attributes["MultiProcessorCount"]

    def _bytes_each(self, masks: BoolArray) -> int:  # noqa: ARG002
        return 4 * len(self.evaluator.data) * (self.evaluator.classes.size + 2)

    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        cp, e, number = self._cp, self.evaluator, np.int32
        n, n_classes, n_folds = len(e.data), e.classes.size, e.folds.n_folds
        subsets = cp.asarray(masks)
        weights = cp.ones((len(masks), masks.shape[1] + 1), dtype=cp.float32)
        weights[:, :-1] = subsets
        scores = weights @ self._table32
        sizes = subsets.sum(axis=1, dtype=cp.int32)
        counts = cp.zeros((len(masks), n_folds), dtype=cp.int32)
        labels = cp.empty((len(masks), n), dtype=cp.int16) if predicted else None
        doubtful, n_doubtful = cp.empty(len(masks) * n, dtype=cp.int32), cp.zeros(1, dtype=cp.int32)
        shared = (self._folds, self._labels, number(n_folds), counts, labels if labels is not None else 0)
        numbers = (number(n), number(n_classes))
        self._decide(
            (-(-len(masks) * n // _THREADS),),
            (_THREADS,),
            (scores, sizes, np.float64(e.highest), *numbers, number(len(masks)), *shared, doubtful, n_doubtful),
        )
        self._exactly(
            (self._blocks,),
            (_THREADS,),
            (self._table, self._priors, subsets, number(masks.shape[1]), *numbers, *shared, doubtful, n_doubtful),
        )
        return np.asarray(cp.asnumpy(counts if labels is None else labels), dtype=np.int64)


class GaussianNBOnCuda(GaussianNBOnCpu):
    """The GPU's part of a Gaussian naive Bayes evaluator: the compiled code of ``gaussian_nb.cu``.

    Single features, and subsets without any variance, have rules of their own, and are left to the CPU.
    """

    def __init__(self, evaluator: GaussianNBEvaluator) -> None:
        super().__init__(evaluator)
        self._cp = cp = cupy()
        means, variances, _ = evaluator.moments
        self._columns = cp.asarray(evaluator.columns)
        self._means, self._variances = cp.asarray(means), cp.asarray(variances)
        self._log_priors = cp.asarray(evaluator.log_priors)
        sizes = np.diff(evaluator.starts)
        self._fold_of = cp.asarray(np.repeat(np.arange(sizes.size), sizes).astype(np.int32))
        module = cp.RawModule(code=source("gaussian_nb.cu"), options=("--std=c++14",))
        self._constants, self._winners = module.get_function("constants"), module.get_function("winners")

    def predict(self, masks: BoolArray) -> IntArray:
        """Return the labels of every event for each mask; see :class:`Backend`."""
        e = self.evaluator
        predicted = np.empty((len(masks), len(e.data)), dtype=np.int64)
        spread = np.where(masks[:, np.newaxis], e.moments[2][np.newaxis], 0.0).max(axis=2)
        plain = (masks.sum(axis=1) > 1) & (e.var_smoothing * spread > 0).all(axis=1)
        if not plain.all():
            predicted[~plain] = super().predict(masks[~plain])
        rows = np.flatnonzero(plain)
        n_folds, _, n_classes = self._means.shape
        each = 4 * len(e.data) + 8 * n_folds * n_classes * (masks.shape[1] + 2)
        for part in pieces(masks[plain], each):
            winners, doubtful = self._part(masks[rows[part]])
            for row, own, doubt in zip(rows[part], winners, doubtful, strict=True):
                predicted[row, e.by_fold] = own
                if doubt.any():
                    e.decide_as_scikit_learn(masks[row], e.by_fold[doubt], predicted[row])
        return predicted

    def _part(self, masks: BoolArray) -> tuple[IntArray, BoolArray]:
        """The class of the largest score of each event, fold by fold, and where another one comes close."""
        cp, number = self._cp, np.int32
        n_folds, n_features, n_classes = self._means.shape
        n, m = self._columns.shape[1], len(masks)
        spread = self.evaluator.moments[2]
        largest_spread = np.where(masks[:, np.newaxis], spread[np.newaxis], -np.inf).max(axis=2)
        smoothing = cp.asarray(self.evaluator.var_smoothing * largest_spread)
        packed, _, sizes = pack_masks(masks, np.zeros(masks.shape))
        selected, sizes, widest = cp.asarray(packed), cp.asarray(sizes), number(packed.shape[1])
        constant = cp.empty((m, n_folds, n_classes))
        largest = cp.empty_like(constant)
        weights = cp.empty((m, n_folds, packed.shape[1], n_classes))
        shape = (number(m), number(n_folds), number(n_features), number(n_classes))
        self._constants(
            (-(-constant.size // _THREADS),),
            (_THREADS,),
            (self._variances, smoothing, self._log_priors, selected, sizes, widest, *shape, constant, weights, largest),
        )
        winners, doubtful = cp.empty((m, n), dtype=cp.int16), cp.empty((m, n), dtype=cp.bool_)
        self._winners(
            (-(-m * n // _THREADS),),
            (_THREADS,),
            (
                *(self._columns, self._fold_of, self._means, constant, weights, largest, selected, sizes, widest),
                *(number(m), number(n), *shape[1:], winners, doubtful),
            ),
        )
        return cp.asnumpy(winners).astype(np.int64), cp.asnumpy(doubtful)
