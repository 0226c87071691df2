"""From steady quantities to events: stretches in which one of them is beyond its threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import Event, Part
from pqswarm.measure.steady.modulation import strongest_modulation
from pqswarm.measure.steady.sentences import describe_steady
from pqswarm.measure.steady.series import SteadySeries
from pqswarm.measure.thresholds import Thresholds

__all__ = ["steady_events"]

_BRIDGE = 5
"""Windows below the threshold that do not end an event: a second."""
_BRIDGE_QUIET = 25
"""Windows that do not count, in the middle of an event."""
_LEAST = 3
"""Windows of the shortest event."""
_LEAST_FLICKER = 10
"""The same for flicker: two seconds."""
_LEAST_CHANGES = 5
"""Separate changes in ten minutes of severe flicker: one or two steps are none."""
_AFTER_QUIET = 5
"""Windows beside a sag or transient that tell nothing about flicker."""
_LIVE = 0.5
"""Share of the reference, and of the RMS, below which the fundamental is not that of a supply."""
_OFF = 0.01
"""By which the frequency of a window may differ from the one that set its length."""
_BEAT = 0.05
"""Least modulation over the depth of notches."""
_NOISE = 2.5
"""Least modulation over the one that white noise makes."""


@dataclass(frozen=True)
class _Stretch:
    """Windows of one channel (or system) that belong to an event, from `first` to before `stop`."""

    channel: int
    first: int
    stop: int
    magnitude: float
    details: Mapping[str, float] = field(default_factory=dict)


def steady_events(
    series: SteadySeries,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    *,
    quiet: BoolArray | Sequence[tuple[float, float]] = (),
    references: Sequence[float] | None = None,
) -> list[Event]:
    """Find harmonics, DC offset, notching, flicker and unbalance that last for some windows.

    A stretch of windows beyond the threshold is an event if it has at least three of them (flicker: two seconds);
    up to a second below the threshold does not end it. What several channels of a system have at the same time is one
    event. A single step of the voltage is no flicker.

    Parameters
    ----------
    series : SteadySeries
        What was measured.
    thresholds : Thresholds or mapping, optional
        ``thd``, ``dc``, ``notch``, ``flicker``, ``pst`` and ``unbalance`` are used.
    quiet : ndarray of bool of shape (n_windows,), or sequence of (start, end)
        Windows, or times [s], that do not count: sags, swells, interruptions and transients.
    references : sequence of float, optional
        What 1 pu is on each channel [V]; by default the median of its fundamental.

    Returns
    -------
    list of Event
        In order of time; magnitudes are in percent.

    Examples
    --------
    >>> from pqswarm.measure.steady import SteadyMeter
    >>> from pqswarm.recordings.recording import ChannelHeader
    >>> t = np.arange(60_000) / 6000
    >>> u = 325 * np.sin(2 * np.pi * 50 * t) + 32.5 * np.sin(2 * np.pi * 250 * t) * ((t > 2) & (t < 6))
    >>> meter = SteadyMeter(6000, 50, 50.0, [ChannelHeader("U1", "V", "A")])
    >>> meter.feed(u[None])
    >>> [event.sentence for event in steady_events(meter.finish())]
    ['harmonics on phase A, THD 10.0 %, most of order 5, for 4.0 s']
    """
    levels = Thresholds.of(thresholds)
    if not series.n_windows:
        return []
    neutral = series.quiet_windows(quiet) | _unsteady(series)
    volts = _references(series, references)
    live = series.fundamental > _LIVE * np.maximum(volts[:, None], series.rms)
    found: list[Event] = []
    for kind, values, limit, least, unsure in _quantities(series, levels, volts, neutral):
        above = np.nan_to_num(np.abs(values), nan=-1.0) > limit
        stretches: dict[str, list[_Stretch]] = {}
        for row, inside in enumerate(above):
            members = series.groups[row] if kind == "unbalance" else (row,)
            skipped = unsure | ~live[list(members)].all(axis=0)
            if kind == "harmonics":
                skipped = skipped | _unseen_notches(series, row, found)
            for first, stop in _runs(inside & ~skipped, skipped, least):
                used = np.arange(first, stop)[inside[first:stop] & ~skipped[first:stop]]
                for channel in members:
                    stretches.setdefault(series.systems[channel], []).append(
                        _stretch(series, kind, channel, row, values, first, stop, used)
                    )
        if kind == "flicker":
            _add_severe(series, levels, neutral, stretches)
        for own in stretches.values():
            found += [_event(series, kind, group, volts) for group in _together(own)]
    return sorted(found, key=lambda event: (event.start, event.kind))


def _unseen_notches(series: SteadySeries, channel: int, found: Sequence[Event]) -> BoolArray:
    """Windows amid notching in which no notch was seen: what is in them may be its harmonics."""
    system = series.systems[channel]
    inside = np.zeros(series.n_windows, dtype=bool)
    beside = {one.name for one, name in zip(series.channels, series.systems, strict=True) if name == system}
    for event in found:
        if event.kind == "notching" and beside.issuperset(event.channels):
            inside |= (series.edges[1:] > event.start) & (series.edges[:-1] < event.end)
    inside[series.notches[channel] > 0] = False
    return inside


def _add_severe(
    series: SteadySeries, levels: Thresholds, neutral: BoolArray, stretches: dict[str, list[_Stretch]]
) -> None:
    """Add ten minutes of severe flicker with repeated changes, where nothing else in them explains it."""
    intervals, level = series.intervals, levels.flicker
    for channel, interval in zip(*np.nonzero(np.nan_to_num(series.severity) > levels.pst), strict=True):
        places = np.flatnonzero(intervals == interval)
        first, stop = int(places[0]), int(places[-1]) + 1
        own = stretches.setdefault(series.systems[channel], [])
        known = any(one.first < stop and one.stop > first for one in own if one.channel == channel)
        changes = np.nan_to_num(series.modulation[channel, places]) > level
        repeated = int(np.sum(np.diff(changes, prepend=False) & changes)) >= _LEAST_CHANGES
        if repeated and not known and not neutral[places].any():
            magnitude = 100 * _greatest(series.modulation[channel, places])
            severity = float(series.severity[channel, interval])
            sensation = _greatest(series.sensation[channel, places])
            details = {"pst": severity, "depth": magnitude / 100, "frequency": float("nan"), "pinst": sensation}
            own.append(_Stretch(int(channel), first, stop, magnitude, details))


def _quantities(
    series: SteadySeries, levels: Thresholds, volts: FloatArray, neutral: BoolArray
) -> list[tuple[str, FloatArray, FloatArray | float, int, BoolArray]]:
    """Kind, values, threshold, least number of windows, and windows that tell nothing."""
    wide = np.convolve(neutral, np.ones(2 * _AFTER_QUIET + 1), mode="same") > 0
    beside = wide[: neutral.size]
    # The middle of five windows is blind to a step, which is in two of them.
    modulation = np.where(neutral, 0.0, np.nan_to_num(series.modulation))
    modulation = np.pad(modulation, ((0, 0), (2, 2)), mode="edge")
    middle = np.median([modulation[:, k : k + series.n_windows] for k in range(5)], axis=0)
    floor = _NOISE * np.sqrt(2) * np.nan_to_num(series.noise) / np.sqrt(series.samples_per_cycle)
    # Where few samples meet the edges of a notch, the RMS beats with them.
    floor = np.maximum(floor, _BEAT * np.nan_to_num(series.notch_depth))
    return [
        ("DC offset", series.dc / (np.sqrt(2) * volts[:, None]), levels.dc, _LEAST, neutral),
        ("notching", series.notch_depth, levels.notch, _LEAST, neutral),
        ("harmonics", _thd_without_noise(series), levels.thd, _LEAST, neutral),
        ("flicker", np.where(middle > floor, middle, 0.0), levels.flicker, _LEAST_FLICKER, beside),
        ("unbalance", series.unbalance, levels.unbalance, _LEAST, neutral),
    ]


def _thd_without_noise(series: SteadySeries) -> FloatArray:
    """THD less the share of white noise in the three lines of each order."""
    lines = 3 * series.harmonics.shape[2]
    length = series.sampling_rate * np.diff(series.edges)
    distortion: FloatArray = np.sqrt(
        np.maximum(series.thd_without_notches**2 - lines * 2 / length * series.noise**2, 0.0)
    )
    return distortion


def _unsteady(series: SteadySeries) -> BoolArray:
    """Windows that are no whole number of cycles: where nothing is live, a machine runs up, or the phase jumps."""
    turns = series.frequency * np.diff(series.edges)
    return ~(np.abs(turns / series.cycles - 1) < _OFF)


def _references(series: SteadySeries, given: Sequence[float] | None) -> FloatArray:
    """What 1 pu is on each channel [V]; never 0."""
    if given is not None:
        if len(given) != len(series.channels):
            raise PqswarmError(f"references must have a voltage for each of {len(series.channels)} channels.")
        volts = np.array(given, dtype=np.float64)
    else:
        known = [row[np.isfinite(row)] for row in series.fundamental]
        volts = np.array([float(np.median(row)) if row.size else np.nan for row in known])
    return np.where(volts > 0, volts, np.inf)


def _runs(above: BoolArray, skipped: BoolArray, least: int) -> list[tuple[int, int]]:
    """Stretches of windows above a threshold; gaps are bridged, short ones dropped."""
    places = np.flatnonzero(above)
    if not places.size:
        return []
    counted = np.concatenate([[0], np.cumsum(~skipped)])
    cuts = [0]
    for k, (i, j) in enumerate(pairwise(places.tolist())):
        below = counted[j] - counted[i + 1]
        if below > _BRIDGE or j - i - 1 - below > _BRIDGE_QUIET:
            cuts.append(k + 1)
    cuts.append(places.size)
    return [(int(places[a]), int(places[b - 1]) + 1) for a, b in pairwise(cuts) if b - a >= least]


def _stretch(
    series: SteadySeries, kind: str, channel: int, row: int, values: FloatArray, first: int, stop: int, used: IntArray
) -> _Stretch:
    """Magnitude [%] and details of a stretch."""
    magnitude = 100 * float(np.median(values[row, used]))
    details: dict[str, float] = {}
    if kind == "harmonics":
        orders = np.nanmedian(series.harmonics[channel, used], axis=0)
        details = {"thd": magnitude / 100, "order": float(np.argmax(orders) + 2)}
        details["order_share"] = float(orders.max())
    elif kind == "notching":
        details = {"per_cycle": float(np.median(series.notches[channel, used])), "depth": magnitude / 100}
    elif kind == "flicker":
        per_window = 2 * series.cycles
        frequency = series.cycles * (stop - first) / float(series.edges[stop] - series.edges[first])
        piece = series.urms[channel, first * per_window : stop * per_window]
        rate, depth = strongest_modulation(piece, 2 * frequency, frequency)
        magnitude = 100 * depth
        details = {"frequency": rate, "depth": depth, "pinst": _greatest(series.sensation[channel, used])}
    elif kind == "unbalance":
        zero = series.zero_sequence[row, used]
        details = {"zero_sequence": float(np.median(zero))}
    return _Stretch(channel, first, stop, magnitude, details)


def _greatest(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else float("nan")


def _together(stretches: list[_Stretch]) -> list[list[_Stretch]]:
    """Group those that overlap in time, and join those of one channel."""
    groups: list[list[_Stretch]] = []
    for one in sorted(stretches, key=lambda one: (one.first, one.channel)):
        if groups and one.first < max(other.stop for other in groups[-1]):
            groups[-1].append(one)
        else:
            groups.append([one])
    joined = []
    for group in groups:
        parts = []
        for channel in sorted({one.channel for one in group}):
            own = [one for one in group if one.channel == channel]
            worst = max(own, key=lambda one: abs(one.magnitude))
            first, stop = min(one.first for one in own), max(one.stop for one in own)
            parts.append(_Stretch(channel, first, stop, worst.magnitude, worst.details))
        joined.append(parts)
    return joined


def _event(series: SteadySeries, kind: str, group: list[_Stretch], volts: FloatArray) -> Event:
    worst = max(group, key=lambda one: abs(one.magnitude))
    parts = []
    for one in group:
        channel = series.channels[one.channel]
        start, end = float(series.edges[one.first]), float(series.edges[one.stop])
        parts.append(Part(channel.name, channel.phase, one.magnitude, start, end, end - start))
    start, end = min(part.start for part in parts), max(part.end for part in parts)
    system = series.systems[worst.channel] if len(set(series.systems)) > 1 else ""
    return Event(
        kind=kind,
        category=kind,
        parts=tuple(parts),
        system=system,
        magnitude=worst.magnitude,
        unit="%",
        start=start,
        end=end,
        duration=end - start,
        nominal_frequency=series.nominal_frequency,
        reference=float(volts[worst.channel]),
        sentence=describe_steady(kind, parts, [one.details for one in group], system),
        cut_start=min(one.first for one in group) == 0,
        cut_end=max(one.stop for one in group) == series.n_windows,
        details=worst.details,
    )
