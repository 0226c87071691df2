"""Evaluators that compute on the CPU or on a GPU, chosen when they are constructed."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, EvaluatorOptions
from pqswarm.evaluation.cuda import batch_memory, check_device, cupy, cut_cuda_batch
from pqswarm.evaluation.folds import Folds

_LABELS = 2**22  # predicted at once at most
_Evaluator = TypeVar("_Evaluator", bound=ClassificationEvaluator)


class Backend(ABC, Generic[_Evaluator]):
    """The device-specific part of an evaluator, which works on the evaluator's data and settings."""

    def __init__(self, evaluator: _Evaluator) -> None:
        self.evaluator = evaluator

    @abstractmethod
    def predict(self, masks: BoolArray, folds: range | None = None) -> IntArray:
        """Return the labels of every sample, as positions in `classes`, for each non-empty mask: shape (m, n).

        If consecutive `folds` are given, only the labels of their samples matter.
        """

    def counts(self, masks: BoolArray, folds: range) -> IntArray:
        """Return the misclassified samples of consecutive folds for each non-empty mask: shape (m, len(folds))."""
        counts = np.empty((len(masks), len(folds)), dtype=np.int64)
        step = max(1, _LABELS // int(self.evaluator.folds.sizes.sum()))
        for first in range(0, len(masks), step):
            rows = slice(first, first + step)
            counts[rows] = self.evaluator.count_errors(self.predict(masks[rows], folds), folds)
        return counts


class CudaBackend(Backend[_Evaluator]):
    """A backend on an NVIDIA GPU; batches are cut into pieces that fit into its memory."""

    def __init__(self, evaluator: _Evaluator) -> None:
        super().__init__(evaluator)
        self._cp = cp = cupy()
        self._memory = batch_memory(cp)
        self._folds = cp.asarray(evaluator.folds.test_fold.astype(np.int32))
        self._labels = cp.asarray(evaluator.labels.astype(np.int32))

    @abstractmethod
    def _bytes_each(self, masks: BoolArray) -> int:
        """GPU memory per subset of the batch, in bytes."""

    @abstractmethod
    def _compute(self, masks: BoolArray, predicted: bool, folds: range) -> IntArray:
        """Labels if `predicted`, else counts, of a batch that fits into the memory."""

    def predict(self, masks: BoolArray, folds: range | None = None) -> IntArray:
        """Return the labels of every sample for each mask; see :class:`Backend`."""
        labels = np.empty((len(masks), len(self.evaluator.data)), dtype=np.int64)
        for rows in cut_cuda_batch(masks, self._bytes_each(masks), self._memory):
            labels[rows] = self._compute(masks[rows], True, folds or range(self.evaluator.folds.n_folds))
        return labels

    def counts(self, masks: BoolArray, folds: range) -> IntArray:
        """Return the misclassified samples of consecutive folds for each mask; see :class:`Backend`."""
        counts = np.empty((len(masks), len(folds)), dtype=np.int64)
        for rows in cut_cuda_batch(masks, self._bytes_each(masks), self._memory):
            counts[rows] = self._compute(masks[rows], False, folds)
        return counts


class ExactOptions(EvaluatorOptions, total=False):
    """Keyword arguments common to exact evaluators with a choice of device; see :class:`ExactEvaluator`."""

    device: str


class ExactEvaluator(ClassificationEvaluator):
    """A fast evaluator with exactly the error counts of fitting as usual, on every device.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    device : {"cpu", "cuda"}
        Compute on the CPU, or on an NVIDIA GPU through CuPy. Results do not depend on it.
    """

    _backend: Backend[Any]

    def __init__(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, *, device: str = "cpu", **options: Unpack[EvaluatorOptions]
    ) -> None:
        check_device(device)
        if device != "cpu" and not isinstance(folds, Folds):
            raise PqswarmError(
                f"device {device!r} needs Folds, a partition of the samples: use 'cpu' for other splits."
            )
        super().__init__(X, y, folds, **options)
        self.device = device

    def _predict(self, masks: BoolArray) -> IntArray:
        return self._backend.predict(masks)

    def _counts(self, masks: BoolArray) -> IntArray:
        return self._backend.counts(masks, range(self.folds.n_folds))

    def _part_counts(self, masks: BoolArray, folds: range) -> IntArray:
        return self._backend.counts(masks, folds)
