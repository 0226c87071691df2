"""Evaluators on an NVIDIA GPU: what they share. Nothing here runs without CuPy, and nothing falls back silently."""

import os
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

from pqswarm._typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name

__all__ = ["DEVICES", "MEMORY", "check_device", "cupy", "pack_masks", "pieces", "source"]

DEVICES: tuple[str, ...] = ("cpu", "cuda")
"""Where evaluators can compute."""

MEMORY = 1 << 30
"""Bytes of the GPU's memory that a batch may take at a time, besides the data; larger batches are cut."""


def check_device(device: object) -> None:
    """Raise an error that says what is missing if evaluators cannot compute there."""
    if not isinstance(device, str) or device not in DEVICES:
        raise unknown_name("device", device, DEVICES)
    if device == "cuda":
        cupy()


def cupy() -> Any:
    """Return CuPy, or raise an error that says what to install or use."""
    try:
        import cupy as found
    except ImportError:
        raise PqswarmError(
            "device 'cuda' needs CuPy: pip install 'pqswarm[gpu]' (or the cupy package of your CUDA version), or use "
            "device 'cpu'."
        ) from None
    try:
        count = found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise PqswarmError(f"device 'cuda' needs an NVIDIA GPU and its driver ({error}): use device 'cpu'.") from None
    if not count:
        raise PqswarmError("device 'cuda' needs an NVIDIA GPU, and there is none: use device 'cpu'.")
    if os.environ.get("CUPY_TF32", "0") != "0":
        raise PqswarmError("CUPY_TF32 makes matrix products too coarse for exact counts: unset it.")
    return found


def pieces(masks: BoolArray, bytes_each: int, memory: int = MEMORY) -> list[IntArray]:
    """Cut a batch into pieces that fit into the memory, as few and as even as can be, subsets of like size together.

    The rows of each piece are returned: so ordered, no small subset takes the memory of a large one.
    """
    count, most = len(masks), max(1, memory // max(1, bytes_each))
    order, number = np.argsort(masks.sum(axis=1), kind="stable"), -(-count // most)
    edges = [round(piece * count / number) for piece in range(number + 1)] if count else []
    return [order[start:stop] for start, stop in pairwise(edges)]


def source(*names: str) -> str:
    """Return the text of files of kernels beside this one, joined."""
    return "".join((files("pqswarm.evaluation") / name).read_text(encoding="utf-8") for name in names)


def pack_masks(masks: BoolArray, weights: FloatArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return for each mask its features, ascending, their weights, and their number; rows are padded with zeros."""
    rows, features = np.nonzero(masks)
    sizes = np.bincount(rows, minlength=len(masks))
    places = np.arange(rows.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    selected = np.zeros((len(masks), max(1, int(sizes.max(initial=0)))), dtype=np.int32)
    values = np.zeros(selected.shape)
    selected[rows, places] = features
    values[rows, places] = weights[rows, features]
    return selected, values, sizes.astype(np.int32)
