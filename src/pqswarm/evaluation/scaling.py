"""Scale features once by all samples, or in each fold by its training samples."""

from typing import Literal

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.typing import FloatArray, IntArray

Scaling = Literal["once", "minmax", "standard", "robust", "none"]
SCALINGS: tuple[Scaling, ...] = ("once", "minmax", "standard", "robust", "none")
"""How features can be scaled."""

WITHIN_FOLDS: tuple[Scaling, ...] = ("minmax", "standard", "robust")
"""Scalings that are fitted to the training samples of each fold."""

_NO_SPAN = 10 * np.finfo(np.float64).eps  # scikit-learn does not scale features with a smaller span


def scale_for_fold(data: FloatArray, train: IntArray, scaling: Scaling) -> FloatArray:
    """Return the features (n, p) scaled by scikit-learn's scaler fitted to the samples `train`; "once" uses all.

    >>> data, train = np.array([[1.0], [3.0], [9.0]]), np.array([0, 1])
    >>> {how: scale_for_fold(data, train, how).ravel().tolist() for how in ("minmax", "standard", "robust")}
    {'minmax': [0.0, 1.0, 4.0], 'standard': [-1.0, 1.0, 7.0], 'robust': [-1.0, 1.0, 7.0]}
    """
    chosen = check_name("scaling", scaling, SCALINGS)
    if chosen == "none":
        return data
    if chosen == "once":
        return scale_by_extremes(data, data)
    fitted = data[train]
    if chosen == "standard":
        from sklearn.preprocessing import StandardScaler  # it has its own rule for nearly constant features

        return np.ascontiguousarray(StandardScaler().fit(fitted).transform(data))
    if chosen == "robust":
        low, high = np.percentile(fitted, (25.0, 75.0), axis=0)
        return _shift_and_scale(data, np.median(fitted, axis=0), _safe_scaling_span(high - low))
    low = fitted.min(axis=0)
    return _shift_and_scale(data, low, _safe_scaling_span(fitted.max(axis=0) - low))


def _safe_scaling_span(span: FloatArray) -> FloatArray:
    """The divisor: 1 instead of spans that are only rounding."""
    return np.where(span < _NO_SPAN, 1.0, span)


def scale_by_extremes(data: FloatArray, fitted: FloatArray) -> FloatArray:
    """Scale each column of `data`, (n, p), so that the extremes of `fitted` become 0 and 1; constant columns become 0.

    Examples
    --------
    >>> scale_by_extremes(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[1.0, 5.0], [5.0, 5.0]])).tolist()
    [[0.0, 0.0], [0.5, 0.0]]
    """
    low = fitted.min(axis=0)
    span = fitted.max(axis=0) - low
    return _shift_and_scale(data, low, np.where(span > 0, span, 1.0))


def _shift_and_scale(data: FloatArray, low: FloatArray, span: FloatArray) -> FloatArray:
    """Return (data - low) / span, allocating only the result."""
    result = np.ascontiguousarray(np.subtract(data, low, dtype=np.float64))
    result /= span
    return result
