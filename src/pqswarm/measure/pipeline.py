"""From a recording to what happened in it, by IEC 61000-4-30 and in the words of IEEE 1159."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.measure.caveats import list_caveats
from pqswarm.measure.characterisation import ChannelResult, Characterisation, Series
from pqswarm.measure.detect.rms_events import RmsEventFinder
from pqswarm.measure.detect.scan import Scan, scan_pages
from pqswarm.measure.detect.spans import Span, find_spans
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.measure.detect.voltage_changes import find_voltage_changes
from pqswarm.measure.event import Event, Part
from pqswarm.measure.group.list import EventList
from pqswarm.measure.steady import find_steady
from pqswarm.measure.steady.flicker import drop_modulated, find_flicker, longest_quiet
from pqswarm.measure.steady.harmonics import Spectrum, measure_spectrum
from pqswarm.measure.steady.notches import Notches, find_notches
from pqswarm.measure.supply.survey import Supply, survey
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource

__all__ = ["characterise"]

_REFERENCES = ("auto", "nominal", "pre-event")
_VOLTS = (1e-6, 1e9)
"""What a reference, or a nominal voltage, can be [V]: ratios to it stay finite."""
_FEWEST = 3
"""Cycles of a spectrum beside an event."""


def characterise(
    recording: RecordingSource,
    reference: str | float = "auto",
    *,
    nominal_voltage: float | Mapping[str, float] | None = None,
    channels: Sequence[str] | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    block: int | None = None,
    progress: Callable[[int, int], None] | None = None,
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

    Returns
    -------
    Characterisation
        What was found, with thresholds and references.

    References
    ----------
    IEC 61000-4-30:2015, clause 5.4; IEEE 1159-2019, Table 2.

    Examples
    --------
    >>> from pqswarm.recordings import Channel, Recording
    >>> t = np.arange(6000) / 10_000
    >>> wave = 325 * np.sin(2 * np.pi * 50 * t) * np.where((t > 0.2) & (t <= 0.35), 0.62, 1.0)
    >>> found = characterise(Recording((Channel("U2", "V", "B", wave),), 10_000, 50))
    >>> found.sentences()
    ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',)
    >>> round(found.channels[0].reference), found.channels[0].reference_source
    (230, 'pre-event')
    """
    levels = Thresholds.of(thresholds)
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
    found = [meter.channel(i) for i in range(len(supply.numbers))]
    urms = np.array([one.urms for one in found])
    results = tuple(
        ChannelResult(
            name=header.name,
            phase=header.phase,
            system=system,
            number=number,
            reference=reference.volts,
            reference_source=reference.source,
            spectrum=one.spectrum,
        )
        for header, system, number, reference, one in zip(
            supply.headers, supply.systems, supply.numbers, supply.references, found, strict=True
        )
    )
    listed = EventList(recording, supply, scan, urms, levels)
    large, transients = listed.moving(
        (part for one in found for part in one.levels), (part for one in found for part in one.transients)
    )
    steady = listed.steady(meter.steady(found, [*large, *transients]))
    changes = listed.changes((part for one in found for part in one.changes), large, steady)
    return Characterisation(
        source=recording.source,
        sampling_rate=recording.sampling_rate,
        frequency=supply.frequency,
        nominal_frequency=supply.nominal_frequency,
        n_samples=recording.n_samples,
        thresholds=levels,
        channels=results,
        ignored=supply.ignored,
        events=listed.finish([*large, *transients, *steady, *changes]),
        caveats=list_caveats(recording, supply, scan.missing),
        series=Series(scan.time, urms, scan.steady),
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
class _Findings:
    """Urms(1/2) [pu], spectrum and parts of one channel."""

    urms: FloatArray
    spectrum: Spectrum | None
    levels: list[Part]
    transients: list[Part]
    changes: list[Part]
    flags: list[Part]


@dataclass(frozen=True, eq=False)
class _Meter:
    """Turns what the scan found into parts on each channel."""

    recording: RecordingSource
    supply: Supply
    scan: Scan
    thresholds: Thresholds

    @property
    def _frequency(self) -> float:
        return self.supply.frequency

    @cached_property
    def _finder(self) -> RmsEventFinder:
        return RmsEventFinder(self.recording, self.supply, self.scan, self.thresholds)

    def channel(self, i: int) -> _Findings:
        """Find what happened on one channel."""
        reference = self.supply.references[i].volts
        scale = reference if reference > 0 else 1.0
        urms: FloatArray = self.scan.urms[i] / scale
        if not reference > 0 or not urms.size:
            return _Findings(urms, None, [], [], [], [])
        spans = find_spans(urms, urms, self.thresholds)
        spans = drop_modulated(spans, urms, self._frequency, self.thresholds) if spans else []
        spectrum, notches, flags = self._steady(i, spans, scale)
        transients = [one for one in self.scan.transients[i] if not self._is_notch(one, i, notches)]
        levels = self._finder.find(i, spans)
        levels = [part for part in levels if not self._finder.is_by_transient(part, i, transients)]
        changes = find_voltage_changes(
            urms,
            self.scan.time,
            spans,
            self._frequency,
            self.thresholds.voltage_change,
            self.supply.part_on(i),
        )
        return _Findings(urms, spectrum, levels, transients, changes, flags)

    def steady(self, channels: Sequence[_Findings], events: Sequence[Event]) -> list[Part]:
        """Find what is steady: with start and end in a long recording, of all of a short one."""
        flags = [flag for one in channels for flag in one.flags]
        if not self.scan.is_long:
            return flags
        busy = [(event.start, event.end) for event in events]
        references = [reference.volts for reference in self.supply.references]
        found = find_steady(self.scan.steady, self.thresholds, quiet=busy, references=references)
        if self.scan.is_long_for_flicker:
            return found
        return [part for part in found if part.kind != "flicker"] + flags

    def _steady(
        self, i: int, spans: Sequence[Span], scale: float
    ) -> tuple[Spectrum | None, Notches | None, list[Part]]:
        """Spectrum on the steadiest cycles of the first pages; notches, and what is steady, in a short recording."""
        rate, begin = self.recording.sampling_rate, self._finder.first_pages
        known = self.scan.time < begin.duration - 1 / self._frequency
        known |= begin.n_samples == self.recording.n_samples
        filled, _ = fill_gaps(begin.channels[self.supply.numbers[i]].samples, rate / self._frequency)
        volts, time = self.scan.urms[i][known], self.scan.time[known]
        spectrum = measure_spectrum(filled, rate, self._frequency, volts, time)
        if spectrum is None or self.scan.is_long_for_flicker:
            return spectrum, None, []
        steady = (spectrum.start, spectrum.cycles)
        wave = filled / (scale * np.sqrt(2))
        if self.scan.is_long:
            flags = self._flags(i, self.scan.urms[i] / scale, spans, spectrum, None, scale)
            return spectrum, None, [flag for flag in flags if flag.kind == "flicker"]
        notches = find_notches(wave, rate, self._frequency, *steady, least=self.thresholds.notch)
        if notches is None or not notches.count:
            notches = self._steady_notches(i, spans) or notches
        return spectrum, notches, self._flags(i, self.scan.urms[i] / scale, spans, spectrum, notches, scale)

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

    def _is_notch(self, transient: Part, i: int, notches: Notches | None) -> bool:
        """Whether it is a notch that is not quite like the others; in a long recording, of the windows around it."""
        if notches is not None:
            return notches.explain(transient.magnitude)
        series = self.scan.steady
        at = int(np.searchsorted(series.edges, transient.start)) - 1
        around = slice(max(at - 1, 0), at + 2)
        counts, depths = series.notches[i, around], series.notch_depth[i, around]
        return (
            self.scan.is_long
            and bool((np.nan_to_num(counts) > 0).any())
            and (transient.magnitude < 3 * float(np.nanmax(depths)))
        )

    def _flags(
        self,
        i: int,
        urms: FloatArray,
        spans: Sequence[Span],
        spectrum: Spectrum,
        notches: Notches | None,
        volts: float,
    ) -> list[Part]:
        """Find the steady disturbances of a short recording; `volts` is the reference [V]."""
        found: dict[str, tuple[float, dict[str, float]]] = {}
        # Between the edges of an event, of one or two cycles nothing steady can be said.
        enough = spectrum.cycles >= _FEWEST or not spans
        if enough and spectrum.thd > max(self.thresholds.thd, spectrum.least_thd):
            order = float(np.argmax(spectrum.harmonics)) + 2
            found["harmonics"] = (
                spectrum.thd,
                {
                    "thd": spectrum.thd,
                    "order": order,
                    "order_share": max(spectrum.harmonics),
                },
            )
        offset = spectrum.dc / (np.sqrt(2) * volts)
        if enough and abs(offset) > max(self.thresholds.dc, spectrum.least_dc / (np.sqrt(2) * volts)):
            found["DC offset"] = offset, {}
        if notches is not None and notches.count:
            found["notching"] = notches.depth, {"per_cycle": float(notches.count), "depth": notches.depth}
        flicker = find_flicker(longest_quiet(urms, spans), self._frequency, least=self.thresholds.flicker)
        if flicker:
            found["flicker"] = flicker[1], {"frequency": flicker[0], "depth": flicker[1]}
        length = self.recording.n_samples / self.recording.sampling_rate
        return [
            self.supply.part_on(i)(
                kind=kind,
                category=kind,
                magnitude=100 * value,
                start=0.0,
                end=length,
                duration=length,
                cut_start=True,
                cut_end=True,
                details=details,
            )
            for kind, (value, details) in found.items()
        ]
