"""An event as text, table, page and JSON show it: plain functions of its analysis."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from pqswarm.identify.agreement import in_words
from pqswarm.identify.show.curves import COLORS, RMS, rank_event
from pqswarm.identify.show.words import clock_text, duration_text, magnitude_text, time_text, to_milliseconds
from pqswarm.measure.event import EVENT_TYPES, event_time

if TYPE_CHECKING:
    from pqswarm.identify.analysis import Analysis, EventResult
    from pqswarm.measure import Event
    from pqswarm.measure.incidents.record import Incident

LONGEST_SHOWN = 60.0
"""Maximum length shown of an event [s]."""


def row_title(found: "EventResult") -> str:
    """Return the title of the type."""
    return EVENT_TYPES[found.event.type]


def row_color(found: "EventResult") -> str:
    """Return the colour of the type."""
    return COLORS[found.event.type]


def row_severity(found: "EventResult") -> tuple[float, float]:
    """Return the sort key of severity, the worst event highest: see :func:`rank_event`."""
    return rank_event(found.event)


def row_curve_point(found: "EventResult") -> tuple[float, float] | None:
    """Return duration [s] and voltage [%] on a tolerance curve, of a transient decay and peak; None if none."""
    return plain_curve_point(vars(found.event))


def plain_curve_point(event: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the same from the attributes of an event."""
    details = event["details"]
    if event["type"] in RMS and event["magnitude"] is not None:
        seconds, percent = round(event["duration"], 3), round(100 * event["magnitude"], 1)
    elif event["type"] == "transient":
        seconds, percent = details.get("decay") or nan, 100 * (details.get("peak_voltage") or nan)
        percent = percent if percent > 100 else nan
    else:
        return None
    return (seconds, percent) if seconds > 0 and isfinite(seconds) and isfinite(percent) else None


def shown_interval(event: "Event") -> tuple[float, float]:
    """Return what is shown of a recording [s]: an event with a margin around it, or some cycles of a steady one."""
    cycle, end = 1 / event.nominal_frequency, event.end if isfinite(event.end) else event.start
    if event.type in (*RMS, "transient", "rapid voltage change"):
        lead = max(3 * cycle, min(0.25 * (end - event.start), 1.0))
        return event.start - lead, min(end + lead, event.start - lead + LONGEST_SHOWN)
    middle, half = (event.start + end) / 2, (25 if event.type == "flicker" else 5) * cycle
    return middle - half, middle + half


def row_date(found: "EventResult", start: "datetime | None") -> str:
    """Return the date of the event, given the time of the first sample; empty if unknown."""
    return time_text(found.event.at(start))[:10]


def row_clock(found: "EventResult", start: "datetime | None") -> str:
    """Return the time of day to the millisecond, or the time from the first sample: ``"+0.275 s"``."""
    return clock_text(found.event.at(start)) or f"+{found.event.start:.3f} s"


def row_moment(found: "EventResult", start: "datetime | None") -> str:
    """Return date and time, or the time after the first sample."""
    return time_text(found.event.at(start)) or f"{found.event.start:.3f} s after the first sample"


def row_phases(found: "EventResult") -> str:
    """Return the phases, or channels, and the system."""
    event = found.event
    text = ", ".join(dict.fromkeys(part.phase or part.channel for part in event.parts))
    return f"{text} of {event.system}" if event.system else text


def row_sort_magnitude(found: "EventResult") -> str:
    """Return the magnitude as a fraction of one, to sort by."""
    event = found.event
    size = event.magnitude if event.unit == "pu" else event.magnitude / 100
    return f"{size:.6g}" if isfinite(size) else ""


def row_duration(found: "EventResult") -> str:
    """Return the duration as text."""
    event = found.event
    return duration_text(event.duration, event.nominal_frequency, cut=event.cut_start or event.cut_end)


def row_model_class(found: "EventResult") -> str:
    """Return the class by the model with its probability, ``"unknown"``, or nothing."""
    if not found.label or not found.known:
        return found.label
    return f"{in_words(found.label)}, {100 * found.probability:.0f} %"


def row_agreement(found: "EventResult") -> str:
    """Return how rules and model compare, in a word or two."""
    return found.agreement.partition(":")[0]


