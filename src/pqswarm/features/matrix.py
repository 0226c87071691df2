"""From signals to the feature matrix, with names."""

from collections.abc import Mapping
from math import sqrt
from threading import local
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.features.options import FeatureOptions
from pqswarm.features.wavelet import band_names, decomposition_level, minimum_samples, wavelet_filter_plan

FUNCTIONS: tuple[str, ...] = (
    "minimum",
    "maximum",
    "median",
    "energy",
    "mean",
    "entropy",
    "skewness",
    "deviation",
    "mean_deviation",
    "variance",
    "kurtosis",
)
"""The names of the paper's functions f1 ... f11, in its order."""

_LEAKAGE = 1e-11  # details of a signal of size 1 that come from rounding alone
_MAX_KEPT = 1 << 17  # numbers in each part of the memory of a thread: 4 MiB in all


def feature_names(level: int = 8) -> tuple[str, ...]:
    """Return the names of the features of `level` wavelet levels, band by band in the paper's order; 8 gives its 99.

    Examples
    --------
    >>> names = feature_names()
    >>> len(names), names[0], names[27], names[-1]
    (99, 'D1.minimum', 'D3.entropy', 'A8.kurtosis')
    """
    return tuple(f"{band}.{function}" for band in band_names(level) for function in FUNCTIONS)


def extract(
    signals: ArrayLike,
    sampling_rate: float,
    frequency: float = 50.0,
    options: FeatureOptions | Mapping[str, Any] | None = None,
) -> FloatArray:
    r"""Extract the wavelet features of the paper from each signal.

    Every signal is decomposed with sym6 to the level D of :func:`decomposition_level` (8 at 25 kHz and
    50 Hz), unless the `options` say otherwise. On the :math:`N_l` coefficients :math:`c_i` of each of the D + 1
    bands, these functions are computed:

    ==== ================ ===============================================================
    f1   minimum          :math:`\min c_i`
    f2   maximum          :math:`\max c_i`
    f3   median           median of :math:`c_i`
    f4   energy           :math:`\sum |c_i|^2`
    f5   mean             :math:`\frac{1}{N_l} \sum c_i`
    f6   entropy          :math:`-\sum p_i \log p_i`, :math:`p_i = |c_i|^2 / f_4`
    f7   skewness         :math:`\sum (c_i - f_5)^3 / ((N_l - 1) \sigma^3)`
    f8   deviation        :math:`\sigma = \sqrt{\sum (c_i - f_5)^2 / (N_l - 1)}`
    f9   mean_deviation   :math:`\frac{1}{N_l} \sum |c_i - f_5|`
    f10  variance         :math:`\sum (c_i - f_5)^2 / (N_l - 1)`
    f11  kurtosis         :math:`\sum (c_i - f_5)^4 / ((N_l - 1) \sigma^4)`
    ==== ================ ===============================================================

    Entropy is 0 in a band without energy, skewness and kurtosis in one without spread: less than rounding makes of a
    constant signal (1e-11 of its size).

    Parameters
    ----------
    signals : array_like of shape (n, n_samples) or (n_samples,)
        One signal per row [pu]; a single signal counts as one row. Integers are converted.
    sampling_rate, frequency : float
        Samples per second [Hz]; fundamental frequency [Hz].
    options : FeatureOptions or mapping, optional
        Another wavelet, level or border mode.

    Returns
    -------
    ndarray of shape (n, 11 * (D + 1))
        The features in the order of :func:`feature_names`: 99 at 25 kHz and 50 Hz.

    Raises
    ------
    PqswarmError
        For signals that are not real numbers, hold NaN or infinity, or are too short for the level.

    Examples
    --------
    >>> wave = np.sin(2 * np.pi * 50 * np.arange(15000) / 25_000)
    >>> extract(wave, 25_000).shape
    (1, 99)
    >>> extract(wave, 25_000, options={"wavelet": "db4", "level": 5}).shape
    (1, 66)
    """
    from pqswarm.features._function_kernels import extract_features

    chosen = FeatureOptions.of(options)
    decomposition_level(sampling_rate, frequency)  # checks both
    level = chosen.level_at(sampling_rate, frequency)
    rows, magnitudes = _check_signals(signals, level, sampling_rate, chosen.wavelet)
    n, n_samples = rows.shape
    features = np.empty((n, level + 1, len(FUNCTIONS)))
    # Filter coefficients are rounded: about 3e-12 of a constant leaks into the details.
    leakage = [_LEAKAGE * sqrt(2 << min(j, level - 1)) for j in range(level + 1)]
    plan = wavelet_filter_plan(n_samples, level, chosen.wavelet, chosen.border)
    extract_features(rows, *plan, np.outer(magnitudes, leakage), _feature_matrix_workspace(int(plan[1][0])), features)
    if not np.isfinite(features).all():
        row = int(np.argmin(np.isfinite(features).all(axis=(1, 2))))
        raise PqswarmError(f"signal {row} is too large for its energy to be computed: scale it to per unit.")
    return features.reshape(n, (level + 1) * len(FUNCTIONS))


class _Kept(local):
    """Memory that a thread keeps between calls."""

    workspace: FloatArray = np.empty((4, 0))


_KEPT = _Kept()


def _feature_matrix_workspace(n_coefficients: int) -> FloatArray:
    """Working memory; allocating and freeing it would take longer than the work."""
    from pqswarm._kernels.lanes import LANES

    size = LANES * n_coefficients
    if size > _MAX_KEPT:
        return np.empty((4, size))
    if _KEPT.workspace.shape[1] < size:
        _KEPT.workspace = np.empty((4, size))
    return _KEPT.workspace


def _check_signals(signals: ArrayLike, level: int, sampling_rate: float, wavelet: str) -> tuple[FloatArray, FloatArray]:
    """The signals, one per row, and the largest magnitude of each."""
    try:
        given = np.asarray(signals)
    except ValueError:
        raise PqswarmError("signals must all have the same length.") from None
    if np.ma.is_masked(signals):
        raise PqswarmError("signals must not be masked: fill or cut out the masked samples first.")
    if given.dtype.kind not in "iuf":
        raise PqswarmError(f"signals must be real numbers, not of type {given.dtype}.")
    if given.ndim not in (1, 2):
        raise PqswarmError(f"signals must have one row per signal, shape (n, n_samples), not {given.shape}.")
    rows = np.ascontiguousarray(np.atleast_2d(given), dtype=np.float64)
    needed = minimum_samples(level, wavelet)
    if rows.shape[1] < needed:
        raise PqswarmError(
            f"signals have {rows.shape[1]} samples, but {wavelet} to level {level} needs at least {needed} "
            f"({needed / sampling_rate:.3g} s at {sampling_rate:g} Hz): use a longer record, or lengthen it with "
            f"pqswarm.features.extend."
        )
    magnitudes = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    if not np.isfinite(magnitudes).all():
        row, sample = np.argwhere(~np.isfinite(rows))[0]
        raise PqswarmError(
            f"signals must be finite, but sample {sample} of signal {row} is {rows[row, sample]}: "
            f"cut it out or repair it before extracting features."
        )
    return rows, magnitudes
