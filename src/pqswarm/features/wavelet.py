"""Wavelet features: the transform, the features of signals; and short captures lengthened.

A filter is orthonormal to itself shifted by two, and the wavelet has N vanishing moments: dbN (minimum delay) and symN
(minimum asymmetry) have 2 N coefficients; coifN has 6 N, 2 N vanishing moments, and 2 N - 1 of the scaling function.
Equations were solved with 60 digits and rounded, except sym6, whose coefficients are those of MATLAB and PyWavelets,
with an error of 1.5e-12, so that features match.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from math import ceil, frexp, sqrt
from threading import local
from types import MappingProxyType
from typing import Any

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.typing import ArrayLike, FloatArray, IntArray
from pqswarm.errors import PqswarmError

_READ = json.loads((files("pqswarm.features") / "filters.json").read_text(encoding="utf-8"))
_READ["haar"] = _READ["db1"]

FILTERS: Mapping[str, tuple[float, ...]] = MappingProxyType({name: tuple(taps) for name, taps in _READ.items()})
"""The coefficients of each filter; the first one multiplies the newest sample."""


BORDERS: tuple[str, ...] = ("symmetric", "reflect", "periodic", "periodization", "constant", "zero")
"""Border modes, named as in PyWavelets.

``symmetric`` mirrors the signal and repeats the last sample, ``reflect`` mirrors it without; ``periodic`` repeats the
signal, ``periodization`` does so with the minimum number of coefficients, half as many as samples; ``constant`` repeats
the last sample, ``zero`` adds zeros."""

_MIN_COEFFICIENTS = 4  # minimum coefficients of the coarsest band, for meaningful moments


def decomposition_level(sampling_rate: float, frequency: float = 50.0) -> int:
    r"""Return the level D of the paper's rule of thumb, :math:`F_s / 2^{D+1} \le f \le F_s / 2^D`.

    Parameters
    ----------
    sampling_rate : float
        :math:`F_s` [Hz].
    frequency : float, default=50.0
        Fundamental frequency :math:`f` [Hz].

    Returns
    -------
    int
        The larger of the two levels if both ends of the rule hold.

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


def minimum_samples(level: int, wavelet: str = "sym6") -> int:
    """Return the shortest signal that a wavelet decomposes to `level` with a coefficient free of border effects.

    Examples
    --------
    >>> minimum_samples(8), minimum_samples(8, "db10")
    (2816, 4864)
    """
    return int(max(len(_wavelet_filter(wavelet)) - 1, _MIN_COEFFICIENTS) * 2**level)


def _wavelet_filter(wavelet: str) -> tuple[float, ...]:
    return FILTERS[check_name("wavelet", wavelet, FILTERS)]


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


def coefficient_times(
    band: str, n: int, sampling_rate: float, wavelet: str = "sym6", border: str = "symmetric"
) -> FloatArray:
    """Return the times [s] of the `n` coefficients of a band: the first and last few lie outside the signal."""
    step = 2 ** int(band[1:])
    taps = len(_wavelet_filter(wavelet))
    newest = taps // 2 if border == "periodization" else 1  # sample of the first coefficient of a level
    delay = ((taps - 1) / 2 - newest) * (step - 1)  # half a filter per level, in samples of that level
    return np.asarray((step * np.arange(n) - delay) / sampling_rate)


