"""The terms from which the printed formulas are built."""

from collections.abc import Callable
from inspect import cleandoc
from typing import TypeVar

import numpy as np

from pqswarm._base.typing import FloatArray

_Model = TypeVar("_Model", bound=Callable[..., FloatArray])
_HEAD = "Parameters\n----------\n"
_TIMES = "t : ndarray of shape (n,)\n    Time axis [s].\n"
_REST = "\ngrid : Grid\n    The supply.\n\nReturns\n-------\nndarray of shape (n,)\n    Voltage [pu].\n\nExamples\n"


def documented(model: _Model) -> _Model:
    """Add what all models have in common to the docstring of one: the times, the supply and the voltage."""
    before, _, examples = cleandoc(model.__doc__ or "").partition("\n\nExamples\n")
    formula, _, own = before.partition(f"\n\n{_HEAD}")
    model.__doc__ = f"{formula}\n\n{_HEAD}{_TIMES}{own}".rstrip() + _REST + examples
    return model


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
