"""From a recording to what happened in it, by IEC 61000-4-30 and in the words of IEEE 1159."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.measure.caveats import list_caveats
from pqswarm.measure.channels import SupplyChannel, select_channels
from pqswarm.measure.characterisation import ChannelResult, Characterisation, Disturbance, Flag
from pqswarm.measure.flicker import drop_modulated, find_flicker, longest_quiet
from pqswarm.measure.harmonics import Spectrum, measure_spectrum
from pqswarm.measure.ieee1159 import category, join_names, oscillation_word
from pqswarm.measure.notches import Notches, find_notches
from pqswarm.measure.reference import Reference, choose_reference
from pqswarm.measure.rms_events import Span, find_spans, locate
from pqswarm.measure.thresholds import Thresholds
from pqswarm.measure.transients import Transient, find_transients, fundamental_rms
from pqswarm.measure.urms import MeanSquare, half_cycle_rms
from pqswarm.recordings.frequency import supply_share
from pqswarm.recordings.recording import Recording

__all__ = ["characterise"]

_REFERENCES = ("auto", "nominal", "pre-event")
_CROWDED = 2.1
"""Cycles between two steps below which transients cannot be detected."""
_BY_TRANSIENT = 0.1
"""Beyond the threshold, to which a transient alone may raise the RMS [pu]."""
_LEAST_SHARE = 0.3
"""Of the fundamental in the mean square of a supply voltage."""


def characterise(
    recording: Recording,
    reference: str | float = "auto",
    *,
    nominal_voltage: float | None = None,
    channels: Sequence[str] | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    **old: float,
) -> Characterisation:
    """Find and measure the disturbances of a recording.

    Sags, swells and interruptions are found in Urms(1/2), for each channel and for each system of channels;
    transients in what neither the cycle before nor the one after has; harmonics, offset, notches and flicker in
    the steady part.

    Parameters
    ----------
    recording : Recording
        With at least one voltage.
    reference : {"auto", "nominal", "pre-event"} or float
        What 1 pu is: the nominal voltage; the first steady level of each channel; a voltage [V]; or, by default,
        the first steady level unless the record begins inside an event.
    nominal_voltage : float, optional
        RMS, as the channels measure it (phase to neutral, or line to line) [V]; by default a standard voltage close
        to the recording's.
    channels : sequence of str, optional
        Names (or phases) of the channels to look at; by default all voltages of the supply, not the neutral.
    thresholds : Thresholds or mapping of str to float, optional
        Levels beyond which something counts as found.
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
    chosen, left_out, measured = select_channels(recording, channels)
    frequency = recording.nominal_frequency if measured is None else measured
    nominal_frequency = recording.nominal_frequency
    if measured is not None and abs(measured / nominal_frequency - 1) > 0.08:
        standard = min((50.0, 60.0), key=lambda f: abs(f - measured))
        # A grid, or a machine that runs away from it.
        nominal_frequency = standard if abs(measured / standard - 1) < 0.08 else nominal_frequency
    both = [half_cycle_rms(one.channel.samples, recording.sampling_rate, frequency) for one in chosen]
    time, urms = both[0][0], [values for _, values in both]
    references: list[Reference] = []
    systems = list(dict.fromkeys(one.system for one in chosen))
    for system in systems:
        members = [i for i, one in enumerate(chosen) if one.system == system]
        references += choose_reference(
            reference,
            [urms[i] for i in members],
            [chosen[i].channel.phase for i in members],
            [supply_share(chosen[i].filled, recording.sampling_rate, frequency) > _LEAST_SHARE for i in members],
            [nominal_voltage] * len(members),
            frequency,
        )
    meter = _Meter(recording.sampling_rate, frequency, nominal_frequency, levels, time, len(systems) > 1)
    results = [meter.channel(one, values, ref) for one, values, ref in zip(chosen, urms, references, strict=True)]
    polyphase = [event for system in systems for event in meter.polyphase([r for r in results if r.system == system])]
    return Characterisation(
        source=recording.source,
        sampling_rate=recording.sampling_rate,
        frequency=frequency,
        nominal_frequency=nominal_frequency,
        thresholds=levels,
        time=time,
        channels=tuple(results),
        polyphase=tuple(polyphase),
        caveats=list_caveats(recording, chosen, left_out, references, measured, nominal_frequency),
    )


