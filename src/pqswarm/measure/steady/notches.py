"""Notches: what a converter cuts into every cycle."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray

__all__ = ["FEWEST_SAMPLES", "Notches", "find_notches"]

FEWEST_SAMPLES = 60
"""Per cycle: at fewer, notches are narrower than two samples."""
_MOST_SAMPLES = 512
"""Per cycle: more are averaged."""
_LONGEST = 0.08
"""Of a cycle."""
_MOST = 0.4
"""Share of a cycle that notches may take."""
_ORDERS = 13
"""Of the smooth wave into which they are cut."""
_ROUNDS = 8
_OVER_NOISE = 5.0


@dataclass(frozen=True)
class Notches:
    """The notches of a steady stretch.

    Attributes
    ----------
    count : int
        Per cycle.
    depth : float
        Of the deepest [pu of the reference's peak].
    """

    count: int
    depth: float

    def explain(self, peak: float) -> bool:
        """Whether a deviation [pu] may be a notch that is not quite like the others; our choice, to three times."""
        return self.count > 0 and peak < 3 * self.depth


def find_notches(
    signal: FloatArray, sampling_rate: float, frequency: float, start: float, cycles: int, *, least: float = 0.05
) -> Notches | None:
    """Find what is cut into every cycle: narrow, at the same places, and not in the smooth wave of the orders to 13.

    The signal [pu of the reference's peak] has no NaN; `start` [s] and `cycles` say which part of it is steady, and
    `least` [pu] is the least depth. The smooth wave is the one with the least sum of deviations, which notches do not
    draw to themselves. None, if notches cannot be detected: below 60 samples per cycle, or from less than three cycles.

    Examples
    --------
    >>> t = np.arange(5000) / 25_000
    >>> u = np.sin(2 * np.pi * 50 * t)
    >>> notched = u - 0.2 * np.sign(u) * ((t * 100 + 0.3) % 1 < 0.05)
    >>> find_notches(u, 25_000, 50.0, 0.0, 10).count, find_notches(notched, 25_000, 50.0, 0.0, 10).count
    (0, 2)
    """
    cycle = sampling_rate / frequency
    if cycle < FEWEST_SAMPLES or cycles < 3:
        return None
    first = round(start * sampling_rate)
    piece = signal[first : first + int(cycles * cycle)]
    every = int(cycle // _MOST_SAMPLES) + 1
    if every > 1:
        piece = piece[: piece.size // every * every].reshape(-1, every).mean(axis=1)
        cycle /= every
    left = _without_smooth_wave(piece, cycle, least)
    n = int(cycle)
    places = np.round((np.arange(cycles)[:, None] + np.arange(n) / n) * cycle).astype(np.int64)
    # The median over the cycles keeps what all of them have.
    shape = np.median(left[np.minimum(places, piece.size - 1)], axis=0)
    loud = np.abs(shape) > max(least, _OVER_NOISE * 1.4826 * float(np.median(np.abs(shape))))
    count = 0
    for one in _runs(loud):
        if one.size <= _LONGEST * n + 1:
            count += 1
        else:
            loud[one] = False
    if loud.mean() > _MOST:
        count, loud = 0, np.zeros_like(loud)
    depth = float(np.abs(shape[loud]).max(initial=0.0))
    return Notches(count, depth)


def _without_smooth_wave(piece: FloatArray, cycle: float, least: float) -> FloatArray:
    """What is left without the first orders, fitted for the least sum of deviations (iteratively reweighted)."""
    angle = 2 * np.pi / cycle * np.arange(piece.size)
    orders = np.arange(1, min(_ORDERS, int(0.2 * cycle)) + 1)
    basis = np.column_stack([np.ones(piece.size), np.cos(np.outer(angle, orders)), np.sin(np.outer(angle, orders))])
    left, weight = piece, np.ones(piece.size)
    for _ in range(_ROUNDS):
        weighted = basis * weight[:, None]
        # Not by matrix products: threads cost more here than they bring.
        fit = np.linalg.solve(np.einsum("ij,ik->jk", weighted, basis), np.einsum("ij,i->j", weighted, piece))
        left = piece - np.einsum("ij,j->i", basis, fit)
        weight = 1 / np.maximum(np.abs(left), 1e-3)
        if np.abs(left).max() < least / 2:
            break
    return left


def _runs(loud: BoolArray) -> list[np.ndarray]:
    """Places of each run of loud ones, round the cycle."""
    if not loud.any() or loud.all():
        return []
    turn = int(np.flatnonzero(~loud)[0])
    places = np.flatnonzero(np.roll(loud, -turn))
    return [(run + turn) % loud.size for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]
