"""The cause of an incident, by rules on what was measured: voltages, and the currents of the feeders.

A rule speaks only of changes beyond the noise of Urms(1/2) and beyond a smallest change of its own. How probable it is
was counted on third-party events (`probabilities.json`, written by `research/cause_probabilities.py`).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from pqswarm._base.text import frequency_text, unit_text
from pqswarm._base.typing import AnyArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.event import Event
from pqswarm.measure.incidents.stages import IncidentStage, Trace
from pqswarm.measure.steady.harmonics import fit_harmonics
from pqswarm.measure.supply.channels import name_systems
from pqswarm.recordings.recording import RecordingSource

_ORDERS = 3
_CYCLES = 1
_TAKES_PART = 0.45  # tuned
"""Change of current of a phase over that of the largest from which on it is faulted."""
_EARTH = 0.2  # tuned
"""Zero sequence over the largest change of a phase from which on a fault is to earth."""
_MOST = 60
"""Current channels that are looked at."""


@dataclass(frozen=True)
class FeederCurrents:
    """Currents of a feeder: the largest before, its rise [A], faulted phases (``"G"``: earth), second harmonic.

    `change` is the largest change of a phase over the largest current before; `active` and `reactive` are those of the
    powers over the apparent power, `factor` is the power factor of the change; NaN if the voltages are unknown.
    """

    feeder: str
    before: float
    rise: float
    phases: str
    second: float
    change: float
    active: float = np.nan
    reactive: float = np.nan

    @property
    def factor(self) -> float:
        """Power factor of what was switched."""
        return abs(self.active) / max(float(np.hypot(self.active, self.reactive)), 1e-9)

    @property
    def ratio(self) -> float:
        """The largest current over that before."""
        return 1 + self.rise / max(self.before, 1e-9)


def measure_currents(
    recording: RecordingSource, voltages: Sequence[int], before: float, during: float, frequency: float
) -> tuple[FeederCurrents, ...]:
    """Compare the currents of each feeder in a cycle before with one during an incident [s]; the largest rise first.

    `voltages` are the channels of the phases A, B and C to neutral; none if they are not known.
    """
    numbers = [i for i, one in enumerate(recording.channels) if one.is_current and one.phase in ("A", "B", "C")][:_MOST]
    both = [*numbers, *voltages]
    old, new = (_phasors_at(recording, both, moment, frequency) for moment in (before, during))
    if not numbers or old is None or new is None:
        return ()
    headers = [recording.channels[i] for i in numbers]
    systems = name_systems(headers)
    feeders = []
    for system in dict.fromkeys(systems):
        places = {headers[i].phase: i for i, name in enumerate(systems) if name == system}
        if len(places) == 3:
            own = [places[phase] for phase in "ABC"]
            found = _feeder_currents(system, old[:, own], new[:, own])
            powers = [np.sum(table[0, len(numbers) :] * np.conj(table[0, own])) for table in (old, new) if voltages]
            if powers:
                step = complex(powers[1] - powers[0]) / max(*np.abs(powers), 1e-12)
                found = replace(found, active=step.real, reactive=step.imag)
            feeders.append(found)
    return tuple(sorted(feeders, key=lambda one: -one.rise))


def measure_line_change(
    recording: RecordingSource, voltages: Sequence[int], before: float, during: float, frequency: float
) -> float:
    """Largest change of a voltage between phases over its value before [fraction]; NaN if it is unknown."""
    old, new = (_phasors_at(recording, list(voltages), moment, frequency) for moment in (before, during))
    if not voltages or old is None or new is None:
        return float("nan")
    lines = [np.abs(table[0] - np.roll(table[0], 1)) for table in (old, new)]
    return float(np.max(np.abs(lines[1] - lines[0]) / np.maximum(lines[0], 1e-12)))


def _feeder_currents(name: str, old: AnyArray, new: AnyArray) -> FeederCurrents:
    change = np.abs(new[0] - old[0])
    largest = float(change.max())
    faulted = [phase for phase, size in zip("ABC", change, strict=True) if size > _TAKES_PART * largest]
    earth = "G" if (abs(complex((new[0] - old[0]).sum())) / 3) > _EARTH * largest and len(faulted) < 3 else ""
    worst = int(np.abs(new[0]).argmax())
    second = float(np.abs(new[1, worst]) / max(float(np.abs(new[0, worst])), 1e-12))
    before = float(np.abs(old[0]).max())
    moved = float(np.abs(np.abs(new[0]) - np.abs(old[0])).max()) / max(before, 1e-12)
    rise = float(np.abs(new[0]).max()) - before
    return FeederCurrents(name, before, rise, "".join(faulted) + earth, second, moved)


def _phasors_at(recording: RecordingSource, numbers: list[int], moment: float, frequency: float) -> AnyArray | None:
    """Phasors of the orders 1 to 3 in the cycle that starts at a moment [s], (3, n_channels); None if incomplete."""
    rate = recording.sampling_rate
    first = round(moment * rate)
    size = round(_CYCLES * rate / frequency)
    if first < 0 or first + size > recording.n_samples or size < 2 * _ORDERS + 2:
        return None
    table = read_channels(recording, numbers, first, first + size)
    if not np.isfinite(table).all():
        return None
    # Angles from the start of the record, so that the two moments compare.
    turn = np.exp(-2j * np.pi * frequency * first / rate * np.arange(1, _ORDERS + 1))
    fits = [fit_harmonics(row, rate / frequency, _ORDERS, _CYCLES)[1] * turn for row in table]
    return np.asarray(np.array(fits).T / np.sqrt(2))


_SMALLEST = 0.02  # tuned
_NOISE = 5.0  # tuned
"""Smallest change of Urms(1/2) that a rule may speak of [pu], and over its noise."""
_MOVING = frozenset({"sag", "swell", "interruption", "rapid voltage change"})
"""Types of events in which the voltage changes; a transient moves Urms(1/2) only by its own energy."""
_STEEP = 0.6  # tuned
_STEEP_PART = 0.4  # tuned
_BACK = 0.7  # tuned
_BACK_EQUAL = 0.9  # tuned
_BACK_LARGE = 0.6  # tuned
"""Share of a fall, of one beside an interruption, and of a return, one of equal dips and one of large ones, within a
cycle and a half: a step."""
_DRIFT = 0.12  # tuned
"""Share of a dip that comes back gradually while a motor runs up."""
_LARGE = 0.25  # tuned
_DEEP = 0.35  # tuned
"""Only faults make unequal dips, and equal dips, of this depth [pu]."""
_UNEQUAL = 0.35  # tuned
"""Spread of the dips of the phases from which on they are unequal."""
_SECOND = 0.006  # tuned
"""Rise of the second harmonic of a transformer that saturates [pu], and as a share of the dip."""
_SECOND_RATIO = 0.05  # tuned
_STAYS = 0.6  # tuned
_RETURNS = 0.4  # tuned
"""Share of a change that stays from which on it is a step, and below which the voltage has returned."""
_OSCILLATION = (150.0, 6000.0)  # tuned
"""Frequencies of the ringing of capacitor banks [Hz]."""
_FIRST = 0.05  # tuned
"""Transients in this part of the first cycle are the start of a simulation, or of a recorder."""
_SLIGHT = 0.2  # tuned
"""Largest dip or rise that the ringing of a capacitor bank makes [pu]."""
_FEEDS = 0.002  # tuned
_ALIKE = 0.3  # tuned
"""Change of all phases that a capacitor bank leaves [pu], and of the least over the largest."""
_LITTLE = 0.025  # tuned
"""Dip from which on a second harmonic, or a slow return, speaks against a capacitor bank [pu]."""
_QUICK = 0.25  # tuned
"""No breaker recloses sooner [s]: all phases without voltage for a shorter time are a fault."""
_CURRENT = 2.0  # tuned
_INRUSH = 0.15  # tuned
"""Rise of the current of a fault; second harmonic of a current above which it is a transformer's inrush."""
_ACTIVE = 0.05  # tuned
_BY_VOLTAGE = 3.0  # tuned
"""Change of the active power that is a load's, beyond that of the voltage times this."""
_FACTOR = 0.5  # tuned
_LOAD_CURRENT = 4.0  # tuned
_LOAD_DIP = 0.08  # tuned
"""Least power factor of a load that is switched, its largest rise of the current, and the dip that it makes at most
[pu]: a motor that starts has a lower factor, or takes more; so does a fault."""
_BANK_FACTOR = 0.1  # tuned
_BANK_POWER = 0.3  # tuned
"""Largest power factor, and least change of the reactive power, of a capacitor bank."""
_BRIEF = 1.6  # tuned
"""Cycles up to which a dip is brief: a window of a cycle has its edges, and its harmonics are theirs."""
_LOW_VOLTAGE = (100.0, 1000.0)
"""Voltages of a phase in a network whose neutral is earthed [V]; those of secondary windings are lower."""
_SAME_CURRENT = 0.05  # tuned
_SAME_VOLTAGE = 0.03  # tuned
_LOST = 0.35  # tuned
"""Change of currents, and of other phases [pu], that a lost input leaves as they are; its level at most [pu]."""
_DEAD = 0.15  # tuned
"""Level [pu] above which a phase has voltage before an interruption."""
_MOST_MOVED = 0.9
"""Largest rise of a phase whose neutral moves [pu]: to the voltage between phases and slightly beyond, no resonance."""
_MOST_SHOTS = 5
"""Dips that a fault with reclosing makes at most; slight ones that repeat more often are a load's."""
_FLAT_CYCLES = 12.0  # tuned
"""Cycles that a step must last until the end of the record to be a step."""


