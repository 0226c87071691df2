"""The cause of an incident, by rules on what was measured: voltages, and the currents of the feeders.

A rule speaks only of changes beyond the noise of Urms(1/2) and beyond a smallest change of its own. How probable it is
was estimated on events of several authors (`probabilities.json`, written by `research/cause_probabilities.py`).
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

    The second harmonic is that of the change, over its fundamental. `change` is the largest change of a phase over the
    largest current before; `active` and `reactive` are those of the powers over the apparent power, `factor` is the
    power factor of the change; NaN if the voltages are unknown. `kept` is the fraction of the rise that is left at the
    end of what is seen; NaN if unknown.
    """

    feeder: str
    before: float
    rise: float
    phases: str
    second: float
    change: float
    active: float = np.nan
    reactive: float = np.nan
    kept: float = np.nan

    @property
    def factor(self) -> float:
        """Power factor of what was switched."""
        return abs(self.active) / max(float(np.hypot(self.active, self.reactive)), 1e-9)

    @property
    def ratio(self) -> float:
        """The largest current over that before."""
        return 1 + self.rise / max(self.before, 1e-9)


def measure_currents(
    recording: RecordingSource, voltages: Sequence[int], moments: tuple[float, float, float], frequency: float
) -> tuple[FeederCurrents, ...]:
    """Compare the currents of each feeder in cycles before, during and after an incident [s]; the largest rise first.

    `voltages` are the channels A, B and C to neutral, or AB, BC and CA; none if they are not known.
    """
    numbers = [i for i, one in enumerate(recording.channels) if one.is_current and one.phase in ("A", "B", "C")][:_MOST]
    both = [*numbers, *voltages]
    old, new, late = (_phasors_at(recording, both, moment, frequency) for moment in moments)
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
            if late is not None and found.rise > 0:
                found = replace(found, kept=(float(np.abs(late[0, own]).max()) - found.before) / found.rise)
            if voltages:
                are_pairs = recording.channels[voltages[0]].phase == "AB"
                powers = [_power(table[0, len(numbers) :], table[0, own], are_pairs) for table in (old, new)]
                step = (powers[1] - powers[0]) / max(*np.abs(powers), 1e-12)
                found = replace(found, active=step.real, reactive=step.imag)
            feeders.append(found)
    return tuple(sorted(feeders, key=lambda one: -one.rise))


def _power(voltages: AnyArray, currents: AnyArray, are_pairs: bool) -> complex:
    """Complex power of three phases; from voltages AB, BC and CA without what flows to earth."""
    to_neutral = (voltages - np.roll(voltages, 1)) / 3 if are_pairs else voltages
    return complex(np.sum(to_neutral * np.conj(currents)))


def measure_change(
    recording: RecordingSource, voltages: Sequence[int], before: float, during: float, frequency: float
) -> tuple[float, float]:
    """Largest change of a voltage between phases over its value before [fraction]; turn of the mean angle [degrees].

    The turn is negative if the voltages lag; both are NaN if they are unknown.
    """
    old, new = (_phasors_at(recording, list(voltages), moment, frequency) for moment in (before, during))
    if not voltages or old is None or new is None:
        return float("nan"), float("nan")
    lines = [np.abs(table[0] - np.roll(table[0], 1)) for table in (old, new)]
    turn = float(np.angle(np.sum(new[0] * np.conj(old[0])), deg=True))
    return float(np.max(np.abs(lines[1] - lines[0]) / np.maximum(lines[0], 1e-12))), turn


def measure_jump(
    recording: RecordingSource, voltages: Sequence[int], span: tuple[float, float], frequency: float
) -> float:
    """Jump of the angle of all voltages over a span [s] that stays [degrees], that of the least; NaN if unknown.

    The frequency is that of the cycles next to the span: of its mean, a jump would be a part.
    """
    moments = [span[k] + cycles / frequency for k, cycles in ((0, -3.2), (0, -1.2), (1, 0.6), (1, 2.6))]
    tables = [_phasors_at(recording, list(voltages), moment, frequency) for moment in moments]
    before, after = tables[1:3]
    if not voltages or before is None or after is None:
        return float("nan")
    drifts = [new[0] * np.conj(old[0]) for old, new in (tables[:2], tables[2:]) if old is not None and new is not None]
    drifted = np.exp(-0.5j * frequency * (moments[2] - moments[1]) * np.angle(np.sum(drifts)))
    jumps = np.angle(after[0] * np.conj(before[0]) * drifted, deg=True)
    return float(min(jumps, key=abs)) if np.ptp(np.sign(jumps)) == 0 else 0.0


