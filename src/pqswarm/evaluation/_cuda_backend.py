"""What the backends on NVIDIA GPUs share: a batch is computed in pieces that fit into the memory."""

from abc import abstractmethod
from typing import TypeVar

import numpy as np

from pqswarm._typing import BoolArray, IntArray
from pqswarm.evaluation.backend import Backend, ExactEvaluator
from pqswarm.evaluation.cuda import cupy, pieces

__all__ = ["CudaBackend"]

_Evaluator = TypeVar("_Evaluator", bound=ExactEvaluator)


class CudaBackend(Backend[_Evaluator]):
    """A backend that counts errors on the GPU, and brings labels home only where they are wanted.

    Parameters
    ----------
    evaluator : ExactEvaluator
        Whose counts to compute.
    """

    def __init__(self, evaluator: _Evaluator) -> None:
        super().__init__(evaluator)
        self._cp = cp = cupy()
        self._folds = cp.asarray(evaluator.folds.test_fold.astype(np.int32))
        self._labels = cp.asarray(evaluator.labels.astype(np.int32))

    @abstractmethod
    def _bytes_each(self, masks: BoolArray) -> int:
        """Memory of the GPU that each subset of the batch needs."""

    @abstractmethod
    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        """The labels of a batch that fits into the memory if they are wanted, else the counts."""

    def predict(self, masks: BoolArray) -> IntArray:
        """Return the labels of every event for each mask; see :class:`Backend`."""
        labels = np.empty((len(masks), len(self.evaluator.data)), dtype=np.int64)
        for rows in pieces(masks, self._bytes_each(masks)):
            labels[rows] = self._compute(masks[rows], True)
        return labels

    def counts(self, masks: BoolArray) -> IntArray:
        """Return the misclassified events of each fold for each mask; see :class:`Backend`."""
        counts = np.empty((len(masks), self.evaluator.folds.n_folds), dtype=np.int64)
        for rows in pieces(masks, self._bytes_each(masks)):
            counts[rows] = self._compute(masks[rows], False)
        return counts
