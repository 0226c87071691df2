"""Verdicts as plain frozen records: rows, text, dict, figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pqswarm.identify.agreement import in_words
from pqswarm.identify.show.curves import rank_event
from pqswarm.identify.show.words import to_milliseconds, voltage_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pqswarm.measure import Characterisation, Event
    from pqswarm.recordings.recording import RecordingSource

__all__ = ["COLUMNS", "EventVerdict", "Verdict"]

COLUMNS = (
    *("source", "path", "station", "date", "time", "offset_s", "kind", "category", "phases", "channels", "system"),
    *("magnitude", "unit", "volts", "duration_s", "cycles", "sag_type", "class", "probability", "runner_up"),
    *("runner_up_probability", "rule_class", "agreement", "sentence", "reference_volts", "reference", "frequency"),
    *("sampling_rate", "caveats"),
)
"""Columns of the row of an event, in order."""


class _Opinion:
    """What the model says: probabilities of the classes, the most probable first, and whether it knows such events."""

    probabilities: Mapping[str, float]
    known: bool

    @property
    def label(self) -> str:
        """The class by the model, or ``"unknown"``; empty if it could not be asked."""
        best = next(iter(self.probabilities), "")
        return best if self.known or not best else "unknown"

    @property
    def probability(self) -> float:
        """Of the class; 0 if the model could not be asked."""
        return next(iter(self.probabilities.values()), 0.0)

    @property
    def runner_up(self) -> tuple[str, float]:
        """The second most probable class, and its probability."""
        items = list(self.probabilities.items())
        return items[1] if len(items) > 1 else ("", 0.0)


@dataclass(frozen=True, eq=False)
class EventVerdict(_Opinion):
    """What an event is by the rules and by the model.

    Attributes
    ----------
    event : Event
        By the rules.
    rule : str
        The class that the rules amount to in the window.
    probabilities : mapping of str to float
        Of the classes by the model, the most probable first; empty if it could not be asked.
    agreement : str
        Of rules and model, in words.
    window : tuple of float
        What the model looked at, on the worst channel: begin and end [s].
    reference_source : str
        Where 1 pu comes from.
    known : bool
        Whether the event is like anything that the model has learned.
    """

    event: "Event"
    rule: str
    probabilities: Mapping[str, float]
    agreement: str
    window: tuple[float, float]
    reference_source: str = ""
    known: bool = True

    def text(self) -> str:
        """Return the event and the opinion of the model in one line."""
        if not self.probabilities:
            return f"{self.event.sentence}; {self.agreement}"
        said = f"{in_words(self.label)} {100 * self.probability:.0f} %" if self.known else "unknown"
        return f"{self.event.sentence}; model: {said}, {self.agreement}"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            **self.event.as_dict(),
            "class": self.label or None,
            "probability": round(self.probability, 4) if self.label and self.known else None,
            "probabilities": {name: round(value, 4) for name, value in self.probabilities.items()},
            "rule_class": self.rule,
            "agreement": self.agreement,
            "window": [round(value, 6) for value in self.window],
        }


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found in a recording.

    Attributes
    ----------
    source : str
        The recording.
    characterisation : Characterisation
        By the rules.
    caveats : tuple of str
        What was assumed, and what the recording cannot show; one sentence each.
    notes : tuple of str
        What had to be assumed in reading the recording.
    events : tuple of EventVerdict
        In order of time; one of kind ``"none"`` if nothing was found.
    station, path : str
        Where it was recorded, and the file.
    start : datetime or None
        Time of the first sample.
    """

    source: str
    characterisation: "Characterisation"
    caveats: tuple[str, ...]
    notes: tuple[str, ...] = ()
    events: tuple[EventVerdict, ...] = ()
    station: str = ""
    start: datetime | None = None
    path: str = ""

    @property
    def main(self) -> EventVerdict:
        """The worst of its events: what moves the voltage before what is steady, then by size."""
        return max(self.events, key=lambda one: rank_event(one.event))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the rules found, in the words of IEEE 1159."""
        return self.characterisation.sentences()

    def text(self) -> str:
        """Return everything in words: a heading, a line for each event, what 1 pu is, and the caveats."""
        found = self.characterisation
        heading = [self.path or self.source or "recording", self.station]
        if self.start is not None:
            heading.append(f"{self.start:%Y-%m-%d}")
        references = "; ".join(
            f"{one.name} {voltage_text(one.reference)} ({one.reference_source})" for one in found.channels
        )
        return "\n".join(
            [
                ", ".join(part for part in heading if part),
                *(f"  {self._when(one.event)}  {one.text()}" for one in self.events),
                f"  1 pu: {references}; {found.frequency:.2f} Hz",
                *(f"  note: {text}" for text in (*self.notes, *self.caveats)),
            ]
        )

    def _when(self, event: "Event") -> str:
        """Time of day at which an event began, or the time from the first sample."""
        when = to_milliseconds(event.at(self.start))
        return f"+{event.start:.3f} s" if when is None else when.isoformat(timespec="milliseconds")[11:]

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict for each event, with the keys of :data:`COLUMNS`."""
        return [self._row(one) for one in self.events]

    def _row(self, one: EventVerdict) -> dict[str, Any]:
        event, when = one.event, to_milliseconds(one.event.at(self.start))
        found = self.characterisation
        return {
            "source": self.source,
            "path": self.path,
            "station": self.station,
            "date": "" if when is None else f"{when:%Y-%m-%d}",
            "time": "" if when is None else when.isoformat(timespec="milliseconds")[11:],
            "offset_s": round(event.start, 6),
            "kind": event.kind,
            "category": event.category,
            "phases": " ".join(dict.fromkeys(event.phases)).strip(),
            "channels": "; ".join(dict.fromkeys(event.channels)),
            "system": "; ".join((event.system, *event.also)),
            "magnitude": float(f"{event.magnitude:.4g}"),
            "unit": event.unit,
            "volts": float(f"{event.volts:.6g}") if event.volts == event.volts else "",
            "duration_s": round(event.duration, 6),
            "cycles": round(event.cycles, 2),
            "sag_type": event.sag_type,
            "class": one.label,
            "probability": round(one.probability, 3) if one.probabilities and one.known else "",
            "runner_up": one.runner_up[0],
            "runner_up_probability": round(one.runner_up[1], 3) if one.runner_up[0] else "",
            "rule_class": one.rule,
            "agreement": one.agreement,
            "sentence": event.sentence,
            "reference_volts": float(f"{event.reference:.6g}"),
            "reference": one.reference_source,
            "frequency": round(found.frequency, 3),
            "sampling_rate": float(f"{found.sampling_rate:.8g}"),
            "caveats": " ".join(self.caveats),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "source": self.source,
            "path": self.path,
            "station": self.station,
            "start": None if self.start is None else self.start.isoformat(),
            "events": [one.as_dict() for one in self.events],
            "sentences": list(self.sentences),
            "caveats": list(self.caveats),
            "notes": list(self.notes),
            "characterisation": self.characterisation.as_dict(),
        }

    def plot(self, recording: "RecordingSource", event: EventVerdict | None = None) -> "Figure":
        """Draw an event: waveforms, Urms(1/2) and currents over one axis of time, with all events marked.

        Parameters
        ----------
        recording : Recording or RecordingSource
            The one that was judged; only what is shown is read.
        event : EventVerdict, optional
            One of :attr:`events`; by default the worst.

        Returns
        -------
        matplotlib.figure.Figure
            A panel of waveforms for the system of the event (by default for up to three systems), one of Urms(1/2), and
            one of the three currents that swing most, if there are any. Time is from the start of the event.
        """
        from pqswarm.identify.show.figures import plot_verdict

        return plot_verdict(recording, self, event)
