"""Sample recordings with known disturbances: generated reproducibly, at any length, and written with their truth."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import pi, sqrt
from pathlib import Path

import numpy as np

from pqswarm._base.files import write_atomically
from pqswarm._base.random import checked_seed, derived_seed, stream
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.recordings.comtrade import write_comtrade
from pqswarm.recordings.recording import ChannelHeader, Recording, StatusChannel, shift_time

_PAGE = 65536
"""Samples that share a stream of noise."""
_PHASES = "ABC"
_LEVELS = ("sag", "swell", "interruption", "rapid voltage change")
_RAMP = {"harmonics": 0.04, "notching": 0.0, "flicker": 0.5, "unbalance": 2.0, "DC offset": 0.5}
"""Rise and fall times of steady disturbances [s]."""
_CONNECTED = 2.0
_BANK_RISE = 0.015
"""Time for which a capacitor bank is connected [s], and what it adds to the voltage."""


@dataclass(frozen=True)
class Disturbance:
    """A disturbance of the voltages: one of the types of :mod:`pqswarm.measure.event`, on phases such as ``"ABC"``.

    It starts at `start` and lasts for `duration` [s]; a transient decays with that time constant. The magnitude is the
    RMS of sags, swells, interruptions and rapid voltage changes [pu], the peak of transients and depth of notches [pu
    of the peak], and the amplitude of the 5th harmonic, the modulation, the negative sequence and the direct voltage
    [fraction]. The frequency is that of a transient, 0 for an impulse, or of the modulation [Hz]. A transient that is
    the connection of a capacitor bank raises the voltage for two seconds by `rise` [fraction].
    """

    type: str
    phases: str
    start: float
    duration: float
    magnitude: float
    frequency: float = 0.0
    rise: float = 0.0

    @property
    def end(self) -> float:
        """Time at which it has fully ended [s]."""
        lasting = max(12 * self.duration, _CONNECTED * bool(self.rise))
        return self.start + (lasting if self.type == "transient" else self.duration)

    def truth(self, seconds: float) -> dict[str, str]:
        """Return what a meter should find in a record of that length: the columns of ``truth.csv``."""
        magnitude = self.magnitude - 1 if self.type == "rapid voltage change" else self.magnitude
        in_percent = self.type in (*_RAMP, "rapid voltage change")
        start, end = max(self.start, 0.0), min(self.start + self.duration, seconds)
        return {
            "type": self.type,
            "phases": " ".join(self.phases),
            "start": f"{start:.4f}",
            "duration": f"{end - start:.4f}",
            "magnitude": f"{100 * magnitude if in_percent else magnitude:.4g}",
            "unit": "%" if in_percent else "pu",
        }


@dataclass(frozen=True, eq=False)
class SampleRecording:
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
        channels = tuple(one.with_samples(row) for one, row in zip(self.channels, values, strict=True))
        start = shift_time(self.start, first / self.sampling_rate)
        return Recording(
            channels,
            self.sampling_rate,
            self.nominal_frequency,
            start,
            self.source,
            self.format,
            self.notes,
            self.station,
            self.path,
        )

    def _page(self, number: int) -> FloatArray:
        """All channels (n_channels, 65536), even beyond the end."""
        t = (number * _PAGE + np.arange(_PAGE)) / self.sampling_rate
        angle = 2 * pi * (self.nominal_frequency - 0.01) * t + stream(self.seed, (0,)).uniform(0, 2 * pi)
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
                        _disturb_sample_phase(one, t, angle, shifts[k], level[k], extra[k])
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


def _disturb_sample_phase(
    one: Disturbance, t: FloatArray, angle: FloatArray, shift: float, level: FloatArray, extra: FloatArray
) -> None:
    """Change the level of the fundamental [pu] of one phase, or the voltage added to it [pu of the peak]."""
    since = t - one.start
    inside = (since >= 0) & (since < one.duration)
    if one.type in _LEVELS:
        level[inside] *= one.magnitude
    elif one.type == "transient":
        after = since >= 0
        level[after & (since < _CONNECTED)] *= 1 + one.rise
        decay = np.exp(-since[after] / one.duration)
        swing = np.sin(2 * pi * one.frequency * since[after]) if one.frequency else 1.0
        extra[after] += one.magnitude * decay * swing * np.sign(np.sin(one.start * 314 + shift))
    else:
        ramp = _RAMP[one.type]  # from 0 to 1 at the start, and back at the end
        steady = inside * (np.clip(np.minimum(since, one.duration - since) / ramp, 0.0, 1.0) if ramp else 1.0)
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


_BEGIN = datetime(2026, 3, 2, 10, 15, 30, 250_000)
_STATION = "Sample North"
_SHORTEST = 2.0
_LONGEST = 24 * 60.0  # minutes
_ASCII = ("fault.cfg", "sag.cfg")
_TRUTH = ("file", "type", "phases", "start", "duration", "magnitude", "unit")
_SITE = """\
# Site of the sample recordings. Usage: pqswarm identify FOLDER --site FOLDER/site.toml
station = "Sample North"
nominal_voltage = { line_to_line = "20 kV" }
nominal_frequency = 50
reference = "nominal"

