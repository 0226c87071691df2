"""The voltage of 1 pu."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import voltage_text
from pqswarm.errors import PqswarmError
from pqswarm.measure.steady.flicker import find_flicker

_LINE_TO_LINE = (
    *(100, 110, 120, 200, 208, 220, 240, 380, 400, 415, 440, 480, 575, 600, 690, 1000),
    *(2400, 3000, 3300, 4160, 4800, 6000, 6600, 6900, 10e3, 11e3, 12.47e3, 13.2e3, 13.8e3, 15e3, 20e3, 22e3, 24.94e3),
    *(25e3, 30e3, 33e3, 34.5e3, 35e3, 45e3, 46e3, 60e3, 63e3, 66e3, 69e3, 90e3, 110e3, 115e3, 132e3, 138e3, 150e3),
    *(161e3, 220e3, 225e3, 230e3, 275e3, 287e3, 330e3, 345e3, 380e3, 400e3, 500e3, 735e3, 750e3, 765e3),
)
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
class Reference:
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


def steady_reference_levels(urms: FloatArray) -> list[Level]:
    """Stretches within 3 % of their maximum: of four values, or of two at the very start."""
    values = urms[np.isfinite(urms)]
    least = min(_FEW, values.size)
    places = np.flatnonzero(np.isfinite(urms))
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
            first = last + 1
        else:
            first += 1
    return levels


def choose_reference(
    choice: str | float,
    urms: Sequence[FloatArray],
    phases: Sequence[str],
    live: Sequence[bool],
    nominal: Sequence[float | None],
    frequency: float,
) -> list[Reference]:
    """Reference of each channel of one system, from its RMS [V] each half cycle; `live` if it is a supply voltage.

    A nominal voltage [V] that is given is the reference, unless it is plainly that of another system. `frequency` is
    that of the fundamental [Hz].
    """
    if not isinstance(choice, str):
        return [Reference(float(choice), "given")] * len(urms)
    urms = [values if yes else np.zeros(0) for values, yes in zip(urms, live, strict=True)]
    levels = [steady_reference_levels(values) for values in urms]
    usual = [_longest_reference_level(values, own) for values, own in zip(urms, levels, strict=True)]
    if choice == "nominal":
        return [_nominal(*each) for each in zip(usual, phases, nominal, strict=True)]
    first = [_pre_event_reference(values, own) for values, own in zip(urms, levels, strict=True)]
    if choice == "pre-event":
        return [Reference(value, "pre-event") for value in first]
    tops = [_sustained_level(values, own) for values, own in zip(urms, levels, strict=True)]
    # A phase that is dead first tells by its usual level.
    seen = zip(first, tops, usual, strict=True)
    alive = [value for one, top, later in seen if (value := one if one > _DEAD * top or len(urms) == 1 else later) > 0]
    together = float(np.median(alive)) if alive else 0.0
    possible = _is_possible_nominal(urms, levels, nominal)
    return [
        Reference(given, "nominal")
        if given is not None and possible
        else _plausible_reference(
            _choose_level(_ReferenceLevels(values, own, value, together, phase, frequency), given), top
        )
        for values, own, value, top, phase, given in zip(urms, levels, first, tops, phases, nominal, strict=True)
    ]


def is_line_to_line(nominal: float, urms: Sequence[FloatArray]) -> bool:
    """Whether phases, by their RMS [V] each half cycle, start at 0.577 of a nominal voltage [V], and stay away from it.

    Those of a symmetrical sag all recover; of an earth fault, one phase does not rise.
    """
    levels = [steady_reference_levels(values) for values in urms]
    first = [_pre_event_reference(values, own) for values, own in zip(urms, levels, strict=True)]
    tops = [_sustained_level(values, own) for values, own in zip(urms, levels, strict=True)]
    return all(abs(value * sqrt(3) / nominal - 1) <= _USUAL for value in first) and min(tops) < 0.9 * nominal


def _is_possible_nominal(
    urms: Sequence[FloatArray], levels: Sequence[list[Level]], nominal: Sequence[float | None]
) -> bool:
    """Whether a nominal voltage can be that of a system, by its steady levels and those at the ends of the record."""
    seen = [
        (value, given)
        for values, own, given in zip(urms, levels, nominal, strict=True)
        if given is not None
        for value in (*values[:1], *values[-1:], *(level.value for level in own))
        if value > 0
    ]
    return not seen or any(_LOWEST * given < value < _HIGHEST * given for value, given in seen)


def _pre_event_reference(urms: FloatArray, levels: list[Level]) -> float:
    if levels:
        return levels[0].value
    known = urms[np.isfinite(urms)]
    return float(np.median(known[:_FEW])) if known.size else 0.0


def _longest_reference_level(urms: FloatArray, levels: list[Level]) -> float:
    """The level held longest, of those that are live."""
    top = max((level.value for level in levels), default=0.0)
    live = [level for level in levels if level.value > 0.3 * top]
    return max(live, key=lambda level: level.length).value if live else _pre_event_reference(urms, levels)


def _nominal(volts: float, phase: str, nominal: float | None) -> Reference:
    if nominal is not None:
        return Reference(nominal, "nominal")
    guess = guess_nominal(volts, phase)
    if guess is None:
        raise PqswarmError(
            f"{voltage_text(volts)} is not close to a standard voltage, so the nominal one cannot be guessed: "
            "give nominal_voltage, as the channels measure it, or another reference."
        )
    return Reference(guess, "nominal", f"The nominal voltage of {voltage_text(guess)} was guessed from the recording.")


@dataclass(frozen=True, eq=False)
class _ReferenceLevels:
    """What the rules know of a channel: its RMS [V] each half cycle, and the first level of the other phases [V]."""

    urms: FloatArray
    levels: list[Level]
    first: float
    together: float
    phase: str
    frequency: float

    @cached_property
    def known(self) -> FloatArray:
        """The known values."""
        values: FloatArray = self.urms[np.isfinite(self.urms)]
        return values

    @cached_property
    def usual(self) -> float:
        """The level held longest [V]."""
        return _longest_reference_level(self.urms, self.levels)

    @cached_property
    def top(self) -> float:
        """The highest level [V]."""
        return max((level.value for level in self.levels), default=self.first)

    @cached_property
    def ends(self) -> tuple[float, float, float]:
        """First value, last value, and the level at both ends if the record ends as it starts, else 0 [V]."""
        return _reference_at_ends(self.known, self.levels)

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
        later = sum(level.length for level in self.levels if _near_level(level.value, self.usual))
        return length <= _BRIEF and later >= length and not self.returns

    @property
    def starts_in_sag(self) -> bool:
        """Sags are far commoner than swells: a brief low first level counts as a sag."""
        return self.first < 0.91 * self.usual and self.is_brief and not self.is_dead

    @cached_property
    def starts_in_swell(self) -> bool:
        """A brief high first level is a swell only if the later level is a standard voltage and the first is not."""
        is_higher = self.is_short and self.first > 1.09 * self.usual and self.is_brief
        return is_higher and _is_nominal(self.usual, self.first, self.phase)

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
        values: FloatArray = self.urms[steady & (np.abs(self.urms - self.together) < 0.05 * self.together)]
        return values

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
    def is_solid(self) -> bool:
        """Whether the record starts with a steady level of enough half cycles."""
        return bool(self.levels) and self.levels[0].first <= 1 and self.levels[0].length >= min(_FEW, self.known.size)


def _level_by_rules(seen: _ReferenceLevels) -> Reference:
    """The level that is 1 pu: that of the first rule that applies."""
    if seen.agrees and _is_reference_modulated(seen.known, seen.frequency):
        return Reference(float(np.mean(seen.known)), "mean of a modulation")
    # Too little before the event of a capture: the level at both ends if they agree, else the highest one.
    if not seen.is_solid and seen.is_short and seen.agrees and not seen.starts_in_swell:
        if seen.returns:
            return Reference(seen.ends[2], "both ends of the record", _SHORT)
        return Reference(max(seen.top, *seen.ends[:2]), "highest level", _SHORT)
    is_disturbed = seen.is_dead or seen.starts_in_sag or seen.starts_in_swell or seen.is_odd or seen.is_far
    if seen.first > 0 and not is_disturbed:
        return Reference(seen.first, "pre-event")
    if seen.is_odd and not seen.starts_in_sag:
        text = _INSIDE.format("its level like that of the other phases")
        return Reference(float(np.median(seen.like_others)), "level like the other phases", text)
    never_reached = (seen.is_far or seen.is_dead) and not seen.starts_in_sag
    if never_reached and seen.together > 0 and not _near_level(seen.first, seen.together):
        return Reference(seen.together, "pre-event of the other phases", _INSIDE.format("that of the other phases"))
    if seen.usual > 0:
        return Reference(seen.usual, "longest steady level", _INSIDE.format("the level held longest"))
    return Reference(0.0, "none")


def _choose_level(seen: _ReferenceLevels, nominal: float | None) -> Reference:
    """The level that is 1 pu; `nominal` is a given nominal voltage [V] that cannot be right."""
    chosen = _level_by_rules(seen)
    if nominal is None or chosen.volts <= 0:
        return chosen
    text = f"The nominal voltage of {voltage_text(nominal)} that was given is far from every level: it was not used."
    return replace(chosen, caveat=text)


def _plausible_reference(found: Reference, top: float) -> Reference:
    """Return the reference, or the highest level if by it a channel were at three times its voltage."""
    if not 0 < _HIGHEST * found.volts < top:
        return found
    return Reference(top, "highest level", "A level above three times another is not a swell: it was used as 1 pu.")


def _sustained_level(urms: FloatArray, levels: Sequence[Level]) -> float:
    """The highest level that is steady, or lasts longer than a cycle, or is at an end of the record."""
    known = urms[np.isfinite(urms)]
    lasting = np.min([known[k : known.size - _SUSTAINED + 1 + k] for k in range(_SUSTAINED)], axis=0)
    return float(
        max((*known[:1], *known[-1:], lasting.max(initial=0.0), *(level.value for level in levels)), default=0)
    )


def _reference_at_ends(urms: FloatArray, levels: Sequence[Level]) -> tuple[float, float, float]:
    """First and last value, and the level at both ends if the record ends as it began, else 0.

    The first or last value may already have part of an event. If they are nearer to each other than to the extreme, or
    if a steady level lies beyond both, then the event is between them.
    """
    if not urms.size:
        return 0.0, 0.0, 0.0
    start, end = float(urms[0]), float(urms[-1])
    low, high = min(start, end), max(start, end)
    if high - low <= 0.05 * high:
        return start, end, (start + end) / 2
    beyond = [level.value for level in levels if not low - 0.08 * high < level.value < high * 1.08]
    away = np.minimum(np.abs(urms - start), np.abs(urms - end))
    if beyond:
        extreme = max(beyond, key=lambda value: max(low - value, value - high))
    elif high - low < 0.4 * away.max():
        extreme = float(urms[away.argmax()])
    else:
        return start, end, 0.0
    return start, end, max(low, high, key=lambda value: abs(value - extreme))


def _is_nominal(level: float, other: float, phase: str) -> bool:
    """Whether a level is a standard voltage, and another is none."""

    def distance(volts: float) -> float:
        guess = guess_nominal(volts, phase)
        return 1.0 if guess is None else abs(guess / volts - 1)

    return distance(level) < _ON_NOMINAL and distance(other) > _OFF_NOMINAL


def _is_reference_modulated(urms: FloatArray, frequency: float) -> bool:
    """Whether a sine explains what the RMS does."""
    if not 12 <= urms.size <= _MAX_VALUES or urms.min() <= 0:
        return False
    if not _MODULATED[0] < urms.max() / urms.min() - 1 < _MODULATED[1]:
        return False
    return find_flicker(urms / urms.mean(), frequency, minimum=_MODULATED[0] / 2) is not None


def _near_level(value: float, other: float) -> bool:
    return abs(value - other) <= 0.1 * other