@dataclass(frozen=True, eq=False)
class CauseFacts:
    """What the rules know of an incident: its events, the main one first, trace and stages of its system, currents.

    `line_change` is that of the voltages between phases; NaN if it is unknown.
    """

    events: Sequence[Event]
    trace: Trace | None
    stages: Sequence[IncidentStage] = ()
    currents: Sequence[FeederCurrents] = ()
    line_change: float = float("nan")

    @cached_property
    def types(self) -> frozenset[str]:
        """Kinds of the events; an interruption of some phases counts, though it is a sag of the system."""
        partial = any("phase_interrupted_s" in part.details for event in self.events for part in event.parts)
        return frozenset({*(event.type for event in self.events), *(("interruption",) if partial else ())})

    @property
    def main(self) -> Event:
        """The main event."""
        return self.events[0]

    @cached_property
    def levels(self) -> tuple[Event, ...]:
        """The sags, swells and interruptions."""
        return tuple(event for event in self.events if event.type in ("sag", "swell", "interruption"))

    @cached_property
    def smallest(self) -> float:
        """Smallest change of Urms(1/2) that is one [pu], by its noise; infinite if it is that of a transient alone."""
        if self.trace is None:
            return np.inf
        lasting = self.trace.left * self.trace.size
        return max(_SMALLEST, _NOISE * self.trace.noise) if self.types & _MOVING or lasting >= _SMALLEST else np.inf

    @cached_property
    def moving(self) -> Trace | None:
        """The trace, if the voltage changes."""
        return self.trace if self.trace is not None and self.trace.size >= self.smallest else None

    @cached_property
    def size(self) -> float:
        """Largest deviation of Urms(1/2) from the level before [pu]."""
        return self.trace.size if self.trace is not None else 0.0

    @cached_property
    def dip(self) -> float:
        """Deepest dip [pu]."""
        return float(self.moving.dips.max()) if self.moving is not None else 0.0

    @cached_property
    def falls(self) -> bool:
        """Whether the largest change is a dip."""
        return self.moving is not None and self.dip >= self.moving.size

    @cached_property
    def ends_inside(self) -> bool:
        """Whether the record ends before the voltage is back."""
        return any(event.cut_end for event in self.levels if event.end >= max(one.end for one in self.levels))

    @cached_property
    def starts_inside(self) -> bool:
        """Whether the record starts inside it."""
        return any(event.cut_start for event in self.levels if event.start <= min(one.start for one in self.levels))

    @cached_property
    def begins_dead(self) -> bool:
        """Whether the record begins without voltage, and nothing else is seen than that it comes."""
        dead = [event for event in self.levels if event.type == "interruption"]
        return len(dead) == 1 and dead[0].cut_start and not any(stage.is_low for stage in self.stages)

    @cached_property
    def transient(self) -> Event | None:
        """The largest transient on two phases, or on the only channel, but for what begins with the first samples."""
        late = [e for e in self.events if e.type == "transient" and e.start * e.nominal_frequency > _FIRST]
        labels = {part.label for event in late for part in event.parts}
        if self.trace is None or len(labels) < min(2, len(self.trace.labels)):
            return None
        return max(late, key=lambda event: event.magnitude, default=None)

    @cached_property
    def rings(self) -> bool:
        """Whether the transient is a ringing of a frequency that capacitor banks have."""
        low, high = _OSCILLATION
        return self.transient is not None and low <= self.transient.details.get("frequency", 0.0) <= high

    @cached_property
    def lasting(self) -> float:
        """Change of all phases that stays [pu], that of the least one; NaN if unknown, 0 if they change unequally."""
        if self.trace is None or np.isnan(self.trace.lasting).any():
            return float("nan")
        change = self.trace.lasting
        least = float(change[np.abs(change).argmin()])
        return least if change.min() * change.max() > 0 and abs(least) > _ALIKE * np.abs(change).max() else 0.0

    @cached_property
    def repeats(self) -> int:
        """Slight dips of the system of the main event, one after another."""
        is_slight = self.dip <= _DEEP and "interruption" not in self.types
        return sum(one.type == "sag" and one.system == self.main.system for one in self.events) if is_slight else 0

    @cached_property
    def second(self) -> float:
        """Rise of the second harmonic [pu], from none if that before is unknown; 0 if unknown."""
        known = [event.details for event in self.events if "second_during" in event.details]
        return max((one["second_during"] - one.get("second_before", 0.0) for one in known), default=0.0)

    @cached_property
    def has_inrush(self) -> bool:
        """Whether a current rises with the second harmonic of an inrush."""
        return not self.is_brief and any(one.second > _INRUSH and one.ratio > _CURRENT for one in self.currents[:1])

    @cached_property
    def saturates(self) -> bool:
        """Whether a second harmonic appears in voltage or current, as a transformer makes when it is energised."""
        return self.has_inrush or self.second > max(_SECOND, _SECOND_RATIO * self.dip)

    @cached_property
    def is_brief(self) -> bool:
        """Whether what is low or high is so for a cycle and a half at most, and no part of it lasts."""
        if self.moving is None or self.moving.recovery < _RETURNS:
            return False
        moving = [event.cycles for event in self.events if event.type in _MOVING]
        return bool(moving) and max(moving) <= _BRIEF

    @cached_property
    def has_plain_current(self) -> bool:
        """Whether a current rises without the second harmonic of an inrush; of a brief one it is that of its edges."""
        return any(
            one.ratio > _CURRENT and (one.second < _INRUSH / 3 or self.is_brief or self.opens)
            for one in self.currents[:1]
        )

    @cached_property
    def opens(self) -> bool:
        """Whether a dip ends in an interruption that lasts to the end of the record."""
        return "interruption" in self.types and self.ends_inside and not self.starts_inside

    @cached_property
    def currents_stay(self) -> bool:
        """Whether no current changes."""
        return bool(self.currents) and all(one.change < _SAME_CURRENT for one in self.currents)

    @cached_property
    def active_steps(self) -> bool:
        """Whether the active power changes, as no capacitor makes it, by more than the voltage explains."""
        least = _ACTIVE + _BY_VOLTAGE * (self.size if np.isnan(self.lasting) else abs(self.lasting))
        return any(abs(one.active) > least and one.reactive > -_ACTIVE for one in self.currents[:1])

    @cached_property
    def is_load(self) -> bool:
        """Whether the currents change as those of a load that is switched, and not of a motor that starts."""
        return any(
            abs(one.active) > _ACTIVE and one.factor > _FACTOR and one.ratio < _LOAD_CURRENT
            for one in self.currents[:1]
        )

    @cached_property
    def is_bank(self) -> bool:
        """Whether the current of a capacitor bank stops or sets in: the power steps by reactive power alone."""
        return any(
            one.factor < _BANK_FACTOR and one.rise * one.reactive < 0 and abs(one.reactive) > _BANK_POWER
            for one in self.currents[:1]
        )

    @cached_property
    def is_steep(self) -> bool:
        """Whether the change starts with a step."""
        return self.moving is not None and self.moving.fall >= _STEEP

    @cached_property
    def returns(self) -> bool:
        """Whether the voltage is back in the record."""
        if self.moving is None or self.ends_inside:
            return False
        is_over = bool(self.levels) and np.isnan(self.moving.left)  # it ends with the record
        return bool(self.moving.left <= _RETURNS) or is_over

    @cached_property
    def returns_at_once(self) -> bool:
        """Whether it returns by steps, as after the clearing of a fault."""
        trace = self.moving
        if trace is None or not self.returns:
            return False
        least = _BACK
        if self.is_unequal and self.dip > _LARGE:
            least = _BACK_LARGE
        elif not self.is_unequal and len(trace.labels) >= 3 and self.dip <= _DEEP and not self.is_load:
            least = _BACK_EQUAL  # it may be a motor's, whose last part of the run-up is quick
        return trace.recovery >= least or trace.in_steps >= least

    @cached_property
    def returns_slowly(self) -> bool:
        """Whether it returns otherwise than by steps."""
        return self.returns and not self.returns_at_once

    @cached_property
    def is_unequal(self) -> bool:
        """Whether the phases dip unequally."""
        return self.moving is not None and self.moving.spread > _UNEQUAL

    @cached_property
    def is_deep(self) -> bool:
        """Whether only a fault makes such a dip."""
        return self.dip > (_LARGE if self.is_unequal else _DEEP)

    @cached_property
    def is_over(self) -> bool:
        """Whether the voltage is back, or so low that it need not be seen to return."""
        return self.returns or self.is_deep

    @cached_property
    def neutral_moves(self) -> bool:
        """Whether some phases rise while others fall: the neutral moves, as in an earth fault."""
        trace = self.moving
        if trace is None or len(trace.labels) < 3:
            return False
        moves = np.where(trace.dips >= trace.rises, trace.dips, -trace.rises)
        return bool(-_MOST_MOVED < moves.min() < -0.04 and moves.max() > 0.06)  # tuned

    @cached_property
    def is_broken_neutral(self) -> bool:
        """Whether a neutral that is earthed moves and stays, while the voltages between phases do not change."""
        low, high = _LOW_VOLTAGE
        is_earthed = low <= self.main.reference_volts <= high
        return self.neutral_moves and self.ends_inside and is_earthed and not self.line_change > _SAME_VOLTAGE

    @cached_property
    def is_lost_input(self) -> bool:
        """Whether voltages are lost while the other phases and all currents stay: a fuse of a voltage transformer."""
        trace = self.moving
        if trace is None or self.starts_inside or not self.ends_inside:
            return False
        lost = trace.after_start < _LOST
        if lost.all() or not lost.any():
            return bool(lost.any()) and self.currents_stay
        others = max(trace.dips[~lost].max(), trace.rises[~lost].max())
        return bool(others < _SAME_VOLTAGE) and (self.currents_stay or not self.currents)

    @cached_property
    def is_long(self) -> bool:
        """Whether enough is seen to tell a level that stays from one that comes back."""
        trace = self.moving
        return trace is not None and (trace.time[-1] - trace.start) / trace.cycle >= _FLAT_CYCLES

    @cached_property
    def stays(self) -> bool:
        """Whether a step stays until the end of what is seen, inside the limits."""
        return self.moving is not None and self.is_steep and not self.ends_inside and bool(self.moving.left > _STAYS)

    @cached_property
    def comes_back(self) -> bool:
        """Whether a dip is on its way back, gradually, when the record ends."""
        trace = self.moving
        if trace is None or not self.is_long or self.returns:
            return False
        return trace.drift > _DRIFT and trace.in_steps < _BACK and self.falls


