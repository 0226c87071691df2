"""Where :func:`pqswarm.measure.characterise` was in earlier versions: this module still has it, and can be called."""

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    found = None if name.startswith("__") else getattr(import_module("pqswarm.measure"), name, None)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{__name__}.{name} is deprecated: use pqswarm.measure.{name}.", DeprecationWarning, stacklevel=2)
    return found


class _CallableModule(ModuleType):
    """Once it is imported, it takes the place of the function in its package."""

    def __call__(self, *given: Any, **options: Any) -> Any:
        return self.characterise(*given, **options)


sys.modules[__name__].__class__ = _CallableModule
