"""From a recording to its events, by IEC 61000-4-30 and in the words of IEEE 1159."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from pqswarm._base.text import frequency_text, voltage_text
from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.measure.detect.rms_events import RmsEventFinder, find_voltage_changes
from pqswarm.measure.detect.scan import Scan, scan_pages
from pqswarm.measure.detect.spans import Span, find_spans
from pqswarm.measure.event import Event
from pqswarm.measure.group.event_list import EventList
from pqswarm.measure.incidents.find import IncidentFinder
from pqswarm.measure.incidents.stages import Incident
from pqswarm.measure.steady import SteadySeries
from pqswarm.measure.steady.disturbances import SteadyFinder
from pqswarm.measure.steady.flicker import drop_flicker_spans
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.steady.notching import MIN_SAMPLES
from pqswarm.measure.supply.channels import ChannelState, describe_states, mark_dead_parts
from pqswarm.measure.supply.recorder import RecorderFault, blank_fraction, check_recorder
from pqswarm.measure.supply.survey import Supply, survey_supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource


@dataclass(frozen=True)
class ChannelResult:
    """A supply voltage.

    Attributes
    ----------
    name, phase : str
        Name of the channel, and its phase; the phase is empty if unknown.
    system : str
        Three-phase system of the channel.
    number : int
        Index of the channel in the recording.
    reference : float
        Voltage of 1 pu [V].
    reference_source : str
        Where the reference comes from: ``"pre-event"``, ``"nominal"``, ``"given"``, ...
    spectrum : Spectrum or None
        Harmonics of the steadiest cycles; None if no cycle is live.
    noise : float
        RMS of the noise above four times the fundamental [pu of the peak]; NaN if unknown.
    """

    name: str
    phase: str
    system: str
    number: int
    reference: float
    reference_source: str
    spectrum: Spectrum | None = None
    noise: float = float("nan")


@dataclass(frozen=True, eq=False)
class MeasuredSeries:
    """The measured time series, the large part of a result.

    Attributes
    ----------
    time : ndarray of shape (n_windows,)
        Centres of the windows of Urms(1/2) [s].
    urms : ndarray of shape (n_channels, n_windows)
        Urms(1/2) [pu], in the order of :attr:`Characterization.channels`.
    steady : SteadySeries
        Quantities of each 10 or 12 cycles.
    frequency : ndarray of shape (n_windows,)
        Frequency at :attr:`time` [Hz]; NaN where it is unknown.
    """

    time: FloatArray
    urms: FloatArray
    steady: SteadySeries
    frequency: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays [byte]."""
        arrays = (self.time, self.urms, self.frequency, *vars(self.steady).values())
        return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))


@dataclass(frozen=True, eq=False)
class Characterization:
    """What was found in a recording, with the thresholds and references used.

    Attributes
    ----------
    source : str
        Name of the recording.
    sampling_rate, frequency, nominal_frequency : float
        Samples per second; measured frequency, or the nominal one if it could not be measured; nominal [Hz].
    n_samples : int
        Samples per channel.
    thresholds : Thresholds
        Detection thresholds.
    channels : tuple of ChannelResult
        One per supply voltage.
    states : tuple of ChannelState
        What each voltage of the recording is, and why.
    events : tuple of Event
        In order of time; empty if nothing was found.
    caveats : tuple of str
        Assumptions, and what the recording cannot show; one sentence each.
    incidents : tuple of Incident
        Events that belong together, with their cause; in order of time.
    series : MeasuredSeries or None
        The measured time series; None if they were dropped to save memory.
    no_event_reason : str
        Why there are no events, such as ``"no disturbance found"``; empty if there are any.
    """

    source: str
    sampling_rate: float
    frequency: float
    nominal_frequency: float
    n_samples: int
    thresholds: Thresholds
    channels: tuple[ChannelResult, ...]
    states: tuple[ChannelState, ...]
    events: tuple[Event, ...]
    caveats: tuple[str, ...]
    incidents: tuple[Incident, ...] = ()
    series: MeasuredSeries | None = None
    no_event_reason: str = ""

    def require_series(self) -> MeasuredSeries:
        """Return the time series, or raise :class:`PqswarmError` if they were dropped."""
        if self.series is None:
            raise PqswarmError("the time series of this result were dropped: analyze the recording again.")
        return self.series

    def urms_of(self, channel: ChannelResult) -> FloatArray:
        """Return Urms(1/2) of one of :attr:`channels` [pu], at :attr:`MeasuredSeries.time`."""
        place = next(i for i, one in enumerate(self.channels) if one.number == channel.number)
        return np.asarray(self.require_series().urms[place])

    def sentences(self) -> tuple[str, ...]:
        """Describe each event, in order of time, or say why there is none."""
        return tuple(event.sentence for event in self.events) or (self.no_event_reason,)

    def text(self) -> str:
        """Return sentences, references, thresholds and caveats, one per line."""
        t = self.thresholds
        references = "; ".join(f"{c.name} {voltage_text(c.reference)} ({c.reference_source})" for c in self.channels)
        return "\n".join(
            [
                *self.sentences(),
                f"1 pu: {references}",
                f"frequency {self.frequency:.2f} Hz (nominal {self.nominal_frequency:g} Hz)",
                f"thresholds: sag {t.sag:g}, swell {t.swell:g}, interruption {t.interruption:g}, "
                f"hysteresis {t.hysteresis:g}, transient {t.transient:g} pu; THD {t.thd:g}",
                *self.caveats,
            ]
        )