@dataclass(frozen=True)
class CauseRule:
    """A rule: its name, the cause that it states, the smallest change that it may speak of [pu], when it applies."""

    name: str
    cause: str
    smallest: float
    applies: Callable[[CauseFacts], bool]
    course: str = ""

    def speaks(self, facts: CauseFacts) -> bool:
        """Whether the change is large enough, and the rule applies."""
        return facts.size >= self.smallest and self.applies(facts)


def _is_cause_fault_current(f: CauseFacts) -> bool:
    """A current that rises without second harmonic, and a voltage that returns at once, or is too low for a motor."""
    is_motor = not f.is_unequal and not f.is_deep and (not f.returns_at_once or (f.is_load and f.dip < _LOAD_DIP))
    is_low = f.falls or f.neutral_moves
    return f.has_plain_current and not f.saturates and f.is_steep and is_low and not is_motor and f.is_over


def _is_cause_fault_interruption(f: CauseFacts) -> bool:
    """An interruption beside another level: of other phases, or before or after it."""
    trace = f.moving
    if trace is None or "interruption" not in f.types or not trace.fall >= _STEEP_PART:
        return False
    parts = [part for event in f.levels for part in event.parts]
    starts = {part.label: part.start for part in sorted(parts, key=lambda part: part.start, reverse=True)}
    one_after_another = max(starts.values()) - min(starts.values()) > 1.25 * trace.cycle
    dead = [event for event in f.levels if event.type == "interruption"]
    onto_fault = any(0 < second.start - first.end < _QUICK for first, second in pairwise(dead))
    is_low_before = any(e.type == "sag" and e.magnitude > _DEAD and e.start < dead[0].start for e in f.levels if dead)
    is_carried = not f.currents or f.currents[0].ratio > _CURRENT
    is_dip = is_low_before and is_carried
    return any(stage.is_low for stage in f.stages) or one_after_another or onto_fault or is_dip


