"""Waveforms of the worst events on the page: thinned to what a screen shows, limited in size."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

from markupsafe import Markup

from pqswarm.identify.analysis import Analysis
from pqswarm.identify.show.page.levels import (
    choose_channels_for_levels,
    describe_recording_for_levels,
    levels_near_event,
    list_level_views,
)
from pqswarm.identify.show.page.listing import MAX_FIGURES, ListedEvent
from pqswarm.identify.show.rows import event_sentence
from pqswarm.identify.tolerance import rank_event
from pqswarm.recordings import open_recordings
from pqswarm.recordings.recording import RecordingSource

MAX_BYTES = 4_500_000
"""Size of all waveforms together [byte]."""

_MAX_EVENTS = 300
"""Events shaded in the waveforms of a recording, the worst ones."""

_ANY_ERROR = Exception
"""Any error in reading waveforms again; the row of the event is kept."""


@dataclass(frozen=True, eq=False)
class Waveforms:
    """The waveforms of one recording: its events with a figure, worst first, and the data of the viewer as JSON."""

    events: tuple[ListedEvent, ...]
    json: Markup
    note: str = ""


def _sort_worst_waveforms(listed: Iterable[ListedEvent]) -> list[ListedEvent]:
    return sorted(listed, key=lambda one: rank_event(one.found.event), reverse=True)


def choose_events(listed: Sequence[ListedEvent], count: int = MAX_FIGURES) -> list[ListedEvent]:
    """Choose the events to draw: the worst of each recording first, then others; worst first."""
    ordered = _sort_worst_waveforms(listed)
    firsts: dict[int, ListedEvent] = {}
    for one in ordered:
        firsts.setdefault(one.place, one)
    chosen = [*firsts.values(), *(one for one in ordered if firsts[one.place] is not one)][:count]
    return _sort_worst_waveforms(chosen)


@lru_cache(maxsize=1)
def _open_for_waveforms(path: str) -> tuple[RecordingSource, ...]:
    """The recordings of a file; the last file stays open, as it may hold many."""
    try:
        return open_recordings(path)
    except _ANY_ERROR:
        return ()


def find_waveform_recording(analysis: Analysis) -> RecordingSource | None:
    """Return the recording of an analysis from its file; None if the file is missing or has changed."""
    return match_waveform_recording(analysis, _open_for_waveforms(analysis.path)) if analysis.path else None


def match_waveform_recording(analysis: Analysis, sources: Iterable[RecordingSource]) -> RecordingSource | None:
    """Return the recording of an analysis among those of its file; None if it is missing or has changed."""
    for source in sources:
        same = (source.source, source.n_samples, source.start) == (analysis.source, analysis.n_samples, analysis.start)
        if same and abs(source.sampling_rate / analysis.sampling_rate - 1) < 1e-6:
            return source
    return None


def read_waveforms(
    listed: Sequence[ListedEvent], find: Callable[[Analysis], RecordingSource | None] = find_waveform_recording
) -> list[Waveforms]:
    """Read the waveforms of the worst events, worst first, as far as number, size and the files allow."""
    chosen: dict[int, list[ListedEvent]] = {}
    for one in choose_events(listed):
        chosen.setdefault(one.place, []).append(one)
    found: list[Waveforms] = []
    for place, own in sorted(chosen.items(), key=lambda item: item[1][0].recording.analysis.path):
        try:
            recording = find(own[0].recording.analysis)
            if recording is not None:
                found.append(_read_event_waveforms(recording, own, [one for one in listed if one.place == place]))
        except _ANY_ERROR:
            continue
    _open_for_waveforms.cache_clear()
    found.sort(key=lambda waveforms: rank_event(waveforms.events[0].found.event), reverse=True)
    kept = []
    size = 0
    for waveforms in found:
        size += len(waveforms.json)
        if size <= MAX_BYTES:
            kept.append(waveforms)
    return kept


def _read_event_waveforms(
    recording: RecordingSource, chosen: list[ListedEvent], listed: list[ListedEvent]
) -> Waveforms:
    shown = chosen[0].recording
    length = recording.n_samples / recording.sampling_rate
    channels = choose_channels_for_levels(recording, shown.analysis)
    near = [levels_near_event(one.found.event, length) for one in chosen]
    thresholds = shown.analysis.thresholds
    events = _sort_worst_waveforms(listed)
    data: dict[str, Any] = {
        "header": describe_recording_for_levels(recording, channels),
        "views": list_level_views(recording, shown, near, channels),
        "thresholds": [thresholds.interruption, thresholds.sag, thresholds.swell],
        "events": [_waveform_event(one) for one in events[:_MAX_EVENTS]],
        "first": {one.number: interval.first for one, interval in zip(chosen, near, strict=True)},
    }
    moving = sum(one.places.size > 1 for one in recording.status)
    drawn = len(data["header"]["status"])
    notes = []
    if len(channels) < len(recording.channels):
        notes.append(f"{len(channels)} of {len(recording.channels)} channels are shown.")
    if drawn < moving:
        notes.append(f"{drawn} of {moving} changing status channels are shown.")
    return Waveforms(tuple(chosen), _waveforms_as_json(data), " ".join(notes))


def _waveform_event(one: ListedEvent) -> dict[str, Any]:
    event = one.found.event
    return {
        "start": event.start,
        "end": event.end if isfinite(event.end) else event.start,
        "type": event.type,
        "title": f"{one.number}: {event_sentence(one.found)}"[:200],
        "index": one.number,
    }


def _waveforms_as_json(value: Any) -> Markup:
    """JSON for a ``<script>`` element: no channel name can end it or start a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 (it contains no markup)
