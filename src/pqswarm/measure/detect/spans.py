"""Sags, swells and interruptions: from Urms(1/2) to events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.measure.thresholds import Thresholds

_TRANSITION = 2
"""Values of Urms(1/2) that a step of the voltage passes through."""

_NOT_BACK = 0.5  # tuned
"""Below this the supply is not back between two interruptions [pu]."""
_FED = 0.3  # tuned
"""Unless it is above this, and varies by less: a supply that is energized onto a fault [pu]."""
_GAP = 4  # tuned
"""Unknown values in a row that end an event."""
_LONG = 4
"""From this number of values on, an event holds a whole cycle."""


class SlidingMeanSquare(Protocol):
    """Sliding mean square of a signal of `size` samples: of an array or of a file."""

    size: int

    def at(self, centres: FloatArray, width: float) -> FloatArray:
        """Mean square over windows of `width` samples about `centres` [samples]."""


@dataclass(frozen=True)
class Span:
    """Values of Urms(1/2): type, first, first after it, extreme, and whether the record starts or ends inside it."""

    type: str
    first: int
    stop: int
    magnitude: float
    open_start: bool
    open_end: bool


def find_spans(lowest: FloatArray, highest: FloatArray, thresholds: Thresholds) -> list[Span]:
    """Find the sags, swells and interruptions of a channel, or of a system of channels, in the order of their start.

    `lowest` and `highest` are Urms(1/2) [pu] of the channel, or the minimum and maximum of the channels: a sag of a
    system begins when any phase is below the threshold and ends when all are back; an interruption begins when all are
    below and ends when any is back.
    """
    t = thresholds
    back = thresholds.hysteresis
    gaps = _gaps_that_cut_spans(lowest)
    sags = find_excursions(lowest < t.sag, (lowest >= t.sag + back) | gaps)
    breaks = _join_interruption_spans(
        find_excursions(highest < t.interruption, (highest >= t.interruption + back) | gaps), highest
    )
    swells = find_excursions(highest > t.swell, (highest <= t.swell - back) | gaps)
    spans = [_make_span("swell", first, stop, gaps, float(np.nanmax(highest[first:stop]))) for first, stop in swells]
    spans += [
        _make_span("interruption", first, stop, gaps, float(np.nanmin(lowest[first:stop]))) for first, stop in breaks
    ]
    for first, stop in sags:
        inner = [pair for pair in breaks if first <= pair[0] < stop]
        if not inner:
            spans.append(_make_span("sag", first, stop, gaps, float(np.nanmin(lowest[first:stop]))))
            continue
        # What an interruption leaves of a sag is a sag of its own (a fault before its clearing), if it is more than
        # the way down or up.
        for start, end in zip([first, *(b for _, b in inner)], [*(a for a, _ in inner), stop], strict=True):
            is_brief = end - start == _TRANSITION + 1 and start == first
            body = lowest[
                start + _TRANSITION * (start != first) : end - (1 if is_brief else _TRANSITION) * (end != stop)
            ]
            if end - start > _TRANSITION + (not is_brief) and np.isfinite(body).any():
                spans.append(_make_span("sag", start, end, gaps, float(np.nanmin(body))))
    return sorted(spans, key=lambda span: (span.first, span.type))


def standard_duration(waveform: float, urms: float, is_cut: bool) -> float:
    """Duration by Urms(1/2) [s]; if the record cuts the event, at least what is seen on the waveform [s]."""
    return max(urms, waveform) if is_cut else urms


def _make_span(event_type: str, first: int, stop: int, gaps: BoolArray, magnitude: float) -> Span:
    """A span; a gap cuts it as the ends of the record do."""
    open_start = first == 0 or gaps[first - 1]
    return Span(event_type, first, stop, magnitude, bool(open_start), bool(stop == gaps.size or gaps[stop]))


def _gaps_that_cut_spans(values: FloatArray) -> BoolArray:
    """Unknown values that have others next to them: gaps of two cycles and more."""
    gaps = np.zeros(values.size, dtype=np.bool_)
    for first, stop in true_stretches(np.isnan(values)):
        gaps[first:stop] = stop - first >= _GAP
    return gaps


def true_stretches(where: BoolArray) -> list[tuple[int, int]]:
    """Return the first place, and the one after the last, of each stretch that is true."""
    bounds = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]])))
    return list(zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True))


def _join_interruption_spans(breaks: list[tuple[int, int]], highest: FloatArray) -> list[tuple[int, int]]:
    """Interruptions between which the supply did not come back are one: coupled or decaying voltage is not a supply."""
    joined: list[tuple[int, int]] = []
    for first, stop in breaks:
        between = highest[joined[-1][1] : first] if joined else highest[:0]
        inner = between[_TRANSITION:-_TRANSITION]
        low, high = (np.nanmin(inner), np.nanmax(inner)) if np.isfinite(inner).any() else (0.0, 0.0)
        fed = inner.size >= _LONG and low > _FED and high - low < _FED * high
        if joined and not np.isnan(between).all() and np.nanmax(between) < _NOT_BACK and not fed:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined


def find_excursions(beyond: BoolArray, back: BoolArray) -> list[tuple[int, int]]:
    """Return the first value beyond a threshold and the first one back, or after the last, for each excursion."""
    excursions = []
    first = -1
    for place in np.flatnonzero(beyond | back).tolist():
        if first < 0 and beyond[place]:
            first = place
        elif first >= 0 and back[place]:
            excursions.append((first, place))
            first = -1
    if first >= 0:
        excursions.append((first, beyond.size))
    return excursions


def locate_spans(
    spans: Sequence[Span], time: FloatArray, signal: "SlidingMeanSquare", sampling_rate: float, frequency: float
) -> list[tuple[float, float]]:
    """Find where on the waveform each span begins and ends [s].

    Urms(1/2) smears a step over a cycle and is refreshed each half cycle only, so that its crossing of a threshold
    is up to a cycle from the step. The mean square over a cycle, slid along the samples, is half way between the
    levels before and after where the step is, at any point on wave; over half a cycle (for short events), nearly.
    """
    instants = []
    for span in spans:
        near = [other for other in spans if span.first <= other.stop and other.first <= span.stop]
        long = all(other.stop - other.first >= _LONG for other in near)
        edges = _SpanEdges(
            signal, sampling_rate, frequency, 1.0 if span.type == "swell" else -1.0, 1.0 if long else 0.5
        )
        if span.open_start:
            start = 0.0 if span.first == 0 else float(time[span.first])
        else:
            start = edges.at(float(time[span.first]), ending=False)
        if span.open_end:
            stop = signal.size / sampling_rate if span.stop == time.size else float(time[span.stop])
        else:
            stop = edges.at(float(time[span.stop]), ending=True)
        if stop - start < 0.45 / frequency:  # too slow or too slight for that: by the rule
            start, stop = float(time[span.first]), float(time[min(span.stop, time.size - 1)])
        instants.append((start, stop))
    # Where an interruption follows on a sag, or a sag on it, they share the instant.
    for i, span in enumerate(spans):
        for j, other in enumerate(spans):
            if span.type == "sag" and other.type == "interruption":
                if span.stop == other.first:
                    instants[i] = (min(instants[i][0], instants[j][0]), instants[j][0])
                if span.first == other.stop:
                    instants[i] = (instants[j][1], max(instants[i][1], instants[j][1]))
    return instants


@dataclass(frozen=True, eq=False)
class _SpanEdges:
    """Finds steps in the mean square over `width` cycles; `sign` is that of an event's change."""

    signal: "SlidingMeanSquare"
    sampling_rate: float
    frequency: float
    sign: float
    width: float

    def at(self, crossing: float, ending: bool) -> float:
        """Instant of the step [s] near the window about `crossing` [s], at which the threshold was crossed."""
        cycle = 1.0 / self.frequency
        half = self.width / 2
        # Time runs from outside to inside: backwards at the end of an event.
        offsets = np.arange(-(1.5 + half), 0.5 + half + 1e-9, 1 / 64) * cycle
        moment = crossing - offsets if ending else crossing + offsets
        known = (moment >= half * cycle) & (moment <= self.signal.size / self.sampling_rate - half * cycle)
        if known.sum() < 3:
            return crossing
        offsets = offsets[known]
        moment = moment[known]
        width = self.width * self.sampling_rate / self.frequency
        power = self.sign * self.signal.at(moment * self.sampling_rate, width)
        near = np.where((offsets >= -cycle / 2) & np.isfinite(power), power, -np.inf)
        inside = int(near.argmax())
        outside = power[offsets < -(1.0 + half) * cycle]
        before = float(np.nanmedian(outside)) if np.isfinite(outside).any() else float(power[0])
        middle = (before + power[inside]) / 2
        return _last_rise(power[: inside + 1], moment, middle, crossing)


