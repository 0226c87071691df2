"""One record for every finding: a part on one channel, and the event that its parts make."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, partial
from math import isfinite
from typing import Any, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from pqswarm.errors import PqswarmError, shorten

_MOMENTARY_CYCLES = 30.0
_TEMPORARY_SECONDS = 3.0
_LONG_SECONDS = 60.0
_LONG_WORDS = {"sag": "undervoltage", "swell": "overvoltage", "interruption": "sustained interruption"}
_LOW_HERTZ = 5e3
_MEDIUM_HERTZ = 5e5


def category(event_type: str, duration: float, nominal_frequency: float) -> str:
    """Name a sag, swell or interruption by its duration [s] (IEEE 1159-2019, Table 2).

    It is instantaneous to 30 cycles, momentary to 3 s (an interruption is at least that) and temporary to 1 min.
    """
    if duration > _LONG_SECONDS:
        return _LONG_WORDS[event_type]
    if duration > _TEMPORARY_SECONDS:
        return f"temporary {event_type}"
    # A hair of grace: thirty cycles are thirty cycles also after rounding.
    if event_type == "interruption" or duration * nominal_frequency > _MOMENTARY_CYCLES * (1 + 1e-9):
        return f"momentary {event_type}"
    return f"instantaneous {event_type}"


def oscillation_word(frequency: float) -> str:
    """Name an oscillatory transient by its frequency [Hz] (IEEE 1159-2019, Table 2)."""
    if not frequency >= _LOW_HERTZ:  # also what is too low to be measured
        return "low-frequency"
    return "medium-frequency" if frequency < _MEDIUM_HERTZ else "high-frequency"


def duration_text(duration: float, nominal_frequency: float) -> str:
    """Write a duration [s] in cycles, with the seconds where they are easier to read: ``"255 cycles (5.1 s)"``."""
    cycles = duration * nominal_frequency
    if cycles < _MOMENTARY_CYCLES:
        return f"{cycles:.1f} cycles"
    return f"{cycles:.0f} cycles ({float(f'{duration:.3g}'):g} s)"


_Record = TypeVar("_Record")
_event_adapter = cache(TypeAdapter)
EVENT_TYPES: Mapping[str, str] = {
    "interruption": "interruption",
    "sag": "sag",
    "swell": "swell",
    "transient": "transient",
    "rapid voltage change": "rapid voltage change",
    "harmonics": "harmonics",
    "notching": "notching",
    "flicker": "flicker",
    "DC offset": "DC offset",
    "unbalance": "unbalance",
    "frequency": "frequency",
}
"""Kinds of events and their titles."""


@dataclass(frozen=True)
class ChannelEvent:
    """A finding on one channel; every detector returns these.

    Attributes
    ----------
    number : int
        Index of the channel in the recording.
    channel, phase : str
        Its name and its phase; the phase is empty if unknown.
    type : str
        One of :data:`EVENT_TYPES`.
    magnitude : float
        Residual or maximum voltage [pu], peak of a transient [pu], frequency [Hz], or [%] for all other types.
    start, end : float
        On the waveform, from the first sample [s].
    duration : float
        As defined by the standard [s].
    category : str
        In the words of IEEE 1159.
    system : str
        Three-phase system of the channel; empty if the recording has only one.
    cut_start, cut_end : bool
        Whether the record starts, or ends, inside it.
    details : mapping of str to float
        Further measurements, such as ``urms_start``, ``frequency``, ``decay``, ``order``, ``per_cycle``.
    """

    number: int
    channel: str
    phase: str
    type: str
    magnitude: float
    start: float
    end: float
    duration: float
    category: str = ""
    system: str = ""
    cut_start: bool = False
    cut_end: bool = False
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The phase, or the name of the channel if the phase is unknown."""
        return self.phase or self.channel