def _feeder_currents(name: str, old: AnyArray, new: AnyArray) -> FeederCurrents:
    change = np.abs(new[0] - old[0])
    largest = float(change.max())
    faulted = [phase for phase, size in zip("ABC", change, strict=True) if size > _TAKES_PART * largest]
    earth = "G" if (abs(complex((new[0] - old[0]).sum())) / 3) > _EARTH * largest and len(faulted) < 3 else ""
    worst = int(change.argmax())
    second = float(np.abs(new[1, worst] - old[1, worst])) / max(largest, 1e-12)
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
"""Fraction of a fall, of one next to an interruption, of a return, and of equal dips, within a cycle and a half: a
step."""
_DRIFT = 0.12  # tuned
"""Fraction of a dip that comes back gradually while a motor runs up."""
_LARGE = 0.25  # tuned
_DEEP = 0.35  # tuned
"""Only faults make unequal dips, and equal dips, of this depth [pu]."""
_UNEQUAL = 0.35  # tuned
"""Spread of the dips of the phases from which on they are unequal."""
_SECOND = 0.006  # tuned
"""Rise of the second harmonic of a transformer that saturates [pu], and as a fraction of the dip."""
_SECOND_RATIO = 0.05  # tuned
_STAYS = 0.6  # tuned
_RETURNS = 0.4  # tuned
"""Fraction of a change that stays from which on it is a step, and below which the voltage has returned."""
_OSCILLATION = (150.0, 6000.0)  # tuned
"""Frequencies of the ringing of capacitor banks [Hz]."""
_FIRST = 0.05  # tuned
"""Transients in this part of the first cycle are the start of a simulation, or of a recorder."""
_SLIGHT = 0.2  # tuned
"""Largest dip or rise that the ringing of a capacitor bank makes, or a motor that is started gradually [pu]."""
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
_JUMP = 6.0  # tuned
_JUMP_PER_SECOND = 25.0  # tuned
_TRANSFER = 2.5  # tuned
"""Jump of the angle of all voltages that is another source [degrees], what is added to it per second of the incident,
and the most cycles that a transfer takes without a deep dip of all phases."""
_ACTIVE = 0.05  # tuned
_BY_VOLTAGE = 3.0  # tuned
"""Change of the active power that is a load's, beyond that of the voltage times this."""
_FACTOR = 0.5  # tuned
_LOAD_CURRENT = 4.0  # tuned
_LOAD_DIP = 0.08  # tuned
"""Least power factor of a load that is switched, its largest rise of the current next to a dip of more than the last
[pu]: a motor that starts has a lower factor; a fault takes more, or makes a deeper dip."""
_LOAD_FACTOR = 0.7  # tuned
_TOO_LONG = (0.15, 0.45)  # tuned
"""Power factor of a load that is switched on and off; the longest slight dips by a fault, if a current has this factor,
and if not but the dips are equal [s]."""
_STARTS = 0.1  # tuned
"""Rise of a current [fraction] that is that of the motor, if one starts."""
_DRAWN = 0.6  # tuned
_STANDS_STILL = 0.1  # tuned
"""Fraction of the rise of a current that is left at the end of what is seen, if a motor has not run up; by how much it
differs from 1 at most if one stands still."""
_LAG = 18.0  # tuned
"""Turn of the angles that comes with the active power of a load [degrees per pu of the change of the level]; motors
that start and shunt banks draw reactive power, and turn them less."""
_GONE = 0.9  # tuned
"""Fraction of a current that vanishes where a conductor opens."""
_UNCLEARED = 25.0  # tuned
"""Cycles after which a fault that only deep voltages show would have been cleared."""
_TAP = 0.03
"""Change that no step of a tap changer makes [pu]."""
_BANK_HERTZ = 1000.0  # tuned
"""Frequency of the ringing above which a capacitor bank is known by the level alone that it leaves [Hz]."""
_STRIKES = 0.4  # tuned
"""Least transient of a bank that strikes again when it is switched off [pu of the peak]."""
_BANK_TURN = 1.2  # tuned
"""Turn of the angles above which more than a bank is switched [degrees]."""
_BANK_FACTOR = 0.2  # tuned
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
_RESONANCE = 1.12  # tuned
"""Rise of Urms(1/2) that no fault makes, not even one to an isolated neutral that strikes again [pu]."""
_MOST_SHOTS = 5
"""Dips that a fault with reclosing makes at most; slight ones that repeat more often are a load's."""
_ISLAND = 0.0015  # tuned
"""Change of the frequency that no motor, transformer or load makes in a large network [fraction]; a large change of the
level seems to make one, too."""
_FLAT_CYCLES = 12.0  # tuned
"""Cycles that a step must last until the end of the record to be a step."""


