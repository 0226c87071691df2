"""One pass through a recording, page by page: Urms(1/2), transients and steady quantities of its supply voltages."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.pages import Page, read_channels, turn_pages
from pqswarm.measure.detect.spans import find_spans, locate
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
    of `missing` samples, the RMS of its `noise` [pu of the peak] or NaN, and quantities of each 10 or 12 cycles.
    """

    time: FloatArray
    urms: FloatArray
    transients: tuple[tuple[ChannelEvent, ...], ...]
    missing: FloatArray
    noise: FloatArray
    steady: SteadySeries


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
    missing = np.zeros(len(supply.numbers))
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
        whole = page.samples.shape[1] == source.n_samples
        own = supply.frequency if whole else _page_frequency(page, source.sampling_rate, supply.frequency)
        inside = _windows_inside(centres, cycle, page, source.n_samples)
        kept = (centres[inside] >= page.first - 0.5) & (centres[inside] < page.stop - 0.5)
        for i, samples in enumerate(page.samples):
            found = _scan_channel(
                samples, page, centres[inside], cycle, own, source.sampling_rate, supply, i, thresholds, heard[i]
            )
            urms[i, inside.start : inside.stop][kept] = found[0][kept]
            last = transients[i][-1].start if transients[i] else -np.inf
            transients[i] += [one for one in found[1] if one.start - last >= _TOGETHER]
            missing[i] += np.count_nonzero(~np.isfinite(page.core[i])) / max(source.n_samples, 1)
        meter.feed(page.core)
        if progress is not None:
            progress(page.stop, source.n_samples)
    noise = np.array([np.median(one) if one else np.nan for one in heard])
    return Scan(centres / source.sampling_rate, urms, tuple(map(tuple, transients)), missing, noise, meter.finish())


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


def _page_frequency(page: Page, sampling_rate: float, frequency: float) -> float:
    """Frequency of a page [Hz], from some seconds in its middle: in a long recording it drifts."""
    half = page.samples.shape[1] // 2
    reach = min(round(_LOOK * sampling_rate), half)
    known = [part for part in page.samples[:, half - reach : half + reach] if np.isfinite(part).all()]
    strongest = max(known, key=np.std, default=None)
    found = None if strongest is None else measure_frequency([strongest], sampling_rate, frequency)
    return found if found is not None and abs(found / frequency - 1) < 0.02 else frequency


def _windows_inside(centres: FloatArray, cycle: float, page: Page, n_samples: int) -> slice:
    """Windows of Urms(1/2) that a page holds with its margins."""
    low = -np.inf if page.start == 0 else page.start + cycle / 2 + 1
    end = page.start + page.samples.shape[1]
    high = np.inf if end == n_samples else end - cycle / 2 - 1
    return slice(int(np.searchsorted(centres, low)), int(np.searchsorted(centres, high)))


def _scan_channel(
    samples: FloatArray,
    page: Page,
    centres: FloatArray,
    cycle: float,
    frequency: float,
    sampling_rate: float,
    supply: Supply,
    i: int,
    thresholds: Thresholds,
    heard: list[float],
) -> tuple[FloatArray, list[ChannelEvent]]:
    """Urms(1/2) [V] at `centres`, and the transients of the page itself, of one channel; its noise is `heard`."""
    filled, missing = fill_gaps(samples, cycle)
    mean_square = MeanSquare(samples, cycle)
    urms: FloatArray = np.sqrt(mean_square.at(centres - page.start, cycle))
    reference = supply.references[i].volts
    if not reference > 0 or not urms.size:
        return urms, []
    # Edges of events in this page and its margins: a step is not a transient.
    time = (centres - page.start) / sampling_rate
    spans = find_spans(urms / reference, urms / reference, thresholds)
    edges = locate(spans, time, mean_square, sampling_rate, supply.frequency)
    # Not those of a short swell: a strong transient makes one itself.
    steady = [
        edge
        for span, edge in zip(spans, edges, strict=True)
        if span.type != "swell" or edge[1] - edge[0] > _CROWDED / frequency
    ]
    marks = {0.0, samples.size / sampling_rate, *(moment for edge in steady for moment in edge)}
    close = [(low, high) for low, high in pairwise(sorted(marks)) if high - low < _CROWDED / frequency]
    wave = filled / (reference * np.sqrt(2))
    steps = [moment for edge in edges for moment in edge]
    cycle = sampling_rate / frequency
    stretches = [(0, wave.size)] if wave.size < _CLOSE * cycle else find_suspects(wave, cycle, thresholds.transient)
    found: list[ChannelEvent] = []
    for first, stop in stretches:
        begin = first / sampling_rate
        some = find_transients(
            wave[first:stop],
            sampling_rate,
            frequency,
            threshold=thresholds.transient,
            noise_factor=thresholds.transient_noise_factor,
            steps=[moment - begin for moment in steps if first < moment * sampling_rate < stop],
            crowded=[(low - begin, high - begin) for low, high in close] if steady else [],
            unsure=missing[first:stop],
            make=supply.part_on(i),
            heard=heard,
        )
        found += [_shift(one, begin) for one in some]
    moved = [_shift(one, page.start / sampling_rate) for one in found]
    return urms, [one for one in moved if page.first <= round(one.start * sampling_rate) < page.stop]


def _shift(part: ChannelEvent, seconds: float) -> ChannelEvent:
    return replace(part, start=part.start + seconds, end=part.end + seconds)
