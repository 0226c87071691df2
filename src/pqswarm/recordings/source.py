"""A recording that stays in its file: samples are fetched, checked and scaled to SI units on demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pqswarm._base.text import count_text, file_text, frequency_text, printable
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.files import naming_file
from pqswarm.recordings.frequency import MOST_CHANNELS, estimate_nominal
from pqswarm.recordings.names import find_phases, guess_unit, is_summary, si_unit
from pqswarm.recordings.recording import (
    MAX_CHANNELS,
    ChannelHeader,
    Options,
    RawHeader,
    RawSource,
    Recording,
    RecordingError,
    RecordingHeader,
    StatusChannel,
    shift_time,
)
from pqswarm.recordings.text import clean_name, first_names

_PIECE = 262_144  # samples fetched at once
_MAX_NOTES = 10  # on status channels
_MAX_VALUE = 1e15  # larger samples are not measurements, and their squares would overflow


def scale_source_samples(samples: FloatArray, factor: float) -> tuple[FloatArray, int]:
    """Return samples times the factor of their unit, with NaN for absurd ones, and the number of these."""
    samples = np.asarray(samples, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if factor != 1:
            samples = samples * factor
        if bool((np.abs(samples) <= _MAX_VALUE).all()):
            return samples, 0
        bad = ~(np.abs(samples) <= _MAX_VALUE) & ~np.isnan(samples)
    return np.where(bad, np.nan, samples), int(bad.sum())


@dataclass(frozen=True, eq=False)
class PickedChannel:
    """A channel that is read: its number in the file, its header, and the factor to SI units."""

    number: int
    header: ChannelHeader
    factor: float

    def scale(self, samples: FloatArray) -> FloatArray:
        """Samples of the file in SI units."""
        return scale_source_samples(samples, self.factor)[0]


@dataclass(frozen=True, eq=False, kw_only=True)
class FileSource(RecordingHeader):
    """A :class:`RecordingSource` over the result of a reader.

    `picked` are its channels in `raw`. Notes on samples, such as how many are
    missing, are those of the recording that :meth:`read` returns. Status channels are read for the whole recording;
    use :meth:`StatusChannel.read` for part of one.
    """

    n_samples: int
    raw: RawSource
    picked: Sequence[PickedChannel]

    @cached_property
    def status(self) -> tuple[StatusChannel, ...]:
        """Status channels of the whole recording, read once."""
        with naming_file(self.path):
            channels = self.raw.status()
        return tuple(replace(one, name=clean_name(one.name) or f"status {n}") for n, one in enumerate(channels, 1))

    def read(self, first: int = 0, stop: int | None = None) -> Recording:
        """Return the samples from `first` to before `stop` of all channels, as a recording of its own."""
        first, stop, _ = slice(first, stop).indices(self.n_samples)
        stop = max(first, stop)
        notes = []
        n_bad = 0
        n_missing = 0
        samples = np.empty((len(self.channels), stop - first))
        for begin in range(first, stop, _PIECE):
            end = min(begin + _PIECE, stop)
            with naming_file(self.path):
                piece = self.raw.fetch(begin, end, [one.number for one in self.picked])
            for row, values, one in zip(samples, piece, self.picked, strict=True):
                if self.raw.missing:
                    n_missing += int(np.isnan(values).sum())
                row[begin - first : end - first], bad = scale_source_samples(values, one.factor)
                n_bad += bad
        if n_missing:
            notes.append(self.raw.missing.format(n_missing))
        if n_bad:
            notes.append(f"{count_text(n_bad, 'sample')} infinite or beyond {_MAX_VALUE:g}: treated as missing.")
        status = self.status if (first, stop) == (0, self.n_samples) else ()
        notes += [f"{one.name}: {one.note}" for one in status if one.note][:_MAX_NOTES]
        return Recording(
            channels=tuple(one.with_samples(row) for one, row in zip(self.channels, samples, strict=True)),
            sampling_rate=self.sampling_rate,
            nominal_frequency=self.nominal_frequency,
            start=shift_time(self.start, first / self.sampling_rate),
            source=self.source,
            format=self.format,
            notes=(*self.notes, *notes),
            station=self.station,
            path=self.path,
            status=status,
        )


_MOST_NOTES = 40
_NOTE_LIMIT = 500  # characters
_MIN_PER_CYCLE = 4  # samples
_LOOK = 262_144  # samples of all channels read at once
_RATES = (1e-5, 1e9)  # Hz; a log has a value a day
_FREQUENCIES = (5.0, 1000.0)  # Hz; railways have 16.7, aircraft 400


def normalize_source(raw: RawSource, options: Options, path: str = "") -> FileSource:
    """Apply the caller's overrides and build the recording in SI units; its notes list all changes."""
    notes = [printable(note[:_NOTE_LIMIT]) for note in dict.fromkeys(raw.notes)]
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"Not shown: {count_text(len(notes) - _MOST_NOTES, 'more note')}."]
    if len(raw.channels) > MAX_CHANNELS:
        raise RecordingError(f"has {len(raw.channels)} channels; at most {MAX_CHANNELS} are read.")
    picked = _usable_source_channels(raw, _pick_source_channels(raw.channels, options, notes), notes)
    rate = _source_rate(raw.sampling_rate, options.sampling_rate, clean_name(raw.format), notes)
    voltages = [one for one in picked if one.header.is_voltage] or picked

    def fetch(first: int, stop: int) -> list[FloatArray]:
        chosen = voltages[:MOST_CHANNELS]
        values = raw.fetch(first, stop, [one.number for one in chosen])
        return [one.scale(samples) for one, samples in zip(chosen, values, strict=True)]

    frequency = _source_frequency(raw.nominal_frequency, options.nominal_frequency, fetch, raw.n_samples, rate, notes)
    if rate < _MIN_PER_CYCLE * frequency:
        notes.append(
            f"At {frequency_text(rate)} these are not waveforms of {frequency:g} Hz: perhaps RMS values, or the unit "
            "of time is wrong; sampling_rate sets the right rate."
        )
    return FileSource(
        channels=tuple(one.header for one in picked),
        sampling_rate=rate,
        nominal_frequency=frequency,
        n_samples=raw.n_samples,
        start=raw.start,
        source=file_text(raw.source),
        format=clean_name(raw.format),
        notes=tuple(dict.fromkeys(notes)),
        station=clean_name(raw.station),
        path=path,
        raw=raw,
        picked=picked,
    )


