r"""Find the few signal features that identify a power-quality event, and show that they are the right ones.

The sub-packages follow the flow of the data::

    events -> features -> datasets -> report
                                 \-> cli (the command ``pqswarm``)

They are imported on first use, so that ``import pqswarm`` stays fast.
"""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

__version__ = "0.1.0"

__all__ = ["__version__", "datasets", "events", "features", "report"]


def __getattr__(name: str) -> _ModuleType:
    if name in __all__:
        return _import_module(f"pqswarm.{name}")
    raise AttributeError(f"module 'pqswarm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
