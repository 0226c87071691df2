"""What the server serves: a folder, what is kept of it, and the pages that are open."""

import asyncio
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm.app.folder_names import FolderNames
from pqswarm.app.jobs import Job, Jobs
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Model
    from pqswarm.recordings import Site

__all__ = ["Page", "Workbench", "identifier", "inside", "make_private", "state_folder"]

_MOST_MESSAGES = 1000


def state_folder(folder: Path) -> Path:
    """Return where the server keeps uploads and verdicts of a folder: never in the folder itself."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "pqswarm" / "app" / identifier(folder.resolve().as_posix())


def make_private(folder: Path) -> None:
    """Make a folder into which only this user can look; where that cannot be, who writes there is told why."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


def identifier(name: str) -> str:
    """Return what an address has in the place of a path: the same whenever the server is started."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def inside(folder: Path, path: Path) -> bool:
    """Whether a file, links followed, lies in a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


@dataclass(eq=False)
class Page:
    """A page that is open in a browser: who looks at it, what it is told, and what is worked on for it alone."""

    name: str
    visitor: str
    messages: "asyncio.Queue[dict[str, Any]]" = field(default_factory=lambda: asyncio.Queue(_MOST_MESSAGES))
    jobs: set[Job] = field(default_factory=set)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message; a page that does not listen loses it, and asks anew when it is looked at again."""
        if not self.messages.full():
            self.messages.put_nowait(message)

    def close(self) -> None:
        """Stop what is worked on for it."""
        for job in self.jobs:
            job.cancel()


@dataclass(eq=False)
class Workbench:
    """What all requests share.

    Attributes
    ----------
    folder : Path
        Recordings and studies; nothing is written there.
    state : Path
        Where uploads and verdicts are kept.
    corrections : Path
        File of corrected verdicts.
    max_bytes : int
        Greatest upload [byte].
    model, site
        As for :func:`pqswarm.identify.identify_file`.
    """

    folder: Path
    state: Path
    corrections: Path
    max_bytes: int
    model: "Model | None" = None
    site: "Site | None" = None
    jobs: Jobs = field(default_factory=Jobs)
    pages: dict[str, Page] = field(default_factory=dict)
    rooms: dict[str, Any] = field(default_factory=dict)
    """What the rooms keep, by their names."""
    arrivals: list[Callable[[Page], object]] = field(default_factory=list)
    """Are told of each page that was opened."""

    def __post_init__(self) -> None:
        folders = (self.folder, self.folder.parent, self.corrections.parent)
        self.names = FolderNames((*folders, self.state, self.state / "uploads"))
        """What no page is told."""
        if not self.folder.is_dir():
            raise PqswarmError(f"{self.folder} is not a folder.")

    def arrive(self, page: Page) -> None:
        """Take in a page that was opened."""
        self.pages[page.name] = page
        for tell in self.arrivals:
            tell(page)

    def publish(self, message: dict[str, Any], visitor: str | None = None) -> None:
        """Tell all open pages something, or those of one visitor; on the event loop only."""
        for page in self.pages.values():
            if visitor is None or page.visitor == visitor:
                page.tell(message)
