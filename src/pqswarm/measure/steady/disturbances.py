"""Steady disturbances in a recording of any length.

Windows of 10 or 12 cycles decide. A capture with an event in its middle has less than three undisturbed windows: there
the same quantities are measured in one window of the steadiest cycles outside the event, with the same thresholds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.spans import Span
from pqswarm.measure.detect.urms import fill_gaps, median_of_known_urms
from pqswarm.measure.event import ChannelEvent, Event, group_overlapping
from pqswarm.measure.steady.flicker import (
    find_flicker,
    find_irregular_flicker,
    longest_quiet_stretch,
    strongest_modulation,
)
from pqswarm.measure.steady.harmonics import steadiest_cycles
from pqswarm.measure.steady.notching import measure_notches
from pqswarm.measure.steady.series import SteadySeries, WindowMeter, WindowValues, build_series, highest_order
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource

if TYPE_CHECKING:
    from pqswarm.measure.detect.scan import Scan
    from pqswarm.measure.supply.survey import Supply

_MIN_CYCLES = 3
"""Cycles of the shortest window of one channel; for unbalance, half of a window. In fewer, lines between the harmonics
are not resolved."""
_MIN_LIVE = 0.3  # tuned
"""Of the record: what was seen in less of it is not assumed to last."""
_BESIDE = 2
"""Values of Urms(1/2) next to an event that overlap it."""
_NOTCH_FACTOR = 3.0  # tuned
"""A deviation below this many times the depth of the notches is a notch itself."""


@dataclass(frozen=True, eq=False)
class SteadyFinder:
    """Finds harmonics, DC offset, notching, flicker and unbalance, given Urms(1/2) [pu] and spans of each channel."""

    recording: RecordingSource
    supply: "Supply"
    scan: "Scan"
    thresholds: Thresholds
    urms: FloatArray
    spans: Sequence[Sequence[Span]]

    def is_notch(self, transient: ChannelEvent) -> bool:
        """Whether a transient is a notch that is not quite like the others: those of the windows around it."""
        series = self.scan.steady
        i = self.supply.numbers.index(transient.number)
        at = int(np.searchsorted(series.edges, transient.start)) - 1
        around = slice(max(at - 1, 0), at + 2)
        # In a window with the edge of a sag, the edge looks like a notch.
        seen = (series.notches[i, around] > 0) & ~self._in_spans[around]
        depths = [series.notch_depth[i, around][seen]]
        captures = [one for one in self._captures if one.numbers == (transient.number,)]
        depths += [one.notch_depth[0, one.notches[0] > 0] for one in captures]
        return transient.magnitude < _NOTCH_FACTOR * float(np.concatenate(depths).max(initial=0.0))

    def find(self, events: Sequence[Event]) -> list[ChannelEvent]:
        """Find the steady disturbances outside the events."""
        series = self.scan.steady
        references = [reference.volts for reference in self.supply.references]
        windows = ExcludedSteadyWindows(series, [(event.start, event.end) for event in events])
        parts = find_steady(series, self.thresholds, quiet=windows.skipped, references=references)
        if np.sum(~windows.skipped) < MIN_WINDOWS:
            parts = [part for part in parts if part.type == "flicker"] + self._find_in_captures()
        if np.sum(~windows.skipped_for_flicker) < MIN_FLICKER_WINDOWS:
            parts = [part for part in parts if part.type != "flicker"] + self._find_short_flicker()
        return parts

    def _find_in_captures(self) -> list[ChannelEvent]:
        """Find the steady disturbances in one window of each channel and system; assumed to last the record."""
        length = self.recording.n_samples / self.recording.sampling_rate
        parts = []
        for series in self._captures:
            references = [self.supply.references[self.supply.numbers.index(number)].volts for number in series.numbers]
            parts += [
                replace(part, start=0.0, end=length, duration=length)
                for part in find_steady(series, self.thresholds, references=references, min_windows=1)
                if (part.type == "unbalance") == (len(series.channels) > 1)
            ]
        return parts

    def _find_short_flicker(self) -> list[ChannelEvent]:
        """Find a modulation, sinusoidal or irregular, in the longest stretch without an event."""
        length = self.recording.n_samples / self.recording.sampling_rate
        parts = []
        for i, (urms, spans) in enumerate(zip(self.urms, self.spans, strict=True)):
            if not self.supply.references[i].volts > 0:
                continue
            quiet = longest_quiet_stretch(urms, spans)
            finders = (find_flicker, find_irregular_flicker)
            found = (find(quiet, self.supply.frequency, minimum=self.thresholds.flicker) for find in finders)
            flicker = next(filter(None, found), None)
            if flicker is None:
                continue
            rate, depth = flicker
            parts.append(
                self.supply.part_on(i)(
                    type="flicker",
                    category="flicker",
                    magnitude=100 * depth,
                    start=0.0,
                    end=length,
                    duration=length,
                    cut_start=True,
                    cut_end=True,
                    details={
                        "frequency": rate,
                        "depth": depth,
                        "pinst": _greatest_steady_value(self.scan.steady.sensation[i]),
                    },
                )
            )
        return parts

    @cached_property
    def _in_spans(self) -> BoolArray:
        """Windows that have a part of a sag, swell or interruption of any channel."""
        time = self.scan.time
        ends = np.append(time, time[-1:])
        busy = [(float(time[one.first]), float(ends[one.stop])) for own in self.spans for one in own]
        return self.scan.steady.quiet_windows(busy)

    @cached_property
    def _captures(self) -> list[SteadySeries]:
        """Series of one window, of each channel and of each system, if quiet windows are too few; else none."""
        transients = [(one.start, one.end) for own in self.scan.transients for one in own]
        busy = self._in_spans | self.scan.steady.quiet_windows(transients)
        if np.sum(~ExcludedSteadyWindows(self.scan.steady, busy).skipped) >= MIN_WINDOWS or not self.scan.time.size:
            return []
        lasts = np.mean(self.urms > self.thresholds.interruption, axis=1) > _MIN_LIVE
        live = [i for i, reference in enumerate(self.supply.references) if reference.volts > 0 and lasts[i]]
        half = self.scan.steady.cycles // 2
        captures = [self._capture([i], _MIN_CYCLES) for i in live]
        for system in dict.fromkeys(self.supply.systems):
            members = [i for i in live if self.supply.systems[i] == system]
            if len(members) > 1:
                captures.append(self._capture(members, half))
        return [series for series in captures if series is not None]

    def _capture(self, members: Sequence[int], minimum: int) -> SteadySeries | None:
        """The steadiest cycles of some channels as a series of one window; None if there are fewer than `minimum`."""
        frequency = self.supply.frequency
        rate = self.recording.sampling_rate
        calm = self._calm(members)
        first, cycles = steadiest_cycles(np.where(calm, self.urms[list(members)], np.nan), self.scan.steady.cycles)
        if cycles < minimum:
            return None
        length = round(cycles * rate / frequency)
        start = max(round((float(self.scan.time[first]) - 0.5 / frequency) * rate), 0)
        numbers = [self.supply.numbers[i] for i in members]
        volts = read_channels(self.recording, numbers, start, start + length)
        if volts.shape[1] < length:
            return None
        samples = np.array([fill_gaps(row, rate / frequency)[0] for row in volts])
        orders = highest_order(rate, frequency, length, cycles)
        meter = WindowMeter(rate, frequency, cycles, orders, self.thresholds.notch)
        values = meter.measure(samples, np.ones((len(members), 1), dtype=np.bool_))
        return build_series(
            [self.supply.headers[i] for i in members],
            [self.supply.system_of(i) for i in members],
            numbers,
            self.supply.nominal_frequency,
            meter,
            np.array([start, start + length]) / rate,
            [_steady_median_notches(values, samples, cycles, self.thresholds.notch)],
            np.full((len(members), 1), np.nan),
            np.empty((len(members), 0)),
        )

    def _calm(self, members: Sequence[int]) -> BoolArray:
        """Urms(1/2) outside events and their edges; of one channel also inside a sag or swell."""
        calm: BoolArray = np.asarray(np.isfinite(self.urms[list(members)]).all(axis=0))
        time = self.scan.time
        half = 0.5 / self.supply.frequency
        for number, span in ((i, span) for i in members for span in self.spans[i]):
            whole = len(members) > 1 or span.type == "interruption"
            for edge in [(span.first, span.stop)] if whole else [(span.first, span.first), (span.stop, span.stop)]:
                first, stop = max(edge[0] - _BESIDE, 0), min(edge[1] + _BESIDE, time.size)
                start, end = float(time[first]) - half, float(time[stop - 1]) + half
                for one in self.scan.transients[number]:
                    if one.start <= end and one.end >= start:
                        first = min(first, int(np.searchsorted(time, one.start - half)))
                        stop = max(stop, int(np.searchsorted(time, one.end + half, side="right")))
                calm[first:stop] = False
        return calm


def _steady_median_notches(values: WindowValues, samples: FloatArray, cycles: int, minimum: float) -> WindowValues:
    """The values of one window, with the notches of its median cycle, which has nothing of a transient."""
    n = samples.shape[1] // cycles
    places = (np.arange(cycles)[:, None] + np.arange(n) / n) * (samples.shape[1] / cycles)
    table = np.array([np.interp(places, np.arange(row.size), row) for row in samples])
    lines = np.fft.rfft(np.median(table, axis=1), axis=-1)[:, None]
    size = np.nan_to_num(np.abs(values.phasor))
    depth, count, smooth = measure_notches(lines, n, n, size, values.thd, minimum)
    return replace(values, notch_depth=depth, notches=count, smooth_thd=smooth)


_BRIDGE = 5  # tuned
"""Windows below the threshold that do not end an event: a second."""
_BRIDGE_QUIET = 25  # tuned
"""Windows that do not count, in the middle of an event."""
MIN_WINDOWS = 3
MIN_FLICKER_WINDOWS = 10
"""Windows of the shortest event, and of the shortest flicker: two seconds."""
_MIN_CHANGES = 5  # tuned
"""Separate changes in ten minutes of severe flicker: one or two steps are not flicker."""
_AFTER_QUIET = 5  # tuned
"""Windows next to a sag or transient that are unusable for flicker."""
_LIVE = 0.5  # tuned
"""Fraction of the reference, and of the RMS, below which there is no supply voltage."""
_OFF = 0.01  # tuned
"""Maximum relative deviation of a window's frequency from the one that set its length."""
_BEAT = 0.05  # tuned
"""Minimum modulation over the depth of notches."""
_CERTAIN = 5.0
_SPREAD = 3.0
"""Standard deviations of noise beyond which a quantity is not noise; standard deviation of the power of noise in the
lines of the harmonics, which is not known exactly, over the one that it would have if it were."""
_NOISE = 2.5  # tuned
"""Minimum modulation over the one that white noise makes."""


