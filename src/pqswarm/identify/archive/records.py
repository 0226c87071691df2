"""Analyses as rows of an archive and back: the only place where they are written and read."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

import numpy as np

from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.show.curves import ITIC, SEMI, rank_event
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.show.rows import plain_event_row, row_curve_point
from pqswarm.measure.event import EVENT_TYPES
from pqswarm.measure.incidents.record import Incident

EPOCH = datetime(1970, 1, 1)
NO_TIME = -(2**62)
"""Start of an event of a recorder without a clock [us]."""
TYPE_NAMES = tuple(EVENT_TYPES)
NOT_AN_EVENT = "not an event"
"""Correction of an event that is none."""
PACKED = np.dtype(
    [
        *(("start", "<i8"), ("number", "<i8"), ("recording", "<i4"), ("owner", "<i4"), ("station", "<i4")),
        *(("class", "<i4"), ("cause", "<i4"), ("system", "<i4"), ("magnitude", "<f4"), ("duration", "<f4")),
        *(("seconds", "<f4"), ("percent", "<f4"), ("severity", "<f4"), ("type", "u1"), ("tier", "u1"), ("flags", "u1")),
    ]
)
"""What queries need of an event: its start [us], IDs of words, magnitude, duration [s], severity, and its point on a
tolerance curve: duration [s] and voltage [%]."""
HIDDEN, BELOW_ITIC, BELOW_SEMI, IS_MAIN = 1, 2, 4, 8
"""Bits of ``flags``: not an event by a person; below a tolerance curve; the main event of its incident."""
_HALF_CYCLE = 0.5
"""Cycles by which the start of a corrected event may differ."""
_NEAR = 0.1
"""Time by which an event may start earlier or later when its file has grown [s]."""


@dataclass(frozen=True)
class EventRow:
    """An event as it is stored: its record, its incident, what a person said about it, and values for queries."""

    found: EventResult
    record: str
    incident: int | None
    start: int | None
    label: str
    cause: str
    hidden: bool
    is_main: bool

    def columns(self) -> tuple[Any, ...]:
        """Return the values of the table of events from ``incident`` on."""
        event, (tier, severity) = self.found.event, rank_event(self.found.event)
        phases = " ".join(dict.fromkeys(event.phases)).strip() or " ".join(dict.fromkeys(event.channels))
        return (
            *(self.incident, self.start, event.type, event.category, self.label, self.cause, file_text(phases)),
            *(file_text(event.system), _finite(event.magnitude), event.unit, _finite(event.duration), int(tier)),
            *(severity if isfinite(severity) else 0.0, int(self.hidden)),
        )

    def pack(self, number: int, recording: int, owner: int, station: int, words: Mapping[str, int]) -> tuple[Any, ...]:
        """Return the values of PACKED."""
        event, (tier, severity) = self.found.event, rank_event(self.found.event)
        point = row_curve_point(self.found)
        seconds, percent = point or (0.0, 100 * event.magnitude)
        low = event.type in ("sag", "interruption")
        flags = HIDDEN * self.hidden + IS_MAIN * self.is_main
        flags += BELOW_ITIC * (low and ITIC.place(percent, seconds) == "below")
        flags += BELOW_SEMI * (low and SEMI.place(percent, seconds) == "below")
        return (
            *(NO_TIME if self.start is None else self.start, number, recording, owner, station),
            *(words[self.label], words[self.cause], words[file_text(event.system)], event.magnitude, event.duration),
            *(seconds if point else np.nan, percent if point else np.nan, severity),
            *(TYPE_NAMES.index(event.type), int(tier), flags),
        )


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def to_microseconds(moment: datetime | None) -> int | None:
    """Return a time of day of the recorder as microseconds since 1970, without its zone."""
    return None if moment is None else (moment.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)


def from_microseconds(moment: int | None) -> str | None:
    """Return such a time as ISO 8601."""
    if moment is None or moment == NO_TIME:
        return None
    try:
        return (EPOCH + timedelta(microseconds=int(moment))).isoformat(timespec="milliseconds")
    except OverflowError:
        return None


def read_moment(text: str) -> int:
    """Return a time of a selection, such as ``2026-03`` or ``2026-03-02T10:15``, in microseconds."""
    try:
        padded = f"{text}-01-01"[:10] if len(text) in (4, 7) else text
        found = to_microseconds(datetime.fromisoformat(padded))
    except ValueError:
        raise PqswarmError(f"{text[:40]!r} is not a date such as 2026-03-02.") from None
    return found or 0


def head_record(analysis: Analysis) -> str:
    """Return what is stored of an analysis besides its events and incidents."""
    return json_text({k: value for k, value in analysis.as_dict().items() if k not in ("events", "incidents", "path")})


def event_rows(analysis: Analysis, corrections: Sequence[Mapping[str, Any]]) -> list[EventRow]:
    """Return the events of an analysis with the corrections in force."""
    texts = [json_text(found.as_dict()) for found in analysis.events]
    said = [match_corrections(json.loads(text), corrections) if corrections else {} for text in texts]
    rows = []
    for position, (found, text) in enumerate(zip(analysis.events, texts, strict=True)):
        incident = analysis.incident_of(position)
        own = () if incident is None else incident.events
        by_hand = next((said[i]["cause"]["label"] for i in (position, *own) if "cause" in said[i]), "")
        label = said[position].get("class", {}).get("label", "")
        rows.append(
            EventRow(
                found,
                text,
                None if incident is None else analysis.incidents.index(incident),
                to_microseconds(found.event.at(analysis.start)),
                found.label if label in ("", NOT_AN_EVENT) else label,
                by_hand or ("" if incident is None or not incident.stages else incident.cause),
                label == NOT_AN_EVENT,
                incident is None or incident.events[0] == position,
            )
        )
    return rows


def match_corrections(
    event: Mapping[str, Any], corrections: Sequence[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the corrections in force of a stored event by what they correct; each has a ``record``, the event then."""
    matched = {}
    for one in corrections:
        old = one["record"]
        near = abs(old["start"] - event["start"]) <= _HALF_CYCLE / event["nominal_frequency"]
        if near and old["type"] == event["type"] and old["channels"] == event["channels"]:
            matched[one["what"]] = one
    return {what: one for what, one in matched.items() if one["label"]}


