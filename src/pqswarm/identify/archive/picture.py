"""What an archive keeps of a recording whose file may be deleted: its channels, and a small waveform."""

import base64
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from pqswarm._base.text import json_text
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.tolerance import RMS
from pqswarm.measure import Event
from pqswarm.recordings import Envelope, RecordingSource
from pqswarm.recordings.drawing import describe_drawn_view
from pqswarm.recordings.envelope import EnvelopeView

_COLUMNS = 240
"""Columns of the waveform; each has two bytes, or four for a minimum and a maximum."""
_MAX_CHANNELS = 3
_LEAD = 3.0
"""Cycles shown before and after what happened."""
_MAX_READ = 1_000_000
"""Values of all channels that are read."""
_DEAD = {"V": 1e-3, "A": 1e-4}  # tuned
"""Swing of a channel, relative to the largest of its unit, below which it holds nothing."""


@dataclass(frozen=True)
class RecordingFacts:
    """What is kept of a recording besides its analysis: the number of channels, and the rest as JSON.

    That is a small waveform, the channels that hold nothing, and the end of the worst cycle of each event [s].
    """

    n_channels: int | None = None
    picture: str = ""


def look_at_recording(source: RecordingSource, analysis: Analysis) -> RecordingFacts:
    """Return what is kept of a recording; the waveform has voltages around the main incident, some kilobytes."""
    view = view_main_incident(source, analysis)
    system = "" if analysis.main is None else analysis.main.event.system
    channels = [one.number for one in analysis.references if one.system == system or not system][:_MAX_CHANNELS]
    moments = [find_worst_cycle(analysis, one.event) for one in analysis.events]
    kept = {
        "numbers": channels,
        "view": describe_drawn_view(view, source.sampling_rate, channels, pack_picture),
        "dead": find_dead_channels(source, view, analysis),
        "worst_ends": [None if one is None else one + 0.5 / analysis.frequency for one in moments],
    }
    return RecordingFacts(len(source.channels), json_text(kept))


def view_main_incident(source: RecordingSource, analysis: Analysis) -> EnvelopeView:
    """Return all channels around the main incident, or from the first sample on, as thinned as a small picture."""
    incident = analysis.main_incident
    start, end = (0.0, 0.0) if incident is None else (incident.start, incident.end)
    lead = _LEAD / source.nominal_frequency
    first = max(round((start - lead) * source.sampling_rate), 0)
    stop = round(((end if isfinite(end) else start) + lead) * source.sampling_rate)
    most = first + max(_MAX_READ // len(source.channels), 1)
    return Envelope(source).view(first, max(min(stop, most, source.n_samples), first + 1), _COLUMNS)


def find_dead_channels(source: RecordingSource, view: EnvelopeView, analysis: Analysis) -> list[int]:
    """Return the channels that hold nothing, by a view of all: not connected, or far smaller than others."""
    swings = np.nan_to_num(np.fmax.reduce(view.high, axis=1) - np.fmin.reduce(view.low, axis=1))
    units = [one.unit for one in source.channels]
    largest = {unit: max(swings[i] for i, own in enumerate(units) if own == unit) for unit in set(units)}
    is_small = [swing < _DEAD.get(unit, 0.0) * largest[unit] for swing, unit in zip(swings, units, strict=True)]
    open_ends = {one.number for one in analysis.channels if one.state == "disconnected"}
    analyzed = {one.number for one in analysis.references}
    return [i for i, small in enumerate(is_small) if (small or i in open_ends) and i not in analyzed]


def find_worst_cycle(analysis: Analysis, event: Event) -> float | None:
    """Return the middle of the cycle with the extreme Urms(1/2) of a sag, swell or interruption [s], or None."""
    if event.type not in RMS or analysis.characterization is None:
        return None
    series = analysis.characterization.require_series()
    number = [one.number for one in analysis.references].index(event.worst.number)
    inside = np.flatnonzero((series.time >= event.worst.start) & (series.time <= event.worst.end))
    urms = series.urms[number, inside]
    if not np.isfinite(urms).any():
        return None
    return float(series.time[inside[np.nanargmax(urms) if event.type == "swell" else np.nanargmin(urms)]])


def pack_picture(low: Any, high: Any = None) -> dict[str, Any]:
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
