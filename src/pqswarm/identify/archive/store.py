"""An archive: files, claims, analyses and receivers. Any number of processes may write to it."""

import hashlib
import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from pqswarm._base.files import file_writer_is_alive
from pqswarm._base.text import file_text
from pqswarm.identify.archive import records
from pqswarm.identify.archive.database import ArchiveDatabase
from pqswarm.identify.folder.batch import Failure
from pqswarm.identify.folder.scan import Candidate
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.verdict import COLUMNS, Verdict

LEASE = 120.0
"""Time after which the claim of a worker that gives no sign of life is taken over [s]."""
_MAX_SKIPPED = 1000
"""Events of other folders that are looked at again."""
_MAX_PATHS = 500
"""Files that are looked up at a time."""


@dataclass(frozen=True)
class SeenFile:
    """A file on disk: its path, its stamp, the key of its content, its size [byte], and whose it is.

    `owner` is empty but for uploads; `grown_from` is the key of the content that it began with, if it has grown.
    """

    path: Path
    stamp: str
    content: str
    size: int
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


@dataclass(frozen=True)
class Entry:
    """An event to deliver: its number, its key, the key of the event that it corrects if it was told before, its row."""

    number: int
    key: str
    refers: str
    row: Mapping[str, Any]

    def line(self) -> str:
        """Return the event as one line of JSON."""
        return json_text({"key": self.key, **({"refers_to": self.refers} if self.refers else {}), **self.row})


