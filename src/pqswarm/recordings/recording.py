"""Recordings: channels of samples in SI units, in memory or in a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.recordings.status import StatusChannel

STATES = ("connected", "disconnected", "partial", "derived", "auxiliary")
"""What a voltage can be: see :class:`pqswarm.measure.ChannelState`."""


class RecordingError(FileFormatError):
    """A recording cannot be read; the message names the file and the reason."""


def shift_time(start: datetime | None, seconds: float) -> datetime | None:
    """Return a time some seconds later, or None if it is beyond the calendar."""
    try:
        return None if start is None else start + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


@dataclass(frozen=True, eq=False)
class ChannelHeader:
    """A measured quantity, without its samples.

    Attributes
    ----------
    name : str
        Its name in the file.
    unit : str
        SI unit of the samples: ``"V"``, ``"A"``, or that of the file, without prefix.
    phase : str
        ``"A"``, ``"B"``, ``"C"``, ``"N"``, ``"AB"``, ``"BC"``, ``"CA"``, or empty if it is not known.
    system : str
        The three-phase system that it belongs to, from a site file; empty if it is inferred from the name.
    state : str
        One of :data:`STATES`, from a site file; empty if it is to be found.
    """

    name: str
    unit: str
    phase: str
    system: str = field(default="", kw_only=True)
    state: str = field(default="", kw_only=True)

    @property
    def is_voltage(self) -> bool:
        """Whether it is a voltage."""
        return self.unit == "V"

    @property
    def is_current(self) -> bool:
        """Whether it is a current."""
        return self.unit == "A"

    def with_samples(self, samples: FloatArray) -> "Channel":
        """Return the channel with samples, in its unit."""
        return Channel(self.name, self.unit, self.phase, samples, system=self.system, state=self.state)


@dataclass(frozen=True, eq=False)
class Channel(ChannelHeader):
    """One measured quantity.

    Attributes
    ----------
    name, unit, phase, system, state : str
        As in :class:`ChannelHeader`.
    samples : ndarray of shape (n_samples,)
        Values in `unit`; NaN for missing samples.
    """

    samples: FloatArray


class RecordingSource(Protocol):
    """A recording whose samples are read on demand.

    A :class:`Recording` is one; :func:`pqswarm.recordings.open_recordings` returns others, whose samples stay in the
    file. Attributes are those of :class:`Recording`; channels may have no samples.
    """

    @property
    def channels(self) -> Sequence[ChannelHeader]:
        """What was measured."""

    @property
    def sampling_rate(self) -> float:
        """Samples per second [Hz]."""

    @property
    def nominal_frequency(self) -> float:
        """Nominal frequency of the grid [Hz]."""

    @property
    def n_samples(self) -> int:
        """Samples of each channel."""

    @property
    def start(self) -> datetime | None:
        """Time of the first sample."""

    @property
    def source(self) -> str:
        """File name, and the position in the file."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def station(self) -> str:
        """Where it was recorded."""

    @property
    def format(self) -> str:
        """Format of the file."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions made in reading it."""

    @property
    def status(self) -> tuple[StatusChannel, ...]:
        """Status channels, read on demand."""

    def read(self, first: int = 0, stop: int | None = None) -> "Recording":
        """Return the samples from `first` up to, but not including, `stop` as a recording."""


@dataclass(frozen=True, eq=False)
class RecordingHeader:
    """A recording without its samples; see :class:`Recording`."""

    channels: Sequence[ChannelHeader]
    sampling_rate: float
    nominal_frequency: float
    start: datetime | None = None
    source: str = ""
    format: str = ""
    notes: tuple[str, ...] = field(default=())
    station: str = ""
    path: str = ""


@dataclass(frozen=True, eq=False)
class Recording(RecordingHeader):
    """Channels sampled together at one rate.

    Attributes
    ----------
    channels : tuple of Channel
        What was measured, all of the same length.
    sampling_rate : float
        Samples per second [Hz].
    nominal_frequency : float
        Of the grid [Hz]: estimated as 50 or 60 if the file does not give it.
    start : datetime or None
        Time of the first sample.
    source : str
        File, and the position in it if it holds several recordings, such as ``example.pqd, observation 3``.
    format : str
        Such as ``"COMTRADE 1999 BINARY"``.
    notes : tuple of str
        Assumptions and tolerated faults, one sentence each.
    station : str
        Where it was recorded; empty if the file does not say.
    path : str
        The file, as it was given.
    status : tuple of StatusChannel
        Status channels of COMTRADE: what was on or off.
    """

    channels: tuple[Channel, ...]
    status: tuple[StatusChannel, ...] = field(default=())

    def __post_init__(self) -> None:
        lengths = {channel.samples.shape for channel in self.channels}
        if len(lengths) != 1 or len(next(iter(lengths), ())) != 1:
            raise PqswarmError("a recording needs channels, all with the same number of samples.")
        if not (0 < self.sampling_rate < 1e9 and 0 < self.nominal_frequency < 1e4):
            raise PqswarmError(
                f"a recording cannot have a sampling rate of {self.sampling_rate} Hz and a nominal frequency of "
                f"{self.nominal_frequency} Hz."
            )

    @property
    def n_samples(self) -> int:
        """Samples of each channel."""
        return int(self.channels[0].samples.size)

    @property
    def duration(self) -> float:
        """Length [s]."""
        return self.n_samples / self.sampling_rate

    @property
    def cycles(self) -> float:
        """Length in cycles of the nominal frequency."""
        return self.duration * self.nominal_frequency

    @property
    def time(self) -> FloatArray:
        """Time of each sample from the first [s]."""
        return np.arange(self.n_samples) / self.sampling_rate

    @property
    def voltages(self) -> tuple[Channel, ...]:
        """The channels that are voltages."""
        return tuple(channel for channel in self.channels if channel.is_voltage)

    def read(self, first: int = 0, stop: int | None = None) -> "Recording":
        """Return part of the recording; samples are shared.

        Parameters
        ----------
        first, stop : int
            First sample, and the one after the last; by default all.

        Returns
        -------
        Recording
            It starts at its own first sample.

        Examples
        --------
        >>> one = Recording((Channel("U", "V", "A", np.arange(10.0)),), 1000.0, 50.0, datetime(2026, 1, 1))
        >>> part = one.read(4, 6)
        >>> part.channels[0].samples.tolist(), part.start.microsecond
        ([4.0, 5.0], 4000)
        """
        first, stop, _ = slice(first, stop).indices(self.n_samples)
        if (first, stop) == (0, self.n_samples):
            return self
        channels = tuple(replace(channel, samples=channel.samples[first:stop]) for channel in self.channels)
        start = shift_time(self.start, first / self.sampling_rate)
        status = tuple(one.read(first, max(first, stop)) for one in self.status)
        return replace(self, channels=channels, start=start, status=status)

    def channel(self, name: str) -> Channel:
        """Return the channel of that name.

        Parameters
        ----------
        name : str
            Name, or phase if only one voltage has it.

        Returns
        -------
        Channel
            The channel.
        """
        named = [channel for channel in self.channels if channel.name == name]
        by_phase = [channel for channel in self.voltages if channel.phase == name]
        matching = named or by_phase
        if len(matching) != 1:
            names = ", ".join(channel.name for channel in self.channels)
            raise PqswarmError(f"{self.source or 'the recording'} has no single channel {name!r}; it has {names}.")
        return matching[0]
