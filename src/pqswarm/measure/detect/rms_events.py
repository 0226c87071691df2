"""Events of Urms(1/2): sags, swells and interruptions of a channel, and rapid voltage changes.

As in IEC 61000-4-30:2015, 5.11, a rapid voltage change is a step that stays within the sag and swell thresholds. It
starts where Urms(1/2) leaves the mean of the second before it, and ends where it is steady again. Our choices: a
triggered capture may have a shorter past, and noise raises the threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.pages import PAGE, read_channels
from pqswarm.measure.detect.scan import Scan, SourceMeanSquare
from pqswarm.measure.detect.spans import Span, locate_spans, standard_duration, true_stretches
from pqswarm.measure.detect.transients import fundamental_rms
from pqswarm.measure.detect.urms import MeanSquare, fill_gaps
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker, any_channel, category
from pqswarm.measure.steady.harmonics import Spectrum, measure_spectrum
from pqswarm.measure.supply.survey import Supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import Recording, RecordingSource

_MAX_BY_TRANSIENT = 0.1  # tuned
"""A transient alone raises Urms(1/2) by no more than this beyond the threshold [pu]."""


@dataclass(frozen=True, eq=False)
class RmsEventFinder:
    """Turns spans of Urms(1/2) into sags, swells and interruptions with edges on the waveform."""

    recording: RecordingSource
    supply: Supply
    scan: Scan
    thresholds: Thresholds

    @cached_property
    def first_pages(self) -> Recording:
        """The first pages, or all of a short recording."""
        return self.recording.read(0, min(self.recording.n_samples, 2 * PAGE))

    def find(self, i: int, spans: Sequence[Span]) -> list[ChannelEvent]:
        """Find the sags, swells and interruptions of the spans of channel `i`."""
        frequency = self.supply.frequency
        time = self.scan.time
        edges = locate_spans(spans, time, self._mean_square(i), self.recording.sampling_rate, frequency)
        make = self.supply.part_on(i)
        parts = []
        for span, (start, end) in zip(spans, edges, strict=True):
            # Next to an interruption, a sag of less than a cycle is only the slope down or up.
            breaks = [other for other in spans if other.type == "interruption" and span.type == "sag"]
            is_beside = any(span.stop == other.first or span.first == other.stop for other in breaks)
            if end - start < 1 / frequency and is_beside:
                continue
            urms = (float(time[span.first]), float(time[min(span.stop, time.size - 1)]))
            parts.append(
                make(
                    type=span.type,
                    category=category(span.type, end - start, self.supply.nominal_frequency),
                    magnitude=span.magnitude,
                    start=start,
                    end=end,
                    duration=standard_duration(end - start, urms[1] - urms[0], span.open_start or span.open_end),
                    cut_start=span.open_start,
                    cut_end=span.open_end,
                    details={"urms_start": urms[0], "urms_end": urms[1]},
                )
            )
        return parts

    def is_by_transient(self, part: ChannelEvent, i: int, transients: Sequence[ChannelEvent]) -> bool:
        """Whether a swell of channel `i` is only the RMS of a transient: its fundamental is not raised."""
        cycle = 1 / self.supply.frequency
        is_brief = part.type == "swell" and part.end - part.start < 2 * cycle
        if not is_brief or part.magnitude >= self.thresholds.swell + _MAX_BY_TRANSIENT:
            return False
        if not any(part.start - cycle <= one.start <= part.end for one in transients):
            return False
        rate = self.recording.sampling_rate
        time = self.scan.time
        low, high = part.details["urms_start"], part.details["urms_end"]
        first = max(round((low - cycle) * rate), 0)
        stop = min(round((high + cycle) * rate), self.recording.n_samples)
        (samples,) = read_channels(self.recording, [part.number], first, stop)
        filled, _ = fill_gaps(samples, rate * cycle)
        moments = time[(time >= low) & (time <= high)] - first / rate
        raised = fundamental_rms(filled / self.supply.references[i].volts, rate, self.supply.frequency, moments)
        return not bool(np.any(raised > self.thresholds.swell))

    def spectrum(self, i: int) -> Spectrum | None:
        """Spectrum of channel `i` on its steadiest cycles in the first pages; None if no cycle is live."""
        rate = self.recording.sampling_rate
        pages = self.first_pages
        if not self.supply.references[i].volts > 0 or not self.scan.time.size:
            return None
        known = self.scan.time < pages.duration - 1 / self.supply.frequency
        known |= pages.n_samples == self.recording.n_samples
        filled, _ = fill_gaps(pages.channels[self.supply.numbers[i]].samples, rate / self.supply.frequency)
        return measure_spectrum(filled, rate, self.supply.frequency, self.scan.urms[i][known], self.scan.time[known])

    def _mean_square(self, i: int) -> MeanSquare | SourceMeanSquare:
        cycle = self.recording.sampling_rate / self.supply.frequency
        number = self.supply.numbers[i]
        if self.recording.n_samples == self.first_pages.n_samples:
            return MeanSquare(self.first_pages.channels[number].samples, cycle)
        return SourceMeanSquare(self.recording, number, cycle)


_MIN_VALUES = 3  # tuned
"""Values of Urms(1/2) before and after a change, and beyond the threshold."""
_BESIDE = 3  # tuned
"""Values next to a sag or swell that belong to it."""
_NOISE = 5.0  # tuned
"""Times the noise of Urms(1/2) that a change must have."""


def find_voltage_changes(
    urms: FloatArray,
    time: FloatArray,
    spans: Sequence[Span],
    frequency: float,
    threshold: float = 0.02,
    make: ChannelEventMaker = any_channel,
) -> list[ChannelEvent]:
    """Find changes of Urms(1/2) [pu] at `time` [s] outside other events; details are ``before`` and ``after`` [pu]."""
    quiet = np.isfinite(urms)
    for span in spans:
        quiet[max(span.first - _BESIDE, 0) : span.stop + _BESIDE] = False
    window = max(round(2 * frequency), _MIN_VALUES)
    return [
        change
        for first, stop in true_stretches(quiet)
        for change in _voltage_changes_between_events(urms[first:stop], time[first:], window, threshold, make)
    ]


def _voltage_changes_between_events(
    values: FloatArray, time: FloatArray, window: int, threshold: float, make: ChannelEventMaker
) -> list[ChannelEvent]:
    """Changes in a stretch without events; the times [s] go on where an event follows it."""
    if values.size < 2 * _MIN_VALUES + 1:
        return []
    noise = 1.4826 * float(np.median(np.abs(np.diff(values)))) / np.sqrt(2)
    limit = max(threshold * float(np.median(values)), _NOISE * noise)
    total = np.concatenate([[0.0], np.cumsum(values)])
    changes = []
    begin = 0
    while begin + _MIN_VALUES < values.size:
        places = np.arange(begin + _MIN_VALUES, values.size)
        low = np.maximum(places - window, begin)
        mean = (total[places] - total[low]) / (places - low)
        beyond = np.abs(values[places] - mean) > limit
        # Some values together: one or two are the shadow of a transient.
        together = np.convolve(beyond, np.ones(_MIN_VALUES), "valid") >= _MIN_VALUES
        if not together.any():
            break
        at = int(together.argmax())
        first = int(places[at])
        before = float(mean[at])
        stop, after = _find_end_of_change(values, first, window, limit / 2)
        body = values[first : max(stop, first + 1)]
        far = body[np.abs(body - before).argmax()]
        extreme = float(max((far, after), key=lambda level: abs(level - before)))
        if abs(extreme - before) > limit:
            start, end = float(time[first]), float(time[min(stop, time.size - 1)])
            changes.append(
                make(
                    type="rapid voltage change",
                    category="rapid voltage change",
                    magnitude=100 * (extreme - before),
                    start=start,
                    end=end,
                    duration=end - start,
                    cut_end=stop >= time.size,
                    details={"before": before, "after": after},
                )
            )
        begin = max(stop, first + 1)
    return changes


def _find_end_of_change(values: FloatArray, first: int, window: int, limit: float) -> tuple[int, float]:
    """First place from which on the values of a second, or all that are left, are steady; and their mean."""
    for place in range(first, values.size - _MIN_VALUES + 1):
        part = values[place : place + window]
        mean = float(part.mean())
        if np.abs(part - mean).max() <= limit:
            return place, mean
    return values.size, float(values[-_MIN_VALUES:].mean())