def _is_cause_switching(f: CauseFacts) -> bool:
    """A transient on some phases that moves the voltage slightly."""
    if f.transient is None or "interruption" in f.types or (f.saturates and f.dip > _LITTLE):
        return False
    if f.dip > 2 * _LITTLE and not f.returns_at_once:
        return False
    return f.size < _SLIGHT and (f.main.type != "sag" or f.main.cycles < 2.0)


def _is_cause_capacitor(f: CauseFacts) -> bool:
    """One that leaves all phases higher, or rings and leaves them lower, or rings where what it leaves is not seen."""
    if f.trace is None or not np.isnan(f.lasting):
        return f.lasting >= _FEEDS or (f.rings and f.lasting <= -_FEEDS)
    known = np.nan_to_num(f.trace.before - f.trace.after)  # if there is no level before, dips are from the one after
    dip = float((f.trace.during - known[:, None]).max(initial=0.0))
    return f.rings and dip < _LITTLE


RULES = (
    CauseRule(
        "begins dead", "unknown", 0.0, lambda f: f.begins_dead, "not visible: the record starts inside the event"
    ),
    CauseRule("lost input", "unknown", 0.5, lambda f: f.is_lost_input, "VT fuse? Nothing else changes"),
    CauseRule("repeats", "load switching", 0.03, lambda f: f.repeats > _MOST_SHOTS and f.returns_at_once),
    CauseRule("fault current", "fault", 0.03, _is_cause_fault_current),
    CauseRule("interruption after a sag", "fault", 0.5, _is_cause_fault_interruption),
    CauseRule("reactive power", "capacitor switching", 0.0, lambda f: f.stays and f.is_bank),
    CauseRule("active power", "load switching", 0.0, lambda f: _is_cause_switching(f) and f.active_steps),
    CauseRule(
        "transient",
        "capacitor switching",
        0.0,
        lambda f: _is_cause_switching(f) and not f.active_steps and _is_cause_capacitor(f),
    ),
    CauseRule(
        "all phases briefly",
        "fault",
        0.5,
        lambda f: "interruption" in f.types and f.is_steep and f.returns and f.main.end - f.main.start < _QUICK,
    ),
    CauseRule(
        "interruption",
        "unknown",
        0.5,
        lambda f: "interruption" in f.types,
        "supply opened, no fault is visible before it",
    ),
    CauseRule(
        "slow saturation",
        "transformer energising",
        0.02,
        lambda f: f.saturates and f.is_steep and f.returns_slowly and f.falls,
    ),
    CauseRule("open neutral", "unknown", 0.06, lambda f: f.is_broken_neutral, "a broken neutral, or an earth fault"),
    CauseRule(
        "neutral moves",
        "fault",
        0.06,
        lambda f: f.neutral_moves and f.is_steep and (f.returns_at_once or f.ends_inside or f.is_deep),
    ),
    CauseRule("deep", "fault", _LARGE, lambda f: f.is_deep and f.is_steep and f.falls),
    CauseRule(
        "saturation",
        "transformer energising",
        0.02,
        lambda f: f.saturates and f.is_steep and not f.returns_at_once and f.falls,
    ),
    CauseRule(
        "steps down and up",
        "fault",
        0.08,
        lambda f: f.is_steep and f.returns_at_once and f.falls and (f.dip >= 0.1 or f.is_unequal),
    ),
    CauseRule("swell", "unknown", 0.1, lambda f: not f.falls, "load rejection, an earth fault elsewhere, or a neutral"),
    CauseRule(
        "steps back",
        "load switching",
        0.02,
        lambda f: f.is_steep and f.returns_at_once and not f.is_brief and (bool(f.currents) or not f.is_unequal),
    ),
    CauseRule(
        "slow and equal",
        "motor start",
        0.03,
        lambda f: f.is_steep and f.returns_slowly and f.falls and not f.is_unequal and not f.starts_inside,
    ),
    CauseRule(
        "slow and unequal",
        "transformer energising",
        0.03,
        lambda f: f.is_steep and f.returns_slowly and f.falls and not f.has_plain_current,
    ),
    CauseRule(
        "comes back",
        "motor start",
        0.03,
        lambda f: f.is_steep and f.comes_back and not f.is_unequal and not f.starts_inside,
    ),
    CauseRule(
        "unequal to the end",
        "fault",
        0.08,
        lambda f: not f.returns and f.is_steep and f.is_unequal and f.falls and not f.comes_back,
    ),
    CauseRule("step of a load", "load switching", 0.02, lambda f: f.stays and f.is_load),
    CauseRule("step up", "load switching", 0.02, lambda f: f.stays and not f.falls and "transient" not in f.types),
    CauseRule(
        "step down",
        "load switching",
        0.02,
        lambda f: f.stays and f.falls and f.is_long and not f.has_plain_current and f.dip < _LOAD_DIP,
    ),
    CauseRule("record ends", "unknown", 0.0, lambda f: f.ends_inside, "not visible: the record ends inside the event"),
    CauseRule("other", "unknown", 0.0, lambda _: True),
)
"""The first that speaks gives the cause; its probability is in `probabilities.json`."""


