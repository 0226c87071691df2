"""Helpers for the conformance checks of searches and classifiers of other packages."""

from collections.abc import Callable
from typing import Any

from pqswarm.errors import PqswarmError


def require(condition: object, message: str) -> None:
    """Raise an AssertionError with this message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def refuses(action: Callable[..., object], *arguments: Any, named: str = "", **options: Any) -> bool:
    """Return whether the action raises a PqswarmError whose message contains `named`."""
    try:
        action(*arguments, **options)
    except PqswarmError as error:
        return named in str(error)
    return False
