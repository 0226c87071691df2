"""A recording of a file, and an event of it on a chart, as the room of recordings knows them."""

from dataclasses import dataclass

from pqswarm.app.recordings.files import RecordingFile
from pqswarm.app.recordings.store import StoredEvent
from pqswarm.identify.show.curves import COLOURS

__all__ = ["EventMark", "RecordingInFile"]


@dataclass(frozen=True)
class RecordingInFile:
    """A recording of a file."""

    file: RecordingFile
    number: int

    @property
    def id(self) -> str:
        """As in addresses."""
        return recording_id(self.file, self.number)

    @property
    def key(self) -> tuple[str, int, str]:
        """By which it is kept in memory."""
        return self.file.id, self.number, self.file.stamp


@dataclass(frozen=True)
class EventMark:
    """An event on a chart; see :class:`pqswarm.identify.show.page.charts.Mark`."""

    place: RecordingInFile
    index: int
    event: StoredEvent

    @property
    def kind(self) -> str:
        """Of the event."""
        return str(self.event.row["kind"])

    @property
    def point(self) -> tuple[float, float] | None:
        """Duration [s] and voltage [%]."""
        return self.event.point

    @property
    def severity(self) -> tuple[float, float]:
        """By which the worst is drawn last."""
        return self.event.severity

    @property
    def colour(self) -> str:
        """Of its kind."""
        return COLOURS.get(self.kind, COLOURS["none"])

    @property
    def tip(self) -> str:
        """What is said of it."""
        return self.event.tip

    @property
    def link(self) -> str:
        """Where it leads."""
        return f"#/recordings/{self.place.id}?event={self.index}"

    @property
    def key(self) -> str:
        """By which a script knows it."""
        return f"{self.place.id}:{self.index}"


def recording_id(file: RecordingFile, number: int) -> str:
    """Return the id of a recording: that of its file, with its place from the second one on."""
    return file.id if not number else f"{file.id}-{number + 1}"