@dataclass(frozen=True, eq=False)
class CauseFacts:
    """What the rules know of an incident: its events, the main one first, trace and stages of its system, currents.

    `line_change` is that of the voltages between phases, `turn` that of the mean angle which comes at once,
    `jump` that of all angles which stays [degrees], `frequency_change` that which most of the frequency after its
    start has [fraction]; NaN if unknown.
    """

    events: Sequence[Event]
    trace: Trace | None
    stages: Sequence[IncidentStage] = ()
    currents: Sequence[FeederCurrents] = ()
    line_change: float = float("nan")
    turn: float = float("nan")
    jump: float = float("nan")
    frequency_change: float = float("nan")

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
        has_level = self.types & _MOVING or self.trace.left * self.trace.size >= _SMALLEST
        return max(_SMALLEST, _NOISE * self.trace.noise) if has_level else np.inf

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
        dead = [event.cut_start for event in self.levels if event.type == "interruption"]
        return dead == [True] and not any(stage.is_low for stage in self.stages)

    @cached_property
    def transient(self) -> Event | None:
        """The largest transient on two phases, or on the only channel, but for what begins with the first samples."""
        late = [e for e in self.events if e.type == "transient" and e.start * e.nominal_frequency > _FIRST]
        n_phases = len({part.label for event in late for part in event.parts})
        is_wide = self.trace is not None and n_phases >= min(2, len(self.trace.labels))
        return max(late, key=lambda event: event.magnitude, default=None) if is_wide else None

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
        is_fault = self.dip > _DEEP or "interruption" in self.types
        return 0 if is_fault else sum(one.type == "sag" and one.system == self.main.system for one in self.events)

    @cached_property
    def second(self) -> float:
        """Rise of the second harmonic [pu], from none if that before is unknown; 0 if unknown."""
        known = (event.details for event in self.events if "second_during" in event.details)
        return max((one["second_during"] - one.get("second_before", 0.0) for one in known), default=0.0)

    @cached_property
    def saturates(self) -> bool:
        """Whether a second harmonic appears in voltage or current, as a transformer makes when it is energized."""
        return self.has_inrush or self.second > max(_SECOND, _SECOND_RATIO * self.dip)

    @cached_property
    def has_inrush(self) -> bool:
        """Whether a current rises with the second harmonic of a transformer's inrush."""
        return not self.is_brief and any(
            one.change > _STARTS
            and one.second > (_INRUSH if one.ratio > _CURRENT or one.factor < _BANK_FACTOR else 2 * _INRUSH)
            for one in self.currents[:1]
        )

    @cached_property
    def is_brief(self) -> bool:
        """Whether what is low or high is so for a cycle and a half at most, and no part of it lasts."""
        if self.moving is None or not self.moving.recovery >= _RETURNS:
            return False
        moving = [event.cycles for event in self.events if event.type in _MOVING]
        return bool(moving) and max(moving) <= _BRIEF

    @cached_property
    def has_plain_current(self) -> bool:
        """Whether a current rises without the second harmonic of an inrush; of a brief one it is that of its edges."""
        return any(
            one.ratio > _CURRENT and (one.second < _INRUSH / 3 or self.is_brief or self.ends_inside)
            for one in self.currents[:1]
        )

    @cached_property
    def currents_stay(self) -> bool:
        """Whether currents flow, and none changes."""
        return bool(self.currents) and all(one.change < _SAME_CURRENT and one.before > 1e-6 for one in self.currents)

    @cached_property
    def active_steps(self) -> bool:
        """Whether the active power changes, as no capacitor makes it, by more than the voltage explains."""
        least = _ACTIVE + _BY_VOLTAGE * (self.size if np.isnan(self.lasting) else abs(self.lasting))
        return any(abs(one.active) > least and one.reactive > -_ACTIVE for one in self.currents[:1])

    @cached_property
    def lag(self) -> float:
        """How far the angles turn as by a load: back where the level falls, forward where it rises [degrees/pu]."""
        return -self.turn / max(self.size, _SMALLEST) * (1 if self.falls else -1)

    @cached_property
    def is_power_unknown(self) -> bool:
        """Whether there are no currents, none with known powers, or none that changes by more than the voltage does."""
        return all(np.isnan(one.active) or one.change < 2 * self.size for one in self.currents)

    @cached_property
    def is_load(self) -> bool:
        """Whether the currents change as those of a load that is switched, not of a motor that starts, nor a fault."""
        side = 1 if self.falls else -1
        return not self.flows_to_earth and any(
            (side * one.active > _ACTIVE or self.active_steps)
            and one.factor > _FACTOR
            and (self.size < (_SLIGHT if one.factor > _LOAD_FACTOR else _LOAD_DIP) or one.ratio < _LOAD_CURRENT)
            for one in self.currents[:1]
        )

    @cached_property
    def is_low_voltage(self) -> bool:
        """Whether the neutral is earthed, and loads are connected to it."""
        return _LOW_VOLTAGE[0] <= self.main.reference_volts <= _LOW_VOLTAGE[1]

    @cached_property
    def flows_to_earth(self) -> bool:
        """Whether the current of one phase rises to earth where no load is connected so: a fault of high impedance."""
        return not self.is_low_voltage and any(
            len(one.phases) == 2
            and one.phases.endswith("G")
            and one.active > _ACTIVE
            and one.rise > _STARTS * one.before
            for one in self.currents[:1]
        )

    @cached_property
    def opens_conductor(self) -> bool:
        """Whether the current of a phase vanishes while a part of its voltage is left: nothing feeds it any more."""
        is_left = self.moving is not None and self.moving.inside[:, :6].max() < 1 - _DEAD
        return is_left and any(
            one.change > _GONE and one.rise < 0.6 * one.before and not one.factor < _FACTOR for one in self.currents[:1]
        )

    @cached_property
    def draws_reactive(self) -> bool:
        """Whether the currents rise by more reactive than active power, as those of a motor do that starts."""
        return any(one.reactive > max(_ACTIVE, abs(one.active)) and one.rise > 0 for one in self.currents[:1])

    @cached_property
    def is_drawn_on(self) -> bool:
        """Whether the current that rose flows on until the end, as that of a motor does not that has run up."""
        return self.is_long and any(one.kept > _DRAWN for one in self.currents[:1])

    @cached_property
    def sheds_load(self) -> bool:
        """Whether the active power falls where all voltages rise alike."""
        trace = self.moving
        is_alike = trace is not None and not self.falls and trace.rises.min() > _TAKES_PART * trace.rises.max()
        return is_alike and any(one.active < -2 * _ACTIVE and one.rise < 0 for one in self.currents[:1])

    @cached_property
    def jumps(self) -> bool:
        """Whether all angles jump and stay so, beyond what the frequency explains: another source."""
        lasts = max(e.end for e in self.events) - min(e.start for e in self.events)
        return abs(self.jump) > _JUMP + _JUMP_PER_SECOND * lasts

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
        is_active = self.lag > 2 * _LAG if self.is_power_unknown else self.currents[0].factor > _LOAD_FACTOR
        may_be_motor = not self.is_unequal and len(trace.labels) >= 3 and self.dip <= _DEEP and not is_active
        # The last part of a motor's run-up is quick.
        return max(trace.in_steps, trace.recovery) >= (_BACK_EQUAL if may_be_motor else _BACK)

    @cached_property
    def is_too_long(self) -> bool:
        """Whether slight dips outlast those of a fault: equal ones, those of low voltage, or with a load's current."""
        trace = self.moving
        if trace is None or self.size >= (_SLIGHT / 2 if self.is_unequal else _SLIGHT):
            return False
        is_active = self.lag > _LAG if self.is_power_unknown else self.currents[0].factor > _LOAD_FACTOR
        is_taken = is_active and any(one.rise > _STARTS * one.before for one in self.currents[:1])
        return self.main.cycles * trace.cycle > (
            _TOO_LONG[0] if is_taken else np.inf if self.is_unequal and not self.is_low_voltage else _TOO_LONG[1]
        )

    @cached_property
    def runs_up(self) -> bool:
        """Whether equal dips come back gradually, as while a motor accelerates."""
        if self.moving is None or not self.falls or self.is_unequal or self.starts_inside:
            return False
        is_fed_here = any(one.rise > _STARTS * one.before and one.active > _ACTIVE for one in self.currents[:1])
        is_gradual = self.returns and max(self.moving.recovery, self.moving.in_steps) < _BACK
        if is_fed_here and (self.is_drawn_on or not self.draws_reactive):
            return False
        return is_gradual or (self.comes_back and (is_fed_here or self.lag <= _LAG))

    @cached_property
    def is_unequal(self) -> bool:
        """Whether the phases dip unequally."""
        return self.moving is not None and self.moving.spread > _UNEQUAL

    @cached_property
    def is_deep(self) -> bool:
        """Whether only a fault makes such a dip."""
        return self.dip > (_LARGE if self.is_unequal else _DEEP)

    @cached_property
    def neutral_moves(self) -> bool:
        """Whether some phases rise while others fall: the neutral moves, as in an earth fault."""
        trace = self.moving
        if trace is None or len(trace.labels) < 3:
            return False
        moves = np.where(trace.dips >= trace.rises, trace.dips, -trace.rises)
        return bool(-_RESONANCE < moves.min() < -0.04 and moves.max() > 0.06)  # tuned

    @cached_property
    def is_broken_neutral(self) -> bool:
        """Whether a neutral that is earthed moves, while the voltages between phases do not change."""
        return self.neutral_moves and self.is_low_voltage and not self.line_change > _SAME_VOLTAGE

    @cached_property
    def is_lost_input(self) -> bool:
        """Whether voltages are lost while the other phases and all currents stay: a fuse of a voltage transformer."""
        trace = self.moving
        if trace is None or self.starts_inside or not (self.ends_inside or self.currents_stay):
            return False
        lost = trace.after_start < (1 - _LARGE if self.currents_stay else _LOST)
        others = np.maximum(trace.dips, trace.rises)[~lost].max(initial=0.0)
        are_still = self.currents_stay or not (self.currents or lost.all())
        return bool(lost.any() and others < _SAME_VOLTAGE) and are_still

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
    """A current that rises without second harmonic, and a voltage that returns at once, or is too low for a machine."""
    is_machine = not (f.is_deep or (f.returns_at_once and not f.frequency_change > _ISLAND))
    may_be_load = f.size < _LOAD_DIP and (f.is_load or not any(one.ratio > _LOAD_CURRENT for one in f.currents[:1]))
    is_other = is_machine or f.saturates or may_be_load or f.is_too_long
    is_fault = f.has_plain_current and f.is_steep and (f.falls or f.neutral_moves)
    return is_fault and (f.returns or f.is_deep) and not is_other


