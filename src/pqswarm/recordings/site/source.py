"""A recording as a site knows it: channels chosen, named and scaled as they are read."""

from dataclasses import dataclass, replace
from datetime import datetime

from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, RecordingSource
from pqswarm.recordings.status import StatusChannel

__all__ = ["Pick", "SiteSource"]


@dataclass(frozen=True, eq=False)
class Pick:
    """A channel that is kept: its place in the file, what it becomes, and the factor to it."""

    place: int
    header: ChannelHeader
    factor: float

    def of(self, channel: Channel) -> Channel:
        """The channel as it becomes."""
        samples = channel.samples if self.factor == 1 else channel.samples * self.factor
        header = self.header
        return Channel(header.name, header.unit, header.phase, samples, system=header.system)


@dataclass(frozen=True, eq=False)
class SiteSource:
    """A recording as a site knows it, where it lies."""

    inner: RecordingSource
    picks: tuple[Pick, ...]
    station: str
    nominal_frequency: float
    notes: tuple[str, ...]

    @property
    def channels(self) -> tuple[ChannelHeader, ...]:
        """Those that are kept."""
        return tuple(pick.header for pick in self.picks)

    @property
    def sampling_rate(self) -> float:
        """Samples per second [Hz]."""
        return self.inner.sampling_rate

    @property
    def n_samples(self) -> int:
        """Samples of each channel."""
        return self.inner.n_samples

    @property
    def start(self) -> datetime | None:
        """Time of the first sample."""
        return self.inner.start

    @property
    def source(self) -> str:
        """Name, and the place in the file."""
        return self.inner.source

    @property
    def path(self) -> str:
        """The file."""
        return self.inner.path

    @property
    def format(self) -> str:
        """Of the file."""
        return self.inner.format

    @property
    def status(self) -> tuple[StatusChannel, ...]:
        """What was on or off, as the file names it."""
        return self.inner.status

    def read(self, first: int = 0, stop: int | None = None) -> Recording:
        """Samples of the channels that are kept, scaled."""
        part = self.inner.read(first, stop)
        return replace(
            part,
            channels=tuple(pick.of(part.channels[pick.place]) for pick in self.picks),
            nominal_frequency=self.nominal_frequency,
            station=self.station,
            notes=self.notes,
        )