[channels."U outlet"]  # of the meter that wrote outlet.csv
nominal = 230
"""


def write_samples(folder: str | Path, *, seed: int = 0, minutes: float = 2.0) -> list[Path]:
    """Write sample recordings: COMTRADE, a table of an instrument, a long recording, a site file, and the truth.

    Parameters
    ----------
    folder : str or Path
        It must be new or empty.
    seed : int, default=0
        The same seed gives the same files.
    minutes : float, default=2.0
        Length of the long recording, 2 to 1440: three phases at 12.8 kHz, 10.8 MB per minute.

    Returns
    -------
    list of Path
        The files. ``truth.csv`` has a row for each disturbance, and one of type ``none`` for an undisturbed recording.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_samples(f"{folder}/samples")][-4:]
    ['outlet.csv', 'long.cfg', 'site.toml', 'truth.csv']
    """
    folder = Path(folder)
    seed = checked_seed(seed)
    if not _SHORTEST <= minutes <= _LONGEST:
        raise PqswarmError(f"minutes must be {_SHORTEST:g} to {_LONGEST:g}, not {minutes:,.10g}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PqswarmError(f"{folder} exists and is not empty: give the name of a new folder.")
    truth = io.StringIO()
    table = csv.DictWriter(truth, _TRUTH, lineterminator="\n")
    table.writeheader()
    written = []
    for recording in [*_short_sample_recordings(seed), _long_sample_recording(seed, minutes)]:
        path = folder / recording.source
        is_table = path.suffix == ".csv"
        encoding = "ASCII" if recording.source in _ASCII else "BINARY"
        written.append(_write_sample_table(recording, path) if is_table else write_comtrade(recording, path, encoding))
        for one in recording.disturbances or [Disturbance("none", "", 0.0, recording.seconds, 1.0)]:
            table.writerow({"file": recording.source, **one.truth(recording.seconds)})
    site = write_atomically(folder / "site.toml", _SITE)
    return [*written, site, write_atomically(folder / "truth.csv", truth.getvalue())]


def _short_sample_recordings(seed: int) -> list[SampleRecording]:
    """Captures of faults and switching, as a triggered recorder writes them."""
    draw = stream(seed, (0,))
    deep = draw.uniform(0.35, 0.5)
    high = draw.uniform(1.2, 1.35)
    scenes: dict[str, tuple[list[Disturbance], float, float]] = {
        "fault.cfg": (
            [Disturbance("sag", "A", 0.3, 0.12, deep), Disturbance("swell", "BC", 0.3, 0.12, high)],
            0.8,
            6400.0,
        ),
        "sag.cfg": ([Disturbance("sag", "ABC", 0.4, 0.25, draw.uniform(0.6, 0.8))], 1.0, 3200.0),
        "interruption.cfg": ([Disturbance("interruption", "ABC", 0.5, 0.8, 0.02)], 2.0, 6400.0),
        "capacitor.cfg": (
            [
                Disturbance(
                    "transient", "ABC", 0.3056, 0.004, draw.uniform(0.5, 0.8), draw.uniform(500, 900), _BANK_RISE
                )
            ],
            0.5,
            12_800.0,
        ),
        "harmonics.cfg": ([Disturbance("harmonics", "ABC", -1.0, 3.0, 0.09)], 0.6, 12_800.0),
        "quiet.cfg": ([], 0.6, 6400.0),
        "outlet.csv": ([Disturbance("swell", "A", 0.3, 0.2, 1.18)], 0.8, 10_000.0),
    }
    return [
        SampleRecording(
            disturbances,
            seconds,
            rate,
            volts=230.0 if name == "outlet.csv" else 20e3 / sqrt(3),
            seed=derived_seed(seed, (1, number)),
            currents=name == "fault.cfg",
            start=_BEGIN + timedelta(hours=number),
            source=name,
            station=_STATION,
        )
        for number, (name, (disturbances, seconds, rate)) in enumerate(scenes.items())
    ]


def _long_sample_recording(seed: int, minutes: float) -> SampleRecording:
    """One disturbance of each type, equally spaced."""
    draw = stream(seed, (2,))
    steady = [float(x) for x in draw.uniform(10, 18, 4)]
    event_types: list[tuple[str, str, float, float, float]] = [
        ("sag", "A", 0.1, draw.uniform(0.5, 0.7), 0.0),
        ("transient", "ABC", 0.004, draw.uniform(0.4, 0.8), draw.uniform(450, 900)),
        ("harmonics", "ABC", steady[0], 0.1, 0.0),
        ("rapid voltage change", "ABC", 0.8, 0.95, 0.0),
        ("swell", "B", 0.2, draw.uniform(1.15, 1.3), 0.0),
        ("notching", "ABC", steady[1], 0.25, 0.0),
        ("sag", "BC", 0.3, draw.uniform(0.7, 0.8), 0.0),
        ("interruption", "ABC", 1.2, 0.03, 0.0),
        ("flicker", "ABC", steady[2], 0.04, 8.8),
        ("transient", "C", 0.0003, 0.6, 0.0),
        ("unbalance", "ABC", steady[3], 0.04, 0.0),
        ("sag", "ABC", 0.5, 0.82, 0.0),
        ("rapid voltage change", "ABC", 0.8, 1.05, 0.0),
    ]
    gap = (60 * minutes - sum(one[2] for one in event_types)) / (len(event_types) + 1)
    disturbances = []
    clock = gap
    for event_type, phases, duration, magnitude, frequency in event_types:
        rise = _BANK_RISE if event_type == "transient" and frequency else 0.0
        disturbances.append(
            Disturbance(event_type, phases, round(clock, 4), duration, float(magnitude), float(frequency), rise)
        )
        clock += duration + gap
    return SampleRecording(
        disturbances,
        60 * minutes,
        seed=derived_seed(seed, (3,)),
        start=_BEGIN + timedelta(days=1),
        source="long.cfg",
        station=_STATION,
    )


def _write_sample_table(recording: SampleRecording, path: Path) -> Path:
    """Phase A as an instrument writes it: a header, then time and voltage."""
    wave = recording.read().channels[0].samples
    began = "" if recording.start is None else recording.start.isoformat(sep=" ", timespec="milliseconds")
    lines = [
        "Instrument,Outlet meter",
        "Serial number,000123",
        f"Start time,{began}",
        f"Sampling rate,{recording.sampling_rate:g} Hz",
        "",
        "Time [s],U outlet [V]",
    ]
    lines += [f"{n / recording.sampling_rate:.6f},{volts:.2f}" for n, volts in enumerate(wave.tolist())]
    return write_atomically(path, "\r\n".join([*lines, ""]))
