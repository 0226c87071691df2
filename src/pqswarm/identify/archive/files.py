"""Files that an archive knows, and claims: who analyses them. Any number of processes may write."""

import hashlib
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pqswarm._base.files import file_writer_is_alive
from pqswarm._base.text import file_text
from pqswarm.identify.archive.database import ArchiveDatabase, reading
from pqswarm.identify.folder.scan import Candidate

LEASE = 120.0
"""Time after which the claim of a worker that gives no sign of life is taken over [s]."""
_MAX_PATHS = 500
"""Files that are looked up at a time."""


@dataclass(frozen=True)
class SeenFile:
    """A file on disk: its path, its stamp (sizes and times), the key of its content, and whose it is.

    `owner` is empty but for uploads; `grown_from` is the key of the content that it began with, if it has grown.
    """

    path: Path
    stamp: str
    content: str
    owner: str = ""
    grown_from: str = ""


@dataclass(frozen=True)
class KnownFile:
    """A file as the archive knows it; `state` is that of its content: waiting, done, failed or ours."""

    path: Path
    name: str
    stamp: str
    content: str
    owner: str
    state: str
    reason: str


class ArchiveFiles:
    """The files that an archive knows, and who analyses them."""

    def __init__(self, folder: str | Path, *, read_only: bool = False) -> None:
        self.database = ArchiveDatabase(folder, read_only=read_only)
        self.folder = self.database.folder
        self.worker = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        """Name of this process in claims."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    @reading
    def counts(self) -> dict[str, int]:
        """Return the numbers of files, recordings and events, and of contents that wait or failed."""
        rows = self.database.rows(
            "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM recordings),"
            " (SELECT coalesce(sum(n_events), 0) FROM recordings),"
            " (SELECT count(*) FROM contents WHERE state = 'waiting'),"
            " (SELECT count(*) FROM contents WHERE state = 'failed')"
        )
        return dict(zip(("files", "recordings", "events", "waiting", "failed"), rows[0], strict=True))

    @reading
    def revision(self) -> int:
        """Return a number that grows whenever a recording or correction is written."""
        return int(self.database.rows("SELECT last FROM revisions")[0][0])

    # Files

    def register(self, seen: Iterable[SeenFile]) -> None:
        """Note what files hold; new contents wait to be analysed."""
        with self.database.transaction() as database:
            for one in seen:
                query = "SELECT content FROM files WHERE path = ? AND content NOT IN ('', ?)"
                replaced = database.execute(query, (os.fsencode(one.path), one.content)).fetchall()
                database.execute(
                    "INSERT INTO files VALUES (?, ?, ?, ?, ?, '', '') ON CONFLICT DO UPDATE SET "
                    "name = excluded.name, stamp = excluded.stamp, content = excluded.content",
                    (os.fsencode(one.path), file_text(one.path), one.stamp, one.content, one.owner),
                )
                database.execute(
                    "INSERT OR IGNORE INTO contents VALUES (?, 'waiting', ?, '', '', 0)",
                    (one.content, one.grown_from),
                )
                for (content,) in [(one.content,), *replaced]:
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
            values = (names[0], self.next_revision(database), content)
            database.execute("UPDATE recordings SET name = ?, revision = ? WHERE content = ?", values)

    def set_aside(self, path: Path, stamp: str, state: str, reason: str) -> None:
        """Note a file that is not analysed, such as a table written by pqswarm."""
        with self.database.transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, '', '', ?, ?)",
                (os.fsencode(path), file_text(path), stamp, state, file_text(reason)),
            )

    def forget(self, paths: Iterable[Path]) -> None:
        """Drop files, and the contents that were never analysed and are nowhere else; analyses stay."""
        with self.database.transaction() as database:
            for path in paths:
                database.execute("DELETE FROM files WHERE path = ?", (os.fsencode(path),))
            nowhere = "digest NOT IN (SELECT content FROM files)"
            database.execute(f"DELETE FROM claims WHERE {nowhere}")
            database.execute(f"DELETE FROM contents WHERE state = 'waiting' AND at = '' AND {nowhere}")

    def remove_owned(self, owner: str, content: str | None = None) -> None:
        """Remove the uploads of a visitor, or one of them, with their analyses, corrections and notes."""
        with self.database.transaction() as database:
            query = "SELECT DISTINCT content FROM files WHERE owner = ? AND owner != '' AND ? IN (content, '')"
            for (one,) in database.execute(query, (owner, content or "")).fetchall():
                self.remove_content(database, one)
                database.execute("DELETE FROM files WHERE content = ?", (one,))
                for table in ("corrections", "notes"):
                    database.execute(f"DELETE FROM {table} WHERE content = ?", (one,))
            self.next_revision(database)

    @reading
    def files(self, below: Path | None = None) -> dict[Path, KnownFile]:
        """Return the known files, or those below a folder."""
        low = b"" if below is None else os.fsencode(below) + os.sep.encode()
        high = b"\xff" if below is None else low[:-1] + bytes([low[-1] + 1])
        return {one.path: one for one in self._files("path >= ? AND path < ?", low, high)}

    @reading
    def file(self, path: Path) -> KnownFile | None:
        """Return what is known of a file."""
        return next(self._files("path = ?", os.fsencode(path)), None)

    @reading
    def waiting(self, owner: str = "", limit: int = -1) -> list[KnownFile]:
        """Return the files whose content waits to be analysed, public or of an owner."""
        return list(self._files("contents.state = 'waiting' AND owner IN ('', ?)", owner, limit=limit))

    @reading
    def files_of(self, contents: Sequence[str]) -> dict[str, list[KnownFile]]:
        """Return the files that hold some contents."""
        found: dict[str, list[KnownFile]] = {}
        for start in range(0, len(contents), _MAX_PATHS):
            some = contents[start : start + _MAX_PATHS]
            for one in self._files(f"content IN ({','.join('?' * len(some))})", *some):
                found.setdefault(one.content, []).append(one)
        return found

    def _files(self, where: str, *values: Any, limit: int = -1) -> Iterator[KnownFile]:
        query = (
            "SELECT path, name, stamp, content, owner, coalesce(nullif(files.state, ''), contents.state, ''), "
            "CASE files.state WHEN '' THEN coalesce(contents.reason, '') ELSE files.reason END "
            f"FROM files LEFT JOIN contents ON digest = content WHERE {where} ORDER BY path LIMIT ?"
        )
        for path, *rest in self.database.rows(query, *values, limit):
            yield KnownFile(Path(os.fsdecode(path)), *rest)

    # Claims

    def claim(self, content: str, *, again: bool = False) -> str:
        """Try to become the one who analyses a content: ``"mine"``, ``"busy"`` (another does) or ``"done"``."""
        now = time.time()
        with self.database.transaction() as database:
            state = database.execute("SELECT state FROM contents WHERE digest = ?", (content,)).fetchone()
            if state is not None and state[0] != "waiting" and not again:
                return "done"
            held = database.execute("SELECT worker, until FROM claims WHERE digest = ?", (content,)).fetchone()
            if held is not None and held[0] != self.worker and held[1] > now and not _has_ended(held[0]):
                return "busy"
            database.execute(
                "INSERT INTO claims VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET "
                "worker = excluded.worker, until = excluded.until, times = times + 1",
                (content, self.worker, now + LEASE),
            )
        return "mine"

    def renew(self, contents: Sequence[str]) -> None:
        """Give a sign of life for contents that are being analysed."""
        with self.database.transaction() as database:
            values = [(time.time() + LEASE, one, self.worker) for one in contents]
            database.executemany("UPDATE claims SET until = ? WHERE digest = ? AND worker = ?", values)

    def release(self, contents: Iterable[str]) -> None:
        """Give up claims without a result; how often they were begun is kept."""
        with self.database.transaction() as database:
            query = "UPDATE claims SET until = 0, worker = '' WHERE digest = ? AND worker = ?"
            database.executemany(query, [(one, self.worker) for one in contents])

    def begun(self) -> dict[str, int]:
        """Return how often the analysis of a content was begun but not finished."""
        return {str(digest): int(times) for digest, times in self.database.rows("SELECT digest, times FROM claims")}

    def ask_again(self, contents: Iterable[str]) -> None:
        """Let contents be analysed again; their old analysis stays until then."""
        with self.database.transaction() as database:
            values = [(one,) for one in contents]
            database.executemany("UPDATE contents SET state = 'waiting' WHERE digest = ?", values)

    def remove_content(self, database: sqlite3.Connection, content: str) -> None:
        """Remove the analysis of a content."""
        own = "SELECT id FROM recordings WHERE content = ?"
        database.execute(
            f"DELETE FROM event_records WHERE number IN (SELECT number FROM events WHERE recording IN ({own}))",
            (content,),
        )
        for table in ("events", "incidents", "recording_records", "recording_events"):
            database.execute(f"DELETE FROM {table} WHERE recording IN ({own})", (content,))
        database.execute("DELETE FROM recordings WHERE content = ?", (content,))
        database.execute("DELETE FROM contents WHERE digest = ?", (content,))

    def next_revision(self, database: sqlite3.Connection) -> int:
        """Count a change."""
        database.execute("UPDATE revisions SET last = last + 1")
        return int(database.execute("SELECT last FROM revisions").fetchone()[0])


def _has_ended(worker: str) -> bool:
    """Whether a worker of this machine is no longer running."""
    host, _, rest = worker.rpartition(" ")[0].rpartition(" ")
    return worker == "" or (host == socket.gethostname() and rest.isdigit() and not file_writer_is_alive(int(rest)))


def look_at(candidate: Candidate, before: KnownFile | None = None, owner: str = "") -> SeenFile:
    """Return a file with the key of its content; `before` is what the archive knows of it. Raises OSErrors."""
    digest = candidate.digest()
    if owner:  # uploads are private: the same content is analysed for each visitor, and each name
        digest = hashlib.sha256(f"{owner} {candidate.name} {digest}".encode()).hexdigest()
    grown = ""
    if before is not None and before.content not in ("", digest) and not owner:
        grown = before.content if candidate.has_grown(before.stamp, before.content) else ""
    return SeenFile(Path(os.path.abspath(candidate.parts[0])), candidate.stamp, digest, owner, grown)  # noqa: PTH100


def default_archive(folder: str | Path) -> Path:
    """Return the archive of a folder of recordings: next to it; if nothing can be written there, of this user."""
    whole = Path(os.path.abspath(folder))  # noqa: PTH100 (links stay what they are)
    beside = whole.with_name(f"{whole.name}.archive") if whole.name else None
    if beside is not None and (beside.exists() or os.access(beside.parent, os.W_OK)):
        return beside
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    name = hashlib.sha256(os.fsencode(whole)).hexdigest()[:16]
    return Path(home) / "pqswarm" / "archives" / name
