"""Archives of schema 1 become archives of schema 2: other names, each event once, none where nothing happened."""

import json
import sqlite3
from typing import Any

from pqswarm._base.text import json_text
from pqswarm.identify.analysis import EventResult
from pqswarm.identify.tolerance import curve_point

_KEYS = {
    "kind": "type",
    "class": "label",
    "rule_class": "rule_label",
    "reference": "reference_volts",
    "event_numbers": "events",
}
_STATES = {
    "live": "connected",
    "dead throughout": "disconnected",
    "dead for a part": "partial",
    "calculated": "derived",
    "not of the supply": "auxiliary",
}
_NOTHING = "SELECT number FROM events WHERE kind = 'none'"
_IS_NOTHING = "json_extract(record, '$.kind') = 'none'"
_STEPS = (
    "UPDATE recording_records SET record = json_set(record, '$.no_event_reason', json_extract((SELECT e.record FROM "
    f"event_records AS e JOIN events USING (number) WHERE number IN ({_NOTHING}) AND "
    "events.recording = recording_records.recording), '$.sentence')) "
    "WHERE recording IN (SELECT recording FROM events WHERE kind = 'none')",
    f"DELETE FROM event_records WHERE number IN ({_NOTHING})",
    "DELETE FROM events WHERE kind = 'none'",
    "INSERT INTO notes (content, position, text, author, at, removed) SELECT content, position, "
    f"'No event was found; corrected to ' || label || '. ' || note, author, at, '' FROM corrections "
    f"WHERE {_IS_NOTHING}",
    f"DELETE FROM corrections WHERE {_IS_NOTHING}",
    "ALTER TABLE contents RENAME COLUMN analyser TO analyzer",
    "ALTER TABLE events RENAME COLUMN kind TO type",
    "ALTER TABLE events RENAME COLUMN class TO label",
    "ALTER TABLE events ADD COLUMN seconds REAL",
    "ALTER TABLE events ADD COLUMN percent REAL",
    "DROP TABLE words",
    "DROP TABLE recording_events",
    "UPDATE recording_records SET record = renamed(record) WHERE record != ''",
    "UPDATE incidents SET record = renamed(record)",
    "UPDATE event_records SET record = renamed_event(record)",
    "UPDATE corrections SET record = renamed_event(record)",
    "UPDATE events SET seconds = curve_value(r.record, 0), percent = curve_value(r.record, 1) "
    "FROM event_records AS r WHERE r.number = events.number",
    "UPDATE recordings SET revision = (SELECT last + 1 FROM revisions)",
    "UPDATE revisions SET last = last + 1",
)
"""Corrections of what was no event become notes: there is nothing left that they could correct."""


def migrate(database: sqlite3.Connection) -> None:
    """Convert an archive of schema 1, in a transaction."""
    database.create_function("renamed", 1, lambda text: json_text(_renamed(json.loads(text))), deterministic=True)
    database.create_function("renamed_event", 1, _renamed_event, deterministic=True)
    database.create_function("curve_value", 2, _curve_value, deterministic=True)
    for step in _STEPS:
        database.execute(step)


def _renamed(value: Any) -> Any:
    """The same with the names of today."""
    if isinstance(value, list):
        return [_renamed(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    renamed = {_KEYS.get(key, key): _renamed(entry) for key, entry in value.items()}
    if renamed.get("state") in _STATES:
        renamed["state"] = _STATES[renamed["state"]]
    return renamed


def _renamed_event(text: str) -> str:
    return json_text(EventResult.of(_renamed(json.loads(text))).as_dict())


def _curve_value(text: str, place: int) -> float | None:
    point = curve_point(EventResult.of(json.loads(text)).event)
    return None if point is None else point[place]
