"""What a page is made of: recordings with their analyses, their events in one numbered list, waveforms of the worst."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from markupsafe import Markup

from pqswarm._base.text import count_text
from pqswarm._base.thinning import extremes, extremes_between
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.identify.analysis import Analysis, EventResult, join_words, time_text
from pqswarm.identify.archive.picture import find_dead_channels, pack_extremes, view_main_incident
from pqswarm.identify.show.rows import LONGEST_SHOWN, event_sentence, row_date, row_moment, shown_interval
from pqswarm.identify.tolerance import rank_event
from pqswarm.measure.event import EVENT_TYPES, Event
from pqswarm.measure.incidents.stages import Incident
from pqswarm.recordings import Envelope, StatusChannel, open_recordings
from pqswarm.recordings.envelope import describe_header, describe_view, encode_status_channels
from pqswarm.recordings.recording import RecordingSource

LEAD = 2.0
"""Margin around what is shown of an event [s]."""
_MAX_VALUES = 600
"""Values of Urms(1/2) shown individually; of more, the extremes of parts."""
_MAX_PARTS = 600
_MAX_BYTES = 180_000
"""Parts of an interval, and approximate bytes of an event."""
_MAX_CHANNELS = 48
_MAX_STATUS = 32
_MAX_CHANGES = 1000
_MAX_LETTERS = 120
"""Channels, changing status channels, all their changes, and letters of a name."""
MAX_FIGURES = 20
"""Figures of a page."""
MAX_BYTES = 4_500_000
"""Size of all waveforms together [byte]."""
_MAX_EVENTS = 300
"""Events shaded in the waveforms of a recording, the worst ones."""
_ANY_ERROR = Exception
"""Any error in reading waveforms again; the row of the event is kept."""


@dataclass(frozen=True)
class ListedIntervals:
    """The interval shown first, and those the page has pictures of, finest last [s]."""

    first: tuple[float, float]
    kept: tuple[tuple[float, float], ...]


def listed_intervals_near_event(event: "Event", length: float) -> ListedIntervals:
    """Choose the intervals of a recording of that length [s]: the whole, the surroundings of an event, its cycles."""
    cycle = 1 / event.nominal_frequency
    last = event.end if isfinite(event.end) else event.start
    start, end = shown_interval(event)
    wide = end - start
    if wide <= 50 * cycle:
        around = min(wide, LEAD)
        middle = (start + end) / 2
        half = max(0.6 * wide, 7 * cycle, 0.85 * (last - event.start))
        middle_level = (start - around, end + around)
        fine = (middle - half, middle + half)
    else:
        middle_level = (start - 0.5, end + 0.5)
        fine = (event.start - 4 * cycle, event.start + 16 * cycle)
    kept = [(0.0, length), *((max(a, 0.0), min(b, length)) for a, b in (middle_level, fine))]
    return ListedIntervals((max(start, 0.0), min(end, length)), tuple(kept))


def describe_listed_recording(recording: "RecordingSource", channels: Sequence[int]) -> dict[str, Any]:
    """Header of a recording for the viewer, `pq.Waves`."""
    header = describe_header(recording, channels, _shorten_listed_name)
    for place, one in zip(channels, header["channels"], strict=True):
        one["name"] = one["name"] or f"channel {place + 1}"
    status = encode_status_channels(choose_listed_status(recording), recording.sampling_rate, text=_shorten_listed_name)
    for one in status:
        one["changes"] = [[round(moment, 6), state] for moment, state in one["changes"]]
    return {"name": _shorten_listed_name(recording.source or "recording"), **header, "status": status}


def choose_listed_channels(recording: "RecordingSource", analysis: "Analysis") -> list[int]:
    """Choose the channels to show: all that hold something, or of many the analyzed voltages, currents, then others."""
    dead = find_dead_channels(recording, view_main_incident(recording, analysis), analysis)
    analyzed = [one.number for one in analysis.references]
    currents = [place for place, one in enumerate(recording.channels) if one.is_current]
    order = dict.fromkeys([*analyzed, *currents, *range(len(recording.channels))])
    return sorted([place for place in order if place not in dead][:_MAX_CHANNELS])


def choose_listed_status(recording: "RecordingSource") -> "list[StatusChannel]":
    """Choose the status channels to show: those that change, within the limit of all changes."""
    kept: list[StatusChannel] = []
    left = _MAX_CHANGES
    for one in recording.status:
        if 1 < one.places.size <= left and len(kept) < _MAX_STATUS:
            kept.append(one)
            left -= one.places.size
    return kept


def list_interval_views(
    recording: "RecordingSource", shown: "ListedRecording", near: Sequence[ListedIntervals], channels: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the packed pictures of the intervals around events; each level has twice the parts of the last."""
    n_parts = max(min(_MAX_PARTS, _MAX_BYTES // (38 * max(len(channels), 1))), 2)
    # The whole recording is thinned as it is read; of the other intervals, samples are read.
    envelope = Envelope(recording, part=max(128, -(-recording.n_samples // n_parts)))
    rate = recording.sampling_rate
    views = []
    exact: list[tuple[int, int]] = []
    for start, end, times in dict.fromkeys(
        (*interval, 2**level) for one in near for level, interval in enumerate(one.kept)
    ):
        first, stop = int(start * rate), min(int(end * rate) + 1, recording.n_samples)
        if any(a <= first and stop <= b for a, b in exact):
            continue
        wanted = (first, stop, times * n_parts)
        view = envelope.view(*wanted)
        if view.fraction < 1:
            envelope.build()
            view = envelope.view(*wanted)
        if view.exact:
            exact.append((view.first, view.stop))
        urms = _listed_urms_view(shown, channels, view.first / rate, view.stop / rate)
        views.append({**describe_view(view, rate, channels, pack_extremes), "urms": urms})
    return views


def listed_urms_extremes(analysis: "Analysis", time: "FloatArray", urms: "FloatArray") -> "BoolArray":
    """Select the values of Urms(1/2) that the picture of the whole recording needs: the extremes of each part."""
    if not _is_listed_in_parts(analysis):
        return np.ones(time.size, dtype=bool)
    shown = np.zeros(time.size, dtype=bool)
    edges = np.searchsorted(time, _listed_part_edges(analysis))
    for line in urms:
        for start, end in pairwise(edges.tolist()):
            known = np.flatnonzero(np.isfinite(line[start:end])) + start
            if known.size:
                shown[known[np.argmin(line[known])]] = shown[known[np.argmax(line[known])]] = True
    return shown


def _is_listed_in_parts(analysis: "Analysis") -> bool:
    """Whether Urms(1/2) of the whole recording is shown in parts."""
    return analysis.duration > 0.5 * _MAX_VALUES / analysis.nominal_frequency


def _listed_part_edges(analysis: "Analysis") -> "FloatArray":
    return np.linspace(0, analysis.duration, _MAX_VALUES // 2 + 1)


def _listed_urms_view(
    shown: "ListedRecording", channels: Sequence[int], start: float, end: float
) -> dict[str, Any] | None:
    """Urms(1/2) of an interval [pu]; in parts for the whole of a long recording."""
    analysis = shown.analysis
    time = shown.time
    lines = [
        (channels.index(one.number), line)
        for one, line in zip(analysis.references, shown.urms, strict=True)
        if one.number in channels
    ]
    pairs: list[tuple[FloatArray, FloatArray | None]]
    inside = np.flatnonzero((time >= start) & (time <= end))
    if not lines or inside.size < 2:
        return None
    whole = start == 0 and end >= (analysis.n_samples - 1) / analysis.sampling_rate
    if whole and _is_listed_in_parts(analysis):
        edges = _listed_part_edges(analysis)
        places = np.searchsorted(time, edges).tolist()
        origin = 0.0
        step = float(edges[1] - edges[0])
        pairs = [extremes_between(line, places) for _, line in lines]
    else:
        times = time[inside]
        each = -(-inside.size // _MAX_VALUES)
        origin = float(times[0])
        step = float((times[-1] - times[0]) / (inside.size - 1)) * each
        values = [line[inside] for _, line in lines]
        pairs = [extremes(line, each) if each > 1 else (line, None) for line in values]
        origin -= 0.5 * step / each if each > 1 else 0.0
    return {
        "from": origin,
        "step": step,
        "channels": [
            {"index": index, **pack_extremes(low, high)} for (index, _), (low, high) in zip(lines, pairs, strict=True)
        ],
    }


def _shorten_listed_name(text: str) -> str:
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


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
        shown = listed_urms_extremes(analysis, series.time, series.urms) | _near_listed_events(analysis, series.time)
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


def count_listed_types(listed: Iterable[ListedEvent]) -> dict[str, int]:
    """Count the events of each type, in the order of EVENT_TYPES."""
    event_types = [one.found.event.type for one in listed]
    return {event_type: event_types.count(event_type) for event_type in EVENT_TYPES if event_type in event_types}


def listing_headline(
    listed: Sequence[ListedEvent], recordings: Sequence[ListedRecording], n_failures: int = 0
) -> list[str]:
    """Summarize recordings and events: how many, from where and when, and the worst event."""
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
        cause = "" if worst.incident is None or not worst.incident.has_cause else f"; {worst.incident.title}"
        lines.append(f"Worst: {event_sentence(worst.found)}{at}, {row_moment(worst.found, analysis.start)}{cause}.")
    elif recordings:
        lines.append("No disturbance was found.")
    if n_failures:
        lines.append(f"{count_text(n_failures, 'recording')} could not be analyzed: see Failures.")
    return lines


@dataclass(frozen=True, eq=False)
class ListedWaveforms:
    """The waveforms of one recording: its events with a figure, worst first, and the data of the viewer as JSON."""

    events: tuple[ListedEvent, ...]
    json: Markup
    note: str = ""


def _sort_listed_waveforms(listed: Iterable[ListedEvent]) -> list[ListedEvent]:
    return sorted(listed, key=lambda one: rank_event(one.found.event), reverse=True)


def choose_listed_events(listed: Sequence[ListedEvent]) -> list[ListedEvent]:
    """Choose the events to draw: the worst of each recording first, then others; worst first."""
    ordered = _sort_listed_waveforms(listed)
    firsts: dict[int, ListedEvent] = {}
    for one in ordered:
        firsts.setdefault(one.place, one)
    chosen = [*firsts.values(), *(one for one in ordered if firsts[one.place] is not one)][:MAX_FIGURES]
    return _sort_listed_waveforms(chosen)


@lru_cache(maxsize=1)
def _open_listed_file(path: str) -> tuple[RecordingSource, ...]:
    """The recordings of a file; the last file stays open, as it may hold many."""
    try:
        return open_recordings(path)
    except _ANY_ERROR:
        return ()


def find_listed_recording(analysis: Analysis) -> RecordingSource | None:
    """Return the recording of an analysis from its file; None if the file is missing or has changed."""
    return match_listed_recording(analysis, _open_listed_file(analysis.path)) if analysis.path else None


def match_listed_recording(analysis: Analysis, sources: Iterable[RecordingSource]) -> RecordingSource | None:
    """Return the recording of an analysis among those of its file; None if it is missing or has changed."""
    for source in sources:
        same = (source.source, source.n_samples, source.start) == (analysis.source, analysis.n_samples, analysis.start)
        if same and abs(source.sampling_rate / analysis.sampling_rate - 1) < 1e-6:
            return source
    return None


def read_listed_waveforms(
    listed: Sequence[ListedEvent], find: Callable[[Analysis], RecordingSource | None] = find_listed_recording
) -> list[ListedWaveforms]:
    """Read the waveforms of the worst events, worst first, as far as number, size and the files allow."""
    chosen: dict[int, list[ListedEvent]] = {}
    for one in choose_listed_events(listed):
        chosen.setdefault(one.place, []).append(one)
    found: list[ListedWaveforms] = []
    for place, own in sorted(chosen.items(), key=lambda item: item[1][0].recording.analysis.path):
        try:
            recording = find(own[0].recording.analysis)
            if recording is not None:
                found.append(
                    _read_listed_event_waveforms(recording, own, [one for one in listed if one.place == place])
                )
        except _ANY_ERROR:
            continue
    _open_listed_file.cache_clear()
    found.sort(key=lambda waveforms: rank_event(waveforms.events[0].found.event), reverse=True)
    kept = []
    size = 0
    for waveforms in found:
        size += len(waveforms.json)
        if size <= MAX_BYTES:
            kept.append(waveforms)
    return kept


def _read_listed_event_waveforms(
    recording: RecordingSource, chosen: list[ListedEvent], listed: list[ListedEvent]
) -> ListedWaveforms:
    shown = chosen[0].recording
    length = recording.n_samples / recording.sampling_rate
    channels = choose_listed_channels(recording, shown.analysis)
    near = [listed_intervals_near_event(one.found.event, length) for one in chosen]
    thresholds = shown.analysis.thresholds
    events = _sort_listed_waveforms(listed)
    data: dict[str, Any] = {
        "header": describe_listed_recording(recording, channels),
        "views": list_interval_views(recording, shown, near, channels),
        "thresholds": [thresholds.interruption, thresholds.sag, thresholds.swell],
        "events": [
            {
                "start": one.found.event.start,
                "end": one.found.event.end if isfinite(one.found.event.end) else one.found.event.start,
                "type": one.found.event.type,
                "title": f"{one.number}: {event_sentence(one.found)}"[:200],
                "index": one.number,
            }
            for one in events[:_MAX_EVENTS]
        ],
        "first": {one.number: interval.first for one, interval in zip(chosen, near, strict=True)},
    }
    moving = sum(one.places.size > 1 for one in recording.status)
    drawn = len(data["header"]["status"])
    notes = []
    if len(channels) < len(recording.channels):
        notes.append(f"{len(channels)} of {len(recording.channels)} channels are shown.")
    if drawn < moving:
        notes.append(f"{drawn} of {moving} changing status channels are shown.")
    return ListedWaveforms(tuple(chosen), _listed_waveforms_json(data), " ".join(notes))


def _listed_waveforms_json(value: Any) -> Markup:
    """JSON for a ``<script>`` element: no channel name can end it or start a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 (it contains no markup)