class ArchiveStore:
    """Files, claims, analyses and receivers of an archive; see :class:`pqswarm.identify.archive.archive.Archive`."""

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

    def counts(self) -> dict[str, int]:
        """Return the numbers of files, recordings and events, and of contents that wait or failed."""
        rows = self.database.rows(
            "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM recordings),"
            " (SELECT coalesce(sum(n_events), 0) FROM recordings),"
            " (SELECT count(*) FROM contents WHERE state = 'waiting'),"
            " (SELECT count(*) FROM contents WHERE state = 'failed')"
        )
        return dict(zip(("files", "recordings", "events", "waiting", "failed"), rows[0], strict=True))

    def revision(self) -> int:
        """Return a number that grows whenever a recording or correction is written."""
        return int(self.database.rows("SELECT last FROM revisions")[0][0])

    # Files

    def register(self, seen: Iterable[SeenFile]) -> None:
        """Note what files hold; new contents wait to be analysed."""
        with self.database.transaction() as database:
            for one in seen:
                database.execute(
                    "INSERT INTO files VALUES (?, ?, ?, ?, ?, '', '') ON CONFLICT DO UPDATE SET "
                    "name = excluded.name, stamp = excluded.stamp, content = excluded.content",
                    (os.fsencode(one.path), file_text(one.path), one.stamp, one.content, one.owner),
                )
                database.execute(
                    "INSERT OR IGNORE INTO contents VALUES (?, 'waiting', ?, '', '', ?, 0)",
                    (one.content, one.grown_from, one.size),
                )
                self._rename(database, one)

    def _rename(self, database: sqlite3.Connection, file: SeenFile) -> None:
        """Show recordings under the new name of their file if it was moved."""
        query = "SELECT path FROM files WHERE content = ? AND path != ?"
        others = database.execute(query, (file.content, os.fsencode(file.path))).fetchall()
        if others and not any(os.path.lexists(path) for (path,) in others):
            values = (file_text(file.path), self._next_revision(database), file.content)
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
            database.execute(f"DELETE FROM claims WHERE {nowhere}")  # noqa: S608 (a constant)
            database.execute(f"DELETE FROM contents WHERE state = 'waiting' AND at = '' AND {nowhere}")  # noqa: S608

    def remove_owned(self, owner: str, content: str | None = None) -> None:
        """Remove the uploads of a visitor, or one of them, with their analyses, corrections and notes."""
        with self.database.transaction() as database:
            query = "SELECT DISTINCT content FROM files WHERE owner = ? AND owner != '' AND ? IN (content, '')"
            for (one,) in database.execute(query, (owner, content or "")).fetchall():
                self._remove_content(database, one)
                database.execute("DELETE FROM files WHERE content = ?", (one,))
                for table in ("corrections", "notes"):
                    database.execute(f"DELETE FROM {table} WHERE content = ?", (one,))  # noqa: S608
            self._next_revision(database)

    def files(self, below: Path | None = None) -> dict[Path, KnownFile]:
        """Return the known files, or those below a folder."""
        low = b"" if below is None else os.fsencode(below) + os.sep.encode()
        high = b"\xff" if below is None else low[:-1] + bytes([low[-1] + 1])
        return {one.path: one for one in self._files("path >= ? AND path < ?", low, high)}

    def file(self, path: Path) -> KnownFile | None:
        """Return what is known of a file."""
        return next(self._files("path = ?", os.fsencode(path)), None)

    def waiting(self, owner: str = "", limit: int = -1) -> list[KnownFile]:
        """Return the files whose content waits to be analysed, public or of an owner."""
        return list(self._files("contents.state = 'waiting' AND owner IN ('', ?)", owner, limit=limit))

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
            f"FROM files LEFT JOIN contents ON digest = content WHERE {where} ORDER BY path LIMIT ?"  # noqa: S608
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

    def release(self, content: str) -> None:
        """Give up a claim without a result; how often it was begun is kept."""
        with self.database.transaction() as database:
            database.execute(
                "UPDATE claims SET until = 0, worker = '' WHERE digest = ? AND worker = ?", (content, self.worker)
            )

    def begun(self) -> dict[str, int]:
        """Return how often the analysis of a content was begun but not finished."""
        return {str(digest): int(times) for digest, times in self.database.rows("SELECT digest, times FROM claims")}

    def ask_again(self, contents: Iterable[str]) -> None:
        """Let contents be analysed again; their old analysis stays until then."""
        with self.database.transaction() as database:
            values = [(one,) for one in contents]
            database.executemany("UPDATE contents SET state = 'waiting' WHERE digest = ?", values)

    # Analyses

    def finish(
        self,
        file: SeenFile,
        results: Sequence[Verdict | Failure],
        *,
        analyser: str = "",
        n_channels: Sequence[int | None] = (),
    ) -> int | None:
        """Write the analysis of a content in one transaction; return the number of events that are new or changed.

        None if another process has finished it meanwhile: then nothing is written.
        """
        verdicts = [one for one in results if isinstance(one, Verdict)]
        state = "done" if verdicts or not results else "failed"
        reasons = " ".join((str(one) if one.place else one.reason) for one in results if isinstance(one, Failure))
        with self.database.transaction() as database:
            held = database.execute("SELECT worker FROM claims WHERE digest = ?", (file.content,)).fetchone()
            if held is None or held[0] != self.worker:
                return None
            known = database.execute("SELECT reason, serial FROM contents WHERE digest = ?", (file.content,)).fetchone()
            grown_from, serial = ("", 0) if known is None else (known[0] if known[1] == 0 else "", int(known[1]))
            if grown_from and database.execute("SELECT 1 FROM files WHERE content = ?", (grown_from,)).fetchone():
                grown_from = ""  # a copy of what it was is still there
            before = self._events_before(database, grown_from or file.content)
            for old in filter(None, (file.content, grown_from)):
                self._remove_content(database, old)
            for table in ("corrections", "notes") if grown_from else ():
                database.execute(
                    f"UPDATE {table} SET content = ? WHERE content = ?",  # noqa: S608 (a constant)
                    (file.content, grown_from),
                )
            told = 0
            counts = list(n_channels) + [None] * len(results)
            for position, result in enumerate(results):
                serial, new = self._write_recording(database, file, position, result, counts[position], before, serial)
                told += new
            now = datetime.now(UTC).isoformat(timespec="seconds")
            database.execute(
                "INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)",
                (file.content, state, file_text(reasons), analyser, now, file.size, max(serial, 1)),
            )
            database.execute("DELETE FROM claims WHERE digest = ?", (file.content,))
        return told

    def _events_before(self, database: sqlite3.Connection, content: str) -> list[dict[str, Any]]:
        """Events of the earlier analysis of a content, or of what it has grown from."""
        query = (
            "SELECT events.number, key, refers, recordings.position, event_records.record FROM recordings "
            "JOIN events ON recording = recordings.id JOIN event_records USING (number) WHERE content = ?"
        )
        return [
            {"number": number, "key": key, "refers": refers, "place": place, "record": self._json(record)}
            for number, key, refers, place, record in database.execute(query, (content,))
        ]

    def _remove_content(self, database: sqlite3.Connection, content: str) -> None:
        own = "SELECT id FROM recordings WHERE content = ?"
        database.execute(
            f"DELETE FROM event_records WHERE number IN (SELECT number FROM events WHERE recording IN ({own}))",  # noqa: S608
            (content,),
        )
        for table in ("events", "incidents"):
            database.execute(f"DELETE FROM {table} WHERE recording IN ({own})", (content,))  # noqa: S608
        database.execute("DELETE FROM recordings WHERE content = ?", (content,))
        database.execute("DELETE FROM contents WHERE digest = ?", (content,))

    def _write_recording(
        self,
        database: sqlite3.Connection,
        file: SeenFile,
        position: int,
        result: Verdict | Failure,
        n_channels: int | None,
        before: list[dict[str, Any]],
        serial: int,
    ) -> tuple[int, int]:
        """Write a recording with its events; return the last serial number, and how many events are new or changed."""
        station = self.find_station(database, "" if isinstance(result, Failure) else result.station)
        head = "" if isinstance(result, Failure) else records.head_record(result)
        start = None if isinstance(result, Failure) else records.to_microseconds(result.start)
        seconds = None if isinstance(result, Failure) else result.duration
        reason = file_text(result.reason) if isinstance(result, Failure) else ""
        name = file_text(file.path)
        values = (file.content, position, file_text(result.source), name, file.owner, station, start, seconds)
        made = database.execute(
            "INSERT INTO recordings VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, x'', 0)",
            (*values, n_channels, reason, head),
        )
        recording, told, rows = int(made.lastrowid or 0), 0, []
        if isinstance(result, Verdict):
            said = self.read_corrections(database, file.content, position)
            for number, incident in enumerate(result.incidents):
                database.execute(
                    "INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        *(recording, number, incident.cause, incident.probability, file_text(incident.title)),
                        records.incident_record(incident),
                    ),
                )
            old = [one for one in before if one["place"] == position]
            rows = records.event_rows(result, said)
            for place, row in enumerate(rows):
                same = next((one for one in old if records.is_same_event(one["record"], row.found)), None)
                if same is not None:
                    old.remove(same)
                if same is not None and records.has_same_numbers(same["record"], row.found):
                    number, key, refers = same["number"], same["key"], same["refers"]
                else:
                    serial, told = serial + 1, told + (row.found.event.kind != "none")
                    number, key = None, f"{file.content[:24]}-{serial}"
                    refers = "" if same is None or row.found.event.kind == "none" else same["refers"] or same["key"]
                marks = ",".join("?" * 19)
                added = database.execute(
                    f"INSERT INTO events VALUES ({marks})", (number, key, refers, recording, place, *row.columns())
                )
                database.execute("INSERT INTO event_records VALUES (?, ?)", (added.lastrowid, row.record))
        self.pack(database, recording, rows)
        return serial, told

    def find_station(self, database: sqlite3.Connection, name: str) -> int:
        name = file_text(name)
        database.execute("INSERT OR IGNORE INTO stations VALUES (NULL, ?, '', '', '')", (name,))
        return int(database.execute("SELECT id FROM stations WHERE name = ?", (name,)).fetchone()[0])

    def _words(self, database: sqlite3.Connection, texts: Iterable[str]) -> dict[str, int]:
        """IDs of texts; that of the empty text is 0."""
        found = {"": 0}
        for text in set(texts) - {""}:
            database.execute("INSERT OR IGNORE INTO words VALUES (NULL, ?)", (text,))
            found[text] = int(database.execute("SELECT id FROM words WHERE text = ?", (text,)).fetchone()[0])
        return found

    def read_corrections(self, database: sqlite3.Connection, content: str, position: int) -> list[dict[str, Any]]:
        """Return the corrections of a recording in order, as plain values."""
        query = (
            "SELECT number, what, label, author, at, note, record FROM corrections "
            "WHERE content = ? AND position = ? ORDER BY number"
        )
        names = ("number", "what", "label", "by", "at", "note", "record")
        rows = database.execute(query, (content, position)).fetchall()
        return [dict(zip(names, (*row[:-1], self._json(row[-1])), strict=True)) for row in rows]

    def corrections_of(self, content: str, position: int) -> list[dict[str, Any]]:
        """Return the corrections of a recording in order, also withdrawn ones, as plain values."""
        with self.database.explained():
            return self.read_corrections(self.database.connection, content, position)

    def pack(self, database: sqlite3.Connection, recording: int, rows: Sequence[records.EventRow]) -> None:
        """Write what queries need of the events of a recording, and a new revision."""
        query = "SELECT owner, station FROM recordings WHERE id = ?"
        owner, station = database.execute(query, (recording,)).fetchone()
        query = "SELECT number FROM events WHERE recording = ? ORDER BY position"
        numbers = [number for (number,) in database.execute(query, (recording,))]
        texts = {t for row in rows for t in (row.label, row.cause, file_text(row.found.event.system))}
        words = self._words(database, {*texts, owner})
        values = [
            row.pack(number, recording, words[owner], station, words)
            for number, row in zip(numbers, rows, strict=True)
            if row.found.event.kind != "none"
        ]
        database.execute(
            "UPDATE recordings SET packed = ?, n_events = ?, revision = ? WHERE id = ?",
            (np.array(values, records.PACKED).tobytes(), len(values), self._next_revision(database), recording),
        )

    def _next_revision(self, database: sqlite3.Connection) -> int:
        database.execute("UPDATE revisions SET last = last + 1")
        return int(database.execute("SELECT last FROM revisions").fetchone()[0])

    def read_verdict(self, database: sqlite3.Connection, recording: int) -> Verdict | None:
        head, name = database.execute("SELECT record, name FROM recordings WHERE id = ?", (recording,)).fetchone()
        if not head:
            return None
        events = database.execute(
            "SELECT record FROM events JOIN event_records USING (number) WHERE recording = ? ORDER BY position",
            (recording,),
        )
        incidents = database.execute("SELECT record FROM incidents WHERE recording = ? ORDER BY position", (recording,))
        try:
            return records.read_verdict(head, [one for (one,) in events], [one for (one,) in incidents], name)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self.database.damaged(error) from error

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.database.damaged(error) from error

    def results(self, content: str, path: str = "") -> list[Verdict | Failure]:
        """Return the stored analysis of a content: a verdict or failure for each recording; `path` replaces its own."""
        query = "SELECT id, name, source, reason FROM recordings WHERE content = ? ORDER BY position"
        found: list[Verdict | Failure] = []
        with self.database.explained():
            for recording, name, source, reason in self.database.rows(query, content):
                verdict = self.read_verdict(self.database.connection, recording)
                if verdict is None:
                    found.append(Failure(path or name, source, reason))
                else:
                    found.append(replace(verdict, path=path or name))
        return found

    # Receivers

    def progress(self, receiver: str) -> tuple[int, int | None]:
        """Return the number of the last event delivered to a receiver, and the length of its file [byte] or None."""
        rows = self.database.rows("SELECT last, length FROM receivers WHERE name = ?", receiver)
        return (int(rows[0][0]), rows[0][1]) if rows else (0, None)

    def pending(self, receiver: str, below: Path, limit: int = 200) -> list[Entry]:
        """Return the next events to deliver to a receiver, of files below a folder."""
        from pqswarm.identify.archive.queries import EventReader

        low = os.fsencode(below) + os.sep.encode()
        query = (
            "SELECT number, key, refers FROM events JOIN recordings ON recordings.id = recording "
            "WHERE number > ? AND kind != 'none' AND EXISTS (SELECT 1 FROM files WHERE "
            "files.content = recordings.content AND path >= ? AND path < ?) ORDER BY number LIMIT ?"
        )
        last = self.progress(receiver)[0]
        top = self.database.rows("SELECT coalesce(max(number), 0) FROM events")[0][0]
        found = self.database.rows(query, last, low, low[:-1] + bytes([low[-1] + 1]), limit)
        if not found and top - last > _MAX_SKIPPED:  # those of other folders are not looked at again
            with self.database.transaction() as database:
                database.execute(
                    "INSERT INTO receivers VALUES (?, ?, NULL) ON CONFLICT DO UPDATE SET last = excluded.last",
                    (receiver, top),
                )
        rows = EventReader(self).rows([number for number, *_ in found])
        told = (*COLUMNS, "recording", "event")
        return [Entry(number, key, refers, {name: rows[number][name] for name in told}) for number, key, refers in found]

    def delivered(self, receiver: str, last: int, length: int = 0) -> None:
        """Record that a receiver has all events up to this number, and the length of its file [byte]."""
        with self.database.transaction() as database:
            database.execute("INSERT OR REPLACE INTO receivers VALUES (?, ?, ?)", (receiver, last, length))
            database.execute("DELETE FROM refused WHERE name = ? AND number = ?", (receiver, last))

    def refuse(self, receiver: str, number: int, reason: str, limit: int) -> bool:
        """Record that a receiver refused an event, and return whether the event is to be set aside."""
        with self.database.transaction() as database:
            database.execute(
                "INSERT INTO refused VALUES (?, ?, 1, ?) "
                "ON CONFLICT DO UPDATE SET times = times + 1, reason = excluded.reason",
                (receiver, number, reason),
            )
            query = "SELECT times FROM refused WHERE name = ? AND number = ?"
            enough = int(database.execute(query, (receiver, number)).fetchone()[0]) >= limit
            if enough:
                database.execute(
                    "INSERT INTO receivers VALUES (?, ?, NULL) ON CONFLICT DO UPDATE SET last = excluded.last",
                    (receiver, number),
                )
        return enough

    def refused(self) -> list[tuple[str, str, str]]:
        """Return the events that receivers refused: receiver, key and reason."""
        query = (
            "SELECT refused.name, events.key, refused.reason FROM refused JOIN events USING (number) "
            "JOIN receivers USING (name) WHERE number <= last ORDER BY number"
        )
        return [(name, key, reason) for name, key, reason in self.database.rows(query)]


