"""One pass through a recording, page by page: Urms(1/2), transients and steady quantities of its supply voltages."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.frequency import trace_frequency, window_lengths
from pqswarm.measure.detect.pages import Page, read_channels, turn_pages
from pqswarm.measure.detect.spans import find_spans, locate_spans
from pqswarm.measure.detect.transients import find_suspects, find_transients
from pqswarm.measure.detect.urms import MeanSquare, fill_gaps, window_centres
from pqswarm.measure.event import ChannelEvent
from pqswarm.measure.steady import SteadyMeter, SteadySeries
from pqswarm.measure.supply.survey import Supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.frequency import measure_frequency
from pqswarm.recordings.recording import RecordingSource

_CROWDED = 2.1  # tuned
"""Cycles between two steps below which transients cannot be detected."""
_MARGIN = 60.0
"""Cycles of a margin."""
_CLOSE = 500.0
"""A recording of fewer cycles is examined closely everywhere."""
_LOOK = 1.0
"""Half the length in which the frequency of a page is measured [s]."""
_TOGETHER = 0.002  # tuned
"""Transients of one channel that start within this time are one [s]."""


@dataclass(frozen=True, eq=False)
class Scan:
    """Result of one pass through a recording.

    Urms(1/2) [V] (n_channels, n_windows) at `time` [s], the transients of each channel in order of onset, its fraction
    of `missing` samples and the first of them [s] or NaN, the RMS of its `noise` [pu of the peak] or NaN, quantities of
    each 10 or 12 cycles, and the `frequency` [Hz] at `time`, NaN where it is unknown.
    """

    time: FloatArray
    urms: FloatArray
    transients: tuple[tuple[ChannelEvent, ...], ...]
    missing: FloatArray
    first_missing: FloatArray
    noise: FloatArray
    steady: SteadySeries
    frequency: FloatArray


def scan_pages(
    source: RecordingSource,
    supply: Supply,
    thresholds: Thresholds,
    block: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Scan:
    """Scan the supply voltages of a recording once; `progress` is called with the samples done and their total."""
    cycle = source.sampling_rate / supply.frequency
    centres = window_centres(source.n_samples, cycle)
    urms = np.full((len(supply.numbers), centres.size), np.nan)
    transients: list[list[ChannelEvent]] = [[] for _ in supply.numbers]
    frequency = np.full(centres.size, np.nan)
    missing = np.zeros(len(supply.numbers))
    first_missing = np.full(len(supply.numbers), np.nan)
    heard: list[list[float]] = [[] for _ in supply.numbers]
    meter = SteadyMeter(
        source.sampling_rate,
        supply.nominal_frequency,
        supply.frequency,
        supply.headers,
        systems=[supply.system_of(i) for i in range(len(supply.headers))],
        numbers=supply.numbers,
        min_notch=thresholds.notch,
    )
    for page in turn_pages(source, supply.numbers, ceil(_MARGIN * cycle), block):
        inside = _urms_windows_of_page(centres, cycle, page, source.n_samples)
        scanner = _PageScanner(source, supply, thresholds, page, centres[inside])
        kept = (scanner.centres >= page.first - 0.5) & (scanner.centres < page.stop - 0.5)
        frequency[inside.start : inside.stop][kept] = scanner.trace[kept]
        for i in range(len(supply.numbers)):
            values, sharp = scanner.scan(i, heard[i])
            urms[i, inside.start : inside.stop][kept] = values[kept]
            last = transients[i][-1].start if transients[i] else -np.inf
            transients[i] += [one for one in sharp if one.start - last >= _TOGETHER]
            gaps = np.flatnonzero(~np.isfinite(page.core[i]))
            missing[i] += gaps.size / max(source.n_samples, 1)
            if gaps.size:
                first_missing[i] = np.fmin(first_missing[i], (page.first + gaps[0]) / source.sampling_rate)
        meter.feed(page.core)
        if progress is not None:
            progress(page.stop, source.n_samples)
    noise = np.array([np.median(values) if values else np.nan for values in heard])
    return Scan(
        time=centres / source.sampling_rate,
        urms=urms,
        transients=tuple(map(tuple, transients)),
        missing=missing,
        first_missing=first_missing,
        noise=noise,
        steady=meter.finish(),
        frequency=frequency,
    )


class SourceMeanSquare:
    """Mean square of a channel of a recording that stays in its file: as :class:`MeanSquare`, a stretch at a time."""

    def __init__(self, source: RecordingSource, number: int, cycle: float) -> None:
        self.size = source.n_samples
        self._source = source
        self._number = number
        self._cycle = cycle

    def at(self, centres: FloatArray, width: float) -> FloatArray:
        """Mean square over windows of `width` samples about `centres` [samples]; NaN if too much is missing."""
        reach = ceil(width + self._cycle)
        begin = max(int(centres.min()) - reach, 0)
        end = min(int(centres.max()) + reach + 1, self.size)
        (samples,) = read_channels(self._source, [self._number], begin, end)
        return MeanSquare(samples, self._cycle).at(centres - begin, width)


def _urms_windows_of_page(centres: FloatArray, cycle: float, page: Page, n_samples: int) -> slice:
    """Windows of Urms(1/2) that a page holds with its margins."""
    low = -np.inf if page.start == 0 else page.start + cycle / 2 + 1
    end = page.start + page.samples.shape[1]
    high = np.inf if end == n_samples else end - cycle / 2 - 1
    return slice(int(np.searchsorted(centres, low)), int(np.searchsorted(centres, high)))


@dataclass(frozen=True, eq=False)
class _PageScanner:
    """Scans the channels of a page with its margins; `centres` are those of the windows of Urms(1/2) that it holds."""

    source: RecordingSource
    supply: Supply
    thresholds: Thresholds
    page: Page
    centres: FloatArray

    @cached_property
    def frequency(self) -> float:
        """Frequency of the page [Hz], from some seconds in its middle: in a long recording it drifts."""
        rate = self.source.sampling_rate
        usual = self.supply.frequency
        samples = self.page.samples
        if samples.shape[1] == self.source.n_samples:
            return usual
        half = samples.shape[1] // 2
        reach = min(round(_LOOK * rate), half)
        known = [row for row in samples[:, half - reach : half + reach] if np.isfinite(row).all()]
        strongest = max(known, key=np.std, default=None)
        measured = None if strongest is None else measure_frequency([strongest], rate, usual)
        return measured if measured is not None and abs(measured / usual - 1) < 0.02 else usual

    @cached_property
    def trace(self) -> FloatArray:
        """Frequency at the centers of the windows [Hz], of the system with the most voltages; NaN where unknown."""
        systems = [name for name, one in zip(self.supply.systems, self.supply.references, strict=True) if one.volts > 0]
        if not systems or not self.centres.size:
            return np.full(self.centres.size, np.nan)
        system = max(dict.fromkeys(systems), key=systems.count)
        members = [i for i, name in enumerate(self.supply.systems) if name == system]
        phases = [self.supply.headers[i].phase for i in members]
        cycle = self.source.sampling_rate / self.supply.frequency
        samples = self.page.samples[members]
        return self.supply.frequency * trace_frequency(samples, phases, self.centres - self.page.start, cycle)

    @cached_property
    def widths(self) -> FloatArray:
        """Lengths of the windows [samples]: a cycle of the mean frequency, or of that at the time if it is far off."""
        cycle = self.source.sampling_rate / self.supply.frequency
        return window_lengths(self.trace / self.supply.frequency, cycle)

    def scan(self, i: int, heard: list[float]) -> tuple[FloatArray, list[ChannelEvent]]:
        """Urms(1/2) [V], and the transients of the page itself, of channel `i`; its noise is added to `heard`."""
        samples = self.page.samples[i]
        cycle = self.source.sampling_rate / self.supply.frequency
        mean_square = MeanSquare(samples, cycle)
        urms: FloatArray = np.sqrt(mean_square.at(self.centres - self.page.start, self.widths))
        reference = self.supply.references[i].volts
        if not reference > 0 or not urms.size:
            return urms, []
        filled, missing = fill_gaps(samples, cycle)
        wave = filled / (reference * np.sqrt(2))
        steps, crowded = self._list_steps(urms / reference, mean_square)
        transients: list[ChannelEvent] = []
        for first, stop in self._list_stretches(wave):
            begin = first / self.source.sampling_rate
            sharp = find_transients(
                wave[first:stop],
                self.source.sampling_rate,
                self.frequency,
                threshold=self.thresholds.transient,
                noise_factor=self.thresholds.transient_noise_factor,
                steps=[step - begin for step in steps if first < step * self.source.sampling_rate < stop],
                crowded=[(low - begin, high - begin) for low, high in crowded],
                unsure=missing[first:stop],
                make=self.supply.part_on(i),
                heard=heard,
            )
            transients += [_shift_to_page(one, begin) for one in sharp]
        moved = [_shift_to_page(part, self.page.start / self.source.sampling_rate) for part in transients]
        first, stop = self.page.first, self.page.stop  # without those of the margins
        return urms, [part for part in moved if first <= round(part.start * self.source.sampling_rate) < stop]

    def _list_steps(self, urms: FloatArray, mean_square: MeanSquare) -> tuple[list[float], list[tuple[float, float]]]:
        """Edges of events [s] in the page and its margins, by Urms(1/2) [pu]: steps; and stretches crowded by them."""
        rate = self.source.sampling_rate
        spans = find_spans(urms, urms, self.thresholds)
        edges = locate_spans(spans, (self.centres - self.page.start) / rate, mean_square, rate, self.supply.frequency)
        steps = [moment for edge in edges for moment in edge]
        close = _CROWDED / self.frequency
        # Not those of a short swell: a strong transient makes one itself.
        lasting = [
            (start, end)
            for span, (start, end) in zip(spans, edges, strict=True)
            if span.type != "swell" or end - start > close
        ]
        if not lasting:
            return steps, []
        marks = {0.0, mean_square.size / rate, *(moment for edge in lasting for moment in edge)}
        return steps, [(low, high) for low, high in pairwise(sorted(marks)) if high - low < close]

    def _list_stretches(self, wave: FloatArray) -> list[tuple[int, int]]:
        """Stretches [samples] that are examined closely: all of a short recording."""
        cycle = self.source.sampling_rate / self.frequency
        is_short = wave.size < _CLOSE * cycle
        return [(0, wave.size)] if is_short else find_suspects(wave, cycle, self.thresholds.transient)


def _shift_to_page(part: ChannelEvent, seconds: float) -> ChannelEvent:
    return replace(part, start=part.start + seconds, end=part.end + seconds)