class ExcludedSteadyWindows:
    """Windows of a series that do not count; `quiet` as in :func:`find_steady`."""

    def __init__(self, series: SteadySeries, quiet: BoolArray | Sequence[tuple[float, float]]) -> None:
        # Not those that are no whole number of cycles: nothing is live, a machine runs up, or the phase jumps.
        turns = series.frequency * np.diff(series.edges)
        self.skipped: BoolArray = series.quiet_windows(quiet) | ~(np.abs(turns / series.cycles - 1) < _OFF)
        beside = np.convolve(np.pad(self.skipped, _AFTER_QUIET), np.ones(2 * _AFTER_QUIET + 1), mode="valid")
        self.skipped_for_flicker: BoolArray = beside > 0


def find_steady(
    series: SteadySeries,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    *,
    quiet: BoolArray | Sequence[tuple[float, float]] = (),
    references: Sequence[float] | None = None,
    min_windows: int = MIN_WINDOWS,
) -> list[ChannelEvent]:
    """Find harmonics, DC offset, notching, flicker and unbalance that last for some windows.

    A disturbance needs at least three windows above the threshold (flicker: two seconds); up to a second below the
    threshold does not end it. A single step of the voltage is not flicker.

    Parameters
    ----------
    series : SteadySeries
        The measured series.
    thresholds : Thresholds or mapping, default=None
        ``thd``, ``dc``, ``notch``, ``flicker``, ``pst`` and ``unbalance`` are used.
    quiet : ndarray of bool of shape (n_windows,), or sequence of (start, end), default=()
        Windows, or times [s], that do not count: sags, swells, interruptions and transients.
    references : sequence of float, default=None
        Voltage of 1 pu on each channel [V]; by default the median of its fundamental.
    min_windows : int, default=3
        Windows of the shortest disturbance. If one is enough, noise raises the thresholds.

    Returns
    -------
    list of ChannelEvent
        Magnitudes are in percent.

    Examples
    --------
    >>> from pqswarm.measure.steady import SteadyMeter
    >>> from pqswarm.recordings.recording import ChannelHeader
    >>> t = np.arange(60_000) / 6000
    >>> u = 325 * np.sin(2 * np.pi * 50 * t) + 32.5 * np.sin(2 * np.pi * 250 * t) * ((t > 2) & (t < 6))
    >>> meter = SteadyMeter(6000, 50, 50.0, [ChannelHeader("U1", "V", "A")])
    >>> meter.feed(u[None])
    >>> part, = find_steady(meter.finish())
    >>> part.type, round(part.magnitude, 1), part.details["order"], round(part.start, 1), round(part.duration, 1)
    ('harmonics', 10.0, 5.0, 2.0, 4.0)
    """
    levels = Thresholds.of(thresholds)
    if not series.n_windows:
        return []
    volts = _steady_reference_volts(series, references)
    return _SteadySearch(series, levels, ExcludedSteadyWindows(series, quiet), volts, min_windows).find()


