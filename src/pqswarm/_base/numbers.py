"""Numbers of strangers: those of JSON and TOML may have thousands of digits."""

import sys
from typing import TypeGuard

__all__ = ["is_finite"]


def is_finite(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, not a truth value, that a double can hold.

    Examples
    --------
    >>> [is_finite(value) for value in (50, 0.5, float("nan"), 10**400, True, "50")]
    [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max
