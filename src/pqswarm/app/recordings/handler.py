"""What all answers of the room of recordings have in common."""

import re
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from pqswarm._base.text import file_text
from pqswarm.app.handlers import Base, Missing, Refused
from pqswarm.app.recordings.entries import RecordingInFile
from pqswarm.app.recordings.opened import OpenRecording
from pqswarm.app.recordings.section import RecordingsRoom, recordings_room
from pqswarm.errors import PqswarmError

__all__ = ["ID", "RecordingHandler"]

ID = r"([0-9a-f]{16}(?:-[0-9]{1,6})?)"
"""What an address has in the place of a recording."""

_Found = TypeVar("_Found")


class RecordingHandler(Base):
    """An answer of this room."""

    @property
    def room(self) -> RecordingsRoom:
        """What the requests share."""
        return recordings_room(self.workbench)

    async def work(self, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """Work in a thread; what goes wrong is said without names of folders of this machine."""
        try:
            return await super().work(function, *arguments)
        except (Refused, Missing):
            raise
        except PqswarmError as error:
            raise Refused(self.room.tidy(str(error)), 400) from None

    async def call(self, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """Return what a short function returns, in a thread."""
        return await self.work(lambda _: function(*arguments))

    async def place(self, name: str) -> RecordingInFile:
        """Return the recording that is asked for."""
        return await self.call(self._place, name)

    def _place(self, name: str) -> RecordingInFile:
        if not re.fullmatch(ID, name):
            raise Missing("There is no such recording.")
        place = self.room.find(name, self.visitor)
        self.room.judging.recall([place.file])
        return place

    async def opened(self, name: str) -> tuple[RecordingInFile, OpenRecording]:
        """Return the recording that is asked for, open."""
        place = await self.place(name)
        return place, await self.work(self.room.open, place)

    async def send_text(self, make: Callable[[], str], kind: str, name: str = "") -> None:
        """Send a text that is made in a thread, to be saved if it has a name."""
        text = await self.call(make)
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        if name:
            self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(file_text(name), safe='')}")
        self.finish(text.encode("utf-8", "replace"))

    def stretch(self, opened: OpenRecording) -> tuple[float, float]:
        """Return begin and end [s] of what is asked for, inside the recording."""
        begin = min(max(self.number("from", 0.0), 0.0), opened.seconds)
        return begin, min(max(self.number("to", opened.seconds), begin), opened.seconds)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer of the address."""
        value = self.number(name, float(default))
        if value != int(value) or not low <= value <= high:
            raise Refused(f"{name} must be an integer from {low} to {high}.", 400)
        return int(value)
