"""What an archive keeps of a recording whose file may be deleted: its channels, and a small waveform."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from pqswarm._base.text import json_text
from pqswarm._base.thinning import extremes
from pqswarm._base.typing import FloatArray
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.tolerance import RMS
from pqswarm.measure import Event
from pqswarm.recordings import Recording, RecordingSource
from pqswarm.recordings.envelope import describe_header, encode_extremes

_COLUMNS = 240
"""Columns of the waveform; each is one byte, or two for a minimum and a maximum."""
_MAX_CHANNELS = 3
_LEAD = 3.0
"""Cycles shown before and after what happened."""
_LONGEST = 10.0
"""Length of the waveform at most [s]."""
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
    """Return what is kept of a recording; the waveform has the voltages around the main incident, some kilobytes."""
    main = analysis.main
    system = "" if main is None else main.event.system
    own = [one.number for one in analysis.references if one.system == system or not system]
    channels = own[:_MAX_CHANNELS]
    first, stop = _shown_samples(source, analysis)
    step = max(-(-(stop - first) // _COLUMNS), 1)
    read = source.read(first, stop)
    moments = [find_worst_cycle(analysis, one.event) for one in analysis.events]
    kept = {
        "dead": find_dead_channels(read, analysis),
        "worst_ends": [None if one is None else one + 0.5 / analysis.frequency for one in moments],
        "header": describe_header(source, channels),
        "from": first / source.sampling_rate,
        "step": step / source.sampling_rate,
        "exact": step == 1,
        "channels": [_pack_waveform(read.channels[number].samples, step) for number in channels],
    }
    return RecordingFacts(len(source.channels), json_text(kept))


def find_dead_channels(part: Recording, analysis: Analysis) -> list[int]:
    """Return the channels that hold nothing, by a part of a recording: not connected, or far smaller than others."""
    known = [one.samples[np.isfinite(one.samples)] for one in part.channels]
    swings = [float(np.ptp(samples)) if samples.size else 0.0 for samples in known]
    largest: dict[str, float] = {}
    for one, swing in zip(part.channels, swings, strict=True):
        largest[one.unit] = max(largest.get(one.unit, 0.0), swing)
    open_ends = {one.number for one in analysis.channels if one.state == "disconnected"}
    is_small = [
        swing < _DEAD.get(one.unit, 0.0) * largest[one.unit] for one, swing in zip(part.channels, swings, strict=True)
    ]
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


def _shown_samples(source: RecordingSource, analysis: Analysis) -> tuple[int, int]:
    """The first sample shown, and the one after the last."""
    incident = analysis.main_incident
    start, end = (0.0, 0.0) if incident is None else (incident.start, incident.end)
    lead = _LEAD / source.nominal_frequency
    length = min((end if isfinite(end) else start) - start + 2 * lead, _LONGEST)
    first = max(round((start - lead) * source.sampling_rate), 0)
    return first, min(first + max(round(length * source.sampling_rate), 1), source.n_samples)


def _pack_waveform(samples: FloatArray, step: int) -> dict[str, Any]:
    """Minima and maxima as base64 of bytes over their range; 255 is a gap."""
    low, high = extremes(np.asarray(samples, np.float64), step) if step > 1 else (samples, samples)
    known = np.concatenate([low, high])[np.isfinite(np.concatenate([low, high]))]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    scale = (most - least) / 254 or 1.0

    def pack(line: FloatArray) -> str:
        steps = np.where(np.isfinite(line), np.round((np.nan_to_num(line) - least) / scale), 255)
        return base64.b64encode(steps.astype(np.uint8).tobytes()).decode("ascii")

    return {"least": least, "scale": scale, "low": pack(low), "high": None if step == 1 else pack(high)}


def read_picture(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the waveform of what is kept of a recording, as the viewer of the pages takes it."""
    lines = [_unpack_waveform(one) for one in kept["channels"]]
    n = len(lines[0][0]) if lines else 0
    return {
        "from": kept["from"],
        "to": kept["from"] + n * kept["step"],
        "n": n,
        "step": kept["step"],
        "exact": kept["exact"],
        "fraction": 1.0,
        "channels": [{"index": i, **encode_extremes(*line)} for i, line in enumerate(lines)],
        "urms": None,
    }


def _unpack_waveform(packed: Mapping[str, Any]) -> tuple[FloatArray, FloatArray | None]:
    def unpack(text: str) -> FloatArray:
        steps = np.frombuffer(base64.b64decode(text), np.uint8).astype(np.float64)
        return np.where(steps == 255, np.nan, packed["least"] + packed["scale"] * steps)

    return unpack(packed["low"]), None if packed["high"] is None else unpack(packed["high"])