def apply_cause_rules(facts: CauseFacts) -> CauseRule:
    """Return the first rule that speaks, and was right often enough on third-party events."""
    speaking = (rule for rule in RULES if rule.speaks(facts))
    return next(
        rule
        for rule in speaking
        if rule.cause == "unknown" or cell_probability(name_cell(rule, facts)) >= LEAST_PROBABILITY
    )


LEAST_PROBABILITY = 0.6
"""Of a cause that is named."""
SIZES = (0.03, 0.1, 0.2, 0.35)
"""Bounds between which changes of Urms(1/2) are of one size [pu]."""


def name_cell(rule: CauseRule, facts: CauseFacts) -> str:
    """Name of a cell of the table of probabilities: the rule, the size of the change, currents or none."""
    bounds = [0.0, *(bound for bound in SIZES if facts.size >= bound)]
    return f"{rule.name}, change from {100 * bounds[-1]:g} %, {'with' if facts.currents else 'without'} currents"


_SUREST = 0.95
"""Largest probability: there are kinds of events that the table does not have."""
_SURE = 0.8
_ENOUGH = 16
"""Probability that needs enough events: the lower bound of their 95 % interval must be above it."""


def cell_probability(cell: str) -> float:
    """Probability that a rule is right, by how often it was in a cell of the table; few events make it lower.

    If there are few, those of the same rule and size with or without currents count, else all of the rule.
    """
    rule, size, _ = cell.split(", ")
    table = read_probabilities()
    for start in (cell, f"{rule}, {size},", f"{rule},"):
        counts = [counts for name, counts in table.items() if name.startswith(start)]
        right, total = (sum(column) for column in zip((0, 0), *counts, strict=True))
        if total >= _ENOUGH:
            break
    likely = (right + 1) / (total + 2)
    is_shown = _wilson_bound(right, total) >= _SURE
    return float(round(min(likely, _SUREST if is_shown else _SURE - 0.01), 3))