@dataclass(frozen=True, eq=False)
class _SteadyQuantity:
    """A steady quantity: type of its disturbance, values, threshold, minimum number of windows, and skipped ones."""

    type: str
    values: FloatArray
    limit: FloatArray | float
    minimum: int
    skipped: BoolArray


@dataclass(frozen=True, eq=False)
class _SteadySearch:
    """The search of :func:`find_steady`; `volts` is 1 pu of each channel."""

    series: SteadySeries
    thresholds: Thresholds
    windows: ExcludedSteadyWindows
    volts: FloatArray
    min_windows: int

    def find(self) -> list[ChannelEvent]:
        """Find the disturbances of all quantities."""
        live = self.series.fundamental > _LIVE * np.maximum(self.volts[:, None], self.series.rms)
        found: list[ChannelEvent] = []
        for quantity in self._list_quantities():
            above = np.nan_to_num(np.abs(quantity.values), nan=-1.0) > quantity.limit
            parts: list[ChannelEvent] = []
            for row, inside in enumerate(above):
                members = self.series.groups[row] if quantity.type == "unbalance" else (row,)
                skipped = quantity.skipped | ~live[list(members)].all(axis=0)
                if quantity.type == "harmonics":
                    skipped = skipped | self._without_seen_notch(row, found)
                for first, stop in _find_steady_stretches(inside & ~skipped, skipped, quantity.minimum):
                    used = np.arange(first, stop)[inside[first:stop] & ~skipped[first:stop]]
                    parts += [self._measure(quantity, row, channel, first, stop, used) for channel in members]
            if quantity.type == "flicker":
                parts += self._find_severe_flicker(parts)
            found += parts
        return found

    def _list_quantities(self) -> list[_SteadyQuantity]:
        series = self.series
        levels = self.thresholds
        minimum = self.min_windows
        skipped = self.windows.skipped
        # The median of five windows is blind to a step, which affects two.
        modulation = np.where(skipped, 0.0, np.nan_to_num(series.modulation))
        modulation = np.pad(modulation, ((0, 0), (2, 2)), mode="edge")
        middle = np.median([modulation[:, k : k + series.n_windows] for k in range(5)], axis=0)
        floor = _NOISE * np.sqrt(2) * np.nan_to_num(series.noise) / np.sqrt(series.samples_per_cycle)
        # Where few samples meet the edges of a notch, the RMS beats with them.
        floor = np.maximum(floor, _BEAT * np.nan_to_num(series.notch_depth))
        flicker = np.where(middle > floor, middle, 0.0)
        offset = series.dc / (np.sqrt(2) * self.volts[:, None])
        # White noise in the three lines of each order is no distortion.
        lines = 3 * series.harmonics.shape[2]
        length = series.sampling_rate * np.diff(series.edges)
        distortion = np.sqrt(np.maximum(series.thd_without_notches**2 - lines * 2 / length * series.noise**2, 0.0))
        thd: FloatArray | float = levels.thd
        dc: FloatArray | float = levels.dc
        if minimum == 1:  # in a single window at least what white noise of that size could look like
            noise = np.nan_to_num(series.noise)
            thd = np.maximum(thd, np.sqrt(_CERTAIN * _SPREAD * np.sqrt(lines) * 2 / length) * noise)
            dc = np.maximum(dc, _CERTAIN * noise * series.fundamental / (np.sqrt(2 * length) * self.volts[:, None]))
        return [
            _SteadyQuantity("DC offset", offset, dc, minimum, skipped),
            _SteadyQuantity("notching", series.notch_depth, levels.notch, minimum, skipped),
            _SteadyQuantity("harmonics", distortion, thd, minimum, skipped),
            _SteadyQuantity("flicker", flicker, levels.flicker, MIN_FLICKER_WINDOWS, self.windows.skipped_for_flicker),
            _SteadyQuantity("unbalance", series.unbalance, levels.unbalance, minimum, skipped),
        ]

    def _without_seen_notch(self, channel: int, parts: Sequence[ChannelEvent]) -> BoolArray:
        """Windows amid notching in which no notch was seen: what is in them may be its harmonics."""
        series = self.series
        system = series.systems[channel]
        inside = np.zeros(series.n_windows, dtype=bool)
        for group in group_overlapping(part for part in parts if part.type == "notching" and part.system == system):
            start, end = min(part.start for part in group), max(part.end for part in group)
            inside |= (series.edges[1:] > start) & (series.edges[:-1] < end)
        inside[series.notches[channel] > 0] = False
        return inside

    def _find_severe_flicker(self, flicker: Sequence[ChannelEvent]) -> list[ChannelEvent]:
        """Find ten minutes of severe flicker with repeated changes, where nothing else in them explains it."""
        series = self.series
        intervals = series.intervals
        severe: list[ChannelEvent] = []
        for channel, interval in zip(*np.nonzero(np.nan_to_num(series.severity) > self.thresholds.pst), strict=True):
            places = np.flatnonzero(intervals == interval)
            first, stop = int(places[0]), int(places[-1]) + 1
            start, end = series.edges[first], series.edges[stop]
            number = series.numbers[channel]
            is_known = any(
                part.number == number and part.start < end and part.end > start for part in (*flicker, *severe)
            )
            changes = np.nan_to_num(series.modulation[channel, places]) > self.thresholds.flicker
            is_repeated = int(np.sum(np.diff(changes, prepend=False) & changes)) >= _MIN_CHANGES
            if is_repeated and not is_known and not self.windows.skipped[places].any():
                depth = _greatest_steady_value(series.modulation[channel, places])
                details = {
                    "pst": float(series.severity[channel, interval]),
                    "depth": depth,
                    "frequency": float("nan"),
                    "pinst": _greatest_steady_value(series.sensation[channel, places]),
                }
                severe.append(series.part(int(channel), first, stop, "flicker", 100 * depth, details))
        return severe

    def _measure(
        self, quantity: _SteadyQuantity, row: int, channel: int, first: int, stop: int, used: IntArray
    ) -> ChannelEvent:
        """Measure the windows from `first` to before `stop`, of which those `used` are above the threshold."""
        series = self.series
        magnitude = 100 * float(np.median(quantity.values[row, used]))
        details: dict[str, float] = {}
        if quantity.type == "harmonics":
            orders = np.nanmedian(series.harmonics[channel, used], axis=0)
            details = {"thd": magnitude / 100, "order": float(np.argmax(orders) + 2)}
            details["order_fraction"] = float(orders.max())
        elif quantity.type == "notching":
            details = {"per_cycle": float(np.median(series.notches[channel, used])), "depth": magnitude / 100}
        elif quantity.type == "flicker":
            per_window = 2 * series.cycles
            frequency = series.cycles * (stop - first) / float(series.edges[stop] - series.edges[first])
            piece = series.urms[channel, first * per_window : stop * per_window]
            rate, depth = strongest_modulation(piece, 2 * frequency, frequency)
            magnitude = 100 * depth
            details = {
                "frequency": rate,
                "depth": depth,
                "pinst": _greatest_steady_value(series.sensation[channel, used]),
            }
        elif quantity.type == "unbalance":
            details = {"zero_sequence": float(np.median(series.zero_sequence[row, used]))}
        return series.part(channel, first, stop, quantity.type, magnitude, details)


def _steady_reference_volts(series: SteadySeries, given: Sequence[float] | None) -> FloatArray:
    """What 1 pu is on each channel [V]; never 0."""
    if given is not None:
        if len(given) != len(series.channels):
            raise PqswarmError(f"references must have a voltage for each of {len(series.channels)} channels.")
        volts = np.array(given, dtype=np.float64)
    else:
        volts = np.array([median_of_known_urms(row) for row in series.fundamental])
    return np.where(volts > 0, volts, np.inf)


def _find_steady_stretches(above: BoolArray, skipped: BoolArray, minimum: int) -> list[tuple[int, int]]:
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
    return [(int(places[a]), int(places[b - 1]) + 1) for a, b in pairwise(cuts) if b - a >= minimum]


def _greatest_steady_value(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else float("nan")
