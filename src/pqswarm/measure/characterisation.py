"""What was found in a recording: plain frozen records, rows and sentences."""

import warnings
from dataclasses import asdict, dataclass
from typing import Any

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import voltage_text
from pqswarm.measure.detect.spans import Span
from pqswarm.measure.detect.transients import Transient
from pqswarm.measure.event import Event
from pqswarm.measure.group.sentences import describe_transients
from pqswarm.measure.ieee1159 import duration_text, join_names
from pqswarm.measure.steady import SteadySeries
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.supply.channels import NotJudged
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import ChannelHeader

__all__ = ["ChannelResult", "Characterisation", "Disturbance", "Flag"]

_CLOSE = 1.25
"""Cycles by which the duration of the standard may differ from that on the waveform."""
_MOST_VALUES = 20_000
"""Values of Urms(1/2) of a channel that are written out."""


@dataclass(frozen=True)
class Disturbance:
    """A sag, swell or interruption, of one channel or of a system of channels.

    Attributes
    ----------
    kind : {"sag", "swell", "interruption"}
        By magnitude.
    category : str
        With the word for its duration (IEEE 1159), such as ``"instantaneous sag"``.
    channels, phases : tuple of str
        Where; those that take part in it.
    system : str
        The group of channels; empty if the recording has only one.
    magnitude : float
        Residual voltage: least (swell: greatest) Urms(1/2) [pu].
    start, end : float
        On the waveform, from the first sample [s].
    duration, cycles : float
        Between them [s] and [nominal cycles].
    urms_start, urms_end, urms_duration : float
        By the rule of IEC 61000-4-30, as a class A meter reports it: centres of the windows of the first value
        beyond the threshold and of the first one back [s]. It is up to a cycle off the waveform.
    cut_start, cut_end : bool
        Whether the record begins, or ends, inside it.
    nominal_frequency : float
        By which cycles are counted [Hz].
    """

    kind: str
    category: str
    channels: tuple[str, ...]
    phases: tuple[str, ...]
    system: str
    magnitude: float
    start: float
    end: float
    duration: float
    cycles: float
    urms_start: float
    urms_end: float
    urms_duration: float
    cut_start: bool
    cut_end: bool
    nominal_frequency: float

    @property
    def said_duration(self) -> float:
        """The length on the waveform [s], or, where edges are too slow for that, that of the standard."""
        close = abs(self.urms_duration - self.duration) * self.nominal_frequency <= _CLOSE
        return self.duration if close else self.urms_duration

    @property
    def sentence(self) -> str:
        """Say it: ``"instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles"``."""
        word = "maximum" if self.kind == "swell" else "residual"
        length = duration_text(self.said_duration, self.nominal_frequency)
        where = join_names(self.channels, self.phases, self.system)
        text = f"{self.category} on {where}, {self.magnitude:.2f} pu {word}, "
        cut = " and ".join(name for name, yes in (("start", self.cut_start), ("end", self.cut_end)) if yes)
        return text + (f"at least {length} (cut by the {cut} of the record)" if cut else length)

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return {**asdict(self), "channels": list(self.channels), "phases": list(self.phases)}


@dataclass(frozen=True)
class Flag:
    """A steady disturbance of one channel: its kind, its size as a share, and in words; notches per cycle."""

    kind: str
    channel: str
    phase: str
    system: str
    value: float
    sentence: str
    per_cycle: int = 0

    @property
    def value_text(self) -> str:
        """The size in words."""
        return f"{self.per_cycle:.0f} per cycle" if self.per_cycle else f"{100 * self.value:.1f} %"

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class ChannelResult:
    """What was found on one channel.

    Attributes
    ----------
    channel : ChannelHeader
        The channel: name, unit, phase.
    number : int
        Its place among the channels of the recording.
    system : str
        Its group of channels.
    reference : float
        What 1 pu is [V].
    reference_source : str
        Where it comes from: ``"pre-event"``, ``"nominal"``, ``"given"``, ...
    urms : ndarray of shape (n_windows,)
        Urms(1/2) [pu] at :attr:`Characterisation.time`.
    spans : tuple of Span
        Values of Urms(1/2) that are in a sag, swell or interruption.
    events : tuple of Disturbance
        Sags, swells and interruptions.
    transients : tuple of Transient
        In order of onset.
    spectrum : Spectrum or None
        Harmonics of the steadiest cycles; None if no cycle is live.
    flags : tuple of Flag
        Harmonics, DC offset, notching, flicker.
    """

    channel: ChannelHeader
    number: int
    system: str
    reference: float
    reference_source: str
    urms: FloatArray
    spans: tuple[Span, ...]
    events: tuple[Disturbance, ...]
    transients: tuple[Transient, ...]
    spectrum: Spectrum | None
    flags: tuple[Flag, ...]

    @property
    def name(self) -> str:
        """Name of the channel."""
        return self.channel.name

    @property
    def phase(self) -> str:
        """Phase of the channel; empty if it is not known."""
        return self.channel.phase

    def sentences(self) -> tuple[str, ...]:
        """Say what was found on this channel."""
        said = [event.sentence for event in self.events]
        said += [describe_transients([one]) for one in self.transients]
        return (*said, *(flag.sentence for flag in self.flags))

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return {
            "name": self.name,
            "phase": self.phase,
            "system": self.system,
            "reference": self.reference,
            "reference_source": self.reference_source,
            "urms": _written(self.urms),
            "events": [event.as_dict() for event in self.events],
            "transients": [transient.as_dict() for transient in self.transients],
            "spectrum": None if self.spectrum is None else self.spectrum.as_dict(),
            "flags": [flag.as_dict() for flag in self.flags],
        }


