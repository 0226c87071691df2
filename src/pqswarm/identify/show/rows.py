"""An event as pages, figures, sheets and the command line show it: plain functions of its result or row."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from math import isfinite
from typing import Any

from pqswarm._base.text import voltage_text
from pqswarm.identify.agreement import in_words
from pqswarm.identify.analysis import Analysis, EventResult, duration_text, magnitude_text, time_text
from pqswarm.identify.tolerance import RMS
from pqswarm.measure.event import EVENT_TYPES, Event, event_time
from pqswarm.measure.incidents.stages import Incident

COLORS = {
    "interruption": "#d1344b",
    "sag": "#0b6fd6",
    "swell": "#d24b00",
    "transient": "#9e5a9e",
    "rapid voltage change": "#b4ac00",
    "harmonics": "#5abb8e",
    "notching": "#1e7870",
    "flicker": "#da9e5a",
    "DC offset": "#5a783c",
    "unbalance": "#00b4da",
    "frequency": "#7d8b00",
}
"""Colors of the types of events."""
LONGEST_SHOWN = 60.0
"""Maximum length shown of an event [s]."""


def row_title(found: EventResult) -> str:
    """Return the title of the type."""
    return EVENT_TYPES[found.event.type]


def row_color(found: EventResult) -> str:
    """Return the color of the type."""
    return COLORS[found.event.type]


def shown_interval(event: Event) -> tuple[float, float]:
    """Return what is shown of a recording [s]: an event with a margin around it, or some cycles of a steady one."""
    cycle = 1 / event.nominal_frequency
    end = event.end if isfinite(event.end) else event.start
    if event.type in (*RMS, "transient", "rapid voltage change"):
        lead = max(3 * cycle, min(0.25 * (end - event.start), 1.0))
        return event.start - lead, min(end + lead, event.start - lead + LONGEST_SHOWN)
    middle = (event.start + end) / 2
    half = (25 if event.type == "flicker" else 5) * cycle
    return middle - half, middle + half


def row_date(found: EventResult, start: datetime | None) -> str:
    """Return the date of the event, given the time of the first sample; empty if unknown."""
    return time_text(found.event.at(start))[:10]


def row_moment(found: EventResult, start: datetime | None) -> str:
    """Return date and time, or the time after the first sample."""
    return time_text(found.event.at(start)) or f"{found.event.start:.3f} s after the first sample"


def row_phases(found: EventResult) -> str:
    """Return the phases, or channels, and the system."""
    event = found.event
    text = ", ".join(dict.fromkeys(part.phase or part.channel for part in event.parts))
    return f"{text} of {event.system}" if event.system else text


def row_sort_magnitude(found: EventResult) -> str:
    """Return the magnitude as a fraction of one, to sort by."""
    event = found.event
    size = event.magnitude if event.unit == "pu" else event.magnitude / 100
    return f"{size:.6g}" if isfinite(size) else ""


def row_duration(found: EventResult) -> str:
    """Return the duration as text."""
    event = found.event
    return duration_text(event.duration, event.nominal_frequency, cut=event.cut_start or event.cut_end)


def event_sentence(found: EventResult) -> str:
    """Return what, where, how much and how long; the magnitude with its voltage."""
    event = found.event
    words = [f"{event.category or row_title(found)} on {event.where}", magnitude_text(event), row_duration(found)]
    return ", ".join(filter(None, words))


def timeline_lines(incident: Incident) -> list[str]:
    """Return what happened at each time of an incident, said once with all its sources."""
    at_once = groupby(incident.timeline, key=lambda one: (one.time, one.what))
    return [f"{time:.4f} s  {what} ({', '.join(one.source for one in own)})" for (time, what), own in at_once]


def line_heading(analysis: Analysis) -> str:
    """Return the heading of the events of a recording: station, date, file, and place in it."""
    path = analysis.path
    source = analysis.source
    start = analysis.events[0].event.start if analysis.events else 0.0
    date = time_text(event_time(analysis.start, start))[:10]
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    place = f"{path}{source.removeprefix(name)}" if name and source.startswith(name) else path or source
    return ", ".join(filter(None, (analysis.station, date, place))) or "recording"


def text_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each event, in columns: time, type, phases, magnitude, duration, cause, class, correction."""
    cells = [_text_line_cells(row) for row in rows]
    used = [i for i in range(len(cells[0])) if any(row[i] for row in cells)] if cells else []
    cells = [tuple(row[i] for i in used) for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(used))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _text_line_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = str(row["category"] or row["type"])
    if row["sag_type"]:
        what += f" (type {row['sag_type']})"
    where = " ".join(sorted(str(row["phases"]).split())) or str(row["channels"])
    where += f" of {row['system']}" if row["system"] else ""
    seconds = row["duration_s"]
    return (
        f"{row['date']} {row['time']}" if row["time"] else f"+{row['offset_s'] or 0:.3f} s",
        what,
        where,
        _line_magnitude(row["magnitude"], str(row["unit"]), row["volts"]),
        duration_text(seconds, row["cycles"] / seconds, cut=bool(row["cut"])) if seconds and row["cycles"] else "",
        str(row["cause"]),
        in_words(row["label"] or row["rule_label"]),
        str(row["correction"]),
    )


def _line_magnitude(value: Any, unit: str, volts: Any) -> str:
    if value is None or not isfinite(value):
        return ""
    if unit != "pu":
        return f"{value:.3g} {unit}"
    return f"{value:.2f} pu" + (f" ({voltage_text(volts)})" if isinstance(volts, float) else "")