def _pick_source_channels(channels: Sequence[RawHeader], options: Options, notes: list[str]) -> list[PickedChannel]:
    """The channels to read, with names, phases and SI units."""
    numbers = _select_source_channels(channels, options.columns)
    picked: list[PickedChannel] = []
    given = [channels[number] for number in numbers]
    units = _source_units(given, options.units, notes)
    phases = find_phases([(channel.phase, channel.name) for channel in given])
    for number, written, phase in zip(numbers, units, phases, strict=True):
        unit, factor = si_unit(written)
        if "/" in written and unit in ("V", "A"):
            notes.append(f"Of the unit {clean_name(written)!r}, the first is taken.")
        name = clean_name(channels[number].name) or f"channel {len(picked) + 1}"
        if unit in ("V", "A") and is_summary(name):
            unit = f"{unit} rms"
        header = ChannelHeader(name, unit, phase)
        picked.append(PickedChannel(number, header, factor))
    return picked


def _usable_source_channels(raw: RawSource, picked: Sequence[PickedChannel], notes: list[str]) -> list[PickedChannel]:
    """The channels with at least one sample that is a number; each is read until one is found."""
    empty = list(picked)
    piece = max(_LOOK // max(len(picked), 1), 1024)
    for first in range(0, raw.n_samples, piece):
        values = raw.fetch(first, min(first + piece, raw.n_samples), [one.number for one in empty])
        empty = [one for one, samples in zip(empty, values, strict=True) if np.isnan(one.scale(samples)).all()]
        if not empty:
            break
    if len(empty) == len(picked):
        raise RecordingError("has no channel with samples that are numbers.")
    if empty:
        notes.append(f"No samples that are numbers: {first_names([one.header.name for one in empty], 5)}; ignored.")
    dropped = set(empty)
    return [one for one in picked if one not in dropped]


def _select_source_channels(channels: Sequence[RawHeader], columns: Sequence[str | int] | None) -> list[int]:
    """Numbers of the channels to read."""
    if columns is None:
        return list(range(len(channels)))
    chosen = []
    for column in [columns] if isinstance(columns, str) else columns:
        places = [i for i, channel in enumerate(channels) if column in (i, clean_name(channel.name))]
        if not places:
            names = ", ".join(clean_name(channel.name) for channel in channels[:20])
            raise RecordingError(f"has no channel {column!r}; it has {names}.")
        chosen.append(places[0])
    return chosen


def _source_units(channels: list[RawHeader], units: str | Mapping[str, str] | None, notes: list[str]) -> list[str]:
    """Units of the channels: given by the caller or the file, or guessed from names."""
    if isinstance(units, str):
        return [units for _ in channels]
    given = units or {}
    guessed: list[str] = []
    result = []
    for channel in channels:
        name = clean_name(channel.name)
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


def _source_rate(written: float, given: float | None, kind: str, notes: list[str]) -> float:
    if given is not None:
        if not _RATES[0] <= given < _RATES[1]:
            raise RecordingError(f"cannot be read with a sampling_rate of {given} Hz: 1e-5 to 1e9 is allowed.")
        if written > 0 and abs(written / given - 1) > 1e-9:
            notes.append(
                f"The given sampling rate of {frequency_text(given)} replaces the file's {frequency_text(written)}."
            )
        return float(given)
    if not _RATES[0] <= written < _RATES[1]:
        raise RecordingError(
            f"has an impossible sampling rate of {written:g} Hz; set sampling_rate."
            if written
            else f"({kind}) does not give its sampling rate; set sampling_rate."
        )
    return float(written)


def _source_frequency(
    written: float,
    given: float | None,
    fetch: Callable[[int, int], list[FloatArray]],
    n_samples: int,
    rate: float,
    notes: list[str],
) -> float:
    if given is not None:
        if not _FREQUENCIES[0] <= given <= _FREQUENCIES[1]:
            raise RecordingError(f"cannot be read with a nominal_frequency of {given} Hz: 5 to 1000 is allowed.")
        return float(given)
    for nominal in (50.0, 60.0):
        if 0 < abs(written - nominal) <= 2:
            notes.append(f"The file's frequency of {written:g} Hz is taken as {nominal:g} Hz nominal.")
            return nominal
    if _FREQUENCIES[0] <= written <= _FREQUENCIES[1]:
        return float(written)
    if written:
        notes.append(f"The file's nominal frequency of {written:g} Hz is impossible.")
    estimate = estimate_nominal(fetch, n_samples, rate)
    if estimate is not None:
        notes.append(f"The nominal frequency of {estimate:g} Hz was estimated from the samples.")
        return estimate
    notes.append("The nominal frequency is not given and cannot be estimated: 50 Hz is assumed.")
    return 50.0