def _is_cause_fault_interruption(f: CauseFacts) -> bool:
    """An interruption next to another level, of other phases or before it, or that is soon followed by another."""
    trace = f.moving
    if trace is None or "interruption" not in f.types or not trace.fall >= _STEEP_PART:
        return False
    parts = [part for event in f.levels for part in event.parts]
    starts = {part.label: part.start for part in sorted(parts, key=lambda part: part.start, reverse=True)}
    one_after_another = max(starts.values()) - min(starts.values()) > 1.25 * trace.cycle
    dead = [event for event in f.levels if event.type == "interruption"]
    onto_fault = any(0 < second.start - first.end < _QUICK for first, second in pairwise(dead))
    is_low_first = next((stage.is_low for stage in f.stages if stage.is_low or stage.name == "interruption"), False)
    is_dip_elsewhere = any(e.type == "sag" and e.magnitude > _DEAD and e.system != f.main.system for e in f.levels)
    return is_low_first or one_after_another or onto_fault or is_dip_elsewhere


def _is_cause_switching(f: CauseFacts) -> bool:
    """A transient on some phases that moves the voltage slightly."""
    stays_low = (f.saturates and f.dip > _LITTLE) or (f.dip > 2 * _LITTLE and not f.returns_at_once)
    if f.transient is None or "interruption" in f.types or stays_low:
        return False
    return f.size < _SLIGHT and (f.main.type != "sag" or f.main.cycles < 2.0)


