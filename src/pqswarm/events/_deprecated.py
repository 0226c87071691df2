"""Old names of :mod:`pqswarm.events`, for one release."""

import warnings
from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name != "MODELS":
        raise AttributeError(f"module 'pqswarm.events' has no attribute {name!r}")
    from pqswarm.events.classes import EVENT_CLASSES

    warnings.warn("pqswarm.events.MODELS is deprecated: use EVENT_CLASSES.", DeprecationWarning, stacklevel=2)
    return {name: event_class.model for name, event_class in EVENT_CLASSES.items()}
