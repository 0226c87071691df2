"""Rows and columns of arrays, data frames and sparse matrices, and of the arguments that accompany them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray, IntArray

_LIKE_FEATURES = ("eval_set", "X_val")  # arguments of `fit` with the same columns as X


def is_table(X: Any) -> bool:
    """Return whether X is a data frame or a sparse matrix rather than an array."""
    from scipy.sparse import issparse

    return bool(issparse(X) or hasattr(X, "iloc") or hasattr(X, "__dataframe__"))


def as_numbers(X: Any) -> Any:
    """Return a data frame of numbers as an array of floats; None for sparse matrices and other frames."""
    from scipy.sparse import issparse

    if issparse(X) or not is_table(X):
        return None if issparse(X) else X
    if not all(getattr(kind, "kind", "O") in "biuf" for kind in getattr(X, "dtypes", ())):
        return None
    to_numpy = getattr(X, "to_numpy", None) if hasattr(X, "iloc") else None
    return np.asarray(X, dtype=np.float64) if to_numpy is None else to_numpy(dtype=np.float64, na_value=np.nan)


def take_table(table: Any, places: IntArray, axis: int = 0) -> Any:
    """Return some rows, or columns, of an array, a data frame or a sparse matrix."""
    if isinstance(table, np.ndarray):
        return table[places] if axis == 0 else table[:, places]
    from sklearn.utils import _safe_indexing

    return _safe_indexing(table, places, axis=axis)


def take_params(
    params: Mapping[str, Any], n_samples: int, samples: IntArray, mask: BoolArray | None = None
) -> dict[str, Any]:
    """Return arguments of `fit` or of a scorer for some samples, and for the features of a mask."""
    from sklearn.utils.validation import _check_method_params

    taken: dict[str, Any] = (
        dict(_check_method_params(np.empty((n_samples, 0)), dict(params), samples)) if params else {}
    )
    if mask is not None:
        columns = np.flatnonzero(mask)
        for key in taken:
            if key.rpartition("__")[2] in _LIKE_FEATURES:
                taken[key] = _take_columns(params[key], columns)
    return taken


def _take_columns(given: Any, columns: IntArray) -> Any:
    """Some columns of X, or of each X in a pair or list of pairs (X, y)."""
    if isinstance(given, list):
        return [_take_columns(table, columns) for table in given]
    if isinstance(given, tuple):
        return (_take_columns(given[0], columns), *given[1:])
    return take_table(given if is_table(given) else np.asarray(given), columns, axis=1)
