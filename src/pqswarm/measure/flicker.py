"""Flicker: a slow modulation of the voltage."""

from collections.abc import Sequence

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.measure.rms_events import Span

__all__ = ["find_flicker", "longest_quiet"]

_BAND = (1.0, 25.0)
"""Of the modulation [Hz]."""
_MOST_VALUES = 800


def find_flicker(urms: FloatArray, frequency: float, *, least: float = 0.005) -> tuple[float, float] | None:
    """Find a slow sinusoidal modulation in Urms(1/2) [pu] without events: its frequency [Hz] and depth, or None.

    At least one and a half periods must be seen, and the sine must explain 80 % of the variance. `frequency` is the
    measured fundamental [Hz].

    Examples
    --------
    >>> t = np.arange(60) / 100
    >>> rate, depth = find_flicker(1 + 0.04 * np.sin(2 * np.pi * 8 * t), 50.0)
    >>> round(rate, 1), bool(0.04 < depth < 0.05)
    (8.0, True)
    """
    if urms.size < 12 or not np.isfinite(urms).all() or urms.mean() <= 0:
        return None
    time = np.arange(urms.size) / (2 * frequency)
    lowest = max(_BAND[0], 1.5 / float(time[-1]))
    if lowest >= _BAND[1]:
        return None
    trend = np.column_stack([np.ones(urms.size), time - time.mean()])
    rest = urms / urms.mean()
    rest = rest - trend @ np.linalg.lstsq(trend, rest, rcond=None)[0]
    total = float(np.sum(rest**2))
    if total <= 0:
        return None
    step = 0.1 / float(time[-1])
    rates = np.arange(lowest, _BAND[1] * 1.02, step)
    best, rate, depth = 0.0, 0.0, 0.0
    for candidate in rates:
        angle = 2 * np.pi * candidate * time
        basis = np.column_stack([np.cos(angle), np.sin(angle), trend])
        fit, *_ = np.linalg.lstsq(basis, rest, rcond=None)
        share = 1.0 - float(np.sum((rest - basis @ fit) ** 2)) / total
        if share > best:
            best, rate, depth = share, float(candidate), float(np.hypot(fit[0], fit[1]))
    depth /= float(np.sinc(rate / frequency))  # the window of one cycle smooths it
    return (rate, depth) if best > 0.8 and depth >= least else None


def longest_quiet(urms: FloatArray, spans: Sequence[Span]) -> FloatArray:
    """Longest stretch of Urms(1/2) without an event or an unknown value; empty if that is less than half of it."""
    calm = np.isfinite(urms)
    for span in spans:
        calm[max(span.first - 3, 0) : span.stop + 3] = False
    bounds = np.flatnonzero(np.diff(np.concatenate([[False], calm, [False]])))
    if not bounds.size:
        return np.empty(0)
    first, stop = max(zip(bounds[::2], bounds[1::2], strict=True), key=lambda pair: int(pair[1] - pair[0]))
    if spans and 2 * (stop - first) < urms.size:  # a swinging grid is not flicker
        return np.empty(0)
    return urms[first : min(stop, first + _MOST_VALUES)]
