"""The discrete wavelet transform: sym6 to the level of the paper's rule of thumb, and others; bands as waveforms.

A filter is orthonormal to itself shifted by two, and the wavelet has N vanishing moments: dbN (minimum delay) and symN
(minimum asymmetry) have 2 N coefficients; coifN has 6 N, 2 N vanishing moments, and 2 N - 1 of the scaling function.
Equations were solved with 60 digits and rounded, except sym6, whose coefficients are those of MATLAB and PyWavelets,
with an error of 1.5e-12, so that features match.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import frexp
from types import MappingProxyType

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.typing import FloatArray, IntArray
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
    sampling_rate, frequency : float
        :math:`F_s` [Hz]; fundamental frequency :math:`f` [Hz].

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
    wavelet, border : str
        One of :data:`WAVELETS`; one of :data:`BORDERS`.

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


_MAX_SAMPLES = 200_000
_WAVELET = "sym6"


@dataclass(frozen=True, eq=False)
class BandWaveforms:
    """The parts of a signal in each wavelet band.

    Attributes
    ----------
    names : tuple of str
        Bands: details from fine to coarse, then the approximation, such as ``("D1", "D2", "A2")``.
    edges_hz : tuple of tuple of float
        Nominal frequency range of each band [Hz]; neighbouring bands overlap.
    time : ndarray of shape (n_samples,)
        Time from the first sample [s].
    values : ndarray of shape (n_bands, n_samples)
        The waveform of each band, in the unit of the signal. Their sum is the signal.
    """

    names: tuple[str, ...]
    edges_hz: tuple[tuple[float, float], ...]
    time: FloatArray
    values: FloatArray


def band_waveforms(signal: FloatArray, sampling_rate: float, frequency: float = 50.0) -> BandWaveforms:
    """Split a signal into the waveforms of its wavelet bands.

    These are the bands of the features (sym6, to the level of the paper's rule of thumb), each transformed back into a
    waveform: the signal, in its own unit, with all other bands removed. An oscillation appears in its band when it
    happens. Near both ends, over a few periods of a band, its waveform also depends on the extension of the signal
    by its mirror image.

    Parameters
    ----------
    signal : ndarray of shape (n_samples,)
        At most 200 000 samples, without missing ones.
    sampling_rate : float
        Samples per second [Hz].
    frequency : float
        Fundamental frequency [Hz], which sets the number of bands; a short signal has fewer.

    Returns
    -------
    BandWaveforms
        Names, frequency ranges, time and values.

    Examples
    --------
    >>> t = np.arange(6400) / 12_800
    >>> signal = np.sin(2 * np.pi * 50 * t) + 0.1 * np.sin(2 * np.pi * 2000 * t) * (t > 0.3)
    >>> bands = band_waveforms(signal, 12_800)
    >>> bands.names
    ('D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7', 'D8', 'A8')
    >>> bands.edges_hz[1], [round(float(np.abs(bands.values[1, part]).max()), 1) for part in (t < 0.29, t > 0.31)]
    ((1600.0, 3200.0), [0.0, 0.1])
    >>> bool(np.allclose(bands.values.sum(axis=0), signal))
    True
    """
    signal = np.asarray(signal, dtype=np.float64)
    level = decomposition_level(sampling_rate, frequency)
    if signal.ndim != 1 or not minimum_samples(1, _WAVELET) <= signal.size <= _MAX_SAMPLES:
        raise PqswarmError(
            f"signal must have {minimum_samples(1, _WAVELET)} to {_MAX_SAMPLES} samples, not the shape "
            f"{signal.shape}: choose another part."
        )
    if not np.isfinite(signal).all():
        raise PqswarmError("signal must have no missing samples: choose a part without gaps.")
    while minimum_samples(level, _WAVELET) > signal.size:
        level -= 1
    *details, rest = decompose(signal, level, _WAVELET)
    sizes = [signal.size, *(band.size for band in details)]
    low = np.array(FILTERS[_WAVELET])[::-1]
    high = low[::-1] * (-1.0) ** np.arange(low.size)
    values = np.empty((level + 1, signal.size))
    bands = [(band, [high, *[low] * row]) for row, band in enumerate(details)]
    for row, (wave, filters) in enumerate([*bands, (rest, [low] * level)]):
        for step, size in zip(filters, reversed(sizes[: len(filters)]), strict=True):
            wave = _synthesize_band(wave, step, size)
        values[row] = wave
    return BandWaveforms(
        band_names(level), band_edges(sampling_rate, level), np.arange(signal.size) / sampling_rate, values
    )


def _synthesize_band(coefficients: FloatArray, taps: FloatArray, size: int) -> FloatArray:
    """One level of the inverse transform: `size` values of the next finer level."""
    spread = np.zeros(2 * coefficients.size)
    spread[::2] = coefficients
    wave: FloatArray = np.convolve(spread, taps)[taps.size - 2 :][:size]
    return wave
