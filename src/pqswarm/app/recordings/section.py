"""State of the recordings section: files, analyses, envelopes, corrections."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from pqswarm._base.files import opening_only_inside
from pqswarm._base.text import file_text
from pqswarm.app.cache import ByteCache
from pqswarm.app.handlers import Missing
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.recordings.corrections import CorrectionsByOwner, KnownCorrections
from pqswarm.app.recordings.files import (
    MAX_FILES,
    RecordingFile,
    RecordingFiles,
    RecordingInFile,
    upload_folder_name,
)
from pqswarm.app.recordings.open_recording import OpenRecording
from pqswarm.app.recordings.queue import AnalysisQueue
from pqswarm.app.recordings.store import StoredRecordingAnalysis, VerdictStore, analyser_digest
from pqswarm.app.recordings.uploads import clean_parts
from pqswarm.app.workbench import Workbench, make_private_workbench_folder, remove_unused_workbench_files
from pqswarm.errors import PqswarmError
from pqswarm.identify import EventVerdict, default_model
from pqswarm.identify.folder.batch import open_for_analysis
from pqswarm.identify.show.curves import COLOURS
from pqswarm.identify.show.rows import row_curve_point
from pqswarm.identify.training.corrections import CorrectionFile, event_key

ID = r"[0-9a-f]{16}(?:-[0-9]{1,6})?"
"""Pattern of the ID of a recording in URLs."""
CHANGED = {"about": "recordings", "id": "", "state": "changed"}
"""Message that makes a page reload the list."""
_MAX_OPEN = 160_000_000
"""Maximum size of the recordings held open [byte]."""
_MAX_ROWS, _MAX_MESSAGE_ROWS = 20_000, 200
"""Maximum number of rows of the list and of a message."""
_CHECK_INTERVAL = 0.1
"""Seconds between two checks whether a request still waits."""
_REQUEST_LIFETIME = 1.0
"""Seconds for which an envelope is built after a request from a visitor without an open page."""


class RecordingsSection:
    """The recordings that a workbench shows."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        make_private_workbench_folder(workbench.state)
        self.files = RecordingFiles(workbench.folder, workbench.state / "uploads")
        clean_parts(self.files.uploads)
        remove_unused_workbench_files(workbench.state)
        store = VerdictStore(
            workbench.state / "verdicts", lambda: analyser_digest(workbench.model or default_model(), workbench.site)
        )
        self.queue = AnalysisQueue(workbench, self.files, store)
        self.queue.on_analysed.append(self._publish_result)
        self.corrections = KnownCorrections(CorrectionFile(workbench.corrections), self.files.uploads)
        self._open: ByteCache[tuple[str, int, str], OpenRecording] = ByteCache(_MAX_OPEN)
        self.opening: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        """Locks of the files being opened."""
        self._choosing_lock = Lock()
        self._envelopes: dict[tuple[str, int, str], asyncio.Task[None]] = {}
        self._requested: dict[tuple[str, int, str], float] = {}
        workbench.on_open.append(self.queue.wake)

    # Listing

    def update(self, visitor: str, *, now: bool = False) -> bool:
        """Scan for files and load their stored analyses; return whether anything changed."""
        changed = self.files.update(visitor, now=now)
        if changed:
            self.queue.keep_only(self.files.ids())
        self.queue.load(self.files.visible_to(visitor))
        return changed

    def find(self, name: str, visitor: str) -> RecordingInFile:
        """Return a recording by its ID, if the visitor may see it."""
        base, _, position = name.partition("-")
        file = self.files.find(base, visitor) if re.fullmatch(ID, name) else None
        if file is None or (position and (position.startswith("0") or int(position) < 2)):
            raise Missing("There is no such recording.")
        self.queue.load([file])
        return RecordingInFile(file, int(position) - 1 if position else 0)

    def recordings(self, visitor: str) -> list[RecordingInFile]:
        """Return all recordings that a visitor may see."""
        return [place for file in self.files.visible_to(visitor) for place in self.recordings_in(file)]

    def recordings_in(self, file: RecordingFile) -> list[RecordingInFile]:
        """Return the recordings of a file; one until it was analysed."""
        found = self.queue.analysis(file)
        return [RecordingInFile(file, number) for number in range(1 if found is None else len(found.recordings))]

    def analysis(self, place: RecordingInFile) -> StoredRecordingAnalysis | None:
        """Return the analysis of a recording, if there is one."""
        found = self.queue.analysis(place.file)
        return None if found is None or place.number >= len(found.recordings) else found.recordings[place.number]

    def state_of(self, place: RecordingInFile) -> dict[str, Any]:
        """Return the progress of the analysis."""
        found = self.analysis(place)
        if found is not None:
            return {"state": "failed" if found.reason else "analysed", "share": 1.0, "reason": found.reason}
        busy = self.queue.current
        if busy is not None and busy.id == place.file.id:
            return {"state": "working", "share": round(self.queue.progress, 3), "reason": ""}
        return {"state": "waiting", "share": 0.0, "reason": place.file.problem}

    def entry(self, place: RecordingInFile) -> dict[str, Any]:
        """Return a recording as it is listed."""
        found = self.analysis(place) or StoredRecordingAnalysis("")
        verdict = found.verdict
        return {
            "id": place.id,
            "name": self.name_of(place, found.source),
            "station": "" if verdict is None else verdict.station,
            "start": None if verdict is None or verdict.start is None else verdict.start.isoformat(),
            "seconds": None if verdict is None else verdict.duration,
            "n_channels": found.n_channels,
            "upload": bool(place.file.visitor),
            **self.state_of(place),
            "n_events": found.n_events,
        }

    def name_of(self, place: RecordingInFile, source: str) -> str:
        """Return the name of the file and the position in it."""
        name = place.file.name.removeprefix("uploads/") if place.file.visitor else place.file.name
        own = file_text(place.file.path.name)
        return name + (source.removeprefix(own) if source.startswith(own) else "")

    def rows(self, places: Iterable[RecordingInFile]) -> list[dict[str, Any]]:
        """Return a row for each event; reads the file of corrections, so not for the event loop."""
        known = self.corrections.read_or_none()
        return [
            row
            | {
                "recording": place.id,
                "event": index,
                "start": found.event.start,
                "end": found.event.end,
                "point": row_curve_point(found),
                "upload": bool(place.file.visitor),
                "correction": self.correction_of(place, found, known),
            }
            for place in places
            if (analysis := self.analysis(place)) is not None
            for index, (found, row) in enumerate(zip(analysis.events, analysis.rows, strict=True))
        ]

    def summary(self, visitor: str) -> dict[str, Any]:
        """Return everything that a visitor may see."""
        from pqswarm.events.broad import BROAD_CLASSES
        from pqswarm.identify.agreement import in_words
        from pqswarm.measure.event import KINDS

        places = self.recordings(visitor)
        rows = self.rows(places)
        notes = [f"The folder has more than {MAX_FILES:,} recordings; the rest is not listed."] * self.files.has_more
        notes += [f"Only the first {_MAX_ROWS:,} of {len(rows):,} events are listed."] * (len(rows) > _MAX_ROWS)
        try:
            self.corrections.read()
        except PqswarmError as error:
            notes.append(str(error))
        return {
            "folder": file_text(self.workbench.folder.name),
            "total": len(rows),
            "analysing": self.queue.is_busy,
            "note": " ".join(notes),
            "max_bytes": self.workbench.max_bytes,
            "kinds": {kind: {"title": title, "colour": COLOURS[kind]} for kind, title in KINDS.items()},
            "classes": {name: in_words(name) for name in BROAD_CLASSES},
            "recordings": [self.entry(place) for place in places],
            "rows": rows[:_MAX_ROWS],
        }

    async def _publish_result(self, file: RecordingFile) -> None:
        """Send the result of an analysis to the pages."""
        message = await self.workbench.jobs.run(Job(), self._result_message, file)
        for visitor in {page.visitor for page in self.workbench.pages.values() if file.is_visible_to(page.visitor)}:
            self.workbench.publish(message, visitor)

    def _result_message(self, file: RecordingFile) -> dict[str, Any]:
        places = self.recordings_in(file)
        n_rows = sum(len((self.analysis(place) or StoredRecordingAnalysis("")).events) for place in places)
        return {
            "about": "recordings",
            "id": file.id,
            **self.state_of(places[0]),
            "urms": places[0].key in self.queue.verdicts,
            "recordings": [self.entry(place) for place in places[:_MAX_MESSAGE_ROWS]],
            "rows": self.rows(places) if max(n_rows, len(places)) <= _MAX_MESSAGE_ROWS else None,
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
            site = self.workbench.site
            with opening_only_inside(place.file.home):
                sources = open_for_analysis(place.file.path, site, None)
            if place.number >= len(sources):
                raise Missing("There is no such recording.")
            source = sources[place.number]
            found = OpenRecording.of(source if site is None else site.apply(source), place.number, len(sources))
            self._open.put(place.key, found, found.size)
            return found

    @contextmanager
    def _only_opener(self, job: Job, file: RecordingFile) -> Iterator[None]:
        """Wait until no other thread is opening the file, unless the job is cancelled first."""
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
        if opened.envelope.share >= 1:
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
                raise Cancelled

        self.queue.n_envelopes += 1
        try:
            await self.workbench.jobs.run(job, opened.envelope.build, check, pool="envelope")
        except (Cancelled, PqswarmError, RuntimeError):  # the next request reports the reason
            pass
        finally:
            self.queue.n_envelopes -= 1
            self._envelopes.pop(place.key, None)
            self._requested.pop(place.key, None)

    # Corrections

    def correction_of(
        self, place: RecordingInFile, found: EventVerdict, known: CorrectionsByOwner
    ) -> dict[str, Any] | None:
        """Return the correction of an event; for an upload, that of its visitor comes first."""
        if not known:
            return None
        analysis, source = self.queue.analysis(place.file), (self.analysis(place) or StoredRecordingAnalysis("")).source
        position = source.removeprefix(file_text(place.file.path.name))
        key = event_key("" if analysis is None else analysis.digest, position, found)
        owners = (upload_folder_name(place.file.visitor), "") if place.file.visitor else ("",)
        correction = next((known[owner][key] for owner in owners if key in known.get(owner, {})), None)
        names = ("label", "by", "at", "note")
        return None if correction is None else {name: getattr(correction, name) for name in names}