def decompose(signals: FloatArray, level: int, wavelet: str = "sym6", border: str = "symmetric") -> list[FloatArray]:
    """Decompose each row of `signals` with an orthogonal wavelet, by default the paper's, sym6.

    By default a signal is extended by its mirror image (half-point symmetric, MATLAB's default ``sym``).

    Parameters
    ----------
    signals : ndarray of shape (n, n_samples) or (n_samples,)
        One signal per row, or one.
    level : int
        Levels of the transform.
    wavelet : str, default="sym6"
        One of :data:`WAVELETS`.
    border : str, default="symmetric"
        One of :data:`BORDERS`.

    Returns
    -------
    list of ndarray, each of shape (n, n_coefficients) or (n_coefficients,)
        The bands D1 ... D`level`, A`level`.

    Examples
    --------
    >>> [band.shape for band in decompose(np.ones((1, 100)), 2)]
    [(1, 55), (1, 33), (1, 33)]
    >>> [band.shape for band in decompose(np.ones((1, 100)), 2, "db4", "periodization")]
    [(1, 50), (1, 25), (1, 25)]
    """
    given = np.ascontiguousarray(signals, dtype=np.float64)
    *shape, n_samples = given.shape
    rest = given.reshape(-1, n_samples)
    places, lengths, low_pass = wavelet_filter_plan(n_samples, level, wavelet, border)
    looks = 2 * lengths + low_pass.size - 2  # inputs of the filters of each level
    bands = []
    for n, look in zip(lengths, np.split(places, np.cumsum(looks)[:-1]), strict=True):
        prolonged = np.where(look < 0, 0.0, rest[:, look])
        low = np.zeros((len(rest), n))
        high = np.zeros((len(rest), n))
        for tap in range(0, low_pass.size, 2):  # in the order of the compiled filters, for the same bits
            newest = low_pass.size - 1 - tap
            newer = prolonged[:, newest::2][:, :n]
            older = prolonged[:, newest - 1 :: 2][:, :n]
            low = low + low_pass[tap] * newer + low_pass[tap + 1] * older
            high = high - low_pass[newest] * newer + low_pass[newest - 1] * older
        bands.append(high)
        rest = low
    return [band.reshape(*shape, -1) for band in (*bands, rest)]


