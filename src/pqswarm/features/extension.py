"""Lengthen captures that are shorter than the analysis window."""

from math import ceil

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.features.wavelet import decomposition_level

WINDOW_CYCLES = 30.0
"""Length of the paper's analysis window [cycles]."""


def extend(signal: FloatArray, sampling_rate: float, frequency: float = 50.0) -> FloatArray:
    """Extend a capture to 30 nominal cycles by repeating its first and its last steady cycle.

    Triggered recorders keep 4 to 6 cycles; the transform needs more. Half of the missing cycles are added before the
    capture, half after it. A cycle is steady if it resembles its neighbour: a transient in the first or last cycle
    is not repeated. The period is measured at each end, since the grid is rarely at exactly its nominal frequency,
    and cycles are repeated with that period, to a fraction of a sample, without a step at the seam.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        Voltage, in any unit.
    sampling_rate, frequency : float
        Samples per second [Hz]; nominal frequency [Hz].

    Returns
    -------
    ndarray
        The extended signal; a signal that is long enough is returned unchanged.

    Examples
    --------
    >>> t = np.arange(2000) / 25_000
    >>> longer = extend(np.sin(2 * np.pi * 50.2 * t), 25_000)
    >>> longer.size, bool(np.ptp(np.diff(longer)) < 0.026)
    (15000, True)
    """
    decomposition_level(sampling_rate, frequency)  # checks both
    signal = np.ascontiguousarray(signal, dtype=np.float64)
    missing = round(WINDOW_CYCLES / frequency * sampling_rate) - signal.size
    if missing <= 0:
        return signal
    needed = ceil(2.1 * sampling_rate / frequency)
    if signal.ndim != 1 or signal.size < needed or sampling_rate < 16 * frequency:
        raise PqswarmError(
            f"a capture must be one-dimensional, of at least 16 samples per cycle and 2.1 cycles ({needed} samples) "
            f"to be extended, not of shape {signal.shape}."
        )
    before = missing // 2
    return np.concatenate(
        [
            _extension_samples(np.ascontiguousarray(signal[::-1]), before, sampling_rate / frequency)[::-1],
            signal,
            _extension_samples(signal, missing - before, sampling_rate / frequency),
        ]
    )


def _extension_samples(signal: FloatArray, length: int, nominal_period: float) -> FloatArray:
    """The next `length` samples of `signal` if its last steady cycle continued."""
    from pqswarm.features._kernels import interpolate_extension

    end, period = _extension_steady_cycle(signal, nominal_period)
    cycle = signal[end - ceil(period) - 4 : end]
    ahead = np.arange(1, length + 1) + signal.size - end
    position = cycle.size - 1 + ahead - period * np.ceil(ahead / period)
    values: FloatArray = interpolate_extension(cycle, position)
    return values


def _extension_steady_cycle(signal: FloatArray, nominal: float) -> tuple[int, float]:
    """End and period [samples] of the last cycle that resembles its predecessor about as well as any."""
    ends = np.arange(signal.size, ceil(2.1 * nominal) - 1, -round(nominal))
    misfits, periods = _extension_cycle_misfit(signal, ends, nominal)
    allowed = 4.0 * misfits.min() + 1e-9 * float(np.square(signal).mean()) * nominal
    best = int(np.argmax(misfits <= allowed))
    return int(ends[best]), float(periods[best])


def _extension_cycle_misfit(signal: FloatArray, ends: IntArray, nominal: float) -> tuple[FloatArray, FloatArray]:
    """Least squared difference of the cycle before each end from its predecessor, and its lag within 2.5 %."""
    from pqswarm.features._kernels import squared_extension_distances

    lags = np.arange(int(nominal * 0.975) - 1, ceil(nominal * 1.025) + 2)
    misfit = squared_extension_distances(signal, ends, round(nominal), lags)
    best = np.clip(misfit.argmin(axis=1), 1, lags.size - 2)
    left, centre, right = (misfit[np.arange(ends.size), best + step] for step in (-1, 0, 1))
    curvature = left - 2 * centre + right
    shift = np.divide(0.5 * (left - right), curvature, out=np.zeros_like(left), where=curvature > 0)
    return centre, lags[best] + np.clip(shift, -1.0, 1.0)
