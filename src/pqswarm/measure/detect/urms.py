"""The half-cycle RMS voltage Urms(1/2) of IEC 61000-4-30, at any sampling rate."""

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError

MAX_MISSING = 0.25
"""Fraction of a window that may be missing."""


def half_cycle_rms(samples: FloatArray, sampling_rate: float, frequency: float) -> tuple[FloatArray, FloatArray]:
    """RMS over one cycle, refreshed each half cycle, from half a sample before the first sample on.

    The cycle need not be an integer number of samples: the square of the signal is integrated as the broken line
    through its samples. Missing samples (NaN) are replaced from the cycle next to them; a window in which more than
    a quarter is missing has no value.

    Parameters
    ----------
    samples : ndarray of shape (n_samples,)
        Voltage, in any unit.
    sampling_rate : float
        Samples per second [Hz].
    frequency : float
        Measured fundamental frequency, which sets the length of the window [Hz].

    Returns
    -------
    time : ndarray of shape (n_windows,)
        Center of each window, from the first sample [s].
    values : ndarray of shape (n_windows,)
        RMS, in the unit of `samples`; NaN where it is not known.

    References
    ----------
    IEC 61000-4-30:2015, 3.26 and 5.4.1.

    Examples
    --------
    >>> t = np.arange(1000) / 10_000
    >>> time, values = half_cycle_rms(325 * np.sin(2 * np.pi * 50 * t), 10_000, 50.0)
    >>> time[:3].round(3).tolist(), values[:3].round(1).tolist()
    ([0.01, 0.02, 0.03], [229.8, 229.8, 229.8])
    """
    if not (sampling_rate > 0 and frequency > 0 and sampling_rate >= 3.9 * frequency):  # as measured
        raise PqswarmError(
            f"Urms(1/2) needs at least four samples per cycle, not {sampling_rate:g} Hz for {frequency:g} Hz."
        )
    cycle = sampling_rate / frequency
    mean_square = MeanSquare(samples, cycle)
    centres = window_centres(samples.size, cycle)
    return centres / sampling_rate, np.sqrt(mean_square.at(centres, cycle))


def window_centres(n_samples: int, cycle: float) -> FloatArray:
    """Centres of the windows of Urms(1/2) [samples], the first of which starts half a sample before the first."""
    # One part in a million of a cycle of grace, so that a record of exactly one cycle has a value.
    n_windows = int(np.floor((n_samples - cycle) / (cycle / 2) + 1e-6)) + 1
    return np.asarray(-0.5 + cycle / 2 + np.arange(max(n_windows, 0), dtype=np.float64) * (cycle / 2))


def median_of_known_urms(values: FloatArray) -> float:
    """Median of the values that are known; 0 if none is."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else 0.0


class MeanSquare:
    """Mean square of a signal over windows of any place and width; NaN are filled from a `cycle` [samples] away."""

    def __init__(self, samples: FloatArray, cycle: float) -> None:
        filled, missing = fill_gaps(samples, cycle)
        self.size = samples.size
        square = np.pad(filled**2, 1, mode="edge")
        self._square = square
        self._integral = np.concatenate([[0.0], np.cumsum((square[1:] + square[:-1]) / 2)])
        self._missing = np.concatenate([[0.0], np.cumsum(missing)]) if missing.any() else None

    def at(self, centres: FloatArray, width: float | FloatArray) -> FloatArray:
        """Mean square over windows of `width` samples about `centres` [samples]; NaN if too much is missing."""
        left, right = centres - width / 2, centres + width / 2
        values: FloatArray = np.maximum((self._to(right) - self._to(left)) / width, 0.0)
        if self._missing is not None:
            places = np.arange(self.size + 1) - 0.5
            absent = np.interp(right, places, self._missing) - np.interp(left, places, self._missing)
            values[absent > MAX_MISSING * width] = np.nan
        return values

    def _to(self, place: FloatArray) -> FloatArray:
        """Integral of the square from one sample before the first to `place` [samples]."""
        inside = np.clip(place + 1.0, 0.0, self.size + 1.0)
        index = np.minimum(inside.astype(np.int64), self.size)
        part = inside - index
        slope = self._square[index + 1] - self._square[index]
        return np.asarray(self._integral[index] + part * self._square[index] + part**2 / 2 * slope)


def fill_gaps(samples: FloatArray, cycle: float) -> tuple[FloatArray, BoolArray]:
    """Replace missing samples from a cycle [samples] beside, or by a line, or zero; return also where they were."""
    missing = ~np.isfinite(samples)
    if not missing.any():
        return samples.astype(np.float64, copy=False), missing
    filled = np.where(missing, np.nan, samples).astype(np.float64)
    step = max(round(cycle), 1)
    if step < samples.size:
        earlier = np.concatenate([np.full(step, np.nan), filled[:-step]])
        later = np.concatenate([filled[step:], np.full(step, np.nan)])
        filled = np.where(np.isfinite(filled), filled, np.where(np.isfinite(earlier), earlier, later))
    left = np.isnan(filled)
    if left.all():
        return np.zeros_like(filled), missing
    if left.any():
        filled[left] = np.interp(np.flatnonzero(left), np.flatnonzero(~left), filled[~left])
    return filled, missing