def _check_reference(reference: str | float, nominal_voltage: float | None) -> None:
    if isinstance(reference, str):
        if reference not in _REFERENCES:
            raise unknown_name("reference", reference, _REFERENCES)
    elif not (isfinite(reference) and reference > 0):
        raise PqswarmError(f"reference must be a voltage above 0 V, not {reference!r}.")
    if nominal_voltage is not None and not (isfinite(nominal_voltage) and nominal_voltage > 0):
        raise PqswarmError(f"nominal_voltage must be above 0 V, not {nominal_voltage!r}.")


@dataclass(frozen=True, eq=False)
class _Meter:
    """What all channels share, and how each is measured; `named` if a finding must say in which system it is."""

    sampling_rate: float
    frequency: float
    nominal_frequency: float
    thresholds: Thresholds
    time: FloatArray
    named: bool

    def channel(self, one: SupplyChannel, volts: FloatArray, reference: Reference) -> ChannelResult:
        """Measure one channel."""
        scale = reference.volts if reference.volts > 0 else 1.0
        urms = volts / scale
        live = reference.volts > 0 and urms.size > 0
        mean_square = MeanSquare(one.channel.samples, self.sampling_rate / self.frequency)
        spans = find_spans(urms, urms, self.thresholds) if live else []
        spans = drop_modulated(spans, urms, self.frequency, self.thresholds) if spans else []
        where = ((one.channel.name,), (one.channel.phase,), one.system if self.named else "")
        edges = locate(spans, self.time, mean_square, self.sampling_rate, self.frequency)
        events = [
            self._event(span, where, *edge)
            for span, edge in zip(spans, edges, strict=True)
            # Beside an interruption, a sag of less than a cycle is only the way down or up.
            if edge[1] - edge[0] >= 1 / self.frequency or not _beside_interruption(span, spans)
        ]
        wave = one.filled / (scale * np.sqrt(2))
        spectrum = measure_spectrum(one.filled, self.sampling_rate, self.frequency, volts, self.time) if live else None
        notches = self._notches(wave, spectrum)
        flags = self._flags(join_names(*where), urms, spans, spectrum, notches, scale) if spectrum else []
        transients = [
            one
            for one in (self._transients(one, wave, events, where[2]) if live else ())
            if notches is None or not notches.explain(one.peak)
        ]
        events = [event for event in events if not self._made_by(transients, event, one.filled / scale)]
        return ChannelResult(
            channel=one.channel,
            system=one.system,
            reference=reference.volts,
            reference_source=reference.source,
            urms=urms,
            events=tuple(events),
            transients=tuple(transients),
            spectrum=spectrum,
            flags=tuple(Flag(kind, where[0][0], where[1][0], where[2], value, text) for kind, value, text in flags),
        )

    def _made_by(self, transients: Sequence[Transient], event: Disturbance, wave: FloatArray) -> bool:
        """Whether an event is a swell only because a transient adds to the RMS: the fundamental is not raised."""
        near = [one for one in transients if event.start - 1 / self.frequency <= one.onset <= event.end]
        slight = event.magnitude < self.thresholds.swell + _BY_TRANSIENT and event.duration < 2 / self.frequency
        if event.kind != "swell" or not slight or not near:
            return False
        moments = self.time[(self.time >= event.urms_start) & (self.time <= event.urms_end)]
        raised = fundamental_rms(wave, self.sampling_rate, self.frequency, moments)
        return not (raised > self.thresholds.swell).any()

    def polyphase(self, members: Sequence[ChannelResult]) -> list[Disturbance]:
        """Find the events of a system of channels."""
        if len(members) < 2 or not self.time.size:
            return []
        table = np.array([member.urms for member in members])
        lowest, highest = np.fmin.reduce(table), np.fmax.reduce(table)
        found = []
        for span in find_spans(lowest, highest, self.thresholds):
            low, high = self.time[span.first], self.time[min(span.stop, self.time.size - 1)]
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
                members[0].system if self.named else "",
            )
            found.append(self._event(span, where, start, max(end, start)))
        return found

    def _event(
        self, span: Span, where: tuple[tuple[str, ...], tuple[str, ...], str], start: float, end: float
    ) -> Disturbance:
        urms_start = float(self.time[span.first])
        urms_end = float(self.time[min(span.stop, self.time.size - 1)])
        return Disturbance(
            kind=span.kind,
            category=category(span.kind, end - start, self.nominal_frequency),
            channels=where[0],
            phases=where[1],
            system=where[2],
            magnitude=span.magnitude,
            start=start,
            end=end,
            duration=end - start,
            cycles=(end - start) * self.nominal_frequency,
            urms_start=urms_start,
            urms_end=urms_end,
            urms_duration=urms_end - urms_start,
            cut_start=span.open_start,
            cut_end=span.open_end,
            nominal_frequency=self.nominal_frequency,
        )

    def _transients(
        self, one: SupplyChannel, wave: FloatArray, events: Sequence[Disturbance], system: str
    ) -> tuple[Transient, ...]:
        # Not those of a short swell: a strong transient makes one itself.
        steady = [event for event in events if event.kind != "swell" or event.duration > _CROWDED / self.frequency]
        marks = {0.0, wave.size / self.sampling_rate, *(t for e in steady for t in (e.start, e.end))}
        close = [(low, high) for low, high in pairwise(sorted(marks)) if high - low < _CROWDED / self.frequency]
        found = find_transients(
            wave,
            self.sampling_rate,
            self.frequency,
            threshold=self.thresholds.transient,
            noise_factor=self.thresholds.transient_noise_factor,
            steps=[edge for event in events for edge in (event.start, event.end)],
            crowded=close if steady else [],
            unsure=~np.isfinite(one.channel.samples),
        )
        return tuple(
            Transient(
                channel=one.channel.name,
                phase=one.channel.phase,
                system=system,
                category=(
                    "impulsive transient"
                    if each["kind"] == "impulsive"
                    else f"{oscillation_word(each['frequency'])} oscillatory transient"
                ),
                **each,
            )
            for each in found
        )

    def _notches(self, wave: FloatArray, spectrum: Spectrum | None) -> Notches | None:
        if spectrum is None:
            return None
        where = (spectrum.start, spectrum.cycles)
        return find_notches(wave, self.sampling_rate, self.frequency, *where, least=self.thresholds.notch)

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
        if spectrum.thd > max(self.thresholds.thd, spectrum.least_thd):
            order = int(np.argmax(spectrum.harmonics)) + 2
            text = f"harmonics on {where}, THD {100 * spectrum.thd:.1f} %"
            text += f", most of order {order} ({100 * max(spectrum.harmonics):.1f} %)"
            flags.append(("harmonics", spectrum.thd, text))
        offset = spectrum.dc / (np.sqrt(2) * volts)
        if abs(offset) > max(self.thresholds.dc, spectrum.least_dc / (np.sqrt(2) * volts)):
            flags.append(("DC offset", offset, f"DC offset on {where}, {offset:.3f} pu"))
        if notches is not None and notches.count:
            flags.append(("notching", float(notches.count), f"notching on {where}, {notches.count} per cycle"))
        flicker = find_flicker(longest_quiet(urms, spans), self.frequency, least=self.thresholds.flicker)
        if flicker:
            text = f"flicker on {where}, {100 * flicker[1]:.1f} % deep at {flicker[0]:.1f} Hz"
            flags.append(("flicker", flicker[1], text))
        return flags


def _beside_interruption(span: Span, spans: Sequence[Span]) -> bool:
    near = [other for other in spans if other.kind == "interruption" and span.kind == "sag"]
    return any(span.stop == other.first or span.first == other.stop for other in near)
