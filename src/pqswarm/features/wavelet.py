"""The discrete wavelet transform of the paper: sym6, to the level of its rule of thumb."""

from math import frexp

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError

__all__ = ["band_edges", "band_names", "coefficient_times", "decompose", "decomposition_level", "minimum_samples"]

_FILTER_LENGTH = 12  # of sym6


def decomposition_level(sampling_rate: float, frequency: float = 50.0) -> int:
    r"""Return the level D of the paper's rule of thumb, :math:`F_s / 2^{D+1} \le f \le F_s / 2^D`.

    Parameters
    ----------
    sampling_rate : float
        :math:`F_s` [Hz].
    frequency : float
        Fundamental frequency :math:`f` [Hz].

    Returns
    -------
    int
        The larger of the two levels where both ends of the rule hold.

    Examples
    --------
    >>> decomposition_level(25_000)
    8
    >>> decomposition_level(3_200, 60)
    5
    """
    for name, value in (("sampling_rate", sampling_rate), ("frequency", frequency)):
        if not isinstance(value, int | float | np.integer | np.floating) or not 1e-6 <= value <= 1e12:
            raise PqswarmError(f"{name} must be a positive number [Hz], not {value!r}.")
    level = frexp(sampling_rate / frequency)[1] - 1
    if level < 1:
        raise PqswarmError(
            f"sampling_rate ({sampling_rate:g} Hz) must be at least twice the frequency ({frequency:g} Hz): "
            f"there is no wavelet level to decompose to."
        )
    return level


def minimum_samples(level: int) -> int:
    """Return the shortest signal that sym6 decomposes to `level` with a coefficient free of border effects.

    Examples
    --------
    >>> minimum_samples(8)
    2816
    """
    return int((_FILTER_LENGTH - 1) * 2**level)


def band_names(level: int) -> tuple[str, ...]:
    """Return the names of the bands: details from fine to coarse, then the approximation.

    Examples
    --------
    >>> band_names(3)
    ('D1', 'D2', 'D3', 'A3')
    """
    return (*(f"D{j}" for j in range(1, level + 1)), f"A{level}")


def band_edges(sampling_rate: float, level: int) -> tuple[tuple[float, float], ...]:
    """Return the nominal frequency range [Hz] of each band, in the order of :func:`band_names`.

    Examples
    --------
    >>> band_edges(8_000, 2)
    ((2000.0, 4000.0), (1000.0, 2000.0), (0.0, 1000.0))
    """
    details = tuple((sampling_rate / 2 ** (j + 1), sampling_rate / 2**j) for j in range(1, level + 1))
    return (*details, (0.0, sampling_rate / 2 ** (level + 1)))


def coefficient_times(band: str, n: int, sampling_rate: float) -> FloatArray:
    """Return the times [s] that the `n` coefficients of a band stand for, relative to the first sample.

    The first and last few lie outside the signal: they see its continuation at the border.

    Parameters
    ----------
    band : str
        Such as ``"D3"`` or ``"A8"``.
    n : int
        Number of coefficients.
    sampling_rate : float
        Samples per second of the signal [Hz].

    Returns
    -------
    ndarray of shape (n,)
        Centre of the wavelet of each coefficient [s].

    Examples
    --------
    >>> coefficient_times("D2", 3, 1000.0).tolist()
    [-0.0135, -0.0095, -0.0055]
    """
    step = 2 ** int(band[1:])
    delay = (_FILTER_LENGTH / 2 - 1.5) * (step - 1)  # half a filter per level, in samples of that level
    return np.asarray((step * np.arange(n) - delay) / sampling_rate)


def decompose(signals: FloatArray, level: int) -> list[FloatArray]:
    """Decompose each row of `signals` with the paper's wavelet, sym6.

    At its ends a signal is continued by its mirror image (half-point symmetric, MATLAB's default ``sym``).

    Parameters
    ----------
    signals : ndarray of shape (n, n_samples) or (n_samples,)
        One signal per row, or one.
    level : int
        Levels of the transform.

    Returns
    -------
    list of ndarray, each of shape (n, n_coefficients) or (n_coefficients,)
        The bands D1 ... D`level`, A`level`.

    Examples
    --------
    >>> import numpy as np
    >>> [band.shape for band in decompose(np.ones((1, 100)), 2)]
    [(1, 55), (1, 33), (1, 33)]
    """
    from pqswarm.features._wavelet_kernels import analyse

    bands, rest = [], np.ascontiguousarray(signals, dtype=np.float64)
    for _ in range(level):
        *rows, n = rest.shape
        length = (n + _FILTER_LENGTH - 1) // 2
        approximation, detail = np.empty((*rows, length)), np.empty((*rows, length))
        analyse(rest.reshape(-1, n), approximation.reshape(-1, length), detail.reshape(-1, length))
        bands.append(detail)
        rest = approximation
    return [*bands, rest]
