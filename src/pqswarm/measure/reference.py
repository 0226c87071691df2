"""The voltage that 1 pu means."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError

__all__ = ["Level", "Reference", "choose_reference", "guess_nominal", "steady_levels"]

_LINE_TO_LINE = (
    *(100, 110, 120, 200, 208, 220, 240, 380, 400, 415, 440, 480, 575, 600, 690, 1000),
    *(2400, 3000, 3300, 4160, 4800, 6000, 6600, 6900, 10e3, 11e3, 12.47e3, 13.2e3, 13.8e3, 15e3, 20e3, 22e3, 24.94e3),
    *(25e3, 30e3, 33e3, 34.5e3, 35e3, 45e3, 46e3, 60e3, 63e3, 66e3, 69e3, 90e3, 110e3, 115e3, 132e3, 138e3, 150e3),
    *(161e3, 220e3, 225e3, 230e3, 275e3, 287e3, 330e3, 345e3, 380e3, 400e3, 500e3, 735e3, 750e3, 765e3),
)
_PHASE_TO_NEUTRAL = (*(u / sqrt(3) for u in _LINE_TO_LINE), 100, 110, 120, 127, 220, 230, 240, 277, 347)
_CLOSE = 0.05
_SPREAD = 0.03
_FEW = 4
"""Half cycles of a steady level."""
_SHORT = "There are less than two cycles before the event: the reference is less certain; a nominal voltage would help."
_SHORT_RECORD = 80
"""Half cycles of a triggered capture."""
_BRIEF = 10
"""Half cycles of a first level that may be the end of a sag."""


@dataclass(frozen=True)
class Reference:
    """The voltage of 1 pu [V], and in words where it comes from."""

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


def steady_levels(urms: FloatArray) -> list[Level]:
    """Stretches within 3 % of their maximum: of four values, or of two at the very begin."""
    values = urms[np.isfinite(urms)]
    least = min(_FEW, values.size)
    places = np.flatnonzero(np.isfinite(urms))
    levels, first = [], 0
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
    nominal: float | None,
) -> list[Reference]:
    """Reference of each channel of one system, from its RMS [V] each half cycle; `live` if it is a supply voltage."""
    if not isinstance(choice, str):
        return [Reference(float(choice), "given")] * len(urms)
    urms = [values if yes else np.zeros(0) for values, yes in zip(urms, live, strict=True)]
    levels = [steady_levels(values) for values in urms]
    if choice == "nominal":
        return [
            _nominal(_longest_level(values, own), phase, nominal)
            for values, own, phase in zip(urms, levels, phases, strict=True)
        ]
    first = [_pre_event(values, own) for values, own in zip(urms, levels, strict=True)]
    if choice == "pre-event":
        return [Reference(value, "pre-event") for value in first]
    alive = [value for value in first if value > 0]
    together = float(np.median(alive)) if alive else 0.0
    return [
        _auto(values, own, value, together, nominal) for values, own, value in zip(urms, levels, first, strict=True)
    ]


def _pre_event(urms: FloatArray, levels: list[Level]) -> float:
    if levels:
        return levels[0].value
    known = urms[np.isfinite(urms)]
    return float(np.median(known[:_FEW])) if known.size else 0.0


def _longest_level(urms: FloatArray, levels: list[Level]) -> float:
    """The level held longest, of those that are live."""
    top = max((level.value for level in levels), default=0.0)
    live = [level for level in levels if level.value > 0.3 * top]
    return max(live, key=lambda level: level.length).value if live else _pre_event(urms, levels)


def _nominal(volts: float, phase: str, nominal: float | None) -> Reference:
    if nominal is not None:
        return Reference(nominal, "nominal")
    guess = guess_nominal(volts, phase)
    if guess is None:
        raise PqswarmError(
            f"{volts:.4g} V is not close to a standard voltage, so the nominal one cannot be guessed: "
            "give nominal_voltage, as the channels measure it, or another reference."
        )
    return Reference(guess, "nominal", f"The nominal voltage of {guess:.5g} V was guessed from the recording.")


def _auto(urms: FloatArray, levels: list[Level], first: float, together: float, nominal: float | None) -> Reference:
    """Pre-event, unless the record begins inside an event."""
    usual = _longest_level(urms, levels)
    top = max((level.value for level in levels), default=first)
    length = next((level.length for level in levels), 0)
    later = sum(level.length for level in levels if _near(level.value, usual))
    steady = np.arange(urms.size) < 1
    for level in levels:
        steady[level.first : level.last + 1] = True
    like_others = urms[steady & (np.abs(urms - together) < 0.05 * together)]
    dead = first < 0.2 * max(top, together)
    # Sags are far commoner than swells: a short low first level, outlasted by a higher one, counts as a sag; a high
    # first level never as a swell.
    known = urms[np.isfinite(urms)]
    ends = known[[0, -1]] if known.size else np.zeros(2)
    back = known.size <= _SHORT_RECORD and abs(ends[0] - ends[1]) <= 0.05 * ends.max()
    sag = first < 0.91 * usual and length <= _BRIEF and later >= length and not back
    odd = together > 0 and abs(first / together - 1) > 0.08 and like_others.size > 0
    far = together > 0 and not 0.75 < first / together < 1.33
    solid = bool(levels) and levels[0].first <= 1 and length >= min(_FEW, known.size)
    brief = known.size <= _SHORT_RECORD and not (odd or far) and nominal is None and ends.max() > 0
    held = [level.length for level in levels if level.length >= _FEW]
    scattered = len(held) > 3 or 2 * sum(held) < known.size
    if not solid and brief and scattered and known.max() < 1.16 * known.min():  # no step: a modulation
        return Reference(float(np.median(known)), "median")
    if not solid and brief:
        # Too little before the event: where the record ends as it begins, that is the level; else the highest one.
        if back:
            return Reference(float(ends.mean()), "both ends of the record", _SHORT)
        return Reference(max(top, float(ends.max())), "highest level", _SHORT)
    if not (dead or sag or odd or far) and first > 0:
        return Reference(first, "pre-event")
    said = "The record begins inside an event, or with a dead channel: instead of its first level, {} was taken."
    if nominal is not None:
        return Reference(nominal, "nominal", said.format("the nominal voltage"))
    if odd and not sag:
        like = float(np.median(like_others))
        return Reference(like, "level like the other phases", said.format("its level like that of the other phases"))
    if (far or dead) and not sag and together > 0 and not _near(first, together):
        return Reference(together, "pre-event of the other phases", said.format("that of the other phases"))
    if usual > 0:
        return Reference(usual, "longest steady level", said.format("the level held longest"))
    return Reference(0.0, "none")


def _near(value: float, other: float) -> bool:
    return abs(value - other) <= 0.1 * other
