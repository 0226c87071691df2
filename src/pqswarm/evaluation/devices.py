"""Evaluators that compute on the CPU, or on an NVIDIA GPU through CuPy; nothing falls back to the CPU silently."""

import os
from abc import ABC, abstractmethod
from importlib.resources import files
from itertools import pairwise
from typing import Any, Generic, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_name
from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.errors import PqswarmError, how_to_install
from pqswarm.evaluation.base import ClassificationEvaluator, EvaluatorOptions
from pqswarm.evaluation.folds import Folds

DEVICES: tuple[str, ...] = ("cpu", "cuda")
"""Where evaluators can compute."""

MEMORY = 1 << 32
"""Maximum bytes of GPU memory per batch, beyond the data; larger batches are cut."""


def check_device(device: object) -> None:
    """Raise an error that says what is missing if a device cannot be used."""
    if device == "gpu":
        raise PqswarmError("unknown device 'gpu': did you mean 'cuda'? Known: cpu, cuda.")
    check_name("device", device, DEVICES)
    if device == "cuda":
        cupy()


def cupy() -> Any:
    """Return CuPy, or raise an error that says what to install."""
    try:
        import cupy as module
    except ImportError:
        raise PqswarmError(
            f"device 'cuda' needs CuPy: {how_to_install('gpu')} (or the cupy package of your CUDA version), or use "
            f"device 'cpu'."
        ) from None
    try:
        count = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise PqswarmError(f"device 'cuda' needs an NVIDIA GPU and its driver ({error}): use device 'cpu'.") from None
    if not count:
        raise PqswarmError("device 'cuda' needs an NVIDIA GPU, and none was found: use device 'cpu'.")
    if os.environ.get("CUPY_TF32", "0") != "0":
        raise PqswarmError("CUPY_TF32 makes matrix products too coarse for exact counts: unset it.")
    return module


def batch_memory(cp: Any) -> int:
    """Return the bytes per batch: a sixteenth of the GPU's memory, which several threads share."""
    return min(MEMORY, int(cp.cuda.runtime.memGetInfo()[1]) // 16)


def cut_cuda_batch(masks: BoolArray, bytes_each: int, memory: int = MEMORY) -> list[IntArray]:
    """Cut a batch, ordered by size, into few, even pieces that fit into the memory, and return the rows of each."""
    count = len(masks)
    at_once = max(1, memory // max(1, bytes_each))
    order = np.argsort(masks.sum(axis=1), kind="stable")
    number = -(-count // at_once)
    edges = [round(piece * count / number) for piece in range(number + 1)] if count else []
    return [order[start:stop] for start, stop in pairwise(edges)]


def cuda_source(package: str, *names: str) -> str:
    """Return the concatenated text of CUDA sources of a package."""
    return "".join((files(package) / name).read_text(encoding="utf-8") for name in names)


class CudaMaskPacker:
    """Lists the selected features of masks on the GPU."""

    def __init__(self) -> None:
        self._cp = cupy()
        self._kernel = self._cp.RawModule(
            code=cuda_source(__package__, "masks.cu"), options=("--std=c++14",)
        ).get_function("pack_masks")

    def pack(self, masks: BoolArray) -> tuple[Any, Any, int]:
        """Return the features of each mask, ascending, int32[m, widest], their number, int32[m], and `widest`."""
        cp = self._cp
        (m, n_features) = masks.shape
        widest = max(1, int(masks.sum(axis=1).max(initial=0)))
        selected = cp.zeros((m, widest), dtype=cp.int32)
        sizes = cp.empty(m, dtype=cp.int32)
        numbers = (np.int32(m), np.int32(n_features), np.int32(widest))
        self._kernel((-(-m // 4),), (128,), (cp.asarray(masks), *numbers, selected, sizes))
        return selected, sizes, widest


_Evaluator = TypeVar("_Evaluator", bound=ClassificationEvaluator)


class CudaBackend(ABC, Generic[_Evaluator]):
    """The part of an evaluator on an NVIDIA GPU; batches are cut into pieces that fit into its memory."""

    def __init__(self, evaluator: _Evaluator) -> None:
        self.evaluator = evaluator
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

    def run(self, masks: BoolArray, folds: range, *, predicted: bool) -> IntArray:
        """Return the labels of every sample for each mask, or the misclassified ones of consecutive folds."""
        results = np.empty((len(masks), len(self.evaluator.data) if predicted else len(folds)), dtype=np.int64)
        for rows in cut_cuda_batch(masks, self._bytes_each(masks), self._memory):
            results[rows] = self._compute(masks[rows], predicted, folds)
        return results


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

    _gpu: CudaBackend[Any] | None = None

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

    def _predict(self, masks: BoolArray, folds: range | None = None) -> IntArray:
        tested = range(self.folds.n_folds) if folds is None else folds
        if self._gpu is not None:
            return self._gpu.run(masks, tested, predicted=True)
        return self._predict_on_cpu(masks, tested)

    def _counts(self, masks: BoolArray, folds: range) -> IntArray:
        if self._gpu is not None:
            return self._gpu.run(masks, folds, predicted=False)
        return self._count_on_cpu(masks, folds)

    @abstractmethod
    def _predict_on_cpu(self, masks: BoolArray, folds: range) -> IntArray:
        """The labels of every sample, as positions in `classes`; only those of the consecutive `folds` matter."""

    def _count_on_cpu(self, masks: BoolArray, folds: range) -> IntArray:
        return self.count_errors(self._predict_on_cpu(masks, folds), folds)
