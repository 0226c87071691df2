"""What a page is made of: recordings with their analyses, and their events in one numbered list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.show.page.levels import LEAD, urms_level_extremes
from pqswarm.identify.show.rows import LONGEST_SHOWN, event_sentence, row_date, row_moment
from pqswarm.identify.tolerance import rank_event
from pqswarm.identify.words import join_words, time_text
from pqswarm.measure.event import EVENT_TYPES
from pqswarm.measure.incidents.record import Incident

MAX_FIGURES = 20
"""Figures of a page."""


@dataclass(frozen=True, eq=False)
class ListedRecording:
    """What a page keeps of a recording: a thousand long ones must fit into memory.

    The analysis without its measurements, and as much of Urms(1/2) [pu] (n_references, n) as is shown, at `time` [s].
    """

    analysis: Analysis
    time: FloatArray
    urms: FloatArray

    @classmethod
    def of(cls, analysis: Analysis) -> "ListedRecording":
        """Keep what the page shows of an analysis."""
        series = None if analysis.characterization is None else analysis.characterization.series
        light = replace(analysis, characterization=None)
        if series is None:
            return cls(light, np.empty(0), np.empty((len(analysis.references), 0)))
        shown = urms_level_extremes(analysis, series.time, series.urms) | _near_listed_events(analysis, series.time)
        return cls(light, series.time[shown], series.urms[:, shown])

    @property
    def site(self) -> str:
        """The station, or the file if the station is unknown."""
        name = self.analysis.source.replace("\\", "/").rsplit("/", 1)[-1].partition(", ")[0]
        return self.analysis.station or name or "recording"


def _near_listed_events(analysis: Analysis, time: FloatArray) -> BoolArray:
    """Values of Urms(1/2) near the worst events."""
    shown = np.zeros(time.size, dtype=bool)
    for found in sorted(analysis.events, key=lambda result: rank_event(result.event), reverse=True)[:MAX_FIGURES]:
        event = found.event
        middle = (event.start + event.end) / 2
        shown |= (time >= event.start - LEAD) & (time <= min(event.end, event.start + LONGEST_SHOWN) + LEAD)
        shown |= np.abs(time - middle) <= LEAD
    return shown


@dataclass(frozen=True, eq=False)
class ListedEvent:
    """An event on the page: number from 1, recording and its index, analysis, incident, and if it is the main one."""

    number: int
    place: int
    recording: ListedRecording
    found: EventResult
    incident: Incident | None = None
    is_main: bool = True


def list_events(recordings: Sequence[ListedRecording]) -> list[ListedEvent]:
    """List the events of all recordings, by station and time of their incident, its main event first."""
    found = [
        (place, position)
        for place, recording in enumerate(recordings)
        for position in range(len(recording.analysis.events))
    ]

    def order(pair: tuple[int, int]) -> tuple[bool, str, str, str, float, bool, float]:
        analysis = recordings[pair[0]].analysis
        event = recordings[pair[0]].analysis.events[pair[1]].event
        incident = analysis.incident_of(pair[1])
        first = event if incident is None else analysis.events[min(incident.events)].event
        is_below = incident is not None and incident.events[0] != pair[1]
        when = time_text(first.at(analysis.start))
        return not analysis.station, analysis.station, when, analysis.source, first.start, is_below, event.start

    listed = []
    for number, (place, position) in enumerate(sorted(found, key=order), 1):
        analysis = recordings[place].analysis
        incident = analysis.incident_of(position)
        is_main = incident is None or incident.events[0] == position
        listed.append(ListedEvent(number, place, recordings[place], analysis.events[position], incident, is_main))
    return listed


def count_types(listed: Iterable[ListedEvent]) -> dict[str, int]:
    """Count the events of each type, in the order of EVENT_TYPES."""
    event_types = [one.found.event.type for one in listed]
    return {event_type: event_types.count(event_type) for event_type in EVENT_TYPES if event_type in event_types}


def listing_headline(
    listed: Sequence[ListedEvent], recordings: Sequence[ListedRecording], n_failures: int = 0
) -> list[str]:
    """Summarise recordings and events: how many, from where and when, and the worst event."""
    stations = sorted({recording.analysis.station for recording in recordings} - {""})
    quiet = {time_text(recording.analysis.start)[:10] for recording in recordings if not recording.analysis.events}
    dates = sorted(({row_date(one.found, one.recording.analysis.start) for one in listed} | quiet) - {""})
    n_incidents = sum(one.is_main for one in listed)
    text = f"{count_text(len(listed), 'event')} in {count_text(len(recordings), 'recording')}"
    if 0 < n_incidents < len(listed):
        text = f"{count_text(n_incidents, 'incident')} with {text}"
    if stations:
        text += f" at {join_words(stations)}" if len(stations) <= 3 else f" from {len(stations)} stations"
    if dates:
        text += f", {dates[0]}" if dates[0] == dates[-1] else f", {dates[0]} to {dates[-1]}"
    lines = [f"{text}." if recordings else "No recording could be read."]
    if listed:
        worst = max(listed, key=lambda one: rank_event(one.found.event))
        analysis = worst.recording.analysis
        at = f" at {analysis.station}" if analysis.station else ""
        cause = "" if worst.incident is None or not worst.incident.stages else f"; {worst.incident.title}"
        lines.append(f"Worst: {event_sentence(worst.found)}{at}, {row_moment(worst.found, analysis.start)}{cause}.")
    elif recordings:
        lines.append("No disturbance was found.")
    if n_failures:
        lines.append(f"{count_text(n_failures, 'recording')} could not be analysed: see Failures.")
    return lines
