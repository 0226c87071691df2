"""The common part of evaluators on an NVIDIA GPU. It needs CuPy; nothing falls back to the CPU silently."""

import os
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.errors import PqswarmError, how_to_install

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
        import cupy as found
    except ImportError:
        raise PqswarmError(
            f"device 'cuda' needs CuPy: {how_to_install('gpu')} (or the cupy package of your CUDA version), or use "
            f"device 'cpu'."
        ) from None
    try:
        count = found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise PqswarmError(f"device 'cuda' needs an NVIDIA GPU and its driver ({error}): use device 'cpu'.") from None
    if not count:
        raise PqswarmError("device 'cuda' needs an NVIDIA GPU, and none was found: use device 'cpu'.")
    if os.environ.get("CUPY_TF32", "0") != "0":
        raise PqswarmError("CUPY_TF32 makes matrix products too coarse for exact counts: unset it.")
    return found


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
