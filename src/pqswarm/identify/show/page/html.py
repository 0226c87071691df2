"""One self-contained HTML file for many analyses: tables, indices, charts and figures."""

import base64
import gzip
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import inf, isfinite, log10
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from pqswarm import __version__
from pqswarm._base.text import count_text, frequency_text, voltage_text
from pqswarm._base.thinning import extremes, extremes_between
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm._web import VIEWER, read_scripts, read_styles
from pqswarm.identify.analysis import COLUMNS, Analysis, EventResult, duration_text, join_words, time_text
from pqswarm.identify.archive.export import export_csv_table
from pqswarm.identify.archive.picture import find_dead_channels, pack_picture, view_main_incident
from pqswarm.identify.show import rows
from pqswarm.identify.show.rows import (
    COLORS,
    LONGEST_SHOWN,
    event_sentence,
    row_color,
    row_date,
    row_moment,
    shown_interval,
)
from pqswarm.identify.tolerance import (
    AGGREGATION,
    ITIC,
    RMS,
    SEMI,
    SEMI_REQUIRED,
    ToleranceCurve,
    rank_event,
    tolerance_curve_point,
)
from pqswarm.measure.event import EVENT_TYPES, Event
from pqswarm.measure.incidents.stages import Incident
from pqswarm.recordings import Envelope, StatusChannel, open_recordings
from pqswarm.recordings.drawing import describe_drawn_view, describe_header, encode_status_channels
from pqswarm.recordings.recording import RecordingSource
from pqswarm.report.section import Table

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


_Interval = tuple[float, float]
"""Start and end [s]."""


