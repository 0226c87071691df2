"""A recording: channels of samples in SI units, with all that is known about them."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import FileFormatError, PqswarmError

__all__ = ["Channel", "Recording", "RecordingError"]


class RecordingError(FileFormatError):
    """A recording cannot be read; the message names the file and the reason."""


@dataclass(frozen=True, eq=False)
class Channel:
    """One measured quantity.

    Attributes
    ----------
    name : str
        Its name in the file.
    unit : str
        SI unit of the samples: ``"V"``, ``"A"``, or what the file says, prefixes removed.
    phase : str
        ``"A"``, ``"B"``, ``"C"``, ``"N"``, ``"AB"``, ``"BC"``, ``"CA"``, or empty if it is not known.
    samples : ndarray of shape (n_samples,)
        Values in `unit`; NaN where the file marks a sample as missing.
    """

    name: str
    unit: str
    phase: str
    samples: FloatArray

    @property
    def is_voltage(self) -> bool:
        """Whether it is a voltage."""
        return self.unit == "V"

    @property
    def is_current(self) -> bool:
        """Whether it is a current."""
        return self.unit == "A"


@dataclass(frozen=True, eq=False)
class Recording:
    """Channels sampled together at one rate.

    Attributes
    ----------
    channels : tuple of Channel
        What was measured, all of the same length.
    sampling_rate : float
        Samples per second [Hz].
    nominal_frequency : float
        Of the grid [Hz]: 50 or 60 where the file does not say and it could be estimated.
    start : datetime or None
        Time of the first sample.
    source : str
        File, and the place in it where it holds several recordings, such as ``example.pqd, observation 3``.
    format : str
        Such as ``"COMTRADE 1999 BINARY"``.
    notes : tuple of str
        What had to be assumed, or tolerated, in reading it; one sentence each.
    """

    channels: tuple[Channel, ...]
    sampling_rate: float
    nominal_frequency: float
    start: datetime | None = None
    source: str = ""
    format: str = ""
    notes: tuple[str, ...] = field(default=())

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

    def channel(self, name: str) -> Channel:
        """Return the channel of that name.

        Parameters
        ----------
        name : str
            Its name, or its phase if only one voltage has it.

        Returns
        -------
        Channel
            The channel.
        """
        named = [channel for channel in self.channels if channel.name == name]
        by_phase = [channel for channel in self.voltages if channel.phase == name]
        found = named or by_phase
        if len(found) != 1:
            names = ", ".join(channel.name for channel in self.channels)
            raise PqswarmError(f"{self.source or 'the recording'} has no single channel {name!r}; it has {names}.")
        return found[0]
