"""What all requests of the room of recordings share: files, verdicts, pictures, corrections."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from pqswarm._base.text import file_text
from pqswarm.app.byte_cache import ByteCache
from pqswarm.app.handlers import Missing
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.recordings.corrections import CorrectionsByOwner, KnownCorrections
from pqswarm.app.recordings.entries import EventMark, RecordingInFile
from pqswarm.app.recordings.files import MOST_FILES, RecordingFile, RecordingFiles, upload_folder_name
from pqswarm.app.recordings.old_state import remove_old
from pqswarm.app.recordings.opened import OpenRecording
from pqswarm.app.recordings.queue import Judging
from pqswarm.app.recordings.store import RecordingFindings, StoredEvent, VerdictStore, judge_digest
from pqswarm.app.recordings.uploads import clean_parts
from pqswarm.app.workbench import Workbench, make_private
from pqswarm.errors import PqswarmError
from pqswarm.identify import default_model
from pqswarm.identify.folder.batch import open_for_analysis
from pqswarm.identify.show.curves import COLOURS
from pqswarm.identify.training.corrections import CorrectionFile

__all__ = ["CHANGED", "RecordingsRoom", "recordings_room"]

CHANGED = {"about": "recordings", "id": "", "state": "changed"}
"""Tells a page to ask for the list again."""
_OPENED = 160_000_000
"""Bytes of recordings that stay open."""
_MOST_ROWS, _MOST_TOLD = 20_000, 200
"""Rows of a list, and of a message."""
_PAUSE = 0.1
"""Seconds between two looks whether somebody still waits."""
_ALONE = 1.0
"""Seconds for which a picture is made for somebody who asked, and has no page open."""


class RecordingsRoom:
    """The recordings that a workbench shows."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        make_private(workbench.state)
        self.tidy = workbench.names.hide
        self.files = RecordingFiles(workbench.folder, workbench.state / "uploads")
        clean_parts(self.files.uploads)
        remove_old(workbench.state)
        store = VerdictStore(
            workbench.state / "verdicts", lambda: judge_digest(workbench.model or default_model(), workbench.site)
        )
        self.judging = Judging(workbench, self.files, store, self.tidy)
        self.judging.listeners.append(self._judged)
        self.corrections = KnownCorrections(CorrectionFile(workbench.corrections), self.files.uploads)
        self._opened: ByteCache[tuple[str, int, str], OpenRecording] = ByteCache(_OPENED)
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        self._choosing = Lock()
        self._pictures: dict[tuple[str, int, str], asyncio.Task[None]] = {}
        self._asked: dict[tuple[str, int, str], float] = {}
        workbench.arrivals.append(lambda _: self.judging.wake())

    # What there is

    def look(self, visitor: str, *, now: bool = False) -> bool:
        """Look for files, and load what was kept of them; say whether anything changed."""
        changed = self.files.look(visitor, now=now)
        if changed:
            self.judging.keep_only(self.files.ids())
        self.judging.recall(self.files.seen_by(visitor))
        return changed

    def find(self, name: str, visitor: str) -> RecordingInFile:
        """Return a recording by its id, if the visitor may know of it."""
        base, _, place = name.partition("-")
        file = self.files.find(base, visitor)
        if file is None or (place and (place.startswith("0") or int(place) < 2)):
            raise Missing("There is no such recording.")
        return RecordingInFile(file, int(place) - 1 if place else 0)

    def places(self, visitor: str) -> list[RecordingInFile]:
        """Return all recordings that a visitor sees."""
        return [place for file in self.files.seen_by(visitor) for place in self.places_of(file)]

    def places_of(self, file: RecordingFile) -> list[RecordingInFile]:
        """Return the recordings of a file; one as long as it is not known how many there are."""
        found = self.judging.findings(file)
        return [RecordingInFile(file, number) for number in range(1 if found is None else len(found.recordings))]

    def found(self, place: RecordingInFile) -> RecordingFindings | None:
        """Return what was found in a recording."""
        found = self.judging.findings(place.file)
        return None if found is None or place.number >= len(found.recordings) else found.recordings[place.number]

    def state_of(self, place: RecordingInFile) -> dict[str, Any]:
        """Say how far the verdict is."""
        found = self.found(place)
        if found is not None:
            return {"state": "failed" if found.reason else "judged", "share": 1.0, "reason": found.reason}
        busy = self.judging.current
        if busy is not None and busy.id == place.file.id:
            return {"state": "working", "share": round(self.judging.share, 3), "reason": ""}
        return {"state": "waiting", "share": 0.0, "reason": place.file.lack}

    def entry(self, place: RecordingInFile) -> dict[str, Any]:
        """Return a recording as it is listed."""
        found = self.found(place) or RecordingFindings("")
        return {
            "id": place.id,
            "name": self.name_of(place, found.source),
            "station": found.station,
            "start": found.start,
            "seconds": found.seconds,
            "n_channels": found.n_channels,
            "upload": bool(place.file.visitor),
            **self.state_of(place),
            "n_events": found.n_events,
        }

    def name_of(self, place: RecordingInFile, source: str) -> str:
        """Return the name of a file, and the place in it."""
        name = place.file.name.removeprefix("uploads/") if place.file.visitor else place.file.name
        own = file_text(place.file.path.name)
        return name + (source.removeprefix(own) if source.startswith(own) else "")

    def rows(self, places: Iterable[RecordingInFile]) -> list[dict[str, Any]]:
        """Return a row for each event of recordings; reads corrections, thus not for the event loop."""
        known = self.corrections.read_or_none()
        return [
            event.row
            | {
                "recording": place.id,
                "event": index,
                "start": event.start,
                "end": event.end,
                "point": event.point,
                "upload": bool(place.file.visitor),
                "correction": self.correction(place, event, known),
            }
            for place in places
            for index, event in enumerate((self.found(place) or RecordingFindings("")).events)
        ]

    def summary(self, visitor: str) -> dict[str, Any]:
        """Return all that a visitor sees."""
        from pqswarm.events.broad import BROAD_CLASSES
        from pqswarm.identify.agreement import in_words
        from pqswarm.measure.event import KINDS

        places = self.places(visitor)
        rows = self.rows(places)
        notes = [f"The folder has more than {MOST_FILES:,} recordings; the others are left out."] * self.files.has_more
        notes += [f"The first {_MOST_ROWS:,} of {len(rows):,} events are listed."] * (len(rows) > _MOST_ROWS)
        try:
            self.corrections.read()
        except PqswarmError as error:
            notes.append(self.tidy(str(error)))
        return {
            "folder": file_text(self.workbench.folder.name),
            "total": len(rows),
            "judging": self.judging.is_busy,
            "note": " ".join(notes),
            "max_bytes": self.workbench.max_bytes,
            "kinds": {kind: {"title": title, "colour": COLOURS[kind]} for kind, title in KINDS.items()},
            "classes": {name: in_words(name) for name in BROAD_CLASSES},
            "recordings": [self.entry(place) for place in places],
            "rows": rows[:_MOST_ROWS],
        }

    def marks(self, visitor: str) -> "list[EventMark]":
        """Return all events that a visitor sees, for charts."""
        return [
            EventMark(place, index, event)
            for place in self.places(visitor)
            for index, event in enumerate((self.found(place) or RecordingFindings("")).events)
        ]

    async def _judged(self, file: RecordingFile) -> None:
        """Tell the pages what was found in a file."""
        message = await self.workbench.jobs.answer(Job(), self._message, file)
        for visitor in {page.visitor for page in self.workbench.pages.values() if file.is_seen_by(page.visitor)}:
            self.workbench.publish(message, visitor)

    def _message(self, _: Job, file: RecordingFile) -> dict[str, Any]:
        places = self.places_of(file)
        n_rows = sum(len((self.found(place) or RecordingFindings("")).events) for place in places)
        return {
            "about": "recordings",
            "id": file.id,
            **self.state_of(places[0]),
            "urms": places[0].key in self.judging.verdicts,
            "recordings": [self.entry(place) for place in places[:_MOST_TOLD]],
            "rows": self.rows(places) if max(n_rows, len(places)) <= _MOST_TOLD else None,
        }

    # What is looked at

    def open(self, job: Job, place: RecordingInFile) -> OpenRecording:
        """Open a recording, as the site sees it."""
        found = self._opened.get(place.key)
        if found is not None:
            return found
        if not place.file.stamp:
            raise PqswarmError(f"{place.file.name}: {place.file.lack}.")
        with self._alone(job, place.file):
            found = self._opened.get(place.key)
            if found is not None:
                return found
            job.check()
            site = self.workbench.site
            sources = open_for_analysis(place.file.path, site, None)
            if place.number >= len(sources):
                raise Missing("There is no such recording.")
            source = sources[place.number]
            found = OpenRecording.of(source if site is None else site.apply(source), place.number, len(sources))
            self._opened.put(place.key, found, found.size)
            return found

    @contextmanager
    def _alone(self, job: Job, file: RecordingFile) -> Iterator[None]:
        """Wait for who opens the same file, as long as somebody waits for us."""
        with self._choosing:
            lock = self._locks.setdefault(file.id, Lock())  # held by who waits, gone with the last one
        while not lock.acquire(timeout=_PAUSE):
            job.check()
        try:
            yield
        finally:
            lock.release()

    def close(self, file: RecordingFile) -> None:
        """Keep a file open no longer."""
        self._opened.drop(lambda key: key[0] == file.id)

    def draw(self, place: RecordingInFile, opened: OpenRecording) -> "asyncio.Task[None] | None":
        """Let the picture of a recording take shape; None if it has."""
        if opened.envelope.share >= 1:
            return None
        self._asked[place.key] = monotonic()
        task = self._pictures.get(place.key)
        if task is None or task.done():
            task = asyncio.get_running_loop().create_task(self._draw(place, opened))
            self._pictures[place.key] = task
        return task

    async def _draw(self, place: RecordingInFile, opened: OpenRecording) -> None:
        job = Job()

        def build(job: Job) -> None:
            def check() -> None:
                job.check()
                lately = monotonic() - self._asked.get(place.key, 0.0) < _ALONE
                if not lately and not self.judging.is_watched(place.file):
                    raise Cancelled

            opened.envelope.build(check)

        self.judging.pictures += 1
        try:
            await self.workbench.jobs.picture(job, build)
        except (Cancelled, PqswarmError, RuntimeError):  # who asks again is told why
            pass
        finally:
            self.judging.pictures -= 1
            self._pictures.pop(place.key, None)
            self._asked.pop(place.key, None)

    # What people say

    def correction(
        self, place: RecordingInFile, event: StoredEvent, known: CorrectionsByOwner
    ) -> dict[str, Any] | None:
        """Return the correction of an event that holds; of an upload, what its visitor says comes first."""
        findings, source = self.judging.findings(place.file), (self.found(place) or RecordingFindings("")).source
        digest = "" if findings is None else findings.digest
        where = source.removeprefix(file_text(place.file.path.name))
        key = digest, where, event.row["kind"], round(event.start, 6), event.channels
        owners = (upload_folder_name(place.file.visitor), "") if place.file.visitor else ("",)
        found = next((known[owner][key] for owner in owners if key in known.get(owner, {})), None)
        return None if found is None else {name: getattr(found, name) for name in ("label", "by", "at", "note")}


def recordings_room(workbench: Workbench) -> RecordingsRoom:
    """Return the room, which is made once, before the server listens."""
    found: RecordingsRoom = workbench.rooms["recordings"]
    return found