def event_sentence(found: "EventResult") -> str:
    """Return what, where, how much and how long; the magnitude with its voltage."""
    event = found.event
    words = [f"{event.category or row_title(found)} on {event.where}", magnitude_text(event), row_duration(found)]
    return ", ".join(filter(None, words))


def incident_text(incident: "Incident") -> str:
    """Return the cause, its probability and the evidence in one line."""
    sure = "" if incident.cause == "unknown" else f" ({100 * incident.probability:.0f} %)"
    return f"{incident.title}{sure}: {'; '.join(incident.evidence)}"


def incident_lines(analysis: "Analysis", below: Sequence[str]) -> list[str]:
    """Return a line for each incident with a cause and, below it, the lines of its events, or why there is none."""
    if not analysis.events:
        return [f"  {analysis.no_event_reason}"]
    if not analysis.incidents:
        return [f"  {line}" for line in below]
    lines = []
    for incident in analysis.incidents:
        if incident.stages:
            clock = row_clock(analysis.events[min(incident.events)], analysis.start)
            lines.append(f"  {clock}  {incident_text(incident)}")
        lines += [f"{'    ' if incident.stages else '  '}{below[i]}" for i in sorted(incident.events)]
    return lines


def event_row(analysis: "Analysis", position: int) -> dict[str, Any]:
    """Return an event of an analysis as a plain dict with the keys of :data:`pqswarm.identify.COLUMNS`."""
    incident = analysis.incident_of(position)
    of: dict[str, Any] | None = None
    if incident is not None:
        of = {"number": analysis.incidents.index(incident) + 1, "is_main": incident.events[0] == position}
        of |= {"title": incident.title, "probability": incident.probability}
    head = {**vars(analysis), "start": None if analysis.start is None else analysis.start.isoformat()}
    return plain_event_row(head, analysis.events[position].as_dict(), of)


def plain_event_row(
    head: Mapping[str, Any], found: Mapping[str, Any], incident: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the row of an event from stored values: of its analysis, of itself, and of its incident."""
    first = None if head["start"] is None else datetime.fromisoformat(head["start"])
    when = to_milliseconds(event_time(first, found["start"]))
    ranked = list(found["probabilities"].items())
    second, second_probability = ranked[1] if len(ranked) > 1 else ("", 0.0)
    is_main = incident is not None and incident["is_main"]
    magnitude, reference, unit = found["magnitude"], found["reference"], found["unit"]
    peak = 2**0.5 if found["type"] == "transient" else 1.0
    has_volts = unit == "pu" and magnitude is not None and reference is not None
    return {
        "source": head["source"],
        "path": head["path"],
        "station": head["station"],
        "date": "" if when is None else f"{when:%Y-%m-%d}",
        "time": "" if when is None else when.isoformat(timespec="milliseconds")[11:],
        "offset_s": round(found["start"], 6),
        "incident": "" if incident is None else incident["number"],
        "cause": incident["title"] if incident is not None and is_main else "",
        "cause_probability": round(incident["probability"], 3) if incident is not None and is_main else "",
        "type": found["type"],
        "category": found["category"],
        "phases": " ".join(dict.fromkeys(found["phases"])).strip(),
        "channels": "; ".join(dict.fromkeys(found["channels"])),
        "system": "; ".join((found["system"], *found["also"])),
        "magnitude": nan if magnitude is None else float(f"{magnitude:.4g}"),
        "unit": unit,
        "volts": float(f"{magnitude * reference * peak:.6g}") if has_volts else "",
        "duration_s": nan if found["duration"] is None else round(found["duration"], 6),
        "cycles": nan if found["cycles"] is None else round(found["cycles"], 2),
        "sag_type": found["sag_type"],
        "class": found["class"] or "",
        "probability": "" if found["probability"] is None else round(found["probability"], 3),
        "runner_up": second,
        "runner_up_probability": round(second_probability, 3) if second else "",
        "rule_class": found["rule_class"],
        "agreement": found["agreement"],
        "sentence": found["sentence"],
        "reference_volts": nan if reference is None else float(f"{reference:.6g}"),
        "reference": found["reference_source"],
        "frequency": round(head["frequency"], 3),
        "sampling_rate": float(f"{head['sampling_rate']:.8g}"),
        "caveats": " ".join(head["caveats"]),
    }
