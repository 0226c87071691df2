"""The cause of an incident, by rules on what was measured: voltages, and the currents of the feeders."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pqswarm._base.text import unit_text
from pqswarm._base.typing import AnyArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.event import Event
from pqswarm.measure.incidents.stages import Trace
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
    """Currents of a feeder: the largest before, its rise [A], faulted phases (``"G"``: earth), second harmonic."""

    feeder: str
    before: float
    rise: float
    phases: str
    second: float

    @property
    def ratio(self) -> float:
        """The largest current over that before."""
        return 1 + self.rise / max(self.before, 1e-9)


def measure_currents(
    recording: RecordingSource, before: float, during: float, frequency: float
) -> tuple[FeederCurrents, ...]:
    """Compare the currents of each feeder in a cycle before with one during an incident [s]; the largest rise first."""
    numbers = [i for i, one in enumerate(recording.channels) if one.is_current and one.phase in ("A", "B", "C")][:_MOST]
    old, new = (_current_phasors(recording, numbers, moment, frequency) for moment in (before, during))
    if old is None or new is None:
        return ()
    headers = [recording.channels[i] for i in numbers]
    systems = name_systems(headers)
    feeders = []
    for system in dict.fromkeys(systems):
        places = {headers[i].phase: i for i, name in enumerate(systems) if name == system}
        if len(places) == 3:
            feeders.append(_feeder_currents(system, *(table[:, [places[p] for p in "ABC"]] for table in (old, new))))
    return tuple(sorted(feeders, key=lambda one: -one.rise))


def _feeder_currents(name: str, old: AnyArray, new: AnyArray) -> FeederCurrents:
    change = np.abs(new[0] - old[0])
    largest = float(change.max())
    faulted = [phase for phase, size in zip("ABC", change, strict=True) if size > _TAKES_PART * largest]
    earth = "G" if (abs(complex((new[0] - old[0]).sum())) / 3) > _EARTH * largest and len(faulted) < 3 else ""
    worst = int(np.abs(new[0]).argmax())
    second = float(np.abs(new[1, worst]) / max(float(np.abs(new[0, worst])), 1e-12))
    before = float(np.abs(old[0]).max())
    return FeederCurrents(name, before, float(np.abs(new[0]).max()) - before, "".join(faulted) + earth, second)


def _current_phasors(
    recording: RecordingSource, numbers: list[int], moment: float, frequency: float
) -> AnyArray | None:
    """Phasors of the orders 1 to 3 in the cycle that starts at a moment [s], (3, n_channels); None if incomplete."""
    rate = recording.sampling_rate
    first = round(moment * rate)
    size = round(_CYCLES * rate / frequency)
    if not numbers or first < 0 or first + size > recording.n_samples or size < 2 * _ORDERS + 2:
        return None
    table = read_channels(recording, numbers, first, first + size)
    if not np.isfinite(table).all():
        return None
    # Angles from the start of the record, so that the two moments compare.
    turn = np.exp(-2j * np.pi * frequency * first / rate * np.arange(1, _ORDERS + 1))
    fits = [fit_harmonics(row, rate / frequency, _ORDERS, _CYCLES)[1] * turn for row in table]
    return np.asarray(np.array(fits).T / np.sqrt(2))


_STEEP = 0.6  # tuned
_BACK = 0.7  # tuned
_BACK_EQUAL = 0.9  # tuned
"""Share of a fall, of a return, and of one of equal dips, within a cycle and a half from which on it is a step."""
_DRIFT = 0.12  # tuned
"""Share of a dip that comes back gradually while a motor runs up."""
_DEEP = 0.35  # tuned
"""Only faults make dips of this depth [pu]."""
_UNEQUAL = 0.35  # tuned
"""Spread of the dips of the phases from which on they are unequal."""
_SECOND = 0.006  # tuned
"""Rise of the second harmonic of a transformer that saturates [pu], and as a share of the dip."""
_SECOND_RATIO = 0.05  # tuned
_STAYS = 0.6  # tuned
_RETURNS = 0.4  # tuned
"""Share of a change that stays from which on it is a step, and below which the voltage has returned."""
_OSCILLATION = (100.0, 5000.0)  # tuned
"""Frequencies of the ringing of capacitor banks [Hz]."""
_SLIGHT = 0.2  # tuned
"""Largest dip or rise that the ringing of a capacitor bank makes [pu]."""
_LITTLE = 0.025  # tuned
"""Dip from which on a second harmonic, or a slow return, speaks against a capacitor bank [pu]."""
_QUICK = 0.25  # tuned
"""No breaker recloses sooner [s]: all phases without voltage for a shorter time are a fault."""
_CURRENT = 2.0  # tuned
_INRUSH = 0.15  # tuned
"""Rise of the current of a fault; second harmonic of a current above which it is a transformer's inrush."""
_MOST_SHOTS = 5
"""Dips that a fault with reclosing makes at most; slight ones that repeat more often are a load's."""
_FLAT_CYCLES = 12.0  # tuned
"""Cycles that a step must last until the end of the record to be a step."""


