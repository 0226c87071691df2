"""Turn the result of a reader into a recording: overrides, SI units, phases, and checks for all formats."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pqswarm._base.text import count_text, file_text, printable
from pqswarm._base.typing import FloatArray
from pqswarm._base.units import frequency_text
from pqswarm.recordings.frequency import MOST_CHANNELS, estimate_nominal
from pqswarm.recordings.phases import find_phase
from pqswarm.recordings.reader import MAX_CHANNELS, Options, RawHeader, RawSource
from pqswarm.recordings.recording import ChannelHeader, RecordingError
from pqswarm.recordings.source import FileSource, scale_source_samples
from pqswarm.recordings.text import first_names
from pqswarm.recordings.units import clean, guess_unit, is_summary, si_unit

_MAX_NOTES = 40
_NOTE_LIMIT = 500  # characters
_MIN_PER_CYCLE = 4  # samples
_PIECE = 262_144  # samples of all channels read at once
_RATES = (1e-5, 1e9)  # Hz; a log has a value a day
_FREQUENCIES = (5.0, 1000.0)  # Hz; railways have 16.7, aircraft 400


def normalize(raw: RawSource, options: Options, path: str = "") -> FileSource:
    """Apply the caller's overrides and build the recording in SI units; its notes list all changes."""
    notes = [printable(note[:_NOTE_LIMIT]) for note in dict.fromkeys(raw.notes)]
    if len(notes) > _MAX_NOTES:
        notes = [*notes[:_MAX_NOTES], f"Not shown: {count_text(len(notes) - _MAX_NOTES, 'more note')}."]
    if len(raw.channels) > MAX_CHANNELS:
        raise RecordingError(f"has {len(raw.channels)} channels; at most {MAX_CHANNELS} are read.")
    numbers = _select_channels_to_normalize(raw.channels, options.columns)
    units = _units([raw.channels[i] for i in numbers], options.units, notes)
    channels: list[ChannelHeader] = []
    factors: list[float] = []
    for i, written in zip(numbers, units, strict=True):
        unit, factor = si_unit(written)
        if "/" in written and unit in ("V", "A"):
            notes.append(f"Of the unit {clean(written)!r}, the first is taken.")
        name = clean(raw.channels[i].name) or f"channel {len(channels) + 1}"
        if unit in ("V", "A") and is_summary(name):
            unit = f"{unit} rms"
        channels.append(ChannelHeader(name, unit, find_phase(raw.channels[i].phase, name)))
        factors.append(factor)
    kept = _usable_channels_to_normalize(raw, numbers, factors)
    if len(kept) < len(channels):
        having = set(kept)
        dropped = [channel.name for i, channel in enumerate(channels) if i not in having]
        notes.append(f"No samples that are numbers: {first_names(dropped, 5)}; ignored.")
    if not kept:
        raise RecordingError("has no channel with samples that are numbers.")
    channels, numbers, factors = [channels[i] for i in kept], [numbers[i] for i in kept], [factors[i] for i in kept]
    rate = _rate(raw.sampling_rate, options.sampling_rate, clean(raw.format), notes)
    voltages = [i for i, channel in enumerate(channels) if channel.is_voltage] or list(range(len(channels)))

    def fetch(first: int, stop: int) -> list[FloatArray]:
        chosen = voltages[:MOST_CHANNELS]
        values = raw.fetch(first, stop, [numbers[i] for i in chosen])
        return [scale_source_samples(x, factors[i])[0] for i, x in zip(chosen, values, strict=True)]

    frequency = _choose_frequency(raw.nominal_frequency, options.nominal_frequency, fetch, raw.n_samples, rate, notes)
    if rate < _MIN_PER_CYCLE * frequency:
        notes.append(
            f"At {frequency_text(rate)} these are not waveforms of {frequency:g} Hz: perhaps RMS values, or the unit "
            "of time is wrong; sampling_rate sets the right rate."
        )
    texts = file_text(raw.source), clean(raw.format), tuple(dict.fromkeys(notes)), clean(raw.station), path
    held = raw, numbers, factors
    return FileSource(tuple(channels), rate, frequency, raw.n_samples, raw.start, *texts, *held)


def _usable_channels_to_normalize(raw: RawSource, numbers: list[int], factors: list[float]) -> list[int]:
    """Positions of the channels with at least one sample that is a number; each is read until one is found."""
    missing = list(range(len(numbers)))
    piece = max(_PIECE // max(len(numbers), 1), 1024)
    for first in range(0, raw.n_samples, piece):
        values = raw.fetch(first, min(first + piece, raw.n_samples), [numbers[i] for i in missing])
        missing = [
            i
            for i, x in zip(missing, values, strict=True)
            if bool(np.isnan(scale_source_samples(x, factors[i])[0]).all())
        ]
        if not missing:
            break
    lacking = set(missing)
    return [i for i in range(len(numbers)) if i not in lacking]


def _select_channels_to_normalize(channels: Sequence[RawHeader], columns: Sequence[str | int] | None) -> list[int]:
    """Numbers of the channels to read."""
    if columns is None:
        return list(range(len(channels)))
    chosen = []
    for column in [columns] if isinstance(columns, str) else columns:
        if isinstance(column, int):
            found = [column] if 0 <= column < len(channels) else []
        else:
            found = [i for i, channel in enumerate(channels) if clean(channel.name) == column]
        if not found:
            names = ", ".join(clean(channel.name) for channel in channels[:20])
            raise RecordingError(f"has no channel {column!r}; it has {names}.")
        chosen.append(found[0])
    return chosen


def _units(channels: list[RawHeader], units: str | Mapping[str, str] | None, notes: list[str]) -> list[str]:
    """Units of the channels: given by the caller or the file, or guessed from names."""
    if isinstance(units, str):
        return [units for _ in channels]
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
        result.append(unit)
    if guessed:
        notes.append(f"No units are given; guessed from names: {first_names(guessed, 5)}.")
    if not any(unit.strip() for unit in result):
        notes.append("Neither units nor names say what was measured: volts are assumed.")
        return ["V" for _ in channels]
    return result


def _rate(found: float, given: float | None, kind: str, notes: list[str]) -> float:
    if given is not None:
        if not _RATES[0] <= given < _RATES[1]:
            raise RecordingError(f"cannot be read with a sampling_rate of {given} Hz: 1e-5 to 1e9 is allowed.")
        if found > 0 and abs(found / given - 1) > 1e-9:
            notes.append(
                f"The given sampling rate of {frequency_text(given)} replaces the file's {frequency_text(found)}."
            )
        return float(given)
    if not _RATES[0] <= found < _RATES[1]:
        raise RecordingError(
            f"has an impossible sampling rate of {found:g} Hz; set sampling_rate."
            if found
            else f"({kind}) does not give its sampling rate; set sampling_rate."
        )
    return float(found)


def _choose_frequency(
    found: float, given: float | None, fetch: Callable[[int, int], list[FloatArray]], n_samples: int, rate: float,
    notes: list[str],
) -> float:  # fmt: skip
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
    estimate = estimate_nominal(fetch, n_samples, rate)
    if estimate is not None:
        notes.append(f"The nominal frequency of {estimate:g} Hz was estimated from the samples.")
        return estimate
    notes.append("The nominal frequency is not given and cannot be estimated: 50 Hz is assumed.")
    return 50.0
