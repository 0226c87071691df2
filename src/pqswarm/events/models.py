r"""Parametric models: the fourteen of the paper's Table 1, one function per row, and of impulses.

Every model is a pure function of the time axis `t` [s] and of its parameters, returns a voltage in per unit [pu] and
draws nothing. The printed formulas have :math:`\omega = 2 \pi f` and :math:`u(t) = 1` for :math:`t > 0`, else 0.

The supply of the table is a clean sine of 1 pu with phase 0. The argument `grid` replaces it by a
supply of another amplitude, phase or frequency, or with background harmonics, as field recordings have.

References
----------
F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two
dimensional (2D) particle swarms", Applied Soft Computing 81 (2019) 105498, Table 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import TypeVar

import numpy as np

from pqswarm._base.typing import FloatArray


@dataclass(frozen=True)
class Grid:
    """The supply on which an event rides.

    Parameters
    ----------
    frequency : float, default=50.0
        Actual fundamental frequency [Hz].
    amplitude : float, default=1.0
        Amplitude of the fundamental [pu].
    phase : float, default=0.0
        Phase of the fundamental at t = 0 [rad].
    background : tuple of (int, float, float), default=()
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


_Model = TypeVar("_Model", bound=Callable[..., FloatArray])
_HEAD = "Parameters\n----------\n"
_TIMES = "t : ndarray of shape (n,)\n    Time axis [s].\n"
_REST = "\ngrid : Grid\n    The supply.\n\nReturns\n-------\nndarray of shape (n,)\n    Voltage [pu].\n\nExamples\n"


def document_model(model: _Model) -> _Model:
    """Add what all models have in common to the docstring of one: the times, the supply and the voltage."""
    before, _, examples = cleandoc(model.__doc__ or "").partition("\n\nExamples\n")
    formula, _, own = before.partition(f"\n\n{_HEAD}")
    model.__doc__ = f"{formula}\n\n{_HEAD}{_TIMES}{own}".rstrip() + _REST + examples
    return model


def step_window(t: FloatArray, start: float, duration: float) -> FloatArray:
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