def _has_ended(worker: str) -> bool:
    """Whether a worker of this machine is no longer running."""
    host, _, rest = worker.rpartition(" ")[0].rpartition(" ")
    return worker == "" or (host == socket.gethostname() and rest.isdigit() and not file_writer_is_alive(int(rest)))


def look_at(candidate: Candidate, before: KnownFile | None = None, owner: str = "") -> SeenFile:
    """Return a file with the key of its content; `before` is what the archive knows of it. Raises OSErrors."""
    digest, size = candidate.digest(), sum(int(one.partition(":")[0]) for one in candidate.stamp.split())
    if owner:  # uploads are private: the same content is analysed for each visitor, and each name
        digest = hashlib.sha256(f"{owner} {candidate.name} {digest}".encode()).hexdigest()
    grown = ""
    if before is not None and before.content not in ("", digest) and not owner:
        grown = before.content if candidate.has_grown(before.stamp, before.content) else ""
    return SeenFile(Path(os.path.abspath(candidate.parts[0])), candidate.stamp, digest, size, owner, grown)  # noqa: PTH100


def default_archive(folder: str | Path) -> Path:
    """Return the archive of a folder of recordings: next to it; if nothing can be written there, of this user."""
    whole = Path(os.path.abspath(folder))  # noqa: PTH100 (links stay what they are)
    beside = whole.with_name(f"{whole.name}.archive") if whole.name else None
    if beside is not None and (beside.exists() or os.access(beside.parent, os.W_OK)):
        return beside
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    name = hashlib.sha256(os.fsencode(whole)).hexdigest()[:16]
    return Path(home) / "pqswarm" / "archives" / name

