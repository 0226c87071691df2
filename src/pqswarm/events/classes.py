"""Event classes: what each is called, how it looks, and what a capture needs to show it."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from pqswarm._base.registry import Registry
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.events import models
from pqswarm.events.parameters import PARAMETERS, Parameter

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


def is_name(name: object) -> bool:
    """Whether this is a valid name of an event class or parameter: lower-case letters, digits and underscores."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class CaptureRequirements:
    """What a capture needs to show an event class.

    Parameters
    ----------
    samples, cycles : float, default=0.0
        Samples per cycle; length [cycles].
    bandwidth : float, default=0.0
        Bandwidth [multiples of the fundamental] below which :func:`pqswarm.events.training.record_event` draws no event
        of the class.
    """

    samples: float = 0.0
    cycles: float = 0.0
    bandwidth: float = 0.0


@dataclass(frozen=True)
class EventClass:
    """A class of events.

    All that pqswarm knows of a class is written here: nothing else lists classes by name. To add one in this process
    call ``EVENT_CLASSES.register``; a package adds one by an entry point in the group ``pqswarm.event_classes``. A
    :class:`Preset` then gives the ranges of its parameters.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores.
    model : callable
        ``model(t, *, grid, **parameters)`` returns the voltage [pu] at the times `t` [s] on the supply `grid`, a
        :class:`Grid`. It draws nothing.
    parameters : mapping of str to Parameter
        The parameters of the model that are not in :data:`PARAMETERS`.
    title : str, default=""
        The name as shown to people. The default is the name with spaces.
    type : str, default=""
        What an event of the class is above all: one of the kinds of :class:`pqswarm.measure.Event`, such as ``"sag"``
        or ``"transient"``, ``"none"`` for an undisturbed voltage, or a type that the rules do not know. For a sag, a
        swell or an interruption a model is offered the classes of that type, for any other event the rest. The
        default is the name with spaces.
    groups : tuple of str, default=()
        The groups that the paper puts the class in: ``"stationary"`` or ``"non-stationary"``, ``"low frequency"`` or
        ``"high frequency"``, ``"single"`` or ``"simultaneous"``. It puts the pure sinusoid and flicker in neither of
        the first two.
    requirements : CaptureRequirements
        What a capture needs to show the class.
    seed_word : int, default=-1
        Distinguishes the random streams of the class. Never change it: the events would change. The default is derived
        from the name.

    Examples
    --------
    >>> EVENT_CLASSES["dc_offset"].title, EVENT_CLASSES["sag_with_harmonics"].type
    ('DC offset', 'sag')
    >>> [name for name in EVENT_CLASSES if "stationary" in EVENT_CLASSES[name].groups]
    ['dc_offset', 'notching', 'harmonics']
    """

    name: str
    model: Callable[..., FloatArray] = field(repr=False)
    parameters: Mapping[str, Parameter] = field(default_factory=dict, repr=False)
    title: str = ""
    type: str = ""
    groups: tuple[str, ...] = field(default=(), repr=False)
    requirements: CaptureRequirements = field(default=CaptureRequirements(), repr=False)
    seed_word: int = -1

    def __post_init__(self) -> None:
        for name in (self.name, *self.parameters):
            where = f"event class {self.name!r}: {name!r}"
            if not is_name(name):
                raise PqswarmError(f"{where} must be lower-case letters, digits and underscores, at most 60.")
            if name in self.parameters and name in PARAMETERS:
                raise PqswarmError(f"{where} cannot be declared again: pqswarm has such a parameter, use it.")
        if not self.title:
            object.__setattr__(self, "title", self.name.replace("_", " ").capitalize())
        if not self.type:
            object.__setattr__(self, "type", self.name.replace("_", " "))
        if self.seed_word < 0:
            object.__setattr__(self, "seed_word", 2**31 | crc32(self.name.encode()))

    @property
    def catalog(self) -> dict[str, Parameter]:
        """Every parameter that its events can have."""
        return {**PARAMETERS, **self.parameters}


_HARMONICS = CaptureRequirements(samples=8, bandwidth=8.0)  # the third order is then below 0.45 of the sampling rate
_TRANSIENT = CaptureRequirements(samples=32, cycles=2.2, bandwidth=8.0)  # in less, a transient looks like a step
_IMPULSE = CaptureRequirements(samples=32, cycles=2.2, bandwidth=16.0)
_NOTCHING = CaptureRequirements(samples=60, cycles=3.0, bandwidth=16.0)
_FLICKER = CaptureRequirements(cycles=7.0)  # a dozen values of Urms(1/2)
_FLICKER_WITH_HARMONICS = CaptureRequirements(samples=8, cycles=7.0, bandwidth=8.0)

