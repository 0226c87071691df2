"""A recording with a site applied: channels are selected, renamed and scaled on reading."""

from dataclasses import dataclass, replace
from datetime import datetime

from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, RecordingSource
from pqswarm.recordings.status import StatusChannel


@dataclass(frozen=True, eq=False)
class Pick:
    """A selected channel: its position, its new header, and the factor of its samples."""

    place: int
    header: ChannelHeader
    factor: float

    def of(self, channel: Channel) -> Channel:
        """Return the channel, renamed and scaled."""
        samples = channel.samples if self.factor == 1 else channel.samples * self.factor
        header = self.header
        return Channel(header.name, header.unit, header.phase, samples, system=header.system, state=header.state)


@dataclass(frozen=True, eq=False)
class SiteSource:
    """A recording source with a site applied."""

    inner: RecordingSource
    picks: tuple[Pick, ...]
    station: str
    nominal_frequency: float
    notes: tuple[str, ...]
    sampling_rate: float
    n_samples: int
    start: datetime | None
    source: str
    path: str
    format: str

    @property
    def channels(self) -> tuple[ChannelHeader, ...]:
        """The selected channels."""
        return tuple(pick.header for pick in self.picks)

    @property
    def status(self) -> tuple[StatusChannel, ...]:
        """Status channels, named as in the file."""
        return self.inner.status

    def read(self, first: int = 0, stop: int | None = None) -> Recording:
        """Return scaled samples of the selected channels."""
        part = self.inner.read(first, stop)
        return replace(
            part,
            channels=tuple(pick.of(part.channels[pick.place]) for pick in self.picks),
            nominal_frequency=self.nominal_frequency,
            station=self.station,
            notes=self.notes,
        )