def _is_cause_capacitor(f: CauseFacts) -> bool:
    """One that leaves a higher level, or strikes again and leaves a lower one, or rings low where it is not seen."""
    if f.trace is None or f.transient is None:
        return False
    if not np.isnan(f.lasting):
        change = abs(f.lasting) if f.rings and f.transient.magnitude > _STRIKES else f.lasting
        return change >= (_FEEDS if f.rings else 2 * _FEEDS)
    known = np.nan_to_num(f.trace.before - f.trace.after)  # if there is no level before, dips are from the one after
    dip = float((f.trace.during - known[:, None]).max(initial=0.0))
    return f.rings and f.transient.details["frequency"] < _BANK_HERTZ and dip < _LITTLE


RULES = (
    CauseRule(
        "begins dead", "unknown", 0.0, lambda f: f.begins_dead, "not visible: the record starts inside the event"
    ),
    CauseRule("lost input", "unknown", _LARGE, lambda f: f.is_lost_input, "VT fuse? Nothing else changes"),
    CauseRule(
        "transfer",
        "unknown",
        0.0,
        lambda f: (
            f.jumps
            and not (f.is_load and f.is_drawn_on)
            and all(e.cycles <= _TRANSFER for e in f.events if e.type in _MOVING)
        ),
        "the angle jumps: another source?",
    ),
    CauseRule(
        "resonance",
        "unknown",
        _RESONANCE,
        lambda f: f.moving is not None and f.moving.rises.max() > _RESONANCE and not (f.flows_to_earth and f.returns),
        "higher than a fault makes it: a resonance?",
    ),
    CauseRule("repeats", "load switching", 0.03, lambda f: f.repeats > _MOST_SHOTS and f.returns_at_once),
    CauseRule("fault current", "fault", 0.03, _is_cause_fault_current),
    CauseRule(
        "reactive power",
        "capacitor switching",
        0.0,
        lambda f: (
            f.is_bank
            and (
                f.stays or (f.is_drawn_on and not f.falls) or (abs(f.lasting) >= _FEEDS and (f.is_brief or not f.falls))
            )
        ),
    ),
    CauseRule(
        "load is shed",
        "load switching",
        0.03,
        lambda f: f.sheds_load and f.is_steep and not f.frequency_change > _ISLAND,
    ),
    CauseRule("open conductor", "unknown", 0.0, lambda f: f.opens_conductor, "a conductor or the supply opened"),
    CauseRule("interruption after a sag", "fault", 0.5, _is_cause_fault_interruption),
    CauseRule("earth current", "fault", 0.0, lambda f: f.flows_to_earth and not f.saturates),
    CauseRule(
        "active power",
        "load switching",
        0.0,
        lambda f: (
            f.active_steps
            and f.lasting != 0
            and (
                _is_cause_switching(f)
                or ("transient" in f.types and f.size < _SLIGHT / 2 and f.is_load and not f.saturates)
            )
        ),
    ),
    CauseRule(
        "transient",
        "capacitor switching",
        0.0,
        lambda f: (
            _is_cause_switching(f)
            and not f.active_steps
            and not abs(f.turn) > _BANK_TURN
            # each phase goes to its new level at once
            and not (f.trace is not None and abs(f.lasting) > np.maximum(f.trace.dips, f.trace.rises).min() / _BACK)
            and _is_cause_capacitor(f)
        ),
    ),
    CauseRule(
        "interruption",
        "unknown",
        0.5,
        lambda f: "interruption" in f.types,
        "supply opened, no fault is visible before it",
    ),
    CauseRule(
        "frequency",
        "unknown",
        0.0,
        lambda f: f.frequency_change > _ISLAND * (1 + f.size / _LARGE) and not (f.is_deep or f.neutral_moves),
        "the frequency changes, too: an island?",
    ),
    CauseRule("open neutral", "unknown", 0.06, lambda f: f.is_broken_neutral, "a broken neutral, or an earth fault"),
    CauseRule(
        "neutral moves",
        "fault",
        0.06,
        lambda f: f.neutral_moves and f.is_steep and (f.returns_at_once or f.ends_inside or f.is_deep),
    ),
    CauseRule(
        "transfer after a gap",
        "unknown",
        _LARGE,
        lambda f: f.jumps and f.moving is not None and f.moving.dips.min() > _LARGE,
        "the angle jumps: another source?",
    ),
    CauseRule("brief", "fault", 0.1, lambda f: f.is_brief and f.is_steep and f.falls),
    CauseRule("deep", "fault", _LARGE, lambda f: f.is_deep and f.is_steep and f.falls and not f.ends_inside),
    CauseRule(
        "deep to the end",
        "fault",
        _LARGE,
        lambda f: (
            f.is_deep
            and f.is_steep
            and f.falls
            and (f.main.cycles < _UNCLEARED or (f.moving is not None and f.moving.in_steps > _BACK))
        ),
    ),
    CauseRule(
        "saturation",
        "transformer energising",
        0.02,
        lambda f: (
            f.saturates
            and f.is_steep
            and not f.returns_at_once
            and f.falls
            and (not f.stays or f.comes_back or not f.is_long)
        ),
    ),
    CauseRule(
        "inrush current",
        "transformer energising",
        0.0,
        lambda f: f.has_inrush and f.draws_reactive and f.currents[0].kept < _DRAWN and not f.returns_at_once,
    ),
    CauseRule(
        "steps down and up",
        "fault",
        0.08,
        lambda f: (
            f.is_steep
            and f.returns_at_once
            and f.falls
            and not f.is_too_long
            and f.is_unequal
            and (not f.is_low_voltage or f.dip >= _SLIGHT)
        ),
    ),
    CauseRule(
        "slight steps down and up",
        "fault",
        0.08,
        lambda f: f.is_steep and f.returns_at_once and f.falls and not f.is_too_long and (f.dip >= 0.1 or f.is_unequal),
    ),
    CauseRule(
        "restrike",
        "capacitor switching",
        0.1,
        lambda f: f.is_brief and "transient_peak" in f.main.details and abs(f.lasting) >= _FEEDS and not f.falls,
    ),
    CauseRule("swell", "unknown", 0.1, lambda f: not f.falls, "load rejection, an earth fault elsewhere, or a neutral"),
    CauseRule(
        "steps back",
        "load switching",
        0.02,
        lambda f: (
            f.is_steep
            and f.returns_at_once
            and not f.is_brief
            and (not f.is_unequal and f.lag > _LAG if f.is_power_unknown else f.is_load)
        ),
    ),
    CauseRule("slow and equal", "motor start", 0.03, lambda f: f.is_steep and f.runs_up and f.returns),
    CauseRule(
        "slow and unequal",
        "transformer energising",
        0.03,
        lambda f: (
            f.is_steep and f.returns and not f.returns_at_once and f.falls and f.is_unequal and not f.is_low_voltage
        ),
    ),
    CauseRule("comes back", "motor start", 0.03, lambda f: f.is_steep and f.runs_up),
    CauseRule("soft start", "motor start", 0.02, lambda f: f.runs_up and f.draws_reactive and f.size < _SLIGHT),
    CauseRule(
        "unequal to the end",
        "fault",
        0.08,
        lambda f: (
            not f.returns
            and f.is_steep
            and f.is_unequal
            and f.falls
            and not f.comes_back
            and f.main.cycles < _UNCLEARED
        ),
    ),
    CauseRule(
        "step of a motor",
        "motor start",
        0.03,
        lambda f: (
            f.falls
            and not f.is_unequal
            and f.draws_reactive
            and f.currents[0].ratio > _CURRENT
            and f.currents[0].factor < _FACTOR
            and ((f.stays and abs(f.currents[0].kept - 1) < _STANDS_STILL) or (f.returns and f.is_too_long))
        ),
    ),
    CauseRule("step of a load", "load switching", 0.02, lambda f: f.stays and f.is_load),
    CauseRule(
        "step up",
        "load switching",
        _TAP,
        lambda f: f.stays and not f.falls and "transient" not in f.types and f.lag > _LAG and f.is_power_unknown,
    ),
    CauseRule(
        "step down",
        "load switching",
        _TAP,
        lambda f: f.stays and f.falls and f.is_long and f.dip < _LOAD_DIP and f.lag > _LAG and f.is_power_unknown,
    ),
    CauseRule(
        "current flows on",
        "load switching",
        0.03,
        lambda f: f.is_drawn_on and f.repeats > 2 and not f.is_unequal,
    ),
    CauseRule("record ends", "unknown", 0.0, lambda f: f.ends_inside, "not visible: the record ends inside the event"),
    CauseRule("other", "unknown", 0.0, lambda _: True),
)
"""The first that speaks gives the cause; its probability is in `probabilities.json`."""


