"""Recordings in SI units, in memory or in a file, with status channels; as files store them; what reads a format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import FileFormatError, PqswarmError

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


def do_nothing() -> None:
    """Do nothing, where a check may be called."""


MAX_STATUS = 4096
"""Maximum number of status channels of a recording."""

_MAX_CHANGES = 10_000  # of one channel
_MAX_CHANGES_OF_ALL = 4_000_000  # of all channels together
_CHECK: ContextVar[Callable[[], object]] = ContextVar("check", default=do_nothing)


@dataclass(frozen=True, eq=False)
class StatusChannel:
    """Something that is on or off: a breaker, a trigger, the output of a relay.

    Attributes
    ----------
    name : str
        Its name in the file.
    normal : int
        Normal state according to the file: 0 or 1.
    places : ndarray of shape (n,)
        Samples at which a state starts, ascending; the first is 0 unless the initial state is unknown.
    states : ndarray of shape (n,)
        The states, 0 or 1, in turn.
    note : str
        What was omitted; empty if nothing was.

    Examples
    --------
    >>> breaker = StatusChannel("52a", 1, np.array([0, 70, 200]), np.array([1, 0, 1]))
    >>> breaker.changes
    ((0, 1), (70, 0), (200, 1))
    >>> breaker.read(100, 300).changes, breaker.expand(69, 72).tolist()
    (((0, 0), (100, 1)), [1, 0, 0])
    """

    name: str
    normal: int
    places: IntArray
    states: IntArray
    note: str = ""

    @property
    def changes(self) -> tuple[tuple[int, int], ...]:
        """Samples at which a state starts, each with the state."""
        return tuple(zip(self.places.tolist(), self.states.tolist(), strict=True))

    def read(self, first: int, stop: int) -> "StatusChannel":
        """Return part of the channel; samples are counted from `first`."""
        begin = max(int(np.searchsorted(self.places, first, "right")) - 1, 0)
        end = int(np.searchsorted(self.places, stop, "left"))
        places = np.maximum(self.places[begin:end] - first, 0)
        return StatusChannel(self.name, self.normal, places, self.states[begin:end], self.note)

    def expand(self, first: int, stop: int) -> IntArray:
        """Return the state of each sample from `first` to `stop` - 1; 0 where it is unknown."""
        places = np.searchsorted(self.places, np.arange(first, stop), "right")
        return np.concatenate([[0], self.states])[places].astype(np.int64)


@contextmanager
def interruptible_status_reading(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` between blocks while status channels are read; its exception stops the search, which can restart."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def find_status_changes(
    fetch: Callable[[int, int], AnyArray], n_samples: int, step: int, names: Sequence[str], normal: Sequence[int]
) -> tuple[StatusChannel, ...]:
    """Find the changes of status channels in blocks of `step` samples.

    `fetch` takes the first sample and the one after the last, and returns a table, samples x channels, of 0, 1, and -1
    where a state is unknown, which counts as unchanged. If a channel changes more than ten thousand times (fewer if
    there are many channels), its shortest states are omitted.
    """
    most = min(_MAX_CHANGES, _MAX_CHANGES_OF_ALL // max(len(names), 1))
    changes = [_StatusChanges(most) for _ in names]
    last = np.full(len(names), -2, np.int8)  # not a state
    check = _CHECK.get()
    for first in range(0, n_samples, step):
        check()
        table = fetch(first, min(first + step, n_samples))
        whole = np.vstack([last, table])
        for i in np.flatnonzero((whole[1:] != whole[:-1]).any(axis=0)):
            changes[i].add(first, table[:, i])
        last = table[-1]
    return tuple(
        StatusChannel(name, usual, one.places, one.states.astype(np.int64), one.note)
        for name, usual, one in zip(names, normal, changes, strict=True)
    )


class _StatusChanges:
    """Up to `most` changes of one channel."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.places = np.empty(0, np.int64)
        self.states = np.empty(0, np.int8)
        self.shortest = 1  # samples; of several changes within this time, the first and the last are kept

    def add(self, first: int, states: AnyArray) -> None:
        """Add a block that starts at sample `first`."""
        known = np.flatnonzero(states >= 0)
        self._keep_changes(np.append(self.places, known + first), np.append(self.states, states[known]))
        if self.shortest > 1 and known.size:
            self._merge()
        while self.places.size > self.most:
            self.shortest *= 2
            self._merge()

    def _keep_changes(self, places: IntArray, states: AnyArray) -> None:
        kept = np.append(True, np.diff(states) != 0)[: states.size]
        self.places = places[kept]
        self.states = states[kept]

    def _merge(self) -> None:
        new = np.diff(self.places // self.shortest) > 0
        kept = np.append(True, new) | np.append(new, True)
        self._keep_changes(self.places[kept], self.states[kept])

    @property
    def note(self) -> str:
        """What was omitted."""
        often = f"It changes very often: some states shorter than {self.shortest} samples are omitted."
        return often if self.shortest > 1 else ""


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
        first : int, default=0
            First sample.
        stop : int, default=None
            The sample after the last. If None, read to the end.

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
        matching = named or [channel for channel in self.voltages if channel.phase == name]
        if len(matching) != 1:
            names = ", ".join(channel.name for channel in self.channels)
            raise PqswarmError(f"{self.source or 'the recording'} has no single channel {name!r}; it has {names}.")
        return matching[0]


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
class _RawFacts:
    """What a file says of a recording, apart from its samples."""

    channels: Sequence[RawHeader]
    sampling_rate: float
    nominal_frequency: float = 0.0
    start: datetime | None = None
    source: str = ""
    format: str = ""
    notes: list[str] = field(default_factory=list)
    is_main: bool = False
    station: str = ""


@dataclass(kw_only=True)
class RawSource(_RawFacts):
    """A recording as stored in the file; samples stay there until they are fetched.

    Attributes
    ----------
    channels : sequence of RawHeader
        What was measured.
    n_samples : int
        Samples of each channel.
    fetch : callable
        Takes the first sample, the one after the last, and the numbers of channels; returns an array for each of these
        channels, in the unit of its header, with NaN for missing samples. It is thread-safe, and the samples do not
        depend on how they are split into calls.
    sampling_rate, nominal_frequency, start, source, format, notes, is_main, station
        As in :class:`RawRecording`.
    missing : str
        Note on missing samples, with ``{}`` for their number; empty for no note.
    status : callable
        Returns the status channels, named as in the file; called on demand.
    """

    n_samples: int
    fetch: Callable[[int, int, Sequence[int]], Sequence[FloatArray]]
    missing: str = ""
    status: Callable[[], Sequence[StatusChannel]] = tuple


@dataclass
class RawRecording(_RawFacts):
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

    channels: Sequence[RawChannel]

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
    :func:`read`, :func:`read_all` and ``pqswarm identify`` then use it. Names, units and phases are normalized later,
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
