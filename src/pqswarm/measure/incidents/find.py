"""From the events of a recording to its incidents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.event import Event
from pqswarm.measure.incidents.causes import Facts, apply_rules, list_evidence
from pqswarm.measure.incidents.currents import FeederCurrents, measure_currents
from pqswarm.measure.incidents.record import Incident, Stage, order_in_time
from pqswarm.measure.incidents.stages import Trace, find_stages
from pqswarm.measure.supply.survey import Supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource

_LEVELS = ("interruption", "sag", "swell")
_MOVING = (*_LEVELS, "transient", "rapid voltage change")
_GAP = {event_type: 0.5 if event_type in _LEVELS else 0.1 for event_type in _MOVING}  # tuned
"""Events that follow within this time belong together [s]."""
_RECLOSING = 30.0  # tuned
"""Faults on the same phases within this time are one, with reclosing [s]."""
_AFTER = 1.0
"""What follows an incident is looked at for this long [s]."""
_BEFORE = 0.1
_MAX_OPERATIONS = 6
"""Status changes that are listed: from this time before an incident on [s], and their maximum number."""
_BREAKER = re.compile(r"(?<![A-Za-z0-9])(52|CB|BRK|QF)|breaker|trip|reclos|(?<![a-z])(open|clos)", re.IGNORECASE)
"""Names of status channels of breakers and trips."""
_SAME_LEVEL = 0.15  # tuned
"""Levels of stages of one name that differ by less are the same [pu]."""
_WINDOW = 0.3  # tuned
"""A steady disturbance that starts within this time of an incident is part of it: it is measured in 10 cycles [s]."""


@dataclass(frozen=True, eq=False)
class IncidentFinder:
    """Finds the incidents of a recording; `urms` is Urms(1/2) [pu] of each supply voltage at `time` [s]."""

    recording: RecordingSource
    supply: Supply
    time: FloatArray
    urms: FloatArray
    thresholds: Thresholds
    events: Sequence[Event]

    def find(self) -> tuple[Incident, ...]:
        """Find the incidents, in order of time."""
        chains: list[list[Incident]] = []
        for group in self._join_steady(_group_moving(self.events)):
            one = self._make(group)
            if chains and _is_reclosing(chains[-1][-1], one, self.events):
                chains[-1].append(one)
            else:
                chains.append([one])
        found = (self._make([i for one in c for i in one.events]) if len(c) > 1 else c[0] for c in chains)
        return tuple(sorted(found, key=order_in_time))

    def _join_steady(self, groups: list[list[int]]) -> list[list[int]]:
        """Add the steady disturbances, which belong to an incident if they start with it, else are their own."""
        spans = [_span_of([self.events[i] for i in group]) for group in groups]
        for i, event in enumerate(self.events):
            if event.type in _MOVING:
                continue
            inside = (
                k
                for k, (start, end) in enumerate(spans)
                if start - _WINDOW < event.start < end + _WINDOW
                and (not event.cut_start or self._was_undistorted(groups[k]))
            )
            place = next(inside, None)
            if place is None:
                groups.append([i])
                spans.append((event.start, event.end))
            else:
                groups[place].append(i)
        return sorted(groups, key=lambda group: min(self.events[i].start for i in group))

    def _was_undistorted(self, group: Sequence[int]) -> bool:
        """Whether the THD before an incident is known, and below its limit."""
        return any(self.events[i].details.get("thd_before", 1.0) < self.thresholds.thd for i in group)

    def _make(self, group: Sequence[int]) -> Incident:
        """The incident of some events."""
        order = sorted(group, key=lambda i: _weight(self.events[i]), reverse=True)
        events = [self.events[i] for i in order]
        start, end = _span_of([event for event in events if event.type in _MOVING] or events)
        trace = self._trace(events[0], start, end) if events[0].type in _MOVING else None
        facts = Facts(events, trace, self._currents(trace))
        rule = apply_rules(facts)
        stages = () if trace is None or not trace.time.size else find_stages(trace, self.thresholds)
        phases = feeder = ""
        if rule.cause == "fault":
            phases, feeder = _faulted(facts, stages, self.thresholds)
        stages, course = _name_course(stages, rule.cause)
        return Incident(
            cause=rule.cause,
            probability=rule.probability,
            evidence=(*list_evidence(facts), *self._operations(start, end)),
            stages=stages,
            events=tuple(order),
            start=start,
            end=end,
            course=course or rule.course,
            phases=phases,
            feeder=feeder,
        )

    def _operations(self, start: float, end: float) -> list[str]:
        """Operations of breakers and trips during an incident or soon after it, from status channels."""
        rate = self.recording.sampling_rate
        found = []
        for channel in self.recording.status:
            if _BREAKER.search(channel.name):
                for place, state in channel.changes:
                    if place > 0 and start - _BEFORE <= place / rate <= end + _AFTER:
                        found.append(
                            (place / rate, f"{channel.name} {'on' if state else 'off'} at {place / rate:.3f} s")
                        )
        return [text for _, text in sorted(found)[:_MAX_OPERATIONS]]

    @cached_property
    def _starts(self) -> FloatArray:
        """Starts of the events that move the voltage, in order [s]."""
        return np.sort([event.start for event in self.events if event.type in _MOVING])

    def _trace(self, main: Event, start: float, end: float) -> Trace | None:
        """Urms(1/2) of the system of the main event, from some cycles before it to what follows."""
        cycle = 1 / self.supply.frequency
        members = [i for i in range(len(self.supply.numbers)) if self.supply.system_of(i) == main.system]
        members = [i for i in members if self.supply.references[i].volts > 0]
        later = self._starts[np.searchsorted(self._starts, end + cycle, "right") :]
        stop = min(end + _AFTER, later[0] - cycle if later.size else np.inf)
        here = slice(int(np.searchsorted(self.time, start - 0.5)), int(np.searchsorted(self.time, stop)))
        if not members or here.stop - here.start < 2:
            return None
        labels = tuple(self.supply.headers[i].phase or self.supply.headers[i].name for i in members)
        return Trace(self.time[here], _hold(self.urms[members][:, here]), labels, start, end, cycle)

    def _currents(self, trace: Trace | None) -> tuple[FeederCurrents, ...]:
        """Currents before the incident and a cycle and a half after its start."""
        if trace is None or not any(one.is_current for one in self.recording.channels):
            return ()
        cycle = trace.cycle
        during = trace.start + cycle if trace.end - trace.start > 2 * cycle else trace.start + 0.25 * cycle
        return measure_currents(self.recording, trace.start - 2.5 * cycle, during, self.supply.frequency)


def _hold(rows: FloatArray) -> FloatArray:
    """The rows, with the last known value where one is unknown; 1 before the first."""
    known = np.isfinite(rows)
    if known.all():
        return rows
    places = np.maximum.accumulate(np.where(known, np.arange(rows.shape[1]), -1), axis=1)
    held = np.take_along_axis(np.where(known, rows, 1.0), np.maximum(places, 0), axis=1)
    return np.asarray(np.where(places >= 0, held, 1.0))


def _group_moving(events: Sequence[Event]) -> list[list[int]]:
    """Positions of the events that move the voltage, those that follow each other soon together."""
    groups: list[list[int]] = []
    end = -np.inf
    for i in sorted((i for i, e in enumerate(events) if e.type in _MOVING), key=lambda i: events[i].start):
        event = events[i]
        gap = max(_GAP[event.type], *(_GAP[events[k].type] for k in groups[-1])) if groups else 0.0
        if groups and event.start - end <= gap:
            groups[-1].append(i)
            end = max(end, event.end)
        else:
            groups.append([i])
            end = event.end
    return groups


def _span_of(events: Sequence[Event]) -> tuple[float, float]:
    return min(event.start for event in events), max(event.end for event in events)


def _weight(event: Event) -> tuple[int, float]:
    """The main event: a sag, swell or interruption first, the larger first."""
    if event.type in _LEVELS:
        return 3, abs(1 - event.magnitude)
    if event.type == "transient":
        return 2, event.magnitude
    return (1 if event.type == "rapid voltage change" else 0), abs(event.magnitude)


def _is_reclosing(first: Incident, second: Incident, events: Sequence[Event]) -> bool:
    """Whether two incidents are one fault, and its return after reclosing."""
    if not first.cause == second.cause == "fault" or second.start - first.end > _RECLOSING:
        return False
    phases = [{phase for i in one.events for phase in events[i].phases} for one in (first, second)]
    return bool(phases[0] & phases[1])


def _faulted(facts: Facts, stages: Sequence[Stage], thresholds: Thresholds) -> tuple[str, str]:
    """Faulted phases and feeder, by the currents if they rise, else by the voltages while some phase is live."""
    if facts.currents and facts.currents[0].ratio > 1.5:  # tuned
        return facts.currents[0].phases, facts.currents[0].feeder
    trace = facts.moving
    if trace is not None and facts.neutral_moves and all(len(name) == 1 for name in trace.labels):  # a fault to earth
        low = {name for name, dip in zip(trace.labels, trace.dips, strict=True) if dip > 0.5 * trace.dips.max()}
        return "".join(sorted(low)) + "G", ""
    live = [one.levels for one in stages if max(one.levels.values(), default=0.0) > thresholds.interruption]
    low = {phase for levels in live for phase, level in levels.items() if level < thresholds.sag}
    parts = [part for event in facts.events if event.type in ("sag", "interruption") for part in event.parts]
    known = {part.phase for part in parts or facts.main.parts} - {""}
    low = low & known or known  # no names of channels
    return ("".join(sorted(low)) if all(len(phase) == 1 for phase in low) else " ".join(sorted(low))), ""


_OTHER_STAGES = {
    "motor start": "the motor runs up",
    "transformer energising": "the inrush decays",
    "capacitor switching": "rings, then steady",
    "load switching": "another level",
}


def _are_alike(one: Stage, other: Stage) -> bool:
    """Whether two stages have the same levels."""
    return all(abs(level - other.levels.get(name, level)) < _SAME_LEVEL for name, level in one.levels.items())


def _name_course(stages: tuple[Stage, ...], cause: str) -> tuple[tuple[Stage, ...], str]:
    """Stages in the words of the cause, and how a fault goes on."""
    if cause in _OTHER_STAGES:
        first = replace(stages[0], name=_OTHER_STAGES[cause]) if stages else None
        return (() if first is None else (first, *stages[1:])), ""
    if cause != "fault":
        return stages, ""
    named: list[Stage] = []
    opened = closed = again = evolves = False
    for stage in stages:
        name = stage.name
        if name == "interruption":
            opened = True
            closed = False
        elif name == "restored":
            closed = True
            name = "reclosed" if opened else "cleared"
        elif closed or opened:
            again = True
            name = f"reclosed onto the fault: {name}"
        elif any(one.name.startswith("fault") for one in named):
            evolves = True
            name = f"fault evolves: {name}"
        else:
            name = f"fault: {name}"
        if named and named[-1].name == name and _are_alike(named[-1], stage):
            named[-1] = replace(named[-1], end=stage.end)
        else:
            named.append(replace(stage, name=name))
    successful = bool(named) and named[-1].name in ("reclosed", "cleared")
    if again or (opened and successful):
        return tuple(named), f"reclosing, {'successful' if successful else 'unsuccessful'}"
    return tuple(named), "cleared by interruption" if opened else "evolving" if evolves else ""