@dataclass(frozen=True)
class Event:
    """One disturbance, on one or more channels of a system.

    Attributes
    ----------
    type : str
        One of :data:`EVENT_TYPES`.
    category : str
        In the words of IEEE 1159, such as ``"instantaneous sag"``.
    parts : tuple of ChannelEvent
        One or more for each affected channel.
    system : str
        Three-phase system; empty if the recording has only one.
    magnitude : float
        That of the worst part: residual or maximum voltage [pu], peak [pu], frequency [Hz], or [%].
    unit : {"pu", "%", "Hz"}
        Unit of the magnitudes.
    start, end : float
        On the waveform, from the first sample [s].
    duration : float
        As defined by the standard [s]; for sags, swells and interruptions by the polyphase rules of IEC 61000-4-30.
    nominal_frequency : float
        Nominal frequency, which defines a cycle [Hz].
    reference_volts : float
        Voltage of 1 pu on the worst channel [V].
    sentence : str
        Description in one sentence.
    sag_type : str
        Type after Bollen and symmetrical phase: ``"A"``, ``"Ba"``, ``"Cb"``, ``"Dc"``, ...; empty if unknown.
    cut_start, cut_end : bool
        Whether the record starts, or ends, inside it.
    also : tuple of str
        Other systems of the recording that show the same event.
    details : mapping of str to float
        Further measurements of the worst part or of the system, such as ``frequency`` [Hz], ``decay`` [s], ``thd``,
        ``order``, ``per_cycle``, ``all_phases_s`` [s].
    """

    type: str
    category: str
    parts: tuple[ChannelEvent, ...]
    system: str
    magnitude: float
    unit: str
    start: float
    end: float
    duration: float
    nominal_frequency: float
    reference_volts: float
    sentence: str
    sag_type: str = ""
    cut_start: bool = False
    cut_end: bool = False
    also: tuple[str, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def of(plain: Mapping[str, Any]) -> "Event":
        """Restore an event from :meth:`as_dict`, or raise :class:`PqswarmError` if it is not one.

        Examples
        --------
        >>> part = ChannelEvent(0, "U1", "A", "harmonics", 5.2, 0.0, 1.6, 1.6, details={"order": 5.0})
        >>> event = Event("harmonics", "harmonics", (part,), "", 5.2, "%", 0.0, 1.6, 1.6, 50.0, 230.0, "")
        >>> Event.of(event.as_dict()) == event
        True
        """
        event = restore_record(Event, _event_with_nan(plain), "an event")
        if not event.parts or {event.type, *(part.type for part in event.parts)} - set(EVENT_TYPES):
            raise PqswarmError("not an event: it needs parts, and a type that is known.")
        return event

    @property
    def channels(self) -> tuple[str, ...]:
        """Name of the channel of each part."""
        return tuple(part.channel for part in self.parts)

    @property
    def phases(self) -> tuple[str, ...]:
        """Phase of each part; empty where unknown."""
        return tuple(part.phase for part in self.parts)

    @property
    def worst(self) -> ChannelEvent:
        """The part whose magnitude is that of the event."""
        return min(self.parts, key=lambda part: abs(part.magnitude - self.magnitude))

    @property
    def volts(self) -> float:
        """The magnitude in volts: RMS, or the peak of a transient; NaN if the magnitude is in percent [V]."""
        peak = 2**0.5 if self.type == "transient" else 1.0
        return self.magnitude * self.reference_volts * peak if self.unit == "pu" else float("nan")

    @property
    def cycles(self) -> float:
        """Duration in nominal cycles."""
        return self.duration * self.nominal_frequency

    @property
    def where(self) -> str:
        """The phases, or channels, in words, each once."""
        return name_parts(self.parts, self.system)

    def at(self, first_sample: datetime | None) -> datetime | None:
        """Return the start as a time, given that of the first sample; None if it is unknown."""
        return event_time(first_sample, self.start)

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values in full precision, None for NaN; :meth:`of` is the inverse."""
        return {
            "type": self.type,
            "category": self.category,
            "sentence": self.sentence,
            "system": self.system,
            "also": list(self.also),
            "phases": list(self.phases),
            "channels": list(self.channels),
            "magnitude": _event_without_nan(self.magnitude),
            "unit": self.unit,
            "start": _event_without_nan(self.start),
            "end": _event_without_nan(self.end),
            "duration": _event_without_nan(self.duration),
            "cycles": _event_without_nan(self.cycles),
            "nominal_frequency": self.nominal_frequency,
            "volts": _event_without_nan(self.volts),
            "reference_volts": _event_without_nan(self.reference_volts),
            "sag_type": self.sag_type,
            "cut_start": self.cut_start,
            "cut_end": self.cut_end,
            "details": _event_without_nan(self.details),
            "parts": [_event_without_nan(vars(part)) for part in self.parts],
        }


ChannelEventMaker: TypeAlias = Callable[..., ChannelEvent]
"""Makes parts on one channel, given the attributes other than number, channel, phase and system."""

any_channel: ChannelEventMaker = partial(ChannelEvent, number=0, channel="", phase="")
"""Makes parts of a signal that is not a channel of a recording."""


def event_time(first_sample: datetime | None, offset: float) -> datetime | None:
    """Return the time at an offset [s] from the first sample; None if that is unknown."""
    try:
        return None if first_sample is None else first_sample + timedelta(milliseconds=round(1000 * offset, 3))
    except OverflowError:
        return None


def name_parts(parts: Iterable[ChannelEvent], system: str = "") -> str:
    """Say on which channels parts are, each once: ``"phases A and B of bar 1"``, or names if a phase is unknown."""
    names, phases = zip(*dict.fromkeys((part.channel, part.phase) for part in parts), strict=True)
    known = all(phases)
    words = phases if known else names
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    if known:
        text = f"{'phase' if len(words) == 1 else 'phases'} {text}"
    return f"{text} of {system}" if system and known else text


def group_parts(
    parts: Iterable[ChannelEvent], joins: Callable[[list[ChannelEvent], ChannelEvent], bool]
) -> list[list[ChannelEvent]]:
    """Group the parts of one system and type, in order of their start, as long as the next one `joins` the group."""
    groups: list[list[ChannelEvent]] = []
    for part in sorted(parts, key=lambda part: (part.system, part.type, part.start)):
        group = groups[-1] if groups else []
        alike = bool(group) and (group[0].system, group[0].type) == (part.system, part.type)
        if alike and joins(group, part):
            group.append(part)
        else:
            groups.append([part])
    return groups


def group_overlapping(parts: Iterable[ChannelEvent]) -> list[list[ChannelEvent]]:
    """Group the parts of one system and type that overlap in time."""
    return group_parts(parts, lambda group, part: part.start < max(member.end for member in group))


def restore_record(record: Callable[..., _Record], plain: Mapping[str, Any], what: str) -> _Record:
    """Restore a record from plain values, or raise :class:`PqswarmError` that it is not `what`."""
    try:
        restored: _Record = _event_adapter(record).validate_python(dict(plain))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise PqswarmError(shorten(f"not {what}: {where}{': ' if where else ''}{first['msg']}.", 300)) from None
    except (RecursionError, TypeError) as error:
        raise PqswarmError(f"not {what}: {error}") from None
    return restored


def _event_without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _event_without_nan(one) for key, one in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value


def _event_with_nan(value: Any) -> Any:
    """The same, with NaN for None: no attribute of an event is None."""
    if isinstance(value, Mapping):
        return {key: _event_with_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_event_with_nan(one) for one in value]
    return float("nan") if value is None else value
