"""What a recording shows at a moment: phasors, symmetrical components, spectra and power of the cycles around it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from pqswarm._base.checks import check_integer
from pqswarm._base.threads import one_blas_thread
from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.urms import MAX_MISSING, fill_gaps
from pqswarm.measure.steady.harmonics import Spectrum, fit_harmonics, make_spectrum
from pqswarm.measure.steady.series import highest_order
from pqswarm.measure.steady.unbalance import orient_lines, symmetrical_components, three_phase_groups
from pqswarm.measure.supply.channels import check_waveform, name_systems, named_channels
from pqswarm.recordings.frequency import measure_frequency
from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, RecordingSource


@dataclass(frozen=True)
class PowerSnapshot:
    """Power of the three currents of a feeder, of the fundamental, in the direction in which they are counted.

    Attributes
    ----------
    name : str
        Of the system of currents.
    voltages : str
        Of the system of voltages.
    active, reactive, apparent : float
        P [W], Q [var], positive if the current lags, and S [VA].
    power_factor : float or None
        P over S, the displacement factor; None without current.
    """

    name: str
    voltages: str
    active: float
    reactive: float
    apparent: float
    power_factor: float | None


_MAX_CYCLES = 50
_SIDES = ("around", "before")
_AROUND = 20.0
"""Cycles around the moment from which the frequency is measured."""
_DEAD = 1e-6
"""A fundamental below this fraction of the largest one of its unit, or of the RMS, has no angle."""
_WITHOUT_VOLTAGE = 0.01
"""A voltage below this fraction of the largest one is not what angles are relative to."""
_UNITS = ("V", "A")


@dataclass(frozen=True)
class Phasor:
    """A fundamental.

    Attributes
    ----------
    rms : float
        In the unit of its channel.
    angle : float or None
        Of a cosine, at the moment [degree], from -180 to 180; None if the fundamental is negligible.
    relative : float or None
        The same, less that of the first voltage that is not dead, or of the first channel [degree].
    """

    rms: float
    angle: float | None
    relative: float | None


@dataclass(frozen=True)
class ChannelSnapshot:
    """One channel at a moment.

    Attributes
    ----------
    name, unit, phase : str
        As in :class:`pqswarm.recordings.ChannelHeader`.
    rms : float or None
        True RMS over the window; None, as all that follows, if too many samples are missing.
    fundamental : Phasor or None
        Its fundamental.
    spectrum : Spectrum or None
        Harmonics in the window; None if there is no fundamental.
    """

    name: str
    unit: str
    phase: str
    rms: float | None
    fundamental: Phasor | None
    spectrum: Spectrum | None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values; `orders` of the spectrum are fractions of the fundamental, 0 first."""
        plain = {**asdict(self), "spectrum": None}
        if self.spectrum is not None:
            orders = [abs(self.spectrum.dc) / self.spectrum.fundamental, 1.0, *self.spectrum.harmonics]
            plain["spectrum"] = {**self.spectrum.as_dict(), "orders": orders}
        return plain


@dataclass(frozen=True)
class SystemSnapshot:
    """Symmetrical components of a three-phase system.

    Attributes
    ----------
    name : str
        Of the system.
    unit : str
        Of its channels.
    channels : tuple of str
        The channels of the phases A, B, C, or AB, BC, CA.
    rotation : {"ABC", "ACB"}
        The order in which the phases follow each other: that of the greater sequence, which is the positive one.
    positive, negative : Phasor
        The sequences, of phase A or AB.
    zero : Phasor or None
        None between phases, where there is none.
    unbalance, zero_unbalance : float or None
        Negative and zero sequence over the positive one [fraction].
    """

    name: str
    unit: str
    channels: tuple[str, ...]
    rotation: str
    positive: Phasor
    negative: Phasor
    zero: Phasor | None
    unbalance: float | None
    zero_unbalance: float | None


