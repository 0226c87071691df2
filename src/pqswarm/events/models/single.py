"""Events with one disturbance: the models v1 to v9 of the paper's Table 1, and impulses."""

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.events.models.grid import TABLE_GRID, Grid
from pqswarm.events.models.terms import documented, flicker_envelope, harmonic_series, transient, window


@documented
def pure_sinusoid(t: FloatArray, *, grid: Grid = TABLE_GRID) -> FloatArray:
    r"""Pure sinusoid: :math:`v_1(t) = \alpha \sin(\omega t)`.

    With :math:`0.9 < \alpha < 1.1`, the amplitude of `grid` [pu].

    Examples
    --------
    >>> pure_sinusoid(np.array([0.0, 0.005]), grid=Grid(amplitude=0.95)).round(3).tolist()
    [0.0, 0.95]
    """
    return grid.wave(t)


@documented
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


@documented
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
    return (1.0 - depth * window(t, start, duration)) * grid.wave(t)


@documented
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
    return (1.0 + rise * window(t, start, duration)) * grid.wave(t)


@documented
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
    return (1.0 - depth * window(t, start, duration)) * grid.wave(t)


@documented
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


@documented
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
    notches_per_cycle : int
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


@documented
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


@documented
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


@documented
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
