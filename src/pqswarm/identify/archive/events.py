"""Events of an archive by their numbers, as rows for lists, tables and receivers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pqswarm._base.text import json_text
from pqswarm.identify.analysis import EventResult
from pqswarm.identify.archive.database import ArchiveDatabase, reading
from pqswarm.identify.archive.records import from_microseconds, match_corrections, recording_id
from pqswarm.identify.rows import event_row

_SOME = 500
"""Rows that are looked up at a time."""
_SELECT = """
SELECT number, key, refers, events.position, events.incident, events.label, events.cause, hidden, severity, tier,
events.seconds, percent, event_records.record, recordings.id, content, recordings.position AS place, recordings.name,
owner, title, probability, incidents.record AS incident_record, recording_records.record AS head
FROM events JOIN event_records USING (number) JOIN recordings ON recordings.id = events.recording
JOIN recording_records ON recording_records.recording = recordings.id
LEFT JOIN incidents ON incidents.recording = events.recording AND incidents.position = events.incident
"""


class ArchivedEvents:
    """Reads events of an archive."""

    def __init__(self, database: ArchiveDatabase) -> None:
        self.database = database

    @reading
    def rows(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the rows of events: the keys of COLUMNS, their place, what was corrected, and values for lists."""
        rows = {row["number"]: row for some in _in_parts(numbers) for row in self._read(f"WHERE number IN ({some})")}
        return {number: rows[number] for number in numbers if number in rows}

    def all(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all public events in order of their numbers."""
        last = 0
        while rows := list(self._read(f"WHERE number > {last} AND owner = '' ORDER BY number LIMIT {_SOME}")):
            yield from rows
            last = rows[-1]["number"]

    @reading
    def of_recording(self, recording: int) -> list[dict[str, Any]]:
        """Return the rows of all events of a recording, also hidden ones."""
        return list(self._read("WHERE recordings.id = ? ORDER BY events.position", recording))

    @reading
    def get(self, number: int) -> EventResult:
        """Return an event by its number."""
        rows = self.database.rows("SELECT record FROM event_records WHERE number = ?", number)
        return EventResult.of(json.loads(rows[0][0]))

    @reading
    def places(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the recording, position and title of events, for points of charts."""
        places = {}
        for some in _in_parts(numbers):
            query = (
                "SELECT number, content, recordings.position AS place, events.position, stations.name AS station, "
                "events.start, category FROM events JOIN recordings ON recordings.id = recording "
                f"JOIN stations ON stations.id = station WHERE number IN ({some})"
            )
            for row in self.database.named_rows(query):
                words = (row["category"], row["station"], from_microseconds(row["start"]))
                places[row["number"]] = {
                    "recording": recording_id(row["content"], row["place"]),
                    "event": row["position"],
                    "title": ", ".join(filter(None, words)),
                }
        return places

    @reading
    def corrections_of(self, content: str, position: int) -> list[dict[str, Any]]:
        """Return the corrections of a recording in order, also withdrawn ones, as plain values."""
        query = (
            "SELECT number, what, label, author AS by, at, note, record FROM corrections "
            "WHERE content = ? AND position = ? ORDER BY number"
        )
        return [
            row | {"record": json.loads(row["record"])} for row in self.database.named_rows(query, content, position)
        ]

    def _read(self, where: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of the events of a condition in SQL."""
        heads: dict[int, Mapping[str, Any]] = {}
        corrections: dict[int, list[dict[str, Any]]] = {}
        with self.database.explained():
            for stored in self.database.named_rows(_SELECT + where, *values):
                recording = stored["id"]
                if recording not in heads:
                    heads[recording] = json.loads(stored["head"]) | {"path": stored["name"]}
                    corrections[recording] = self.corrections_of(stored["content"], stored["place"])
                yield _list_row(stored, heads[recording], corrections[recording])


def _in_parts(numbers: Sequence[int]) -> Iterator[str]:
    """Some numbers at a time, as a list in SQL."""
    for start in range(0, len(numbers), _SOME):
        yield ",".join(str(int(number)) for number in numbers[start : start + _SOME])


def _list_row(
    stored: Mapping[str, Any], head: Mapping[str, Any], corrections: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The row of a stored event, for strict JSON."""
    record = json.loads(stored["record"])
    incident = None
    if stored["incident_record"] is not None:
        incident = {
            "number": stored["incident"] + 1,
            "title": stored["title"],
            "probability": stored["probability"],
            "is_main": json.loads(stored["incident_record"])["events"][0] == stored["position"],
        }
    row: dict[str, Any] = json.loads(json_text(event_row(head, record, incident)))
    in_force = {
        what: {name: correction[name] for name in ("label", "by", "at", "note")}
        for what, correction in match_corrections(record, corrections).items()
    }
    return row | {
        "number": stored["number"],
        "key": stored["key"],
        "refers_to": stored["refers"],
        "recording": recording_id(stored["content"], stored["place"]),
        "event": stored["position"],
        "start": record["start"],
        "end": record["end"],
        "when": f"{row['date']}T{row['time']}" if row["date"] else None,
        "severity": stored["severity"] if stored["tier"] == 2 else None,
        "point": None if stored["seconds"] is None else [stored["seconds"], stored["percent"]],
        "upload": bool(stored["owner"]),
        "hidden": bool(stored["hidden"]),
        "effective_label": stored["label"],
        "effective_cause": stored["cause"],
        "correction": in_force.get("class"),
        "cause_correction": in_force.get("cause"),
    }
