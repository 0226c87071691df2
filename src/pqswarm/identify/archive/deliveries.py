"""Deliveries of the events of an archive: what each receiver has got, and what comes next."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqswarm._base.text import json_text
from pqswarm.identify.analysis import COLUMNS
from pqswarm.identify.archive.database import ArchiveDatabase, insert, intact, reads_archive, seal_rows
from pqswarm.identify.archive.events import ArchivedEvents

_MAX_SKIPPED = 1000
"""Events of other folders that are looked at again."""
_SET_LAST = "INSERT INTO receivers (name, last) VALUES (?, ?) ON CONFLICT DO UPDATE SET last = excluded.last"


@dataclass(frozen=True)
class Delivery:
    """An event to deliver: its number, its key, that of the event it corrects if that was delivered, and its row."""

    number: int
    key: str
    refers: str
    row: Mapping[str, Any]

    def line(self) -> str:
        """Return the event as one line of JSON."""
        return json_text({"key": self.key, **({"refers_to": self.refers} if self.refers else {}), **self.row})


class Deliveries:
    """Deliveries of events to receivers."""

    def __init__(self, database: ArchiveDatabase, events: ArchivedEvents) -> None:
        self.database = database
        self.events = events

    @reads_archive
    def progress(self, receiver: str) -> tuple[int, int | None]:
        """Return the number of the last event delivered to a receiver, and the length of its file [byte] or None."""
        rows = self.database.rows(
            f"SELECT last, length FROM receivers WHERE name = ? AND {intact('receivers')}", receiver
        )
        return (int(rows[0][0]), rows[0][1]) if rows else (0, None)

    @reads_archive
    def pending(self, receiver: str, below: Path, limit: int = 200) -> list[Delivery]:
        """Return the next events to deliver to a receiver, of files below a folder."""
        low = os.fsencode(below) + os.sep.encode()
        query = (
            "SELECT number FROM events JOIN recordings ON recordings.id = recording WHERE number > ? "
            "AND EXISTS (SELECT 1 FROM files WHERE files.content = recordings.content AND path >= ? AND path < ?) "
            "ORDER BY number LIMIT ?"
        )
        last = self.progress(receiver)[0]
        top = self.database.rows("SELECT coalesce(max(number), 0) FROM events")[0][0]
        numbers = [number for (number,) in self.database.rows(query, last, low, low[:-1] + bytes([low[-1] + 1]), limit)]
        if not numbers and top - last > _MAX_SKIPPED:  # those of other folders are not looked at again
            with self.database.transaction() as database:
                database.execute(_SET_LAST, (receiver, top))
                seal_rows(database, "receivers", "name = ?", (receiver,))
        return [
            Delivery(
                number,
                row["key"],
                row["refers_to"],
                {name: row[name] for name in (*COLUMNS, "recording", "event")},
            )
            for number, row in self.events.rows(numbers).items()
        ]

    def delivered(self, receiver: str, last: int, length: int = 0) -> None:
        """Record that a receiver has all events up to this number, and the length of its file [byte]."""
        with self.database.transaction() as database:
            values = {"name": receiver, "last": last, "length": length}
            insert(database, "receivers", values, "name = :name", verb="INSERT OR REPLACE")
            database.execute("DELETE FROM refused WHERE name = ? AND number = ?", (receiver, last))

    def refuse(self, receiver: str, number: int, reason: str, limit: int) -> bool:
        """Record that a receiver refused an event, and return whether the event is to be set aside."""
        with self.database.transaction() as database:
            database.execute(
                "INSERT INTO refused (name, number, times, reason) VALUES (?, ?, 1, ?) "
                "ON CONFLICT DO UPDATE SET times = times + 1, reason = excluded.reason",
                (receiver, number, reason),
            )
            seal_rows(database, "refused", "name = ? AND number = ?", (receiver, number))
            query = "SELECT times FROM refused WHERE name = ? AND number = ?"
            enough = int(database.execute(query, (receiver, number)).fetchone()[0]) >= limit
            if enough:
                database.execute(_SET_LAST, (receiver, number))
                seal_rows(database, "receivers", "name = ?", (receiver,))
        return enough

    @reads_archive
    def refused(self) -> list[tuple[str, str, str]]:
        """Return the events that receivers refused: receiver, key and reason."""
        query = (
            "SELECT refused.name, events.key, refused.reason FROM refused JOIN events USING (number) "
            "JOIN receivers USING (name) WHERE number <= last ORDER BY number"
        )
        return [(name, key, reason) for name, key, reason in self.database.rows(query)]
