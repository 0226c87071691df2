"""Argument checks: each returns the value, or raises an error with the name, the value and what is allowed."""

from collections.abc import Iterable
from math import isfinite
from typing import TypeGuard

import numpy as np

from pqswarm.errors import PqswarmError, shorten, unknown_name


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, and not a bool.

    Examples
    --------
    >>> [is_integer(value) for value in (3, np.int32(3), 3.0, True, "3")]
    [True, True, False, False, False]
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, not a bool, that a double can hold; JSON and TOML allow larger ones.

    Examples
    --------
    >>> [is_finite(value) for value in (50, 0.5, float("nan"), 10**400, True, "50")]
    [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def check_integer(name: str, value: object, low: int = 0, high: int | None = None, *, also: str = "") -> int:
    """Return an integer of at least `low`, and at most `high`; `also` names what else the caller allows.

    Examples
    --------
    >>> check_integer("n_runs", np.int64(5), 1)
    5
    >>> check_integer("patience", True, 1, also=", or None")
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: patience must be an integer of at least 1, or None, not True.
    """
    if not is_integer(value) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise PqswarmError(f"{name} must be an integer {limits}{also}, not {shorten(repr(value))}.")
    return int(value)


def check_number(name: str, value: object, low: float, high: float | None = None, *, unit: str = "") -> float:
    """Return a finite number of at least `low`, and at most `high`.

    Examples
    --------
    >>> check_number("margin", -1, 0)
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: margin must be a number of at least 0, not -1.
    """
    if not is_finite(value) or value < low or (high is not None and value > high):
        limits = f"of at least {low:g}" if high is None else f"from {low:g} to {high:g}"
        raise PqswarmError(f"{name} must be a number {limits}{unit and ' '}{unit}, not {shorten(repr(value))}.")
    return float(value)


def check_positive(name: str, value: object, *, unit: str = "", also: str = "") -> float:
    """Return a finite number above 0.

    Examples
    --------
    >>> check_positive("max_time", 0, unit="of seconds", also=", or None")
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: max_time must be a positive number of seconds, or None, not 0.
    """
    if not is_finite(value) or value <= 0:
        raise PqswarmError(f"{name} must be a positive number{unit and ' '}{unit}{also}, not {shorten(repr(value))}.")
    return float(value)


def check_fraction(name: str, value: object, example: float) -> float:
    """Return a number between 0 and 1, both excluded; the message gives the example.

    Examples
    --------
    >>> check_fraction("alpha", 5, 0.05)
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: alpha must be a number between 0 and 1, such as 0.05, not 5.
    """
    if not is_finite(value) or not 0 < value < 1:
        raise PqswarmError(f"{name} must be a number between 0 and 1, such as {example:g}, not {shorten(repr(value))}.")
    return float(value)


def check_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return a name that is known, or raise the error of :func:`pqswarm.errors.unknown_name`.

    Examples
    --------
    >>> check_name("scaling", "minmaxx", ("minmax", "none"))
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: unknown scaling 'minmaxx': did you mean 'minmax'? Known: minmax, none.
    """
    names = list(known)
    if not isinstance(name, str) or name not in names:
        raise unknown_name(what, name, names)
    return name