def apply_cause_rules(facts: CauseFacts) -> CauseRule:
    """Return the first rule that speaks; it names no cause if it is too seldom right."""
    rule = next(rule for rule in RULES if rule.speaks(facts))
    is_doubtful = cell_probability(name_cell(rule, facts)) < LEAST_PROBABILITY
    return replace(rule, cause="unknown") if is_doubtful else rule


LEAST_PROBABILITY = 0.6
"""Of a cause that is named."""
SIZES = (0.03, 0.1, 0.2, 0.35)
"""Bounds between which changes of Urms(1/2) are of one size [pu]."""


def name_cell(rule: CauseRule, facts: CauseFacts) -> str:
    """Name of a cell of the table of probabilities: the rule, the size of the change, currents or none."""
    bounds = [0.0, *(bound for bound in SIZES if facts.size >= bound)]
    return f"{rule.name}, change from {100 * bounds[-1]:g} %, {'with' if facts.currents else 'without'} currents"


def cell_probability(cell: str) -> float:
    """Probability that a rule is right, by its cell of the table, by rule and size, or by rule; 0.5 if never seen."""
    rule, size, _ = cell.split(", ")
    stated = (read_probabilities().get(name) for name in (cell, f"{rule}, {size}", rule))
    return next(filter(None, stated), 0.5)


