"""Analyses: what each event of a recording is by the rules and by the model, as records, as rows and as text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from math import isfinite, nan
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, FiniteFloat, PositiveInt, create_model

from pqswarm._base.text import digits_text, voltage_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.agreement import MEASURED, in_words
from pqswarm.identify.tolerance import rank_event
from pqswarm.measure.event import Event, event_time, restore_record
from pqswarm.measure.incidents.stages import Incident, order_in_time
from pqswarm.measure.supply.channels import ChannelState
from pqswarm.measure.thresholds import Thresholds

if TYPE_CHECKING:
    from pqswarm.measure import Characterization

NOT_AN_EVENT = "not an event"
"""Correction of an event that is none."""


@dataclass(frozen=True, eq=False)
class EventResult:
    """What an event is by the rules and by the model.

    Attributes
    ----------
    event : Event
        By the rules.
    rule_label : str
        Its class by the rules.
    probabilities : mapping of str to float
        Of the classes, the one answer of rules and model first; empty if the event was left to the rules.
    agreement : str
        Whether rules and model agree, in a sentence; ``"measured"`` if the class follows from measurements alone.
    window : tuple of float
        Start and end of what the model was given, on the worst channel [s].
    reference_source : str
        Where the voltage of 1 pu comes from.
    known : bool
        Whether the event is like anything that the model has learned.
    model_label : str
        Class by the model, before it was settled with that of the rules; empty if the model was not asked.
    by_hand, correction : str
        The class that a person put in its place, or ``"not an event"``, and who did so, when, and what was found; empty
        if nobody did.
    """

    event: Event
    rule_label: str
    probabilities: Mapping[str, Annotated[float, Field(ge=0, le=1)]]
    agreement: str
    window: tuple[FiniteFloat, FiniteFloat]
    reference_source: str = ""
    known: bool = True
    model_label: str = ""
    by_hand: str = ""
    correction: str = ""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "EventResult":
        """Restore an analysis from :meth:`as_dict`, or raise :class:`PqswarmError` if it is not one."""
        event = Event.of(plain)
        if not isfinite(event.start):
            raise PqswarmError("not an event: its start is not a finite number of seconds.")
        result = restore_record(cls, {**plain, "event": event}, "the analysis on an event")
        ordered = sorted(result.probabilities.items(), key=lambda item: -item[1])
        return replace(result, probabilities=dict(ordered))

    def __eq__(self, other: object) -> bool:
        """Whether all values are equal; NaN equals NaN."""
        return isinstance(other, EventResult) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment] # it holds mappings

    @property
    def is_hidden(self) -> bool:
        """Whether a person called it no event."""
        return self.by_hand == NOT_AN_EVENT

    @property
    def label(self) -> str:
        """The class by hand, else by rules and model together, or ``"unknown"``; empty if it was left to the rules."""
        if self.by_hand and not self.is_hidden:
            return self.by_hand
        best = next(iter(self.probabilities), "")
        return best if self.known or not best else "unknown"

    @property
    def class_in_words(self) -> str:
        """The one class that is shown: :attr:`label`, or that of the rules if the event was left to them."""
        return in_words(self.label or self.rule_label)

    @property
    def probability(self) -> float:
        """Probability of the class; 0 if the event was left to the rules."""
        return next(iter(self.probabilities.values()), 0.0)

    def clock(self, start: datetime | None) -> str:
        """Return the time of day to the millisecond, given that of the first sample, or ``"+0.275 s"`` after it."""
        return clock_text(self.event.at(start)) or f"+{self.event.start:.3f} s"

    def text(self) -> str:
        """Return the event and the class by the model in one line."""
        if not self.probabilities:
            return f"{self.event.sentence}; {self.agreement}"
        label = f"{in_words(self.label)} {100 * self.probability:.0f} %" if self.known else "unknown"
        return f"{self.event.sentence}; {'' if self.agreement == MEASURED else 'model: '}{label}, {self.agreement}"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values in full precision, None for NaN; :meth:`of` is the inverse."""
        return {
            **self.event.as_dict(),
            "label": self.label or None,
            "probability": self.probability if self.label and self.known and not self.by_hand else None,
            "probabilities": dict(self.probabilities),
            "rule_label": self.rule_label,
            "agreement": self.agreement,
            "window": list(self.window),
            "reference_source": self.reference_source,
            "known": self.known,
            "model_label": self.model_label,
            "by_hand": self.by_hand,
            "correction": self.correction,
        }


@dataclass(frozen=True)
class Reference:
    """What 1 pu is on a channel.

    Attributes
    ----------
    number : int
        Index of the channel in the recording.
    channel, phase, system : str
        Its name, phase and three-phase system; empty if unknown.
    volts : float
        Voltage of 1 pu [V].
    source : str
        Where it comes from, such as ``"pre-event"`` or ``"nominal"``.
    """

    number: int
    channel: str
    phase: str
    system: str
    volts: float
    source: str


