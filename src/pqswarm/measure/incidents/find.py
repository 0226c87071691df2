"""From the events of a recording to its incidents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.scan import SourceMeanSquare
from pqswarm.measure.detect.spans import locate_last_change, locate_step
from pqswarm.measure.event import Event
from pqswarm.measure.incidents.causes import (
    CauseFacts,
    FeederCurrents,
    apply_cause_rules,
    cell_probability,
    list_evidence,
    measure_change,
    measure_currents,
    measure_jump,
    name_cell,
)
from pqswarm.measure.incidents.stages import (
    Incident,
    IncidentStage,
    Operation,
    StepFinder,
    Trace,
    find_stages,
    order_in_time,
)
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
_AHEAD = 0.5
_FEWEST = 5
"""What precedes it [s], and the fewest values of the frequency that follow it by which a change of it is known."""
_BEFORE = 0.1
_MAX_OPERATIONS = 40
_MAX_SAID = 6
"""Status changes that are listed: from this time before an incident on [s], their maximum number, and in evidence."""
_OPERATIONS = (
    (
        re.compile(
            r"sup(er)?v|health|monitor|(?<![a-z])TC[SM](?![a-z])|(?<![0-9])74|(circuit|coil|ckt) *(ok|fail)", re.I
        ),
        "",
        "",
    ),
    (re.compile(r"ready|block|enabled|disabled|in service", re.I), "", ""),
    (re.compile(r"reclos|(?<![0-9])79(?![0-9])", re.I), "close", "reset"),
    (re.compile(r"trip", re.I), "trip", "reset"),
    (re.compile(r"(?<![A-Za-z0-9])52-?b|(?<![a-z])open", re.I), "open", "close"),
    (re.compile(r"(?<![A-Za-z0-9])(52|CB|BRK|QF)|breaker|(?<![a-z])clos", re.I), "close", "open"),
    (re.compile(r"pick-?_? ?up|(?<![a-z])start(?![a-z])|(?<![a-z])pu(?![a-z])", re.I), "pickup", "reset"),
)
"""Names of status channels of relays and breakers, and what it means that one is on, and off; nothing, where it tells
of the state of a device."""
_DIPS = 0.25  # tuned
_CARRIES = 0.03  # tuned
_COLLAPSE = 0.6  # tuned
_KEPT = 0.95  # tuned
"""Dip of a faulted phase over the deepest one; change of the current of a phase in an earth fault, over the largest;
levels of a phase that has a fault to earth, and of the others, which keep their voltage [pu]."""
_ENDS = ("cleared", "interruption", "reclosed")
"""Names of stages in which a fault is over."""
_FALLS = 0.25  # tuned
"""Fraction of its level to which a phase falls at most that is opened."""
_CHANGES = 0.5  # tuned
_BEGINS = 0.15  # tuned
_SLOW = 0.6  # tuned
"""Change of a voltage from cycle to cycle, over its largest, at the end of a fault, and where the end begins; cycles
from there to the step of Urms(1/2) after which the neutral swings slowly."""
_WINDOW = 0.3  # tuned
"""A steady disturbance that starts within this time of an incident is part of it: it is measured in 10 cycles [s]."""


@dataclass(frozen=True, eq=False)
class IncidentFinder:
    """Finds the incidents of a recording; `urms` is Urms(1/2) [pu] of each supply voltage at `time` [s]."""

    recording: RecordingSource
    supply: Supply
    time: FloatArray
    urms: FloatArray
    frequency: FloatArray
    thresholds: Thresholds
    events: Sequence[Event]

    def find(self) -> tuple[Incident, ...]:
        """Find the incidents, in order of time."""
        chains: list[list[Incident]] = []
        for group in self._join_steady(_group_into_incidents(self.events)):
            one = self._make(group)
            if chains and _is_reclosing_incident(chains[-1][-1], one, self.events):
                chains[-1].append(one)
            else:
                chains.append([one])
        incidents = (
            self._make([i for one in chain for i in one.events]) if len(chain) > 1 else chain[0] for chain in chains
        )
        return tuple(sorted(incidents, key=order_in_time))

    def _join_steady(self, groups: list[list[int]]) -> list[list[int]]:
        """Add the steady disturbances, which belong to an incident if they start with it, else are their own."""
        spans = [_incident_span([self.events[i] for i in group]) for group in groups]
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
        """Whether the THD before an incident is below its limit, or the record is too short to tell."""
        unknown = 0.0 if 0 < min(self.events[i].start for i in group) < _WINDOW else np.inf
        return any(self.events[i].details.get("thd_before", unknown) < self.thresholds.thd for i in group)

    def _make(self, group: Sequence[int]) -> Incident:
        """The incident of some events."""
        order = sorted(group, key=lambda i: _weight_in_incident(self.events[i]), reverse=True)
        events = [self.events[i] for i in order]
        start, end = _incident_span([event for event in events if event.type in _MOVING] or events)
        trace = self._trace(events[0], start, end) if events[0].type in _MOVING else None
        stages = (
            ()
            if trace is None or not trace.time.size
            else find_stages(trace, self.thresholds, self._step_finder(events[0]))
        )
        frequency_change = self._frequency_change(start, end)
        facts = CauseFacts(events, trace, stages, *self._currents(events, trace), frequency_change)
        rule = apply_cause_rules(facts)
        cell = name_cell(rule, facts)
        phases = feeder = ""
        if rule.cause == "fault":
            phases, feeder = _faulted_phases_of_incident(facts, stages, self.thresholds)
        stages, course = _name_fault_course(stages, rule.cause)
        stages, clearing = self._time_clearing(facts, stages)
        operations = self._operations(start, end)
        happened = [*operations, *(Operation(stage.start, stage.name, "waveform") for stage in stages)]
        said = [f"{one.source} {one.what} at {one.time:.3f} s" for one in operations]
        return Incident(
            cause=rule.cause,
            probability=cell_probability(cell),
            rule=cell,
            evidence=(*list_evidence(facts, rule.cause), *said[:_MAX_SAID]),
            timeline=tuple(sorted(happened, key=lambda one: one.time)),
            clearing_s=clearing,
            worst_cycle_end=None if trace is None or not trace.size > 0 else trace.worst_cycle_end,
            stages=stages,
            events=tuple(order),
            start=start,
            end=end,
            course=course or rule.course,
            phases=phases,
            feeder=feeder,
        )

    def _frequency_change(self, start: float, end: float) -> float:
        """Change of the frequency from before an incident that nine of ten values until soon after it do not exceed."""
        cycle = 1 / self.supply.frequency
        before = self.frequency[(self.time > start - _AHEAD) & (self.time < start - cycle)]
        after = self.frequency[(self.time > start + 2 * cycle) & (self.time < end + _AFTER)]
        known = after[np.isfinite(after)]
        if not np.isfinite(before).any() or known.size < _FEWEST:
            return float("nan")
        changes = np.abs(known - np.nanmedian(before)) / self.supply.nominal_frequency
        return float(np.quantile(changes, 0.9))

    def _operations(self, start: float, end: float) -> list[Operation]:
        """Operations of relays and breakers during an incident or soon after it, from status channels."""
        rate = self.recording.sampling_rate
        operations = [
            Operation(place / rate, name_operation(channel.name, state), channel.name)
            for channel in self.recording.status
            for place, state in channel.changes
            if place > 0 and start - _BEFORE <= place / rate <= end + _AFTER
        ]
        known = [one for one in operations if one.what]
        return sorted(known, key=lambda one: one.time)[:_MAX_OPERATIONS]

    @cached_property
    def _starts(self) -> FloatArray:
        """Starts of the events that move the voltage, in order [s]."""
        return np.sort([event.start for event in self.events if event.type in _MOVING])

    def _members(self, main: Event) -> list[int]:
        """The voltages of the system of an event, as places in those of the supply."""
        return [i for i in self.supply.members_of(main.system) if self.supply.references[i].volts > 0]

    def _trace(self, main: Event, start: float, end: float) -> Trace | None:
        """Urms(1/2) of the system of the main event, from some cycles before it to what follows."""
        cycle = 1 / self.supply.frequency
        members = self._members(main)
        later = self._starts[np.searchsorted(self._starts, end + cycle, "right") :]
        stop = min(end + _AFTER, later[0] - cycle if later.size else np.inf)
        here = slice(int(np.searchsorted(self.time, start - _AHEAD)), int(np.searchsorted(self.time, stop)))
        if not members or here.stop - here.start < 2:
            return None
        labels = tuple(self.supply.headers[i].phase or self.supply.headers[i].name for i in members)
        return Trace(self.time[here], _hold_unknown_urms(self.urms[members][:, here]), labels, start, end, cycle)

    def _step_finder(self, main: Event) -> StepFinder:
        """Finds steps of the voltages of the system of an event on the waveform."""
        members = self._members(main)
        rate = self.recording.sampling_rate
        cycle = rate / self.supply.frequency

        def find_step(place: int, between: tuple[float, float], levels: tuple[float, float], width: float) -> float:
            volts = self.supply.references[members[place]].volts
            signal = SourceMeanSquare(self.recording, self.supply.numbers[members[place]], cycle)
            low, high = (volts * level for level in levels)
            return locate_step(signal, cycle, (between[0] * rate, between[1] * rate), (low, high), width) / rate

        return find_step

    def _time_clearing(
        self, facts: CauseFacts, stages: tuple[IncidentStage, ...]
    ) -> tuple[tuple[IncidentStage, ...], float | None]:
        """Stages, the end of the fault where the waveform shows it, and the time from its start until then.

        It is None where the record shows several such times, or none: the fault returns, the record starts inside or
        lacks samples, the neutral swings on after the fault, or motors feed what is behind the open breaker.
        """
        place = _clearing_stage(stages, self.thresholds)
        trace = facts.trace
        returns = any(one.name.startswith("reclosed onto") for one in stages)
        if trace is None or place is None or not stages[0].name.startswith("fault") or facts.starts_inside or returns:
            return stages, None
        old, new = stages[place - 1 : place + 1]
        soon = (trace.time > new.start + trace.cycle) & (trace.time < new.start + 2 * trace.cycle)
        is_fed = new.name == "interruption" and trace.urms[:, soon].max(initial=0.0) > self.thresholds.interruption
        swings = facts.neutral_moves and max(old.levels.values()) > self.thresholds.swell
        members = self._members(facts.main)
        seen = (self.time > trace.start - trace.cycle) & (self.time < new.start + trace.cycle)
        moment = self._end_on_waveform(members, trace.cycle, old.start, new.start, swings)
        is_lost = bool(np.isnan(self.urms[members][:, seen]).any())
        if is_fed or is_lost or (swings and (place > 1 or np.isnan(moment))):
            return stages, None
        moment = moment if old.start < moment < new.end else new.start
        timed = (*stages[: place - 1], replace(old, end=moment), replace(new, start=moment), *stages[place + 1 :])
        return timed, max(moment - stages[0].start, 0.0)

    def _end_on_waveform(self, members: Sequence[int], period: float, start: float, near: float, swings: bool) -> float:
        """When the voltages change for the last time about a step at `near` [s]; NaN if it is not seen.

        If the neutral swings on, they begin to change where the fault ends, or before, as the poles of a breaker open
        one after another: it is between there and the step, or there if it is long before the step.
        """
        rate = self.recording.sampling_rate
        behind, ahead = (min(2.5 * period, near - start - period / 2), period / 2) if swings else (period, 2.5 * period)
        first = round(max(near - max(behind, 0.0), 0.0) * rate)
        stop = min(round((near + ahead) * rate), self.recording.n_samples)
        samples = read_channels(self.recording, [self.supply.numbers[i] for i in members], first, stop)
        if not swings:
            return (first + locate_last_change(samples, rate * period, _CHANGES)) / rate
        begins = (stop - locate_last_change(samples[:, ::-1], rate * period, _BEGINS)) / rate
        return begins if near - begins > _SLOW * period else (begins + near) / 2

    def _currents(
        self, events: Sequence[Event], trace: Trace | None
    ) -> tuple[tuple[FeederCurrents, ...], float, float, float]:
        """Currents, and change of the voltages between phases, from before a change to a cycle or less after it.

        That is the first change of the level, or else the main event. The last two are the turn of the angles at once,
        and their jump over all.
        """
        if trace is None:
            return (), float("nan"), float("nan"), float("nan")
        cycle = trace.cycle
        levels = [event for event in events if event.type in _LEVELS] or events[:1]
        start, end = _incident_span(levels)
        during = start + (0.25 if levels[0].type in _LEVELS and end - start <= 2 * cycle else 1.0) * cycle
        before = max(start - 2.5 * cycle, min(start - 1.1 * cycle, 0.0))
        phases = {self.supply.headers[i].phase: i for i in self.supply.members_of(events[0].system)}
        names = next((names for names in (("A", "B", "C"), ("AB", "BC", "CA")) if phases.keys() == set(names)), ())
        voltages = [self.supply.numbers[phases[name]] for name in names]
        own = [self.supply.numbers[i] for i in self.supply.members_of(events[0].system)]
        moments = (before, during, self.supply.frequency)
        return (
            measure_currents(self.recording, voltages, (before, during, trace.time[-1] - cycle), self.supply.frequency),
            *measure_change(self.recording, own, *moments),
            measure_jump(self.recording, own, (start, end), self.supply.frequency),
        )


def name_operation(channel: str, state: int) -> str:
    """Return what a change of a status channel to a state means; empty if it is not one of a relay or breaker."""
    words = next((words for pattern, *words in _OPERATIONS if pattern.search(channel)), ["", ""])
    return words[0] if state else words[1]


def _clearing_stage(stages: Sequence[IncidentStage], thresholds: Thresholds) -> int | None:
    """Place of the first stage in which a fault is cleared, or the supply opened.

    Its phases are back then, or dead: where one pole is opened, or motors feed the others, no other stage says so.
    While others are high, the neutral is away: another fault may take over, or the neutral swings.
    """
    for place, (old, new) in enumerate(pairwise(stages), 1):
        low = [phase for phase, level in stages[0].levels.items() if level < thresholds.sag]
        is_off = low and all(
            new.levels[phase] > thresholds.sag
            or new.levels[phase] < min(thresholds.interruption, _FALLS * old.levels[phase])
            for phase in low
        )
        if new.name in _ENDS or (is_off and max(new.levels.values()) < thresholds.swell):
            return place
    return None


def _hold_unknown_urms(rows: FloatArray) -> FloatArray:
    """The rows, with the last known value where one is unknown; 1 before the first."""
    known = np.isfinite(rows)
    if known.all():
        return rows
    places = np.maximum.accumulate(np.where(known, np.arange(rows.shape[1]), -1), axis=1)
    held = np.take_along_axis(np.where(known, rows, 1.0), np.maximum(places, 0), axis=1)
    return np.asarray(np.where(places >= 0, held, 1.0))


def _group_into_incidents(events: Sequence[Event]) -> list[list[int]]:
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


def _incident_span(events: Sequence[Event]) -> tuple[float, float]:
    return min(event.start for event in events), max(event.end for event in events)


def _weight_in_incident(event: Event) -> tuple[int, float]:
    """The main event: a sag, swell or interruption first, the larger first."""
    if event.type in _LEVELS:
        return 3, abs(1 - event.magnitude)
    if event.type == "transient":
        return 2, event.magnitude
    return (1 if event.type == "rapid voltage change" else 0), abs(event.magnitude)


def _is_reclosing_incident(first: Incident, second: Incident, events: Sequence[Event]) -> bool:
    """Whether two incidents are one fault, and its return after reclosing."""
    if not first.cause == second.cause == "fault" or second.start - first.end > _RECLOSING:
        return False
    phases = [{phase for i in one.events for phase in events[i].phases} for one in (first, second)]
    return bool(phases[0] & phases[1])


def _faulted_phases_of_incident(
    facts: CauseFacts, stages: Sequence[IncidentStage], thresholds: Thresholds
) -> tuple[str, str]:
    """Faulted phases and feeder, by the currents if they rise, else by the voltages while some phase is live."""
    feeder = facts.currents[0] if facts.currents else None
    if feeder is not None and feeder.ratio > 1.5:  # tuned
        return _phases_of_currents_that_dip(facts, feeder), feeder.feeder
    low = _phases_in_earth_fault(facts)
    if low:
        is_one = feeder is not None and len(feeder.phases) == 2 and feeder.change > _CARRIES
        return (feeder.phases if feeder is not None and is_one else "".join(sorted(low)) + "G"), ""
    low, earth = _faulted_phases_of_stage(stages, thresholds)
    first = _phases_that_fall_first(facts)
    parts = [part for event in facts.events if event.type in ("sag", "interruption") for part in event.parts]
    known = {part.phase for part in parts or facts.main.parts} - {""}
    is_hidden = facts.starts_inside and "interruption" in facts.types
    low = (first or low) & known or (set() if is_hidden else known)  # no names of channels
    return ("" if all(len(phase) == 1 for phase in low) else " ").join(sorted(low)) + earth * bool(low), ""


def _phases_of_currents_that_dip(facts: CauseFacts, feeder: FeederCurrents) -> str:
    """Faulted phases by the currents, but for those whose voltage stays; the earth as the currents have it."""
    trace = facts.moving
    if trace is None or set(trace.labels) != set("ABC") or facts.neutral_moves or "interruption" in facts.types:
        return feeder.phases
    dips = dict(zip(trace.labels, trace.dips, strict=True))
    least = _DIPS * max(dips.values())
    return "".join(phase for phase in feeder.phases if dips.get(phase, np.inf) >= least)


def _phases_in_earth_fault(facts: CauseFacts) -> set[str]:
    """The phases that fall while others rise; none if the neutral does not move."""
    trace = facts.moving
    if trace is None or not facts.neutral_moves or any(len(name) != 1 for name in trace.labels):
        return set()
    return {name for name, dip in zip(trace.labels, trace.dips, strict=True) if dip > 0.5 * trace.dips.max()}


def _phases_that_fall_first(facts: CauseFacts) -> set[str]:
    """The phases that fall before an interruption takes all of them; none if they fall together."""
    if "interruption" not in facts.types or facts.trace is None or facts.starts_inside:
        return set()
    parts = [part for event in facts.levels for part in event.parts]
    starts = {part.phase: part.start for part in sorted(parts, key=lambda part: part.start, reverse=True)}
    soon = min(starts.values()) + 0.75 * facts.trace.cycle
    return {phase for phase, start in starts.items() if start < soon} if max(starts.values()) > soon else set()


def _faulted_phases_of_stage(stages: Sequence[IncidentStage], thresholds: Thresholds) -> tuple[set[str], str]:
    """The phases that are low in a stage in which another has voltage, and ``"G"`` if only earth explains it.

    That is one phase that collapses while the others stay or rise: a fault between phases takes two of them along.
    """
    live = [stage.levels for stage in stages if max(stage.levels.values(), default=0.0) > thresholds.sag]
    low = {phase for levels in live for phase, level in levels.items() if level < thresholds.sag}
    ordered = [sorted(levels.values()) for levels in live if all(len(phase) == 1 for phase in levels)]
    is_earth = any(len(levels) == 3 and levels[0] < _COLLAPSE and levels[1] > _KEPT for levels in ordered)
    return low, "G" if is_earth and len(low) == 1 else ""


_OTHER_STAGES = {
    "motor start": "the motor runs up",
    "transformer energising": "the inrush decays",
    "capacitor switching": "rings, then steady",
    "load switching": "another level",
}


def _name_fault_course(stages: tuple[IncidentStage, ...], cause: str) -> tuple[tuple[IncidentStage, ...], str]:
    """Stages in the words of the cause, and how a fault goes on; one that goes on is made longer."""
    if stages and cause in _OTHER_STAGES:
        return (replace(stages[0], name=_OTHER_STAGES[cause]), *stages[1:]), ""
    if cause != "fault":
        return stages, ""
    course: list[IncidentStage] = []
    for stage in stages:
        named = replace(stage, name=_name_fault_stage(stage.name, [one.name for one in course]))
        if course and course[-1].is_like(named):
            course[-1] = replace(course[-1], end=stage.end)
        else:
            course.append(named)
    return tuple(course), _sum_up_fault([one.name for one in course])


def _name_fault_stage(level: str, past: Sequence[str]) -> str:
    """Name of a stage of a fault, by its level and the names of those before it."""
    if level == "interruption":
        return level
    if level == "restored" or (level.startswith("high") and any("low on" in name for name in past)):
        return "reclosed" if "interruption" in past else "cleared"
    if any(name in _ENDS for name in past):
        return f"reclosed onto the fault: {level}"
    return f"fault{' evolves' * any(name.startswith('fault') for name in past)}: {level}"


def _sum_up_fault(names: Sequence[str]) -> str:
    """The course of a fault in words, by the names of its stages; empty if there is nothing to add."""
    successful = names[-1:] in (["reclosed"], ["cleared"])
    if any(name.startswith("reclosed onto") for name in names) or ("interruption" in names and successful):
        return f"reclosing, {'successful' if successful else 'unsuccessful'}"
    if "interruption" in names:
        return "cleared by interruption"
    return "evolving" if any(name.startswith("fault evolves") for name in names) else ""