@dataclass(frozen=True, eq=False)
class CauseFacts:
    """What the rules know of an incident: its events, the main one first, the trace of its system, and currents."""

    events: Sequence[Event]
    trace: Trace | None
    currents: Sequence[FeederCurrents] = ()

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
    def moving(self) -> Trace | None:
        """The trace, if the voltage moves."""
        return self.trace if self.trace is not None and self.trace.size > 0 else None

    @cached_property
    def size(self) -> float:
        """Largest deviation of Urms(1/2) from the level before [pu]."""
        return self.moving.size if self.moving is not None else 0.0

    @cached_property
    def dip(self) -> float:
        """Deepest dip [pu]."""
        return float(self.moving.dips.max()) if self.moving is not None else 0.0

    @cached_property
    def ends_inside(self) -> bool:
        """Whether the record ends before the voltage is back."""
        levels = [event for event in self.events if event.type in ("sag", "swell", "interruption")]
        return any(event.cut_end for event in levels if event.end >= max(one.end for one in levels))  # not by a gap

    @cached_property
    def starts_inside(self) -> bool:
        """Whether the record starts inside it."""
        levels = [event for event in self.events if event.type in ("sag", "swell", "interruption")]
        return any(event.cut_start for event in levels if event.start <= min(one.start for one in levels))

    @cached_property
    def oscillation(self) -> Event | None:
        """The largest oscillatory transient; not in the first cycle, where simulations and recorders start."""
        late = [e for e in self.events if e.type == "transient" and e.start * e.nominal_frequency > 1]
        ringing = [event for event in late if not event.category.startswith("impulsive")]
        low, high = _OSCILLATION
        ringing = [event for event in ringing if low <= event.details.get("frequency", 0.0) <= high]
        return max(ringing, key=lambda event: event.magnitude, default=None)

    @cached_property
    def repeats(self) -> int:
        """Slight dips of the system of the main event, one after another."""
        is_slight = self.dip <= _DEEP and "interruption" not in self.types
        return sum(one.type == "sag" and one.system == self.main.system for one in self.events) if is_slight else 0

    @cached_property
    def second(self) -> float:
        """Rise of the second harmonic [pu]; 0 if unknown."""
        known = [e.details for e in self.events if {"second_before", "second_during"} <= e.details.keys()]
        return max((one["second_during"] - one["second_before"] for one in known), default=0.0)

    @cached_property
    def saturates(self) -> bool:
        """Whether a second harmonic appears in voltage or current, as a transformer makes when it is energised."""
        inrush = any(one.second > _INRUSH and one.ratio > _CURRENT for one in self.currents[:1])
        return inrush or self.second > max(_SECOND, _SECOND_RATIO * self.dip)

    @cached_property
    def has_plain_current(self) -> bool:
        """Whether a current rises without the second harmonic of an inrush."""
        return any(one.ratio > _CURRENT and one.second < _INRUSH / 3 for one in self.currents[:1])

    @cached_property
    def is_steep(self) -> bool:
        """Whether the change starts with a step."""
        return self.moving is not None and (self.moving.fall >= _STEEP or self.starts_inside)

    @cached_property
    def returns(self) -> bool:
        """Whether the voltage is back in the record."""
        return self.moving is not None and not self.ends_inside and not self.moving.left > _RETURNS

    @cached_property
    def returns_at_once(self) -> bool:
        """Whether it returns by steps, as after the clearing of a fault."""
        trace = self.moving
        if trace is None or not self.returns:
            return False
        # Three equal dips may be a motor's, whose last part of the run-up is quick.
        least = _BACK if self.is_unequal or len(trace.labels) < 3 or self.dip > _DEEP else _BACK_EQUAL
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
    def neutral_moves(self) -> bool:
        """Whether some phases rise while others fall: the neutral moves, as in an earth fault."""
        trace = self.moving
        if trace is None or len(trace.labels) < 3:
            return False
        moves = np.where(trace.dips >= trace.rises, trace.dips, -trace.rises)
        return bool(moves.min() < -0.04 and moves.max() > 0.06)  # tuned

    @cached_property
    def is_long(self) -> bool:
        """Whether enough is seen to tell a level that stays from one that comes back."""
        trace = self.moving
        return trace is not None and (trace.time[-1] - trace.start) / trace.cycle >= _FLAT_CYCLES

    @cached_property
    def stays(self) -> bool:
        """Whether a step stays until the end of what is seen."""
        return self.is_long and self.moving is not None and bool(self.moving.left > _STAYS)

    @cached_property
    def comes_back(self) -> bool:
        """Whether a dip is on its way back, gradually, when the record ends."""
        trace = self.moving
        if trace is None or not self.is_long or self.returns:
            return False
        return trace.drift > _DRIFT and trace.in_steps < _BACK and trace.dips.max() >= trace.size


