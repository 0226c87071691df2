"""From what a reader found to a :class:`Recording`: overrides, SI units, phases, and checks common to all formats."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pqswarm.recordings.frequency import estimate_nominal
from pqswarm.recordings.phases import find_phase
from pqswarm.recordings.reader import MAX_CHANNELS, Options, RawChannel, RawRecording
from pqswarm.recordings.recording import Channel, Recording, RecordingError
from pqswarm.recordings.units import clean, guess_unit, is_summary, si_unit

__all__ = ["normalise"]

_MAX_NOTES = 40
_MAX_VALUE = 1e15  # larger samples are not measured, and their squares would overflow later
_RATES = (1e-3, 1e9)  # Hz
_FREQUENCIES = (5.0, 1000.0)  # Hz; railways have 16.7, aircraft 400


def normalise(raw: RawRecording, options: Options) -> Recording:
    """Apply the caller's overrides and make the recording, in SI units; its notes say what had to be changed."""
    notes = list(dict.fromkeys(raw.notes))
    if len(notes) > _MAX_NOTES:
        notes = [*notes[:_MAX_NOTES], f"{len(notes) - _MAX_NOTES} more notes are not shown."]
    if len(raw.channels) > MAX_CHANNELS:
        raise RecordingError(f"has {len(raw.channels)} channels; at most {MAX_CHANNELS} are read.")
    channels = _select(raw.channels, options.columns)
    channels = _apply_units(channels, options.units, notes)
    kept: list[Channel] = []
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
        name = clean(channel.name) or f"channel {len(kept) + len(dropped) + 1}"
        if np.isnan(samples).all():
            dropped.append(name)
            continue
        if unit in ("V", "A") and is_summary(name):
            unit = f"{unit} rms"
        kept.append(Channel(name, unit, find_phase(channel.phase, name), samples))
    if n_bad:
        notes.append(f"{n_bad} samples were infinite or beyond {_MAX_VALUE:g}: they are taken as missing.")
    if dropped:
        notes.append(f"{_join(dropped)} had no samples that are numbers, and were ignored.")
    if not kept:
        raise RecordingError("has no channel with samples that are numbers.")
    rate = _rate(raw.sampling_rate, options.sampling_rate, notes)
    return Recording(
        tuple(kept),
        rate,
        _frequency(raw.nominal_frequency, options.nominal_frequency, kept, rate, notes),
        raw.start,
        raw.source,
        raw.format,
        tuple(notes),
    )


def _join(names: list[str]) -> str:
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


def _apply_units(
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
        notes.append(f"Units are not given; from the names: {_join(guessed)}.")
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
    voltages = [channel for channel in channels if channel.is_voltage] or channels
    estimate = estimate_nominal([channel.samples for channel in voltages], rate)
    if estimate is not None:
        notes.append(f"The nominal frequency of {estimate:g} Hz was estimated from the samples.")
        return estimate
    notes.append("The nominal frequency is not given and cannot be estimated: 50 Hz is assumed.")
    return 50.0
