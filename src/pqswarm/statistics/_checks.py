"""What the statistics ask of their input, checked in one place."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pqswarm._base.checks import check_fraction
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError

__all__ = ["checked_alpha", "checked_names", "checked_sample", "checked_table", "frozen"]

_HUGE = 1e150


def checked_table(values: Any, names: Iterable[str] | None) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the numbers, rows x algorithms, and the names of the algorithms; those of a data frame are taken."""
    if names is None:
        names = getattr(values, "columns", None)
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise PqswarmError("values must be a table of numbers, one row per block, one column per algorithm.") from None
    if array.ndim != 2 or min(array.shape) < 2:
        raise PqswarmError(
            f"values must have at least two rows (blocks) and two columns (algorithms), not the shape {array.shape}."
        )
    checked = checked_names(names, array.shape[1])
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        row, column = bad[0]
        raise PqswarmError(
            f"values must be finite: row {row} of {checked[column]!r} is {array[row, column]}. Leave that row out, "
            f"or repeat the run that failed."
        )
    return array, checked


def checked_sample(name: str, values: Any) -> FloatArray:
    """Return the results of the runs of one algorithm: a list of at least one finite number."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise PqswarmError(f"{name} must be a list of finite numbers, one for each run.")
    if np.abs(array).max() > _HUGE:
        raise PqswarmError(f"{name} are too large for their squares to be numbers: change their unit.")
    return array


def checked_names(names: Iterable[str] | None, n: int) -> tuple[str, ...]:
    """Return n different names, made up if none are given."""
    if names is None:
        return tuple(f"algorithm {number}" for number in range(1, n + 1))
    checked = tuple(str(name) for name in names)
    if len(checked) != n:
        raise PqswarmError(f"names must be {n}, one per algorithm, not {len(checked)}.")
    for name in checked:
        if not name.strip():
            raise PqswarmError("names must not be empty: give each algorithm one.")
        if checked.count(name) > 1:
            raise PqswarmError(f"names must differ: {name!r} is there more than once.")
    return checked


def checked_alpha(alpha: float) -> float:
    """Return a level of significance between 0 and 1."""
    return check_fraction("alpha", alpha, 0.05)


def frozen(array: FloatArray) -> FloatArray:
    """Return the array, from now on read-only."""
    array.setflags(write=False)
    return array
