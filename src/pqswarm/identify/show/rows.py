"""An event as pages, figures and sheets show it: plain functions of its result."""

from math import isfinite
from typing import TYPE_CHECKING

from pqswarm.identify.agreement import in_words
from pqswarm.identify.show.colors import COLORS
from pqswarm.identify.tolerance import RMS
from pqswarm.identify.words import duration_text, magnitude_text, time_text
from pqswarm.measure.event import EVENT_TYPES

if TYPE_CHECKING:
    from datetime import datetime

    from pqswarm.identify.analysis import EventResult
    from pqswarm.measure import Event

LONGEST_SHOWN = 60.0
"""Maximum length shown of an event [s]."""


def row_title(found: "EventResult") -> str:
    """Return the title of the type."""
    return EVENT_TYPES[found.event.type]


def row_color(found: "EventResult") -> str:
    """Return the color of the type."""
    return COLORS[found.event.type]


def shown_interval(event: "Event") -> tuple[float, float]:
    """Return what is shown of a recording [s]: an event with a margin around it, or some cycles of a steady one."""
    cycle = 1 / event.nominal_frequency
    end = event.end if isfinite(event.end) else event.start
    if event.type in (*RMS, "transient", "rapid voltage change"):
        lead = max(3 * cycle, min(0.25 * (end - event.start), 1.0))
        return event.start - lead, min(end + lead, event.start - lead + LONGEST_SHOWN)
    middle = (event.start + end) / 2
    half = (25 if event.type == "flicker" else 5) * cycle
    return middle - half, middle + half


def row_date(found: "EventResult", start: "datetime | None") -> str:
    """Return the date of the event, given the time of the first sample; empty if unknown."""
    return time_text(found.event.at(start))[:10]


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
