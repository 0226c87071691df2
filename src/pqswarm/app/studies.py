"""The studies section: live progress of the studies of a folder, polled by one thread, and the report of one or two."""

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from pqswarm._base.text import file_text
from pqswarm.app.handlers import BaseHandler, HTTPMissing, HTTPRefusal
from pqswarm.app.jobs import AnswerCache, Job
from pqswarm.app.workbench import Workbench, WorkbenchPage, is_inside, workbench_id
from pqswarm.errors import PqswarmError
from pqswarm.study.progress import Follower, StudyStatus
from pqswarm.study.store import FILE_NAME, store_stamp

_MAX_LOAD = 0.01
"""Maximum fraction of a core used for polling."""
_SEARCH_INTERVAL = 2.0
"""Minimum time between two searches for new studies [s]."""
_FIRST_ANSWER = 0.5
"""Seconds spent reading stores before the first answer."""
_MAX_DEPTH = 4
_MAX_FOLDERS = 5000
_MAX_STUDIES = 500
_MAX_IDLE_STORES = 4
"""Stores of inactive studies that stay open."""

_STORE_ERRORS = (
    sqlite3.Error,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""Errors that a damaged store can cause."""

_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")


@dataclass(eq=False)
class FollowedStudy:
    """A study of the folder and its last known state."""

    id: str
    name: str
    folder: Path
    stamp: tuple[int, ...] = ()
    row: dict[str, Any] = field(default_factory=dict)
    follower: Follower | None = None
    used: float = 0.0

    def open(self) -> Follower:
        """Open its store, unless it is open."""
        self.follower = self.follower or Follower(self.folder)
        return self.follower

    def close(self) -> None:
        """Close its store."""
        if self.follower is not None:
            self.follower.close()
        self.follower = None


class FollowedStudies:
    """Polls the studies of a folder on behalf of all pages.

    `interval` and `after_failure` are the minimum times between two polls, and after a failed one [s].
    """

    def __init__(self, workbench: Workbench, interval: float = 1.5, after_failure: float = 30.0) -> None:
        self._workbench = workbench
        self._interval = interval
        self._after_failure = after_failure
        self.answers = AnswerCache()
        self._studies: dict[str, FollowedStudy] = {}
        self._watching: dict[WorkbenchPage, Job] = {}
        self._task: asyncio.Task[None] | None = None
        self._searched = 0.0
        self._search_cost = 0.0

    # On the event loop

    def watch(self, page: WorkbenchPage) -> None:
        """Send changes to a page until it is closed."""
        if page not in self._watching:
            self._watching[page] = job = Job()
            page.jobs.add(job)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._poll_while_watched())

    def unwatch(self, page: WorkbenchPage) -> None:
        """Stop sending changes to a page."""
        job = self._watching.pop(page, None)
        if job is not None:
            page.jobs.discard(job)

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run a function in the thread that owns all stores."""
        return await self._workbench.jobs.run(Job(), function, *arguments, pool="studies")

    async def _poll_while_watched(self) -> None:
        while True:
            while self._is_watched():
                try:
                    changed, gone, cost = await self.run(self._poll)
                except Exception:  # noqa: BLE001 (polling must continue)
                    _LOG.exception("Polling the studies failed.")
                    changed, gone, cost = [], [], self._after_failure * _MAX_LOAD
                for page in self._watching:
                    for row in changed:
                        page.send({"about": "studies", "study": row})
                    if gone:
                        page.send({"about": "studies", "gone": gone})
                await asyncio.sleep(max(self._interval, cost / _MAX_LOAD))
            await self.run(self._close_idle)
            if not self._watching:  # no page was opened meanwhile
                return

    def _is_watched(self) -> bool:
        for page in [page for page, job in self._watching.items() if job.is_cancelled()]:
            self.unwatch(page)
        return bool(self._watching)

    # In the thread

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each study; rows of stores not read yet hold only the name."""
        self._search(force=True)
        end = time.monotonic() + _FIRST_ANSWER
        for study in self._studies.values():
            if not study.row:
                study.row = _empty_followed_row(study)
            if time.monotonic() < end:
                self._refresh(study)
        self._close_idle()
        return [study.row for study in self._studies.values()]

    def use(self, wanted: str, function: Callable[[FollowedStudy, Follower], _Result]) -> _Result:
        """Apply a function to a study, given by its ID, if it is still in the folder, and its follower."""
        if wanted not in self._studies:
            self._search(force=True)
        study = self._studies.get(wanted)
        if study is None or not self._exists(study.folder):
            raise HTTPMissing("There is no such study in the folder.")
        try:
            study.used = time.monotonic()
            return function(study, study.open())
        except PqswarmError:
            raise
        except _STORE_ERRORS as error:
            study.close()
            raise PqswarmError(f"{study.folder / FILE_NAME} cannot be read ({error!r}).") from None
        finally:
            self._close_idle()

    def _poll(self) -> tuple[list[dict[str, Any]], list[str], float]:
        """Return changed rows, IDs of removed studies, and the CPU time taken [s]."""
        start = time.thread_time()
        self._search()
        gone = [study for study in self._studies.values() if not self._exists(study.folder)]
        for study in gone:
            study.close()
            del self._studies[study.id]
        changed = []
        for study in self._studies.values():
            before = study.row
            self._refresh(study)
            if study.row != before:
                changed.append(study.row)
        self._close_idle()
        return changed, [study.id for study in gone], time.thread_time() - start

    def _refresh(self, study: FollowedStudy) -> None:
        stamp = store_stamp(study.folder)
        if study.row.get("state") in ("finished", "stopped", "unreadable") and stamp == study.stamp:
            return
        study.stamp = stamp
        try:
            follower = study.open()
            study.row = _followed_status_row(study, follower.read_status(), follower.plan.title)
        except (PqswarmError, *_STORE_ERRORS) as error:
            study.close()
            reason = f"{FILE_NAME} cannot be read ({type(error).__name__})."
            if isinstance(error, PqswarmError):
                reason = file_text(" ".join(str(error).split()))
            study.row = _empty_followed_row(study) | {"state": "unreadable", "error": reason}

    def _close_idle(self) -> None:
        """Close stores that are not in use: all, if no page shows studies."""
        idle = [study for study in self._studies.values() if study.follower is not None]
        if self._watching:
            idle = [study for study in idle if study.row.get("state") != "running"]
        for study in sorted(idle, key=lambda study: -study.used)[_MAX_IDLE_STORES if self._watching else 0 :]:
            study.close()

    def _exists(self, folder: Path) -> bool:
        path = folder / FILE_NAME
        return path.is_file() and is_inside(self._workbench.folder, path)

    def _search(self, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._searched < max(_SEARCH_INTERVAL, self._search_cost / _MAX_LOAD):
            return
        home = self._workbench.folder
        for folder in islice(_find_studies_to_follow(home), _MAX_STUDIES):
            name = folder.relative_to(home).as_posix()
            title = home.name or "/" if name == "." else name
            study = FollowedStudy(workbench_id(f"study {name}"), file_text(title), folder)
            if study.id not in self._studies and is_inside(home, folder / FILE_NAME):
                self._studies[study.id] = study
        self._searched = time.monotonic()
        self._search_cost = self._searched - now


def _find_studies_to_follow(home: Path) -> Iterator[Path]:
    """Folders with a study, limited in depth and number; links are not followed."""
    for place, folders, _ in islice(os.walk(home), _MAX_FOLDERS):
        folder = Path(place)
        is_deepest = len(folder.relative_to(home).parts) == _MAX_DEPTH
        folders[:] = [] if is_deepest else sorted(name for name in folders if not name.startswith("."))
        if (folder / FILE_NAME).is_file():
            yield folder


def _empty_followed_row(study: FollowedStudy) -> dict[str, Any]:
    """The row of a study that was not read yet."""
    stamp = store_stamp(study.folder)
    return {
        "id": study.id,
        "name": study.name,
        "bytes": stamp[1] + stamp[3],
        "state": "reading",
        "error": "",
        "title": "",
        "stage": "",
        "stages": [],
        "fraction": None,
        "rate": None,
        "seconds_left": None,
        "runs_done": None,
        "runs_total": None,
        "evaluations_done": None,
        "evaluations_total": None,
        "best": [],
    }


def _followed_status_row(study: FollowedStudy, status: StudyStatus, title: str) -> dict[str, Any]:
    progress = status.progress
    is_running = status.state == "running"
    left = progress.seconds_left
    return _empty_followed_row(study) | {
        "state": status.state,
        "title": title,
        "stage": progress.stage,
        "stages": [vars(stage) for stage in status.stages],
        "fraction": 1.0 if status.state == "finished" else progress.fraction,
        "rate": progress.rate if is_running and progress.rate > 0 else None,
        "seconds_left": left if is_running and isfinite(left) else None,
        "runs_done": progress.runs_done,
        "runs_total": progress.runs_total,
        "evaluations_done": progress.evaluations_done,
        "evaluations_total": progress.evaluations_total,
        "best": [
            {"classifier": name, "error": 100 * run.error if isfinite(run.error) else None, "size": run.size}
            for name, run in sorted(progress.best.items())
        ],
    }


class StudiesHandler(BaseHandler):
    """All studies of the folder."""

    async def get(self) -> None:
        """Send a row for each."""
        rows = await self.workbench.studies.run(self.workbench.studies.rows)
        self.send_json({"folder": self.workbench.folder.name, "studies": rows})


class WatchStudiesHandler(BaseHandler):
    """Whether a page shows studies."""

    def put(self) -> None:
        """Start or stop sending changes to the page."""
        page = self.page
        wanted = bool(self.read_json().get("watch"))
        if page is not None and wanted:
            self.workbench.studies.watch(page)
        elif page is not None:
            self.workbench.studies.unwatch(page)
        self.send_json({"watching": wanted and page is not None})


@dataclass(frozen=True, eq=False)
class RenderedStudyReport:
    """A report as HTML, the version of what it shows, and the time that rendering took [s]."""

    html: str
    version: str
    seconds: float


@dataclass(frozen=True, eq=False)
class StudyState:
    """The studies of a report, a text that changes when the report does, and whether one of them is running."""

    studies: list[FollowedStudy]
    version: str
    is_running: bool


class StudyReportHandler(BaseHandler):
    """The report of a study, or of two compared (``?with=ID``); nothing is written into the folder."""

    async def post(self, name: str) -> None:
        """Render it, and send its version, whether it is the latest, and how long rendering took [s].

        Of a running study without enough results, send the reason instead.
        """
        state = await self._look(name)
        try:
            report = await self._render(state)
        except PqswarmError as error:
            if not state.is_running:
                raise
            self.send_json({"reason": str(error)})
            return
        is_latest = report.version == state.version
        self.send_json({"version": report.version, "latest": is_latest, "seconds": round(report.seconds, 3)})

    async def get(self, name: str) -> None:
        """Send it as a sandboxed page, which only the workbench may show in a frame."""
        report = await self._render(await self._look(name))
        self.set_header("Content-Type", "text/html; charset=utf-8")
        # A CSP in the report itself admits only its own inline script, by hash.
        self.set_header(
            "Content-Security-Policy",
            "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
        )
        self.set_header("X-Frame-Options", "SAMEORIGIN")
        self.set_header("Cross-Origin-Opener-Policy", "unsafe-none")  # required by the sandbox
        self.finish(report.html)

    async def _look(self, name: str) -> StudyState:
        second = self.get_query_argument("with", None)
        if second == name:
            raise HTTPRefusal("Choose another study to compare with.", 400)
        names = [name] if second is None else [name, second]
        use = self.workbench.studies.use
        states = [await self.workbench.studies.run(use, each, read_study_state) for each in names]
        studies = [study for state in states for study in state.studies]
        return StudyState(studies, "; ".join(one.version for one in states), any(one.is_running for one in states))

    async def _render(self, state: StudyState) -> RenderedStudyReport:
        """The latest report, or a recent one of a running study."""

        async def render() -> RenderedStudyReport:
            return await self.work(_render_study_report, self.job.check, state.studies, state.version)

        report: RenderedStudyReport = await self.workbench.studies.answers.get(
            tuple(study.id for study in state.studies), state.version, render, state.is_running
        )
        return report


def read_study_state(study: FollowedStudy, follower: Follower) -> StudyState:
    """Return the state of a study; while it runs, only the number of steps done makes a new version."""
    status = follower.read_status()
    if status.state == "running":
        return StudyState([study], " ".join(str(stage.done) for stage in status.stages), True)
    return StudyState([study], f"{status.state} {store_stamp(study.folder)}", False)


def _render_study_report(check: Callable[[], None], studies: list[FollowedStudy], version: str) -> RenderedStudyReport:
    from pqswarm.report.html import html_report
    from pqswarm.report.study_report import compose_report

    start = time.monotonic()
    document = compose_report([study.folder for study in studies], [study.name for study in studies], check)
    check()
    return RenderedStudyReport(html_report(document), version, time.monotonic() - start)


_ID = r"([0-9a-f]{16})"
ROUTES: list[tuple[str, type[BaseHandler]]] = [
    (r"/api/studies", StudiesHandler),
    (r"/api/studies/watch", WatchStudiesHandler),
    (rf"/api/studies/{_ID}/report", StudyReportHandler),
]
