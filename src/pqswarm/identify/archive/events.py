"""Events of an archive: analyses as rows and back, and lists by their numbers."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from pqswarm._base.text import file_text, json_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis, cut_side, event_row
from pqswarm.identify.archive.database import ArchiveDatabase, intact, reads_archive
from pqswarm.identify.tolerance import rank_event, tolerance_curve_point
from pqswarm.measure.incidents.stages import Incident

EPOCH = datetime(1970, 1, 1)
_NEAR = 0.1
"""Time by which an event may start earlier or later when its file has grown [s]."""
_SOME = 500
"""Rows that are looked up at a time."""
_SELECT = f"""
SELECT {" AND ".join(map(intact, ("events", "event_records", "recordings", "recording_records")))}
AND CASE WHEN incidents.seal IS NULL THEN 1 ELSE {intact("incidents")} END AS is_intact,
number, key, refers, events.position, events.incident, hidden, severity, tier, events.seconds, percent,
event_records.record, recordings.id, content, recordings.position AS place, recordings.name, owner, title,
incidents.record AS incident_record, recording_records.record AS head
FROM events JOIN event_records USING (number) JOIN recordings ON recordings.id = events.recording
JOIN recording_records ON recording_records.recording = recordings.id
LEFT JOIN incidents ON incidents.recording = events.recording AND incidents.position = events.incident
WHERE """
_AMONG = "number IN (SELECT value FROM json_each(?))"


def to_event_microseconds(moment: datetime | None) -> int | None:
    """Return a time of day of the recorder as microseconds since 1970, without its zone."""
    return None if moment is None else (moment.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)


def from_event_microseconds(moment: int | None) -> str | None:
    """Return such a time as ISO 8601."""
    if moment is None:
        return None
    try:
        return (EPOCH + timedelta(microseconds=int(moment))).isoformat(timespec="milliseconds")
    except OverflowError:
        return None


def read_event_moment(text: str) -> int:
    """Return a time of a filter, such as ``2026-03`` or ``2026-03-02T10:15``, in microseconds."""
    try:
        padded = f"{text}-01-01"[:10] if len(text) in (4, 7) else text
        return to_event_microseconds(datetime.fromisoformat(padded)) or 0
    except ValueError:
        raise PqswarmError(f"{text[:40]!r} is not a date such as 2026-03-02.") from None


def recording_id(content: str, position: int) -> str:
    """Return the ID of a recording in URLs: of its content, followed by its place in the file from the second on."""
    return content[:24] if not position else f"{content[:24]}-{position + 1}"


def head_record(analysis: Analysis) -> str:
    """Return what is stored of an analysis besides its events and incidents."""
    stored_elsewhere = ("events", "incidents", "path", "remarks")
    return json_text({key: value for key, value in analysis.as_dict().items() if key not in stored_elsewhere})


def incident_values(incident: Incident) -> dict[str, Any]:
    """Return the columns of an incident by name, but for its place."""
    return {
        "cause": incident.cause,
        "probability": incident.probability,
        "title": file_text(incident.title),
        "record": json_text(incident.as_dict()),
    }


def event_records(analysis: Analysis) -> list[str]:
    """Return what is stored of each event: all of it, once."""
    return [json_text(result.as_dict()) for result in analysis.events]


def event_values(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the columns by which events are searched, by name."""
    rows = []
    for position, result in enumerate(analysis.events):
        event = result.event
        incident = analysis.incident_of(position)
        tier, severity = rank_event(event)
        seconds, percent = tolerance_curve_point(event) or (None, None)
        phases = " ".join(dict.fromkeys(event.phases)).strip() or " ".join(dict.fromkeys(event.channels))
        rows.append(
            {
                "position": position,
                "incident": None if incident is None else analysis.incidents.index(incident),
                "start": to_event_microseconds(event.at(analysis.start)),
                "type": event.type,
                "category": event.category,
                "label": result.label or result.rule_label,
                "cause": "" if incident is None or not incident.has_cause else incident.by_hand or incident.cause,
                "phases": file_text(phases),
                "system": file_text(event.system),
                "magnitude": event.magnitude if isfinite(event.magnitude) else None,
                "unit": event.unit,
                "duration": event.duration if isfinite(event.duration) else None,
                "seconds": seconds,
                "percent": percent,
                "tier": int(tier),
                "severity": severity if isfinite(severity) else 0.0,
                "hidden": int(result.is_hidden),
                "cut": cut_side(vars(event)),
            }
        )
    return rows


def read_analysis(
    head: str, events: Iterable[str], incidents: Iterable[str], path: str, remarks: Iterable[str] = ()
) -> Analysis:
    """Restore an analysis, or raise a PqswarmError or ValueError."""
    plain = json.loads(head)
    plain["path"] = path
    plain["remarks"] = tuple(remarks)
    plain["events"] = [json.loads(record) for record in events]
    plain["incidents"] = [json.loads(record) for record in incidents]
    return Analysis.of(plain)


