"""Thinning of waveforms: the minimum and maximum of each bin, which is all that a picture can show."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray


def extremes(values: Any, step: int) -> tuple[Any, Any]:
    """Return minimum and maximum of each bin of `step` values (..., n); the last may be shorter. NaN is ignored."""
    starts = np.arange(0, values.shape[-1], step)
    return np.fmin.reduceat(values, starts, axis=-1), np.fmax.reduceat(values, starts, axis=-1)


def extremes_between(values: FloatArray, edges: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the minimum and maximum of a series between successive edges; NaN where there is no finite value."""
    parts = [part[np.isfinite(part)] for part in np.split(values, edges)[1:-1]]
    low = np.array([part.min() if part.size else np.nan for part in parts])
    high = np.array([part.max() if part.size else np.nan for part in parts])
    return low, high


def extreme_places(values: FloatArray, step: int) -> Any:
    """Return where minimum and maximum of each bin of `step` values (..., n) are, in order: (..., n_bins, 2)."""
    n = values.shape[-1]
    pad = [(0, 0)] * (values.ndim - 1) + [(0, -n % step)]
    bins = np.pad(values, pad, constant_values=np.nan).reshape(*values.shape[:-1], -1, step)
    finite = np.isfinite(bins)
    places = np.stack([np.where(finite, bins, np.inf).argmin(-1), np.where(finite, bins, -np.inf).argmax(-1)], axis=-1)
    return np.sort(places, axis=-1) + step * np.arange(bins.shape[-2])[:, np.newaxis]
