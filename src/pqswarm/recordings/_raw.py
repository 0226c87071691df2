"""From what a reader found to a :class:`Recording`: overrides, SI units, phases, and checks common to all formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.recordings._names import clean, guess_unit, is_summary, phase_of, si_unit
from pqswarm.recordings.recording import Channel, Recording, RecordingError

__all__ = [
    "MAX_BYTES",
    "MAX_CHANNELS",
    "Options",
    "RawChannel",
    "RawRecording",
    "check_budget",
    "finish",
    "unpacked_limit",
]

MAX_BYTES = 512_000_000
"""Default limit of the samples of one file, at 8 bytes each [byte]."""

MAX_CHANNELS = 4096
"""Most channels of one recording."""

_MAX_NOTES = 40
_MAX_VALUE = 1e15  # larger samples are no measurement, and their squares would overflow later
_RATES = (1e-3, 1e9)  # Hz
_FREQUENCIES = (5.0, 1000.0)  # Hz; railways have 16.7, aircraft 400


@dataclass(frozen=True)
class Options:
    """What the caller of a reader knows better than the file, and how much memory may be taken.

    Attributes are those of :func:`pqswarm.recordings.read`.
    """

    sampling_rate: float | None = None
    nominal_frequency: float | None = None
    columns: Sequence[str | int] | None = None
    units: str | Mapping[str, str] | None = None
    time_column: str | int | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    max_bytes: int = MAX_BYTES


@dataclass
class RawChannel:
    """A channel as the file gives it: `unit` and `phase` are the file's words, `samples` are in that unit."""

    name: str
    unit: str
    phase: str
    samples: FloatArray


@dataclass
class RawRecording:
    """A recording as the file gives it; `nominal_frequency` is 0 if the file says nothing [Hz]."""

    channels: list[RawChannel]
    sampling_rate: float
    nominal_frequency: float = 0.0
    start: datetime | None = None
    source: str = ""
    format: str = ""
    notes: list[str] = field(default_factory=list)


def check_budget(n_samples: int, options: Options) -> None:
    """Refuse to take memory for more samples than the limit; `n_samples` counts all channels together."""
    if n_samples * 8 > options.max_bytes:
        raise RecordingError(
            f"holds {n_samples} samples ({n_samples * 8 / 1e6:.0f} MB), over the limit of "
            f"{options.max_bytes / 1e6:.0f} MB; max_bytes raises it."
        )


def unpacked_limit(size: int, base: int, options: Options) -> int:
    """How much a packed file of `size` bytes may unpack to: a small one does not get the memory of a large one.

    Who raises `max_bytes` above the default lifts this limit too.
    """
    return options.max_bytes if options.max_bytes > MAX_BYTES else min(options.max_bytes, base + 100 * size)