def _wilson_bound(right: int, total: int) -> float:
    """Lower bound of the 95 % interval of a share, after Wilson; 0 of nothing."""
    z = 1.96
    share = right / max(total, 1)
    spread = z * (share * (1 - share) * total + z * z / 4) ** 0.5
    return float((right + z * z / 2 - spread) / (total + z * z))


@cache
def read_probabilities() -> dict[str, tuple[int, int]]:
    """The table of probabilities: right causes and all, by cell."""
    text = Path(__file__).with_name("probabilities.json").read_text(encoding="utf-8")
    return {name: (right, total) for name, (right, total) in json.loads(text)["cells"].items()}


def list_evidence(facts: CauseFacts) -> tuple[str, ...]:
    """The measurements behind a cause, in words."""
    sentences = (*_evidence_of_levels(facts), *_evidence_of_events(facts), *_evidence_of_currents(facts))
    return sentences or ("no change of the voltage beyond the event itself",)


def _evidence_of_levels(facts: CauseFacts) -> Iterator[str]:
    """How the voltage changes and returns."""
    trace = facts.moving
    if trace is None:
        if abs(facts.lasting) >= _FEEDS and facts.transient is not None:
            yield f"the voltage stays {100 * abs(facts.lasting):.1f} % {'higher' if facts.lasting > 0 else 'lower'}"
        elif facts.trace is not None:
            yield f"Urms changes by {100 * facts.size:.1f} %, too little to name a cause by it"
        return
    yield _evidence_of_change(trace, facts)
    if facts.returns and not np.isnan(trace.recovery):
        how = "at once" if facts.returns_at_once else "slowly"
        yield f"returns {how} ({100 * min(trace.recovery, 1.0):.0f} % of it within 1.5 cycles)"
    elif facts.stays and facts.is_long:
        yield f"stays: {trace.after[trace.worst]:.3f} pu after {trace.before[trace.worst]:.3f} pu"
    if len(trace.labels) > 1 and trace.dips.max() > 0.01 and trace.dips.min() < 0.9:
        word = "unequal" if facts.is_unequal else "equal"
        each = ", ".join(f"{name} {100 * dip:.0f}" for name, dip in zip(trace.labels, trace.dips, strict=True))
        yield f"{word} dips ({each} %)"


