"""Sags, swells and interruptions of a channel: from Urms(1/2) to parts of events."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pqswarm.measure.detect.pages import PAGE, read_channels
from pqswarm.measure.detect.scan import Scan, SourceMeanSquare
from pqswarm.measure.detect.spans import Span, locate, standard_duration
from pqswarm.measure.detect.transients import fundamental_rms
from pqswarm.measure.detect.urms import MeanSquare, fill_gaps
from pqswarm.measure.event import ChannelEvent
from pqswarm.measure.ieee1159 import category
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
        edges = locate(spans, time, self._mean_square(i), self.recording.sampling_rate, frequency)
        make = self.supply.part_on(i)
        parts = []
        for span, (start, end) in zip(spans, edges, strict=True):
            # Beside an interruption, a sag of less than a cycle is only the slope down or up.
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
        if part.type != "swell" or part.magnitude >= self.thresholds.swell + _MAX_BY_TRANSIENT:
            return False
        if part.end - part.start >= 2 * cycle:
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
