"""Generated three-phase recordings of any length, computed on demand and reproducibly."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import pi, sqrt

import numpy as np

from pqswarm._base.random import stream
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, shift_time
from pqswarm.recordings.status import StatusChannel

_PAGE = 65536
"""Samples that share a stream of noise."""
_PHASES = "ABC"
_LEVELS = ("sag", "swell", "interruption", "rapid voltage change")
_RAMP = {"harmonics": 0.04, "notching": 0.0, "flicker": 0.5, "unbalance": 2.0, "DC offset": 0.5}
"""Rise and fall times of steady disturbances [s]."""


@dataclass(frozen=True)
class Disturbance:
    """A disturbance of the voltages: one of the types of :mod:`pqswarm.measure.event`, on phases such as ``"ABC"``.

    It starts at `start` and lasts for `duration` [s]; a transient decays with that time constant. The magnitude is the
    RMS of sags, swells, interruptions and rapid voltage changes [pu], the peak of transients and depth of notches [pu
    of the peak], and the amplitude of the 5th harmonic, the modulation, the negative sequence and the direct voltage
    [fraction]. The frequency is that of a transient, 0 for an impulse, or of the modulation [Hz].
    """

    type: str
    phases: str
    start: float
    duration: float
    magnitude: float
    frequency: float = 0.0

    @property
    def end(self) -> float:
        """Time at which it has fully ended [s]."""
        return self.start + (12 * self.duration if self.type == "transient" else self.duration)

    def truth(self, seconds: float) -> dict[str, str]:
        """Return what a meter should find in a record of that length: the columns of ``truth.csv``."""
        magnitude = self.magnitude - 1 if self.type == "rapid voltage change" else self.magnitude
        share = self.type in (*_RAMP, "rapid voltage change")
        start, end = max(self.start, 0.0), min(self.start + self.duration, seconds)
        return {
            "type": self.type,
            "phases": " ".join(self.phases),
            "start": f"{start:.4f}",
            "duration": f"{end - start:.4f}",
            "magnitude": f"{100 * magnitude if share else magnitude:.4g}",
            "unit": "%" if share else "pu",
        }


@dataclass(frozen=True, eq=False)
class GeneratedRecording:
    """Three phase-to-neutral voltages with disturbances, and optional currents; a recording source.

    The frequency is 0.01 Hz below nominal; `volts` is the nominal voltage to neutral, RMS [V], `noise` the standard
    deviation of white noise [pu of the peak]. The other attributes are those of :class:`pqswarm.recordings.Recording`.
    """

    disturbances: Sequence[Disturbance]
    seconds: float
    sampling_rate: float = 12_800.0
    nominal_frequency: float = 50.0
    volts: float = 20e3 / sqrt(3)
    noise: float = 1e-3
    seed: int = 0
    currents: bool = False
    start: datetime | None = None
    source: str = ""
    station: str = ""
    path: str = ""
    format: str = "generated"
    notes: tuple[str, ...] = field(default=())
    status: tuple[StatusChannel, ...] = field(default=())

    @property
    def channels(self) -> tuple[ChannelHeader, ...]:
        """The voltages UA, UB, UC, and the currents."""
        voltages = tuple(ChannelHeader(f"U{phase}", "V", phase) for phase in _PHASES)
        return voltages + (tuple(ChannelHeader(f"I{p}", "A", p) for p in _PHASES) if self.currents else ())

    @property
    def n_samples(self) -> int:
        """Samples of each channel."""
        return round(self.seconds * self.sampling_rate)

    def read(self, first: int = 0, stop: int | None = None) -> Recording:
        """Compute the samples from `first` to `stop` - 1."""
        first, stop, _ = slice(first, stop).indices(self.n_samples)
        pages = range(first // _PAGE, -(-stop // _PAGE))
        whole = [self._page(number) for number in pages]
        values = np.concatenate(whole, axis=1) if whole else np.empty((len(self.channels), 0))
        values = values[:, first - pages.start * _PAGE :][:, : stop - first]
        channels = tuple(
            Channel(one.name, one.unit, one.phase, x) for one, x in zip(self.channels, values, strict=True)
        )
        start = shift_time(self.start, first / self.sampling_rate)
        about = self.source, self.format, self.notes, self.station, self.path
        return Recording(channels, self.sampling_rate, self.nominal_frequency, start, *about)

    def _page(self, number: int) -> FloatArray:
        """All channels (n_channels, 65536), even beyond the end."""
        t = (number * _PAGE + np.arange(_PAGE)) / self.sampling_rate
        begin = stream(self.seed, (0,)).uniform(0, 2 * pi)
        angle = 2 * pi * (self.nominal_frequency - 0.01) * t + begin
        shifts = [-2 * pi * k / 3 for k in range(3)]
        level = np.ones((3, _PAGE))
        one_phase = np.exp(1j * angle)
        square = one_phase * one_phase
        fifth = square * square * one_phase
        background = 0.008 * fifth, 0.005 * fifth * square
        turns = [np.exp(1j * a) for a in shifts]
        extra = np.array([(background[0] * r**5 + background[1] * r**7).imag for r in turns])
        for one in self.disturbances:
            if one.start <= t[-1] and one.end >= t[0]:
                for k, phase in enumerate(_PHASES):
                    if phase in one.phases:
                        _disturb(one, t, angle, shifts[k], level[k], extra[k])
        wave = np.array([level[k] * (one_phase * r).imag + extra[k] for k, r in enumerate(turns)])
        wave += self.noise * stream(self.seed, (1, number)).standard_normal(wave.shape)
        volts = sqrt(2) * self.volts * wave
        if not self.currents:
            return volts
        # A load of 100 A; a fall of voltage means a fault, which raises the current.
        amperes = [
            sqrt(2) * 100 * (1 + 12 * np.clip(1 - level[k], 0, 1)) * (one_phase * r * np.exp(-0.4j)).imag
            for k, r in enumerate(turns)
        ]
        return np.concatenate([volts, amperes])


def _disturb(
    one: Disturbance, t: FloatArray, angle: FloatArray, shift: float, level: FloatArray, extra: FloatArray
) -> None:
    """Change the level of the fundamental [pu] of one phase, or the voltage added to it [pu of the peak]."""
    since = t - one.start
    inside = (since >= 0) & (since < one.duration)
    if one.type in _LEVELS:
        level[inside] *= one.magnitude
    elif one.type == "transient":
        after = since >= 0
        decay = np.exp(-since[after] / one.duration)
        swing = np.sin(2 * pi * one.frequency * since[after]) if one.frequency else 1.0
        extra[after] += one.magnitude * decay * swing * np.sign(np.sin(one.start * 314 + shift))
    else:
        steady = inside * _slope(since, one.duration, _RAMP[one.type])
        theta = angle + shift
        if one.type == "harmonics":
            extra += steady * one.magnitude * np.sin(5 * theta + 0.7)
        elif one.type == "notching":
            place = (theta / (2 * pi) * 6 + 0.35) % 1.0
            extra -= steady * one.magnitude * np.sign(np.sin(theta)) * (place < 0.18)
        elif one.type == "flicker":
            level *= 1 + steady * one.magnitude * np.sin(2 * pi * one.frequency * since)
        elif one.type == "unbalance":
            extra += steady * one.magnitude * np.sin(angle - shift)
        else:
            extra += steady * one.magnitude


def _slope(since: FloatArray, duration: float, ramp: float) -> FloatArray:
    """From 0 to 1 within `ramp` at the start, and back at the end."""
    return np.clip(np.minimum(since, duration - since) / ramp, 0.0, 1.0) if ramp else np.ones(since.size)
