"""How the voltages of a system go through an incident: depth, edges, recovery, and stages of steady levels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import restore_record
from pqswarm.measure.thresholds import Thresholds

_SAME_LEVEL = 0.15  # tuned
"""Levels of stages of one name that differ by less are the same [pu]."""
CAUSES = ("fault", "motor start", "transformer energising", "capacitor switching", "load switching", "unknown")
"""The causes of an incident."""


@dataclass(frozen=True)
class IncidentStage:
    """A part of an incident in which the voltages stay as they are, or recover.

    Attributes
    ----------
    start, end : float
        From the first sample [s].
    name : str
        What happens, such as ``"fault on phase A"`` or ``"interruption"``.
    levels : mapping of str to float
        Median of Urms(1/2) of each phase, or channel [pu].
    """

    start: float
    end: float
    name: str
    levels: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_low(self) -> bool:
        """Whether some phases are low or high, and not all are out."""
        return self.name.startswith(("low", "high"))

    def is_like(self, other: "IncidentStage") -> bool:
        """Whether another stage has the same name and the same levels."""
        levels = self.levels.items()
        return self.name == other.name and all(
            abs(level - other.levels.get(name, level)) < _SAME_LEVEL for name, level in levels
        )


@dataclass(frozen=True)
class Operation:
    """Something that happened at a time of an incident.

    Attributes
    ----------
    time : float
        From the first sample [s].
    what : str
        ``"pickup"``, ``"trip"``, ``"open"``, ``"close"``, ``"reset"`` of a status channel, or the name of the stage
        that starts on the waveform.
    source : str
        Name of the status channel; ``"waveform"`` for a stage.
    """

    time: float
    what: str
    source: str


@dataclass(frozen=True)
class Incident:
    """Events that belong together, and what made them.

    Attributes
    ----------
    cause : str
        One of :data:`CAUSES`.
    probability : float
        That the cause is right; for ``"unknown"``, that it is none of the others.
    evidence : tuple of str
        The measurements that speak for the cause, in words.
    stages : tuple of IncidentStage
        In order of time; none for a steady disturbance.
    events : tuple of int
        Positions of its events in :attr:`Characterization.events`, the main one first.
    start, end : float
        From the first sample [s].
    course : str
        How it goes on, such as ``"reclosing, successful"``; empty if there is nothing to add.
    phases : str
        The faulted phases by the currents, ``"AG"`` to ``"ABC"``, or, without currents, by the voltages, ``"A"`` to
        ``"ABC"``, with ``"G"`` if only a fault to earth explains them; empty if it is no fault, or they are unknown.
    feeder : str
        The feeder whose currents rise most in a fault; empty without currents.
    rule : str
        The rule that gave the cause, with the size of the change and whether there are currents: its cell in the table
        of probabilities.
    timeline : tuple of Operation
        Stages on the waveform and changes of the status channels of relays and breakers, in order of time.
    clearing_s : float or None
        From the start of a fault until it is cleared or the supply is opened, on the waveform [s].
    worst_cycle_end : float or None
        End of the cycle with the largest change of the voltage [s].
    by_hand, correction : str
        The cause that a person put in its place, and who did so, when, and what was found; empty if nobody did.
    """

    cause: str
    probability: float
    evidence: tuple[str, ...]
    stages: tuple[IncidentStage, ...]
    events: tuple[int, ...]
    start: float
    end: float
    course: str = ""
    phases: str = ""
    feeder: str = ""
    rule: str = ""
    timeline: tuple[Operation, ...] = ()
    clearing_s: float | None = None
    worst_cycle_end: float | None = None
    by_hand: str = ""
    correction: str = ""

    @staticmethod
    def of(plain: Mapping[str, Any], n_events: int) -> "Incident":
        """Restore an incident of some events from :meth:`as_dict`, or raise :class:`PqswarmError`."""
        incident = restore_record(Incident, plain, "an incident")
        if incident.cause not in CAUSES or not 0 <= incident.probability <= 1:
            raise PqswarmError("not an incident: its cause or probability is not one.")
        if not incident.events or not all(0 <= one < n_events for one in incident.events):
            raise PqswarmError("not an incident: it names an event that is not there.")
        return incident

    @property
    def title(self) -> str:
        """The cause in words, with phases, feeder and course; or as a person put it."""
        if self.by_hand:
            return self.by_hand
        if self.cause == "unknown":
            return f"cause unknown{f' ({self.course})' if self.course else ''}"
        where = f" {self.phases}" if self.phases else ""
        on = f" on {self.feeder}" if self.feeder else ""
        return f"{self.cause}{where}{on}{f', {self.course}' if self.course else ''}"

    @property
    def verdict(self) -> str:
        """The cause in words and its probability; that of a person has none."""
        is_bare = self.by_hand or self.cause == "unknown"
        return self.title if is_bare else f"{self.title}, {100 * self.probability:.0f} %"

    @property
    def has_cause(self) -> bool:
        """Whether there is a cause to speak of: not for a steady disturbance, unless a person named one."""
        return bool(self.stages or self.by_hand)

    def text(self) -> str:
        """Return the cause, its probability or correction, and the evidence in one line."""
        sure = self.correction or ("" if self.cause == "unknown" else f"{100 * self.probability:.0f} %")
        return f"{self.title}{f' ({sure})' if sure else ''}: {'; '.join(self.evidence)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values; `events` are positions in those of the recording."""
        return {
            **vars(self),
            "evidence": list(self.evidence),
            "stages": [{**vars(stage), "levels": dict(stage.levels)} for stage in self.stages],
            "events": list(self.events),
            "timeline": [vars(operation) for operation in self.timeline],
        }


