"""Argument checks: each returns the value, or raises an error with the name, the value and what is allowed."""

from collections.abc import Iterable
from math import isfinite
from typing import TypeGuard

import numpy as np

from pqswarm.errors import PqswarmError, shorten, unknown_name


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, not a bool, that a double can hold; JSON and TOML allow larger ones."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def check_integer(name: str, value: object, low: int = 0, high: int | None = None, *, also: str = "") -> int:
    """Return an integer of at least `low`, and at most `high`; `also` names what else the caller allows."""
    if not is_integer(value) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise PqswarmError(f"{name} must be an integer {limits}{also}, not {shorten(repr(value))}.")
    return int(value)


def check_number(name: str, value: object, low: float, *, unit: str) -> float:
    """Return a finite number of at least `low`."""
    if not is_finite(value) or value < low:
        raise PqswarmError(f"{name} must be a number of at least {low:g} {unit}, not {shorten(repr(value))}.")
    return float(value)


def check_positive(name: str, value: object, *, unit: str) -> float:
    """Return a finite number above 0."""
    if not is_finite(value) or value <= 0:
        raise PqswarmError(f"{name} must be a positive number {unit}, not {shorten(repr(value))}.")
    return float(value)


def check_fraction(name: str, value: object, example: float) -> float:
    """Return a number between 0 and 1, both excluded; the message gives the example."""
    if not is_finite(value) or not 0 < value < 1:
        raise PqswarmError(f"{name} must be a number between 0 and 1, such as {example:g}, not {shorten(repr(value))}.")
    return float(value)


def check_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return a name that is known, or raise the error of :func:`pqswarm.errors.unknown_name`."""
    names = list(known)
    if not isinstance(name, str) or name not in names:
        raise unknown_name(what, name, names)
    return name
