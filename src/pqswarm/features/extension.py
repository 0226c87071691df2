"""Lengthen captures that are shorter than the analysis window."""

from math import ceil

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError

__all__ = ["WINDOW_CYCLES", "extend"]

WINDOW_CYCLES = 30.0
"""Length of the paper's analysis window [cycles]."""


def extend(
    signal: FloatArray, sampling_rate: float, frequency: float = 50.0, cycles: float = WINDOW_CYCLES
) -> FloatArray:
    """Extend a capture to `cycles` nominal cycles by repeating its first and its last cycle.

    Triggered recorders keep 4 to 6 cycles; the transform wants more. Half of what is missing is put
    before the capture, half after it. The period is measured at each end (the grid is rarely at exactly
    its nominal frequency), and cycles are repeated with that period, to a fraction of a sample, so that
    no step appears at the seam.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        Voltage, of any unit.
    sampling_rate : float
        Samples per second [Hz].
    frequency : float
        Nominal frequency [Hz].
    cycles : float
        Length wanted [nominal cycles].

    Returns
    -------
    ndarray
        The extended signal; a signal that is long enough comes back as it is.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.arange(2000) / 25_000
    >>> longer = extend(np.sin(2 * np.pi * 50.2 * t), 25_000)
    >>> longer.size, bool(np.ptp(np.diff(longer)) < 0.026)
    (15000, True)
    """
    missing = round(cycles / frequency * sampling_rate) - signal.size
    if missing <= 0:
        return signal
    needed = ceil(2.1 * sampling_rate / frequency)
    if signal.ndim != 1 or signal.size < needed:
        raise PqswarmError(
            f"a capture must be one-dimensional and at least 2.1 cycles ({needed} samples) long to be extended, "
            f"not of shape {signal.shape}."
        )
    before = missing // 2
    return np.concatenate(
        [
            _continuation(signal[::-1], before, sampling_rate / frequency)[::-1],
            signal,
            _continuation(signal, missing - before, sampling_rate / frequency),
        ]
    )


def _continuation(signal: FloatArray, length: int, nominal_period: float) -> FloatArray:
    """The next `length` samples of `signal` if its last cycle went on."""
    from scipy.interpolate import CubicSpline

    period = _period(signal, nominal_period)
    tail = signal[-ceil(period) - 4 :]
    ahead = np.arange(1, length + 1)
    position = tail.size - 1 + ahead - period * np.ceil(ahead / period)
    return np.asarray(CubicSpline(np.arange(tail.size), tail)(position), dtype=np.float64)


def _period(signal: FloatArray, nominal: float) -> float:
    """The lag [samples], within 2.5 % of nominal, at which the last cycle resembles the one before most."""
    cycle = round(nominal)
    last = signal[-cycle:]
    lags = np.arange(int(nominal * 0.975) - 1, ceil(nominal * 1.025) + 2)
    misfit = np.array([np.square(last - signal[-cycle - lag : -lag]).sum() for lag in lags])
    best = int(np.clip(misfit.argmin(), 1, lags.size - 2))
    left, centre, right = misfit[best - 1 : best + 2]
    curvature = left - 2 * centre + right
    shift = 0.5 * (left - right) / curvature if curvature > 0 else 0.0
    return float(lags[best] + np.clip(shift, -1.0, 1.0))