_REFERENCES = ("auto", "nominal", "pre-event")
_VOLTS = (1e-6, 1e9)
"""Range of a reference or nominal voltage [V]: ratios to it stay finite."""


def characterize(
    recording: RecordingSource,
    reference: str | float = "auto",
    *,
    nominal_voltage: float | Mapping[str, float] | None = None,
    channels: Sequence[str] | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    block: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Characterization:
    """Find and measure the disturbances of a recording.

    Sags, swells, interruptions and rapid voltage changes are found in Urms(1/2), transients by comparison with the
    neighboring cycles, and harmonics, DC offset, notching, flicker and unbalance in windows of 10 or 12 cycles. A long
    recording is measured page by page, in bounded memory.

    Parameters
    ----------
    recording : Recording or RecordingSource
        With at least one voltage.
    reference : {"auto", "nominal", "pre-event"} or float, default="auto"
        Voltage of 1 pu: the nominal voltage; the first steady level of each channel; a voltage [V]; or, by default,
        the nominal voltage if given, else the first steady level unless the record starts inside an event.
    nominal_voltage : float or mapping of str to float, default=None
        RMS, as the channels measure it (phase to neutral, or line to line) [V], for all channels or by their names;
        by default a standard voltage close to the recording's.
    channels : sequence of str, default=None
        Names (or phases) of the channels to analyze; by default all supply voltages except the neutral.
    thresholds : Thresholds or mapping of str to float, default=None
        Detection thresholds.
    block : int, default=None
        Samples per channel that are read at a time; results do not depend on it.
    progress : callable, default=None
        Called with the samples done and their total.

    Returns
    -------
    Characterization
        What was found, with thresholds and references.

    References
    ----------
    IEC 61000-4-30:2015, clause 5.4; IEEE 1159-2019, Table 2.

    Examples
    --------
    >>> from pqswarm.recordings import Channel, Recording
    >>> t = np.arange(6000) / 10_000
    >>> wave = 325 * np.sin(2 * np.pi * 50 * t) * np.where((t > 0.2) & (t <= 0.35), 0.62, 1.0)
    >>> found = characterize(Recording((Channel("U2", "V", "B", wave),), 10_000, 50))
    >>> found.sentences()
    ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',)
    >>> round(found.channels[0].reference), found.channels[0].reference_source
    (230, 'pre-event')
    """
    levels = Thresholds.of(thresholds)
    _check_characterize_reference(reference, nominal_voltage)
    with one_blas_thread:  # of small matrices; and no result depends on the number of threads
        recording, faults = check_recorder(recording)
        supply = survey_supply(recording, reference, nominal_voltage, channels)
        scan = scan_pages(recording, supply, levels, block, progress)
        states = mark_dead_parts(supply.states, supply.numbers, scan.urms, supply.frequency)
        urms, spans = _spans_to_characterize(supply, scan, levels)
        finder = RmsEventFinder(recording, supply, scan, levels)
        steady_finder = SteadyFinder(recording, supply, scan, levels, urms, spans)
        sharp = [[one for one in own if not steady_finder.is_notch(one)] for own in scan.transients]
        sags = [
            part
            for i, own in enumerate(spans)
            for part in finder.find(i, own)
            if not finder.is_by_transient(part, i, sharp[i])
        ]
        changes = [
            part
            for i, own in enumerate(spans)
            if supply.references[i].volts > 0
            for part in find_voltage_changes(
                urms[i], scan.time, own, supply.frequency, levels.voltage_change, supply.part_on(i)
            )
        ]
        results = [
            ChannelResult(
                name=header.name,
                phase=header.phase,
                system=supply.systems[i],
                number=supply.numbers[i],
                reference=supply.references[i].volts,
                reference_source=supply.references[i].source,
                spectrum=finder.spectrum(i),
                noise=float(scan.noise[i]),
            )
            for i, header in enumerate(supply.headers)
        ]
        listed = EventList(recording, supply, scan, urms, levels)
        large, sharp_events = listed.moving(sags, chain.from_iterable(sharp))
        off_frequency, off_throughout = listed.frequency()
        steady = listed.steady(steady_finder.find([*large, *sharp_events]), off_frequency)
        quiet = listed.changes(changes, large, steady)
        events = listed.finish([*large, *sharp_events, *off_frequency, *steady, *quiet])
        said = [fault.sentence for fault in faults if fault.channel in (None, *supply.numbers)]
        said += [
            off_throughout,
            _drift_caveat(supply, scan, events),
            *list_caveats(recording, supply, states, scan, faults),
        ]
        return Characterization(
            source=recording.source,
            sampling_rate=recording.sampling_rate,
            frequency=supply.frequency,
            nominal_frequency=supply.nominal_frequency,
            n_samples=recording.n_samples,
            thresholds=levels,
            channels=tuple(results),
            states=states,
            events=events,
            incidents=IncidentFinder(recording, supply, scan.time, urms, scan.frequency, levels, events).find(),
            caveats=tuple(filter(None, said)),
            series=MeasuredSeries(scan.time, urms, scan.steady, scan.frequency),
            no_event_reason="" if events else listed.no_event_reason(),
        )


def _spans_to_characterize(supply: Supply, scan: Scan, levels: Thresholds) -> tuple[FloatArray, list[list[Span]]]:
    """Urms(1/2) [pu], and the spans of each channel; troughs and crests of flicker are none."""
    volts = np.array([reference.volts if reference.volts > 0 else 1.0 for reference in supply.references])
    urms: FloatArray = scan.urms / volts[:, None]
    spans: list[list[Span]] = []
    for row, reference in zip(urms, supply.references, strict=True):
        beyond = find_spans(row, row, levels) if reference.volts > 0 and row.size else []
        spans.append(drop_flicker_spans(beyond, row, supply.frequency, levels) if beyond else [])
    return urms, spans


def _check_characterize_reference(reference: str | float, nominal_voltage: float | Mapping[str, float] | None) -> None:
    if isinstance(reference, str):
        if reference not in _REFERENCES:
            raise unknown_name("reference", reference, _REFERENCES)
    elif not _VOLTS[0] <= reference <= _VOLTS[1]:
        raise PqswarmError(f"reference must be a voltage above 0 V (1e-6 to 1e9), not {reference!r}.")
    given = nominal_voltage.values() if isinstance(nominal_voltage, Mapping) else (nominal_voltage,)
    for volts in given:
        if volts is not None and not _VOLTS[0] <= volts <= _VOLTS[1]:
            raise PqswarmError(f"nominal_voltage must be above 0 V (1e-6 to 1e9), not {volts!r}.")


_TRANSIENT_CYCLES = 2.2  # tuned
_TRANSIENT_SAMPLES = 32  # tuned
"""Cycles of a capture, and samples per cycle, that the detection of transients needs."""
_DRIFT = 0.02  # tuned
"""Difference between channels of the change of the direct component that is a drift [pu of the peak]; half for one."""
_FLICKER_CYCLES = 7.0
"""Cycles of a capture that the detection of flicker needs: a dozen values of Urms(1/2)."""
_FLICKER_PERIODS = 1.5
"""Periods of a modulation that must be seen."""


def list_caveats(
    recording: RecordingSource,
    supply: Supply,
    states: Sequence[ChannelState],
    scan: Scan,
    faults: Sequence[RecorderFault] = (),
) -> tuple[str, ...]:
    """List assumptions and limits of detection; `faults` are those of the recorder."""
    seconds = recording.n_samples / recording.sampling_rate
    cycle = recording.sampling_rate / supply.nominal_frequency
    sentences = (
        *describe_states(states),
        *supply.caveats,
        _frequency_caveat(recording.nominal_frequency, supply),
        *dict.fromkeys(reference.caveat for reference in supply.references),
        _dead_channel_caveat(supply, seconds * supply.frequency),
        _gap_caveat(recording, supply, scan, faults),
        _flicker_caveat(seconds, seconds * supply.nominal_frequency),
        _transient_caveat(recording.sampling_rate, cycle, seconds * supply.nominal_frequency),
        _harmonic_caveat(cycle),
        _notching_caveat(cycle),
    )
    return tuple(filter(None, sentences))


def _frequency_caveat(given: float, supply: Supply) -> str:
    measured = supply.measured
    nominal = supply.nominal_frequency
    if measured is None:
        return f"The frequency could not be measured: {given:g} Hz was assumed."
    if nominal != given:
        return (
            f"The recording gives {given:g} Hz, but {measured:.2f} Hz was measured: {nominal:g} Hz is used as nominal."
        )
    if abs(measured / nominal - 1) > 0.08:
        return f"The frequency, {measured:.1f} Hz, is far from nominal: a machine off the grid, or a wrong rate."
    return ""


def _dead_channel_caveat(supply: Supply, cycles: float) -> str:
    channels = zip(supply.headers, supply.references, strict=True)
    dead = [header.name for header, reference in channels if reference.volts <= 0]
    if not dead:
        return ""
    if cycles < 1:
        return f"A record of {cycles:.2f} cycles is too short to measure a voltage: no results in per unit."
    where = "any phase" if len(dead) == len(supply.headers) else ", ".join(dead)
    return f"No voltage on {where}: no results in per unit."


def _gap_caveat(recording: RecordingSource, supply: Supply, scan: Scan, faults: Sequence[RecorderFault]) -> str:
    """Say what is missing besides the faults of the recorder; not from when on, if a fault is the first gap."""
    left_out = [[one for one in faults if one.is_blank and one.channel in (None, i)] for i in supply.numbers]
    facts = zip(supply.headers, left_out, scan.missing.tolist(), scan.first_missing.tolist(), strict=True)
    gaps = [
        f"{header.name} ({100 * rest:.1f} %"
        + ("" if any(fault.start <= first < fault.end for fault in own) else f", from {first:.3f} s on")
        + ")"
        for header, own, missing, first in facts
        if (rest := missing - blank_fraction(recording, own)) * recording.n_samples > 0.5
    ]
    return f"Samples are missing on {', '.join(gaps)}." if gaps else ""


def _drift_caveat(supply: Supply, scan: Scan, events: Sequence[Event]) -> str:
    """Name the voltages with a DC offset until the end that changes, and not alike: no network makes it."""
    offset = {part.number for one in events if one.type == "DC offset" and one.cut_end for part in one.parts}
    direct = np.nan_to_num(scan.steady.dc[:, -1:] - scan.steady.dc[:, :1]).sum(axis=1)
    drifts = direct / [2**0.5 * (reference.volts or np.inf) for reference in supply.references]
    names = [
        header.name
        for header, number, drift in zip(supply.headers, supply.numbers, drifts, strict=True)
        if number in offset and abs(drift) > _DRIFT / 2
    ]
    is_drift = names and np.ptp(drifts) > _DRIFT
    return f"The zero of {', '.join(names)} drifts: the DC offset is that of an input." if is_drift else ""


def _flicker_caveat(seconds: float, cycles: float) -> str:
    if cycles < _FLICKER_CYCLES:
        return f"Flicker cannot be detected in {cycles:.1f} cycles, and the frequency is less certain."
    if seconds < _FLICKER_PERIODS:
        return f"Flicker below {_FLICKER_PERIODS / seconds:.1f} Hz cannot be detected in a {seconds:.2g} s record."
    return ""


def _transient_caveat(rate: float, cycle: float, cycles: float) -> str:
    if cycles < _TRANSIENT_CYCLES:
        return "Transients cannot be detected in fewer than 2.2 cycles."
    highest = "" if cycle < _TRANSIENT_SAMPLES else f" above {frequency_text(rate / 2)}"
    return f"Transients{highest} cannot be detected at a sampling rate of {frequency_text(rate)}."


def _harmonic_caveat(cycle: float) -> str:
    orders = min(50, int(0.45 * cycle))
    if orders < 2:
        return f"Harmonics cannot be measured at {cycle:.3g} samples per cycle."
    return f"Harmonics are measured to order {orders}." if orders < 40 else ""


def _notching_caveat(cycle: float) -> str:
    if cycle < MIN_SAMPLES:
        return f"Notching cannot be detected at {cycle:.0f} samples per cycle."
    if cycle < 100:
        return f"At {cycle:.0f} samples per cycle, notches narrower than two samples cannot be detected."
    return ""
