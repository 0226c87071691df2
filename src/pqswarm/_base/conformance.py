"""What the checks of other packages' searches and classifiers share."""

from collections.abc import Callable
from typing import Any

from pqswarm.errors import PqswarmError

__all__ = ["refuses", "require"]


def require(condition: object, message: str) -> None:
    """Raise an AssertionError with this message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def refuses(action: Callable[..., object], *arguments: Any, named: str = "", **options: Any) -> bool:
    """Whether the action raises an error of ours whose message holds `named`."""
    try:
        action(*arguments, **options)
    except PqswarmError as error:
        return named in str(error)
    return False