def listed_intervals_near_event(event: "Event", length: float) -> tuple[_Interval, list[_Interval]]:
    """Choose the interval of a recording of that length [s] that is shown first, and those with pictures.

    These are the whole, the surroundings of an event, and its cycles.
    """
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
    return (max(start, 0.0), min(end, length)), kept


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
    recording: "RecordingSource", shown: "ListedRecording", near: Sequence[Sequence[_Interval]], channels: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the packed pictures of the intervals around events; each level has twice the parts of the last."""
    n_parts = max(min(_MAX_PARTS, _MAX_BYTES // (38 * max(len(channels), 1))), 2)
    # The whole recording is thinned as it is read; of the other intervals, samples are read.
    envelope = Envelope(recording, part=max(128, -(-recording.n_samples // n_parts)))
    rate = recording.sampling_rate
    views = []
    exact: list[tuple[int, int]] = []
    for start, end, times in dict.fromkeys(
        (*interval, 2**level) for kept in near for level, interval in enumerate(kept)
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
        views.append({**describe_drawn_view(view, rate, channels, pack_picture), "urms": urms})
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
            {"index": index, **pack_picture(low, high)} for (index, _), (low, high) in zip(lines, pairs, strict=True)
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
        shown = listed_urms_extremes(analysis, series.time, series.urms) | _near_page_events(analysis, series.time)
        return cls(light, series.time[shown], series.urms[:, shown])

    @property
    def site(self) -> str:
        """The station, or the file if the station is unknown."""
        name = self.analysis.source.replace("\\", "/").rsplit("/", 1)[-1].partition(", ")[0]
        return self.analysis.station or name or "recording"


def _near_page_events(analysis: Analysis, time: FloatArray) -> BoolArray:
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


def _sort_page_waveforms(listed: Iterable[ListedEvent]) -> list[ListedEvent]:
    return sorted(listed, key=lambda one: rank_event(one.found.event), reverse=True)


def choose_listed_events(listed: Sequence[ListedEvent]) -> list[ListedEvent]:
    """Choose the events to draw: the worst of each recording first, then others; worst first."""
    ordered = _sort_page_waveforms(listed)
    firsts: dict[int, ListedEvent] = {}
    for one in ordered:
        firsts.setdefault(one.place, one)
    chosen = [*firsts.values(), *(one for one in ordered if firsts[one.place] is not one)][:MAX_FIGURES]
    return _sort_page_waveforms(chosen)


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
    from jinja2.utils import htmlsafe_json_dumps

    shown = chosen[0].recording
    length = recording.n_samples / recording.sampling_rate
    channels = choose_listed_channels(recording, shown.analysis)
    near = [listed_intervals_near_event(one.found.event, length) for one in chosen]
    thresholds = shown.analysis.thresholds
    events = _sort_page_waveforms(listed)
    data: dict[str, Any] = {
        "header": describe_listed_recording(recording, channels),
        "views": list_interval_views(recording, shown, [kept for _, kept in near], channels),
        "thresholds": [thresholds.interruption, thresholds.sag, thresholds.swell],
        "events": [
            {
                "start": one.found.event.start,
                "end": one.found.event.end if isfinite(one.found.event.end) else one.found.event.start,
                "type": one.found.event.type,
                "title": f"{one.number}: {event_sentence(one.found)}"[:200],
                "index": one.number,
                "worst_end": one.incident.worst_cycle_end
                if one.incident and one.is_main and one.found.event.type in RMS
                else None,
            }
            for one in events[:_MAX_EVENTS]
        ],
        "first": {one.number: first for one, (first, _) in zip(chosen, near, strict=True)},
    }
    moving = sum(one.places.size > 1 for one in recording.status)
    drawn = len(data["header"]["status"])
    notes = []
    if len(channels) < len(recording.channels):
        notes.append(f"{len(channels)} of {len(recording.channels)} channels are shown.")
    if drawn < moving:
        notes.append(f"{drawn} of {moving} changing status channels are shown.")
    # No channel name can end the script, or start a comment.
    text = htmlsafe_json_dumps(data, allow_nan=False, separators=(",", ":"))
    return ListedWaveforms(tuple(chosen), text, " ".join(notes))


_EPOCH = datetime(2000, 1, 1)
_LOW = ("sag", "interruption")
_HIGH = ("swell",)
_SARFI = [*(f"SARFI-{level}" for level in (90, 80, 70, 50, 10, 110, 120, 140)), "SARFI-ITIC", "SARFI-SEMI"]
_WIDTH, _HEIGHT = 600.0, 430.0
_LEFT = 62.0
_RIGHT = 16.0
_TOP = 14.0
_BOTTOM = 58.0
_TICKS = ((1e-4, "0.1 ms"), (1e-3, "1 ms"), (1e-2, "10 ms"), (0.1, "0.1 s"), (1.0, "1 s"), (10.0, "10 s"))
_MAX_POINTS = 1000
"""Points drawn, the worst ones; all are counted."""
_LONG_TICKS = ((60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"))
_MAX_ROWS = 300
_MAX_PACKED = 50_000
_MAX_RECORDINGS = 1000
_MAX_SITES = 40
"""Rows as HTML, rows that the page can show, recordings with their facts, and sites."""
_SIZE = "\ue000"
"""Placeholder for the size of the page."""


def page_sarfi(rows: Sequence[ListedEvent], recordings: Sequence[ListedRecording] = ()) -> list[dict[str, Any]]:
    """Count the events of each site below or above each level: a row for each site, and one for all if several.

    Events of a site that start within a minute of the first count as one, with their minimum and maximum voltages. A
    site is a station, or a file if the station is unknown, and a three-phase system in it; those of `recordings`
    without events have zeros.
    """
    sites: dict[tuple[str, str], list[ListedEvent]] = {}
    for row in rows:
        if row.found.event.type in RMS:
            sites.setdefault((row.recording.site, row.found.event.system), []).append(row)
    quiet = {recording.site for recording in (*recordings, *(row.recording for row in rows))}
    quiet -= {station for station, _ in sites}
    sites |= {(station, ""): [] for station in quiet}
    table: list[dict[str, Any]] = []
    for site, events in sorted(sites.items()):
        groups = _aggregate_page_sarfi(events)
        table.append(
            {
                "site": ", ".join(filter(None, site)),
                "events": len(groups),
                **{name: _count_page_sarfi(groups, name) for name in _SARFI},
            }
        )
    if len(table) > 1:
        table.insert(0, {"site": "all sites", **{key: sum(row[key] for row in table) for key in ("events", *_SARFI)}})
    return table


def _aggregate_page_sarfi(rows: Iterable[ListedEvent]) -> list[list[ListedEvent]]:
    """Group events in time: across recordings if dated, else within a recording."""
    timed = []
    for row in rows:
        analysis = row.recording.analysis
        when = row.found.event.at(analysis.start)
        key = ("", "") if when is not None else (analysis.path, analysis.source)
        second = (when.replace(tzinfo=None) - _EPOCH).total_seconds() if when is not None else row.found.event.start
        timed.append((key, second, row))
    groups: list[list[ListedEvent]] = []
    first: tuple[tuple[str, str], float] = (("", ""), -inf)
    for key, second, row in sorted(timed, key=lambda one: one[:2]):
        if groups and key == first[0] and second - first[1] < AGGREGATION:
            groups[-1].append(row)
        else:
            groups.append([row])
            first = key, second
    return groups


def _count_page_sarfi(groups: list[list[ListedEvent]], name: str) -> int:
    level = name.partition("-")[2]
    low = [_page_event_points(group, _LOW) for group in groups]
    if level in ("ITIC", "SEMI"):
        curve = ITIC if level == "ITIC" else SEMI
        return sum(any(curve.place(u, t) == "below" for t, u in points) for points in low)
    bound = float(level)
    if bound < 100:
        return sum(any(u < bound for _, u in points) for points in low)
    return sum(any(u > bound for _, u in _page_event_points(group, _HIGH)) for group in groups)


def _page_event_points(rows: Iterable[ListedEvent], event_types: Sequence[str]) -> list[tuple[float, float]]:
    """Duration [s] and voltage [%] of the events of these types."""
    found = [row.found for row in rows if row.found.event.type in event_types]
    return [tolerance_curve_point(one.event) or (0.0, 100 * one.event.magnitude) for one in found]


def _merge_page_dips(rows: Sequence[ListedEvent]) -> list[tuple[float, float]]:
    """Duration [s] and voltage [%] of dips: a sag that becomes an interruption, and a sag again, is one."""
    found: list[tuple[float, float]] = []
    before = None
    end = 0.0
    low = [row for row in rows if row.found.event.type in _LOW]
    for row in sorted(low, key=lambda one: (one.place, one.found.event.system, one.found.event.start)):
        ((length, voltage),) = _page_event_points([row], _LOW)
        place = (row.place, row.found.event.system)
        start = row.found.event.start
        if place == before and start <= end + 1 / row.found.event.nominal_frequency:
            first = end - found[-1][0]
            end = max(end, start + length)
            found[-1] = (end - first, min(voltage, found[-1][1]))
        else:
            found.append((length, voltage))
            before = place
            end = start + length
    return found


def count_page_dips(rows: Sequence[ListedEvent]) -> Table | None:
    """Count dips and interruptions in the cells of EN 50160:2010, Table 2 (after IEC 61000-2-8); None without any."""
    levels = ((inf, 80.0), (80.0, 70.0), (70.0, 40.0), (40.0, 5.0), (5.0, -inf))
    names = ("90 > u ≥ 80", "80 > u ≥ 70", "70 > u ≥ 40", "40 > u ≥ 5", "5 > u")
    found = _merge_page_dips(rows)
    inside = [[length for length, voltage in found if low <= voltage < high] for high, low in levels]
    caption = "Dips and interruptions by residual voltage [%] and duration [ms]"
    return _count_page_cells("dips", caption, names, inside, (0.2, 0.5, 1.0, 5.0, 60.0))


def count_page_swells(rows: Sequence[ListedEvent]) -> Table | None:
    """Count swells in the cells of EN 50160:2010, Table 3; None without any."""
    found = _page_event_points(rows, _HIGH)
    inside = [[length for length, voltage in found if (voltage >= 120) == high] for high in (True, False)]
    caption = "Swells by voltage [%] and duration [ms]"
    return _count_page_cells("swells", caption, ("u ≥ 120", "120 > u > 110"), inside, (0.5, 5.0, 60.0))


def _count_page_cells(
    name: str, caption: str, levels: Sequence[str], durations: Sequence[Sequence[float]], ends: Sequence[float]
) -> Table | None:
    """A table of the numbers of durations [s] by level and interval; None if there are none."""
    if not any(durations):
        return None
    columns = [f"{1000 * a:,g} to {1000 * b:,g}" for a, b in pairwise([0.01, *ends])]
    counts = [[sum(a < value <= b for value in line) for a, b in pairwise([-inf, *ends])] for line in durations]
    rows = [{"u": level, **dict(zip(columns, line, strict=True))} for level, line in zip(levels, counts, strict=True)]
    note = (
        "Cells of EN 50160:2010, after IEC 61000-2-8; limits belong to the shorter duration. Events shorter than 10 ms "
        "are in the first column."
    )
    if longer := sum(value > ends[-1] for line in durations for value in line):
        note += f" Longer than a minute, in no cell: {longer}."
    return Table(name, caption, rows, columns={"u": ("u [%]", "")}, note=note)


class _PageChartPoint(NamedTuple):
    """An event on a chart, its duration [s] and voltage [%]."""

    listed: ListedEvent
    seconds: float
    percent: float


def draw_page_charts(listed: Sequence[ListedEvent]) -> list[dict[str, Any]]:
    """Draw the events that have a place on a curve on ITIC and SEMI F47, and count them by place."""
    shown = [
        _PageChartPoint(one, *place) for one in listed if (place := tolerance_curve_point(one.found.event)) is not None
    ]
    dips = [one for one in shown if one.listed.found.event.type in _LOW]
    itic, semi = (
        _PageChartAxes(rows, top, shortest) for rows, top, shortest in ((shown, 200.0, 1e-4), (dips, 100.0, 5e-3))
    )
    return [
        {
            "name": "itic",
            "caption": ITIC.title,
            "picture": itic.draw(_page_itic_lines(itic), ITIC, shown),
            "counts": _page_chart_counts(
                ITIC, shown, "in the prohibited region", "in the no-damage region", "in the no-interruption region"
            ),
            "note": "Residual or maximum Urms(1/2) against duration (IEC 61000-4-30). Transients above 100 % are "
            "placed at the peak voltage and their decay time (our choice). An arrow marks what the record cuts: it "
            "lasted longer.",
        },
        {
            "name": "semi-f47",
            "caption": SEMI.title,
            "picture": semi.draw(_page_semi_lines(semi), SEMI, dips),
            "counts": _page_chart_counts(SEMI, dips, "", "below the curve", "on or above it"),
            "note": "Dips and interruptions. The solid line, from 50 ms on, is mandatory for semiconductor equipment; "
            "the dashed ones are recommended: 0 % for one cycle, 80 % up to 10 s, 90 % beyond. Events are counted "
            "against the solid line up to 1 s, then against the dashed ones.",
        },
    ]


def _page_chart_counts(
    curve: ToleranceCurve, points: Sequence[_PageChartPoint], above: str, below: str, inside: str
) -> str:
    """How many events are above a curve, below it, and between, as far as there are words for it."""
    places = [curve.place(one.percent, one.seconds) for one in points]
    titles = {"above": above, "below": below, "inside": inside}
    counts = [f"{places.count(place)} {text}" for place, text in titles.items() if text]
    return f"{count_text(len(points), 'event')}: {join_words(counts)}."


class _PageChartAxes:
    """Duration (logarithmic) against percent of the reference."""

    def __init__(self, rows: Sequence[_PageChartPoint], top: float, shortest: float) -> None:
        longest = max([100.0, *(row.seconds for row in rows)])
        self.last = next((end for end in (100.0, 1000.0, 1e4) if longest <= end), 1e5)
        self.first = shortest
        self.top = top
        self.ticks = [*(tick for tick in _TICKS if tick[0] >= shortest), *(t for t in _LONG_TICKS if t[0] <= self.last)]

    def x(self, seconds: float) -> float:
        """Return the x coordinate of a duration [s], clipped to the axis."""
        fraction = log10(min(max(seconds, self.first), self.last) / self.first) / log10(self.last / self.first)
        return round(_LEFT + fraction * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, percent: float) -> float:
        """Return the y coordinate of a voltage [%], clipped to the axis."""
        fraction = min(max(percent, 0.0), self.top) / self.top
        return round(_HEIGHT - _BOTTOM - fraction * (_HEIGHT - _TOP - _BOTTOM), 1)

    def path(self, corners: Sequence[tuple[float, float]]) -> str:
        """Return a path through corners of duration and voltage."""
        return "M" + " L".join(f"{self.x(seconds)} {self.y(percent)}" for seconds, percent in corners)

    def draw(self, lines: list[str], curve: ToleranceCurve, rows: Sequence[_PageChartPoint]) -> Markup:
        """Return the whole picture."""
        label = f"{curve.title}: {count_text(len(rows), 'event')}, voltage against duration"
        shown = sorted(rows, key=lambda row: rank_event(row.listed.found.event))[-_MAX_POINTS:]
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="group" '
            f'aria-label="{escape(label)}">',
            *self._grid(),
            *lines,
            *self._frame(),
            *map(self._point, shown),
            "</svg>",
        ]
        return Markup("\n".join(parts))  # noqa: S704 (its words are escaped)

    def _grid(self) -> list[str]:
        upright = "".join(f"M{self.x(seconds)} {_TOP:g}V{_HEIGHT - _BOTTOM:g}" for seconds, _ in self.ticks)
        level = "".join(f"M{_LEFT:g} {self.y(percent)}H{_WIDTH - _RIGHT:g}" for percent in self._levels())
        return [f'<path class="grid" d="{upright}{level}"/>']

    def _levels(self) -> range:
        return range(0, int(self.top) + 1, 50 if self.top > 100 else 20)

    def _frame(self) -> list[str]:
        bottom = _HEIGHT - _BOTTOM
        right = _WIDTH - _RIGHT
        durations = [
            f'<text x="{self.x(seconds)}" y="{bottom + 20:g}" text-anchor="middle">{text}</text>'
            for seconds, text in self.ticks
        ]
        voltages = [
            f'<text x="{_LEFT - 7:g}" y="{self.y(percent) + 5:g}" text-anchor="end">{percent} %</text>'
            for percent in self._levels()
        ]
        return [
            f'<path class="axis" d="M{_LEFT:g} {_TOP:g}V{bottom:g}H{right:g}"/>',
            *durations,
            *voltages,
            f'<text x="{(_LEFT + right) / 2:g}" y="{_HEIGHT - 12:g}" text-anchor="middle">duration</text>',
        ]

    def _point(self, row: _PageChartPoint) -> str:
        found = row.listed.found
        event_type = found.event.type
        x = self.x(row.seconds)
        y = self.y(row.percent)
        analysis = row.listed.recording.analysis
        words = (rows.event_sentence(found), rows.row_moment(found, analysis.start), analysis.station)
        tip = escape(f"{row.listed.number}: {', '.join(filter(None, words))}")
        is_cut = found.event.cut_start or found.event.cut_end
        longer = f'<path class="longer" d="M{x + 6:g} {y:g}h10m-4 -4l4 4l-4 4"/>' if is_cut else ""
        if row.percent > self.top:
            shape = f'<path d="M{x - 6:g} {y + 9:g}L{x + 6:g} {y + 9:g}L{x:g} {y - 2:g}Z"/>'
        elif event_type in RMS:
            shape = f'<circle cx="{x}" cy="{y}" r="5.5"/>'
        else:
            shape = f'<path d="M{x:g} {y - 7:g}L{x + 6:g} {y:g}L{x:g} {y + 7:g}L{x - 6:g} {y:g}Z"/>'
        return (
            f'<a href="#event-{row.listed.number}" class="point" data-type="{escape(event_type)}" '
            f'data-seconds="{row.seconds:.6g}" data-percent="{row.percent:.6g}" '
            f'fill="{row_color(found)}" aria-label="{tip}"><g class="mark"><title>{tip}</title>{shape}{longer}</g>'
            "</a>"
        )


def _page_curve_steps(axes: _PageChartAxes, curve: ToleranceCurve) -> list[tuple[float, float]]:
    """Corners of the lower curve, from where it leaves zero."""
    ends = [end for end, _ in curve.lower]
    steps = zip([axes.first, *ends], ends, (level for _, level in curve.lower), strict=False)
    corners = [(moment, level) for start, end, level in steps for moment in (start, min(end, axes.last))]
    return corners[1:] if corners[0][1] == 0 else corners


def _page_itic_lines(axes: _PageChartAxes) -> list[str]:
    upper = [(min(seconds, axes.last), percent) for seconds, percent in ITIC.upper if percent <= axes.top]
    lower = _page_curve_steps(axes, ITIC)
    above = [*upper, (axes.last, axes.top)]
    below = [*lower, (axes.last, 0.0), (axes.first, 0.0)]
    return [
        f'<path class="region bad" d="{axes.path(above)}Z"/>',
        f'<path class="region poor" d="{axes.path(below)}Z"/>',
        _page_chart_region(axes, 0.06, 168, "prohibited region"),
        _page_chart_region(axes, 1.6, 34, "no-damage region"),
        _page_chart_region(axes, 1.4e-4, 62, "no interruption", "start"),
        _page_chart_region(axes, 1.4e-4, 53, "in function", "start"),
        f'<path class="curve" d="{axes.path(upper)}"/>',
        f'<path class="curve" d="{axes.path(lower)}"/>',
    ]


def _page_semi_lines(axes: _PageChartAxes) -> list[str]:
    required = [corner for corner in _page_curve_steps(axes, SEMI) if corner[0] <= SEMI_REQUIRED]
    advised = [(SEMI_REQUIRED, 80.0), (10.0, 80.0), (10.0, 90.0), (axes.last, 90.0)]
    below = [*_page_curve_steps(axes, SEMI), (axes.last, 0.0), (axes.first, 0.0)]
    return [
        f'<path class="region poor" d="{axes.path(below)}Z"/>',
        _page_chart_region(axes, 0.25, 92, "must ride through"),
        _page_chart_region(axes, 1.6, 34, "below the curve"),
        f'<path class="curve" d="{axes.path(required)}"/>',
        f'<path class="curve advised" d="{axes.path(advised)}"/>',
        f'<path class="curve advised" d="{axes.path([(axes.first, 0.0), (0.02, 0.0), (0.02, 50.0)])}"/>',
    ]


def _page_chart_region(axes: _PageChartAxes, seconds: float, percent: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="name" x="{axes.x(seconds)}" y="{axes.y(percent)}" text-anchor="{anchor}">{text}</text>'


def page_html(
    analyses: Iterable[Analysis | ListedRecording],
    failures: Sequence[str] = (),
    *,
    find: Callable[[Analysis], RecordingSource | None] = find_listed_recording,
) -> str:
    """Return one page about many recordings, which needs no network and is readable without scripts.

    Parameters
    ----------
    analyses : iterable of Analysis or ListedRecording
        Of many analyses, keep :meth:`ListedRecording.of` to save memory.
    failures : sequence of str, default=()
        Why other recordings have no analysis, a sentence each.
    find : callable, optional
        Returns the recording of an analysis, or None; by default the file is opened again.

    Returns
    -------
    str
        HTML, with the waveforms of at most 20 events (4.5 MB).

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.identify import identify
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> analysis = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> "1 event in 1 recording" in page_html([analysis], ["lost.cfg cannot be read."])
    True
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    kept = [one if isinstance(one, ListedRecording) else ListedRecording.of(one) for one in analyses]
    listed = list_events(kept)
    waveforms = read_listed_waveforms(listed, find)
    figures: list[dict[str, Any]] = [
        {"listed": event, "place": place, "note": one.note}  # with the place of its waveforms
        for place, one in enumerate(waveforms)
        for event in one.events
    ]
    figures.sort(key=lambda figure: rank_event(figure["listed"].found.event), reverse=True)
    worst = sorted(listed, key=lambda one: rank_event(one.found.event), reverse=True)[:_MAX_PACKED]
    drawn = {event.number for one in waveforms for event in one.events}
    csv = export_csv_table(
        (row for one in kept for row in one.analysis.rows()),
        columns=[name for name in COLUMNS if name not in ("path", "caveats")],
    )
    packed = sorted(worst, key=lambda one: one.number) if len(worst) > _MAX_ROWS else []
    shown = sorted(worst[:_MAX_ROWS], key=lambda one: one.number)
    loader = ChoiceLoader([PackageLoader("pqswarm.identify.show.page"), PackageLoader("pqswarm.report")])
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"bind": _bind_page_html_units, "keep": _keep_page_html_together, "pack": _pack_page_html}
    scripts = [
        read_scripts(*VIEWER) if figures else read_scripts("draw.js"),
        _read_page_html_template("pqswarm.report", "report.js"),
        _read_page_html_template("pqswarm.identify.show.page", "page.js"),
    ]
    styles = [
        read_styles("colors.css"),
        _read_page_html_template("pqswarm.report", "report.css"),
        read_styles("tolerance.css"),
        read_styles("waves.css") if figures else "",
        _read_page_html_template("pqswarm.identify.show.page", "page.css"),
    ]
    tables = (count_page_dips(listed), count_page_swells(listed))
    text = environment.get_template(
        "page.html.jinja"
    ).render(
        style=Markup("".join(styles)),  # noqa: S704 (part of the package)
        scripts=[Markup(script) for script in scripts],  # noqa: S704 (part of the package)
        digests=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
        headline=listing_headline(listed, kept, len(failures)),
        types=[
            (event_type, EVENT_TYPES[event_type], COLORS[event_type], number)
            for event_type, number in count_listed_types(listed).items()
        ],
        show=rows,
        rows=shown,
        n_events=len(listed),
        csv=csv,
        packed=packed,
        figures=figures,
        waveforms=[one.json for one in waveforms],
        drawn=drawn,
        figures_note=_page_html_figures_note(len(figures), len(listed)),
        charts=draw_page_charts(listed) if listed else [],
        sarfi=_page_html_sarfi_table(listed, kept),
        cells=[table for table in tables if table is not None],
        remarks=[f"{one.analysis.source or 'recording'}: {text}" for one in kept for text in one.analysis.remarks],
        recordings=[_describe_for_page_html(one.analysis) for one in kept[:_MAX_RECORDINGS]],
        n_recordings=len(kept),
        n_described=min(len(kept), _MAX_RECORDINGS),
        failures=list(failures),
        version=__version__,
        size=_SIZE,
    )
    written = text.encode("utf-8", "replace")  # file names may hold bytes that are not text
    before, _, after = written.decode("utf-8").rpartition(_SIZE)
    return f"{before}{max(len(written) / 1e6, 0.1):.1f} MB{after}"


