"""Recordings of the app: the files of its folder, analyzed one at a time while a page is open."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from pqswarm._base.files import opening_only_inside
from pqswarm._base.text import file_text
from pqswarm.app.jobs import ByteCache, Job, JobCancelled
from pqswarm.app.workbench import Workbench, is_inside, mark_workbench_file_used, workbench_id
from pqswarm.errors import PqswarmError
from pqswarm.identify import Analysis, Archive, Failure
from pqswarm.identify.archive.analyzer import AnalyzedFile, ArchiveAnalyzer, analyzer_heartbeat
from pqswarm.identify.archive.files import SeenFile, look_at_file
from pqswarm.identify.folder.batch import Candidate, batch_candidate_of, find_batch_candidate, is_ours, scan
from pqswarm.recordings.files import COMPANIONS

_FORGET_AFTER = 3600.0
"""Seconds after which the uploads of an inactive visitor are dropped from memory."""
_SCAN_INTERVAL = 1.0
_SCAN_FACTOR = 20.0
"""Minimum time between two scans of a folder [s], and as a multiple of the duration of a scan."""
_SCAN_WAIT = 0.5
"""Time that a request waits for a scan [s]."""
_BATCH = 100
"""Files that are noted in the archive at a time."""
_digest = lru_cache(1000)(Candidate.digest)
_LOG = logging.getLogger("pqswarm.app")
_MESSAGE_INTERVAL = 0.25
"""Minimum time between two progress messages [s]."""
_POLL_INTERVAL = 0.02
"""Seconds between two checks whether to continue."""
_BUSY_INTERVAL = 2.0
"""Seconds after which a file that another process analyzes is looked at again."""
_MAX_ANALYSIS_BYTES = 64_000_000
"""Maximum size of the analyses held in memory [byte]."""


@dataclass(frozen=True)
class RecordingFile:
    """A file with one or more recordings.

    The ID is of its content, and so survives restarts and new names. The name is the path relative to the folder, as
    text; uploads start with ``uploads/`` and belong to a visitor. The stamp holds sizes and modification times of its
    parts; it is empty while parts are missing, and `problem` says why. The path is never shown; `modified` is the time
    of the last change [ns]; nothing outside `home` may be opened. `seen` is what the archive is told of it.
    """

    id: str
    name: str
    parts: tuple[Path, ...]
    stamp: str
    modified: int
    home: Path
    visitor: str = ""
    problem: str = ""
    seen: SeenFile | None = field(default=None, compare=False)
    is_waiting: bool = False

    @property
    def path(self) -> Path:
        """The file that represents all of them."""
        return self.parts[0]

    @property
    def content(self) -> str:
        """Key of its content in the archive; empty if it is not known yet."""
        return "" if self.seen is None else self.seen.content

    def is_visible_to(self, visitor: str) -> bool:
        """Whether a visitor may see it."""
        return self.visitor in ("", visitor)


@dataclass(frozen=True)
class RecordingInFile:
    """One recording of a file, by its number."""

    file: RecordingFile
    number: int

    @property
    def id(self) -> str:
        """ID used in URLs: that of the file, followed by the position from the second recording on."""
        return self.file.id if not self.number else f"{self.file.id}-{self.number + 1}"

    @property
    def key(self) -> tuple[str, int, str]:
        """Cache key; it changes with the file."""
        return self.file.id, self.number, self.file.stamp


class RecordingFiles:
    """Finds the files of a folder and of visitors, and notes them in the archive; scans again on request.

    Links that point outside the folder are skipped; `uploads` has a folder for each visitor.
    """

    def __init__(self, folder: Path, uploads: Path, archive: "Archive") -> None:
        self.folder = folder
        self.uploads = uploads
        self.archive = archive
        self._files: dict[str, dict[str, RecordingFile]] = {}
        self._scanned: dict[str, float] = {}
        self._scanning = {False: Lock(), True: Lock()}  # of the folder, and of uploads
        self.is_stopping: Callable[[], bool] = lambda: False
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="scan")
        self._scans: dict[str, Future[bool]] = {}
        self._took: dict[str, float] = {}
        self._has_changed = False

    def uploads_of(self, visitor: str) -> Path:
        """Return the upload folder of a visitor."""
        return self.uploads / upload_folder_name(visitor)

    def update(self, visitor: str, *, now: bool = False) -> bool:
        """Scan the folder and the uploads of a visitor, if any, if it is time; return whether anything changed.

        With `now`, uploads are scanned in any case. What takes long is scanned in threads.
        """
        changed = now and bool(visitor) and self._scan(visitor, 0.0)
        owners = {"", visitor}
        for owner in owners:
            if owner not in self._scans or self._scans[owner].done():
                self._scans[owner] = self._threads.submit(
                    self._scan, owner, max(_SCAN_INTERVAL, _SCAN_FACTOR * self._took.get(owner, 0.0))
                )
        if not now:
            wait([self._scans[owner] for owner in owners], _SCAN_WAIT)
        changed = changed or self._has_changed
        self._has_changed = False
        return changed

    def look_again(self) -> None:
        """Scan the folder with the next update, whenever the last one was."""
        self._scanned.pop("", None)

    def _scan(self, owner: str, interval: float) -> bool:
        with self._scanning[bool(owner)]:
            if monotonic() - self._scanned.get(owner, -interval) < interval:
                return False
            began = monotonic()
            try:
                found = {one.id: one for one in (self._uploads(owner) if owner else self._in_folder())}
            except (OSError, PqswarmError):  # of the archive: the answer tells
                return False
            changed = found != self._files.get(owner, {})
            self._files[owner] = found
            self._scanned[owner] = monotonic()
            self._took[owner] = monotonic() - began
            self._has_changed |= changed
            for other in [one for one, at in self._scanned.items() if one and monotonic() - at > _FORGET_AFTER]:
                del self._files[other], self._scanned[other], self._took[other], self._scans[other]
            return changed

    def add(self, path: Path, visitor: str, beside: list[Path]) -> RecordingFile:
        """Note an upload that was just stored without a scan; `beside` are the files with its name, and itself."""
        home = self.uploads_of(visitor)
        owner = upload_folder_name(visitor)
        suffix = path.suffix.casefold()
        if visitor not in self._files:
            self._scan(visitor, 0.0)
        with self._scanning[True]:
            parts = [one for one in beside if one.suffix.casefold() == ".cfg"] if suffix in COMPANIONS else [path]
            data = {one.name: one for one in beside if one.suffix.casefold() == ".dat"}
            new = [batch_candidate_of(home, one, data) for one in parts]
            known = {one: file for one in parts if (file := self.archive.files.get(one)) is not None}
            found = [self._upload(*one, visitor) for one in self._noted(home, new, owner, known)]
            found = found or [self._without_cfg(path, visitor)]
            files = self._files.setdefault(visitor, {})
            for one in (part for file in found for part in file.parts):
                files.pop(queue_path_id(one), None)  # as it was listed while a part was missing
            files |= {one.id: one for one in found}
        return next((one for one in found if path in one.parts), found[0])

    def visible_to(self, visitor: str) -> list[RecordingFile]:
        """Return the files that a visitor may see, as of the last scan."""
        return [*self._files.get("", {}).values(), *self._files.get(visitor, {}).values()]

    def find(self, name: str, visitor: str) -> RecordingFile | None:
        """Return a file by its ID, if the visitor may see it and it is still inside its folder."""
        found = self._known(name, visitor)
        if found is None:
            self.update(visitor)
            found = self._known(name, visitor)
        return found if found is not None and all(is_inside(found.home, part) for part in found.parts) else None

    def find_same(self, upload: RecordingFile) -> RecordingFile | None:
        """Return the file of the folder that has the content of an upload, if there is one."""
        if not upload.stamp:
            return None
        same = self._files.get("", {}).get(_digest(Candidate("", upload.parts, upload.stamp))[:24])
        return same if same is not None and all(part.is_file() for part in same.parts) else None

    def find_elsewhere(self, content: str, name: str) -> RecordingFile:
        """Return a file of another folder, where it was analyzed, if its content is still the same."""
        for one in self.archive.files.by_content([content]).get(content, ()):
            with suppress(OSError, PqswarmError):
                found = find_batch_candidate(one.path)
                if not one.owner and found.stamp and _digest(found) == content:
                    return _queue_recording_file(found, one, name, one.path.parent)
        problem = "its file is no longer where it was analyzed, or has changed"
        return RecordingFile(content[:24], name, (), "", 0, self.folder, problem=problem)

    def _known(self, name: str, visitor: str) -> RecordingFile | None:
        return self._files.get("", {}).get(name) or self._files.get(visitor, {}).get(name)

    def _in_folder(self) -> Iterator[RecordingFile]:
        for one, known in self._noted(self.folder, scan(self.folder), "", self.archive.files.all(self.folder)):
            yield _queue_recording_file(one, known, one.name, self.folder)

    def _uploads(self, visitor: str) -> Iterator[RecordingFile]:
        home = self.uploads_of(visitor)
        mark_workbench_file_used(home)
        found = list(scan(home)) if home.is_dir() else []
        for one in self._noted(home, found, upload_folder_name(visitor), self.archive.files.all(home)):
            yield self._upload(*one, visitor)
        paths = (one.parts[0] for one in found if one.parts[0].suffix.casefold() == ".cfg")
        stems = {(one.parent, one.stem.casefold()) for one in paths}
        with suppress(OSError):
            for path in sorted(one for one in home.rglob("*") if one.suffix.casefold() in COMPANIONS):
                if (path.parent, path.stem.casefold()) not in stems and path.is_file():
                    yield self._without_cfg(path, visitor)

    def _upload(self, candidate: Candidate, known: SeenFile | None, visitor: str) -> RecordingFile:
        return _queue_recording_file(candidate, known, f"uploads/{candidate.name}", self.uploads_of(visitor), visitor)

    def _without_cfg(self, path: Path, visitor: str) -> RecordingFile:
        """Return a data file whose configuration the visitor may still be sending."""
        home = self.uploads_of(visitor)
        name = f"uploads/{file_text(path.relative_to(home).as_posix())}"
        return RecordingFile(queue_path_id(path), name, (path,), "", 0, home, visitor, "waiting for its .cfg")

    def _noted(
        self, home: Path, candidates: Iterable[Candidate], owner: str, known: Mapping[Path, SeenFile]
    ) -> Iterator[tuple[Candidate, SeenFile | None]]:
        """Yield candidates with what the archive knows of them; new ones are noted there."""
        new = list[SeenFile]()
        for one in candidates:
            if self.is_stopping():
                return
            before = known.get(one.parts[0])
            same = before if before is not None and before.stamp == one.stamp != "" else None
            leads_outside = any(part.is_symlink() and not is_inside(home, part) for part in one.parts)
            if leads_outside or (same is not None and same.state == "ours"):  # linked folders are not scanned
                continue
            if same is not None or not one.stamp:
                yield one, same
                continue
            if not owner and is_ours(one.parts[0]):
                self.archive.files.set_aside(one.parts[0], one.stamp, "ours", "a table written by pqswarm.")
                continue
            try:
                with opening_only_inside(home):
                    seen = look_at_file(one, before, owner)
            except OSError:
                yield one, None
                continue
            new.append(seen)
            if len(new) >= _BATCH:
                self.archive.files.register(new)
                new = []
            yield one, seen
        if new:
            self.archive.files.register(new)


def upload_folder_name(visitor: str) -> str:
    """Return the folder name of a visitor; it appears in corrections, so it must not reveal the secret cookie."""
    return workbench_id(f"visitor/{visitor}")


def queue_path_id(path: Path) -> str:
    """Return the ID of a file whose content is not known yet."""
    return workbench_id(f"path/{os.fspath(path)}", 24)


def _queue_recording_file(
    candidate: Candidate, known: SeenFile | None, name: str, home: Path, visitor: str = ""
) -> RecordingFile:
    parts = candidate.parts
    stamp = "" if known is None else candidate.stamp
    is_alone = len(parts) == 1 and parts[0].suffix.casefold() == ".cfg"
    problem = "" if stamp else "waiting for its .dat" if is_alone else "empty or unreadable"
    if known is None:
        return RecordingFile(queue_path_id(parts[0]), name, parts, "", 0, home, visitor, problem)
    modified = max((int(part.partition(":")[2]) for part in stamp.split()), default=0)
    is_waiting = known.state in ("", "waiting")
    return RecordingFile(known.content[:24], name, parts, stamp, modified, home, visitor, "", known, is_waiting)


def remove_queued_upload(file: RecordingFile) -> list[str]:
    """Remove an upload with the companions of its ``.cfg``; return the names of the removed files."""
    stem = file.path.stem.casefold()
    suffix = file.path.suffix.casefold()
    removed = []
    for path in sorted(file.path.parent.iterdir()):
        is_comtrade = suffix in (".cfg", *COMPANIONS) and path.suffix.casefold() in (".cfg", *COMPANIONS)
        if path == file.path or (is_comtrade and path.stem.casefold() == stem):
            os.unlink(path)  # noqa: PTH108 (a folder of that name stays)
            removed.append(file_text(path.name))
    return removed


class AnalysisQueue:
    """Analyzes files one at a time into the archive: first the one open in a page, then the newest.

    Everything except the work itself runs on the event loop; the pages of the workbench receive the progress.
    """

    def __init__(self, workbench: Workbench, files: RecordingFiles, archive: Archive) -> None:
        self.workbench = workbench
        self.files = files
        self.archive = archive
        self.analyses: ByteCache[tuple[str, int, str], Analysis] = ByteCache(_MAX_ANALYSIS_BYTES)
        self.on_analyzed: list[Callable[[RecordingFile], Awaitable[None]]] = []
        """Called after the analysis of each file."""
        self.n_envelopes = 0
        """Envelopes being built; they have priority."""
        self.current: RecordingFile | None = None
        self.progress = 0.0
        self.failed: dict[tuple[str, str], str] = {}
        """Why files could not be analyzed for now, by ID and stamp; nothing of that is in the archive."""
        self._later: dict[str, float] = {}
        self._done: set[str] = set()
        self._wanted: dict[str, RecordingFile] = {}
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a file is being analyzed or about to be."""
        return self._task is not None and not self._task.done()

    def waiting(self, visitor: str) -> list[RecordingFile]:
        """Return the files that wait to be analyzed."""
        return [
            one for one in self.files.visible_to(visitor) if not one.stamp or (one.is_waiting and not self.is_done(one))
        ]

    def is_done(self, file: RecordingFile) -> bool:
        """Whether a file was analyzed, or cannot be for now, since it was found."""
        return file.content in self._done or (file.id, file.stamp) in self.failed

    def ask_again(self, contents: list[str]) -> None:
        """Analyze contents again."""
        self._done -= set(contents)

    async def forget(self, file: RecordingFile) -> None:
        """Forget a file that is no longer listed."""
        self._wanted.pop(file.id, None)
        while self.current is not None and self.current.id == file.id and self._job is not None:
            self._job.cancel()
            await asyncio.sleep(_POLL_INTERVAL)  # it may be writing its result
        self._done.discard(file.content)
        self.analyses.drop(lambda key: key[0] == file.id)
        if file.seen is not None and file.seen.owner:
            await self.workbench.jobs.run(Job(), self.archive.remove_owned, file.seen.owner, file.content)

    def prioritize(self, place: RecordingInFile) -> None:
        """Analyze the recording of an open page first, unless its analysis is in memory."""
        file = place.file
        if not file.stamp or place.key in self.analyses or (file.id, file.stamp) in self.failed:
            return
        self._wanted.pop(file.id, None)
        self._wanted[file.id] = file
        busy = self.current
        if busy is not None and busy.id != file.id and busy.id not in self._wanted and self._job is not None:
            self._job.cancel()
        self.wake()

    def wake(self) -> None:
        """Continue if a file is waiting and a page is open."""
        if not self.is_busy and self._next() is not None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def is_watched(self, file: RecordingFile) -> bool:
        """Whether an open page may see a file; callable from any thread."""
        return any(file.is_visible_to(page.visitor) for page in list(self.workbench.pages.values()))

    def _next(self) -> RecordingFile | None:
        self._wanted = {name: file for name, file in self._wanted.items() if self.is_watched(file)}
        if self._wanted:
            return next(reversed(self._wanted.values()))
        visitors = {page.visitor for page in self.workbench.pages.values()}
        waiting = (file for visitor in visitors for file in self.waiting(visitor) if file.stamp)
        now = monotonic()
        return max(
            (file for file in waiting if self._later.get(file.id, 0.0) <= now),
            key=lambda file: file.modified,
            default=None,
        )

    async def _run(self) -> None:
        while (file := self._next()) is not None:
            self._job = Job()
            self.current = file
            self.progress = 0.0
            try:
                loop = asyncio.get_running_loop()
                await self.workbench.jobs.run(self._job, self._analyze, self._job, file, loop, pool="background")
            except JobCancelled:
                continue
            except Exception as error:  # noqa: BLE001 (the next file must still be analyzed)
                if self.workbench.jobs.is_closed:  # the server is stopping
                    return
                known = isinstance(error, PqswarmError)
                if not known:
                    _LOG.exception("cannot analyze a file")
                self.failed[file.id, file.stamp] = str(error) if known else "The analysis failed: see the terminal."
            finally:
                self._job = self.current = None
            self._wanted.pop(file.id, None)
            if file.id in self._later and self._later[file.id] > monotonic():
                loop.call_later(_BUSY_INTERVAL, self.wake)
                continue
            try:
                for call in self.on_analyzed:
                    await call(file)
            except RuntimeError:
                if self.workbench.jobs.is_closed:
                    return
                raise

    def _analyze(self, job: Job, file: RecordingFile, loop: asyncio.AbstractEventLoop) -> None:
        """Analyze a file, in a thread, and write the result unless it is in the archive already."""
        sent = monotonic() - _MESSAGE_INTERVAL

        def progress(done: int, total: int) -> None:
            nonlocal sent
            job.check()
            if not self.is_watched(file):
                raise JobCancelled
            while self.n_envelopes:
                job.check()
                sleep(_POLL_INTERVAL)
            if monotonic() - sent >= _MESSAGE_INTERVAL:
                sent = monotonic()
                loop.call_soon_threadsafe(self._publish_progress, file, done / max(total, 1))

        progress(0, 1)
        claim = "done" if file.seen is None else self.archive.files.claim(file.content)
        is_wanted = file.id in self._wanted
        if claim == "busy" and not is_wanted:
            self._later[file.id] = monotonic() + _BUSY_INTERVAL
            return
        if claim == "mine" or is_wanted:  # for an open page also what is in the archive: its time series are not
            try:
                with analyzer_heartbeat(self.archive, [file.content]):
                    found = analyze_queued_file(self.workbench, self.archive, file, progress)
            except BaseException:
                self.archive.files.release([file.content])
                raise
            for number, analysis in enumerate(found.results):
                if isinstance(analysis, Analysis) and analysis.characterization is not None:
                    size = analysis.characterization.require_series().nbytes
                    self.analyses.put((file.id, number, file.stamp), analysis, size)
            reasons = [one.reason for one in found.results if isinstance(one, Failure)]
            is_gone = not all(part.exists() for part in file.parts)
            if found.is_retryable or (reasons and is_gone):
                self.archive.files.release([file.content])
                self.failed[file.id, file.stamp] = reasons[0]
                return  # the same content may come again
            if claim == "mine" and file.seen is not None:
                self.archive.finish(file.seen, found.results, analyzer=found.analyzer, facts=found.facts)
        self._done.add(file.content)

    def _publish_progress(self, file: RecordingFile, progress: float) -> None:
        if self.current is file:
            self.progress = progress
            message = {"about": "recordings", "id": file.id, "state": "working", "fraction": round(progress, 3)}
            self.workbench.publish(message, file.visitor or None)


def analyze_queued_file(
    workbench: Workbench, archive: Archive, file: RecordingFile, progress: Callable[[int, int], None]
) -> AnalyzedFile:
    """Analyze a file with its time series, without opening anything outside its folder."""
    analyzer = ArchiveAnalyzer({"model": workbench.model, "site": workbench.site}, archive.sites())
    with opening_only_inside(file.home):
        found = analyzer.analyze(file.path, progress=progress, keep_series=True)
    reasons = (
        replace(one, reason=one.reason.rstrip(".") + ".") if isinstance(one, Failure) else one for one in found.results
    )
    return replace(found, results=tuple(reasons))