@document_model
def pure_sinusoid(t: FloatArray, *, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Pure sinusoid: :math:`v_1(t) = \alpha \sin(\omega t)`.

    With :math:`0.9 < \alpha < 1.1`, the amplitude of `grid` [pu].

    Examples
    --------
    >>> pure_sinusoid(np.array([0.0, 0.005]), grid=Grid(amplitude=0.95)).round(3).tolist()
    [0.0, 0.95]
    """
    return grid.wave(t)


@document_model
def dc_offset(t: FloatArray, *, offset: float, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""DC offset: :math:`v_2(t) = \beta + \alpha \sin(\omega t)`.

    With :math:`0.9 < \alpha < 1.1`, the amplitude of `grid` [pu], and :math:`0 < \beta < 0.1`.

    Parameters
    ----------
    offset : float
        :math:`\beta` [pu].

    Examples
    --------
    >>> dc_offset(np.array([0.0, 0.005]), offset=0.05).round(3).tolist()
    [0.05, 1.05]
    """
    return offset + grid.wave(t)


@document_model
def sag(t: FloatArray, *, depth: float, start: float, duration: float, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Sag: :math:`v_3(t) = \{1 - \alpha (u(t-t_1) - u(t-t_2))\} \sin(\omega t)`.

    With :math:`0.1 \le \alpha \le 0.9`, :math:`t_1 < t_2`, :math:`0.5T \le t_2 - t_1 \le 30T`.

    Parameters
    ----------
    depth : float
        :math:`\alpha` [pu]; the residual voltage is 1 - depth.
    start, duration : float
        :math:`t_1` and :math:`t_2 - t_1` [s].

    Examples
    --------
    >>> t = np.array([0.005, 0.105, 0.205])
    >>> sag(t, depth=0.4, start=0.1, duration=0.1).round(3).tolist()
    [1.0, 0.6, 1.0]
    """
    return (1.0 - depth * step_window(t, start, duration)) * grid.wave(t)


@document_model
def swell(t: FloatArray, *, rise: float, start: float, duration: float, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Swell: :math:`v_4(t) = \{1 + \alpha (u(t-t_1) - u(t-t_2))\} \sin(\omega t)`.

    With :math:`0.1 \le \alpha \le 0.8`, :math:`t_1 < t_2`, :math:`0.5T \le t_2 - t_1 \le 30T`.

    Parameters
    ----------
    rise, start, duration : float
        :math:`\alpha` [pu]; :math:`t_1` and :math:`t_2 - t_1` [s].

    Examples
    --------
    >>> t = np.array([0.005, 0.105, 0.205])
    >>> swell(t, rise=0.5, start=0.1, duration=0.1).round(3).tolist()
    [1.0, 1.5, 1.0]
    """
    return (1.0 + rise * step_window(t, start, duration)) * grid.wave(t)


@document_model
def interruption(t: FloatArray, *, depth: float, start: float, duration: float, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Interruption: :math:`v_5(t) = \{1 - \alpha (u(t-t_1) - u(t-t_2))\} \sin(\omega t)`.

    The formula of the sag with :math:`0.9 < \alpha \le 1.0`, :math:`0.5T \le t_2 - t_1 \le 30T`.

    Parameters
    ----------
    depth, start, duration : float
        :math:`\alpha` [pu]; :math:`t_1` and :math:`t_2 - t_1` [s].

    Examples
    --------
    >>> t = np.array([0.005, 0.105, 0.205])
    >>> interruption(t, depth=1.0, start=0.1, duration=0.1).round(3).tolist()
    [1.0, 0.0, 1.0]
    """
    return (1.0 - depth * step_window(t, start, duration)) * grid.wave(t)


@document_model
def flicker(t: FloatArray, *, flicker_depth: float, flicker_frequency: float, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Flicker: :math:`v_6(t) = \{1 + \alpha_f \sin(\beta_f \omega t)\} \sin(\omega t)`.

    With :math:`0 < \alpha_f \le 0.07`, :math:`1 \le \beta_f \le 25`. As printed, the modulation would
    have 50 to 1250 Hz; the presets read :math:`\beta_f` as a frequency of 1 to 25 Hz (IEEE 1159);
    ``paper-printed`` follows the formula literally.

    Parameters
    ----------
    flicker_depth : float
        :math:`\alpha_f` [pu].
    flicker_frequency : float
        Frequency of the modulation [Hz]; :math:`\beta_f \omega / 2 \pi` as printed.

    Examples
    --------
    >>> t = np.array([0.025, 0.075])
    >>> flicker(t, flicker_depth=0.05, flicker_frequency=10.0).round(3).tolist()
    [1.05, -0.95]
    """
    return flicker_envelope(t, flicker_depth, flicker_frequency) * grid.wave(t)


@document_model
def notching(
    t: FloatArray,
    *,
    notch_depth: float,
    notch_position: float,
    notch_width: float,
    notches_per_cycle: float = 1,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Notching: :math:`v_7(t) = \sin(\omega t) - \mathrm{sign}(\sin(\omega t)) \, n(t)`.

    With :math:`n(t) = \sum_{n=0}^{60} K [u(t-(t_1+nT)) - u(t-(t_2+nT))]`, :math:`0.1 \le K \le 0.4`, :math:`t_1 \le T`,
    :math:`0.01T \le t_2 - t_1 \le 0.05T`. The sum runs to the end of the record.

    Parameters
    ----------
    notch_depth, notch_position, notch_width : float
        :math:`K` [pu]; :math:`t_1` and :math:`t_2 - t_1` [s].
    notches_per_cycle : int, default=1
        Notches per cycle of the fundamental: 1 repeats them after :math:`T`, 2 after half a cycle.

    Examples
    --------
    >>> t = np.array([0.005, 0.015, 0.025])
    >>> notching(t, notch_depth=0.3, notch_position=0.0049, notch_width=0.0005).round(3).tolist()
    [0.7, -1.0, 0.7]
    """
    from pqswarm._kernels.math import sines

    period = 1.0 / (grid.frequency * notches_per_cycle)
    since_first = t - notch_position
    since_last = since_first % period
    inside = (since_first > 0) & (since_last > 0) & (since_last <= notch_width)
    sign: FloatArray = np.sign(sines(grid.angle(t)))
    return grid.wave(t) - grid.amplitude * notch_depth * sign * inside


@document_model
def harmonics(t: FloatArray, *, h5: float, h7: float, h11: float, h13: float, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Harmonics: :math:`v_8(t) = \sum_k \delta_k \sin(\omega k t)`, :math:`k = \{1, 5, 7, 11, 13\}`.

    With :math:`0 < \delta_5, \delta_7, \delta_{11}, \delta_{13} \le 0.2` and :math:`\sum_k \delta_k^2 = 1`,
    which fixes :math:`\delta_1`.

    Parameters
    ----------
    h5, h7, h11, h13 : float
        :math:`\delta_5, \delta_7, \delta_{11}, \delta_{13}` [pu].

    Examples
    --------
    >>> t = np.arange(500) / 25_000
    >>> wave = harmonics(t, h5=0.1, h7=0.1, h11=0.05, h13=0.05)
    >>> round(float(np.mean(wave**2)), 12)
    0.5
    """
    return grid.wave(t, harmonic_series(h5, h7, h11, h13))


@document_model
def oscillatory_transient(
    t: FloatArray,
    *,
    transient_amplitude: float,
    transient_damping: float,
    transient_frequency: float,
    transient_onset: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Oscillatory transient: :math:`v_9(t) = \sin(\omega t) + u_{t_1} \beta e^{-\gamma t_2} \sin(2 \pi f_{tr} t)`.

    With :math:`50 \le \gamma \le 100`, :math:`1 \le \beta \le 4`, :math:`1000 \le f_{tr} \le 10000`,
    :math:`0.3 \le t_1 \le 0.9`, :math:`t_2 = (t - t_1) u_{t_1}`.

    Parameters
    ----------
    transient_amplitude, transient_damping : float
        :math:`\beta` [pu]; :math:`\gamma` [1/s].
    transient_frequency, transient_onset : float
        :math:`f_{tr}` [Hz]; :math:`t_1` [s].

    Examples
    --------
    >>> t = np.array([0.105, 0.20525])
    >>> v = oscillatory_transient(t, transient_amplitude=2.0, transient_damping=80.0,
    ...                           transient_frequency=1000.0, transient_onset=0.2)
    >>> v.round(2).tolist()
    [1.0, 2.31]
    """
    burst = transient(t, transient_amplitude, transient_damping, transient_frequency, transient_onset)
    return grid.wave(t) + burst


@document_model
def impulsive_transient(
    t: FloatArray,
    *,
    transient_amplitude: float,
    transient_damping: float,
    transient_onset: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Impulsive transient: :math:`v(t) = \sin(\omega t) + u(t-t_1) \beta e^{-\gamma (t-t_1)}`; not in Table 1.

    Parameters
    ----------
    transient_amplitude, transient_damping, transient_onset : float
        :math:`\beta` [pu], negative for an impulse downwards; :math:`\gamma` [1/s]; :math:`t_1` [s].

    Examples
    --------
    >>> t = np.array([0.005, 0.105, 0.106])
    >>> v = impulsive_transient(t, transient_amplitude=1.0, transient_damping=1000.0, transient_onset=0.1049)
    >>> v.round(2).tolist()
    [1.0, 1.9, 1.28]
    """
    from pqswarm._kernels.math import exponentials

    impulse: FloatArray = exponentials(-transient_damping * np.maximum(t - transient_onset, 0.0))
    return grid.wave(t) + transient_amplitude * impulse * (t > transient_onset)


@document_model
def sag_with_harmonics(
    t: FloatArray,
    *,
    depth: float,
    start: float,
    duration: float,
    h5: float,
    h7: float,
    h11: float,
    h13: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Sag with harmonics: :math:`v_{10}(t) = \{1 - \alpha (u(t-t_1) - u(t-t_2))\} \sum_k \delta_k \sin(\omega k t)`.

    With the ranges of :func:`sag` and :func:`harmonics`.

    Parameters
    ----------
    depth, start, duration, h5, h7, h11, h13 : float
        See :func:`sag` and :func:`harmonics`.

    Examples
    --------
    >>> import numpy as np
    >>> v = sag_with_harmonics(np.array([0.105]), depth=0.5, start=0.1, duration=0.1,
    ...                        h5=0.1, h7=0.0, h11=0.0, h13=0.0)
    >>> v.round(3).tolist()
    [0.547]
    """
    return (1.0 - depth * step_window(t, start, duration)) * grid.wave(t, harmonic_series(h5, h7, h11, h13))


@document_model
def swell_with_harmonics(
    t: FloatArray,
    *,
    rise: float,
    start: float,
    duration: float,
    h5: float,
    h7: float,
    h11: float,
    h13: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Swell with harmonics: :math:`v_{11}(t) = \{1 + \alpha (u(t-t_1) - u(t-t_2))\} \sum_k \delta_k \sin(\omega k t)`.

    With the ranges of :func:`swell` and :func:`harmonics`.

    Parameters
    ----------
    rise, start, duration, h5, h7, h11, h13 : float
        See :func:`swell` and :func:`harmonics`.

    Examples
    --------
    >>> import numpy as np
    >>> v = swell_with_harmonics(np.array([0.105]), rise=0.5, start=0.1, duration=0.1,
    ...                          h5=0.1, h7=0.0, h11=0.0, h13=0.0)
    >>> v.round(3).tolist()
    [1.642]
    """
    return (1.0 + rise * step_window(t, start, duration)) * grid.wave(t, harmonic_series(h5, h7, h11, h13))


@document_model
def flicker_with_harmonics(
    t: FloatArray,
    *,
    flicker_depth: float,
    flicker_frequency: float,
    h5: float,
    h7: float,
    h11: float,
    h13: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Flicker with harmonics: :math:`v_{12}(t) = \{1 + \alpha_f \sin(\beta_f \omega t)\} s(t)`.

    With :math:`s(t) = \sum_k \delta_k \sin(\omega k t)` and the ranges of :func:`flicker` and :func:`harmonics`.

    Parameters
    ----------
    flicker_depth, flicker_frequency, h5, h7, h11, h13 : float
        See :func:`flicker` and :func:`harmonics`.

    Examples
    --------
    >>> import numpy as np
    >>> v = flicker_with_harmonics(np.array([0.025]), flicker_depth=0.05, flicker_frequency=10.0,
    ...                            h5=0.1, h7=0.0, h11=0.0, h13=0.0)
    >>> v.round(3).tolist()
    [1.15]
    """
    envelope = flicker_envelope(t, flicker_depth, flicker_frequency)
    return envelope * grid.wave(t, harmonic_series(h5, h7, h11, h13))


@document_model
def sag_with_transient(
    t: FloatArray,
    *,
    depth: float,
    start: float,
    duration: float,
    transient_amplitude: float,
    transient_damping: float,
    transient_frequency: float,
    transient_onset: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Sag with transient: :math:`v_{13}(t) = \{1 - \alpha (u(t-t_1) - u(t-t_2))\} \sin(\omega t) + r(t)`.

    With :math:`r(t) = u_{t_1} \beta e^{-\gamma t_2} \sin(2 \pi f_{tr} t)` and the ranges of :func:`sag` and
    :func:`oscillatory_transient`. The table uses :math:`t_1` both for the sag and for the transient, which start
    together in the preset ``paper``; here each has its own time, for presets in which they do not.

    Parameters
    ----------
    depth, start, duration, transient_amplitude, transient_damping, transient_frequency, transient_onset : float
        See :func:`sag` and :func:`oscillatory_transient`.

    Examples
    --------
    >>> import numpy as np
    >>> v = sag_with_transient(np.array([0.105]), depth=0.5, start=0.1, duration=0.1,
    ...                        transient_amplitude=1.0, transient_damping=80.0,
    ...                        transient_frequency=1000.0, transient_onset=0.3)
    >>> v.round(3).tolist()
    [0.5]
    """
    burst = transient(t, transient_amplitude, transient_damping, transient_frequency, transient_onset)
    return (1.0 - depth * step_window(t, start, duration)) * grid.wave(t) + burst


@document_model
def swell_with_transient(
    t: FloatArray,
    *,
    rise: float,
    start: float,
    duration: float,
    transient_amplitude: float,
    transient_damping: float,
    transient_frequency: float,
    transient_onset: float,
    grid: Grid = TABLE_GRID,
) -> FloatArray:
    r"""Swell with transient: :math:`v_{14}(t) = \{1 + \alpha (u(t-t_1) - u(t-t_2))\} \sin(\omega t) + r(t)`.

    With :math:`r(t) = u_{t_1} \beta e^{-\gamma t_2} \sin(2 \pi f_{tr} t)` and the ranges of :func:`swell` and
    :func:`oscillatory_transient`; see :func:`sag_with_transient` for the onset.

    Parameters
    ----------
    rise, start, duration, transient_amplitude, transient_damping, transient_frequency, transient_onset : float
        See :func:`swell` and :func:`oscillatory_transient`.

    Examples
    --------
    >>> import numpy as np
    >>> v = swell_with_transient(np.array([0.105]), rise=0.5, start=0.1, duration=0.1,
    ...                          transient_amplitude=1.0, transient_damping=80.0,
    ...                          transient_frequency=1000.0, transient_onset=0.3)
    >>> v.round(3).tolist()
    [1.5]
    """
    burst = transient(t, transient_amplitude, transient_damping, transient_frequency, transient_onset)
    return (1.0 + rise * step_window(t, start, duration)) * grid.wave(t) + burst


__all__ = [
    "Grid",
    "dc_offset",
    "flicker",
    "flicker_with_harmonics",
    "harmonics",
    "impulsive_transient",
    "interruption",
    "notching",
    "oscillatory_transient",
    "pure_sinusoid",
    "sag",
    "sag_with_harmonics",
    "sag_with_transient",
    "swell",
    "swell_with_harmonics",
    "swell_with_transient",
]
