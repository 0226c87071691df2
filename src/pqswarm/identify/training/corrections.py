"""Corrections of analyses, to train with; an archive holds them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pqswarm._base.text import file_text
from pqswarm.identify.analysis import EventResult
from pqswarm.recordings import Site


@dataclass(frozen=True)
class Correction:
    """The class of an event according to a person; :meth:`pqswarm.identify.Archive.correct` stores one.

    Attributes
    ----------
    path : str
        The file of the recording.
    digest : str
        SHA-256 of its content.
    source : str
        Which recording of the file.
    found : EventResult
        The event that was corrected, with the analysis on it.
    label : str
        Its class; empty to withdraw an earlier correction.
    by : str
        Author.
    at : str
        Time of the correction (UTC, ISO 8601).
    note : str
        Reason.
    site : Site or None
        Site of its station; None for that of :func:`train`.
    """

    path: str
    digest: str
    source: str
    found: EventResult
    label: str
    by: str
    at: str
    note: str = ""
    site: Site | None = field(default=None, compare=False)

    @property
    def place(self) -> str:
        """Which recording of its file, whatever the name of the file."""
        return self.source.removeprefix(file_text(Path(self.path).name))

    @property
    def key(self) -> tuple[str, str, str, float, tuple[str, ...]]:
        """Identifies the event, whatever the path; see :func:`event_key`."""
        return event_key(self.digest, self.place, self.found)

    def __str__(self) -> str:
        """The event as text."""
        event = self.found.event
        where = f"{file_text(self.path)}{self.place}"
        return f"{where}, {event.type} at {event.start:.3f} s on {', '.join(map(file_text, event.channels))}"


def event_key(digest: str, place: str, found: EventResult) -> tuple[str, str, str, float, tuple[str, ...]]:
    """Return what identifies an event: SHA-256 of its file, place in the file, type, start [s] and channels."""
    event = found.event
    return digest, place, event.type, round(event.start, 6), tuple(map(file_text, event.channels))


def merge_corrections(corrections: Iterable[Correction]) -> tuple[Correction, ...]:
    """Return the last correction of each event, without withdrawn ones, in order of the events."""
    last = {one.key: one for one in corrections}
    return tuple(last[key] for key in sorted(last) if last[key].label)