def finish(raw: RawRecording, options: Options) -> Recording:
    """Apply the caller's overrides and make the recording, in SI units.

    Parameters
    ----------
    raw : RawRecording
        What was read.
    options : Options
        The overrides.

    Returns
    -------
    Recording
        The recording; its notes say what had to be changed.
    """
    notes = list(dict.fromkeys(raw.notes))
    if len(notes) > _MAX_NOTES:
        notes = [*notes[:_MAX_NOTES], f"{len(notes) - _MAX_NOTES} more notes were left out."]
    if len(raw.channels) > MAX_CHANNELS:
        raise RecordingError(f"has {len(raw.channels)} channels; at most {MAX_CHANNELS} are read.")
    channels = _select(raw.channels, options.columns)
    channels = _with_units(channels, options.units, notes)
    finished: list[Channel] = []
    dropped: list[str] = []
    n_bad = 0
    for channel in channels:
        unit, factor = si_unit(channel.unit)
        samples = np.ascontiguousarray(channel.samples, np.float64)  # no copy, where it is so already
        with np.errstate(over="ignore", invalid="ignore"):
            if factor != 1:
                samples = samples * factor
            bad = ~(np.abs(samples) <= _MAX_VALUE) & ~np.isnan(samples)
        if bad.any():
            samples = np.where(bad, np.nan, samples)
            n_bad += int(bad.sum())
        name = clean(channel.name) or f"channel {len(finished) + len(dropped) + 1}"
        if np.isnan(samples).all():
            dropped.append(name)
            continue
        if unit in ("V", "A") and is_summary(name):
            unit = f"{unit} rms"
        finished.append(Channel(name, unit, phase_of(channel.phase, name), samples))
    if n_bad:
        notes.append(f"{n_bad} samples were infinite or beyond {_MAX_VALUE:g}: they are taken as missing.")
    if dropped:
        notes.append(f"{_listed(dropped)} had no samples that are numbers, and were left out.")
    if not finished:
        raise RecordingError("has no channel with samples that are numbers.")
    rate = _rate(raw.sampling_rate, options.sampling_rate, notes)
    return Recording(
        tuple(finished),
        rate,
        _frequency(raw.nominal_frequency, options.nominal_frequency, finished, rate, notes),
        raw.start,
        raw.source,
        raw.format,
        tuple(notes),
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _select(channels: list[RawChannel], columns: Sequence[str | int] | None) -> list[RawChannel]:
    if columns is None:
        return channels
    chosen = []
    for column in [columns] if isinstance(columns, str) else columns:
        if isinstance(column, int):
            found = channels[column : column + 1] if 0 <= column < len(channels) else []
        else:
            found = [channel for channel in channels if clean(channel.name) == column]
        if not found:
            names = ", ".join(clean(channel.name) for channel in channels[:20])
            raise RecordingError(f"has no channel {column!r}; it has {names}.")
        chosen.append(found[0])
    return chosen


def _with_units(
    channels: list[RawChannel], units: str | Mapping[str, str] | None, notes: list[str]
) -> list[RawChannel]:
    if isinstance(units, str):
        return [replace(channel, unit=units) for channel in channels]
    given = units or {}
    guessed: list[str] = []
    result = []
    for channel in channels:
        name = clean(channel.name)
        unit = given.get(name, channel.unit)
        if not unit.strip():
            unit = guess_unit(name)
            if unit:
                guessed.append(f"{name} [{unit}]")
        result.append(replace(channel, unit=unit))
    if guessed:
        notes.append(f"Units are not given; from the names: {_listed(guessed)}.")
    if not any(channel.unit.strip() for channel in result):
        notes.append("Neither units nor names say what was measured: volts are assumed.")
        return [replace(channel, unit="V") for channel in result]
    return result


def _rate(found: float, given: float | None, notes: list[str]) -> float:
    if given is not None:
        if not _RATES[0] <= given < _RATES[1]:
            raise RecordingError(f"cannot be read with a sampling_rate of {given} Hz: 0.001 to 1e9 is allowed.")
        if found > 0 and abs(found / given - 1) > 1e-9:
            notes.append(f"The given sampling rate of {given:g} Hz replaces the file's {found:g} Hz.")
        return float(given)
    if not _RATES[0] <= found < _RATES[1]:
        raise RecordingError(
            f"has an impossible sampling rate of {found:g} Hz; sampling_rate gives the right one."
            if found
            else "does not say its sampling rate; give it as sampling_rate."
        )
    return float(found)


def _frequency(found: float, given: float | None, channels: list[Channel], rate: float, notes: list[str]) -> float:
    if given is not None:
        if not _FREQUENCIES[0] <= given <= _FREQUENCIES[1]:
            raise RecordingError(f"cannot be read with a nominal_frequency of {given} Hz: 5 to 1000 is allowed.")
        return float(given)
    for nominal in (50.0, 60.0):
        if 0 < abs(found - nominal) <= 2:
            notes.append(f"The file's frequency of {found:g} Hz is taken as {nominal:g} Hz nominal.")
            return nominal
    if _FREQUENCIES[0] <= found <= _FREQUENCIES[1]:
        return float(found)
    if found:
        notes.append(f"The file's nominal frequency of {found:g} Hz is impossible.")
    estimate = _estimated_frequency(channels, rate)
    if estimate:
        notes.append(f"The nominal frequency of {estimate:g} Hz was estimated from the samples.")
        return estimate
    notes.append("The nominal frequency is not given and cannot be estimated: 50 Hz is assumed.")
    return 50.0


def _estimated_frequency(channels: list[Channel], rate: float) -> float:
    """50 or 60 Hz, from the strongest line of the voltages between 44 and 66 Hz; 0 if there is none."""
    length = round(rate * 0.1)  # a window of five or six cycles; shorter than that a cycle count decides too little
    voltages = [channel for channel in channels if channel.is_voltage] or channels
    size = voltages[0].samples.size
    length = min(length, size)
    if length < 32 or length / rate < 0.03:
        return 0.0
    frequencies = np.arange(44.0, 66.5, 0.5)
    stride = max(1, length // 2000)  # 20 kHz are plenty for 60 Hz, up to where aliases are not the signal anyway
    window = np.hanning(length)[::stride]
    kernel = np.exp(-2j * np.pi * frequencies[:, None] * np.arange(0, length, stride) / rate)
    power, total = np.zeros(frequencies.size), 0.0
    starts = np.unique(np.linspace(0, size - length, min(20, max(1, size // length))).astype(int))
    for channel in voltages[:3]:
        scale = float(np.nanmax(np.abs(channel.samples))) or 1.0
        for start in starts:
            part = channel.samples[start : start + length : stride] / scale
            if np.isnan(part).any():
                continue
            part = (part - part.mean()) * window
            power += np.abs(kernel @ part) ** 2
            total += float(np.sum(part**2)) * float(np.sum(window**2))
    best = int(np.argmax(power))
    # Half of the energy in one line is a mains voltage; the normalisation makes a pure line about 0.5 x 0.67.
    if total <= 0 or power[best] / total < 0.15:
        return 0.0
    return 50.0 if frequencies[best] < 55 else 60.0
