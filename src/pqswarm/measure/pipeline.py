"""From a recording to its events, by IEC 61000-4-30 and in the words of IEEE 1159."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.measure.caveats import list_caveats
from pqswarm.measure.characterization import ChannelResult, Characterization, MeasuredSeries
from pqswarm.measure.detect.rms_events import RmsEventFinder, find_voltage_changes
from pqswarm.measure.detect.scan import Scan, scan_pages
from pqswarm.measure.detect.spans import Span, find_spans
from pqswarm.measure.group.event_list import EventList
from pqswarm.measure.incidents.find import IncidentFinder
from pqswarm.measure.steady.disturbances import SteadyFinder
from pqswarm.measure.steady.flicker import drop_flicker_spans
from pqswarm.measure.supply.channels import mark_dead_parts
from pqswarm.measure.supply.recorder import blank_fraction, check_recorder
from pqswarm.measure.supply.survey import Supply, survey_supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource

if TYPE_CHECKING:
    from pqswarm.measure.event import ChannelEvent

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
    with one_blas_thread():  # of small matrices; and no result depends on the number of threads
        recording, faults = check_recorder(recording)
        supply = survey_supply(recording, reference, nominal_voltage, channels)
        scan = scan_pages(recording, supply, levels, block, progress)
        states = mark_dead_parts(supply.states, supply.numbers, scan.urms, supply.frequency)
        urms, spans = _spans_to_characterize(supply, scan, levels)
        finder = RmsEventFinder(recording, supply, scan, levels)
        steady_finder = SteadyFinder(recording, supply, scan, levels, urms, spans)
        transients: list[ChannelEvent] = []
        sags: list[ChannelEvent] = []
        changes: list[ChannelEvent] = []
        results = []
        for i, channel_spans in enumerate(spans):
            sharp = [one for one in scan.transients[i] if not steady_finder.is_notch(one)]
            transients += sharp
            sags += [one for one in finder.find(i, channel_spans) if not finder.is_by_transient(one, i, sharp)]
            if supply.references[i].volts > 0:
                changes += find_voltage_changes(
                    urms[i], scan.time, channel_spans, supply.frequency, levels.voltage_change, supply.part_on(i)
                )
            header = supply.headers[i]
            results.append(
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
            )
        listed = EventList(recording, supply, scan, urms, levels)
        large, sharp_events = listed.moving(sags, transients)
        off_frequency, off_throughout = listed.frequency()
        steady = listed.steady(steady_finder.find([*large, *sharp_events]), off_frequency)
        quiet = listed.changes(changes, large, steady)
        events = listed.finish([*large, *sharp_events, *off_frequency, *steady, *quiet])
        said = [fault.sentence for fault in faults]
        said += [off_throughout, *list_caveats(recording, supply, states, scan, blank_fraction(recording, faults))]
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
            incidents=IncidentFinder(recording, supply, scan.time, urms, levels, events).find(),
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