def order_in_time(incident: Incident) -> tuple[float, int]:
    """Return the sort key of incidents: their start, then their first event."""
    return incident.start, min(incident.events)


_PAST = 10.0  # tuned
"""Cycles before an incident whose median is the level before it, and after it."""
_EDGE = 0.75
"""Cycles next to the edges that Urms(1/2) smears."""
_LEAST = 3
"""Values of Urms(1/2) that make a level."""
_STEP = 3
"""Values of Urms(1/2) that a step passes through: a cycle and a half."""
_PIECE = 0.2  # tuned
_FLAT = 0.3  # tuned
"""Fraction of the whole that a step has, and of the step by which the levels next to it may vary."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Urms(1/2) [pu] (n_channels, n) of a system at `time` [s], around an incident and up to a second after."""

    time: FloatArray
    urms: FloatArray
    labels: tuple[str, ...]
    start: float
    end: float
    cycle: float

    @cached_property
    def before(self) -> FloatArray:
        """Levels before the incident; 1 where the record starts inside it."""
        past = (self.time > self.start - _PAST * self.cycle) & (self.time < self.start - _EDGE * self.cycle)
        return self._level(past, 1.0)

    @cached_property
    def after(self) -> FloatArray:
        """Levels at the end of what follows the incident; NaN if too little follows."""
        late = (self.time > self.end + _EDGE * self.cycle) & (self.time > self.time[-1] - _PAST * self.cycle)
        return self._level(late, np.nan)

    @cached_property
    def lasting(self) -> FloatArray:
        """Change of the levels that stays [pu]; NaN if too little precedes or follows."""
        seen = (self.time < self.start - _EDGE * self.cycle).sum() >= _LEAST
        return np.asarray(self.after - (self.before if seen else np.nan))

    @cached_property
    def after_start(self) -> FloatArray:
        """Levels from two cycles after the start to the end of the incident; 1 if it is shorter."""
        return self._level((self.time > self.start + 2 * self.cycle) & (self.time < self.end), 1.0)

    @cached_property
    def noise(self) -> float:
        """Standard deviation of Urms(1/2) in the undisturbed part, before the incident or after it; 0 if unknown."""
        past = self.time < self.start - _EDGE * self.cycle
        calm = past if past.sum() > _LEAST else self.time > self.end + 2 * self.cycle
        steps = np.abs(np.diff(self.urms[:, calm], axis=1))
        return 1.4826 / 2**0.5 * float(np.median(steps)) if steps.size else 0.0

    def _level(self, where: BoolArray, default: float) -> FloatArray:
        values = self.urms[:, where]
        return np.median(values, axis=1) if values.shape[1] >= _LEAST else np.full(len(self.urms), default)

    @cached_property
    def inside(self) -> FloatArray:
        """Deviation from the level before, positive downwards [pu], from the incident on."""
        return np.asarray(self.before[:, None] - self.urms[:, self.time >= self.start - self.cycle])

    @cached_property
    def during(self) -> FloatArray:
        """The same, to the end of the incident."""
        values = self.time[self.time >= self.start - self.cycle]
        return self.inside[:, : max(int(np.searchsorted(values, self.end + _EDGE * self.cycle)), 1)]

    @cached_property
    def dips(self) -> FloatArray:
        """Deepest dip of each channel [pu]."""
        return np.asarray(np.maximum(self.during.max(axis=1, initial=0.0), 0.0))

    @cached_property
    def rises(self) -> FloatArray:
        """Highest rise of each channel [pu]."""
        return np.asarray(np.maximum(-self.during.min(axis=1, initial=0.0), 0.0))

    @property
    def worst(self) -> int:
        """The channel that moves most."""
        return int(np.maximum(self.dips, self.rises).argmax())

    @cached_property
    def move(self) -> FloatArray:
        """Deviation of the worst channel in the direction in which it moves most [pu]."""
        row: FloatArray = self.inside[self.worst]
        return row if self.dips[self.worst] >= self.rises[self.worst] else -row

    @cached_property
    def size(self) -> float:
        """Largest deviation [pu]."""
        return float(max(self.dips.max(initial=0.0), self.rises.max(initial=0.0)))

    @cached_property
    def spread(self) -> float:
        """How unequal the dips are: 0 if all channels dip alike, 1 if one does not; 0 for a single channel."""
        return float(1 - self.dips.min() / self.dips.max()) if self.dips.size > 1 and self.dips.max() > 0 else 0.0

    @cached_property
    def peak(self) -> int:
        """Place of the largest deviation in :attr:`move`."""
        return int(self.move[: self.during.shape[1]].argmax())

    @property
    def worst_cycle_end(self) -> float:
        """End of the cycle with the largest deviation [s]."""
        return float(self.time[self.time >= self.start - self.cycle][self.peak]) + self.cycle / 2

    @cached_property
    def fall(self) -> float:
        """Fraction of the deviation that comes in steps, or in one step, within a cycle and a half."""
        row = np.concatenate([np.zeros(_STEP), self.move[: self.peak + 1]])
        steepest = float((row[_STEP:] - row[:-_STEP]).max()) / self.size if self.size > 0 else 0.0
        return max(steepest, _trace_fraction_in_steps(-row, self.size))

    @cached_property
    def left(self) -> float:
        """Fraction of the deviation that stays; NaN if too little follows."""
        change = abs(float(self.before[self.worst] - self.after[self.worst]))
        return change / self.size if self.size > 0 else float("nan")

    @cached_property
    def recovery(self) -> float:
        """Fraction of the recovery that comes within a cycle and a half; NaN if there is none."""
        row = self.move[self.peak :]
        whole = float(row[0] - row[-1]) if row.size > _STEP else 0.0
        return float((row[:-_STEP] - row[_STEP:]).max()) / whole if whole > 0.2 * self.size else float("nan")

    @cached_property
    def drift(self) -> float:
        """Fraction of the deviation that has come back gradually at the end of what is seen."""
        row = self.move[self.peak :]
        if row.size < 4 * _STEP or self.size <= 0:
            return 0.0
        return float(np.median(row[1 : 2 * _STEP]) - np.median(row[-2 * _STEP :])) / self.size

    @cached_property
    def in_steps(self) -> float:
        """Fraction of the recovery that comes in steps, each within a cycle and a half; 0 if there is none."""
        row = self.move[self.peak :]
        return (
            _trace_fraction_in_steps(row, float(row[0] - row[-1])) if float(row[0] - row[-1]) > 0.2 * self.size else 0.0
        )