@lru_cache(maxsize=16)
def wavelet_filter_plan(n_samples: int, level: int, wavelet: str, border: str) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the inputs of the filters at each level, the numbers of coefficients, and the filters."""
    low_pass = np.array(_wavelet_filter(wavelet))
    check_name("border", border, BORDERS)
    places = []
    lengths = [n_samples]
    for _ in range(level):
        where, length = _wavelet_filter_places(lengths[-1], low_pass.size, border)
        places.append(where)
        lengths.append(length)
    plan = np.concatenate(places), np.array(lengths[1:]), low_pass
    for array in plan:
        array.setflags(write=False)
    return plan


def _wavelet_filter_places(n: int, taps: int, border: str) -> tuple[IntArray, int]:
    """The sample at each input of the filters, -1 for none, and the number of coefficients."""
    whole = n + n % 2  # periodization repeats the last sample of an odd number
    length = whole // 2 if border == "periodization" else (n + taps - 1) // 2
    first = 1 - taps // 2 if border == "periodization" else 2 - taps
    at = np.arange(first, first + 2 * length + taps - 2)
    if border == "symmetric":
        at %= 2 * n
        at = np.minimum(at, 2 * n - 1 - at)
    elif border == "reflect":
        at %= max(2 * n - 2, 1)
        at = np.minimum(at, 2 * n - 2 - at)
    elif border == "periodic":
        at %= n
    elif border == "periodization":
        at = np.minimum(at % whole, n - 1)
    elif border == "constant":
        at = at.clip(0, n - 1)
    else:
        at[(at < 0) | (at >= n)] = -1
    return at, length


WAVELETS: tuple[str, ...] = tuple(FILTERS)
"""Names of the wavelets: Daubechies (minimum delay), symlets and coiflets."""


class FeatureOptions(Parameters):
    """How features are extracted: wavelet, number of levels, and border mode.

    The defaults are those of the paper; the border mode is our choice, MATLAB's default.

    Examples
    --------
    >>> options = FeatureOptions(wavelet="db4", level=5)
    >>> options.describe(), options.level_at(25_000, 50), options.n_features(25_000, 50)
    ('db4, level 5, border symmetric', 5, 66)
    """

    _owner = " of features"

    wavelet: str = parameter("orthogonal wavelet", default="sym6", choices=WAVELETS)
    level: int | None = parameter(
        "levels of the transform; None for the paper's rule of thumb", default=None, low=1, high=20
    )
    border: str = parameter("how a signal is extended at its ends", default="symmetric", choices=BORDERS)

    def level_at(self, sampling_rate: float, frequency: float) -> int:
        """Return the level at a sampling rate and a frequency of the grid [Hz]."""
        return decomposition_level(sampling_rate, frequency) if self.level is None else self.level

    def n_features(self, sampling_rate: float, frequency: float) -> int:
        """Return the number of features at a sampling rate and a frequency of the grid [Hz]."""
        return len(FUNCTIONS) * (self.level_at(sampling_rate, frequency) + 1)

    def describe(self) -> str:
        """Return the options as text."""
        level = "level by rule of thumb" if self.level is None else f"level {self.level}"
        return f"{self.wavelet}, {level}, border {self.border}"

    def changed(self) -> dict[str, str | int]:
        """Return the options that differ from the defaults."""
        default = type(self)().settings()
        return {name: value for name, value in self.settings().items() if value != default[name]}


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
    sampling_rate : float
        Samples per second [Hz].
    frequency : float, default=50.0
        Fundamental frequency [Hz].
    options : FeatureOptions or mapping, default=None
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
    from pqswarm.features._kernels import extract_features

    chosen = FeatureOptions.of(options)
    decomposition_level(sampling_rate, frequency)  # checks both
    level = chosen.level_at(sampling_rate, frequency)
    rows, magnitudes = _check_signals(signals, level, sampling_rate, chosen.wavelet)
    n, n_samples = rows.shape
    features = np.empty((n, level + 1, len(FUNCTIONS)))
    # Filter coefficients are rounded: about 3e-12 of a constant leaks into the details.
    leakage = [_LEAKAGE * sqrt(2 << min(j, level - 1)) for j in range(level + 1)]
    plan = wavelet_filter_plan(n_samples, level, chosen.wavelet, chosen.border)
    extract_features(rows, *plan, np.outer(magnitudes, leakage), _feature_workspace(int(plan[1][0])), features)
    if not np.isfinite(features).all():
        row = int(np.argmin(np.isfinite(features).all(axis=(1, 2))))
        raise PqswarmError(f"signal {row} is too large for its energy to be computed: scale it to per unit.")
    return features.reshape(n, (level + 1) * len(FUNCTIONS))


class _Kept(local):
    """Memory that a thread keeps between calls."""

    workspace: FloatArray = np.empty((4, 0))


_KEPT = _Kept()


def _feature_workspace(n_coefficients: int) -> FloatArray:
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


_NAME = re.compile(r"([DA])([1-9]\d?)\.(\w+)")
_WORDS = {
    "minimum": "minimum {of}: its largest negative peak",
    "maximum": "maximum {of}: its largest positive peak",
    "median": "median {of}: its offset, insensitive to short events",
    "energy": "energy {of}: grows with its amplitude and duration",
    "mean": "mean {of}: its offset",
    "entropy": "entropy {of}: how evenly its energy is spread over time, low for a short burst",
    "skewness": "skewness {of}: positive if its positive peaks are larger than the negative ones",
    "deviation": "standard deviation {of}: its RMS value without the offset",
    "mean_deviation": "mean absolute deviation {of}: its size, less sensitive to peaks than the RMS value",
    "variance": "variance {of}: its power without the offset",
    "kurtosis": "kurtosis {of}: high if short peaks stand out",
}


def describe_feature(name: str, sampling_rate: float | None = None) -> str:
    """Describe what a wavelet feature measures, and in which frequency band.

    The text follows from the definition: the function (see :func:`extract`) and the nominal edges of the band (see
    :func:`band_edges`; neighboring bands overlap). Which events a feature separates depends on the data.

    Parameters
    ----------
    name : str
        Name of a feature, such as ``"A8.median"``; see :func:`feature_names`.
    sampling_rate : float, default=None
        Samples per second of the signals [Hz]; without it the band is given by name.

    Returns
    -------
    str
        The function, the band and what the value grows with.

    Raises
    ------
    PqswarmError
        If there is no such feature.

    Examples
    --------
    >>> describe_feature("A8.median", 25_000)
    'median of the band below 49 Hz: its offset, insensitive to short events'
    >>> describe_feature("D3.energy", 25_000)
    'energy of the 1.56 to 3.12 kHz band: grows with its amplitude and duration'
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise PqswarmError(f"{name!r} is not the name of a wavelet feature, such as 'D3.energy' or 'A8.median'.")
    kind, number, function = match.groups()
    level = int(number)
    check_name("function of a wavelet feature", function, FUNCTIONS)
    if sampling_rate is None:
        return _WORDS[function].format(of=f"of band {kind}{level}")
    low, high = band_edges(sampling_rate, level)[-1 if kind == "A" else level - 1]
    band = describe_band(low, high)
    return _WORDS[function].format(of=f"of the {f'band {band}' if low == 0 else f'{band} band'}")


