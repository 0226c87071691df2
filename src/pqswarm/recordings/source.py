"""A recording that stays in its file: samples are fetched, checked and scaled to SI units on demand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.files import naming_recording_file
from pqswarm.recordings.reader import RawSource
from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, shift_time
from pqswarm.recordings.status import StatusChannel
from pqswarm.recordings.units import clean

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
class FileSource:
    """A :class:`RecordingSource` over the result of a reader.

    `numbers` are those of the channels in `raw`, `factors` convert to SI units. Notes on samples, such as how many are
    missing, are those of the recording that :meth:`read` returns. Status channels are read for the whole recording;
    use :meth:`StatusChannel.read` for part of one.
    """

    channels: tuple[ChannelHeader, ...]
    sampling_rate: float
    nominal_frequency: float
    n_samples: int
    start: datetime | None
    source: str
    format: str
    notes: tuple[str, ...]
    station: str
    path: str
    raw: RawSource
    numbers: Sequence[int]
    factors: Sequence[float]

    @cached_property
    def status(self) -> tuple[StatusChannel, ...]:
        """Status channels of the whole recording, read once."""
        with naming_recording_file(self.path):
            found = self.raw.status()
        return tuple(replace(one, name=clean(one.name) or f"status {n}") for n, one in enumerate(found, 1))

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
            with naming_recording_file(self.path):
                piece = self.raw.fetch(begin, end, self.numbers)
            for row, values, factor in zip(samples, piece, self.factors, strict=True):
                if self.raw.missing:
                    n_missing += int(np.isnan(values).sum())
                row[begin - first : end - first], bad = scale_source_samples(values, factor)
                n_bad += bad
        channels = [Channel(one.name, one.unit, one.phase, x) for one, x in zip(self.channels, samples, strict=True)]
        if n_missing:
            notes.append(self.raw.missing.format(n_missing))
        if n_bad:
            notes.append(f"{count_text(n_bad, 'sample')} infinite or beyond {_MAX_VALUE:g}: treated as missing.")
        status = self.status if (first, stop) == (0, self.n_samples) else ()
        notes += [f"{one.name}: {one.note}" for one in status if one.note][:_MAX_NOTES]
        start = self.start if not first else shift_time(self.start, first / self.sampling_rate)
        about = self.source, self.format, (*self.notes, *notes), self.station, self.path
        return Recording(tuple(channels), self.sampling_rate, self.nominal_frequency, start, *about, status)