def _trace_fraction_in_steps(row: FloatArray, whole: float) -> float:
    """Fraction of a decrease `whole` that comes in steps of at least a fifth of it, each between two levels."""
    total = 0.0
    free = 0
    drops = row[:-_STEP] - row[_STEP:]
    for i in np.flatnonzero((drops > _PIECE * whole) & (drops >= np.append(drops[1:], 0.0))).tolist():
        levels = (row[max(i - 2, 0) : i + 1], row[i + _STEP : i + _STEP + 3])
        if i >= free and all(float(np.ptp(level)) < _FLAT * drops[i] for level in levels):
            total = total + float(drops[i])
            free = i + _STEP
    return min(total / whole, 1.0) if whole > 0 else 0.0


_STEADY = 0.04  # tuned
"""Maximum change of a phase between values of Urms(1/2) in a stage [pu]."""
_OTHER = 0.08  # tuned
"""Minimum difference of a phase between stages [pu]."""
_FEWEST = 3
"""Values of Urms(1/2) of a stage."""
_PART = 0.5  # tuned
"""Change of a phase between stages, over the largest, that counts for its time."""
_Run = tuple[int, int, FloatArray]
"""First value of a stage, the one after its last, and the levels of the phases."""


StepFinder = Callable[[int, tuple[float, float], tuple[float, float], float], float]
"""Finds on the waveform a step of a channel of a trace, between two times [s], from one level to another [pu]; the last
argument is the width of the window [cycles]."""