# The groups of section 4.1 of the paper.
_LOW = ("low frequency", "single")
_LOW_STATIONARY = ("stationary", "low frequency", "single")
_LOW_CHANGING = ("non-stationary", "low frequency", "single")
_HIGH_STATIONARY = ("stationary", "high frequency", "single")
_HIGH_CHANGING = ("non-stationary", "high frequency", "single")
_SIMULTANEOUS = ("non-stationary", "high frequency", "simultaneous")

# Events depend on the seed word of their class, not on its place: insert a class anywhere, without a seed word.
_BUILT_IN = (
    EventClass("pure_sinusoid", models.pure_sinusoid, groups=_LOW, type="none", seed_word=0),
    EventClass("dc_offset", models.dc_offset, groups=_LOW_STATIONARY, title="DC offset", type="DC offset", seed_word=1),
    EventClass("sag", models.sag, groups=_LOW_CHANGING, seed_word=2),
    EventClass("swell", models.swell, groups=_LOW_CHANGING, seed_word=3),
    EventClass("interruption", models.interruption, groups=_LOW_CHANGING, seed_word=4),
    EventClass("flicker", models.flicker, groups=_LOW, requirements=_FLICKER, seed_word=5),
    EventClass("notching", models.notching, groups=_LOW_STATIONARY, requirements=_NOTCHING, seed_word=6),
    EventClass("harmonics", models.harmonics, groups=_HIGH_STATIONARY, requirements=_HARMONICS, seed_word=7),
    EventClass(
        "oscillatory_transient",
        models.oscillatory_transient,
        groups=_HIGH_CHANGING,
        type="transient",
        requirements=_TRANSIENT,
        seed_word=8,
    ),
    EventClass(
        "sag_with_harmonics",
        models.sag_with_harmonics,
        groups=_SIMULTANEOUS,
        type="sag",
        requirements=_HARMONICS,
        seed_word=9,
    ),
    EventClass(
        "swell_with_harmonics",
        models.swell_with_harmonics,
        groups=_SIMULTANEOUS,
        type="swell",
        requirements=_HARMONICS,
        seed_word=10,
    ),
    EventClass(
        "flicker_with_harmonics",
        models.flicker_with_harmonics,
        groups=_SIMULTANEOUS,
        type="harmonics",
        requirements=_FLICKER_WITH_HARMONICS,
        seed_word=11,
    ),
    EventClass(
        "sag_with_transient",
        models.sag_with_transient,
        groups=_SIMULTANEOUS,
        type="sag",
        requirements=_TRANSIENT,
        seed_word=12,
    ),
    EventClass(
        "swell_with_transient",
        models.swell_with_transient,
        groups=_SIMULTANEOUS,
        type="swell",
        requirements=_TRANSIENT,
        seed_word=13,
    ),
    EventClass(
        "impulsive_transient", models.impulsive_transient, type="transient", requirements=_IMPULSE, seed_word=14
    ),
    EventClass("voltage_change", models.sag, title="Rapid voltage change", type="rapid voltage change", seed_word=15),
)

EVENT_CLASSES: Registry[EventClass] = Registry("event class", EventClass, _BUILT_IN, group="pqswarm.event_classes")
"""All event classes by name: the 14 of the paper's Table 1 in its order, two more of the bundled model, plugins."""


def class_title(name: str) -> str:
    """Return an event class as shown to people, also one that is not installed here.

    Examples
    --------
    >>> class_title("sag_with_harmonics"), class_title("geomagnetic_storm")
    ('Sag with harmonics', 'Geomagnetic storm')
    """
    return EVENT_CLASSES[name].title if name in EVENT_CLASSES else name.replace("_", " ").capitalize()


def class_type(name: str) -> str:
    """Return the type of an event class, also of one that is not installed here.

    Examples
    --------
    >>> class_type("sag_with_harmonics"), class_type("geomagnetic_storm")
    ('sag', 'geomagnetic storm')
    """
    return EVENT_CLASSES[name].type if name in EVENT_CLASSES else name.replace("_", " ")


def visible_classes(names: Collection[str], sampling_rate: float, frequency: float, cycles: float) -> frozenset[str]:
    """Return those of the classes that a capture can show; classes that are not installed here are included."""
    requirements = {
        name: EVENT_CLASSES[name].requirements if name in EVENT_CLASSES else CaptureRequirements() for name in names
    }
    per_cycle = sampling_rate / frequency
    return frozenset(name for name, need in requirements.items() if per_cycle >= need.samples and cycles >= need.cycles)
