"""From a recording to what happened in it, by IEC 61000-4-30 and in the words of IEEE 1159."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.measure.caveats import list_caveats
from pqswarm.measure.characterisation import ChannelResult, Characterisation, Disturbance, Flag
from pqswarm.measure.detect.pages import PAGE, read_channels
from pqswarm.measure.detect.scan import Scan, SourceMeanSquare, scan_pages
from pqswarm.measure.detect.spans import Span, find_spans, locate
from pqswarm.measure.detect.transients import Transient, fundamental_rms
from pqswarm.measure.detect.urms import MeanSquare, fill_gaps
from pqswarm.measure.group.list import list_events
from pqswarm.measure.ieee1159 import category, join_names
from pqswarm.measure.steady.flicker import drop_modulated, find_flicker, longest_quiet
from pqswarm.measure.steady.harmonics import Spectrum, measure_spectrum
from pqswarm.measure.steady.notches import Notches, find_notches
from pqswarm.measure.supply.survey import Supply, survey
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import Recording, RecordingSource

__all__ = ["characterise"]

_REFERENCES = ("auto", "nominal", "pre-event")
_VOLTS = (1e-6, 1e9)
"""What a reference, or a nominal voltage, can be [V]: ratios to it stay finite."""
_FEWEST = 3
"""Cycles of a spectrum beside an event."""
_BY_TRANSIENT = 0.1
"""Beyond the threshold, to which a transient alone may raise the RMS [pu]."""


def characterise(
    recording: RecordingSource,
    reference: str | float = "auto",
    *,
    nominal_voltage: float | Mapping[str, float] | None = None,
    channels: Sequence[str] | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    block: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **old: float,
) -> Characterisation:
    """Find and measure the disturbances of a recording.

    Sags, swells, interruptions and small voltage changes are found in Urms(1/2), for each channel and for each system
    of channels; transients in what neither the cycle before nor the one after has; harmonics, offset, notches and
    flicker in what is steady. A long recording is measured page by page, in bounded memory.

    Parameters
    ----------
    recording : Recording or RecordingSource
        With at least one voltage.
    reference : {"auto", "nominal", "pre-event"} or float
        What 1 pu is: the nominal voltage; the first steady level of each channel; a voltage [V]; or, by default, the
        nominal voltage if it is given, else the first steady level unless the record begins inside an event.
    nominal_voltage : float or mapping of str to float, optional
        RMS, as the channels measure it (phase to neutral, or line to line) [V], for all channels or by their names;
        by default a standard voltage close to the recording's.
    channels : sequence of str, optional
        Names (or phases) of the channels to look at; by default all voltages of the supply, not the neutral.
    thresholds : Thresholds or mapping of str to float, optional
        Levels beyond which something counts as found.
    block : int, optional
        Samples of each channel that are read at a time; no result depends on it.
    progress : callable, optional
        Called with samples done, and in all.
    **old : float
        Single thresholds, as in earlier versions.

    Returns
    -------
    Characterisation
        What was found, with thresholds and references.

    References
    ----------
    IEC 61000-4-30:2015, clause 5.4; IEEE 1159-2019, Table 2.

    Examples
    --------
    >>> from pqswarm.recordings import Channel
    >>> t = np.arange(6000) / 10_000
    >>> wave = 325 * np.sin(2 * np.pi * 50 * t) * np.where((t > 0.2) & (t <= 0.35), 0.62, 1.0)
    >>> found = characterise(Recording((Channel("U2", "V", "B", wave),), 10_000, 50))
    >>> found.sentences()
    ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',)
    >>> round(found.channels[0].reference), found.channels[0].reference_source
    (230, 'pre-event')
    """
    levels = Thresholds.read(thresholds, old)
    _check_reference(reference, nominal_voltage)
    with one_blas_thread():  # of small matrices; and no result depends on the number of threads
        return _characterise(recording, reference, nominal_voltage, channels, levels, block, progress)


def _characterise(
    recording: RecordingSource,
    reference: str | float,
    nominal_voltage: float | Mapping[str, float] | None,
    channels: Sequence[str] | None,
    levels: Thresholds,
    block: int | None,
    progress: Callable[[int, int], None] | None,
) -> Characterisation:
    supply = survey(recording, reference, nominal_voltage, channels)
    scan = scan_pages(recording, supply, levels, block, progress)
    meter = _Meter(recording, supply, scan, levels)
    results = tuple(meter.channel(i) for i in range(len(supply.numbers)))
    systems = dict.fromkeys(supply.systems)
    polyphase = tuple(e for name in systems for e in meter.polyphase([r for r in results if r.system == name]))
    return Characterisation(
        source=recording.source,
        sampling_rate=recording.sampling_rate,
        frequency=supply.frequency,
        nominal_frequency=supply.nominal_frequency,
        thresholds=levels,
        time=scan.time,
        channels=results,
        polyphase=polyphase,
        caveats=list_caveats(recording, supply, scan.missing),
        events=list_events(recording, supply, scan, results, polyphase, levels),
        steady=scan.steady,
        n_samples=recording.n_samples,
        not_judged=supply.not_judged,
    )


def _check_reference(reference: str | float, nominal_voltage: float | Mapping[str, float] | None) -> None:
    if isinstance(reference, str):
        if reference not in _REFERENCES:
            raise unknown_name("reference", reference, _REFERENCES)
    elif not _VOLTS[0] <= reference <= _VOLTS[1]:
        raise PqswarmError(f"reference must be a voltage above 0 V (1e-6 to 1e9), not {reference!r}.")
    given = nominal_voltage.values() if isinstance(nominal_voltage, Mapping) else (nominal_voltage,)
    for volts in given:
        if volts is not None and not _VOLTS[0] <= volts <= _VOLTS[1]:
            raise PqswarmError(f"nominal_voltage must be above 0 V (1e-6 to 1e9), not {volts!r}.")


@dataclass(frozen=True, eq=False)
class _Meter:
    """Turns what the scan found into results for each channel."""

    recording: RecordingSource
    supply: Supply
    scan: Scan
    thresholds: Thresholds

    @property
    def _frequency(self) -> float:
        return self.supply.frequency

    def channel(self, i: int) -> ChannelResult:
        """Result of one channel."""
        header, reference = self.supply.headers[i], self.supply.references[i]
        scale = reference.volts if reference.volts > 0 else 1.0
        volts = self.scan.urms[i]
        urms: FloatArray = volts / scale
        live = reference.volts > 0 and urms.size > 0
        spans = find_spans(urms, urms, self.thresholds) if live else []
        spans = drop_modulated(spans, urms, self._frequency, self.thresholds) if spans else []
        where = ((header.name,), (header.phase,), self.supply.system_of(i))
        rate = self.recording.sampling_rate
        edges = locate(spans, self.scan.time, self._mean_square(i), rate, self._frequency)
        events = [
            self._event(span, where, *edge)
            for span, edge in zip(spans, edges, strict=True)
            # Beside an interruption, a sag of less than a cycle is only the way down or up.
            if edge[1] - edge[0] >= 1 / self._frequency or not _beside_interruption(span, spans)
        ]
        spectrum, notches, flags = self._steady(i, spans, scale) if live else (None, None, [])
        transients = [one for one in self.scan.transients[i] if live and not self._is_notch(one, i, notches)]
        events = [event for event in events if not self._made_by(transients, event, i)]
        return ChannelResult(
            channel=header,
            number=self.supply.numbers[i],
            system=self.supply.systems[i],
            reference=reference.volts,
            reference_source=reference.source,
            urms=urms,
            spans=tuple(spans),
            events=tuple(events),
            transients=tuple(transients),
            spectrum=spectrum,
            flags=tuple(
                Flag(
                    kind,
                    where[0][0],
                    where[1][0],
                    where[2],
                    value,
                    text,
                    notches.count if notches is not None and kind == "notching" else 0,
                )
                for kind, value, text in flags
            ),
        )

    @cached_property
    def _begin(self) -> Recording:
        """The first pages, or all of a short recording."""
        return self.recording.read(0, min(self.recording.n_samples, 2 * PAGE))

    def _mean_square(self, i: int) -> MeanSquare | SourceMeanSquare:
        cycle, number = self.recording.sampling_rate / self._frequency, self.supply.numbers[i]
        if self.recording.n_samples == self._begin.n_samples:
            return MeanSquare(self._begin.channels[number].samples, cycle)
        return SourceMeanSquare(self.recording, number, cycle)

    def _steady(
        self, i: int, spans: Sequence[Span], scale: float
    ) -> tuple[Spectrum | None, Notches | None, list[tuple[str, float, str]]]:
        """Spectrum on the steadiest cycles of the first pages; notches, and what is steady, in a short recording."""
        rate, begin = self.recording.sampling_rate, self._begin
        known = self.scan.time < begin.duration - 1 / self._frequency
        known |= begin.n_samples == self.recording.n_samples
        filled, _ = fill_gaps(begin.channels[self.supply.numbers[i]].samples, rate / self._frequency)
        volts, time = self.scan.urms[i][known], self.scan.time[known]
        spectrum = measure_spectrum(filled, rate, self._frequency, volts, time)
        if spectrum is None or self.scan.is_long_for_flicker:
            return spectrum, None, []
        header = self.supply.headers[i]
        where = join_names((header.name,), (header.phase,), self.supply.system_of(i))
        steady = (spectrum.start, spectrum.cycles)
        wave = filled / (scale * np.sqrt(2))
        if self.scan.is_long:
            flags = self._flags(where, self.scan.urms[i] / scale, spans, spectrum, None, scale)
            return spectrum, None, [flag for flag in flags if flag[0] == "flicker"]
        notches = find_notches(wave, rate, self._frequency, *steady, least=self.thresholds.notch)
        if notches is None or not notches.count:
            notches = self._steady_notches(i, spans) or notches
        return spectrum, notches, self._flags(where, self.scan.urms[i] / scale, spans, spectrum, notches, scale)

    def _steady_notches(self, i: int, spans: Sequence[Span]) -> Notches | None:
        """Notches that all windows of 10 or 12 cycles have, two at least, outside sags and swells."""
        series, time = self.scan.steady, self.scan.time
        quiet = np.ones(series.n_windows, dtype=np.bool_)
        for span in spans:
            first, last = time[max(span.first - 2, 0)], time[min(span.stop + 2, time.size - 1)]
            quiet &= (series.edges[1:] < first) | (series.edges[:-1] > last)
        counts, depths = series.notches[i][quiet], series.notch_depth[i][quiet]
        having = counts > 0
        if counts.size < 2 or not having.all():
            return None
        return Notches(round(float(np.median(counts[having]))), float(np.median(depths[having])))

    def _is_notch(self, transient: Transient, i: int, notches: Notches | None) -> bool:
        """Whether it is a notch that is not quite like the others; in a long recording, of the windows around it."""
        if notches is not None:
            return notches.explain(transient.peak)
        series = self.scan.steady
        at = int(np.searchsorted(series.edges, transient.onset)) - 1
        around = slice(max(at - 1, 0), at + 2)
        counts, depths = series.notches[i, around], series.notch_depth[i, around]
        return (
            self.scan.is_long
            and bool((np.nan_to_num(counts) > 0).any())
            and (transient.peak < 3 * float(np.nanmax(depths)))
        )

    def _made_by(self, transients: Sequence[Transient], event: Disturbance, i: int) -> bool:
        """Whether an event is a swell only because a transient adds to the RMS: the fundamental is not raised."""
        near = [one for one in transients if event.start - 1 / self._frequency <= one.onset <= event.end]
        slight = event.magnitude < self.thresholds.swell + _BY_TRANSIENT and event.duration < 2 / self._frequency
        if event.kind != "swell" or not slight or not near:
            return False
        rate, time = self.recording.sampling_rate, self.scan.time
        first = max(round((event.urms_start - 1 / self._frequency) * rate), 0)
        stop = min(round((event.urms_end + 1 / self._frequency) * rate), self.recording.n_samples)
        (samples,) = read_channels(self.recording, [self.supply.numbers[i]], first, stop)
        filled, _ = fill_gaps(samples, rate / self._frequency)
        moments = time[(time >= event.urms_start) & (time <= event.urms_end)] - first / rate
        raised = fundamental_rms(filled / self.supply.references[i].volts, rate, self._frequency, moments)
        return not (raised > self.thresholds.swell).any()

    def polyphase(self, members: Sequence[ChannelResult]) -> list[Disturbance]:
        """Find the events of a system of channels."""
        if len(members) < 2 or not self.scan.time.size:
            return []
        table = np.array([member.urms for member in members])
        lowest, highest = np.fmin.reduce(table), np.fmax.reduce(table)
        found = []
        for span in find_spans(lowest, highest, self.thresholds):
            low, high = self.scan.time[span.first], self.scan.time[min(span.stop, self.scan.time.size - 1)]
            inside = [
                (member, event)
                for member in members
                for event in member.events
                if event.urms_start <= high
                and event.urms_end >= low
                and (event.kind == "swell") == (span.kind == "swell")
            ]
            if span.kind == "interruption":
                inside = [pair for pair in inside if pair[1].kind == "interruption"]
            if not inside:
                continue
            taking_part = [member for member in members if any(pair[0] is member for pair in inside)]
            first, last = (max, min) if span.kind == "interruption" else (min, max)
            start = first(event.start for _, event in inside)
            end = last(event.end for _, event in inside)
            where = (
                tuple(member.name for member in taking_part),
                tuple(member.phase for member in taking_part),
                members[0].system if len(set(self.supply.systems)) > 1 else "",
            )
            found.append(self._event(span, where, start, max(end, start)))
        return found

    def _event(
        self, span: Span, where: tuple[tuple[str, ...], tuple[str, ...], str], start: float, end: float
    ) -> Disturbance:
        urms_start = float(self.scan.time[span.first])
        urms_end = float(self.scan.time[min(span.stop, self.scan.time.size - 1)])
        return Disturbance(
            kind=span.kind,
            category=category(span.kind, end - start, self.supply.nominal_frequency),
            channels=where[0],
            phases=where[1],
            system=where[2],
            magnitude=span.magnitude,
            start=start,
            end=end,
            duration=end - start,
            cycles=(end - start) * self.supply.nominal_frequency,
            urms_start=urms_start,
            urms_end=urms_end,
            urms_duration=urms_end - urms_start,
            cut_start=span.open_start,
            cut_end=span.open_end,
            nominal_frequency=self.supply.nominal_frequency,
        )

    def _flags(
        self,
        where: str,
        urms: FloatArray,
        spans: Sequence[Span],
        spectrum: Spectrum,
        notches: Notches | None,
        volts: float,
    ) -> list[tuple[str, float, str]]:
        """Kind, value and sentence of each steady disturbance; `volts` is the reference [V]."""
        flags: list[tuple[str, float, str]] = []
        # Between the edges of an event, of one or two cycles nothing steady can be said.
        enough = spectrum.cycles >= _FEWEST or not spans
        if enough and spectrum.thd > max(self.thresholds.thd, spectrum.least_thd):
            order = int(np.argmax(spectrum.harmonics)) + 2
            text = f"harmonics on {where}, THD {100 * spectrum.thd:.1f} %"
            text += f", most of order {order} ({100 * max(spectrum.harmonics):.1f} %)"
            flags.append(("harmonics", spectrum.thd, text))
        offset = spectrum.dc / (np.sqrt(2) * volts)
        if enough and abs(offset) > max(self.thresholds.dc, spectrum.least_dc / (np.sqrt(2) * volts)):
            flags.append(("DC offset", offset, f"DC offset on {where}, {offset:.3f} pu"))
        if notches is not None and notches.count:
            flags.append(("notching", notches.depth, f"notching on {where}, {notches.count} per cycle"))
        flicker = find_flicker(longest_quiet(urms, spans), self._frequency, least=self.thresholds.flicker)
        if flicker:
            text = f"flicker on {where}, {100 * flicker[1]:.1f} % deep at {flicker[0]:.1f} Hz"
            flags.append(("flicker", flicker[1], text))
        return flags


def _beside_interruption(span: Span, spans: Sequence[Span]) -> bool:
    near = [other for other in spans if other.kind == "interruption" and span.kind == "sag"]
    return any(span.stop == other.first or span.first == other.stop for other in near)
