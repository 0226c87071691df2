"""Analyses as rows of an archive and back: the only place where they are written and read."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from pqswarm._base.text import file_text, json_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.tolerance import curve_point, rank_event
from pqswarm.measure.incidents.stages import Incident

EPOCH = datetime(1970, 1, 1)
NOT_AN_EVENT = "not an event"
"""Correction of an event that is none."""
_HALF_CYCLE = 0.5
"""Cycles by which the start of a corrected event may differ."""
_NEAR = 0.1
"""Time by which an event may start earlier or later when its file has grown [s]."""


def insert(database: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> int:
    """Write a row by the names of its columns; return its number."""
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    return database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values).lastrowid or 0


def to_microseconds(moment: datetime | None) -> int | None:
    """Return a time of day of the recorder as microseconds since 1970, without its zone."""
    return None if moment is None else (moment.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)


def from_microseconds(moment: int | None) -> str | None:
    """Return such a time as ISO 8601."""
    if moment is None:
        return None
    try:
        return (EPOCH + timedelta(microseconds=int(moment))).isoformat(timespec="milliseconds")
    except OverflowError:
        return None


def read_moment(text: str) -> int:
    """Return a time of a filter, such as ``2026-03`` or ``2026-03-02T10:15``, in microseconds."""
    try:
        padded = f"{text}-01-01"[:10] if len(text) in (4, 7) else text
        return to_microseconds(datetime.fromisoformat(padded)) or 0
    except ValueError:
        raise PqswarmError(f"{text[:40]!r} is not a date such as 2026-03-02.") from None


def recording_id(content: str, position: int) -> str:
    """Return the ID of a recording in URLs: of its content, followed by its place in the file from the second on."""
    return content[:24] if not position else f"{content[:24]}-{position + 1}"


def head_record(analysis: Analysis) -> str:
    """Return what is stored of an analysis besides its events and incidents."""
    stored_elsewhere = ("events", "incidents", "path")
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


def event_values(
    analysis: Analysis, records: Sequence[str], corrections: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the columns by which events are searched, by name, with the corrections in force."""
    corrected = [match_corrections(json.loads(record), corrections) if corrections else {} for record in records]
    rows = []
    for position, result in enumerate(analysis.events):
        event = result.event
        incident = analysis.incident_of(position)
        label = corrected[position].get("class", {}).get("label", "")
        tier, severity = rank_event(event)
        seconds, percent = curve_point(event) or (None, None)
        phases = " ".join(dict.fromkeys(event.phases)).strip() or " ".join(dict.fromkeys(event.channels))
        rows.append(
            {
                "position": position,
                "incident": None if incident is None else analysis.incidents.index(incident),
                "start": to_microseconds(event.at(analysis.start)),
                "type": event.type,
                "category": event.category,
                "label": result.label if label in ("", NOT_AN_EVENT) else label,
                "cause": _effective_cause(position, incident, corrected),
                "phases": file_text(phases),
                "system": file_text(event.system),
                "magnitude": event.magnitude if isfinite(event.magnitude) else None,
                "unit": event.unit,
                "duration": event.duration if isfinite(event.duration) else None,
                "seconds": seconds,
                "percent": percent,
                "tier": int(tier),
                "severity": severity if isfinite(severity) else 0.0,
                "hidden": int(label == NOT_AN_EVENT),
            }
        )
    return rows


def _effective_cause(
    position: int, incident: Incident | None, corrected: Sequence[Mapping[str, Mapping[str, Any]]]
) -> str:
    """The cause by hand of an event or of its incident, or else the one found."""
    positions = (position, *(() if incident is None else incident.events))
    by_hand = [corrected[i]["cause"]["label"] for i in positions if "cause" in corrected[i]]
    if by_hand:
        return str(by_hand[0])
    return incident.cause if incident is not None and incident.stages else ""


def match_corrections(
    event: Mapping[str, Any], corrections: Sequence[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the corrections in force of a stored event by what they correct; each has a ``record``, the event then."""
    matched = {}
    for correction in corrections:
        old = correction["record"]
        near = abs(old["start"] - event["start"]) <= _HALF_CYCLE / event["nominal_frequency"]
        if near and old["type"] == event["type"] and old["channels"] == event["channels"]:
            matched[correction["what"]] = correction
    return {what: correction for what, correction in matched.items() if correction["label"]}


def read_analysis(head: str, events: Iterable[str], incidents: Iterable[str], path: str) -> Analysis:
    """Restore an analysis, or raise a PqswarmError or ValueError."""
    plain = json.loads(head)
    plain["path"] = path
    plain["events"] = [json.loads(record) for record in events]
    plain["incidents"] = [json.loads(record) for record in incidents]
    return Analysis.of(plain)


def is_same_event(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a stored event was found again in the same recording, perhaps with other numbers."""
    same_place = all(old[name] == new[name] for name in ("type", "phases", "system"))
    return same_place and abs(old["start"] - new["start"]) <= _NEAR


def has_same_numbers(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
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