@dataclass(frozen=True)
class Analysis:
    """What was found in a recording.

    It can be stored without the measured time series: :meth:`as_dict` and :meth:`of` are inverse.

    Attributes
    ----------
    source : str
        Name of the recording.
    events : tuple of EventResult
        In order of time; empty if nothing was found.
    incidents : tuple of Incident
        Events that belong together, with their cause; in order of time.
    references : tuple of Reference
        Of the channels that were analyzed.
    sampling_rate, frequency, nominal_frequency : float
        Samples per second; measured and nominal frequency [Hz].
    n_samples : int
        Samples per channel.
    thresholds : Thresholds
        Detection thresholds.
    channels : tuple of ChannelState
        What each voltage of the recording is, and why.
    caveats : tuple of str
        Assumptions, and what the recording cannot show; one sentence each.
    notes : tuple of str
        Assumptions made in reading the recording.
    remarks : tuple of str
        What people noted about it, with their names; one sentence or more each.
    station, path : str
        Where it was recorded, and the file.
    start : datetime or None
        Time of the first sample.
    no_event_reason : str
        Why there are no events, such as ``"no disturbance found"``; empty if there are any.
    characterization : Characterization or None
        The measurements with their time series; None after :meth:`of`. It is not compared.
    """

    source: str
    events: tuple[EventResult, ...]
    references: tuple[Reference, ...]
    sampling_rate: Annotated[FiniteFloat, Field(gt=0)]
    frequency: Annotated[FiniteFloat, Field(gt=0)]
    nominal_frequency: Annotated[FiniteFloat, Field(gt=0)]
    n_samples: PositiveInt
    thresholds: Thresholds
    channels: tuple[ChannelState, ...] = ()
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    station: str = ""
    path: str = ""
    start: datetime | None = None
    incidents: tuple[Incident, ...] = ()
    no_event_reason: str = ""
    remarks: tuple[str, ...] = ()
    characterization: "Characterization | None" = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Analysis":
        """Restore an analysis from :meth:`as_dict`, or raise :class:`PqswarmError` if it is not one.

        Examples
        --------
        >>> from pqswarm.events import generate
        >>> from pqswarm.identify import identify
        >>> from pqswarm.recordings import Channel, Recording
        >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
        >>> analysis = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
        >>> Analysis.of(analysis.as_dict()) == analysis
        True
        """
        given = dict(restore_record(_PlainAnalysis, plain, "an analysis"))
        given["events"] = tuple(map(EventResult.of, given["events"]))
        given["thresholds"] = Thresholds.of(given["thresholds"])
        incidents = [Incident.of(incident, len(given["events"])) for incident in given["incidents"]]
        given["incidents"] = tuple(sorted(incidents, key=order_in_time))
        return cls(**given)

    @property
    def main(self) -> EventResult | None:
        """The worst event, those that move the voltage before steady ones, then by size; None if there is none."""
        return max(self.events, key=lambda result: rank_event(result.event), default=None)

    @property
    def main_incident(self) -> Incident | None:
        """The incident of the worst event; None if nothing was found."""
        worst = max(range(len(self.events)), key=lambda i: rank_event(self.events[i].event), default=-1)
        return self.incident_of(worst)

    def incident_of(self, position: int) -> Incident | None:
        """Return the incident of the event at a position of :attr:`events`; None if nothing was found."""
        return self._incident_of.get(position)

    @cached_property
    def _incident_of(self) -> dict[int, Incident]:
        return {position: incident for incident in self.incidents for position in incident.events}

    def only(self, positions: Sequence[int]) -> "Analysis":
        """Return the analysis on the events at some positions of :attr:`events`."""
        places = {old: new for new, old in enumerate(positions)}
        incidents = [
            replace(incident, events=tuple(places[i] for i in incident.events if i in places))
            for incident in self.incidents
        ]
        return replace(
            self,
            events=tuple(self.events[i] for i in positions),
            incidents=tuple(incident for incident in incidents if incident.events),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each event by the rules, in the words of IEEE 1159, or why there is none."""
        return tuple(result.event.sentence for result in self.events) or (self.no_event_reason,)

    @property
    def duration(self) -> float:
        """Length of the recording [s]."""
        return self.n_samples / self.sampling_rate

    def text(self) -> str:
        """Return a report: a heading, each incident with its events below it, the references, and the caveats."""
        heading = [self.path or self.source or "recording", self.station]
        if self.start is not None:
            heading.append(f"{self.start:%Y-%m-%d}")
        references = "; ".join(
            f"{one.channel} {voltage_text(one.volts) if one.volts > 0 else 'unknown'} ({one.source})"
            for one in self.references
        )
        lines = [f"{result.clock(self.start)}  {result.text()}" for result in self.events]
        notes = [f"  note: {text}" for text in (*self.notes, *self.caveats, *self.remarks)]
        supply = f"  1 pu: {references}; {self.frequency:.2f} Hz"
        return "\n".join([", ".join(filter(None, heading)), *self.incident_lines(lines), supply, *notes])

    def incident_lines(self, lines: Sequence[str]) -> list[str]:
        """Return a line for each incident with a cause and, below it, those of its events; or why there is none."""
        if not self.events:
            return [f"  {self.no_event_reason}"]
        if not self.incidents:
            return [f"  {line}" for line in lines]
        listed = []
        for incident in self.incidents:
            if incident.has_cause:
                listed.append(f"  {self.events[min(incident.events)].clock(self.start)}  {incident.text()}")
            listed += [f"{'    ' if incident.has_cause else '  '}{lines[i]}" for i in sorted(incident.events)]
        return listed

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict for each event, with the keys of :data:`pqswarm.identify.COLUMNS`."""
        head = {**vars(self), "start": None if self.start is None else self.start.isoformat()}
        incidents = {
            position: incident.as_dict() | {"number": number, "title": incident.title}
            for number, incident in enumerate(self.incidents, 1)
            for position in incident.events
        }
        return [event_row(head, i, result.as_dict(), incidents.get(i)) for i, result in enumerate(self.events)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the measurements as plain values in full precision; :meth:`of` is the inverse.

        Of the incidents the main one is the first; they name their events by position.
        """
        main = self.main_incident
        ordered = sorted(self.incidents, key=lambda incident: incident is not main)
        return {
            "source": self.source,
            "path": self.path,
            "station": self.station,
            "start": None if self.start is None else self.start.isoformat(),
            "sampling_rate": self.sampling_rate,
            "frequency": self.frequency,
            "nominal_frequency": self.nominal_frequency,
            "n_samples": self.n_samples,
            "thresholds": asdict(self.thresholds),
            "incidents": [incident.as_dict() for incident in ordered],
            "events": [result.as_dict() for result in self.events],
            "references": [vars(one) for one in self.references],
            "channels": [vars(one) for one in self.channels],
            "no_event_reason": self.no_event_reason,
            "caveats": list(self.caveats),
            "notes": list(self.notes),
            "remarks": list(self.remarks),
        }


_LATER = ("channels", "no_event_reason", "remarks")
"""Fields that the first stored analyses lack."""
_PLAIN: dict[str, Any] = {
    one.name: (one.type, one.default if one.name in _LATER else ...)
    for one in fields(Analysis)
    if one.name != "characterization"
}
_PLAIN |= {
    "events": (list[dict[str, Any]], ...),
    "incidents": (list[dict[str, Any]], []),
    "thresholds": (dict[str, float], ...),
}
_PlainAnalysis = create_model("_PlainAnalysis", **_PLAIN)
"""What a stored analysis must have."""


_MINUTES = 120.0
"""Durations from here on are given in minutes [s]."""
COLUMNS = (
    "source",
    "path",
    "station",
    "date",
    "time",
    "offset_s",
    "incident",
    "cause",
    "cause_probability",
    "type",
    "category",
    "phases",
    "channels",
    "system",
    "magnitude",
    "unit",
    "volts",
    "duration_s",
    "cycles",
    "cut",
    "sag_type",
    "label",
    "probability",
    "runner_up",
    "runner_up_probability",
    "rule_label",
    "agreement",
    "correction",
    "remarks",
    "sentence",
    "reference_volts",
    "reference_source",
    "frequency",
    "sampling_rate",
    "caveats",
)
"""Columns of the row of an event, in order; the cause of an incident is in the row of its main event.

Where the record cuts an event, ``"start"``, ``"end"`` or ``"start and end"``, its duration is at least the one given.
`label` and `cause` are those that a person put in place of what was found, which `correction` tells; `remarks` are the
notes on the recording.
"""


def magnitude_text(event: Event) -> str:
    """Return the magnitude, ``"0.62 pu (12.4 kV)"`` or in percent, of a transient its peak; empty if there is none."""
    if not isfinite(event.magnitude):
        return ""
    if event.unit != "pu":
        return f"{digits_text(event.magnitude, 3)} {event.unit}"
    peak = event.type == "transient"
    volts = voltage_text(event.volts) if event.reference_volts > 0 else ""
    digits = 3 if event.type == "rapid voltage change" else 2
    return f"{event.magnitude:.{digits}f} pu{' peak' if peak else ''}" + (f" ({volts})" if volts else "")


def duration_text(seconds: float, nominal_frequency: float, *, cut: bool = False) -> str:
    """Return a duration [s] as time and cycles, with ``"at least"`` if the record cuts the event."""
    if not isfinite(seconds) or seconds <= 0:
        return ""
    prefix = "at least " if cut else ""
    if seconds >= _MINUTES:
        minutes, rest = divmod(round(seconds), 60)
        return f"{prefix}{minutes} min" + (f" {rest} s" if rest else "")
    cycles = seconds * nominal_frequency
    time = f"{digits_text(seconds)} s" if seconds >= 1 else f"{digits_text(1000 * seconds, 3)} ms"
    number = digits_text(cycles, 1) if cycles < 0.1 else f"{cycles:.{1 if cycles < 100 else 0}f}"
    return f"{prefix}{time} ({number} cycles)"


def to_milliseconds(moment: datetime | None) -> datetime | None:
    """Round a time to the millisecond."""
    if moment is None:
        return None
    try:
        late = moment + timedelta(microseconds=500)
    except OverflowError:
        late = moment
    return late.replace(microsecond=late.microsecond // 1000 * 1000)


def time_text(moment: datetime | None) -> str:
    """Return date and time to the millisecond, ``"2023-05-12 19:45:25.814"``; empty if unknown."""
    moment = to_milliseconds(moment)
    return "" if moment is None else moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")


def clock_text(moment: datetime | None) -> str:
    """Return the time of day to the millisecond."""
    return time_text(moment)[11:]


def join_words(words: Sequence[str]) -> str:
    """Join a list for a sentence: ``A, B and C``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def cut_side(record: Mapping[str, Any]) -> str:
    """Return which side of an event, given as plain values, the record cuts; empty if it holds all of it."""
    return " and ".join(name for name in ("start", "end") if record[f"cut_{name}"])


def event_row(
    head: Mapping[str, Any], position: int, record: Mapping[str, Any], incident: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the row of an event, with the keys of :data:`COLUMNS`.

    `head` has the plain values of its analysis, in which the event has the `position`, `record` is
    :meth:`pqswarm.identify.EventResult.as_dict`, and `incident` that of its incident, with its number and title.
    """
    first = None if head["start"] is None else datetime.fromisoformat(head["start"])
    when = to_milliseconds(event_time(first, record["start"]))
    ranked = list(record["probabilities"].items())
    second, second_probability = ranked[1] if len(ranked) > 1 else ("", 0.0)
    main = incident if incident is not None and incident["events"][0] == position else {}
    return {
        "source": head["source"],
        "path": head["path"],
        "station": head["station"],
        "date": "" if when is None else f"{when:%Y-%m-%d}",
        "time": "" if when is None else when.isoformat(timespec="milliseconds")[11:],
        "offset_s": round(record["start"], 6),
        "incident": "" if incident is None else incident["number"],
        "cause": main.get("title", ""),
        "cause_probability": round(main["probability"], 3) if main and not main["by_hand"] else "",
        "type": record["type"],
        "category": record["category"],
        "phases": " ".join(dict.fromkeys(record["phases"])).strip(),
        "channels": "; ".join(dict.fromkeys(record["channels"])),
        "system": "; ".join((record["system"], *record["also"])),
        "magnitude": _row_value_digits(record["magnitude"], 4),
        "unit": record["unit"],
        "volts": "" if record["volts"] is None else _row_value_digits(record["volts"], 6),
        "duration_s": _rounded_row_value(record["duration"], 6),
        "cycles": _rounded_row_value(record["cycles"], 2),
        "cut": cut_side(record),
        "sag_type": record["sag_type"],
        "label": record["by_hand"] or record["label"] or "",
        "probability": "" if record["probability"] is None else round(record["probability"], 3),
        "runner_up": second,
        "runner_up_probability": round(second_probability, 3) if second else "",
        "rule_label": record["rule_label"],
        "agreement": record["agreement"],
        "correction": "; ".join(filter(None, (record["correction"], main.get("correction")))),
        "remarks": "; ".join(head["remarks"]),
        "sentence": record["sentence"],
        "reference_volts": _row_value_digits(record["reference_volts"], 6),
        "reference_source": record["reference_source"],
        "frequency": round(head["frequency"], 3),
        "sampling_rate": _row_value_digits(head["sampling_rate"], 8),
        "caveats": " ".join(head["caveats"]),
    }


def _row_value_digits(value: float | None, digits: int) -> float:
    return nan if value is None else float(f"{value:.{digits}g}")


def _rounded_row_value(value: float | None, decimals: int) -> float:
    return nan if value is None else round(value, decimals)
