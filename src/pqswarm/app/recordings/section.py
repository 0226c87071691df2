"""State of the recordings section: the archive, files, analyses, envelopes."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from pqswarm._base.files import opening_only_inside
from pqswarm._base.text import file_text
from pqswarm.app.handlers import HTTPMissing
from pqswarm.app.jobs import ByteCache, Job, JobCancelled
from pqswarm.app.recordings.open_recording import OpenRecording
from pqswarm.app.recordings.queue import (
    AnalysisQueue,
    RecordingFile,
    RecordingFiles,
    RecordingInFile,
    upload_folder_name,
)
from pqswarm.app.recordings.uploads import StoredUploads, clean_upload_parts
from pqswarm.app.workbench import FolderNames, Workbench, make_private_workbench_folder, remove_unused_workbench_files
from pqswarm.errors import PqswarmError
from pqswarm.identify import Archive, ArchiveQueries
from pqswarm.identify.analysis import NOT_AN_EVENT
from pqswarm.identify.archive.analyzer import ArchiveAnalyzer
from pqswarm.identify.archive.archive import KNOWN_CAUSES
from pqswarm.identify.folder.batch import open_for_analysis
from pqswarm.identify.show.rows import COLORS
from pqswarm.recordings import Envelope

ID = r"[0-9a-f]{24}(?:-[0-9]{1,6})?"
"""Pattern of the ID of a recording in URLs."""
CHANGED = {"about": "recordings", "id": "", "state": "changed"}
"""Message that makes a page reload the list."""
_MAX_OPEN = 160_000_000
"""Maximum size of the recordings held open [byte]."""
_MAX_ROWS = 300
_MAX_MESSAGE_ROWS = 200
"""Maximum number of rows of the first list and of a message."""
_CHECK_INTERVAL = 0.1
"""Seconds between two checks whether a request still waits."""
_REQUEST_LIFETIME = 1.0
"""Seconds for which an envelope is built after a request from a visitor without an open page."""
_POLL_INTERVAL = 2.0
"""Seconds between two looks whether another process has written to the archive."""


def place_in_file(name: str, source: str) -> str:
    """Return which recording of its file, by the name of the file, a source is; it follows the name."""
    own = file_text(name)
    return source.removeprefix(own) if source.startswith(own) else ""


class RecordingsSection:
    """The recordings that a workbench shows."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        make_private_workbench_folder(workbench.state)
        self.archive = Archive(workbench.archive)
        self.queries = ArchiveQueries(self.archive)
        self.files = RecordingFiles(workbench.folder, workbench.state / "uploads", self.archive)
        self.files.is_stopping = lambda: workbench.jobs.is_closed
        clean_upload_parts(self.files.uploads)
        remove_unused_workbench_files(workbench.state)
        self.stored = StoredUploads(self.files.uploads)
        for one in self.archive.files.all(self.files.uploads).values():
            if not one.path.exists():
                self.archive.remove_owned(one.owner, one.content)
        Thread(target=self._load, name="load", daemon=True).start()  # a million events take a second
        self.queue = AnalysisQueue(workbench, self.files, self.archive)
        self.queue.on_analyzed.append(self._publish_result)
        self._open: ByteCache[tuple[str, int, str], OpenRecording] = ByteCache(_MAX_OPEN)
        self.opening: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        """Locks of the files being opened."""
        self._choosing_lock = Lock()
        self._envelopes: dict[tuple[str, int, str], asyncio.Task[None]] = {}
        self._requested: dict[tuple[str, int, str], float] = {}
        self._told = self.archive.revision()
        self._following: asyncio.Task[None] | None = None
        workbench.on_open += [self.queue.wake, self._follow]

    def _load(self) -> None:
        with suppress(PqswarmError):  # the first request reports it
            self.queries.table().newest  # noqa: B018 (kept for all requests)
        self.archive.database.close()

    def _follow(self) -> None:
        """Tell pages when files have come to the folder, or another process has written to the archive."""
        if self._following is None or self._following.done():
            self._following = asyncio.get_running_loop().create_task(self._poll())

    async def _poll(self) -> None:
        while self.workbench.pages and not self.workbench.jobs.is_closed:
            try:
                revision = await self.workbench.jobs.run(Job(), self.archive.revision)
                has_changed = await self.workbench.jobs.run(Job(), self.files.update, "")
            except (PqswarmError, RuntimeError):
                return
            self.queue.wake()
            if has_changed or (revision != self._told and self.queue.current is None):
                self.workbench.publish(CHANGED | {"revision": revision})
            self._told = revision
            await asyncio.sleep(_POLL_INTERVAL)

    # Listing

    def find(self, name: str, visitor: str) -> RecordingInFile:
        """Return a recording by its ID, if the visitor may see it; its file may be elsewhere."""
        base, _, position = name.partition("-")
        if not re.fullmatch(ID, name) or (position and (position.startswith("0") or int(position) < 2)):
            raise HTTPMissing("There is no such recording.")
        number = int(position) - 1 if position else 0
        file = self.files.find(base, visitor)
        if file is None:
            known = self.archive.find(name, upload_folder_name(visitor))
            if known is None:
                raise HTTPMissing("There is no such recording.")
            file = self.files.find_elsewhere(known["content"], self.name_of(known["name"], False))
        return RecordingInFile(file, number)

    def analysis(self, place: RecordingInFile) -> dict[str, Any] | None:
        """Return what the archive knows of a recording, if it was analyzed."""
        return self.archive.find(place.id, upload_folder_name(place.file.visitor) if place.file.visitor else "")

    def kept(self, place: RecordingInFile) -> dict[str, Any]:
        """Return what the archive has kept of a recording besides its analysis."""
        found = self.analysis(place)
        return {} if found is None else self.archive.kept(found["number"])

    def state_of(self, place: RecordingInFile, found: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the progress of the analysis."""
        found = found or self.analysis(place)
        busy = self.queue.current
        if busy is not None and busy.id == place.file.id and (found is None or found["again"]):
            return {"state": "working", "fraction": round(self.queue.progress, 3), "reason": ""}
        if found is not None:
            return {"state": found["state"], "fraction": 1.0, "reason": found["reason"]}
        reason = self.queue.failed.get((place.file.id, place.file.stamp), "")
        state = "failed" if reason else "waiting"
        return {"state": state, "fraction": float(bool(reason)), "reason": reason or place.file.problem}

    def entry(self, place: RecordingInFile) -> dict[str, Any]:
        """Return a recording as it is listed."""
        found = self.analysis(place)
        if found is not None:
            return self.listed(found) | self.state_of(place, found)
        unknown = {"station": "", "start": None, "seconds": None, "n_channels": None, "n_events": 0, "again": False}
        name = place.file.name.removeprefix("uploads/") if place.file.visitor else place.file.name
        return {"id": place.id, "name": name, "upload": bool(place.file.visitor), **unknown, **self.state_of(place)}

    def listed(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return a recording of the archive as it is listed."""
        names = ("id", "station", "start", "seconds", "n_channels", "n_events", "upload", "state", "reason", "again")
        place = place_in_file(Path(found["name"]).name, found["source"])
        name = self.name_of(found["name"], found["upload"]).removeprefix("uploads/") + place
        return {key: found[key] for key in names} | {"name": name, "fraction": 1.0}

    def name_of(self, path: str, is_upload: bool) -> str:
        """Return the name of a file as pages show it: no folders but those in the folder of recordings."""
        if is_upload:
            return f"uploads/{path.removeprefix(file_text(self.files.uploads)).lstrip('/').partition('/')[2]}"
        home = file_text(self.files.folder).rstrip("/") + "/"
        return path.removeprefix(home) if path.startswith(home) else Path(path).name

    def named(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return rows of events with names as pages show them, and their points on tolerance curves."""
        return [row | {"path": self.name_of(row["path"], row["upload"])} for row in rows]

    def rows(self, place: RecordingInFile) -> list[dict[str, Any]]:
        """Return the rows of the events of a recording."""
        found = self.analysis(place)
        return [] if found is None else self.named(self.archive.events.of_recording(found["number"]))

    def summary(self, visitor: str) -> dict[str, Any]:
        """Return the state of the section, what can be selected, and the newest recordings."""
        from pqswarm.events.training import TRAINING_CLASSES
        from pqswarm.identify.agreement import in_words
        from pqswarm.measure.event import EVENT_TYPES

        owner = upload_folder_name(visitor)
        waiting = self.queue.waiting(visitor)
        listed = self.archive.recordings(owner=owner, limit=_MAX_ROWS)["recordings"]
        shown = {one["id"].partition("-")[0] for one in listed}
        entries = [self.entry(RecordingInFile(file, 0)) for file in waiting[:_MAX_ROWS] if file.id not in shown]
        failed = {key[0] for key in self.queue.failed} - shown
        entries += [self.entry(RecordingInFile(one, 0)) for one in self.files.visible_to(visitor) if one.id in failed]
        return {
            "folder": file_text(self.workbench.folder.name),
            "archive": file_text(self.workbench.archive.name),
            "waiting": len(waiting),
            "revision": self.queries.table().revision,
            "analyzing": self.queue.is_busy,
            "note": "",
            "max_bytes": self.workbench.max_bytes,
            "types": {
                event_type: {"title": title, "color": COLORS[event_type]} for event_type, title in EVENT_TYPES.items()
            },
            "classes": {name: in_words(name) for name in TRAINING_CLASSES},
            "causes": list(KNOWN_CAUSES),
            "not_an_event": NOT_AN_EVENT,
            "facets": self.queries.facets(owner),
            "counts": self.archive.counts(),
            "recordings": [*entries, *map(self.listed, listed)],
        }

    async def _publish_result(self, file: RecordingFile) -> None:
        """Send the result of an analysis to the pages."""
        message = await self.workbench.jobs.run(Job(), self._result_message, file)
        self._told = message.pop("revision")
        for visitor in {page.visitor for page in self.workbench.pages.values() if file.is_visible_to(page.visitor)}:
            self.workbench.publish(message, visitor)

    def _result_message(self, file: RecordingFile) -> dict[str, Any]:
        count = self.archive.database.rows("SELECT count(*) FROM recordings WHERE content = ?", file.content)[0][0]
        places = [RecordingInFile(file, number) for number in range(max(count, 1))]  # one until it was analyzed
        return {
            "about": "recordings",
            "id": file.id,
            **self.state_of(places[0]),
            "urms": places[0].key in self.queue.analyses,
            "recordings": [self.entry(place) for place in places[:_MAX_MESSAGE_ROWS]],
            "revision": self.archive.revision(),
        }

    # Open recordings

    def open(self, job: Job, place: RecordingInFile) -> OpenRecording:
        """Open a recording and apply the site file."""
        found = self._open.get(place.key)
        if found is not None:
            return found
        if not place.file.stamp:
            raise PqswarmError(f"{place.file.name}: {place.file.problem}.")
        with self._only_opener(job, place.file):
            found = self._open.get(place.key)
            if found is not None:
                return found
            job.check()
            try:
                with opening_only_inside(place.file.home):
                    site = ArchiveAnalyzer({"site": self.workbench.site}, self.archive.sites()).site_of(place.file.path)
                    sources = open_for_analysis(place.file.path, site, None)
            except PqswarmError as error:  # its folder may be any
                raise type(error)(FolderNames((place.file.home,)).hide(str(error))) from error
            if place.number >= len(sources):
                raise HTTPMissing("There is no such recording.")
            source = sources[place.number]
            source = source if site is None else site.apply(source)
            found = OpenRecording(source, Envelope(source), place.number, len(sources))
            self._open.put(place.key, found, found.size)
            return found

    @contextmanager
    def _only_opener(self, job: Job, file: RecordingFile) -> Iterator[None]:
        """Wait until no other thread is opening the file, unless the job is canceled first."""
        with self._choosing_lock:
            lock = self.opening.setdefault(file.id, Lock())  # lives as long as a thread holds or waits for it
        while not lock.acquire(timeout=_CHECK_INTERVAL):
            job.check()
        try:
            yield
        finally:
            lock.release()

    def close(self, file: RecordingFile) -> None:
        """Close a file."""
        self._open.drop(lambda key: key[0] == file.id)

    def build_envelope(self, place: RecordingInFile, opened: OpenRecording) -> "asyncio.Task[None] | None":
        """Start building the envelope of a recording; None if it is complete."""
        if opened.envelope.fraction >= 1:
            return None
        self._requested[place.key] = monotonic()
        task = self._envelopes.get(place.key)
        if task is None or task.done():
            task = asyncio.get_running_loop().create_task(self._build_envelope(place, opened))
            self._envelopes[place.key] = task
        return task

    async def _build_envelope(self, place: RecordingInFile, opened: OpenRecording) -> None:
        job = Job()

        def check() -> None:
            job.check()
            is_recent = monotonic() - self._requested.get(place.key, 0.0) < _REQUEST_LIFETIME
            if not is_recent and not self.queue.is_watched(place.file):
                raise JobCancelled

        self.queue.n_envelopes += 1
        try:
            await self.workbench.jobs.run(job, opened.envelope.build, check, pool="envelope")
        except (JobCancelled, PqswarmError, RuntimeError):  # the next request reports the reason
            pass
        finally:
            self.queue.n_envelopes -= 1
            self._envelopes.pop(place.key, None)
            self._requested.pop(place.key, None)