def read_analysis(head: str, events: Iterable[str], incidents: Iterable[str], path: str) -> Analysis:
    """Restore an analysis, or raise a PqswarmError or ValueError."""
    plain = {**json.loads(head), "path": path, "events": [json.loads(one) for one in events]}
    return Analysis.of(plain | {"incidents": [json.loads(one) for one in incidents]})


def incident_record(incident: Incident) -> str:
    """Return what is stored of an incident."""
    return json_text({key: value for key, value in incident.as_dict().items() if key != "events"})


def stored_row(
    head: Mapping[str, Any], record: Mapping[str, Any], incident: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the row of a stored event, with the keys of :data:`pqswarm.identify.COLUMNS`, for strict JSON."""
    row: dict[str, Any] = json.loads(json_text(plain_event_row(head, record, incident)))
    return row


def is_same_event(old: Mapping[str, Any], new: EventResult) -> bool:
    """Whether an event is the one that was found before in the same recording, perhaps with other numbers."""
    event = new.event
    names = (event.type, [file_text(one) for one in event.phases], file_text(event.system))
    return (old["type"], old["phases"], old["system"]) == names and abs(old["start"] - event.start) <= _NEAR


def has_same_numbers(old: Mapping[str, Any], new: EventResult) -> bool:
    """Whether magnitude, duration and category are those told before."""
    now = json.loads(json_text(new.as_dict()))

    def told(one: Mapping[str, Any]) -> tuple[Any, ...]:
        sizes = (f"{one['magnitude'] or 0:.3g}", f"{one['duration'] or 0:.4f}")
        return one["category"], *sizes, one["cut_start"], one["cut_end"]

    return told(old) == told(now)
