"""Waveforms of the worst events for the page: read where they lie, thinned to what a screen shows, bounded in size."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pqswarm.identify.show.page.levels import choose_channels, describe_recording, list_views, near_event
from pqswarm.identify.show.page.rows import Row
from pqswarm.recordings import open_recordings

if TYPE_CHECKING:
    from pqswarm.identify.verdict import Verdict
    from pqswarm.recordings.recording import RecordingSource

__all__ = [
    "MOST_BYTES",
    "MOST_FIGURES",
    "Waveforms",
    "choose_rows",
    "find_recording",
    "match_recording",
    "read_waveforms",
]

MOST_FIGURES = 20
MOST_BYTES = 4_500_000
"""Of all waveforms together."""

_MOST_EVENTS = 300
"""Of a recording that are shaded in its waveforms, the worst."""

_TROUBLE = Exception
"""What a file may do to its waveforms; the row stays."""


@dataclass(frozen=True, eq=False)
class Waveforms:
    """Of one recording: its events that have a figure, worst first, and what the viewer draws, as JSON."""

    rows: tuple[Row, ...]
    json: Markup
    note: str = ""


def choose_rows(rows: Sequence[Row], most: int = MOST_FIGURES) -> list[Row]:
    """Choose the events to be drawn: the worst of each recording first, worst first, then others."""
    ordered = sorted((row for row in rows if row.event.kind != "none"), key=lambda row: row.severity, reverse=True)
    firsts: dict[int, Row] = {}
    for row in ordered:
        firsts.setdefault(id(row.verdict), row)
    chosen = [*firsts.values(), *(row for row in ordered if firsts[id(row.verdict)] is not row)][:most]
    return sorted(chosen, key=lambda row: row.severity, reverse=True)


@lru_cache(maxsize=1)
def _open(path: str) -> "tuple[RecordingSource, ...]":
    """The recordings of a file, of which the last one opened stays open: a file may hold many."""
    try:
        return open_recordings(path)
    except _TROUBLE:
        return ()


def find_recording(verdict: "Verdict") -> "RecordingSource | None":
    """Return the recording of a verdict from its file; None if that is not there, or has changed."""
    return match_recording(verdict, _open(verdict.path)) if verdict.path else None


def match_recording(verdict: "Verdict", sources: "Iterable[RecordingSource]") -> "RecordingSource | None":
    """Return the recording of a verdict among those of its file; None if it is not there, or has changed."""
    found = verdict.characterisation
    for source in sources:
        same = (source.source, source.n_samples, source.start) == (verdict.source, found.n_samples, verdict.start)
        if same and abs(source.sampling_rate / found.sampling_rate - 1) < 1e-6:
            return source
    return None


def read_waveforms(
    rows: Sequence[Row], find: "Callable[[Verdict], RecordingSource | None]" = find_recording
) -> list[Waveforms]:
    """Read the waveforms of the worst events, worst first, as far as number and size allow.

    What cannot be read again is left out.
    """
    chosen: dict[int, list[Row]] = {}
    for row in choose_rows(rows):
        chosen.setdefault(id(row.verdict), []).append(row)
    found: list[Waveforms] = []
    for own in sorted(chosen.values(), key=lambda own: own[0].verdict.path):
        try:
            recording = find(own[0].verdict)
            if recording is None:
                continue
            found.append(_read(recording, own, [row for row in rows if row.verdict is own[0].verdict]))
        except _TROUBLE:
            continue
    _open.cache_clear()
    found.sort(key=lambda one: one.rows[0].severity, reverse=True)
    kept, size = [], 0
    for one in found:
        size += len(one.json)
        if size <= MOST_BYTES:
            kept.append(one)
    return kept


def _read(recording: "RecordingSource", chosen: list[Row], rows: list[Row]) -> Waveforms:
    verdict, length = chosen[0].verdict, recording.n_samples / recording.sampling_rate
    channels = choose_channels(recording, verdict)
    near = [near_event(row.event, length) for row in chosen]
    thresholds = verdict.characterisation.thresholds
    events = sorted((row for row in rows if row.event.kind != "none"), key=lambda row: row.severity, reverse=True)
    told: dict[str, Any] = {
        "header": describe_recording(recording, channels),
        "views": list_views(recording, verdict, near, channels),
        "thresholds": [thresholds.interruption, thresholds.sag, thresholds.swell],
        "events": [_event(row) for row in events[:_MOST_EVENTS]],
        "first": {row.number: one.first for row, one in zip(chosen, near, strict=True)},
    }
    moving, drawn = sum(one.places.size > 1 for one in recording.status), len(told["header"]["status"])
    notes = []
    if len(channels) < len(recording.channels):
        notes.append(f"{len(channels)} of {len(recording.channels)} channels are shown.")
    if drawn < moving:
        notes.append(f"{drawn} of {moving} status channels that change are shown.")
    return Waveforms(tuple(chosen), _as_json(told), " ".join(notes))


def _event(row: Row) -> dict[str, Any]:
    title = f"{row.number}: {row.sentence}"
    return {
        "start": row.event.start,
        "end": row.event.end if isfinite(row.event.end) else row.event.start,
        "kind": row.event.kind,
        "title": title[:200],
        "index": row.number,
    }


def _as_json(value: Any) -> Markup:
    """JSON that can stand in a ``<script>``: no name of a channel ends it, or begins a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 (nothing in it is markup)
