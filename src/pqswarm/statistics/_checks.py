"""Checks of the input of the statistics."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pqswarm._base.checks import check_fraction
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError

ROUNDING = 1e-9
"""Relative difference that may be due to rounding: means of counts of errors are rarely this close."""

_HUGE = 1e150


def number_array(values: Any, message: str) -> FloatArray:
    """Return values as an array of numbers; what cannot be one is refused with the message."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise PqswarmError(message) from None


def checked_table(values: Any, names: Iterable[str] | None) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the values, rows x algorithms, and the names of the algorithms, by default those of a data frame."""
    if names is None:
        names = getattr(values, "columns", None)
    array = number_array(values, "values must be a table of numbers, one row per block, one column per algorithm.")
    if array.ndim != 2 or min(array.shape) < 2:
        raise PqswarmError(
            f"values must have at least two rows (blocks) and two columns (algorithms), not the shape {array.shape}."
        )
    checked = checked_names(names, array.shape[1])
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        row, column = bad[0]
        raise PqswarmError(
            f"values must be finite: row {row} of {checked[column]!r} is {array[row, column]}. Remove that row, or "
            f"repeat the failed run."
        )
    return array, checked


def checked_sample(name: str, values: Any) -> FloatArray:
    """Return the results of one algorithm as an array of at least one finite number."""
    message = f"{name} must be a list of finite numbers, one per run."
    array = number_array(values, message)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise PqswarmError(message)
    if np.abs(array).max() > _HUGE:
        raise PqswarmError(f"{name} are too large to be squared: change their unit.")
    return array


def checked_names(names: Iterable[str] | None, n: int) -> tuple[str, ...]:
    """Return n different names, by default numbered ones."""
    if names is None:
        return tuple(f"algorithm {number}" for number in range(1, n + 1))
    checked = tuple(str(name) for name in names)
    if len(checked) != n:
        raise PqswarmError(f"names must have {n} entries, one per algorithm, not {len(checked)}.")
    for name in checked:
        if not name.strip():
            raise PqswarmError("names must not be empty: name each algorithm.")
        if checked.count(name) > 1:
            raise PqswarmError(f"names must be unique: {name!r} occurs more than once.")
    return checked


def checked_alpha(alpha: float) -> float:
    """Return a significance level between 0 and 1."""
    return check_fraction("alpha", alpha, 0.05)


def frozen(array: FloatArray) -> FloatArray:
    """Make the array read-only and return it."""
    array.setflags(write=False)
    return array


def rounded_groups(values: FloatArray) -> FloatArray:
    """Return the place of each value among the different ones of its row: those that only rounding separates are equal.

    >>> rounded_groups(np.array([0.3, 0.1 + 0.2, 0.1]))
    array([1., 1., 0.])
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1) / np.maximum(
        np.abs(values).max(axis=-1, keepdims=True, initial=0.0), np.finfo(np.float64).tiny
    )
    places = np.cumsum(np.diff(ascending, axis=-1, prepend=ascending[..., :1]) > ROUNDING, axis=-1)
    groups: FloatArray = np.empty_like(values)
    np.put_along_axis(groups, order, places.astype(np.float64), axis=-1)
    return groups
