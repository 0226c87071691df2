"""Notches: what a converter cuts into every cycle."""

import numpy as np

from pqswarm._typing import FloatArray

__all__ = ["count_notches"]

_LEAST_SAMPLES = 100
"""Per cycle."""
_LONGEST = 0.08
"""Of a cycle."""


def count_notches(
    signal: FloatArray, sampling_rate: float, frequency: float, start: float, cycles: int, *, least: float = 0.05
) -> int | None:
    """Count the notches per cycle: two jumps of opposite sign, close together, at the same place in every cycle.

    The signal [pu of the reference's peak] has no NaN; `start` [s] and `cycles` say which part of it is steady, and
    `least` [pu] is the least jump. None, if notches cannot be detected: below 100 samples per cycle, or from less than
    three.

    Examples
    --------
    >>> t = np.arange(5000) / 25_000
    >>> u = np.sin(2 * np.pi * 50 * t)
    >>> notched = u - 0.2 * np.sign(u) * ((t * 100 + 0.3) % 1 < 0.05)
    >>> count_notches(u, 25_000, 50.0, 0.0, 10), count_notches(notched, 25_000, 50.0, 0.0, 10)
    (0, 2)
    """
    cycle = sampling_rate / frequency
    if cycle < _LEAST_SAMPLES or cycles < 3:
        return None
    n = int(cycle)
    grid = np.arange(n) * cycle / n
    places = start * sampling_rate + np.arange(cycles)[:, None] * cycle + grid
    table = np.interp(places, np.arange(signal.size), signal)
    # The median over the cycles keeps what all of them have.
    wave = np.median(table, axis=0)
    jump = np.diff(wave, append=wave[0])
    around = np.stack([np.roll(jump, k) for k in (-4, -3, -2, 2, 3, 4)])
    sharp = jump - np.median(around, axis=0)
    # Interpolation may spread a jump over two samples.
    pair = sharp + np.roll(sharp, -1)
    tall = np.where(np.abs(pair) > np.abs(sharp), pair, sharp)
    noise = 1.4826 * float(np.median(np.abs(tall)))
    loud = np.abs(tall) > max(least, 8 * noise)
    top = np.max([np.roll(np.abs(tall), k) for k in range(-2, 3)], axis=0)
    peaks = np.flatnonzero(loud & (np.abs(tall) >= top)).tolist()
    notches, used = 0, -1
    for i, j in zip(peaks, [*peaks[1:], *(p + n for p in peaks[:1])], strict=True):
        if i == used or j - i > _LONGEST * n or tall[i] * tall[j % n] >= 0:
            continue
        used = j
        notches += 1
    return notches
