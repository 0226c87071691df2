"""Attributes by their names of earlier versions, which still work, with a warning."""

import warnings
from operator import attrgetter
from typing import Any

__all__ = ["renamed"]


def renamed(old: str, new: str) -> property:
    """An attribute that is called otherwise now, `new`."""

    def get(self: Any) -> Any:
        warnings.warn(f"{old} is deprecated: use {new}.", DeprecationWarning, stacklevel=2)
        return attrgetter(new)(self)

    return property(get)
