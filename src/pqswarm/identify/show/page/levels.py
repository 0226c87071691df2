"""A recording on the page: extremes of three intervals around an event, packed."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.thinning import extremes, extremes_between
from pqswarm.identify.show.rows import shown_interval
from pqswarm.recordings import Envelope
from pqswarm.recordings.viewer import describe_header, describe_view, encode_status_channels

if TYPE_CHECKING:
    from pqswarm._base.typing import BoolArray, FloatArray
    from pqswarm.identify.analysis import Analysis
    from pqswarm.identify.show.page.listing import ListedRecording
    from pqswarm.measure import Event
    from pqswarm.recordings import StatusChannel
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


@dataclass(frozen=True)
class Intervals:
    """The interval shown first, and those the page has pictures of, finest last [s]."""

    first: tuple[float, float]
    kept: tuple[tuple[float, float], ...]


def levels_near_event(event: "Event", length: float) -> Intervals:
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
    return Intervals((max(start, 0.0), min(end, length)), tuple(kept))


def describe_recording_for_levels(recording: "RecordingSource", channels: Sequence[int]) -> dict[str, Any]:
    """Header of a recording for the viewer, `pq.Waves`."""
    header = describe_header(recording, channels, _shorten_level_name)
    for place, one in zip(channels, header["channels"], strict=True):
        one["name"] = one["name"] or f"channel {place + 1}"
    status = encode_status_channels(
        choose_status_for_levels(recording), recording.sampling_rate, text=_shorten_level_name
    )
    for one in status:
        one["changes"] = [[round(moment, 6), state] for moment, state in one["changes"]]
    return {"name": _shorten_level_name(recording.source or "recording"), **header, "status": status}


def choose_channels_for_levels(recording: "RecordingSource", analysis: "Analysis") -> list[int]:
    """Choose the channels to show: all, or of very many the analysed voltages, then currents, then others."""
    analyzed = [one.number for one in analysis.references]
    currents = [place for place, one in enumerate(recording.channels) if one.is_current]
    order = dict.fromkeys([*analyzed, *currents, *range(len(recording.channels))])
    return sorted(list(order)[:_MAX_CHANNELS])


def choose_status_for_levels(recording: "RecordingSource") -> "list[StatusChannel]":
    """Choose the status channels to show: those that change, within the limit of all changes."""
    kept: list[StatusChannel] = []
    left = _MAX_CHANGES
    for one in recording.status:
        if 1 < one.places.size <= left and len(kept) < _MAX_STATUS:
            kept.append(one)
            left -= one.places.size
    return kept


def list_level_views(
    recording: "RecordingSource", shown: "ListedRecording", near: Sequence[Intervals], channels: Sequence[int]
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
        urms = _urms_levels_view(shown, channels, view.first / rate, view.stop / rate)
        views.append({**describe_view(view, rate, channels, _pack_levels), "urms": urms})
    return views


def urms_level_extremes(analysis: "Analysis", time: "FloatArray", urms: "FloatArray") -> "BoolArray":
    """Select the values of Urms(1/2) that the picture of the whole recording needs: the extremes of each part."""
    if not _is_long_for_levels(analysis):
        return np.ones(time.size, dtype=bool)
    shown = np.zeros(time.size, dtype=bool)
    edges = np.searchsorted(time, _level_part_edges(analysis))
    for line in urms:
        for start, end in pairwise(edges.tolist()):
            known = np.flatnonzero(np.isfinite(line[start:end])) + start
            if known.size:
                shown[known[np.argmin(line[known])]] = shown[known[np.argmax(line[known])]] = True
    return shown


def _is_long_for_levels(analysis: "Analysis") -> bool:
    """Whether Urms(1/2) of the whole recording is shown in parts."""
    return analysis.duration > 0.5 * _MAX_VALUES / analysis.nominal_frequency


def _level_part_edges(analysis: "Analysis") -> "FloatArray":
    return np.linspace(0, analysis.duration, _MAX_VALUES // 2 + 1)


def _urms_levels_view(
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
    if whole and _is_long_for_levels(analysis):
        edges = _level_part_edges(analysis)
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
            {"index": index, **_pack_levels(low, high)} for (index, _), (low, high) in zip(lines, pairs, strict=True)
        ],
    }


def _pack_levels(low: Any, high: Any = None) -> dict[str, Any]:
    """Return values as base64 of 16-bit integers over their range; -32768 is a gap."""
    lines = [np.asarray(line, np.float64) for line in (low, high) if line is not None]
    known = np.concatenate(lines)
    known = known[np.isfinite(known)]
    low_end, high_end = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    scale = (high_end - low_end) / 65_534 or 1.0
    packed = []
    for line in lines:
        steps = np.where(np.isfinite(line), np.round((np.nan_to_num(line) - low_end) / scale) - 32_767, -32_768)
        packed.append(base64.b64encode(steps.clip(-32_768, 32_767).astype("<i2").tobytes()).decode())
    return {"least": low_end, "scale": scale, "low": packed[0], "high": packed[1] if len(packed) > 1 else None}


def _shorten_level_name(text: str) -> str:
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
