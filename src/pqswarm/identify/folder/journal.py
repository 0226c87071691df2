"""The journal of a watched folder: analysed files, their events, and the progress of each receiver."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from pqswarm._base.text import file_text
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.verdict import Verdict

_VERSION = 2
_APPLICATION = 0x70717377
"""Identifies journals among SQLite files."""
_MARKS = ("application_id", "user_version")
_TABLES = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, stamp TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
    analysed TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS files_by_digest ON files (digest);
CREATE TABLE IF NOT EXISTS begun (path TEXT PRIMARY KEY, times INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, path TEXT NOT NULL, kind TEXT NOT NULL,
    verdict TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS receivers (
    name TEXT PRIMARY KEY, last INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS refused (
    name TEXT NOT NULL, number INTEGER NOT NULL, times INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (name, number));
"""


@dataclass(frozen=True)
class FileRecord:
    """State of a file: ``done``, ``failed``, ``copy`` (the content of another file) or ``ours`` (written by pqswarm).

    The path is relative to the watched folder, with ``/``; `stamp` holds sizes and modification times of its parts when
    it was analysed (UTC), `digest` the SHA-256 of its content, `reason` why it failed, or which recordings did.
    """

    path: str
    stamp: str
    digest: str
    state: str
    reason: str
    analysed: str


@dataclass(frozen=True)
class Entry:
    """An event in the journal, with a key that follows from the content of its file, and the verdict on it alone."""

    number: int
    key: str
    verdict: Verdict

    @property
    def row(self) -> dict[str, Any]:
        """The row of the event, with the keys of :data:`pqswarm.identify.COLUMNS`."""
        return self.verdict.rows()[0]

    def line(self) -> str:
        """Return the event as one line of JSON."""
        return json_text({"key": self.key, **self.row})


