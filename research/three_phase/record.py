"""A three-phase event with its truth, and what a recorder makes of it: background, noise, anti-aliasing, rate."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import pi

import numpy as np
from scipy.signal import resample_poly

PHASES = "ABC"
BALANCED = np.exp(-2j * pi / 3 * np.arange(3))
"""Voltages of a healthy system [pu]."""
FINE_RATE = 25_600
"""Rate at which waveforms are computed, a multiple of all recording rates [Hz]."""
MARGIN = 0.1
"""Time before and after the record, so that the anti-aliasing filter has no edges in it [s]."""
CAUSES = ("fault", "motor start", "transformer energising", "capacitor switching", "load switching")


@dataclass(frozen=True)
class Background:
    """What the supply is like without events: ranges that each event draws from.

    Attributes
    ----------
    thd : tuple of float
        Total harmonic distortion.
    frequency : tuple of float
        Power frequency [Hz].
    snr : tuple of float
        Signal-to-noise ratio of each channel [dB].
    """

    thd: tuple[float, float]
    frequency: tuple[float, float]
    snr: tuple[float, float]


BACKGROUNDS = {
    "clean": Background((0.0, 0.01), (49.9, 50.1), (55.0, 60.0)),
    "distorted": Background((0.03, 0.05), (49.7, 49.9), (40.0, 60.0)),
    "noisy": Background((0.03, 0.05), (49.9, 50.1), (30.0, 35.0)),
}


@dataclass(frozen=True)
class Stage:
    """A part of an event during which the voltages do not change their state.

    Attributes
    ----------
    name : str
        Such as ``"fault"``, ``"interruption"``, ``"restored"`` or the cause.
    start, end : float
        From the first sample [s]; `end` may lie after the record.
    bollen : str
        Type of the voltages, ``"A"`` to ``"I"``; empty if they have none.
    symmetrical : str
        Symmetrical phase of the type; empty for type A.
    """

    name: str
    start: float
    end: float
    bollen: str = ""
    symmetrical: str = ""


@dataclass(frozen=True)
class Truth:
    """What is true of an event.

    Attributes
    ----------
    cause : str or None
        One of :data:`CAUSES`; None if nothing happened.
    kind : str
        What kind of it, such as ``"reclosing, successful"``.
    stages : tuple of Stage
        In order of time.
    residual : tuple of float
        Lowest RMS voltage of each phase [pu of the nominal voltage].
    level : tuple of float
        RMS voltage of each phase before the event [pu of the nominal voltage].
    fault : str
        ``"AG"`` ... ``"ABC"`` where the fault itself is seen; ``"downstream"`` faults are on the measured feeder.
    direction : str
        ``"downstream"`` or ``"upstream"`` of the measured currents; empty without currents.
    """

    cause: str | None
    kind: str
    stages: tuple[Stage, ...] = ()
    residual: tuple[float, ...] = (1.0, 1.0, 1.0)
    level: tuple[float, ...] = (1.0, 1.0, 1.0)
    fault: str = ""
    direction: str = ""

    @property
    def start(self) -> float | None:
        """Start of the event [s]."""
        return self.stages[0].start if self.stages else None

    @property
    def end(self) -> float | None:
        """End of the event, possibly after the record [s]; infinite for what lasts."""
        return self.stages[-1].end if self.stages else None

    @property
    def type_stage(self) -> Stage | None:
        """The last stage with a type of Bollen: that of an evolving fault at its worst."""
        return next((stage for stage in reversed(self.stages) if stage.bollen), None)

    def below(self, threshold: float = 0.9, *, nominal: bool, margin: float = 0.0) -> tuple[str, str]:
        """Phases that are certainly below a threshold, and those within `margin` of it.

        Parameters
        ----------
        threshold, margin : float
            In pu.
        nominal : bool
            Whether 1 pu is the nominal voltage; otherwise it is the voltage before the event.
        """
        ratio = np.divide(self.residual, 1.0 if nominal else np.array(self.level))
        near = np.abs(ratio - threshold) <= margin
        return (
            "".join(p for p, r, n in zip(PHASES, ratio, near, strict=True) if r < threshold and not n),
            "".join(p for p, n in zip(PHASES, near, strict=True) if n),
        )


@dataclass(frozen=True, eq=False)
class ThreePhaseEvent:
    """What a recorder stores of an event, and the truth about it.

    Attributes
    ----------
    voltages : ndarray of shape (3, n_samples)
        Phase-to-neutral voltages of phases A, B and C [V].
    currents : ndarray of shape (3, n_samples) or None
        Of a feeder [A].
    sampling_rate, frequency : float
        [Hz].
    nominal : float
        Nominal phase-to-neutral RMS voltage [V].
    thd, snr : float
        Of the background; the ratio in dB.
    truth : Truth
        What is true of it.
    ends_inside : bool
        Whether the record ends inside the event.
    """

    voltages: np.ndarray
    currents: np.ndarray | None
    sampling_rate: float
    frequency: float
    nominal: float
    thd: float
    snr: float
    truth: Truth
    ends_inside: bool


@dataclass(frozen=True, eq=False)
class Shape:
    """An event without background on the fine time axis.

    Attributes
    ----------
    wave : ndarray of shape (3, n)
        Voltages relative to the peak value before the event.
    envelope : ndarray of shape (3, n)
        What the harmonics of the supply are multiplied by.
    currents : ndarray of shape (3, n)
        Currents relative to the peak of the load current.
    """

    wave: np.ndarray
    envelope: np.ndarray
    currents: np.ndarray
    truth: Truth


@dataclass(frozen=True, eq=False)
class Axis:
    """The fine time axis of a record and its undisturbed rotation.

    Attributes
    ----------
    length : float
        Of the record [s].
    frequency : float
        [Hz].
    angle : float
        Of phase A at the first sample [rad]: the point on wave.
    """

    length: float
    frequency: float
    angle: float
    t: np.ndarray = field(init=False)
    rotation: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = round((self.length + 2 * MARGIN) * FINE_RATE)
        t = np.arange(n) / FINE_RATE - MARGIN
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "rotation", np.exp(1j * (self.omega * t + self.angle)))

    @property
    def omega(self) -> float:
        """Angular frequency [rad/s]."""
        return 2 * pi * self.frequency

    def wave(self, phasors: np.ndarray) -> np.ndarray:
        """Waveforms of constant phasors, shape (3,), or of changing ones, shape (3, n)."""
        return np.real(phasors.reshape(3, -1) * self.rotation)

    def value(self, phasor: complex, time: float) -> float:
        """Instantaneous value of a phasor."""
        return float(np.real(phasor * np.exp(1j * (self.omega * time + self.angle))))

    def next_zero(self, phasor: complex, time: float) -> float:
        """Time of the first zero crossing of a phasor after a time [s]."""
        angle = self.omega * time + self.angle + np.angle(phasor) - pi / 2
        return time + (-angle % pi) / self.omega

    def lowest_rms(self, wave: np.ndarray) -> tuple[float, ...]:
        """Lowest RMS value over one cycle of each phase inside the record, for a sine of amplitude 1."""
        n = round(FINE_RATE / self.frequency)
        sums = np.cumsum(np.pad(wave**2, ((0, 0), (1, 0))), axis=1)
        inside = slice(round(MARGIN * FINE_RATE), round((MARGIN + self.length) * FINE_RATE) - n)
        return tuple(np.sqrt(2 * (sums[:, n:] - sums[:, :-n])[:, inside].min(axis=1) / n))


ORDERS = {3: 0.5, 5: 1.0, 7: 0.7, 11: 0.35, 13: 0.25}
"""Harmonics of a usual supply, relative to the fifth."""


def background_waves(axis: Axis, thd: float, rng: np.random.Generator) -> np.ndarray:
    """Harmonics of all phases, shape (3, n), relative to the fundamental; each keeps its sequence."""
    sizes = {order: size * rng.uniform(0.4, 1.6) for order, size in ORDERS.items()}
    total = np.sqrt(sum(size**2 for size in sizes.values()))
    waves = np.zeros((3, axis.t.size))
    for order, size in sizes.items():
        shift = np.exp(1j * rng.uniform(-pi, pi))
        waves += size / total * thd * np.real(shift * BALANCED[:, None] ** order * axis.rotation**order)
    return waves


def record_shape(
    axis: Axis,
    shape: Shape,
    background: Background,
    sampling_rate: float,
    *,
    with_currents: bool,
    rng: np.random.Generator,
    scale: Mapping[str, float],
) -> ThreePhaseEvent:
    """Record an event: background, levels of the phases, anti-aliasing filter, sampling, noise."""
    thd, snr = rng.uniform(*background.thd), rng.uniform(*background.snr)
    level = rng.uniform(0.98, 1.02) * rng.uniform(0.99, 1.01, 3)
    factor = FINE_RATE // round(sampling_rate)
    first, n = round(MARGIN * sampling_rate), round(axis.length * sampling_rate)

    def sampled(wave: np.ndarray) -> np.ndarray:
        """The record's samples, with noise relative to a sine of amplitude 1."""
        kept = resample_poly(wave, 1, factor, axis=1, padtype="line")[:, first : first + n]
        return kept + rng.normal(0, np.sqrt(0.5) * 10 ** (-snr / 20), kept.shape)

    volts = shape.wave + shape.envelope * background_waves(axis, thd, rng)
    nominal = scale["volts"]
    voltages = np.sqrt(2) * nominal * sampled(level[:, None] * volts)
    amps = shape.currents + background_waves(axis, thd / 2, rng) * (np.abs(shape.currents) > 0)
    currents = np.sqrt(2) * scale["amps"] * sampled(amps) if with_currents else None
    truth = replace(
        shape.truth,
        level=tuple(level.tolist()),
        residual=tuple((level * np.array(shape.truth.residual)).tolist()),
        direction=shape.truth.direction if with_currents else "",
    )
    ends_inside = truth.end is not None and axis.length < truth.end < np.inf
    return ThreePhaseEvent(
        voltages, currents, sampling_rate, axis.frequency, nominal, thd, snr, truth, bool(ends_inside)
    )
