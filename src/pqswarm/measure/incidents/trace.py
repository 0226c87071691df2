"""How the voltages of a system go through an incident: depth, edges, recovery."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray

_PAST = 10.0  # tuned
"""Cycles before an incident whose median is the level before it, and after it."""
_EDGE = 0.75
"""Cycles beside the edges that Urms(1/2) smears."""
_LEAST = 3
"""Values of Urms(1/2) that make a level."""
_STEP = 3
"""Values of Urms(1/2) that a step passes through: a cycle and a half."""
_PIECE = 0.2  # tuned
_FLAT = 0.3  # tuned
"""Share of the whole that a step has, and of the step by which the levels beside it may vary."""


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
        rest = self.time > self.end + _EDGE * self.cycle
        late = rest & (self.time > self.time[-1] - _PAST * self.cycle)
        return self._level(late, np.nan)

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

    @cached_property
    def fall(self) -> float:
        """Share of the deviation that comes in steps, or in one step, within a cycle and a half."""
        row = np.concatenate([np.zeros(_STEP), self.move[: self.peak + 1]])
        steepest = float((row[_STEP:] - row[:-_STEP]).max()) / self.size if self.size > 0 else 0.0
        return max(steepest, _share_in_steps(-row, self.size))

    @cached_property
    def left(self) -> float:
        """Share of the deviation that stays; NaN if too little follows."""
        change = abs(float(self.before[self.worst] - self.after[self.worst]))
        return change / self.size if self.size > 0 else float("nan")

    @cached_property
    def recovery(self) -> float:
        """Share of the recovery that comes within a cycle and a half; NaN if there is none."""
        row = self.move[self.peak :]
        whole = float(row[0] - row[-1]) if row.size > _STEP else 0.0
        return float((row[:-_STEP] - row[_STEP:]).max()) / whole if whole > 0.2 * self.size else float("nan")

    @cached_property
    def drift(self) -> float:
        """Share of the deviation that has come back gradually at the end of what is seen."""
        row = self.move[self.peak :]
        if row.size < 4 * _STEP or self.size <= 0:
            return 0.0
        return float(np.median(row[1 : 2 * _STEP]) - np.median(row[-2 * _STEP :])) / self.size

    @cached_property
    def in_steps(self) -> float:
        """Share of the recovery that comes in steps, each within a cycle and a half; 0 if there is none."""
        row = self.move[self.peak :]
        return _share_in_steps(row, float(row[0] - row[-1])) if float(row[0] - row[-1]) > 0.2 * self.size else 0.0


def _share_in_steps(row: FloatArray, whole: float) -> float:
    """Share of a decrease `whole` that comes in steps of a fifth of it at least, with a level before and after each."""
    total = 0.0
    free = 0
    drops = row[:-_STEP] - row[_STEP:]
    later = np.append(drops[1:], 0.0)
    for i in np.flatnonzero((drops > _PIECE * whole) & (drops >= later)).tolist():
        levels = (row[max(i - 2, 0) : i + 1], row[i + _STEP : i + _STEP + 3])
        if i >= free and all(float(np.ptp(level)) < _FLAT * drops[i] for level in levels):
            total = total + float(drops[i])
            free = i + _STEP
    return min(total / whole, 1.0) if whole > 0 else 0.0