class Journal:
    """The state of a watched folder in an SQLite file, safe against crashes; a new file is created."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if read_only and not self.path.is_file():
            raise PqswarmError(f"there is no journal {self.path}: run `pqswarm watch` on this folder first.")
        if self.path.is_symlink() and not read_only:  # it may lead anywhere
            raise FileFormatError(f"{file_text(self.path)} is a link: name the journal itself with --journal.")
        mode = "rw" if read_only else "rwc"
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            uri = f"file:{quote(os.fsencode(self.path.resolve().as_posix()))}?mode={mode}"
            self._database = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30.0)
        try:
            self._prepare(read_only)
        except BaseException:
            self.close()
            raise

    def _prepare(self, read_only: bool) -> None:
        """Create the tables of a new file; reject one of another format."""
        with self._explained():
            marks = [self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
            new = marks == [0, 0] and not self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if new and not read_only:
                marks = [_APPLICATION, _VERSION]
                set_marks = " ".join(f"PRAGMA {name} = {mark};" for name, mark in zip(_MARKS, marks, strict=True))
                self._database.executescript(f"BEGIN IMMEDIATE; {_TABLES} {set_marks} COMMIT;")
        if marks != [_APPLICATION, _VERSION]:
            raise FileFormatError(
                f"{file_text(self.path)} is not a journal of this version of pqswarm, and was not changed: name "
                "another file with --journal."
            )
        with self._explained():
            if read_only:
                self._database.execute("PRAGMA query_only = ON")
            else:  # a write-ahead log does not work on network shares
                self._database.execute("PRAGMA journal_mode = DELETE")
                self._database.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the file in messages of SQLite."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise FileFormatError(
                f"{file_text(self.path)} cannot be used as a journal: {error}. Check the disk and the permissions of "
                "its folder, or name another file with --journal."
            ) from error

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._explained():
            return self._database.execute(query, values).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write everything, or nothing."""
        with self._explained():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def files(self) -> dict[str, FileRecord]:
        """Return the state of every file, by path."""
        found = self._rows("SELECT path, stamp, digest, state, reason, analysed FROM files ORDER BY path")
        return {row[0]: FileRecord(*row) for row in found}

    def analysed_as(self, digest: str) -> FileRecord | None:
        """Return the record of an analysed file with this content."""
        query = "SELECT path, stamp, digest, state, reason, analysed FROM files WHERE digest = ? AND state = 'done'"
        rows = self._rows(f"{query} ORDER BY path LIMIT 1", digest)
        return FileRecord(*rows[0]) if rows else None

    def events_of(self, path: str) -> list[Entry]:
        """Return the events of a file."""
        return self._entries(self._rows("SELECT number, key, verdict FROM events WHERE path = ?", path))

    def _entries(self, rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
        try:
            return [Entry(number, key, Verdict.of(json.loads(text))) for number, key, text in rows]
        except (ValueError, PqswarmError) as error:
            raise FileFormatError(f"{file_text(self.path)} is damaged: {file_text(str(error))}") from error

    def start(self, path: str) -> None:
        """Record the start of an analysis, in case it ends the process."""
        with self._transaction() as database:
            database.execute("INSERT INTO begun VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1", (path,))

    def unfinished(self) -> dict[str, int]:
        """Return how often the analysis of a file was started but not finished."""
        return {str(path): int(times) for path, times in self._rows("SELECT path, times FROM begun")}

    def finish(self, path: str, stamp: str, digest: str, verdicts: Iterable[Verdict], state: str, reason: str) -> None:
        """Write the events of a file and its state in one transaction."""
        single = (verdict.only([i]) for verdict in verdicts for i in range(len(verdict.events)))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._transaction() as database:
            database.executemany(
                "INSERT OR IGNORE INTO events (key, path, kind, verdict) VALUES (?, ?, ?, ?)",
                [
                    (f"{digest[:24]}-{number}", path, one.events[0].event.kind, json_text(one.as_dict()))
                    for number, one in enumerate(single, 1)
                ],
            )
            database.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
                (path, stamp, digest, state, file_text(reason), now),
            )
            database.execute("DELETE FROM begun WHERE path = ?", (path,))

    def events(self) -> Iterator[Entry]:
        """Yield all events, and the rows of recordings without events, in order of analysis."""
        last = 0
        query = "SELECT number, key, verdict FROM events WHERE number > ? ORDER BY number LIMIT 1000"
        while entries := self._entries(self._rows(query, last)):
            yield from entries
            last = entries[-1].number

    def progress(self, receiver: str) -> tuple[int, int | None]:
        """Return the number of the last event delivered to a receiver, and the length of its file [byte] or None."""
        rows = self._rows("SELECT last, length FROM receivers WHERE name = ?", receiver)
        return (int(rows[0][0]), int(rows[0][1])) if rows else (0, None)

    def pending(self, receiver: str, limit: int = 200) -> list[Entry]:
        """Return the next events to deliver to a receiver."""
        query = "SELECT number, key, verdict FROM events WHERE number > ? AND kind != 'none' ORDER BY number LIMIT ?"
        return self._entries(self._rows(query, self.progress(receiver)[0], limit))

    def refuse(self, receiver: str, number: int, reason: str, limit: int) -> bool:
        """Record that a receiver refused an event, and return whether the event is to be set aside."""
        with self._transaction() as database:
            database.execute(
                "INSERT INTO refused VALUES (?, ?, 1, ?) "
                "ON CONFLICT DO UPDATE SET times = times + 1, reason = excluded.reason",
                (receiver, number, reason),
            )
            query = "SELECT times FROM refused WHERE name = ? AND number = ?"
            enough = int(database.execute(query, (receiver, number)).fetchone()[0]) >= limit
            if enough:
                database.execute(
                    "INSERT INTO receivers VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET last = excluded.last",
                    (receiver, number),
                )
        return enough

    def set_aside(self) -> list[tuple[str, str, str]]:
        """Return the events that receivers refused: receiver, key and reason."""
        query = (
            "SELECT refused.name, events.key, refused.reason FROM refused JOIN events USING (number) "
            "JOIN receivers USING (name) WHERE number <= last ORDER BY number"
        )
        return [(name, key, reason) for name, key, reason in self._rows(query)]

    def delivered(self, receiver: str, last: int, length: int = 0) -> None:
        """Record that a receiver has all events up to this number, and the length of its file [byte]."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO receivers VALUES (?, ?, ?)", (receiver, last, length))
            database.execute("DELETE FROM refused WHERE name = ? AND number = ?", (receiver, last))