def find_stages(trace: Trace, thresholds: Thresholds, find_step: StepFinder) -> tuple[IncidentStage, ...]:
    """Find the stages of an incident, from its start until the voltages are back; slow recoveries are one stage."""
    here = trace.time >= trace.start
    time = trace.time[here]
    rows = trace.urms[:, here]
    if time.size < _FEWEST or not trace.labels:
        return ()
    runs = _merge_alike_stages(_add_brief_stages(_steady_stage_runs(rows), rows, trace.before), rows)
    runs = runs or [(0, time.size, np.median(rows, axis=1))]
    steps = [_step_between(time, rows, old, new, thresholds, find_step) for old, new in pairwise(runs)]
    bounds = [trace.start, *np.maximum.accumulate(steps).tolist(), float(trace.time[-1] + trace.cycle / 2)]
    stages: list[IncidentStage] = []
    for (start, end), (_, _, levels) in zip(pairwise(bounds), runs, strict=True):
        named = dict(zip(trace.labels, (round(float(level), 4) for level in levels), strict=True))
        name = name_stage(named, thresholds, stages)
        if stages and stages[-1].name == name == "restored":
            stages[-1] = replace(stages[-1], end=end, levels=named)
        else:
            stages.append(IncidentStage(start, end, name, named))
    return tuple(stages)


def _step_between(
    time: FloatArray, rows: FloatArray, old: _Run, new: _Run, thresholds: Thresholds, find_step: StepFinder
) -> float:
    """Time of the step from one stage to the next on the waveform [s].

    It is that of the first channel which goes away from 1 pu, or of the last which comes back to it or, with
    all others, is opened. What follows slowly, as when motors accelerate, does not count.
    """
    soon = old[1] + _STEP - 1
    levels = rows[:, soon] if soon < new[1] else new[2]
    change = np.abs(levels - old[2])
    is_brief = min(old[1] - old[0], new[1] - new[0]) <= _FEWEST
    between = (float(time[max(old[1] - 2, old[0])]), float(time[min(soon, new[0] + 1, time.size - 1)]))
    steps = [
        find_step(i, between, (float(old[2][i]), float(levels[i])), 0.5 if is_brief else 1.0)
        for i in np.flatnonzero(change > _PART * change.max()).tolist()
    ]
    known = [step for step in steps if np.isfinite(step)] or [between[1]]
    comes_back = np.abs(new[2] - 1).max() < np.abs(old[2] - 1).max()
    return max(known) if comes_back or new[2].max() < thresholds.interruption else min(known)


def _steady_stage_runs(rows: FloatArray) -> list[tuple[int, int]]:
    """First value and the one after the last of each stretch in which no phase moves; the last may be short."""
    moves = np.abs(np.diff(rows, axis=1)).max(axis=0, initial=0.0) > _STEADY
    bounds = [0, *(np.flatnonzero(moves) + 1).tolist(), rows.shape[1]]
    return [(a, b) for a, b in pairwise(bounds) if b - a >= _FEWEST - (b == rows.shape[1] and a > 0)]


def _add_brief_stages(runs: Sequence[tuple[int, int]], rows: FloatArray, before: FloatArray) -> list[_Run]:
    """Runs with their levels, and between them what leaves the levels on both sides too briefly to be steady."""
    kept: list[_Run] = []
    last = 0
    past = before
    for first, stop in runs:
        levels = np.median(rows[:, first:stop], axis=1)
        between = rows[:, last:first]
        low = np.minimum(past, levels)
        beyond = np.maximum(low[:, None] - between, between - np.maximum(past, levels)[:, None])
        if beyond.size and beyond.max() > _OTHER:
            kept.append((last, first, between[:, beyond.max(axis=0).argmax()]))
        kept.append((first, stop, levels))
        last = stop
        past = levels
    return kept


def _merge_alike_stages(runs: Sequence[_Run], rows: FloatArray) -> list[_Run]:
    """Runs whose levels differ; those alike are one."""
    kept: list[_Run] = []
    for first, stop, levels in runs:
        if kept and np.max(np.abs(levels - kept[-1][2])) < _OTHER:
            kept[-1] = (kept[-1][0], stop, np.median(rows[:, kept[-1][0] : stop], axis=1))
        else:
            kept.append((first, stop, levels))
    return kept


def name_stage(levels: dict[str, float], thresholds: Thresholds, earlier: Sequence[IncidentStage]) -> str:
    """Name a stage by its levels [pu] and by what came before it."""
    low = [name for name, level in levels.items() if level < thresholds.sag]
    high = [name for name, level in levels.items() if level > thresholds.swell]
    out = [name for name, level in levels.items() if level < thresholds.interruption]
    if len(out) == len(levels):
        return "interruption"
    if low or high:
        words = [f"low on {' '.join(low)}"] if low else []
        words += [f"high on {' '.join(high)}"] if high else []
        return ", ".join(words)
    return "restored" if any(one.name != "within limits" for one in earlier) else "within limits"
