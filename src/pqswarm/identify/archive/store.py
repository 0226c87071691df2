"""Analyses in an archive, and what receivers have got of their events."""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.text import file_text
from pqswarm.identify.analysis import COLUMNS, Analysis
from pqswarm.identify.archive import records
from pqswarm.identify.archive.database import reading
from pqswarm.identify.archive.files import ArchiveFiles, SeenFile
from pqswarm.identify.archive.reader import EventReader
from pqswarm.identify.folder.batch import Failure
from pqswarm.identify.show.lines import json_text

_MAX_SKIPPED = 1000
"""Events of other folders that are looked at again."""


@dataclass(frozen=True)
class Entry:
    """An event to deliver: its number, its key, that of the event that it corrects if it was told before, its row."""

    number: int
    key: str
    refers: str
    row: Mapping[str, Any]

    def line(self) -> str:
        """Return the event as one line of JSON."""
        return json_text({"key": self.key, **({"refers_to": self.refers} if self.refers else {}), **self.row})


class ArchiveStore(ArchiveFiles):
    """Analyses and receivers of an archive."""

    # Analyses

    def finish(
        self,
        file: SeenFile,
        results: Sequence[Analysis | Failure],
        *,
        analyzer: str = "",
        n_channels: Sequence[int | None] = (),
    ) -> int | None:
        """Write the analysis of a content in one transaction; return the number of events that are new or changed.

        None if another process has finished it meanwhile: then nothing is written.
        """
        analyses = [one for one in results if isinstance(one, Analysis)]
        state = "done" if analyses or not results else "failed"
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
                self.remove_content(database, old)
            for table in ("corrections", "notes") if grown_from else ():
                database.execute(
                    f"UPDATE {table} SET content = ? WHERE content = ?",
                    (file.content, grown_from),
                )
            told = 0
            counts = list(n_channels) + [None] * len(results)
            for position, result in enumerate(results):
                serial, new = self._write_recording(database, file, position, result, counts[position], before, serial)
                told += new
            now = datetime.now(UTC).isoformat(timespec="seconds")
            database.execute(
                "INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?, ?, ?)",
                (file.content, state, file_text(reasons), analyzer, now, max(serial, 1)),
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
            {"number": number, "key": key, "refers": refers, "place": place, "record": json.loads(record)}
            for number, key, refers, place, record in database.execute(query, (content,))
        ]

    def _write_recording(
        self,
        database: sqlite3.Connection,
        file: SeenFile,
        position: int,
        result: Analysis | Failure,
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
            "INSERT INTO recordings VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0)",
            (*values, n_channels, reason),
        )
        recording, told, rows = int(made.lastrowid or 0), 0, []
        database.execute("INSERT INTO recording_records VALUES (?, ?)", (recording, head))
        if isinstance(result, Analysis):
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
                    serial, told = serial + 1, told + 1
                    number, key = 0, f"{file.content[:24]}-{serial}"
                    refers = "" if same is None else same["refers"] or same["key"]
                marks = ",".join("?" * 19)
                added = database.execute(
                    f"INSERT INTO events VALUES ({marks})",
                    (number or None, key, refers, recording, place, *row.columns()),
                )
                database.execute("INSERT INTO event_records VALUES (?, ?)", (added.lastrowid, row.record))
        self.pack(database, recording, rows)
        return serial, told

    def find_station(self, database: sqlite3.Connection, name: str) -> int:
        """Return the ID of a station, which may be new."""
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
        return [dict(zip(names, (*row[:-1], json.loads(row[-1])), strict=True)) for row in rows]

    @reading
    def corrections_of(self, content: str, position: int) -> list[dict[str, Any]]:
        """Return the corrections of a recording in order, also withdrawn ones, as plain values."""
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
            row.pack(number, recording, words[owner], station, words) for number, row in zip(numbers, rows, strict=True)
        ]
        content = np.array(values, records.PACKED).tobytes()
        database.execute("INSERT OR REPLACE INTO recording_events VALUES (?, ?)", (recording, content))
        database.execute(
            "UPDATE recordings SET n_events = ?, revision = ? WHERE id = ?",
            (len(values), self.next_revision(database), recording),
        )

    def read_analysis(self, database: sqlite3.Connection, recording: int) -> Analysis | None:
        """Return the analysis on a recording; None if it failed."""
        query = "SELECT record, name FROM recordings JOIN recording_records ON recording = id WHERE id = ?"
        head, name = database.execute(query, (recording,)).fetchone()
        if not head:
            return None
        events = database.execute(
            "SELECT record FROM events JOIN event_records USING (number) WHERE recording = ? ORDER BY position",
            (recording,),
        )
        incidents = database.execute("SELECT record FROM incidents WHERE recording = ? ORDER BY position", (recording,))
        return records.read_analysis(head, [one for (one,) in events], [one for (one,) in incidents], name)

    @reading
    def results(self, content: str, path: str = "") -> list[Analysis | Failure]:
        """Return the stored results of a content: an analysis or failure per recording; `path` replaces its own."""
        query = "SELECT id, name, source, reason FROM recordings WHERE content = ? ORDER BY position"
        found: list[Analysis | Failure] = []
        for recording, name, source, reason in self.database.rows(query, content):
            analysis = self.read_analysis(self.database.connection, recording)
            failure = Failure(path or name, source, reason)
            found.append(failure if analysis is None else replace(analysis, path=path or name))
        return found

    # Receivers

    @reading
    def progress(self, receiver: str) -> tuple[int, int | None]:
        """Return the number of the last event delivered to a receiver, and the length of its file [byte] or None."""
        rows = self.database.rows("SELECT last, length FROM receivers WHERE name = ?", receiver)
        return (int(rows[0][0]), rows[0][1]) if rows else (0, None)

    @reading
    def pending(self, receiver: str, below: Path, limit: int = 200) -> list[Entry]:
        """Return the next events to deliver to a receiver, of files below a folder."""
        low = os.fsencode(below) + os.sep.encode()
        query = (
            "SELECT number, key, refers FROM events JOIN recordings ON recordings.id = recording "
            "WHERE number > ? AND EXISTS (SELECT 1 FROM files WHERE "
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
        return [
            Entry(number, key, refers, {name: rows[number][name] for name in told}) for number, key, refers in found
        ]

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

    @reading
    def refused(self) -> list[tuple[str, str, str]]:
        """Return the events that receivers refused: receiver, key and reason."""
        query = (
            "SELECT refused.name, events.key, refused.reason FROM refused JOIN events USING (number) "
            "JOIN receivers USING (name) WHERE number <= last ORDER BY number"
        )
        return [(name, key, reason) for name, key, reason in self.database.rows(query)]
