"""Files that an archive knows, and claims: who analyzes them. Any number of processes may write."""

import hashlib
import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqswarm._base.files import file_writer_is_alive
from pqswarm._base.text import file_text
from pqswarm.identify.archive.database import ArchiveDatabase, insert, reads_archive, seal_rows, update
from pqswarm.identify.folder.batch import Candidate

LEASE = 120.0
"""Time after which the claim of a worker that gives no sign of life is taken over [s]."""
_SKEW = 60.0
"""Time by which the clocks of machines that share an archive may differ [s]."""


@dataclass(frozen=True)
class SeenFile:
    """A file on disk: its path, its stamp (sizes and times), the key of its content, and whose it is.

    `owner` is empty but for uploads; `grown_from` is the key of the content that it began with, if it has grown.
    `state` is that of its content in the archive: waiting, done, failed or ours; empty if it was not asked.
    """

    path: Path
    stamp: str
    content: str
    owner: str = ""
    grown_from: str = ""
    state: str = ""
    reason: str = ""


class ArchiveFiles:
    """The files that an archive knows, and who analyzes them."""

    def __init__(self, database: ArchiveDatabase) -> None:
        self.database = database
        self.worker = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        """Name of this process in claims."""

    def register(self, seen: Iterable[SeenFile]) -> None:
        """Note what files hold; new contents wait to be analyzed."""
        with self.database.transaction() as database:
            for file in seen:
                query = "SELECT content FROM files WHERE path = ? AND content NOT IN ('', ?)"
                replaced = database.execute(query, (os.fsencode(file.path), file.content)).fetchall()
                database.execute(
                    "INSERT INTO files VALUES (:path, :name, :stamp, :content, :owner, '', '', '') "
                    "ON CONFLICT DO UPDATE SET name = excluded.name, stamp = excluded.stamp, "
                    "content = excluded.content",
                    {
                        "path": os.fsencode(file.path),
                        "name": file_text(file.path),
                        "stamp": file.stamp,
                        "content": file.content,
                        "owner": file.owner,
                    },
                )
                seal_rows(database, "files", "path = ?", (os.fsencode(file.path),))
                database.execute(
                    "INSERT OR IGNORE INTO contents VALUES (?, 'waiting', ?, '', '', 0, '')",
                    (file.content, file.grown_from),
                )
                seal_rows(database, "contents", "digest = ? AND seal = ''", (file.content,))
                for (content,) in [(file.content,), *replaced]:
                    self._rename(database, content)

    def _rename(self, database: sqlite3.Connection, content: str) -> None:
        """Show recordings under the name of a file that holds them, if theirs was moved or replaced."""
        query = "SELECT name FROM recordings WHERE content = ? LIMIT 1"
        shown = database.execute(query, (content,)).fetchone()
        if shown is None:
            return
        query = "SELECT path, name FROM files WHERE content = ? ORDER BY path"
        names = [name for path, name in database.execute(query, (content,)) if os.path.lexists(path)]
        if names and shown[0] not in names:
            values = {"name": names[0], "revision": self.database.next_revision(), "content": content}
            update(database, "recordings", "name = :name, revision = :revision", "content = :content", values)

    def set_aside(self, path: Path, stamp: str, state: str, reason: str) -> None:
        """Note a file that is not analyzed, such as a table written by pqswarm."""
        with self.database.transaction() as database:
            values = {
                "path": os.fsencode(path),
                "name": file_text(path),
                "stamp": stamp,
                "content": "",
                "owner": "",
                "state": state,
                "reason": file_text(reason),
            }
            insert(database, "files", values, "path = :path", verb="INSERT OR REPLACE")

    def forget(self, paths: Iterable[Path]) -> None:
        """Drop files, and the contents that were never analyzed and are nowhere else; analyses stay."""
        with self.database.transaction() as database:
            for path in paths:
                database.execute("DELETE FROM files WHERE path = ?", (os.fsencode(path),))
            nowhere = "digest NOT IN (SELECT content FROM files)"
            database.execute(f"DELETE FROM claims WHERE {nowhere}")
            database.execute(f"DELETE FROM contents WHERE state = 'waiting' AND at = '' AND {nowhere}")

    @reads_archive
    def all(self, below: Path | None = None) -> dict[Path, SeenFile]:
        """Return the known files, or those below a folder."""
        low = b"" if below is None else os.fsencode(below) + os.sep.encode()
        high = b"\xff" if below is None else low[:-1] + bytes([low[-1] + 1])
        return {file.path: file for file in self._find("path >= ? AND path < ?", low, high)}

    @reads_archive
    def get(self, path: Path) -> SeenFile | None:
        """Return what is known of a file."""
        return next(self._find("path = ?", os.fsencode(path)), None)

    @reads_archive
    def waiting(self, owner: str = "", limit: int = -1) -> list[SeenFile]:
        """Return the files whose content waits to be analyzed, public or of an owner."""
        return list(self._find("contents.state = 'waiting' AND owner IN ('', ?)", owner, limit=limit))

    @reads_archive
    def by_content(self, contents: list[str]) -> dict[str, list[SeenFile]]:
        """Return the files that hold some contents."""
        files: dict[str, list[SeenFile]] = {}
        for file in self._find("content IN (SELECT value FROM json_each(?))", json.dumps(contents)):
            files.setdefault(file.content, []).append(file)
        return files

    def _find(self, where: str, *values: Any, limit: int = -1) -> Iterator[SeenFile]:
        query = (
            "SELECT path, stamp, content, owner, coalesce(nullif(files.state, ''), contents.state, ''), "
            "CASE files.state WHEN '' THEN coalesce(contents.reason, '') ELSE files.reason END "
            f"FROM files LEFT JOIN contents ON digest = content WHERE {where} ORDER BY path LIMIT ?"
        )
        for path, stamp, content, owner, state, reason in self.database.rows(query, *values, limit):
            yield SeenFile(Path(os.fsdecode(path)), stamp, content, owner, state=state, reason=reason)

    def claim(self, content: str, *, again: bool = False) -> str:
        """Try to become the one who analyzes a content: ``"mine"``, ``"busy"`` (another does) or ``"done"``."""
        now = time.time()
        with self.database.transaction() as database:
            state = database.execute("SELECT state FROM contents WHERE digest = ?", (content,)).fetchone()
            if state is not None and state[0] != "waiting" and not again:
                return "done"
            held = database.execute("SELECT worker, until FROM claims WHERE digest = ?", (content,)).fetchone()
            is_held = held is not None and held[0] != self.worker and not _has_file_worker_ended(held[0])
            if is_held and now < held[1] < now + LEASE + _SKEW:  # later ones are of before the clock was set back
                return "busy"
            database.execute(
                "INSERT INTO claims VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET "
                "worker = excluded.worker, until = excluded.until, times = times + 1",
                (content, self.worker, now + LEASE),
            )
        return "mine"

    def renew(self, contents: Sequence[str]) -> None:
        """Give a sign of life for contents that are being analyzed."""
        with self.database.transaction() as database:
            values = [(time.time() + LEASE, content, self.worker) for content in contents]
            database.executemany("UPDATE claims SET until = ? WHERE digest = ? AND worker = ?", values)

    def release(self, contents: Iterable[str]) -> None:
        """Give up claims without a result; how often they were begun is kept."""
        with self.database.transaction() as database:
            query = "UPDATE claims SET until = 0, worker = '' WHERE digest = ? AND worker = ?"
            database.executemany(query, [(content, self.worker) for content in contents])

    def begun(self) -> dict[str, int]:
        """Return how often the analysis of a content was begun but not finished."""
        return {str(digest): int(times) for digest, times in self.database.rows("SELECT digest, times FROM claims")}

    def ask_again(self, contents: Iterable[str]) -> None:
        """Let contents be analyzed again; their old analysis stays until then."""
        with self.database.transaction() as database:
            for content in contents:
                update(database, "contents", "state = 'waiting'", "digest = :digest", {"digest": content})