@dataclass(frozen=True)
class Snapshot:
    """A recording at a moment.

    Attributes
    ----------
    moment : float
        From the first sample [s].
    frequency : float
        Of the fundamental [Hz].
    cycles : int
        Length of the window; less than requested if the recording is shorter.
    window : tuple of float
        Its start and end [s].
    is_moved : bool
        Whether it is not centered on the moment, because the recording begins or ends there. Angles are those at the
        moment all the same, as if the window went on.
    channels : tuple of ChannelSnapshot
        In the order of the recording.
    systems : tuple of SystemSnapshot
        Three-phase systems, of voltages and of currents; empty if there is none.
    powers : tuple of PowerSnapshot
        Of each three-phase system of currents with the voltages of its name, or the first ones.
    notes : tuple of str
        What had to be assumed; one sentence each.
    """

    moment: float
    frequency: float
    cycles: int
    window: tuple[float, float]
    is_moved: bool
    channels: tuple[ChannelSnapshot, ...]
    systems: tuple[SystemSnapshot, ...]
    powers: tuple[PowerSnapshot, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values, without NaN."""
        return {
            **{key: value for key, value in vars(self).items() if key not in ("channels", "systems", "powers")},
            "window": list(self.window),
            "notes": list(self.notes),
            "channels": [one.as_dict() for one in self.channels],
            "systems": [{**asdict(one), "channels": list(one.channels)} for one in self.systems],
            "powers": [asdict(one) for one in self.powers],
        }


def measure_at(
    source: RecordingSource,
    moment: float,
    *,
    frequency: float | None = None,
    cycles: int = 1,
    channels: Sequence[str | int] | None = None,
    side: str = "around",
) -> Snapshot:
    """Measure phasors, symmetrical components and spectra of a recording at a moment.

    The sines of all orders are fitted to the cycles around the moment, or before it, which need not have an integer
    number of samples; of three cycles and more under a Hann window.

    Parameters
    ----------
    source : RecordingSource
        Only the surroundings of the moment are read.
    moment : float
        From the first sample [s].
    frequency : float, default=None
        Of the fundamental [Hz], such as that of a :class:`Characterization`; by default it is measured in the twenty
        cycles around the moment.
    cycles : int, default=1
        Length of the window, 1 to 50. At the ends of the recording it is moved inside.
    channels : sequence of str or int, default=None
        Names, phases or places of the channels; by default all voltages and currents, or all, if there are none.
    side : {"around", "before"}, default="around"
        Whether the moment is the middle of the window or its end. At the start of an event the cycle before is
        undisturbed, and the one around it neither that nor the event.

    Returns
    -------
    Snapshot
        Channels, of which too many samples are missing, have no values; without three phases there are no systems.

    Raises
    ------
    PqswarmError
        If the moment is outside the recording, or this has less than a cycle, or no waveforms.

    Examples
    --------
    >>> from pqswarm.recordings import Channel, Recording
    >>> turn = 2 * np.pi * (49.8 * np.arange(6400)[:, None] / 6400 - np.arange(3) / 3)
    >>> waves = 325.27 * np.cos(turn).T
    >>> parts = [Channel(f"U{phase}", "V", phase, wave) for phase, wave in zip("ABC", waves)]
    >>> found = measure_at(Recording(tuple(parts), 6400.0, 50.0), 0.5)
    >>> [(round(one.rms, 1), round(one.fundamental.relative, 1)) for one in found.channels]
    [(230.0, 0.0), (230.0, -120.0), (230.0, 120.0)]
    >>> round(found.frequency, 2), found.systems[0].rotation, round(found.systems[0].positive.rms, 1)
    (49.8, 'ABC', 230.0)
    """
    check_waveform(source)
    rate = source.sampling_rate
    seconds = source.n_samples / source.sampling_rate
    check_integer("cycles", cycles, 1, _MAX_CYCLES)
    if not (isfinite(moment) and 0 <= moment <= seconds):
        raise PqswarmError(f"moment must be inside the recording, 0 to {seconds:g} s, not {moment!r}.")
    if side not in _SIDES:
        raise PqswarmError(f"side must be {' or '.join(map(repr, _SIDES))}, not {side!r}.")
    around = _AROUND + (cycles if side == "around" else 2 * cycles)
    nominal = rate / source.nominal_frequency
    first = max(int(moment * rate - around / 2 * nominal), 0)
    near = source.read(first, min(int(moment * rate + around / 2 * nominal) + 2, source.n_samples))
    measured = [channel for channel in near.channels if channel.unit in _UNITS] or list(near.channels)
    chosen = measured if channels is None else named_channels(near, channels)
    notes: list[str] = []
    frequency = _frequency_of_snapshot(near, chosen, frequency, notes)
    cycle = rate / frequency
    count = min(cycles, int(near.n_samples / cycle + 1e-6))
    if count < 1:
        raise PqswarmError(
            f"{source.source or 'the recording'} has {near.n_samples} samples, less than a cycle of {frequency:g} Hz."
        )
    if count < cycles:
        notes.append(f"The recording has no more than {count} cycles.")
    size = round(count * cycle)
    wanted = round(moment * rate - first - ((size - 1) / 2 if side == "around" else size))
    begin = min(max(wanted, 0), near.n_samples - size)
    is_moved = abs(begin - wanted) > 1
    if is_moved:
        notes.append("The window was moved inside the recording.")
    window = _SnapshotWindow(begin, size, cycle, count, (first + begin) / rate, moment * rate - first - begin)
    with one_blas_thread:
        assembly = _SnapshotAssembly(chosen, [_measure_channel_snapshot(channel, window, notes) for channel in chosen])
    systems = assembly.systems()
    return Snapshot(
        moment=float(moment),
        frequency=frequency,
        cycles=count,
        window=(window.start, window.start + size / rate),
        is_moved=is_moved,
        channels=assembly.channels(),
        systems=tuple(system for system, _ in systems),
        powers=_measure_power_snapshots(systems),
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _SnapshotWindow:
    """Samples of the window, their first one [s], and samples from it to the moment."""

    begin: int
    size: int
    cycle: float
    cycles: int
    start: float
    until: float


def _frequency_of_snapshot(near: Recording, chosen: Sequence[Channel], given: float | None, notes: list[str]) -> float:
    """Frequency that is given, or as measured in the voltages, or in the other channels, or the nominal one [Hz]."""
    nominal = near.nominal_frequency
    if given is not None:
        if not (isfinite(given) and 0.2 * nominal <= given <= min(5 * nominal, near.sampling_rate / 4)):
            raise PqswarmError(f"frequency must be a frequency of the grid [Hz], near {nominal:g}, not {given!r}.")
        return float(given)
    cycle = near.sampling_rate / nominal
    for signals in (near.voltages, [one for one in chosen if not one.is_voltage]):
        known = [one.samples for one in signals if np.isfinite(one.samples).mean() > 0.5]
        measured = measure_frequency([fill_gaps(x, cycle)[0] for x in known], near.sampling_rate, nominal)
        if measured is not None:
            return measured
    notes.append(f"The frequency could not be measured here: {nominal:g} Hz was assumed.")
    return nominal


@dataclass(frozen=True)
class _MeasuredSnapshot:
    """True RMS, phasor (RMS) at the moment, and spectrum of a channel; no spectrum without a fundamental."""

    rms: float
    phasor: complex
    spectrum: Spectrum | None


def _measure_channel_snapshot(channel: Channel, window: _SnapshotWindow, notes: list[str]) -> _MeasuredSnapshot | None:
    """Measure a channel; None if too many samples are missing."""
    filled, missing = fill_gaps(channel.samples, window.cycle)
    inside = slice(window.begin, window.begin + window.size)
    n_missing = int(missing[inside].sum())
    if n_missing:
        notes.append(f"{channel.name}: {n_missing} of {window.size} samples are missing.")
    if n_missing > MAX_MISSING * window.size:
        return None
    piece: FloatArray = filled[inside]
    orders = highest_order(window.cycle, 1.0, window.size, window.cycles)
    direct, phasors, noise = fit_harmonics(piece, window.cycle, orders, window.cycles)
    turned = complex(phasors[0]) * np.exp(2j * np.pi * window.until / window.cycle) / np.sqrt(2)
    rms = _true_rms_of_snapshot(piece, window.cycle, direct, phasors)
    if not abs(turned) > _DEAD * rms:
        return _MeasuredSnapshot(rms, turned, None)
    return _MeasuredSnapshot(rms, turned, make_spectrum(direct, np.abs(phasors), noise, window.start, window.cycles))


def _true_rms_of_snapshot(piece: FloatArray, cycle: float, direct: float, phasors: AnyArray) -> float:
    """RMS over whole cycles: that of the samples, and what the fitted sines have more, or less, over whole cycles.

    Without the latter, a cycle of a fractional number of samples would be cut off.
    """
    turn = np.exp(2j * np.pi / cycle * np.arange(piece.size))
    fitted = direct + np.polyval(np.append(phasors[::-1], 0.0), turn).real
    over_cycles = direct**2 + float(np.sum(np.abs(phasors) ** 2)) / 2
    return float(np.sqrt(max(float(np.mean(piece**2)) - float(np.mean(fitted**2)) + over_cycles, 0.0)))


_System = tuple[SystemSnapshot, list[complex]]
"""A three-phase system, and the phasors of its phases."""


class _SnapshotAssembly:
    """Puts together the channels and systems of a snapshot, with angles relative to the first live voltage."""

    def __init__(self, headers: Sequence[ChannelHeader], measured: "Sequence[_MeasuredSnapshot | None]") -> None:
        self.headers = headers
        self.measured = measured
        self.largest = dict.fromkeys((header.unit for header in headers), 0.0)
        for header, one in zip(headers, measured, strict=True):
            if one is not None:
                self.largest[header.unit] = max(self.largest[header.unit], abs(one.phasor))
        live = [
            (header.is_voltage, one.phasor)
            for header, one in zip(headers, measured, strict=True)
            if one is not None and one.spectrum is not None and self.has_angle(one.phasor, header.unit)
        ]
        least = _WITHOUT_VOLTAGE * max((abs(phasor) for is_voltage, phasor in live if is_voltage), default=0.0)
        first_voltage = next((phasor for is_voltage, phasor in live if is_voltage and abs(phasor) >= least), None)
        self.base = live[0][1] if live and first_voltage is None else first_voltage

    def has_angle(self, value: complex, unit: str) -> bool:
        """Whether a fundamental is large enough for an angle."""
        return abs(value) > _DEAD * self.largest[unit]

    def phasor(self, value: complex, unit: str) -> Phasor:
        """The phasor of a fundamental."""
        if not self.has_angle(value, unit):
            return Phasor(float(abs(value)), None, None)
        relative = None if self.base is None else float(np.degrees(np.angle(value * np.conj(self.base))))
        return Phasor(float(abs(value)), float(np.degrees(np.angle(value))), relative)

    def channels(self) -> tuple[ChannelSnapshot, ...]:
        """Each channel."""
        return tuple(
            ChannelSnapshot(header.name, header.unit, header.phase, None, None, None)
            if one is None
            else ChannelSnapshot(
                header.name, header.unit, header.phase, one.rms, self.phasor(one.phasor, header.unit), one.spectrum
            )
            for header, one in zip(self.headers, self.measured, strict=True)
        )

    def systems(self) -> list[_System]:
        """The three-phase systems of each unit."""
        systems = []
        for unit in self.largest:
            places = [i for i, one in enumerate(self.headers) if one.unit == unit and one.phase not in ("", "N")]
            headers = [self.headers[i] for i in places]
            names = name_systems(headers)
            for members in three_phase_groups(headers, names):
                channels = [self.measured[places[i]] for i in members]
                phasors = [one.phasor for one in channels if one is not None]
                if len(phasors) == 3 and max(map(abs, phasors)) > 0:
                    system = self._system(names[members[0]], [headers[i] for i in members], phasors)
                    systems.append((system, phasors))
        return systems

    def _system(self, name: str, headers: Sequence[ChannelHeader], values: Sequence[complex]) -> SystemSnapshot:
        unit = headers[0].unit
        is_between = len(headers[0].phase) == 2
        if is_between:
            values = _orient_snapshot_lines(values)
        zero, positive, negative = symmetrical_components(values)
        is_reverse = abs(negative) > abs(positive)
        if is_reverse:
            positive, negative = negative, positive
        return SystemSnapshot(
            name=name,
            unit=unit,
            channels=tuple(header.name for header in headers),
            rotation="ACB" if is_reverse else "ABC",
            positive=self.phasor(positive, unit),
            negative=self.phasor(negative, unit),
            zero=None if is_between else self.phasor(zero, unit),
            unbalance=float(abs(negative) / abs(positive)),
            zero_unbalance=None if is_between else float(abs(zero) / abs(positive)),
        )


def _orient_snapshot_lines(values: Sequence[complex]) -> list[complex]:
    """Line-to-line voltages, none of them reversed."""
    return [sign * value for sign, value in zip(orient_lines(values), values, strict=True)]


def _measure_power_snapshots(systems: Sequence[_System]) -> tuple[PowerSnapshot, ...]:
    """Power of each system of currents with the voltages of its name, or the first ones; by their phasors."""
    busbars = [(system, volts) for system, volts in systems if system.unit == "V"]
    powers = []
    for feeder, amperes in systems if busbars else ():
        if feeder.unit != "A":
            continue
        bar, volts = next((one for one in busbars if one[0].name == feeder.name), busbars[0])
        if bar.zero is None:  # between phases
            ab, bc, ca = _orient_snapshot_lines(volts)
            volts = [(ab - ca) / 3, (bc - ab) / 3, (ca - bc) / 3]
        power = sum(u * complex(i).conjugate() for u, i in zip(volts, amperes, strict=True))
        apparent = abs(power)
        powers.append(
            PowerSnapshot(
                name=feeder.name,
                voltages=bar.name,
                active=float(power.real),
                reactive=float(power.imag),
                apparent=float(apparent),
                power_factor=power.real / apparent if apparent > 0 else None,
            )
        )
    return tuple(powers)
