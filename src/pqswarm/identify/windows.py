"""The window of an event that the model is given."""

from collections.abc import Iterable

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.features import WINDOW_CYCLES
from pqswarm.measure import ChannelResult, Characterization, Event
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.recordings.recording import RecordingSource

_LEAD = 8.0  # tuned
"""Cycles before an event that is longer than the window."""
_MIN_LEAD = 2.0  # tuned
"""Minimum number of cycles before an event, whatever its neighbours."""
_MIN_LENGTH = 3.0  # tuned
"""Cycles of the shortest window."""
_MAX_VOLTAGE = 1e3
"""Captures are clipped to this [pu of the peak]."""
_LASTING = ("harmonics", "notching", "flicker", "DC offset", "unbalance")


def event_window(event: Event, found: Characterization, others: Iterable[Event]) -> tuple[int, int]:
    """Return the first sample of the window of an event, and the one after its last: up to thirty cycles.

    Other events are left out if enough remains.
    """
    if event.type in _LASTING:
        return _window_centred_on(found, (event.start + event.end) / 2)
    part = event.worst
    first, stop = _window_around(found, part.start, max(part.end, part.start))
    rate = found.sampling_rate
    cycle = found.sampling_rate / found.frequency
    start, end = part.start * rate, max(part.end, part.start) * rate
    for other in others:
        own = [one for one in other.parts if one.number == part.number]
        if other is event or other.type in (*_LASTING, "rapid voltage change") or not own:
            continue
        low, high = own[0].start * rate, own[-1].end * rate
        if high <= start + cycle / 2:
            first = max(first, min(round(high + cycle / 2), round(start)))
        elif low >= end - cycle / 2:
            stop = min(stop, max(round(low - cycle / 2), round(end)))
    shortest = round(_MIN_LENGTH * cycle)
    if stop - first < shortest:  # too short: neighbours are included
        first = max(min(first, round(start - _MIN_LEAD * cycle)), 0)
        stop = min(max(stop, first + shortest), found.n_samples)
        first = max(min(first, stop - shortest), 0)
    return first, stop


def worst_channel(event: Event, found: Characterization) -> ChannelResult:
    """Return the worst channel of an event."""
    return next(one for one in found.channels if event.worst.number in (one.number, -1))


def read_window_samples(
    recording: RecordingSource, number: int, reference: float, frequency: float, first: int, stop: int
) -> FloatArray:
    """Read some samples of a channel as the model sees them: [pu of the peak], without gaps."""
    (samples,) = read_channels(recording, [number], first, stop)
    filled, _ = fill_gaps(samples, recording.sampling_rate / frequency)
    return np.asarray(np.clip(filled / (np.sqrt(2) * reference), -_MAX_VOLTAGE, _MAX_VOLTAGE))


def _recording_window_length(found: Characterization) -> int:
    return int(np.floor(WINDOW_CYCLES / found.frequency * found.sampling_rate))


def _window_centred_on(found: Characterization, moment: float) -> tuple[int, int]:
    return _clip_window(found, round(moment * found.sampling_rate) - _recording_window_length(found) // 2)


def _window_around(found: Characterization, start: float, end: float) -> tuple[int, int]:
    """A window with the event in the middle, or, if that is longer, from some cycles before its start."""
    cycle = found.sampling_rate / found.frequency
    first, stop = round(start * found.sampling_rate), round(end * found.sampling_rate)
    if stop - first > (WINDOW_CYCLES - _LEAD) * cycle:
        return _clip_window(found, first - round(_LEAD * cycle))
    return _clip_window(found, (first + stop - _recording_window_length(found)) // 2)


def _clip_window(found: Characterization, first: int) -> tuple[int, int]:
    length = _recording_window_length(found)
    if found.n_samples <= length:
        return 0, found.n_samples
    first = min(max(first, 0), found.n_samples - length)
    return first, first + length