def _has_file_worker_ended(worker: str) -> bool:
    """Whether a worker of this machine is no longer running."""
    host, _, rest = worker.rpartition(" ")[0].rpartition(" ")
    return worker == "" or (host == socket.gethostname() and rest.isdigit() and not file_writer_is_alive(int(rest)))


def look_at_file(candidate: Candidate, before: SeenFile | None = None, owner: str = "") -> SeenFile:
    """Return a file with the key of its content; `before` is what the archive knows of it. Raises OSErrors."""
    digest = candidate.digest()
    if owner:  # uploads are private: the same content is analyzed for each visitor, and each name
        digest = hashlib.sha256(f"{owner} {candidate.name} {digest}".encode()).hexdigest()
    grown = ""
    if not owner and before is not None and before.content not in ("", digest):
        grown = before.content if candidate.has_grown(before.stamp, before.content) else ""
    return SeenFile(Path(os.path.abspath(candidate.parts[0])), candidate.stamp, digest, owner, grown)  # noqa: PTH100


def default_archive(folder: str | Path) -> Path:
    """Return the archive of a folder of recordings: next to it; if nothing can be written there, of this user."""
    whole = Path(os.path.abspath(folder))  # noqa: PTH100 (links stay what they are)
    beside = whole.with_name(f"{whole.name}.archive") if whole.name else None
    if beside is not None and (beside.exists() or os.access(beside.parent, os.W_OK)):
        return beside
    return Path(
        os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state",
        "pqswarm",
        "archives",
        hashlib.sha256(os.fsencode(whole)).hexdigest()[:16],
    )
