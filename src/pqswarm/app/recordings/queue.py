"""Analysis queue: recordings are analysed one at a time while a page is open."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import replace
from time import monotonic, sleep

from pqswarm._base.files import opening_only_inside
from pqswarm._base.text import file_text
from pqswarm.app.cache import ByteCache
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.recordings.files import RecordingFile, RecordingFiles, RecordingInFile
from pqswarm.app.recordings.store import FileAnalysis, StoredRecordingAnalysis, VerdictStore
from pqswarm.app.workbench import Workbench
from pqswarm.errors import PqswarmError
from pqswarm.identify import Failure, Verdict, default_model, identify_file
from pqswarm.identify.folder.scan import find_candidate
from pqswarm.identify.show.lines import json_text
from pqswarm.recordings import RecordingSource

_LOG = logging.getLogger("pqswarm.app")
_MESSAGE_INTERVAL = 0.25
"""Minimum time between two progress messages [s]."""
_POLL_INTERVAL = 0.02
"""Seconds between two checks whether to continue."""
_MAX_VERDICT_BYTES = 64_000_000
"""Maximum size of the verdicts held in memory [byte]."""


class AnalysisQueue:
    """Analyses files one at a time: first the one open in a page, then the newest.

    Everything except the work itself runs on the event loop; the pages of the workbench receive the progress.
    """

    def __init__(self, workbench: Workbench, files: RecordingFiles, store: VerdictStore) -> None:
        self.workbench, self.files, self.store = workbench, files, store
        self.verdicts: ByteCache[tuple[str, int, str], Verdict] = ByteCache(_MAX_VERDICT_BYTES)
        self.on_analysed: list[Callable[[RecordingFile], Awaitable[None]]] = []
        """Called after the analysis of each file."""
        self.n_envelopes = 0
        """Envelopes being built; they have priority."""
        self.current: RecordingFile | None = None
        self.progress = 0.0
        self._analyses: dict[str, FileAnalysis] = {}
        self._wanted: dict[str, RecordingFile] = {}
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a file is being analysed or about to be."""
        return self._task is not None and not self._task.done()

    def analysis(self, file: RecordingFile) -> FileAnalysis | None:
        """Return the analysis of a file, if there is one."""
        found = self._analyses.get(file.id)
        return found if found is not None and found.stamp == file.stamp else None

    def load(self, files: Sequence[RecordingFile]) -> None:
        """Load stored analyses of files; callable from any thread."""
        for file in files:
            if file.stamp and self.analysis(file) is None:
                found = self.store.load(file)
                if found is not None:
                    self._analyses[file.id] = found

    async def forget(self, file: RecordingFile) -> None:
        """Forget a file that is no longer listed."""
        self._wanted.pop(file.id, None)
        while self.current is not None and self.current.id == file.id and self._job is not None:
            self._job.cancel()
            await asyncio.sleep(_POLL_INTERVAL)  # it may be writing its result
        self._analyses.pop(file.id, None)
        self.verdicts.drop(lambda key: key[0] == file.id)
        await self.workbench.jobs.run(Job(), self.store.remove, file)

    def keep_only(self, ids: Set[str]) -> None:
        """Drop the analyses of all other files from memory; callable from any thread."""
        for name in set(self._analyses) - ids:
            self._analyses.pop(name, None)

    def prioritise(self, place: RecordingInFile) -> None:
        """Analyse the recording of an open page first, unless its verdict is in memory."""
        file, number = place.file, place.number
        if not file.stamp or place.key in self.verdicts:
            return
        found = self.analysis(file)
        if found is not None and (number >= len(found.recordings) or found.recordings[number].reason):
            return  # it cannot be analysed
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
        waiting = (file for visitor in visitors for file in self.files.visible_to(visitor))
        return max(
            (file for file in waiting if file.stamp and self.analysis(file) is None),
            key=lambda file: file.modified,
            default=None,
        )

    async def _run(self) -> None:
        while (file := self._next()) is not None:
            self._job, self.current, self.progress = Job(), file, 0.0
            try:
                loop = asyncio.get_running_loop()
                await self.workbench.jobs.run(self._job, self._analyse, self._job, file, loop, pool="background")
            except Cancelled:
                continue
            except Exception:  # noqa: BLE001 (the next file must still be analysed)
                if self.workbench.jobs.is_closed:  # the server is stopping
                    return
                _LOG.exception("cannot analyse a file")
                self._analyses[file.id] = FileAnalysis(
                    file.stamp,
                    "",
                    (StoredRecordingAnalysis(file.name, reason="The analysis failed: see the terminal."),),
                )
            finally:
                self._job = self.current = None
            self._wanted.pop(file.id, None)
            try:
                for call in self.on_analysed:
                    await call(file)
            except RuntimeError:
                if self.workbench.jobs.is_closed:
                    return
                raise

    def _analyse(self, job: Job, file: RecordingFile, loop: asyncio.AbstractEventLoop) -> None:
        """Analyse a file, in a thread."""
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
        found = analyse_file(self.workbench, file, progress)
        try:
            with opening_only_inside(file.home):
                digest = find_candidate(file.path).digest()
        except (OSError, PqswarmError):  # removed meanwhile: it cannot be corrected
            digest = ""
        for number, (verdict, _) in enumerate(found):
            if isinstance(verdict, Verdict) and verdict.characterisation is not None:
                size = verdict.characterisation.require_series().nbytes
                self.verdicts.put((file.id, number, file.stamp), verdict, size)
        job.check()
        analysis = FileAnalysis(file.stamp, digest, tuple(_analysis_of_queued_file(file, *one) for one in found))
        self._analyses[file.id] = analysis
        if not any(isinstance(one, Failure) and one.retryable for one, _ in found):
            self.store.save(file, analysis)

    def _publish_progress(self, file: RecordingFile, progress: float) -> None:
        if self.current is file and self.analysis(file) is None:
            self.progress = progress
            message = {"about": "recordings", "id": file.id, "state": "working", "share": round(progress, 3)}
            self.workbench.publish(message, file.visitor or None)


def analyse_file(
    workbench: Workbench, file: RecordingFile, progress: Callable[[int, int], None]
) -> list[tuple[Verdict | Failure, int | None]]:
    """Return the verdict on each recording of a file and the number of its channels, without names of folders."""
    hide = workbench.names.hide
    counts: list[int] = []
    found: list[tuple[Verdict | Failure, int | None]] = []

    def count(source: RecordingSource, _: Verdict) -> None:
        counts.append(len(source.channels))

    model, site = workbench.model or default_model(), workbench.site
    with opening_only_inside(file.home):
        for one in identify_file(file.path, model=model, site=site, after=count, progress=progress):
            if isinstance(one, Verdict):
                light = Verdict.of(json.loads(hide(json_text(replace(one, path=file.name).as_dict()))))
                found.append((replace(light, characterisation=one.characterisation), counts.pop()))
            else:
                found.append((replace(one, path=file.name, source=hide(one.source), reason=hide(one.reason)), None))
    return found


def _analysis_of_queued_file(
    file: RecordingFile, found: Verdict | Failure, n_channels: int | None
) -> StoredRecordingAnalysis:
    """Return what is stored of a verdict."""
    if isinstance(found, Verdict):
        return StoredRecordingAnalysis(found.source, replace(found, characterisation=None), n_channels)
    reason = found.reason if found.reason.endswith(".") else f"{found.reason}."
    return StoredRecordingAnalysis(found.source or file_text(file.path.name), reason=reason)
