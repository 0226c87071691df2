"""What people said about an analysis, applied to it: classes, causes, what is no event, and notes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pqswarm._base.text import count_text, file_text
from pqswarm.identify.analysis import Analysis
from pqswarm.measure import Event
from pqswarm.measure.incidents.stages import Incident, order_in_time

_HALF_CYCLE = 0.5
"""Cycles by which the start of a corrected event may differ."""


def apply_corrections(
    analysis: Analysis, corrections: Sequence[Mapping[str, Any]], notes: Iterable[Mapping[str, Any]] = ()
) -> Analysis:
    """Return an analysis with the corrections in force, whatever was in force before, and with notes as remarks.

    `corrections` are in order, each with the event as it was then (``record``); an empty ``label`` withdraws. The last
    one about an event, or for causes about any event of an incident, holds.
    """
    events = []
    for result in analysis.events:
        found = replace(result, by_hand="", correction="")
        said = _correction_in_force("class", [result.event], corrections)
        events.append(replace(found, **_signed(said, found.class_in_words)))
    incidents = []
    for incident in (*analysis.incidents, *_incidents_of_single_events(analysis)):
        found_incident = replace(incident, by_hand="", correction="")
        said = _correction_in_force("cause", [analysis.events[i].event for i in incident.events], corrections)
        if said or incident in analysis.incidents:
            incidents.append(replace(found_incident, **_signed(said, found_incident.verdict)))
    return replace(
        analysis,
        events=tuple(events),
        incidents=tuple(sorted(incidents, key=order_in_time)),
        remarks=tuple(map(note_text, notes)),
    )


def _incidents_of_single_events(analysis: Analysis) -> list[Incident]:
    """Incidents for the events that have none, as in analyses that were put together by hand."""
    return [
        Incident("unknown", 0.0, (), (), (i,), result.event.start, result.event.end)
        for i, result in enumerate(analysis.events)
        if analysis.incident_of(i) is None
    ]


def _correction_in_force(
    what: str, events: Sequence[Event], corrections: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The last correction of the class or cause of one of some events; empty if there is none, or it was withdrawn."""
    about = [
        one for one in corrections if one["what"] == what and any(_is_about(one["record"], event) for event in events)
    ]
    return about[-1] if about and about[-1]["label"] else {}


def _is_about(old: Mapping[str, Any], event: Event) -> bool:
    """Whether an event is the one that was corrected, perhaps with other numbers."""
    is_near = bool(abs(old["start"] - event.start) <= _HALF_CYCLE / event.nominal_frequency)
    return is_near and old["type"] == event.type and old["channels"] == list(map(file_text, event.channels))


def _signed(correction: Mapping[str, Any], found: str) -> dict[str, Any]:
    """A correction as the fields of a record: what a person said, and who, when, why, and what was found."""
    if not correction:
        return {}
    why = " ".join(correction["note"].split())
    text = f"corrected by {correction['by']} on {correction['at'][:10]}{f' ({why})' if why else ''}; found: {found}"
    return {"by_hand": correction["label"], "correction": text}


def note_text(note: Mapping[str, Any]) -> str:
    """Return a note with its stretch, its author and its date."""
    where = "" if note["start"] is None else f"{note['start']:.4g} to {note['end']:.4g} s: "
    return f"{where}{' '.join(note['text'].split())} ({note['by']}, {note['at'][:10]})"


def leave_out_hidden(analysis: Analysis) -> Analysis:
    """Return an analysis to be passed on: without what a person called no event, but with a remark about it."""
    hidden = [one for one in analysis.events if one.is_hidden]
    if not hidden:
        return analysis
    shown = analysis.only([i for i, one in enumerate(analysis.events) if not one.is_hidden])
    remarks = [f"Not an event: {one.event.sentence} ({one.correction})" for one in hidden]
    reason = "" if shown.events else f"{count_text(len(hidden), 'event')} found, but called no event by hand"
    return replace(shown, remarks=(*analysis.remarks, *remarks), no_event_reason=reason)