def is_same_event(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a stored event was found again in the same recording, perhaps with other numbers."""
    same_place = all(old[name] == new[name] for name in ("type", "phases", "system"))
    return same_place and abs(old["start"] - new["start"]) <= _NEAR


def has_same_event_numbers(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether magnitude, duration and category are those delivered before."""
    return all(
        (
            old["category"] == new["category"],
            f"{old['magnitude'] or 0:.3g}" == f"{new['magnitude'] or 0:.3g}",
            f"{old['duration'] or 0:.4f}" == f"{new['duration'] or 0:.4f}",
            old["cut_start"] == new["cut_start"],
            old["cut_end"] == new["cut_end"],
        )
    )


class ArchivedEvents:
    """Reads events of an archive."""

    def __init__(self, database: ArchiveDatabase) -> None:
        self.database = database

    @reads_archive
    def rows(self, numbers: list[int]) -> dict[int, dict[str, Any]]:
        """Return the rows of events: the keys of COLUMNS, their place, and values for lists."""
        rows = {row["number"]: row for row in self._read(_AMONG, json.dumps(numbers))}
        return {number: rows[number] for number in numbers if number in rows}

    def all(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all public events in order of their numbers."""
        last = 0
        while rows := list(self._read(f"number > {last} AND owner = '' ORDER BY number LIMIT {_SOME}")):
            yield from rows
            last = rows[-1]["number"]

    @reads_archive
    def of_recording(self, recording: int) -> list[dict[str, Any]]:
        """Return the rows of all events of a recording, also hidden ones."""
        return list(self._read("recordings.id = ? ORDER BY events.position", recording))

    @reads_archive
    def places(self, numbers: list[int]) -> dict[int, dict[str, Any]]:
        """Return the recording, position and title of events, for points of charts."""
        query = (
            "SELECT number, content, recordings.position AS place, events.position, stations.name AS station, "
            "events.start, category, cut FROM events JOIN recordings ON recordings.id = recording "
            f"JOIN stations ON stations.id = station WHERE {_AMONG}"
        )
        places = {}
        for row in self.database.named_rows(query, json.dumps(numbers)):
            words = (row["category"], row["station"], from_event_microseconds(row["start"]))
            places[row["number"]] = {
                "recording": recording_id(row["content"], row["place"]),
                "event": row["position"],
                "title": ", ".join(filter(None, words)),
                "cut": row["cut"],
            }
        return places

    @reads_archive
    def corrections_of(self, content: str, position: int) -> list[dict[str, Any]]:
        """Return the corrections of a recording in order, also withdrawn ones, as plain values."""
        query = (
            "SELECT number, what, label, author AS by, at, note, record FROM corrections "
            f"WHERE content = ? AND position = ? AND {intact('corrections')} ORDER BY number"
        )
        return [
            row | {"record": json.loads(row["record"])} for row in self.database.named_rows(query, content, position)
        ]

    @reads_archive
    def notes(self, recording: int) -> list[dict[str, Any]]:
        """Return the notes of a recording."""
        query = (
            "SELECT number, text, author AS by, notes.at, notes.start, stop AS end FROM notes "
            "JOIN recordings USING (content, position) WHERE recordings.id = ? AND removed = '' "
            f"AND {intact('notes')} ORDER BY number"
        )
        return self.database.named_rows(query, recording)

    def _read(self, where: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of the events of a condition in SQL."""
        heads: dict[int, Mapping[str, Any]] = {}
        with self.database.reading_rows():
            for stored in self.database.named_rows(_SELECT + where, *values):
                recording = stored["id"]
                if recording not in heads:
                    remarks = list(map(note_text, self.notes(recording)))
                    heads[recording] = json.loads(stored["head"]) | {"path": stored["name"], "remarks": remarks}
                yield _archived_event_row(stored, heads[recording])


def _archived_event_row(stored: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a stored event, for strict JSON."""
    record = json.loads(stored["record"])
    incident = None
    if stored["incident_record"] is not None:
        named = {"number": stored["incident"] + 1, "title": stored["title"]}
        incident = json.loads(stored["incident_record"]) | named
    row: dict[str, Any] = json.loads(json_text(event_row(head, stored["position"], record, incident)))
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
        "by_hand": record["by_hand"],
        "cause_by_hand": "" if incident is None else incident["by_hand"],
    }


def note_text(note: Mapping[str, Any]) -> str:
    """Return a note with its stretch, its author and its date."""
    where = "" if note["start"] is None else f"{note['start']:.4g} to {note['end']:.4g} s: "
    return f"{where}{' '.join(note['text'].split())} ({note['by']}, {note['at'][:10]})"