def _last_rise(power: FloatArray, moment: FloatArray, middle: float, default: float) -> float:
    """Moment at which values rise through a level for the last time, between two of them; else the default."""
    below = np.flatnonzero(power < middle)
    if not below.size or below[-1] >= power.size - 1 or not np.isfinite(middle):
        return default
    last = int(below[-1])
    rise = power[last + 1] - power[last]
    if not np.isfinite(rise):  # samples are missing there
        return default
    return float(moment[last] + (middle - power[last]) / rise * (moment[last + 1] - moment[last]))


def locate_step(
    signal: "SlidingMeanSquare", cycle: float, between: tuple[float, float], levels: tuple[float, float], width: float
) -> float:
    """Find the step from one RMS to another between two places, by the mean square over `width` cycles [samples].

    NaN if there is none.
    """
    moment = np.arange(between[0], between[1], cycle / 64)
    if moment.size < 2:
        return np.nan
    before, after = (level**2 for level in levels)
    sign = 1.0 if after > before else -1.0
    power = sign * signal.at(moment, width * cycle)
    return _last_rise(power, moment, sign * (before + after) / 2, np.nan)


def locate_last_change(samples: FloatArray, cycle: float, fraction: float) -> float:
    """Find the last sample that differs from what follows a `cycle` later by a fraction of the most of its channel.

    Channels that differ by less than half of the most are left out. NaN if they differ until the end.
    """
    places = np.arange(samples.shape[1] - int(cycle) - 1)
    later = places + cycle
    follows = np.array([np.interp(later, np.arange(row.size), row) for row in samples])
    change = np.abs(samples[:, places] - follows)
    most = np.nanmax(change, axis=1, initial=0.0, keepdims=True)
    beyond = (change > fraction * most) & (most > most.max() / 2)
    last = np.flatnonzero(beyond.any(axis=0))
    return float(last[-1] + 1) if last.size and last[-1] < places.size - 1 else np.nan
