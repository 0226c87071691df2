"""One event of a recording: what an engineer gets a row for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from pqswarm.measure.ieee1159 import join_names

__all__ = ["KINDS", "Event", "Part"]

KINDS: Mapping[str, str] = {
    "interruption": "interruption",
    "sag": "sag",
    "swell": "swell",
    "transient": "transient",
    "voltage change": "small voltage change",
    "harmonics": "harmonics",
    "notching": "notching",
    "flicker": "flicker",
    "DC offset": "DC offset",
    "unbalance": "unbalance",
    "none": "no disturbance",
}
"""Kinds of events, and their titles."""


@dataclass(frozen=True)
class Part:
    """What an event is on one channel.

    Attributes
    ----------
    channel, phase : str
        Where.
    magnitude : float
        In the unit of the event.
    start, end : float
        On the waveform, from the first sample [s].
    duration : float
        By the standard [s].
    number : int
        Place of the channel in the recording; -1 if it is not known.
    """

    channel: str
    phase: str
    magnitude: float
    start: float
    end: float
    duration: float
    number: int = -1


@dataclass(frozen=True)
class Event:
    """Something that happened in a recording, on one or more channels of a system.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    category : str
        In the words of IEEE 1159, such as ``"instantaneous sag"``.
    parts : tuple of Part
        One for each channel that takes part, at least one.
    system : str
        The group of channels; empty if the recording has only one.
    magnitude : float
        The worst of its parts: residual or greatest voltage [pu], peak [pu], or a share.
    unit : {"pu", "%"}
        Of the magnitudes; a share is given in percent.
    start, end : float
        On the waveform, from the first sample [s]; equal for what has no length.
    duration : float
        By the standard [s]: for sags, swells and interruptions by the polyphase rules of IEC 61000-4-30.
    nominal_frequency : float
        By which cycles are counted [Hz].
    reference : float
        What 1 pu is on the worst channel [V].
    sentence : str
        In words; it says of no phase what holds of another.
    sag_type : str
        ``"A"``, ``"Ba"``, ``"Cb"``, ``"Dc"``, ...: type after Bollen and its symmetrical phase; empty if not known.
    cut_start, cut_end : bool
        Whether the record begins, or ends, inside it.
    also : tuple of str
        Other systems of the recording that show the same.
    details : mapping of str to float
        What else was measured, such as ``frequency`` [Hz], ``decay`` [s], ``thd``, ``order``, ``per_cycle``.
    """

    kind: str
    category: str
    parts: tuple[Part, ...]
    system: str
    magnitude: float
    unit: str
    start: float
    end: float
    duration: float
    nominal_frequency: float
    reference: float
    sentence: str
    sag_type: str = ""
    cut_start: bool = False
    cut_end: bool = False
    also: tuple[str, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels that take part."""
        return tuple(part.channel for part in self.parts)

    @property
    def phases(self) -> tuple[str, ...]:
        """Their phases; empty where they are not known."""
        return tuple(part.phase for part in self.parts)

    @property
    def worst(self) -> Part:
        """The part whose magnitude is that of the event."""
        return min(self.parts, key=lambda part: abs(part.magnitude - self.magnitude))

    @property
    def volts(self) -> float:
        """The magnitude in volts: RMS, of a transient the peak; NaN if it is a share [V]."""
        peak = 2**0.5 if self.kind == "transient" else 1.0
        return self.magnitude * self.reference * peak if self.unit == "pu" else float("nan")

    @property
    def cycles(self) -> float:
        """Duration in nominal cycles."""
        return self.duration * self.nominal_frequency

    @property
    def where(self) -> str:
        """The phases, or channels, in words, each once."""
        once = dict.fromkeys(zip(self.channels, self.phases, strict=True))
        names, phases = zip(*once, strict=True)
        return join_names(names, phases, self.system)

    def at(self, first_sample: datetime | None) -> datetime | None:
        """Return the time at which it began, from that of the first sample; None if that is not known."""
        try:
            return None if first_sample is None else first_sample + timedelta(milliseconds=round(1000 * self.start, 3))
        except OverflowError:
            return None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values, None for what is not known."""
        return {
            "kind": self.kind,
            "category": self.category,
            "sentence": self.sentence,
            "system": self.system,
            "also": list(self.also),
            "phases": list(self.phases),
            "channels": list(self.channels),
            "magnitude": _plain(self.magnitude),
            "unit": self.unit,
            "start": self.start,
            "end": self.end,
            "duration": _plain(self.duration),
            "cycles": _plain(self.cycles),
            "reference": _plain(self.reference),
            "sag_type": self.sag_type,
            "cut_start": self.cut_start,
            "cut_end": self.cut_end,
            "details": {name: _plain(value) for name, value in self.details.items()},
            "parts": [{key: _plain(value) for key, value in vars(part).items()} for part in self.parts],
        }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
