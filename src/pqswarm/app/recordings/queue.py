"""Verdicts on the recordings: made one after the other while a page is open, and kept as plain values."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import replace
from datetime import datetime
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from pqswarm._base.text import file_text
from pqswarm.app.byte_cache import ByteCache, verdict_bytes
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.recordings.files import RecordingFile, RecordingFiles
from pqswarm.app.recordings.store import FileFindings, RecordingFindings, VerdictStore
from pqswarm.app.workbench import Workbench
from pqswarm.errors import PqswarmError
from pqswarm.identify import Failure, Verdict, default_model, identify_file, possible_labels
from pqswarm.identify.folder.scan import find_candidate
from pqswarm.identify.show.curves import rank_event
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.show.page.rows import Row

if TYPE_CHECKING:
    from pqswarm.identify import Model
    from pqswarm.recordings import RecordingSource

__all__ = ["Judging", "judge_file"]

_LOG = logging.getLogger("pqswarm.app")
_OFTEN = 0.25
"""Least time between two messages about the progress [s]."""
_PAUSE = 0.02
"""Seconds between two looks whether to go on."""
_VERDICTS = 64_000_000
"""Bytes of verdicts that stay in memory."""


class Judging:
    """Judges the files that somebody looks at, one at a time; what a page has open comes first, then the newest.

    All but the work itself happens on the event loop.

    Parameters
    ----------
    workbench : Workbench
        Its pages are told.
    files : RecordingFiles
        The files.
    store : VerdictStore
        What was found before.
    tidy : callable
        Takes names of folders of this machine out of a text.
    """

    def __init__(
        self, workbench: Workbench, files: RecordingFiles, store: VerdictStore, tidy: Callable[[str], str]
    ) -> None:
        self.workbench, self.files, self.store, self.tidy = workbench, files, store, tidy
        self.verdicts: ByteCache[tuple[str, int, str], Verdict] = ByteCache(_VERDICTS)
        self.listeners: list[Callable[[RecordingFile], Awaitable[None]]] = []
        """Are told of each file that has been judged."""
        self.pictures = 0
        """Of long recordings, that are being made: they come first."""
        self.current: RecordingFile | None = None
        self.share = 0.0
        self._findings: dict[str, FileFindings] = {}
        self._wanted: dict[str, RecordingFile] = {}
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a file is being judged, or is about to be."""
        return self._task is not None and not self._task.done()

    def findings(self, file: RecordingFile) -> FileFindings | None:
        """Return what was found in a file, if that is known."""
        found = self._findings.get(file.id)
        return found if found is not None and found.stamp == file.stamp else None

    def recall(self, files: Sequence[RecordingFile]) -> None:
        """Load what was kept of files; in any thread."""
        for file in files:
            if file.stamp and self.findings(file) is None:
                found = self.store.load(file)
                if found is not None:
                    self._findings[file.id] = found

    def details(self, file: RecordingFile, number: int) -> dict[str, Any] | None:
        """Return everything about a recording, from where it is kept; in any thread."""
        found = self.findings(file)
        if found is None or number >= len(found.recordings):
            return None
        return found.details[number] if found.details is not None else self.store.details(file, number)

    async def forget(self, file: RecordingFile) -> None:
        """Know nothing any more of a file that is no longer listed."""
        self._wanted.pop(file.id, None)
        while self.current is not None and self.current.id == file.id and self._job is not None:
            self._job.cancel()
            await asyncio.sleep(_PAUSE)  # it may just be writing what it found
        self._findings.pop(file.id, None)
        self.verdicts.drop(lambda key: key[0] == file.id)
        await self.workbench.jobs.answer(Job(), lambda _: self.store.forget(file))

    def keep_only(self, ids: Set[str]) -> None:
        """Hold no findings in memory of files that are not listed; in any thread."""
        for name in set(self._findings) - ids:
            self._findings.pop(name, None)

    def want(self, file: RecordingFile, number: int) -> None:
        """Let a recording that a page has open come first, if its verdict is not at hand."""
        if not file.stamp or (file.id, number, file.stamp) in self.verdicts:
            return
        found = self.findings(file)
        if found is not None and (number >= len(found.recordings) or found.recordings[number].reason):
            return  # it cannot be judged
        self._wanted.pop(file.id, None)
        self._wanted[file.id] = file
        busy = self.current
        if busy is not None and busy.id != file.id and busy.id not in self._wanted and self._job is not None:
            self._job.cancel()
        self.wake()

    def wake(self) -> None:
        """Go on, if there is something to do and somebody for whom."""
        if not self.is_busy and self._next() is not None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def is_watched(self, file: RecordingFile) -> bool:
        """Whether a page is open that may see a file; in any thread."""
        return any(file.is_seen_by(page.visitor) for page in list(self.workbench.pages.values()))

    def _next(self) -> RecordingFile | None:
        self._wanted = {name: file for name, file in self._wanted.items() if self.is_watched(file)}
        if self._wanted:
            return next(reversed(self._wanted.values()))
        visitors = {page.visitor for page in self.workbench.pages.values()}
        waiting = (file for visitor in visitors for file in self.files.seen_by(visitor))
        return max(
            (file for file in waiting if file.stamp and self.findings(file) is None),
            key=lambda file: file.modified,
            default=None,
        )

    async def _run(self) -> None:
        while (file := self._next()) is not None:
            self._job, self.current, self.share = Job(), file, 0.0
            try:
                await self.workbench.jobs.background(self._job, self._judge, file, asyncio.get_running_loop())
            except Cancelled:
                continue
            except Exception:  # noqa: BLE001 (whatever happens, the next file has its turn)
                if self.workbench.jobs.is_closed:  # the server ends
                    return
                _LOG.exception("cannot judge a file")
                self._findings[file.id] = FileFindings(
                    file.stamp, "", (RecordingFindings(file.name, reason="could not be judged: see the terminal."),)
                )
            finally:
                self._job = self.current = None
            self._wanted.pop(file.id, None)
            try:
                for tell in self.listeners:
                    await tell(file)
            except RuntimeError:
                if self.workbench.jobs.is_closed:
                    return
                raise

    def _judge(self, job: Job, file: RecordingFile, loop: asyncio.AbstractEventLoop) -> None:
        """The work, in a thread."""
        told = monotonic() - _OFTEN

        def progress(done: int, total: int) -> None:
            nonlocal told
            job.check()
            if not self.is_watched(file):
                raise Cancelled
            while self.pictures:  # somebody waits for them
                job.check()
                sleep(_PAUSE)
            if monotonic() - told >= _OFTEN:
                told = monotonic()
                loop.call_soon_threadsafe(self._say, file, done / max(total, 1))

        progress(0, 1)
        found = judge_file(self.workbench, file, progress)
        try:
            digest = find_candidate(file.path).digest()
        except (OSError, PqswarmError):  # it is gone: nothing can be said of it by anybody
            digest = ""
        recordings, details = [], []
        for number, (verdict, n_channels) in enumerate(found):
            summary, more = _describe(file, verdict, n_channels, self.tidy)
            recordings.append(summary)
            details.append(more)
            if isinstance(verdict, Verdict):
                self.verdicts.put((file.id, number, file.stamp), verdict, verdict_bytes(verdict))
        job.check()
        findings = FileFindings(file.stamp, digest, tuple(recordings))
        passing = any(isinstance(one, Failure) and one.passing for one, _ in found)
        self._findings[file.id] = findings if passing else self.store.save(file, findings, tuple(details))

    def _say(self, file: RecordingFile, share: float) -> None:
        if self.current is file and self.findings(file) is None:
            self.share = share
            message = {"about": "recordings", "id": file.id, "state": "working", "share": round(share, 3)}
            self.workbench.publish(message, file.visitor or None)