@cache
def read_probabilities() -> dict[str, float]:
    """The table of probabilities, by cell."""
    cells = json.loads(Path(__file__).with_name("probabilities.json").read_bytes())["cells"]
    return {name: probability for name, (probability, *_) in cells.items()}


def list_evidence(facts: CauseFacts, cause: str) -> tuple[str, ...]:
    """The measurements behind a cause, in words."""
    sentences = (*_evidence_of_levels(facts, cause), *_evidence_of_events(facts), *_evidence_of_currents(facts))
    return sentences or ("no change of the voltage beyond the event itself",)


def _evidence_of_levels(facts: CauseFacts, cause: str) -> Iterator[str]:
    """How the voltage changes and returns."""
    trace = facts.moving
    if trace is None:
        if abs(facts.lasting) >= _FEEDS and facts.transient is not None:
            yield f"the voltage stays {100 * abs(facts.lasting):.1f} % {'higher' if facts.lasting > 0 else 'lower'}"
        elif facts.trace is not None:
            little = ", too little to name a cause by it" if cause == "unknown" else " only"
            yield f"Urms changes by {100 * facts.size:.1f} %{little}"
        return
    yield _evidence_of_change(trace, facts)
    if facts.returns and not np.isnan(trace.recovery):
        quick = f"({100 * min(trace.recovery, 1.0):.0f} % of it within 1.5 cycles)"
        yield f"returns {'at once' if facts.returns_at_once else 'slowly'} {quick}"
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
        yield f"{sag.where} at {sag.magnitude:.2f} pu next to the interruption"
    if facts.jumps and "interruption" not in facts.types:
        yield f"all angles jump by {abs(facts.jump):.0f} degrees"
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
    return (
        f"{'an impulse' if event.category.startswith('impulsive') else 'an oscillation'} "
        f"of {event.magnitude:.2f} pu{at}{lasting}"
    )


def _evidence_of_currents(facts: CauseFacts) -> Iterator[str]:
    """The current of the feeder that rises most."""
    for feeder in facts.currents[:1]:
        if feeder.ratio > 1.05:
            during = unit_text(feeder.before + feeder.rise, "A")
            factor = "" if np.isnan(feeder.factor) else f", power factor {feeder.factor:.2f}"
            kept = "" if np.isnan(feeder.kept) else f", {100 * max(feeder.kept, 0.0):.0f} % of the rise left at the end"
            yield (
                f"current of {feeder.feeder} from {unit_text(feeder.before, 'A')} to {during}: "
                f"{100 * feeder.second:.0f} % second harmonic{factor}{kept}"
            )


def _evidence_of_change(trace: Trace, facts: CauseFacts) -> str:
    falls = bool(trace.dips[trace.worst] >= trace.rises[trace.worst])
    if facts.starts_inside:
        word = "low" if falls else "high"
        return f"{trace.labels[trace.worst]} is up to {100 * trace.size:.0f} % too {word}, from the first sample on"
    word = "dips" if falls else "rises"
    return (
        f"{trace.labels[trace.worst]} {word} by {100 * trace.size:.0f} % "
        f"{'in a step' if facts.is_steep else 'gradually'}"
    )
