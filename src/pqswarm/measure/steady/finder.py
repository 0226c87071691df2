"""Steady disturbances in a recording of any length.

Windows of 10 or 12 cycles decide. A capture with an event in its middle has less than three undisturbed windows: there
the same quantities are measured in one window of the steadiest cycles outside the event, with the same thresholds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.scan import Scan
from pqswarm.measure.detect.spans import Span
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.measure.event import ChannelEvent, Event
from pqswarm.measure.steady.flicker import find_flicker, longest_quiet_stretch_for_flicker
from pqswarm.measure.steady.harmonics import steadiest_cycles_for_harmonics
from pqswarm.measure.steady.notching import measure_notches
from pqswarm.measure.steady.parts import MIN_FLICKER_WINDOWS, MIN_WINDOWS, Windows, find_steady
from pqswarm.measure.steady.series import SteadySeries, build_series
from pqswarm.measure.steady.windows import WindowValues, highest_order, measure_windows
from pqswarm.measure.supply.survey import Supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource

_MIN_CYCLES = 3
"""Cycles of the shortest window of one channel; for unbalance, half of a window. In fewer, lines between the harmonics
are not resolved."""
_MIN_LIVE = 0.3  # tuned
"""Of the record: what was seen in less of it is not assumed to last."""
_BESIDE = 2
"""Values of Urms(1/2) beside an event that overlap it."""
_NOTCH_FACTOR = 3.0  # tuned
"""A deviation below this many times the depth of the notches is a notch itself."""


@dataclass(frozen=True, eq=False)
class SteadyFinder:
    """Finds harmonics, DC offset, notching, flicker and unbalance, given Urms(1/2) [pu] and spans of each channel."""

    recording: RecordingSource
    supply: Supply
    scan: Scan
    thresholds: Thresholds
    urms: FloatArray
    spans: Sequence[Sequence[Span]]

    def is_notch(self, transient: ChannelEvent) -> bool:
        """Whether a transient is a notch that is not quite like the others: those of the windows around it."""
        series, i = self.scan.steady, self.supply.numbers.index(transient.number)
        at = int(np.searchsorted(series.edges, transient.start)) - 1
        around = slice(max(at - 1, 0), at + 2)
        # In a window with the edge of a sag, the edge looks like a notch.
        seen = (series.notches[i, around] > 0) & ~self._in_spans[around]
        depths = [series.notch_depth[i, around][seen]]
        own = [one for one in self._captures if one.numbers == (transient.number,)]
        depths += [one.notch_depth[0, one.notches[0] > 0] for one in own]
        return transient.magnitude < _NOTCH_FACTOR * float(np.concatenate(depths).max(initial=0.0))

    def find(self, events: Sequence[Event]) -> list[ChannelEvent]:
        """Find the steady disturbances outside the events."""
        series, references = self.scan.steady, [reference.volts for reference in self.supply.references]
        windows = Windows(series, [(event.start, event.end) for event in events])
        found = find_steady(series, self.thresholds, quiet=windows.skipped, references=references)
        if np.sum(~windows.skipped) < MIN_WINDOWS:
            found = [part for part in found if part.type == "flicker"] + self._find_in_captures()
        if np.sum(~windows.skipped_for_flicker) < MIN_FLICKER_WINDOWS:
            found = [part for part in found if part.type != "flicker"] + self._find_short_flicker()
        return found

    def _find_in_captures(self) -> list[ChannelEvent]:
        """Find the steady disturbances in one window of each channel and system; assumed to last the record."""
        length = self.recording.n_samples / self.recording.sampling_rate
        found = []
        for series in self._captures:
            references = [self.supply.references[self.supply.numbers.index(number)].volts for number in series.numbers]
            parts = find_steady(series, self.thresholds, references=references, min_windows=1)
            is_system = len(series.channels) > 1
            found += [
                replace(part, start=0.0, end=length, duration=length)
                for part in parts
                if (part.type == "unbalance") == is_system
            ]
        return found

    def _find_short_flicker(self) -> list[ChannelEvent]:
        """Find a sinusoidal modulation in the longest stretch without an event."""
        length = self.recording.n_samples / self.recording.sampling_rate
        found = []
        for i, (urms, spans) in enumerate(zip(self.urms, self.spans, strict=True)):
            if not self.supply.references[i].volts > 0:
                continue
            flicker = find_flicker(
                longest_quiet_stretch_for_flicker(urms, spans), self.supply.frequency, minimum=self.thresholds.flicker
            )
            if flicker is None:
                continue
            rate, depth = flicker
            sensation = self.scan.steady.sensation[i]
            pinst = float(np.nanmax(sensation)) if np.isfinite(sensation).any() else float("nan")
            found.append(
                self.supply.part_on(i)(
                    type="flicker",
                    category="flicker",
                    magnitude=100 * depth,
                    start=0.0,
                    end=length,
                    duration=length,
                    cut_start=True,
                    cut_end=True,
                    details={"frequency": rate, "depth": depth, "pinst": pinst},
                )
            )
        return found

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
        if np.sum(~Windows(self.scan.steady, busy).skipped) >= MIN_WINDOWS or not self.scan.time.size:
            return []
        lasts = np.mean(self.urms > self.thresholds.interruption, axis=1) > _MIN_LIVE
        live = [i for i, reference in enumerate(self.supply.references) if reference.volts > 0 and lasts[i]]
        half = self.scan.steady.cycles // 2
        found = [self._capture([i], _MIN_CYCLES) for i in live]
        for system in dict.fromkeys(self.supply.systems):
            members = [i for i in live if self.supply.systems[i] == system]
            if len(members) > 1:
                found.append(self._capture(members, half))
        return [series for series in found if series is not None]

    def _capture(self, members: Sequence[int], minimum: int) -> SteadySeries | None:
        """The steadiest cycles of some channels as a series of one window; None if there are fewer than `minimum`."""
        frequency, rate = self.supply.frequency, self.recording.sampling_rate
        calm = self._calm(members)
        first, cycles = steadiest_cycles_for_harmonics(
            np.where(calm, self.urms[list(members)], np.nan), self.scan.steady.cycles
        )
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
        good = np.ones((len(members), 1), dtype=np.bool_)
        notch = self.thresholds.notch
        values = measure_windows(samples, good, length, cycles, rate, frequency, orders, notch)
        values = _steady_without_transients(values, samples, cycles, notch)
        return build_series(
            [self.supply.headers[i] for i in members],
            [self.supply.system_of(i) for i in members],
            numbers,
            rate,
            self.supply.nominal_frequency,
            cycles,
            orders,
            np.array([start, start + length]) / rate,
            [values],
            np.full((len(members), 1), np.nan),
            np.empty((len(members), 0)),
        )

    def _calm(self, members: Sequence[int]) -> BoolArray:
        """Urms(1/2) outside events and their edges; of one channel also inside a sag or swell."""
        calm: BoolArray = np.asarray(np.isfinite(self.urms[list(members)]).all(axis=0))
        time, half = self.scan.time, 0.5 / self.supply.frequency
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


def _steady_without_transients(values: WindowValues, samples: FloatArray, cycles: int, minimum: float) -> WindowValues:
    """The values of one window, with the notches of its median cycle, which has nothing of a transient."""
    n = samples.shape[1] // cycles
    places = (np.arange(cycles)[:, None] + np.arange(n) / n) * (samples.shape[1] / cycles)
    table = np.array([np.interp(places, np.arange(row.size), row) for row in samples])
    lines = np.fft.rfft(np.median(table, axis=1), axis=-1)[:, None]
    size = np.nan_to_num(np.abs(values.phasor))
    depth, count, smooth = measure_notches(lines, n, n, size, values.thd, minimum)
    return replace(values, notch_depth=depth, notches=count, smooth_thd=smooth)
