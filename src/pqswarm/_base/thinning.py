"""Thinning of waveforms: the minimum and maximum of each bin, which is all that a picture can show."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray


def extremes(values: Any, step: int) -> tuple[Any, Any]:
    """Return the minimum and maximum of each bin.

    Parameters
    ----------
    values : ndarray of shape (..., n)
        A series, or some; NaN is ignored.
    step : int
        Values in a bin; the last bin may be shorter.

    Returns
    -------
    tuple of ndarray of shape (..., ceil(n / step))
        Minima and maxima; NaN where a bin has no number.

    Examples
    --------
    >>> extremes(np.array([3.0, np.nan, 1.0, 5.0, 4.0]), 2)
    (array([3., 1., 4.]), array([3., 5., 4.]))
    """
    n = values.shape[-1]
    whole = n // step
    low = np.empty((*values.shape[:-1], -(-n // step)), values.dtype)
    high = np.empty_like(low)
    bins = values[..., : whole * step].reshape(*values.shape[:-1], whole, step)
    for found, ufunc in ((low, np.fmin), (high, np.fmax)):
        ufunc.reduce(bins, axis=-1, out=found[..., :whole])
        if whole * step < n:
            found[..., -1] = ufunc.reduce(values[..., whole * step :], axis=-1)
    return low, high


def extremes_between(values: FloatArray, edges: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the minimum and maximum of a series between successive edges; NaN where there is no finite value.

    Examples
    --------
    >>> extremes_between(np.array([3.0, 1.0, 5.0]), [0, 2, 2, 3])
    (array([ 1., nan,  5.]), array([ 3., nan,  5.]))
    """
    low, high = np.full(len(edges) - 1, np.nan), np.full(len(edges) - 1, np.nan)
    for i, (first, stop) in enumerate(pairwise(edges)):
        known = values[first:stop]
        known = known[np.isfinite(known)]
        if known.size:
            low[i], high[i] = known.min(), known.max()
    return low, high


def extreme_places(values: FloatArray, step: int) -> Any:
    """Return where the minimum and maximum of each bin are, in the order in which they occur.

    A line through these values looks like the line through all.

    Parameters
    ----------
    values : ndarray of shape (..., n)
        A series, or some; values that are not finite are ignored.
    step : int
        Values in a bin; the last bin may be shorter.

    Returns
    -------
    ndarray of int of shape (..., ceil(n / step), 2)
        Positions in the series. A bin without a finite value has its first position, twice.

    Examples
    --------
    >>> extreme_places(np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 3)
    array([[0, 1],
           [3, 4]])
    """
    n = values.shape[-1]
    pad = [(0, 0)] * (values.ndim - 1) + [(0, -n % step)]
    bins = np.pad(values, pad, constant_values=np.nan).reshape(*values.shape[:-1], -1, step)
    known = np.isfinite(bins)
    places = np.stack([np.where(known, bins, np.inf).argmin(-1), np.where(known, bins, -np.inf).argmax(-1)], axis=-1)
    return np.sort(places, axis=-1) + step * np.arange(bins.shape[-2])[:, np.newaxis]
