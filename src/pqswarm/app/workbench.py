"""State shared by all requests: the served folder, the state folder and the open pages."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm.app.jobs import Job, Jobs

if TYPE_CHECKING:
    from pqswarm.app.recordings.section import RecordingsSection
    from pqswarm.app.studies import FollowedStudies
    from pqswarm.identify import Model
    from pqswarm.recordings import Site

_MAX_MESSAGES = 1000
_DAY = 86_400.0
_MAX_UNUSED = 30 * _DAY
"""Uploads that were not used for this long are removed [s]."""


def workbench_state_folder(folder: Path) -> Path:
    """Return where uploads of a folder are stored; never in the folder itself."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "pqswarm" / "app" / workbench_id(folder.resolve().as_posix())


def make_private_workbench_folder(folder: Path) -> None:
    """Create a folder that only this user can read; failures surface on first write."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


def mark_workbench_file_used(path: Path) -> None:
    """Record that a file or folder of the state is in use, at most once a day."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY:
            os.utime(path)


def remove_unused_workbench_files(state: Path) -> None:
    """Remove uploads that were not used for 30 days."""
    with suppress(OSError):
        for path in sorted((state / "uploads").iterdir()):
            with suppress(OSError):
                is_unused = time.time() - path.lstat().st_mtime >= _MAX_UNUSED and not path.is_symlink()
                if is_unused and path.is_dir() and not path.name.startswith("."):
                    shutil.rmtree(path)
                elif is_unused and path.is_file():
                    path.unlink()


def workbench_id(name: str, length: int = 16) -> str:
    """Return the ID of a path in URLs; it is the same after a restart."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:length]


def is_inside(folder: Path, path: Path) -> bool:
    """Whether a file lies in a folder after links are resolved."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself
        return False


class FolderNames:
    """Removes the names of folders from texts, so that pages do not reveal where the folders are.

    The rest of a path stays; the root of the file system is never hidden.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        given = [path for path in folders if path.is_absolute()]
        names = {str(path) + os.sep for path in (*given, *(path.resolve() for path in given)) if path != path.parent}
        names |= {json.dumps(name)[1:-1] for name in names}
        self._names = sorted(names, key=lambda name: (-len(name), name))  # longest first
        start = r"(?:(?<![\w./\\-])|(?<=\\[nrt]))"  # not inside a path; in JSON, a line break is two characters
        self._prefix = re.compile(rf"{start}(?:{'|'.join(map(re.escape, self._names))})" if names else "(?!)")

    def hide(self, text: str) -> str:
        """Return a text, plain or JSON, without the names."""
        is_named = any(name in text for name in self._names)  # hardly ever, and found faster than by a pattern
        return self._prefix.sub("", text) if is_named else text


@dataclass(eq=False)
class WorkbenchPage:
    """A page open in a browser: its visitor, its pending messages and the jobs that run for it alone."""

    name: str
    visitor: str
    messages: "asyncio.Queue[dict[str, Any]]" = field(default_factory=lambda: asyncio.Queue(_MAX_MESSAGES))
    jobs: set[Job] = field(default_factory=set)

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message. A page that does not listen loses it, and reloads when it is shown again."""
        if not self.messages.full():
            self.messages.put_nowait(message)

    def close(self) -> None:
        """Cancel the jobs of the page."""
        for job in self.jobs:
            job.cancel()


@dataclass(eq=False)
class Workbench:
    """State shared by all requests, for a folder of recordings and studies, where nothing is written.

    `state` is the folder for uploads, `archive` that of the archive, `max_bytes` the maximum size of an upload; `model`
    and `site` are those of :func:`pqswarm.identify.identify_file`.
    """

    folder: Path
    state: Path
    archive: Path
    max_bytes: int
    model: "Model | None" = None
    site: "Site | None" = None
    jobs: Jobs = field(default_factory=Jobs)
    pages: dict[str, WorkbenchPage] = field(default_factory=dict)
    recordings: "RecordingsSection" = field(init=False)
    studies: "FollowedStudies" = field(init=False)
    on_open: list[Callable[[], object]] = field(default_factory=list)
    """Called whenever a page is opened."""

    def __post_init__(self) -> None:
        folders = (self.folder, self.folder.parent, self.archive.parent)
        self.names = FolderNames((*folders, self.state, self.state / "uploads"))
        """Names that no page may show."""

    def register_page(self, page: WorkbenchPage) -> None:
        """Register a page."""
        self.pages[page.name] = page
        for call in self.on_open:
            call()

    def publish(self, message: dict[str, Any], visitor: str | None = None) -> None:
        """Send a message to all open pages, or to those of one visitor; call on the event loop only."""
        for page in self.pages.values():
            if visitor is None or page.visitor == visitor:
                page.send(message)
