"""A recording as one page shows it: least and greatest values of three stretches around an event, packed small."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.thinning import extremes, extremes_between
from pqswarm.identify.show.curves import RMS
from pqswarm.recordings import Envelope
from pqswarm.recordings.view.encode import describe_header, describe_status, describe_view

if TYPE_CHECKING:
    from pqswarm._base.typing import BoolArray, FloatArray
    from pqswarm.identify.verdict import Verdict
    from pqswarm.measure import Event
    from pqswarm.recordings import StatusChannel
    from pqswarm.recordings.recording import RecordingSource

__all__ = [
    "LEAD",
    "SHOWN",
    "Stretches",
    "choose_channels",
    "choose_status",
    "describe_recording",
    "list_views",
    "near_event",
    "urms_parts",
]

SHOWN, LEAD = 60.0, 2.0
"""Seconds of an event that are shown at most, and around it."""

_MOST_VALUES = 600
"""Values of Urms(1/2) that are shown as they are; of more, the least and greatest of parts."""

_MOST_PARTS, _MOST_BYTES = 600, 180_000
"""Parts of a stretch, and about as many bytes for an event."""

_MOST_CHANNELS, _MOST_STATUS, _MOST_CHANGES, _MOST_LETTERS = 48, 32, 1000, 120
"""Of a recording: channels, status channels that change and all their changes, letters of a name."""

_STEADY = {"flicker": 50.0}
"""Cycles shown of what is steady, 10 unless named here."""


@dataclass(frozen=True)
class Stretches:
    """What is shown of an event at first, and the stretches of which the page holds pictures, finest last [s]."""

    first: tuple[float, float]
    kept: tuple[tuple[float, float], ...]


def near_event(event: "Event", length: float) -> Stretches:
    """Choose the stretches of a recording of that length [s] around an event: the whole, its surroundings, its cycles.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sag = SimpleNamespace(kind="sag", start=10.0, end=10.1, nominal_frequency=50.0)
    >>> [tuple(round(moment, 3) for moment in stretch) for stretch in near_event(sag, 60.0).kept]
    [(0.0, 60.0), (9.72, 10.38), (9.91, 10.19)]
    """
    cycle = 1 / event.nominal_frequency
    last = event.end if isfinite(event.end) else event.start
    if event.kind in (*RMS, "transient", "voltage change"):
        lead = max(3 * cycle, min(0.25 * (last - event.start), 1.0))
        begin, end = event.start - lead, min(last + lead, event.start - lead + SHOWN)
    else:
        middle, half = (event.start + last) / 2, 0.5 * _STEADY.get(event.kind, 10.0) * cycle
        begin, end = middle - half, middle + half
    first, wide = (begin, end), end - begin
    if wide <= 50 * cycle:
        around = min(wide, LEAD)
        middle, half = (begin + end) / 2, max(0.6 * wide, 7 * cycle, 0.85 * (last - event.start))
        middle_level, fine = (begin - around, end + around), (middle - half, middle + half)
    else:
        middle_level, fine = (begin - 0.5, end + 0.5), (event.start - 4 * cycle, event.start + 16 * cycle)
    kept = [(0.0, length), *((max(a, 0.0), min(b, length)) for a, b in (middle_level, fine))]
    return Stretches((max(first[0], 0.0), min(first[1], length)), tuple(kept))


def describe_recording(recording: "RecordingSource", channels: Sequence[int]) -> dict[str, Any]:
    """What the viewer knows of a recording: see `pq.Waves`."""
    header = describe_header(recording, channels, _shorten)
    for place, one in zip(channels, header["channels"], strict=True):
        one["name"] = one["name"] or f"channel {place + 1}"
    status = describe_status(choose_status(recording), recording.sampling_rate, text=_shorten)
    for one in status:
        one["changes"] = [[round(moment, 6), state] for moment, state in one["changes"]]
    return {"name": _shorten(recording.source or "recording"), **header, "status": status}


def choose_channels(recording: "RecordingSource", verdict: "Verdict") -> list[int]:
    """Choose the channels to show: all, or of very many the judged voltages, then currents, then others."""
    judged = [result.number for result in verdict.characterisation.channels]
    currents = [place for place, one in enumerate(recording.channels) if one.is_current]
    order = dict.fromkeys([*judged, *currents, *range(len(recording.channels))])
    return sorted(list(order)[:_MOST_CHANNELS])


def choose_status(recording: "RecordingSource") -> "list[StatusChannel]":
    """Choose the status channels to show: those that change, as far as the page has room for their changes."""
    kept: list[StatusChannel] = []
    room = _MOST_CHANGES
    for one in recording.status:
        if 1 < one.places.size <= room and len(kept) < _MOST_STATUS:
            kept.append(one)
            room -= one.places.size
    return kept


def list_views(
    recording: "RecordingSource", verdict: "Verdict", near: Sequence[Stretches], channels: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the pictures of the stretches around events, packed; each level has twice the parts of the one before."""
    n_parts = max(min(_MOST_PARTS, _MOST_BYTES // (38 * max(len(channels), 1))), 2)
    # The whole is thinned as it is read; of the rest, samples are read.
    envelope = Envelope(recording, part=max(128, -(-recording.n_samples // n_parts)))
    rate, views = recording.sampling_rate, []
    exact: list[tuple[int, int]] = []
    for begin, end, times in dict.fromkeys(
        (*stretch, 2**level) for one in near for level, stretch in enumerate(one.kept)
    ):
        first, stop = int(begin * rate), min(int(end * rate) + 1, recording.n_samples)
        if any(a <= first and stop <= b for a, b in exact):
            continue
        wanted = (first, stop, times * n_parts)
        view = envelope.view(*wanted)
        if view.share < 1:
            envelope.build()
            view = envelope.view(*wanted)
        if view.exact:
            exact.append((view.first, view.stop))
        urms = _urms(verdict, channels, view.first / rate, view.stop / rate)
        views.append({**describe_view(view, rate, channels, _pack), "urms": urms})
    return views


def urms_parts(verdict: "Verdict") -> "BoolArray":
    """Which values of Urms(1/2) the picture of the whole recording needs: the least and greatest of each part."""
    series = verdict.characterisation.require_series()
    if not _is_long(verdict):
        return np.ones(series.time.size, dtype=bool)
    kept = np.zeros(series.time.size, dtype=bool)
    edges = np.searchsorted(series.time, _edges(verdict))
    for urms in series.urms:
        for begin, end in pairwise(edges.tolist()):
            known = np.flatnonzero(np.isfinite(urms[begin:end])) + begin
            if known.size:
                kept[known[np.argmin(urms[known])]] = kept[known[np.argmax(urms[known])]] = True
    return kept


def _is_long(verdict: "Verdict") -> bool:
    """Whether Urms(1/2) of the whole recording is shown in parts."""
    found = verdict.characterisation
    return found.n_samples / found.sampling_rate > 0.5 * _MOST_VALUES / found.nominal_frequency


def _edges(verdict: "Verdict") -> "FloatArray":
    found = verdict.characterisation
    return np.linspace(0, found.n_samples / found.sampling_rate, _MOST_VALUES // 2 + 1)


def _urms(verdict: "Verdict", channels: Sequence[int], begin: float, end: float) -> dict[str, Any] | None:
    """Urms(1/2) of a stretch [pu]; of the whole recording in parts, unless it is short."""
    found = verdict.characterisation
    series = found.require_series()
    lines = [one for one in found.channels if one.number in channels]
    pairs: list[tuple[FloatArray, FloatArray | None]]
    inside = np.flatnonzero((series.time >= begin) & (series.time <= end))
    if not lines or inside.size < 2:
        return None
    whole = begin == 0 and end >= (found.n_samples - 1) / found.sampling_rate
    if whole and _is_long(verdict):
        edges = _edges(verdict)
        places = np.searchsorted(series.time, edges).tolist()
        start, step = 0.0, float(edges[1] - edges[0])
        pairs = [extremes_between(found.urms_of(result), places) for result in lines]
    else:
        times = series.time[inside]
        each = -(-inside.size // _MOST_VALUES)
        start, step = float(times[0]), float((times[-1] - times[0]) / (inside.size - 1)) * each
        values = [found.urms_of(result)[inside] for result in lines]
        pairs = [extremes(line, each) if each > 1 else (line, None) for line in values]
        start -= 0.5 * step / each if each > 1 else 0.0
    return {
        "from": start,
        "step": step,
        "channels": [
            {"index": channels.index(result.number), **_pack(low, high)}
            for result, (low, high) in zip(lines, pairs, strict=True)
        ],
    }


def _pack(low: Any, high: Any = None) -> dict[str, Any]:
    """Return values as base64 of 16-bit integers over their range; -32768 is a gap."""
    lines = [np.asarray(line, np.float64) for line in (low, high) if line is not None]
    known = np.concatenate(lines)
    known = known[np.isfinite(known)]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    scale = (most - least) / 65_534 or 1.0
    packed = []
    for line in lines:
        steps = np.where(np.isfinite(line), np.round((np.nan_to_num(line) - least) / scale) - 32_767, -32_768)
        packed.append(base64.b64encode(steps.clip(-32_768, 32_767).astype("<i2").tobytes()).decode())
    return {"least": least, "scale": scale, "low": packed[0], "high": packed[1] if len(packed) > 1 else None}


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