def judge_file(
    workbench: Workbench, file: RecordingFile, progress: Callable[[int, int], None]
) -> list[tuple[Verdict | Failure, int | None]]:
    """Return the verdict on each recording of a file, with the number of its channels."""
    numbers: dict[int, int] = {}

    def note(source: "RecordingSource", verdict: Verdict) -> None:
        numbers[id(verdict)] = len(source.channels)

    model: Model = workbench.model or default_model()
    found = list(identify_file(file.path, model=model, site=workbench.site, after=note, progress=progress))
    return [(replace(one, path=file.name), numbers.get(id(one))) for one in found]


def _describe(
    file: RecordingFile, verdict: Verdict | Failure, n_channels: int | None, tidy: Callable[[str], str]
) -> tuple[RecordingFindings, dict[str, Any] | None]:
    """What is kept of a verdict: rows, and everything else."""
    if isinstance(verdict, Failure):
        return RecordingFindings(
            tidy(verdict.source or file_text(file.path.name)), reason=_sentence(tidy(verdict.reason))
        ), None
    found = verdict.characterisation
    rows = [Row(0, verdict, one, rank_event(one.event)) for one in verdict.events]
    events = [
        {
            "row": plain,
            "start": one.event.start,
            "end": one.event.end,
            "point": one.point,
            "severity": one.severity,
            "tip": f"{one.sentence}, {one.moment}, {verdict.station or file.name}",
            "channels": [file_text(name) for name in one.event.channels],
        }
        for one, plain in zip(rows, verdict.rows(), strict=True)
    ]
    summary = {
        "source": verdict.source,
        "station": verdict.station,
        "start": _iso(verdict.start),
        "seconds": found.n_samples / found.sampling_rate,
        "n_channels": n_channels,
        "reason": "",
        "events": events,
    }
    details = {
        "thresholds": found.thresholds.settings(),
        "frequency": float(found.frequency),
        "references": [
            {"name": one.name, "volts": one.reference, "source": one.reference_source} for one in found.channels
        ],
        "events": [one.as_dict() | {"possible": possible_labels(verdict, one)} for one in verdict.events],
        "caveats": verdict.caveats,
        "notes": verdict.notes,
        "text": verdict.text(),
    }
    clean = _cleaned({"summary": summary, "details": details}, tidy)
    return RecordingFindings.of(clean["summary"]), clean["details"]


def _cleaned(value: Any, tidy: Callable[[str], str]) -> Any:
    """Plain values for strict JSON, without names of folders of this machine."""
    plain = json.loads(json_text(value))

    def walk(one: Any) -> Any:
        if isinstance(one, dict):
            return {key: walk(entry) for key, entry in one.items()}
        if isinstance(one, list):
            return [walk(entry) for entry in one]
        return tidy(one) if isinstance(one, str) else one

    return walk(plain)


def _sentence(reason: str) -> str:
    return reason if reason.endswith(".") else f"{reason}."


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
