"""The voltage of 1 pu."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from pqswarm._base.text import voltage_text
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.steady.flicker import find_flicker

_VOLTAGES = """
100 110 120 200 208 220 240 380 400 415 440 480 575 600 690 1000
2400 3000 3300 4160 4800 6000 6600 6900 10e3 11e3 12.47e3 13.2e3 13.8e3 15e3 20e3 22e3 24.94e3 25e3 30e3 33e3 34.5e3
35e3 45e3 46e3 60e3 63e3 66e3 69e3 90e3 110e3 115e3 132e3 138e3 150e3 161e3 220e3 225e3 230e3 275e3 287e3 330e3 345e3
380e3 400e3 500e3 735e3 750e3 765e3
"""
_LINE_TO_LINE = tuple(float(volts) for volts in _VOLTAGES.split())
_PHASE_TO_NEUTRAL = (*(u / sqrt(3) for u in _LINE_TO_LINE), 100, 110, 120, 127, 220, 230, 240, 277, 347)
_CLOSE = 0.05  # tuned
_USUAL = 0.1
"""Range of the supply voltage about its nominal value (EN 50160)."""
_SPREAD = 0.03  # tuned
_FEW = 4  # tuned
"""Half cycles of a steady level."""
_SHORT = "There are less than two cycles before the event: the reference is less certain; a nominal voltage would help."
_INSIDE = "The record begins inside an event, or with a dead channel: instead of its first level, {} was used."
_SHORT_RECORD = 80  # tuned
"""Half cycles of a triggered capture."""
_BRIEF = 10  # tuned
"""Half cycles of a first level that may be the end of an event."""
_LOWEST = 0.03  # tuned
"""A recording that stays below this fraction of its nominal voltage has another one, such as a secondary voltage."""
_HIGHEST = 3.0  # tuned
"""No supply voltage rises above this [pu]."""
_DEAD = 0.2  # tuned
"""A first level below this fraction of a later one is that of a dead channel, or noise."""
_SUSTAINED = 3
"""Half cycles that a level lasts if it is longer than a cycle: a brief peak is no level."""
_MODULATED = (0.02, 0.3)  # tuned
"""Range of Urms(1/2) over its minimum that may be flicker."""
_MAX_VALUES = 800
_ON_NOMINAL = 0.015  # tuned
_OFF_NOMINAL = 0.03  # tuned
"""Maximum distance of a level that is a standard voltage, and minimum of one that is not."""


@dataclass(frozen=True)
class SupplyReference:
    """The voltage of 1 pu [V], and its origin."""

    volts: float
    source: str
    caveat: str = ""


@dataclass(frozen=True)
class Level:
    """A stretch in which the RMS is steady: its median, and its first and last place."""

    value: float
    first: int
    last: int

    @property
    def length(self) -> int:
        """Number of values."""
        return self.last - self.first + 1


def guess_nominal(volts: float, phase: str) -> float | None:
    """Standard voltage [V] within 5 % of `volts`; phase-to-neutral ones for one letter, line-to-line for two."""
    known = {0: (*_LINE_TO_LINE, *_PHASE_TO_NEUTRAL), 1: _PHASE_TO_NEUTRAL, 2: _LINE_TO_LINE}.get(len(phase), ())
    best = min(known, key=lambda u: abs(u - volts), default=None)
    return float(best) if best is not None and abs(best - volts) <= _CLOSE * best else None


@dataclass(frozen=True, eq=False)
class LevelFacts:
    """What the rules know of a channel: its RMS [V] each half cycle, phase, and nominal voltage [V] if it is given.

    `frequency` is that of the fundamental [Hz], `together` the first level of the phases of the system [V].
    """

    urms: FloatArray
    phase: str
    nominal: float | None
    frequency: float
    together: float = 0.0

    @cached_property
    def known(self) -> FloatArray:
        """The known values."""
        return np.asarray(self.urms[np.isfinite(self.urms)])

    @cached_property
    def levels(self) -> list[Level]:
        """The steady levels: stretches within 3 % of their maximum, of four values, or of two at the very start."""
        values = self.known
        places = np.flatnonzero(np.isfinite(self.urms))
        least = min(_FEW, values.size)
        levels = []
        first = 0
        while first < values.size:
            last = first
            low = high = values[first]
            while last + 1 < values.size:
                low, high = min(low, values[last + 1]), max(high, values[last + 1])
                if high - low > _SPREAD * high:
                    break
                last += 1
            if last - first + 1 >= (min(2, least) if first == 0 else least):
                middle = float(np.median(values[first : last + 1]))
                levels.append(Level(middle, int(places[first]), int(places[last])))
                first = last
            first += 1
        return levels

    @cached_property
    def first(self) -> float:
        """The first level [V]."""
        if self.levels:
            return self.levels[0].value
        return float(np.median(self.known[:_FEW])) if self.known.size else 0.0

    @cached_property
    def usual(self) -> float:
        """The level held longest, of those that are live [V]."""
        highest = max((level.value for level in self.levels), default=0.0)
        live = [level for level in self.levels if level.value > 0.3 * highest]
        return max(live, key=lambda level: level.length).value if live else self.first

    @cached_property
    def top(self) -> float:
        """The highest level [V]."""
        return max((level.value for level in self.levels), default=self.first)

    @cached_property
    def sustained(self) -> float:
        """The highest level that is steady, or lasts longer than a cycle, or is at an end of the record [V]."""
        known = self.known
        lasting = np.min([known[k : known.size - _SUSTAINED + 1 + k] for k in range(_SUSTAINED)], axis=0)
        steady = [level.value for level in self.levels]
        return float(max(*known[:1], *known[-1:], lasting.max(initial=0.0), *steady, 0))

    @cached_property
    def ends(self) -> tuple[float, float, float]:
        """First value, last value, and the level at both ends if the record ends as it starts, else 0 [V].

        The first or last value may already have part of an event. If they are nearer to each other than to the extreme,
        or if a steady level lies beyond both, then the event is between them.
        """
        urms = self.known
        if not urms.size:
            return 0.0, 0.0, 0.0
        start, end = float(urms[0]), float(urms[-1])
        low, high = min(start, end), max(start, end)
        if high - low <= 0.05 * high:
            return start, end, (start + end) / 2
        beyond = [level.value for level in self.levels if not low - 0.08 * high < level.value < high * 1.08]
        away = np.minimum(np.abs(urms - start), np.abs(urms - end))
        if beyond:
            extreme = max(beyond, key=lambda value: max(low - value, value - high))
        elif high - low < 0.4 * away.max():
            extreme = float(urms[away.argmax()])
        else:
            return start, end, 0.0
        return start, end, max(low, high, key=lambda value: abs(value - extreme))

    @property
    def is_short(self) -> bool:
        """Whether this is a triggered capture."""
        return self.known.size <= _SHORT_RECORD

    @property
    def returns(self) -> bool:
        """Whether a short record ends as it starts."""
        return self.is_short and self.ends[2] > 0

    @cached_property
    def is_brief(self) -> bool:
        """Whether the first level may be the end of an event: it is short, and another level outlasts it."""
        length = next((level.length for level in self.levels), 0)
        later = sum(level.length for level in self.levels if _is_near_level(level.value, self.usual))
        return length <= _BRIEF and later >= length and not self.returns

    @property
    def starts_in_sag(self) -> bool:
        """Sags are far commoner than swells: a brief low first level counts as a sag."""
        return self.first < 0.91 * self.usual and self.is_brief and not self.is_dead

    @cached_property
    def starts_in_swell(self) -> bool:
        """A brief high first level is a swell only if the later level is a standard voltage and the first is not."""
        is_higher = self.is_short and self.first > 1.09 * self.usual and self.is_brief
        return is_higher and _is_nominal_level(self.usual, self.first, self.phase)

    @property
    def is_dead(self) -> bool:
        """Whether the channel starts without voltage."""
        return self.first < _DEAD * max(self.top, self.together)

    @cached_property
    def like_others(self) -> FloatArray:
        """Steady values, and the first one, that are near the first level of the other phases [V]."""
        steady = np.arange(self.urms.size) < 1
        for level in self.levels:
            steady[level.first : level.last + 1] = True
        return np.asarray(self.urms[steady & (np.abs(self.urms - self.together) < 0.05 * self.together)])

    @cached_property
    def is_odd(self) -> bool:
        """Whether the first level differs from that of the other phases, and a later one does not."""
        return self.together > 0 and abs(self.first / self.together - 1) > 0.08 and self.like_others.size > 0

    @property
    def is_far(self) -> bool:
        """Whether the first level is far from that of the other phases."""
        return self.together > 0 and not 0.75 < self.first / self.together < 1.33

    @property
    def agrees(self) -> bool:
        """Whether the other phases do not contradict the channel, and it has voltage at an end of the record."""
        return not (self.is_odd or self.is_far) and max(self.ends[:2]) > 0

    @property
    def is_modulated(self) -> bool:
        """Whether a sine explains what the RMS does."""
        known = self.known
        if not self.agrees or not 12 <= known.size <= _MAX_VALUES or known.min() <= 0:
            return False
        if not _MODULATED[0] < known.max() / known.min() - 1 < _MODULATED[1]:
            return False
        return find_flicker(known / known.mean(), self.frequency, minimum=_MODULATED[0] / 2) is not None

    @property
    def is_capture(self) -> bool:
        """Whether a capture has too little before its event: no steady level of enough half cycles."""
        starts = self.levels[:1]
        is_solid = any(level.first <= 1 and level.length >= min(_FEW, self.known.size) for level in starts)
        return not is_solid and self.is_short and self.agrees and not self.starts_in_swell

    @property
    def is_undisturbed(self) -> bool:
        """Whether the first level is that before an event."""
        is_disturbed = self.is_dead or self.starts_in_sag or self.starts_in_swell or self.is_odd or self.is_far
        return self.first > 0 and not is_disturbed

    @property
    def never_reaches(self) -> bool:
        """Whether the channel starts far from the other phases, and not in a sag."""
        is_away = (self.is_far or self.is_dead) and not self.starts_in_sag
        return is_away and self.together > 0 and not _is_near_level(self.first, self.together)


_RULES: tuple[tuple[Callable[[LevelFacts], bool], Callable[[LevelFacts], SupplyReference]], ...] = (
    (lambda c: c.is_modulated, lambda c: SupplyReference(float(np.mean(c.known)), "mean of a modulation")),
    # The level at both ends of a capture if they agree, else the highest one.
    (lambda c: c.is_capture and c.returns, lambda c: SupplyReference(c.ends[2], "both ends of the record", _SHORT)),
    (lambda c: c.is_capture, lambda c: SupplyReference(max(c.top, *c.ends[:2]), "highest level", _SHORT)),
    (lambda c: c.is_undisturbed, lambda c: SupplyReference(c.first, "pre-event")),
    (
        lambda c: c.is_odd and not c.starts_in_sag,
        lambda c: SupplyReference(
            float(np.median(c.like_others)),
            "level like the other phases",
            _INSIDE.format("its level like that of the other phases"),
        ),
    ),
    (
        lambda c: c.never_reaches,
        lambda c: SupplyReference(
            c.together, "pre-event of the other phases", _INSIDE.format("that of the other phases")
        ),
    ),
    (
        lambda c: c.usual > 0,
        lambda c: SupplyReference(c.usual, "longest steady level", _INSIDE.format("the level held longest")),
    ),
    (lambda _: True, lambda _: SupplyReference(0.0, "none")),
)
"""When a level is 1 pu, and which; the first that applies counts."""


def choose_references(choice: str | float, channels: Sequence[LevelFacts]) -> list[SupplyReference]:
    """Reference of each channel of one system; `choice` as for :func:`characterize`.

    A nominal voltage that is given is the reference, unless it is plainly that of another system.
    """
    if not isinstance(choice, str):
        return [SupplyReference(float(choice), "given")] * len(channels)
    if choice == "nominal":
        return [_nominal_reference(one.usual, one.phase, one.nominal) for one in channels]
    if choice == "pre-event":
        return [SupplyReference(one.first, "pre-event") for one in channels]
    # A phase that is dead first tells by its usual level.
    is_single = len(channels) == 1
    starts = [one.first if is_single or one.first > _DEAD * one.sustained else one.usual for one in channels]
    alive = [level for level in starts if level > 0]
    together = float(np.median(alive)) if alive else 0.0
    is_possible = _is_possible_reference(channels)
    return [
        SupplyReference(one.nominal, "nominal")
        if one.nominal is not None and is_possible
        else _choose_reference_level(replace(one, together=together))
        for one in channels
    ]


def is_line_to_line(nominal: float, urms: Sequence[FloatArray]) -> bool:
    """Whether phases, by their RMS [V] each half cycle, start at 0.577 of a nominal voltage [V], and stay away from it.

    Those of a symmetrical sag all recover; of an earth fault, one phase does not rise.
    """
    channels = [LevelFacts(values, "", nominal, 0.0) for values in urms]
    is_lower = all(abs(one.first * sqrt(3) / nominal - 1) <= _USUAL for one in channels)
    return is_lower and min(one.sustained for one in channels) < 0.9 * nominal


def _is_possible_reference(channels: Sequence[LevelFacts]) -> bool:
    """Whether a nominal voltage can be that of a system, by its steady levels and those at the ends of the record."""
    seen = [
        (value, one.nominal)
        for one in channels
        if one.nominal is not None
        for value in (*one.urms[:1], *one.urms[-1:], *(level.value for level in one.levels))
        if value > 0
    ]
    return not seen or any(_LOWEST * given < value < _HIGHEST * given for value, given in seen)


def _nominal_reference(volts: float, phase: str, nominal: float | None) -> SupplyReference:
    if nominal is not None:
        return SupplyReference(nominal, "nominal")
    guess = guess_nominal(volts, phase)
    if guess is None:
        raise PqswarmError(
            f"{voltage_text(volts)} is not close to a standard voltage, so the nominal one cannot be guessed: "
            "give nominal_voltage, as the channels measure it, or another reference."
        )
    caveat = f"The nominal voltage of {voltage_text(guess)} was guessed from the recording."
    return SupplyReference(guess, "nominal", caveat)


def _choose_reference_level(channel: LevelFacts) -> SupplyReference:
    """The level that is 1 pu, by the rules; a given nominal voltage cannot be right."""
    chosen = next(level(channel) for applies, level in _RULES if applies(channel))
    if channel.nominal is not None and chosen.volts > 0:
        given = voltage_text(channel.nominal)
        caveat = f"The nominal voltage of {given} that was given is far from every level: it was not used."
        chosen = replace(chosen, caveat=caveat)
    if 0 < _HIGHEST * chosen.volts < channel.sustained:
        caveat = "A level above three times another is not a swell: it was used as 1 pu."
        return SupplyReference(channel.sustained, "highest level", caveat)
    return chosen


def _is_nominal_level(level: float, other: float, phase: str) -> bool:
    """Whether a level is a standard voltage, and another is none."""

    def distance(volts: float) -> float:
        guess = guess_nominal(volts, phase)
        return 1.0 if guess is None else abs(guess / volts - 1)

    return distance(level) < _ON_NOMINAL and distance(other) > _OFF_NOMINAL


def _is_near_level(value: float, other: float) -> bool:
    return abs(value - other) <= 0.1 * other
