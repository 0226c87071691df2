"""The frequency of the supply over time, and the events in which it leaves its band."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.measure.detect.spans import find_excursions
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker
from pqswarm.measure.thresholds import Thresholds

_LIVE = 0.4  # tuned
_STEADY = 0.05  # tuned
"""Size of the supply over its largest, and its change in a cycle, between which its angle is that of the frequency."""
_FAR = 0.15  # tuned
"""Departure from the mean frequency beyond which it is not that of a supply."""
_OFF = 0.004  # tuned
"""Departure from the mean frequency from which on the windows of Urms(1/2) follow it."""
_SMOOTH = 5
"""Values of each half cycle that a median is taken over."""
_LASTING = 10  # tuned
"""Half cycles that the frequency must be outside of its band."""
_BACK = 0.05  # tuned
"""By how much it must be back inside for the end [Hz]."""
_CONSTANT = 0.15  # tuned
"""A frequency that varies by less throughout a record may be that of a wrong clock [Hz]."""


def trace_frequency(samples: FloatArray, phases: Sequence[str], centres: FloatArray, cycle: float) -> FloatArray:
    """Frequency at the centers of some cycles [samples], over that of a cycle of `cycle` samples; NaN where unknown.

    Parameters
    ----------
    samples : ndarray of shape (n_channels, n_samples)
        The voltages of a system.
    phases : sequence of str
        Their phases; of three, the positive sequence is used, else the strongest channel.
    centres : ndarray of shape (n,)
        Half a cycle apart [samples].
    cycle : float
        Length of a cycle of the mean frequency [samples].

    Returns
    -------
    ndarray of shape (n,)
        The median of five values each; 1 at the mean frequency.

    Examples
    --------
    >>> wave = np.sin(2 * np.pi * 51 * np.arange(4000) / 5000)[None]
    >>> ratio = trace_frequency(wave, ["A"], np.arange(50, 3900, 50), 100.0)
    >>> round(50 * float(np.nanmedian(ratio)), 2)
    51.0
    """
    known = np.where(np.isfinite(samples), samples, 0.0)
    turned = _demodulate(known / max(float(np.abs(known).max(initial=0.0)), 1e-300), phases, cycle)
    total = np.concatenate([[0.0], np.cumsum(turned)])
    places = np.arange(total.size)
    left, right = (np.interp(centres + 0.5 + half, places, total) for half in (-cycle / 2, cycle / 2))
    phasors = right - left
    ratio = np.full(centres.size, np.nan)
    if centres.size < _SMOOTH:
        return ratio
    size = np.abs(phasors)
    turn = np.angle(phasors[2:] * np.conj(phasors[:-2])) / (2 * np.pi)
    beside = np.stack([size[2:], size[:-2], size[1:-1]])
    usual = (beside.min(axis=0) > _LIVE * size.max()) & (np.ptp(beside, axis=0) < _STEADY * size[1:-1])
    ratio[1:-1] = np.where(usual & (np.abs(turn) < _FAR), 1 + turn, np.nan)
    ratio[[0, -1]] = ratio[[1, -2]]
    return _running_median(ratio)


def window_lengths(ratio: FloatArray, cycle: float) -> FloatArray:
    """Return the lengths of windows of Urms(1/2) [samples]: a mean cycle, or that of a frequency that is far off it."""
    is_off = np.abs(ratio - 1) > _OFF
    return np.where(is_off, cycle / np.where(is_off, ratio, 1.0), cycle)


def _demodulate(samples: FloatArray, phases: Sequence[str], cycle: float) -> AnyArray:
    """The positive sequence of three phases, or of a channel what is left of it, turned back by the mean frequency."""
    back = np.exp(-2j * np.pi / cycle * np.arange(samples.shape[1]))
    order = next((names for names in ("A B C", "AB BC CA") if set(names.split()) <= set(phases)), "")
    if not order:
        return np.asarray(samples[int(samples.std(axis=1).argmax())] * back)
    rows = samples[[list(phases).index(name) for name in order.split()]]
    shift = np.exp(2j * np.pi / 3 * np.arange(3))
    both = [(rows * turn[:, None]).sum(axis=0) * back for turn in (shift, np.conj(shift))]
    return np.asarray(max(both, key=lambda one: abs(one.mean())))


def _running_median(values: FloatArray) -> FloatArray:
    """Median of the known ones of each five values; NaN where fewer than three are known."""
    padded = np.pad(values, _SMOOTH // 2, mode="edge")
    ordered = np.sort(np.lib.stride_tricks.sliding_window_view(padded, _SMOOTH), axis=1)
    known = np.isfinite(ordered).sum(axis=1)
    middle = np.take_along_axis(ordered, np.maximum(known - 1, 0)[:, None] // 2, axis=1)[:, 0]
    return np.where((known > _SMOOTH // 2) & np.isfinite(values), middle, np.nan)


def find_frequency_events(
    hertz: FloatArray, time: FloatArray, nominal: float, thresholds: Thresholds, make: ChannelEventMaker
) -> tuple[list[ChannelEvent], str]:
    """Find where the frequency [Hz] at `time` [s] leaves its band; or a caveat, where it is off throughout."""
    known = np.isfinite(hertz)
    low, high = thresholds.frequency_band(nominal)
    beyond = known & ((hertz < low) | (hertz > high))
    if beyond.sum() < _LASTING:
        return [], ""
    if beyond[known].all() and np.ptp(hertz[known]) < _CONSTANT:
        text = f"The frequency is {np.median(hertz[known]):.2f} Hz throughout, outside of {low:g} to {high:g} Hz: "
        return [], f"{text}that of the supply, or the clock of the recorder is off."
    back = known & (hertz >= low + _BACK) & (hertz <= high - _BACK)
    parts = []
    for first, after in find_excursions(beyond, back):
        stop = first + int(np.flatnonzero(beyond[first:after])[-1]) + 1
        if beyond[first:stop].sum() < _LASTING:
            continue
        middle = (low + high) / 2
        extreme = float(hertz[first + np.nanargmax(np.abs(hertz[first:stop] - middle))])
        start, end = float(time[first]), float(time[min(stop, time.size - 1)])
        parts.append(
            make(
                type="frequency",
                category="overfrequency" if extreme > middle else "underfrequency",
                magnitude=extreme,
                start=start,
                end=end,
                duration=end - start,
                cut_start=bool(np.isnan(hertz[:first]).all()),
                cut_end=bool(np.isnan(hertz[stop:]).all()),
            )
        )
    return parts, ""
