"""Wavelet bands as waveforms: the part of a signal in each frequency band, over time."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.features.wavelet import FILTERS, band_edges, band_names, decompose, decomposition_level, minimum_samples

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
            wave = _synthesize(wave, step, size)
        values[row] = wave
    return BandWaveforms(
        band_names(level), band_edges(sampling_rate, level), np.arange(signal.size) / sampling_rate, values
    )


def _synthesize(coefficients: FloatArray, taps: FloatArray, size: int) -> FloatArray:
    """One level of the inverse transform: `size` values of the next finer level."""
    spread = np.zeros(2 * coefficients.size)
    spread[::2] = coefficients
    wave: FloatArray = np.convolve(spread, taps)[taps.size - 2 :][:size]
    return wave
