"""The supply on which an event rides."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray


@dataclass(frozen=True)
class Grid:
    """The supply on which an event rides.

    Parameters
    ----------
    frequency, amplitude : float
        Actual fundamental frequency [Hz]; amplitude of the fundamental [pu].
    phase : float
        Phase of the fundamental at t = 0 [rad].
    background : tuple of (int, float, float)
        Order, amplitude [relative to the fundamental] and phase [rad] of each background harmonic.

    Examples
    --------
    >>> t = np.arange(500) / 25_000
    >>> float(Grid(amplitude=1.1).wave(t).max().round(3))
    1.1
    """

    frequency: float = 50.0
    amplitude: float = 1.0
    phase: float = 0.0
    background: tuple[tuple[int, float, float], ...] = ()

    def angle(self, t: FloatArray) -> FloatArray:
        """Angle of the fundamental [rad] at the times `t` [s]."""
        return 2 * np.pi * self.frequency * t + self.phase

    def wave(self, t: FloatArray, harmonics: Mapping[int, float] | None = None) -> FloatArray:
        """Voltage [pu] at the times `t` [s]; `harmonics`, amplitudes by order, replace the unit fundamental."""
        from pqswarm._kernels.math import sum_of_sines

        own = [(k, size, 0.0) for k, size in ({1: 1.0} if harmonics is None else harmonics).items()]
        orders, sizes, phases = np.array([*own, *self.background], dtype=np.float64).T.copy()
        wave = np.empty(len(t))
        sum_of_sines(self.angle(t), orders, self.amplitude * sizes, phases, wave)
        return wave


TABLE_GRID = Grid()
"""The supply of the paper's Table 1: 50 Hz, 1 pu, phase 0, no harmonics."""