@dataclass(frozen=True, eq=False)
class Characterisation:
    """What was found in a recording, with the thresholds and references by which it was found.

    Attributes
    ----------
    source : str
        The recording.
    sampling_rate, frequency, nominal_frequency : float
        Samples per second; frequency as measured (the nominal one if it could not be); nominal [Hz].
    thresholds : Thresholds
        By which events count.
    time : ndarray of shape (n_windows,)
        Centres of the windows of Urms(1/2) [s].
    channels : tuple of ChannelResult
        One per supply voltage.
    polyphase : tuple of Disturbance
        Of each system of two or more channels, by the polyphase rules of IEC 61000-4-30.
    caveats : tuple of str
        What was assumed and what cannot be detected; one sentence each.
    events : tuple of Event
        What happened, in order of time; one of kind ``"none"`` if nothing did.
    steady : SteadySeries
        Quantities of each 10 or 12 cycles, and of each ten minutes.
    n_samples : int
        Of the recording.
    not_judged : tuple of NotJudged
        Voltages that were not looked at, and why.
    """

    source: str
    sampling_rate: float
    frequency: float
    nominal_frequency: float
    thresholds: Thresholds
    time: FloatArray
    channels: tuple[ChannelResult, ...]
    polyphase: tuple[Disturbance, ...]
    caveats: tuple[str, ...]
    events: tuple[Event, ...]
    steady: SteadySeries
    n_samples: int
    not_judged: tuple[NotJudged, ...] = ()

    @property
    def limits(self) -> tuple[str, ...]:
        """The caveats, by their name in earlier versions."""
        warnings.warn("Characterisation.limits is deprecated: use caveats.", DeprecationWarning, stacklevel=2)
        return self.caveats

    def sentences(self) -> tuple[str, ...]:
        """Say what happened, in order of time; what several phases of a system share is said once."""
        return tuple(event.sentence for event in self.events)

    def text(self) -> str:
        """Return sentences, references, thresholds and caveats, one a line."""
        t = self.thresholds
        references = "; ".join(f"{c.name} {voltage_text(c.reference)} ({c.reference_source})" for c in self.channels)
        return "\n".join(
            [
                *self.sentences(),
                f"1 pu: {references}",
                f"frequency {self.frequency:.2f} Hz (nominal {self.nominal_frequency:g} Hz)",
                f"thresholds: sag {t.sag:g}, swell {t.swell:g}, interruption {t.interruption:g}, "
                f"hysteresis {t.hysteresis:g}, transient {t.transient:g} pu; THD {t.thd:g}",
                *self.caveats,
            ]
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict for each event, transient and flag, polyphase events last."""
        rows: list[dict[str, Any]] = []
        for channel in self.channels:
            rows += [_event_row(event, "channel") for event in channel.events]
            rows += [_transient_row(transient) for transient in channel.transients]
            rows += [_flag_row(flag) for flag in channel.flags]
        return rows + [_event_row(event, "polyphase") for event in self.polyphase]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "source": self.source,
            "sampling_rate": self.sampling_rate,
            "frequency": self.frequency,
            "nominal_frequency": self.nominal_frequency,
            "thresholds": asdict(self.thresholds),
            "time": _written(self.time),
            "sentences": list(self.sentences()),
            "events": [event.as_dict() for event in self.events],
            "channels": [channel.as_dict() for channel in self.channels],
            "not_judged": [{"name": one.channel.name, "reason": one.reason} for one in self.not_judged],
            "polyphase": [event.as_dict() for event in self.polyphase],
            "caveats": list(self.caveats),
        }


def _written(values: FloatArray) -> list[float | None] | None:
    """Values for JSON; None of a long recording, which has too many."""
    if values.size > _MOST_VALUES:
        return None
    return [None if value != value else round(value, 6) for value in values.tolist()]


def _event_row(event: Disturbance, scope: str) -> dict[str, Any]:
    keys = ("magnitude", "start", "end", "duration", "cycles", "urms_start", "urms_end", "urms_duration")
    return {
        "scope": scope,
        "kind": event.kind,
        "category": event.category,
        "where": join_names(event.channels, event.phases, event.system),
        **{key: getattr(event, key) for key in (*keys, "cut_start", "cut_end")},
        "sentence": event.sentence,
    }


def _transient_row(transient: Transient) -> dict[str, Any]:
    plain = transient.as_dict()
    return {
        "scope": "channel",
        "kind": f"{transient.kind} transient",
        "category": transient.category,
        "where": join_names((transient.channel,), (transient.phase,), transient.system),
        "magnitude": transient.peak,
        "start": transient.onset,
        **{key: plain[key] for key in ("peak_voltage", "frequency", "decay")},
        "sentence": describe_transients([transient]),
    }


def _flag_row(flag: Flag) -> dict[str, Any]:
    return {
        "scope": "channel",
        "kind": flag.kind,
        "category": flag.kind,
        "where": join_names((flag.channel,), (flag.phase,), flag.system),
        "magnitude": flag.value,
        "sentence": flag.sentence,
    }
