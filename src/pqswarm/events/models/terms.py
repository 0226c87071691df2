"""The terms from which the printed formulas are built."""

import numpy as np

from pqswarm._base.typing import FloatArray


def window(t: FloatArray, start: float, duration: float) -> FloatArray:
    """u(t - t1) - u(t - t2), with t1 = start and t2 = start + duration."""
    return ((t > start) & (t <= start + duration)).astype(np.float64)


def harmonic_series(h5: float, h7: float, h11: float, h13: float) -> dict[int, float]:
    """Amplitudes of the orders 1, 5, 7, 11, 13 whose squares add to one."""
    fundamental = np.sqrt(1.0 - (h5 * h5 + h7 * h7 + h11 * h11 + h13 * h13))
    return {1: float(fundamental), 5: h5, 7: h7, 11: h11, 13: h13}


def transient(t: FloatArray, amplitude: float, damping: float, frequency: float, onset: float) -> FloatArray:
    """u(t - t1) beta exp(-gamma (t - t1)) sin(2 pi f_tr t)."""
    from pqswarm._kernels.math import exponentials, sines

    burst = np.zeros_like(t)
    after = t > onset
    burst[after] = amplitude * exponentials(-damping * (t[after] - onset)) * sines(2 * np.pi * frequency * t[after])
    return burst


def flicker_envelope(t: FloatArray, depth: float, frequency: float) -> FloatArray:
    """1 + alpha_f sin(2 pi f t)."""
    from pqswarm._kernels.math import sines

    modulation: FloatArray = sines(2 * np.pi * frequency * t)
    return 1.0 + depth * modulation
