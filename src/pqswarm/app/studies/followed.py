"""Which studies there are, and how far they have come: one thread looks, as long as a page that shows them is open."""

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from pqswarm._base.text import file_text
from pqswarm.app.handlers import Missing
from pqswarm.app.jobs import Job
from pqswarm.app.workbench import Page, Workbench, identifier, inside
from pqswarm.errors import PqswarmError
from pqswarm.study.following import Follower, StudyStatus
from pqswarm.study.store import FILE_NAME, store_stamp

__all__ = ["FollowedStudies", "Study"]

_EVERY = 1.5
"""Seconds between looks; more where a look takes long."""
_SHARE = 0.01
"""Share of a core that looking may take."""
_SEARCH_EVERY = 2.0
"""Seconds between searches for new studies, at least."""
_PATIENCE = 0.5
"""Seconds for which the first answer waits for what is read."""
_AFTER_FAILURE = 30.0
"""Seconds until the next look after one that failed."""
_DEPTH, _MOST_FOLDERS, _MOST_STUDIES = 4, 5000, 500
_KEPT = 4
"""Studies whose stores stay open although they do not run."""

_DAMAGES = (
    *(sqlite3.Error, OSError, ValueError, TypeError, KeyError),
    *(IndexError, AttributeError, OverflowError, RecursionError),
)
"""What can go wrong with a store that somebody else has made."""

_LOG = logging.getLogger(__name__)
_Found = TypeVar("_Found")


@dataclass(eq=False)
class Study:
    """A study of the folder: where it is, and what was last seen of it."""

    id: str
    name: str
    folder: Path
    stamp: tuple[int, ...] = ()
    row: dict[str, Any] = field(default_factory=dict)
    follower: Follower | None = None
    used: float = 0.0

    def close(self) -> None:
        """Let go of its store."""
        if self.follower is not None:
            self.follower.close()
        self.follower = None


