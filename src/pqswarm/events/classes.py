"""Event classes by name: ours, and those of other packages."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from pqswarm._base.registry import Registry
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.events.models import combined, single
from pqswarm.events.parameters import PARAMETERS, Parameter

__all__ = ["EVENT_CLASSES", "EventClass", "class_title", "is_name"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


def is_name(name: object) -> bool:
    """Whether this can be the name of an event class or a parameter: lower case letters, digits and underscores."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class EventClass:
    """A class of events: its name, and the model of its waveform.

    A class of another package is known by an entry point in the group ``pqswarm.event_classes``, one of this process by
    ``EVENT_CLASSES.register``; a :class:`Preset` then says from which ranges its parameters are drawn.

    Parameters
    ----------
    name : str
        Of lower case letters, digits and underscores.
    title : str
        The same in words.
    model : callable
        ``model(t, *, grid, **parameters)`` returns the voltage [pu] at the times `t` [s] on the supply `grid`, a
        :class:`Grid`. It draws nothing.
    parameters : mapping of str to Parameter
        Those of its parameters that :data:`PARAMETERS` does not have.

    Examples
    --------
    >>> EVENT_CLASSES["dc_offset"].title
    'DC offset'
    """

    name: str
    title: str
    model: Callable[..., FloatArray] = field(repr=False)
    parameters: Mapping[str, Parameter] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in (self.name, *self.parameters):
            said = f"event class {self.name!r}: {name!r}"
            if not is_name(name):
                raise PqswarmError(f"{said} must be lower case letters, digits and underscores, at most 60.")
            if name in self.parameters and name in PARAMETERS:
                raise PqswarmError(f"{said} cannot be declared again: pqswarm has such a parameter, use it.")

    @property
    def catalogue(self) -> dict[str, Parameter]:
        """Every parameter that its events can have."""
        return {**PARAMETERS, **self.parameters}

    @property
    def seed_word(self) -> int:
        """The number that keeps its random streams apart from those of other classes; it follows from its name."""
        return _PLACES.get(self.name, 2**31 | crc32(self.name.encode()))


_OURS = tuple(
    EventClass(model.__name__, title, model)
    for title, model in (
        ("Pure sinusoid", single.pure_sinusoid),
        ("DC offset", single.dc_offset),
        ("Sag", single.sag),
        ("Swell", single.swell),
        ("Interruption", single.interruption),
        ("Flicker", single.flicker),
        ("Notching", single.notching),
        ("Harmonics", single.harmonics),
        ("Oscillatory transient", single.oscillatory_transient),
        ("Sag with harmonics", combined.sag_with_harmonics),
        ("Swell with harmonics", combined.swell_with_harmonics),
        ("Flicker with harmonics", combined.flicker_with_harmonics),
        ("Sag with transient", combined.sag_with_transient),
        ("Swell with transient", combined.swell_with_transient),
    )
)
_PLACES = {event_class.name: place for place, event_class in enumerate(_OURS)}

EVENT_CLASSES: Registry[EventClass] = Registry("event class", "pqswarm.event_classes", EventClass, _OURS)
"""All event classes by name, first those of the paper's Table 1 in its order."""


def class_title(name: str) -> str:
    """Return an event class in words, also one that is not known here.

    Examples
    --------
    >>> class_title("sag_with_harmonics"), class_title("geomagnetic_storm")
    ('Sag with harmonics', 'Geomagnetic storm')
    """
    return EVENT_CLASSES[name].title if name in EVENT_CLASSES else name.replace("_", " ").capitalize()
