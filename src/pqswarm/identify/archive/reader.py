"""Events of an archive by their numbers, as rows for lists, tables and receivers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pqswarm.identify.archive import records
from pqswarm.identify.show.rows import plain_curve_point

if TYPE_CHECKING:
    from pqswarm.identify.archive.store import ArchiveStore

_SOME = 500
"""Rows that are looked up at a time."""


class EventReader:
    """Reads events of an archive by their numbers."""

    def __init__(self, archive: "ArchiveStore") -> None:
        self.archive = archive

    def rows(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the rows of events: the keys of COLUMNS, their place, what was corrected, and values for lists."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(numbers), _SOME):
            for row in self.read(f"number IN ({','.join(map(str, map(int, numbers[start : start + _SOME])))})"):
                found[row["number"]] = row
        return {number: found[number] for number in numbers if number in found}

    def all(self, where: str = "owner = ''") -> Iterator[dict[str, Any]]:
        """Yield the rows of all events in order of their numbers."""
        last = 0
        while rows := list(self.read(f"number > {last} AND {where} ORDER BY number LIMIT {_SOME}")):
            yield from rows
            last = rows[-1]["number"]

    def places(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the recording, position and sentence of events, for points of charts."""
        found = {}
        for start in range(0, len(numbers), _SOME):
            some = ",".join(map(str, map(int, numbers[start : start + _SOME])))
            query = (
                "SELECT number, content, recordings.position, events.position, stations.name, events.start, category "
                "FROM events JOIN recordings ON recordings.id = recording JOIN stations ON stations.id = station "
                f"WHERE number IN ({some})"
            )
            for number, content, place, position, station, moment, category in self.archive.database.rows(query):
                found[number] = {
                    "recording": recording_id(content, place),
                    "event": position,
                    "label": ", ".join(filter(None, (category, station, records.from_microseconds(moment)))),
                }
        return found

    def read(self, where: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of the events of a condition in SQL."""
        query = (
            "SELECT number, key, refers, events.position, events.incident, events.class, events.cause, hidden, "
            "severity, tier, event_records.record, recordings.id, content, recordings.position, "
            "recording_records.record, recordings.name, owner, title, probability, incidents.record "
            "FROM events JOIN event_records USING (number) JOIN recordings ON recordings.id = events.recording "
            "JOIN recording_records ON recording_records.recording = recordings.id "
            "LEFT JOIN incidents ON incidents.recording = events.recording AND incidents.position = events.incident "
            f"WHERE {where}"
        )
        heads: dict[int, Mapping[str, Any]] = {}
        said: dict[int, list[dict[str, Any]]] = {}
        with self.archive.database.explained():
            for row in self.archive.database.rows(query):
                yield self._row(heads, said, *row)

    def _row(
        self, heads: dict[int, Mapping[str, Any]], said: dict[int, list[dict[str, Any]]], *values: Any
    ) -> dict[str, Any]:
        number, key, refers, position, incident, label, cause, hidden, severity, tier, record, recording = values[:12]
        content, place, head, name, owner, title, probability, about = values[12:]
        if recording not in heads:
            heads[recording] = json.loads(head)
            said[recording] = self.archive.corrections_of(content, place)
        plain = json.loads(record)
        of = None
        if about is not None:
            of = {"number": incident + 1, "title": title, "probability": probability}
            of["is_main"] = json.loads(about)["event_numbers"][0] == position
        row = records.stored_row({**heads[recording], "path": name}, plain, of)
        current = {what: _said(one) for what, one in records.match_corrections(plain, said[recording]).items()}
        return row | {
            "number": number,
            "key": key,
            "refers_to": refers,
            "recording": recording_id(content, place),
            "event": position,
            "start": plain["start"],
            "end": plain["end"],
            "when": None if not row["date"] else f"{row['date']}T{row['time']}",
            "severity": severity if tier == 2 else None,
            "point": plain_curve_point(plain),
            "upload": bool(owner),
            "hidden": bool(hidden),
            "effective_class": label,
            "effective_cause": cause,
            "correction": current.get("class"),
            "cause_correction": current.get("cause"),
        }


def _said(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in ("label", "by", "at", "note")}


def recording_id(content: str, position: int) -> str:
    """Return the ID of a recording in URLs: of its content, followed by its place in the file from the second on."""
    return content[:24] if not position else f"{content[:24]}-{position + 1}"