class FollowedStudies:
    """Looks at the studies of a folder for all pages together."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="studies")
        self._studies: dict[str, Study] = {}
        self._watching: dict[Page, Job] = {}
        self._task: asyncio.Task[None] | None = None
        self._searched = self._search_cost = 0.0

    # On the event loop.

    def watch(self, page: Page) -> None:
        """Tell a page from now on what changes, until it is closed."""
        if page not in self._watching:
            self._watching[page] = job = Job()
            page.jobs.add(job)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look_again_and_again())

    def leave(self, page: Page) -> None:
        """Tell a page no more."""
        job = self._watching.pop(page, None)
        if job is not None:
            page.jobs.discard(job)

    async def do(self, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """Return what a function returns, run in the thread that all stores belong to."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def _look_again_and_again(self) -> None:
        while True:
            while self._still_watched():
                try:
                    changed, gone, cost = await self.do(self._look)
                except Exception:  # noqa: BLE001 (pages wait for news: the next look must come)
                    _LOG.exception("The studies could not be looked at.")
                    changed, gone, cost = [], [], _AFTER_FAILURE * _SHARE
                for page in self._watching:
                    for row in changed:
                        page.tell({"about": "studies", "study": row})
                    if gone:
                        page.tell({"about": "studies", "gone": gone})
                await asyncio.sleep(max(_EVERY, cost / _SHARE))
            await self.do(self._close)
            if not self._watching:  # else somebody came meanwhile
                return

    def _still_watched(self) -> bool:
        for page in [page for page, job in self._watching.items() if job.cancelled]:
            self.leave(page)
        return bool(self._watching)

    # In the thread.

    def rows(self) -> list[dict[str, Any]]:
        """Return what is known of all studies; of some perhaps only that they are there."""
        self._search(force=True)
        end = time.monotonic() + _PATIENCE
        for study in self._studies.values():
            if not study.row:
                study.row = _nothing(study)
            if time.monotonic() < end:
                self._see(study)
        self._let_go()
        return [study.row for study in self._studies.values()]

    def use(self, wanted: str, function: Callable[[Study, Follower], _Found]) -> _Found:
        """Return what a function finds out about a study, by its id."""
        study = self.find(wanted)
        try:
            if study.follower is None:
                study.follower = Follower(study.folder)
            study.used = time.monotonic()
            return function(study, study.follower)
        except PqswarmError:
            raise
        except _DAMAGES as error:
            study.close()
            raise PqswarmError(f"{study.folder / FILE_NAME} cannot be read ({error!r}).") from None
        finally:
            self._let_go()

    def find(self, wanted: str) -> Study:
        """Return a study by its id, if it is still in the folder."""
        if wanted not in self._studies:
            self._search(force=True)
        study = self._studies.get(wanted)
        if study is None or not self._is_there(study.folder):
            raise Missing("There is no such study in the folder.")
        return study

    def _look(self) -> tuple[list[dict[str, Any]], list[str], float]:
        """Rows that have changed, studies that are gone, and the time that it took [s]."""
        begin = time.thread_time()
        self._search()
        gone, changed = self._forget(), []
        for study in self._studies.values():
            before = study.row
            self._see(study)
            if study.row != before:
                changed.append(study.row)
        self._let_go()
        return changed, gone, time.thread_time() - begin

    def _see(self, study: Study) -> None:
        stamp = store_stamp(study.folder)
        if study.row.get("state") in ("finished", "stopped", "unreadable") and stamp == study.stamp:
            return
        study.stamp = stamp
        try:
            if study.follower is None:
                study.follower = Follower(study.folder)
            study.row = _row(study, study.follower.look(), study.follower.plan.title)
        except PqswarmError as error:
            study.close()
            study.row = _nothing(study) | {
                "state": "unreadable",
                "error": self._workbench.names.hide(file_text(" ".join(str(error).split()))),
            }
        except _DAMAGES as error:
            study.close()
            reason = f"{FILE_NAME} cannot be read ({type(error).__name__})."
            study.row = _nothing(study) | {"state": "unreadable", "error": reason}

    def _let_go(self) -> None:
        """Close stores that nobody needs."""
        idle = [study for study in self._studies.values() if study.follower is not None]
        if self._watching:
            idle = [study for study in idle if study.row.get("state") != "running"]
        for study in sorted(idle, key=lambda study: -study.used)[_KEPT if self._watching else 0 :]:
            study.close()

    def _close(self) -> None:
        for study in self._studies.values():
            study.close()

    def _forget(self) -> list[str]:
        """Studies that are gone."""
        gone = [study for study in self._studies.values() if not self._is_there(study.folder)]
        for study in gone:
            study.close()
            del self._studies[study.id]
        return [study.id for study in gone]

    def _is_there(self, folder: Path) -> bool:
        path = folder / FILE_NAME
        return path.is_file() and inside(self._workbench.folder, path)

    def _search(self, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._searched < max(_SEARCH_EVERY, self._search_cost / _SHARE):
            return
        home = self._workbench.folder
        for folder in _studies_below(home):
            name = folder.relative_to(home).as_posix()
            title = home.name or "/" if name == "." else name
            made = Study(identifier(f"study {name}"), file_text(title), folder)
            if made.id not in self._studies and inside(home, folder / FILE_NAME):
                self._studies[made.id] = made
        self._searched = time.monotonic()
        self._search_cost = self._searched - now


def _studies_below(home: Path) -> Iterator[Path]:
    """Folders with a study: not too deep, not too many, and none behind a link."""
    folders, seen, found = [(home, 0)], 0, 0
    while folders and seen < _MOST_FOLDERS and found < _MOST_STUDIES:
        folder, depth = folders.pop(0)
        seen += 1
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in listed:
            try:
                if entry.name == FILE_NAME and entry.is_file():
                    found += 1
                    yield folder
                elif depth < _DEPTH and entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    folders.append((folder / entry.name, depth + 1))
            except OSError:
                continue


def _nothing(study: Study) -> dict[str, Any]:
    """The row of a study of which nothing is known."""
    unknown = dict.fromkeys(("share", "rate", "seconds_left", "runs_done", "runs_total"))
    unknown |= dict.fromkeys(("evaluations_done", "evaluations_total"))
    words = {"state": "reading", "error": "", "title": "", "stage": ""}
    return (
        {"id": study.id, "name": study.name}
        | words
        | unknown
        | {
            "stages": [],
            "best": [],
            "bytes": _bytes(study),
        }
    )


def _row(study: Study, status: StudyStatus, title: str) -> dict[str, Any]:
    progress, running = status.progress, status.state == "running"
    left = progress.seconds_left
    return _nothing(study) | {
        "state": status.state,
        "title": title,
        "stage": progress.stage,
        "stages": [vars(stage) for stage in status.stages],
        "share": 1.0 if status.state == "finished" else progress.share,
        "rate": progress.rate if running and progress.rate > 0 else None,
        "seconds_left": left if running and isfinite(left) else None,
        "runs_done": progress.runs_done,
        "runs_total": progress.runs_total,
        "evaluations_done": progress.evaluations_done,
        "evaluations_total": progress.evaluations_total,
        "best": [
            {"classifier": name, "error": 100 * one.error if isfinite(one.error) else None, "size": one.size}
            for name, one in sorted(status.best.items())
        ],
    }


def _bytes(study: Study) -> int:
    stamp = store_stamp(study.folder)
    return stamp[1] + stamp[3]
