"""Analysis queue: recordings are analysed one at a time while a page is open."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import monotonic, sleep

from pqswarm._base.files import opening_only_inside
from pqswarm.app.cache import ByteCache
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.recordings.files import RecordingFile, RecordingFiles, RecordingInFile
from pqswarm.app.workbench import Workbench
from pqswarm.errors import PqswarmError
from pqswarm.identify import Analysis, Archive, Failure, default_model
from pqswarm.identify.archive.analyzer import Analyzed, ArchiveAnalyzer, heartbeat

_LOG = logging.getLogger("pqswarm.app")
_MESSAGE_INTERVAL = 0.25
"""Minimum time between two progress messages [s]."""
_POLL_INTERVAL = 0.02
"""Seconds between two checks whether to continue."""
_BUSY_INTERVAL = 2.0
"""Seconds after which a file that another process analyses is looked at again."""
_MAX_ANALYSIS_BYTES = 64_000_000
"""Maximum size of the analyses held in memory [byte]."""


class AnalysisQueue:
    """Analyses files one at a time into the archive: first the one open in a page, then the newest.

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
        """Why files could not be analysed for now, by ID and stamp; nothing of that is in the archive."""
        self._later: dict[str, float] = {}
        self._done: set[str] = set()
        self._wanted: dict[str, RecordingFile] = {}
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a file is being analysed or about to be."""
        return self._task is not None and not self._task.done()

    def waiting(self, visitor: str) -> list[RecordingFile]:
        """Return the files that wait to be analysed."""
        return [
            one for one in self.files.visible_to(visitor) if not one.stamp or (one.is_waiting and not self.is_done(one))
        ]

    def is_done(self, file: RecordingFile) -> bool:
        """Whether a file was analysed, or cannot be for now, since it was found."""
        return file.content in self._done or (file.id, file.stamp) in self.failed

    def ask_again(self, contents: list[str]) -> None:
        """Analyse contents again."""
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
        """Analyse the recording of an open page first, unless its analysis is in memory."""
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
            except Cancelled:
                continue
            except Exception as error:  # noqa: BLE001 (the next file must still be analysed)
                if self.workbench.jobs.is_closed:  # the server is stopping
                    return
                known = isinstance(error, PqswarmError)
                if not known:
                    _LOG.exception("cannot analyse a file")
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
        """Analyse a file, in a thread, and write the result unless it is in the archive already."""
        sent = monotonic() - _MESSAGE_INTERVAL

        def progress(done: int, total: int) -> None:
            nonlocal sent
            job.check()
            if not self.is_watched(file):
                raise Cancelled
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
                with heartbeat(self.archive, [file.content]):
                    found = analyze_file(self.workbench, self.archive, file, progress)
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
                self.archive.finish(file.seen, found.results, analyzer=found.analyzer, n_channels=found.n_channels)
        self._done.add(file.content)

    def _publish_progress(self, file: RecordingFile, progress: float) -> None:
        if self.current is file:
            self.progress = progress
            message = {"about": "recordings", "id": file.id, "state": "working", "share": round(progress, 3)}
            self.workbench.publish(message, file.visitor or None)


def analyze_file(
    workbench: Workbench, archive: Archive, file: RecordingFile, progress: Callable[[int, int], None]
) -> Analyzed:
    """Analyse a file with its time series, without opening anything outside its folder."""
    analyzer = ArchiveAnalyzer.of(archive, {"model": workbench.model or default_model(), "site": workbench.site})
    with opening_only_inside(file.home):
        found = analyzer.analyze(file.path, progress=progress, keep_series=True)
    reasons = (
        replace(one, reason=one.reason.rstrip(".") + ".") if isinstance(one, Failure) else one for one in found.results
    )
    return replace(found, results=tuple(reasons))