@dataclass(frozen=True)
class CauseRule:
    """A rule: its name, the cause that it states, how sure that is, and when it applies."""

    name: str
    cause: str
    probability: float
    applies: Callable[[CauseFacts], bool]
    course: str = ""


def _is_cause_fault_current(f: CauseFacts) -> bool:
    return (
        bool(f.currents) and f.currents[0].ratio > _CURRENT and not f.saturates and f.returns_at_once and f.dip > 0.03
    )


def _is_cause_fault_interruption(f: CauseFacts) -> bool:
    """An interruption beside a sag: of other phases, or before or after it."""
    if "interruption" not in f.types:
        return False
    trace = f.moving
    partial = trace is not None and len(trace.labels) > 1 and trace.dips.min() < 0.85  # tuned
    starts = [part.start for event in f.events if event.type == "interruption" for part in event.parts]
    one_after_another = trace is not None and bool(starts) and max(starts) - min(starts) > trace.cycle
    return "sag" in f.types or "swell" in f.types or bool(partial) or one_after_another


def _is_cause_capacitor(f: CauseFacts) -> bool:
    if f.oscillation is None or "interruption" in f.types or (f.saturates and f.dip > _LITTLE):
        return False
    if f.dip > 2 * _LITTLE and f.returns_slowly:
        return False
    return f.size < _SLIGHT and (f.main.type != "sag" or f.main.cycles < 2.0)