def describe_band(low: float, high: float) -> str:
    """Return the frequency band between two edges [Hz] as text, with three digits.

    Examples
    --------
    >>> describe_band(0.0, 48.8), describe_band(781.25, 1562.5), describe_band(6250.0, 12500.0)
    ('below 49 Hz', '781 Hz to 1.56 kHz', '6.25 to 12.5 kHz')
    """
    upper, unit = _band_edge_text(high)
    if low <= 0:
        return f"below {upper} {unit}"
    lower, lower_unit = _band_edge_text(low)
    return f"{lower} to {upper} {unit}" if lower_unit == unit else f"{lower} {lower_unit} to {upper} {unit}"


def _band_edge_text(frequency: float) -> tuple[str, str]:
    if frequency >= 999.5:
        return f"{frequency / 1000:.3g}", "kHz"
    return (f"{frequency:.0f}" if frequency >= 10 else f"{frequency:.2g}"), "Hz"


WINDOW_CYCLES = 30.0
"""Length of the paper's analysis window [cycles]."""


def extend(signal: FloatArray, sampling_rate: float, frequency: float = 50.0) -> FloatArray:
    """Extend a capture to 30 nominal cycles by repeating its first and its last steady cycle.

    Triggered recorders keep 4 to 6 cycles; the transform needs more. Half of the missing cycles are added before the
    capture, half after it. A cycle is steady if it resembles its neighbor: a transient in the first or last cycle
    is not repeated. The period is measured at each end, since the grid is rarely at exactly its nominal frequency,
    and cycles are repeated with that period, to a fraction of a sample, without a step at the seam.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        Voltage, in any unit.
    sampling_rate : float
        Samples per second [Hz].
    frequency : float, default=50.0
        Nominal frequency [Hz].

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
            _continue_capture(np.ascontiguousarray(signal[::-1]), before, sampling_rate / frequency)[::-1],
            signal,
            _continue_capture(signal, missing - before, sampling_rate / frequency),
        ]
    )


def _continue_capture(signal: FloatArray, length: int, nominal_period: float) -> FloatArray:
    """The next `length` samples of `signal` if its last steady cycle continued."""
    from pqswarm.features._kernels import interpolate_extension

    end, period = _steady_cycle(signal, nominal_period)
    cycle = signal[end - ceil(period) - 4 : end]
    ahead = np.arange(1, length + 1) + signal.size - end
    position = cycle.size - 1 + ahead - period * np.ceil(ahead / period)
    return np.asarray(interpolate_extension(cycle, position))


def _steady_cycle(signal: FloatArray, nominal: float) -> tuple[int, float]:
    """End and period [samples] of the last cycle that resembles its predecessor about as well as any.

    The period of a cycle is the lag, within 2.5 % of the nominal one, of the least squared difference.
    """
    from pqswarm.features._kernels import squared_extension_distances

    ends = np.arange(signal.size, ceil(2.1 * nominal) - 1, -round(nominal))
    lags = np.arange(int(nominal * 0.975) - 1, ceil(nominal * 1.025) + 2)
    misfit = squared_extension_distances(signal, ends, round(nominal), lags)
    nearest = np.clip(misfit.argmin(axis=1), 1, lags.size - 2)
    left, center, right = (misfit[np.arange(ends.size), nearest + step] for step in (-1, 0, 1))
    curvature = left - 2 * center + right
    shift = np.divide(0.5 * (left - right), curvature, out=np.zeros_like(left), where=curvature > 0)
    periods = lags[nearest] + np.clip(shift, -1.0, 1.0)
    allowed = 4.0 * center.min() + 1e-9 * float(np.square(signal).mean()) * nominal
    last = int(np.argmax(center <= allowed))
    return int(ends[last]), float(periods[last])
