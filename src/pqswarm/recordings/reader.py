"""Readers: the interface between file formats and the rest."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pqswarm._base.checks import check_name
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.status import StatusChannel

MAX_BYTES = 512_000_000
"""Default limit of the samples of one file, 8 bytes each [byte]."""

MAX_CHANNELS = 4096
"""Maximum number of channels of a recording."""


@dataclass(frozen=True)
class Options:
    """Options of a reader: overrides of what the file says, and memory limits.

    Attributes
    ----------
    sampling_rate, nominal_frequency : float, optional
        Override those of the file [Hz].
    columns : sequence of str or int, optional
        Names or numbers (from 0) of the channels to read; by default all.
    units : str or mapping of str to str, optional
        Unit of all channels, or by name, such as ``"kV"``; overrides the file.
    time_column : str or int, optional
        Name or number (from 0) of the time column of a table.
    delimiter, decimal : str, optional
        Separator and decimal sign of a table.
    encoding : str, optional
        Encoding of text.
    max_bytes : int
        Limit of the samples read at once, 8 bytes each [byte]; files of more than four times this size are not read as
        a whole. Samples that :func:`open_recordings` leaves in the file are not limited.
    whole : bool
        Whether all samples will be read at once, as by :func:`read`: a file that is too large is then refused early.
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
    whole: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the options by name; the error for an unknown one suggests the nearest."""
        for name in given:
            check_name("option of a reader", name, [option.name for option in fields(cls)])
        return cls(**given)

    def check_samples(self, count: int) -> None:
        """Refuse more samples than the limit; `count` is that of all channels together."""
        if count * 8 > self.max_bytes:
            raise RecordingError(
                f"holds {count} samples ({count * 8 / 1e6:.0f} MB), over the limit of "
                f"{self.max_bytes / 1e6:.0f} MB; max_bytes raises it."
            )

    def unpacked_limit(self, size: int, base: int) -> int:
        """Maximum unpacked size of a packed file of `size` bytes; a `max_bytes` above the default lifts it too."""
        return self.max_bytes if self.max_bytes > MAX_BYTES else min(self.max_bytes, base + 100 * size)


@dataclass
class RawHeader:
    """A channel as described in the file."""

    name: str
    unit: str
    phase: str


@dataclass
class RawChannel(RawHeader):
    """A channel as stored in the file: `unit` and `phase` as written there, `samples` in that unit."""

    samples: FloatArray


@dataclass
class RawSource:
    """A recording as stored in the file; samples stay there until they are fetched.

    Attributes
    ----------
    channels : sequence of RawHeader
        What was measured.
    sampling_rate : float
        [Hz]; 0 if the file does not give it.
    n_samples : int
        Samples of each channel.
    fetch : callable
        Takes the first sample, the one after the last, and the numbers of channels; returns an array for each of these
        channels, in the unit of its header, with NaN for missing samples. It is thread-safe, and the samples do not
        depend on how they are split into calls.
    nominal_frequency, start, source, format, notes, is_main, station
        As in :class:`RawRecording`.
    missing : str
        Note on missing samples, with ``{}`` for their number; empty for no note.
    status : callable
        Returns the status channels, named as in the file; called on demand.
    """

    channels: Sequence[RawHeader]
    sampling_rate: float
    n_samples: int
    fetch: Callable[[int, int, Sequence[int]], Sequence[FloatArray]]
    nominal_frequency: float = 0.0
    start: datetime | None = None
    source: str = ""
    format: str = ""
    notes: list[str] = field(default_factory=list)
    is_main: bool = False
    station: str = ""
    missing: str = ""
    status: Callable[[], Sequence[StatusChannel]] = tuple


@dataclass
class RawRecording:
    """A recording as stored in the file.

    Attributes
    ----------
    channels : list of RawChannel
        All of the same length.
    sampling_rate, nominal_frequency : float
        [Hz]; 0 if the file does not give it.
    start : datetime or None
        Time of the first sample.
    source, format : str
        As in :class:`Recording`; by default the name of the file, and of the reader.
    notes : list of str
        Assumptions and tolerated faults, one sentence each.
    is_main : bool
        Whether :func:`read` returns this one; by default it returns the first.
    station : str
        Where it was recorded, according to the file.
    """

    channels: list[RawChannel]
    sampling_rate: float
    nominal_frequency: float = 0.0
    start: datetime | None = None
    source: str = ""
    format: str = ""
    notes: list[str] = field(default_factory=list)
    is_main: bool = False
    station: str = ""

    def as_source(self) -> RawSource:
        """Return the recording as a source whose samples are fetched."""
        lengths = {channel.samples.shape for channel in self.channels}
        if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
            raise RecordingError("has channels of different lengths.")
        return RawSource(
            **vars(self),
            n_samples=self.channels[0].samples.size if self.channels else 0,
            fetch=lambda first, stop, channels: [self.channels[i].samples[first:stop] for i in channels],
        )


@dataclass(frozen=True)
class Reader:
    """A file format.

    A package adds one with an entry point in the group ``pqswarm.readers``, named like the reader;
    :func:`read`, :func:`read_all` and ``pqswarm identify`` then use it. Names, units and phases are normalised later,
    for all formats.

    Attributes
    ----------
    name : str
        As in ``read(path, format=name)``.
    suffixes : tuple of str
        Suffixes of its files, in lower case, with the dot; folders are searched for them.
    read : callable, optional
        Takes path and :class:`Options`, returns a list of :class:`RawRecording`. The name of the file is
        prefixed to its :class:`RecordingError`.
    recognizes : callable, optional
        Takes the path and first bytes of a file; returns whether it certainly has this format. By default the suffix
        decides.
    open : callable, optional
        Like `read`, but returns a list of :class:`RawSource`, whose samples stay in the file until they are fetched.
        Give `read` or `open`; with both, `open` is used.

    Examples
    --------
    >>> import numpy as np
    >>> from pqswarm.recordings import READERS, RawChannel, RawRecording, Reader, read
    >>> def read_bytes(path, options):
    ...     return [RawRecording([RawChannel("U1", "V", "A", np.frombuffer(path.read_bytes(), np.int8))], 800.0)]
    >>> _ = READERS.register(Reader("bytes", (".b8",), read_bytes))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "sine.b8")
    ...     _ = path.write_bytes(bytes(range(100)))
    ...     read(path).n_samples
    100
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Options], Sequence[RawRecording]] | None = None
    recognizes: Callable[[Path, bytes], bool] = lambda path, head: False  # noqa: ARG005
    open: Callable[[Path, Options], Sequence[RawSource]] | None = None

    def sources(self, path: Path, options: Options) -> list[RawSource]:
        """Return the recordings of a file; samples stay in the file if the format allows it."""
        if self.open is not None:
            return list(self.open(path, options))
        if self.read is None:
            raise PqswarmError(f"the reader {self.name!r} has neither read nor open.")
        return [raw.as_source() for raw in self.read(path, options)]
