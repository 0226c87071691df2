"""From a recording to what happened in it, by IEC 61000-4-30 and in the words of IEEE 1159."""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.recordings._char_channels import Selected, select_channels
from pqswarm.recordings._char_flags import find_flags
from pqswarm.recordings._char_limits import say_limits
from pqswarm.recordings._char_reference import Reference, choose_reference
from pqswarm.recordings._char_rms import Limits, Span, find_spans, locate
from pqswarm.recordings.characterisation import ChannelResult, Characterisation, Disturbance, Flag, Thresholds
from pqswarm.recordings.frequency import supply_share
from pqswarm.recordings.harmonics import Spectrum, measure_spectrum
from pqswarm.recordings.recording import Recording
from pqswarm.recordings.transients import Transient, find_transients
from pqswarm.recordings.urms import MeanSquare, half_cycle_rms
from pqswarm.recordings.words import category, join_names, oscillation_word

__all__ = ["characterise"]

_REFERENCES = ("auto", "nominal", "pre-event")
_CROWDED = 2.1
"""Cycles between two steps below which transients cannot be told."""
_LEAST_SHARE = 0.3
"""Of the fundamental in the mean square of a supply voltage."""


def characterise(
    recording: Recording,
    reference: str | float = "auto",
    *,
    nominal_voltage: float | None = None,
    channels: Sequence[str] | None = None,
    sag_threshold: float = 0.9,
    swell_threshold: float = 1.1,
    interruption_threshold: float = 0.1,
    hysteresis: float = 0.02,
    transient_threshold: float = 0.08,
    transient_noise_factor: float = 6.0,
    thd_threshold: float = 0.05,
    dc_threshold: float = 0.01,
    notch_threshold: float = 0.05,
    flicker_threshold: float = 0.005,
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
        Names of the channels to look at; by default all voltages of the supply, not the neutral.
    sag_threshold, swell_threshold, interruption_threshold, hysteresis : float
        Of Urms(1/2) [pu].
    transient_threshold : float
        Least deviation from the cycles beside it [pu of the reference's peak].
    transient_noise_factor : float
        Least deviation over the recording's own noise.
    thd_threshold, dc_threshold, notch_threshold, flicker_threshold : float
        From which harmonics (total distortion), an offset [pu of the reference's peak], notches (depth, likewise)
        and flicker (depth of the modulation) are flagged.

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
    thresholds = _checked(
        Thresholds(
            sag=sag_threshold,
            swell=swell_threshold,
            interruption=interruption_threshold,
            hysteresis=hysteresis,
            transient=transient_threshold,
            transient_noise_factor=transient_noise_factor,
            thd=thd_threshold,
            dc=dc_threshold,
            notch=notch_threshold,
            flicker=flicker_threshold,
        )
    )
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
            nominal_voltage,
        )
    worker = _Worker(recording.sampling_rate, frequency, nominal_frequency, thresholds, time, len(systems) > 1)
    results = [worker.channel(one, values, ref) for one, values, ref in zip(chosen, urms, references, strict=True)]
    polyphase = [event for system in systems for event in worker.polyphase([r for r in results if r.system == system])]
    return Characterisation(
        source=recording.source,
        sampling_rate=recording.sampling_rate,
        frequency=frequency,
        nominal_frequency=nominal_frequency,
        thresholds=thresholds,
        time=time,
        channels=tuple(results),
        polyphase=tuple(polyphase),
        limits=say_limits(recording, chosen, left_out, references, measured, nominal_frequency),
    )


def _checked(thresholds: Thresholds) -> Thresholds:
    for name, value in vars(thresholds).items():
        if not (isinstance(value, int | float) and isfinite(value) and value >= 0):
            raise PqswarmError(f"the {name} threshold must be a number of at least 0, not {value!r}.")
    t = thresholds
    if not t.interruption + t.hysteresis <= t.sag < 1 < t.swell or t.hysteresis >= t.swell - 1:
        raise PqswarmError(
            "thresholds must be in the order interruption + hysteresis <= sag < 1 < swell, and hysteresis below "
            f"swell - 1, not {t.interruption:g}, {t.hysteresis:g}, {t.sag:g} and {t.swell:g}."
        )
    return thresholds


def _check_reference(reference: str | float, nominal_voltage: float | None) -> None:
    if isinstance(reference, str):
        if reference not in _REFERENCES:
            raise unknown_name("reference", reference, _REFERENCES)
    elif not (isfinite(reference) and reference > 0):
        raise PqswarmError(f"reference must be a voltage above 0 V, not {reference!r}.")
    if nominal_voltage is not None and not (isfinite(nominal_voltage) and nominal_voltage > 0):
        raise PqswarmError(f"nominal_voltage must be above 0 V, not {nominal_voltage!r}.")


class _Worker:
    """What all channels share, and how each is looked at."""

    def __init__(
        self,
        sampling_rate: float,
        frequency: float,
        nominal_frequency: float,
        thresholds: Thresholds,
        time: FloatArray,
        named: bool,
    ) -> None:
        self.sampling_rate, self.frequency, self.nominal_frequency = sampling_rate, frequency, nominal_frequency
        self.thresholds, self.time, self.named = thresholds, time, named
        self.limits = Limits(thresholds.sag, thresholds.swell, thresholds.interruption, thresholds.hysteresis)

    def channel(self, one: Selected, volts: FloatArray, reference: Reference) -> ChannelResult:
        """Look at one channel."""
        scale = reference.volts if reference.volts > 0 else 1.0
        urms = volts / scale
        live = reference.volts > 0 and urms.size > 0
        mean_square = MeanSquare(one.channel.samples, self.sampling_rate / self.frequency)
        spans = find_spans(urms, urms, self.limits) if live else []
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
        return ChannelResult(
            name=one.channel.name,
            phase=one.channel.phase,
            system=one.system,
            reference=reference.volts,
            reference_source=reference.source,
            urms=urms,
            events=tuple(events),
            transients=self._transients(one, wave, events, where[2]) if live else (),
            spectrum=spectrum,
            flags=self._flags(one, wave, urms, spans, spectrum, scale) if spectrum else (),
        )

    def polyphase(self, members: Sequence[ChannelResult]) -> list[Disturbance]:
        """Find the events of a system of channels."""
        if len(members) < 2 or not self.time.size:
            return []
        table = np.array([member.urms for member in members])
        lowest, highest = np.fmin.reduce(table), np.fmax.reduce(table)
        found = []
        for span in find_spans(lowest, highest, self.limits):
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
        self, one: Selected, wave: FloatArray, events: Sequence[Disturbance], system: str
    ) -> tuple[Transient, ...]:
        edges = np.array([edge for event in events for edge in (event.start, event.end)])
        # Not those of a short swell: a strong transient makes one itself.
        steady = [event for event in events if event.kind != "swell" or event.duration > _CROWDED / self.frequency]
        marks = np.unique([0.0, wave.size / self.sampling_rate, *(t for e in steady for t in (e.start, e.end))])
        stretches = np.column_stack([marks[:-1], marks[1:]]) if steady else np.empty((0, 2))
        found = find_transients(
            wave,
            self.sampling_rate,
            self.frequency,
            threshold=self.thresholds.transient,
            noise_factor=self.thresholds.transient_noise_factor,
            steps=edges,
            crowded=stretches[np.diff(stretches, axis=1)[:, 0] < _CROWDED / self.frequency],
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

    def _flags(
        self, one: Selected, wave: FloatArray, urms: FloatArray, spans: Sequence[Span], spectrum: Spectrum, scale: float
    ) -> tuple[Flag, ...]:
        system = one.system if self.named else ""
        where = join_names((one.channel.name,), (one.channel.phase,), system)
        found = find_flags(
            where, wave, urms, spans, spectrum, scale, self.sampling_rate, self.frequency, self.thresholds
        )
        return tuple(
            Flag(kind, one.channel.name, one.channel.phase, system, value, text) for kind, value, text in found
        )


def _beside_interruption(span: Span, spans: Sequence[Span]) -> bool:
    near = [other for other in spans if other.kind == "interruption" and span.kind == "sag"]
    return any(span.stop == other.first or span.first == other.stop for other in near)
