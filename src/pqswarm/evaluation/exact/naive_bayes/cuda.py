"""Exact naive Bayes errors of many subsets on an NVIDIA GPU.

Kernel densities: the scores of a batch are one matrix product in single precision; where rounding leaves the winner in
doubt, they are summed again in double precision, in the order of the features, as on the CPU. Normal densities: sums in
double precision; scikit-learn decides about doubtful samples.
"""

import numpy as np

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import CudaBackend, cuda_source
from pqswarm.evaluation.exact.naive_bayes.evaluator import GaussianNBEvaluator, KernelNBEvaluator

_THREADS = 256
_MAX_CLASSES = 2048  # whose means and weights of a feature fit into shared memory


class KernelNBOnCuda(CudaBackend[KernelNBEvaluator]):
    """Kernel naive Bayes on the GPU: a matrix product, and the kernels of ``kernel.cu``."""

    def __init__(self, evaluator: KernelNBEvaluator) -> None:
        super().__init__(evaluator)
        cp = self._cp
        by_fold = evaluator.folds.by_fold  # some folds are then a slice of the samples
        table = evaluator.table[:, by_fold]
        priors = evaluator.priors[by_fold]
        self._table = cp.asarray(table)
        self._priors = cp.asarray(priors)
        terms = np.empty((len(table) + 1, *priors.shape), dtype=np.float32)
        np.maximum(table, -1e30, out=terms[:-1], casting="same_kind")
        terms[-1] = priors
        self._table32 = cp.asarray(terms.reshape(len(terms), -1))
        self._folds = self._folds[by_fold]
        self._labels = self._labels[by_fold]
        options = ("--std=c++14", f"-DMAX_CLASSES={evaluator.classes.size}")
        module = cp.RawModule(code=cuda_source(__package__, "kernel.cu"), options=options)
        self._decide = module.get_function("decide")
        self._exactly = module.get_function("decide_exactly")
        self._blocks = 8 * cp.cuda.Device().attributes["MultiProcessorCount"]

    def _bytes_each(self, masks: BoolArray) -> int:  # noqa: ARG002
        return 4 * len(self.evaluator.data) * (self.evaluator.classes.size + 2)

    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        cp = self._cp
        e = self.evaluator
        number = np.int32
        n_classes = e.classes.size
        n_folds = e.folds.n_folds
        n = len(e.data)
        subsets = cp.asarray(masks)
        weights = cp.ones((len(masks), masks.shape[1] + 1), dtype=cp.float32)
        weights[:, :-1] = subsets
        scores = weights @ self._table32
        sizes = subsets.sum(axis=1, dtype=cp.int32)
        counts = cp.zeros((len(masks), n_folds), dtype=cp.int32)
        labels = cp.empty((len(masks), n), dtype=cp.int16) if predicted else None
        doubtful = cp.empty(len(masks) * n, dtype=cp.int32)
        n_doubtful = cp.zeros(1, dtype=cp.int32)
        tested = (self._folds, self._labels, number(n_folds))
        shared = (*tested, counts, labels if labels is not None else 0)
        numbers = (number(n), number(n_classes))
        self._decide(
            (-(-len(masks) * n // _THREADS),),
            (_THREADS,),
            (scores, sizes, np.float64(e.highest), *numbers, number(len(masks)), *shared, doubtful, n_doubtful),
        )
        given = (self._table, self._priors)
        self._exactly(
            (self._blocks,),
            (_THREADS,),
            (*given, subsets, number(masks.shape[1]), number(len(e.data)), *numbers, *shared, doubtful, n_doubtful),
        )
        if labels is None:
            return np.asarray(cp.asnumpy(counts), dtype=np.int64)
        results = np.empty((len(masks), len(e.data)), dtype=np.int64)
        results[:, e.folds.by_fold] = cp.asnumpy(labels)
        return results


class GaussianNBOnCuda(CudaBackend[GaussianNBEvaluator]):
    """Gaussian naive Bayes on the GPU, by the kernels of ``gaussian.cu``; single features are left to the CPU."""

    def __init__(self, evaluator: GaussianNBEvaluator) -> None:
        super().__init__(evaluator)
        cp = self._cp
        self._columns = cp.asarray(evaluator.columns)
        self._means, self._variances, self._spread = (cp.asarray(moment) for moment in evaluator.moments)
        self._log_priors = cp.asarray(evaluator.log_priors)
        self._starts = cp.asarray(evaluator.folds.starts.astype(np.int32))
        self._labels = cp.asarray(evaluator.labels[evaluator.folds.by_fold].astype(np.int32))
        n_classes = evaluator.classes.size
        if n_classes > _MAX_CLASSES:
            raise PqswarmError(
                f"there are {n_classes} classes, more than the {_MAX_CLASSES} of device 'cuda': use 'cpu'."
            )
        options = ("--std=c++14", f"-DCLASSES={n_classes}", f"-DFEATURES={max(1, min(16, _MAX_CLASSES // n_classes))}")
        module = cp.RawModule(code=cuda_source(__package__, "gaussian.cu"), options=options)
        self._constants = module.get_function("constants")
        self._winners = module.get_function("winners")

    def run(self, masks: BoolArray, *, predicted: bool) -> IntArray:
        """Return labels or counts; see :class:`CudaBackend`."""
        e = self.evaluator
        single = masks.sum(axis=1) < 2
        results = np.empty((len(masks), len(e.data) if predicted else e.folds.n_folds), dtype=np.int64)
        results[~single] = super().run(masks[~single], predicted=predicted)
        results[single] = (e._predict_on_cpu if predicted else e._count_on_cpu)(masks[single])
        return results

    def _bytes_each(self, masks: BoolArray) -> int:  # noqa: ARG002
        n_folds, n_features, n_classes = self.evaluator.moments[0].shape
        return int(max(12 * len(self.evaluator.data) + 8 * n_folds * n_classes * (n_features + 2), 1 << 17))

    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        e = self.evaluator
        counts, winners, doubtful = self._decide(masks, predicted)
        labels = np.empty_like(winners)
        labels[:, e.folds.by_fold] = winners
        rows, firsts = np.unique(doubtful // len(e.data), return_index=True)
        for row, samples in zip(rows.tolist(), np.split(doubtful % len(e.data), firsts)[1:], strict=True):
            places = e.folds.by_fold[samples]
            decided = labels[row] if predicted else e.labels.copy()
            e.decide_as_scikit_learn(np.flatnonzero(masks[row]), places, decided)
            wrong = decided[places] != e.labels[places]
            np.add.at(counts[row], e.folds.test_fold[places[wrong]], 1)
        return labels if predicted else counts

    def _decide(self, masks: BoolArray, predicted: bool) -> tuple[IntArray, IntArray, IntArray]:
        """Errors of each fold, the winner of each sample if requested, and the numbers of the doubtful pairs."""
        cp = self._cp
        number = np.int32
        n_folds, n_features, n_classes = self._means.shape
        n = self._columns.shape[1]
        m = len(masks)
        selected, sizes, widest = self._pack(masks)
        constant = cp.empty((m, n_folds, n_classes))
        largest = cp.empty_like(constant)
        weights = cp.empty((m, n_folds, widest, n_classes))
        shape = (number(m), number(n_folds), number(n_features), number(n_classes))
        subsets = (selected, sizes, number(widest))
        given = (self._variances, self._spread, np.float64(self.evaluator.var_smoothing), self._log_priors)
        self._constants(
            (-(-constant.size // _THREADS),), (_THREADS,), (*given, *subsets, *shape, constant, weights, largest)
        )
        counts = cp.zeros((m, n_folds), dtype=cp.int32)
        winners = cp.empty((m, n), dtype=cp.int16) if predicted else None
        doubtful = cp.empty(m * n, dtype=cp.int64)
        n_doubtful = cp.zeros(1, dtype=cp.int32)
        samples = (self._columns, self._starts, self._labels, self._means, constant, weights, largest)
        outcomes = (counts, winners if winners is not None else 0, doubtful, n_doubtful)
        numbers = (number(n), number(n_folds), number(n_features))
        self._winners((n_folds, m), (128,), (*samples, *subsets, *numbers, *outcomes))
        doubts = cp.asnumpy(doubtful[: int(n_doubtful[0])])
        none = np.empty((0, n), dtype=np.int64)
        return (
            np.asarray(cp.asnumpy(counts), dtype=np.int64),
            none if winners is None else np.asarray(cp.asnumpy(winners), dtype=np.int64),
            np.sort(doubts),
        )
