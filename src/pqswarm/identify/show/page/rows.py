"""The events of many recordings, one row each, in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite, nan
from typing import TYPE_CHECKING

from pqswarm.identify.agreement import in_words
from pqswarm.identify.show.curves import COLOURS, RMS, rank_event
from pqswarm.identify.show.words import clock_text, count_text, duration_text, join_words, magnitude_text, time_text
from pqswarm.measure.event import KINDS
from pqswarm.measure.ieee1159 import join_names

if TYPE_CHECKING:
    from pqswarm.identify.verdict import EventVerdict, Verdict
    from pqswarm.measure import Event

__all__ = ["Row", "count_kinds", "headline", "list_rows", "seconds_of", "site_of"]


@dataclass(frozen=True, eq=False)
class Row:
    """An event, its verdict, and what the page says of it.

    Attributes
    ----------
    number : int
        From 1, in order of stations, recordings and time.
    verdict, found : Verdict, EventVerdict
        Of the recording, and of the event.
    severity : tuple of float
        By which the worst comes first: what moves the voltage before what is steady, then how far it goes.
    """

    number: int
    verdict: "Verdict"
    found: "EventVerdict"
    severity: tuple[float, float]

    @property
    def event(self) -> "Event":
        """The event itself."""
        return self.found.event

    @property
    def name(self) -> str:
        """The id of its row on the page."""
        return f"event-{self.number}"

    @property
    def link(self) -> str:
        """Where a mark on a chart leads: its row."""
        return f"#{self.name}"

    @property
    def key(self) -> str:
        """Nothing but the link is needed on this page."""
        return ""

    @property
    def tip(self) -> str:
        """What a mark on a chart says."""
        return f"{self.number}: {self.sentence}, {self.moment}, {self.station}"

    @property
    def kind(self) -> str:
        """One of :data:`pqswarm.measure.event.KINDS`."""
        return self.event.kind

    @property
    def title(self) -> str:
        """Its kind in words."""
        return KINDS.get(self.event.kind, self.event.kind)

    @property
    def colour(self) -> str:
        """Of its kind."""
        return COLOURS.get(self.event.kind, COLOURS["none"])

    @property
    def station(self) -> str:
        """Where it was recorded; a dash if the file does not say."""
        return self.verdict.station or "\N{EN DASH}"

    @property
    def when(self) -> datetime | None:
        """When it began."""
        return self.event.at(self.verdict.start)

    @property
    def date(self) -> str:
        """Its date; a dash if it is not known."""
        return time_text(self.when)[:10] or "\N{EN DASH}"

    @property
    def clock(self) -> str:
        """Its time to the millisecond, or how long after the first sample it began: ``"+0.275 s"``."""
        return clock_text(self.when) or f"+{self.event.start:.3f} s"

    @property
    def moment(self) -> str:
        """Date and time, or how long after the first sample it began."""
        return time_text(self.when) or f"{self.event.start:.3f} s after the first sample"

    @property
    def phases(self) -> str:
        """Its phases, or channels, and the system."""
        if self.event.kind == "none":
            return ""
        known = [phase or channel for phase, channel in zip(self.event.phases, self.event.channels, strict=True)]
        text = ", ".join(sorted(set(known), key=known.index))
        return f"{text} of {self.event.system}" if self.event.system else text

    @property
    def magnitude(self) -> str:
        """In words."""
        return magnitude_text(self.event)

    @property
    def duration(self) -> str:
        """In words; that of a recording without events is its own."""
        event = self.event
        return duration_text(event.duration, event.nominal_frequency, cut=event.cut_start or event.cut_end)

    @property
    def point(self) -> tuple[float, float] | None:
        """Duration [s] and voltage [%] to be held against tolerance curves, as they are shown; None if it has none.

        Those of a transient are its decay and the peak of the voltage, if that is above 100 %.
        """
        event, details = self.event, self.event.details
        if event.kind in RMS:
            seconds, percent = round(event.duration, 3), round(100 * event.magnitude, 1)
        elif event.kind == "transient":
            seconds, percent = details.get("decay", nan), 100 * details.get("peak_voltage", nan)
            percent = percent if percent > 100 else nan
        else:
            return None
        return (seconds, percent) if seconds > 0 and isfinite(seconds) and isfinite(percent) else None

    @property
    def learned(self) -> str:
        """The class by the model, with its probability."""
        found = self.found
        if not found.label or not found.known:
            return found.label
        return f"{in_words(found.label)}, {100 * found.probability:.0f} %"

    @property
    def sort_magnitude(self) -> str:
        """The magnitude as a number, to sort by: shares as parts of one."""
        size = self.event.magnitude if self.event.unit == "pu" else self.event.magnitude / 100
        return f"{size:.6g}" if isfinite(size) and self.event.kind != "none" else ""

    @property
    def sort_duration(self) -> str:
        """The duration [s] as a number, to sort by."""
        return f"{self.event.duration:.6g}" if isfinite(self.event.duration) else ""

    @property
    def verdict_word(self) -> str:
        """How rules and model compare, in a word or two."""
        return self.found.agreement.partition(":")[0]

    @property
    def sentence(self) -> str:
        """What, where, how much and how long; the magnitude with its voltage."""
        parts = dict.fromkeys(zip(self.event.channels, self.event.phases, strict=True))  # each channel once
        names, phases = (tuple(side) for side in zip(*parts, strict=True))
        where = join_names(names, phases, self.event.system)
        words = [f"{self.event.category or self.title} on {where}", self.magnitude, self.duration]
        return self.title if self.event.kind == "none" else ", ".join(filter(None, words))


def list_rows(verdicts: "Iterable[Verdict]") -> list[Row]:
    """List the events of all recordings, by station and time."""
    found = [(verdict, one) for verdict in verdicts for one in verdict.events]

    def place(pair: "tuple[Verdict, EventVerdict]") -> tuple[bool, str, str, str, float]:
        verdict, one = pair
        return (
            not verdict.station,
            verdict.station,
            time_text(one.event.at(verdict.start)),
            verdict.source,
            one.event.start,
        )

    return [
        Row(number, verdict, one, rank_event(one.event))
        for number, (verdict, one) in enumerate(sorted(found, key=place), 1)
    ]


def seconds_of(verdict: "Verdict") -> float:
    """Return how long the recording is [s]."""
    return verdict.characterisation.n_samples / verdict.characterisation.sampling_rate


def site_of(verdict: "Verdict") -> str:
    """Return the station, or the file where it is not known."""
    return verdict.station or verdict.source.replace("\\", "/").rsplit("/", 1)[-1].partition(", ")[0] or "recording"


def count_kinds(rows: Sequence[Row]) -> dict[str, int]:
    """Count the events of each kind, in the order of KINDS; recordings without any come last."""
    counts = {kind: sum(row.event.kind == kind for row in rows) for kind in KINDS}
    return {kind: number for kind, number in counts.items() if number}


def headline(rows: Sequence[Row], n_recordings: int, n_failures: int) -> list[str]:
    """Say how many recordings and events there are, from where and when, and which event is the worst."""
    events = [row for row in rows if row.event.kind != "none"]
    stations = sorted({row.verdict.station for row in rows if row.verdict.station})
    dates = sorted(row.date for row in rows if row.when is not None)
    text = f"{count_text(len(events), 'event')} in {count_text(n_recordings, 'recording')}"
    if stations:
        few = f" at {join_words(stations)}" if len(stations) <= 3 else f" of {len(stations)} stations"
        text += few
    if dates:
        text += f", {dates[0]}" if dates[0] == dates[-1] else f", {dates[0]} to {dates[-1]}"
    said = [f"{text}." if events or n_recordings else "No recording could be read."]
    if events:
        worst = max(events, key=lambda row: row.severity)
        at = f" at {worst.verdict.station}" if worst.verdict.station else ""
        said.append(f"Worst: {worst.sentence}{at}, {worst.moment}.")
    elif n_recordings:
        said.append("No disturbance was found.")
    if n_failures:
        said.append(f"{count_text(n_failures, 'recording')} could not be read or judged: see Not read.")
    return said
