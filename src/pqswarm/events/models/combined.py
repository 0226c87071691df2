"""Events with two disturbances at once: the models v10 to v14 of the paper's Table 1."""

from pqswarm._base.typing import FloatArray
from pqswarm.events.models.grid import TABLE_GRID, Grid
from pqswarm.events.models.terms import documented, flicker_envelope, harmonic_series, transient, window


@documented
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
    return (1.0 - depth * window(t, start, duration)) * grid.wave(t, harmonic_series(h5, h7, h11, h13))


@documented
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
    return (1.0 + rise * window(t, start, duration)) * grid.wave(t, harmonic_series(h5, h7, h11, h13))


@documented
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


@documented
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
    :func:`oscillatory_transient`. The table uses :math:`t_1` both for the sag and for the transient; here each has its
    own, and the preset ``paper-printed`` lets the transient start with the sag.

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
    return (1.0 - depth * window(t, start, duration)) * grid.wave(t) + burst


@documented
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
    return (1.0 + rise * window(t, start, duration)) * grid.wave(t) + burst