def _pack_page_html(text: str) -> str:
    """Return a text as base64 of gzip: a script unpacks it."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode("ascii")


def _read_page_html_template(package: str, name: str) -> str:
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _bind_page_html_units(text: str) -> str:
    """Keep a number and its unit on one line."""
    return (
        text.replace(" %", "\u00a0%").replace(" pu", "\u00a0pu").replace(" kV", "\u00a0kV").replace(" ms", "\u00a0ms")
    )


def _keep_page_html_together(text: str) -> str:
    """Break lines only before a bracket."""
    return text.replace(" ", "\u00a0").replace("\u00a0(", " (")


def _page_html_figures_note(number: int, events: int) -> str:
    if not number:
        return ""
    which = (
        "One figure per event."
        if number == events
        else f"Figures of {number} of the {events} events, the worst of each recording first (at most {MAX_FIGURES})."
    )
    return (
        f"{which} Each shows the whole recording, the surroundings of the event and its cycles, reduced to what a "
        "screen can show. Click into a figure, then zoom with the wheel, move the cursors, or press ? for help."
    )


def _page_html_sarfi_table(listed: Sequence[ListedEvent], recordings: Sequence[ListedRecording]) -> Table | None:
    table = page_sarfi(listed, recordings)
    if not table:
        return None
    length = duration_text(sum(one.analysis.duration for one in recordings), 50.0).partition(" (")[0] or "no time"
    note = (
        f"Number of events in these recordings ({length} in all), not per month or year: recorders "
        "store only what triggers them, so the observation time is unknown. After IEEE 1564: SARFI-X counts dips and "
        "interruptions with a residual voltage below X %, and for X above 100 swells above X %; SARFI-ITIC and "
        "SARFI-SEMI count those below the lower curves. Events of all phases by Urms(1/2); events of a site within "
        f"{AGGREGATION:g} s of the first count as one."
    )
    if len(table) > _MAX_SITES:
        note += f" The first {_MAX_SITES - 1} of {len(table) - 1} sites are listed."
    return Table("sarfi", "SARFI", table[:_MAX_SITES], note=note)


def _describe_for_page_html(analysis: "Analysis") -> dict[str, Any]:
    """Facts about a recording, and what was assumed."""
    references = [f"{one.channel} {voltage_text(one.volts)} ({one.source})" for one in analysis.references]
    facts = [
        ("Station", analysis.station),
        ("First sample", time_text(analysis.start)),
        ("File", analysis.path),
        ("Length", duration_text(analysis.duration, analysis.nominal_frequency)),
        ("Sampling rate", frequency_text(analysis.sampling_rate)),
        ("Frequency", f"{analysis.frequency:.3f} Hz (nominal {analysis.nominal_frequency:g} Hz)"),
        ("1 pu", "; ".join(references)),
    ]
    return {
        "name": analysis.source or "recording",
        "events": count_text(len(analysis.events), "event") if analysis.events else analysis.no_event_reason,
        "facts": [(name, text) for name, text in facts if text],
        "notes": [*analysis.notes, *analysis.caveats],
    }
