"""The journal of a watched folder: what was judged, the events found, and how far each receiver has got."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.identify.lines import json_text

__all__ = ["Entry", "FileRecord", "Journal"]

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, stamp TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
    judged TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS files_by_digest ON files (digest);
CREATE TABLE IF NOT EXISTS begun (path TEXT PRIMARY KEY, times INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, path TEXT NOT NULL, kind TEXT NOT NULL,
    row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS receivers (
    name TEXT PRIMARY KEY, last INTEGER NOT NULL, length INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class FileRecord:
    """What became of a file.

    Attributes
    ----------
    path : str
        From the watched folder, with ``/``.
    stamp : str
        Sizes and times of change of its parts when it was judged.
    digest : str
        Of its content.
    state : {"done", "failed", "copy", "ours"}
        Judged; not judged; the same content as another file; a table that pqswarm wrote.
    reason : str
        Why, or which recordings of it failed.
    judged : str
        When (UTC).
    """

    path: str
    stamp: str
    digest: str
    state: str
    reason: str
    judged: str


@dataclass(frozen=True)
class Entry:
    """An event in the journal: its running number, its key, which follows from the content of its file, and its row."""

    number: int
    key: str
    row: Mapping[str, Any]

    def line(self) -> str:
        """Return the event as one line of JSON."""
        return json_text({"key": self.key, **self.row})


class Journal:
    """What a watcher knows of a folder, in an SQLite file that survives any end of the process.

    Parameters
    ----------
    path : str or Path
        The file; it is made if it does not exist.
    read_only : bool
        Whether only to look at it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(f"{folder}/journal.sqlite") as journal:
    ...     journal.finish("a.cfg", "12:1", "f00d", [{"kind": "sag"}], "done", "")
    ...     [(entry.key, entry.row) for entry in journal.events()], journal.files()["a.cfg"].state
    ([('f00d-1', {'kind': 'sag'})], 'done')
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if read_only and not self.path.is_file():
            raise PqswarmError(f"there is no journal {self.path}: `pqswarm watch` has not watched this folder yet.")
        mode = "ro" if read_only else "rwc"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            uri = f"file:{quote(self.path.resolve().as_posix())}?mode={mode}"
            self._database = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30.0)
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if not read_only:
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = FULL")
                if version == 0:
                    self._database.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")
        except (OSError, sqlite3.Error) as error:
            raise FileFormatError(
                f"{self.path} cannot be used as a journal: {error}. Move it away, or give another."
            ) from error
        if version not in ((_VERSION,) if read_only else (0, _VERSION)):
            self.close()
            raise FileFormatError(f"{self.path} is the journal of another version of pqswarm, or none: give another.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it is written, or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def files(self) -> dict[str, FileRecord]:
        """Return what became of every file, by path."""
        found = self._database.execute("SELECT path, stamp, digest, state, reason, judged FROM files ORDER BY path")
        return {row[0]: FileRecord(*row) for row in found}

    def judged_as(self, digest: str) -> str | None:
        """Return the path of a file of this content that was judged."""
        query = "SELECT path FROM files WHERE digest = ? AND state = 'done' ORDER BY path"
        row = self._database.execute(query, (digest,)).fetchone()
        return None if row is None else str(row[0])

    def begin(self, path: str) -> None:
        """Note that a file is going to be judged, in case that ends the process."""
        with self._transaction() as database:
            database.execute("INSERT INTO begun VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1", (path,))

    def begun(self) -> dict[str, int]:
        """Return how often files were begun that never were finished."""
        return dict(self._database.execute("SELECT path, times FROM begun"))

    def finish(
        self, path: str, stamp: str, digest: str, rows: Sequence[Mapping[str, Any]], state: str, reason: str
    ) -> None:
        """Write the events of a file together with the mark that it is done."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._transaction() as database:
            database.executemany(
                "INSERT OR IGNORE INTO events (key, path, kind, row) VALUES (?, ?, ?, ?)",
                [
                    (f"{digest[:24]}-{number}", path, str(row["kind"]), json_text(row))
                    for number, row in enumerate(rows, 1)
                ],
            )
            database.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", (path, stamp, digest, state, reason, now)
            )
            database.execute("DELETE FROM begun WHERE path = ?", (path,))

    def events(self) -> Iterator[Entry]:
        """Yield all events, and the rows of recordings without any, in the order in which they were judged."""
        for number, key, row in self._database.execute("SELECT number, key, row FROM events ORDER BY number"):
            yield Entry(number, key, json.loads(row))

    def progress(self, receiver: str) -> tuple[int, int]:
        """Return the number of the last event that a receiver has, and the length of its file [byte]."""
        row = self._database.execute("SELECT last, length FROM receivers WHERE name = ?", (receiver,)).fetchone()
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def pending(self, receiver: str, most: int = 200) -> list[Entry]:
        """Return the next events that a receiver does not have; recordings without events are none."""
        found = self._database.execute(
            "SELECT number, key, row FROM events WHERE number > ? AND kind != 'none' ORDER BY number LIMIT ?",
            (self.progress(receiver)[0], most),
        )
        return [Entry(number, key, json.loads(row)) for number, key, row in found]

    def delivered(self, receiver: str, last: int, length: int = 0) -> None:
        """Note that a receiver has all events to this number, and the length of its file [byte]."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO receivers VALUES (?, ?, ?)", (receiver, last, length))