def _evidence_of_events(facts: CauseFacts) -> Iterator[str]:
    """What speaks for a cause in the events."""
    sag = next((event for event in facts.events if event.type == "sag"), None)
    if sag is not None and any(event.type == "interruption" for event in facts.events):
        yield f"{sag.where} at {sag.magnitude:.2f} pu beside the interruption"
    if facts.repeats > _MOST_SHOTS:
        yield f"{facts.repeats} dips one after another"
    if facts.saturates and facts.second > 0:
        yield f"second harmonic rises by {100 * facts.second:.1f} %"
    sharp = max((e for e in facts.events if e.type == "transient"), key=lambda e: e.magnitude, default=None)
    if sharp is not None and (facts.moving is None or facts.transient is not None):
        yield _evidence_of_transient(facts.transient or sharp)
    if facts.neutral_moves:
        yield "some phases rise while others fall: the neutral moves"


def _evidence_of_transient(event: Event) -> str:
    """An oscillation or impulse, with what is known of it."""
    hertz, decay = (event.details.get(name, float("nan")) for name in ("frequency", "decay"))
    at = "" if np.isnan(hertz) else f" at {frequency_text(hertz)}"
    lasting = "" if np.isnan(decay) else f" for {1000 * 3 * decay:.1f} ms"
    word = "an impulse" if event.category.startswith("impulsive") else "an oscillation"
    return f"{word} of {event.magnitude:.2f} pu{at}{lasting}"


def _evidence_of_currents(facts: CauseFacts) -> Iterator[str]:
    """The current of the feeder that rises most."""
    for feeder in facts.currents[:1]:
        if feeder.ratio > 1.05:
            during = unit_text(feeder.before + feeder.rise, "A")
            yield (
                f"current of {feeder.feeder} from {unit_text(feeder.before, 'A')} to {during}, "
                f"{100 * feeder.second:.0f} % second harmonic"
            )


def _evidence_of_change(trace: Trace, facts: CauseFacts) -> str:
    falls = bool(trace.dips[trace.worst] >= trace.rises[trace.worst])
    if facts.starts_inside:
        word = "low" if falls else "high"
        return f"{trace.labels[trace.worst]} is up to {100 * trace.size:.0f} % too {word}, from the first sample on"
    word = "dips" if falls else "rises"
    how = "in a step" if facts.is_steep else "gradually"
    return f"{trace.labels[trace.worst]} {word} by {100 * trace.size:.0f} % {how}"