RULES = (
    CauseRule("interruption after a sag", "fault", 0.97, _is_cause_fault_interruption),
    CauseRule("oscillation", "capacitor switching", 0.97, _is_cause_capacitor),
    CauseRule("repeats", "load switching", 0.7, lambda f: f.repeats > _MOST_SHOTS and f.returns_at_once),
    CauseRule("fault current", "fault", 0.98, _is_cause_fault_current),
    CauseRule(
        "all phases briefly",
        "fault",
        0.9,
        lambda f: "interruption" in f.types and f.returns and f.main.end - f.main.start < _QUICK,
    ),
    CauseRule(
        "starts dead",
        "unknown",
        0.5,
        lambda f: "interruption" in f.types and f.starts_inside,
        "not visible: the record starts inside the event",
    ),
    CauseRule(
        "interruption",
        "unknown",
        0.6,
        lambda f: "interruption" in f.types,
        "supply opened, no fault is visible before it",
    ),
    CauseRule(
        "slow saturation", "transformer energising", 0.97, lambda f: f.saturates and f.is_steep and f.returns_slowly
    ),
    CauseRule(
        "neutral moves",
        "fault",
        0.97,
        lambda f: f.neutral_moves and f.is_steep and (f.returns_at_once or f.ends_inside or f.dip > _DEEP),
    ),
    CauseRule("deep", "fault", 0.96, lambda f: f.dip > _DEEP and f.is_steep),
    CauseRule(
        "saturation", "transformer energising", 0.9, lambda f: f.saturates and f.is_steep and not f.returns_at_once
    ),
    CauseRule(
        "steps down and up",
        "fault",
        0.96,
        lambda f: f.is_steep and f.returns_at_once and f.dip >= f.size and (f.dip >= 0.1 or f.is_unequal),
    ),
    CauseRule(
        "steps back", "load switching", 0.7, lambda f: f.is_steep and f.returns_at_once and f.main.type != "transient"
    ),
    CauseRule(
        "slow and equal",
        "motor start",
        0.95,
        lambda f: f.is_steep and f.returns and f.dip > 0 and not f.is_unequal and not f.starts_inside,
    ),
    CauseRule(
        "slow and unequal",
        "transformer energising",
        0.8,
        lambda f: f.is_steep and f.returns and f.dip > 0 and not f.has_plain_current,
    ),
    CauseRule(
        "comes back",
        "motor start",
        0.85,
        lambda f: f.is_steep and f.comes_back and not f.is_unequal and not f.starts_inside,
    ),
    CauseRule(
        "unequal to the end",
        "fault",
        0.85,
        lambda f: f.ends_inside and f.is_steep and f.is_unequal and f.dip >= 0.1 and not f.comes_back,
    ),
    CauseRule("step", "load switching", 0.95, lambda f: f.stays and f.is_steep and not f.ends_inside),
    CauseRule("record ends", "unknown", 0.5, lambda f: f.ends_inside, "not visible: the record ends inside the event"),
    CauseRule("other", "unknown", 0.5, lambda _: True),
)
"""The first that applies gives the cause; the probabilities are our choice, tested in `research/causes.py`."""


def apply_cause_rules(facts: CauseFacts) -> CauseRule:
    """Return the first rule that applies."""
    return next(rule for rule in RULES if rule.applies(facts))


def list_evidence(facts: CauseFacts) -> tuple[str, ...]:
    """The measurements behind a cause, in words."""
    sentences = (*_evidence_of_levels(facts), *_evidence_of_events(facts), *_evidence_of_currents(facts))
    return sentences or ("no change of the voltage beyond the event itself",)


def _evidence_of_levels(facts: CauseFacts) -> Iterator[str]:
    """How the voltage changes and returns."""
    trace = facts.moving
    if trace is None or trace.size <= 0.01:
        return
    yield _evidence_of_change(trace, facts)
    if facts.returns and not np.isnan(trace.recovery):
        how = "at once" if facts.returns_at_once else "slowly"
        yield f"returns {how} ({100 * min(trace.recovery, 1.0):.0f} % of it within 1.5 cycles)"
    elif facts.stays:
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
    if facts.oscillation is not None:
        hertz = facts.oscillation.details.get("frequency", 0.0)
        yield f"rings at {hertz:.0f} Hz with {facts.oscillation.magnitude:.2f} pu"
    if facts.neutral_moves:
        yield "some phases rise while others fall: the neutral moves"


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
