"""Measurement noise: zero-mean white Gaussian, at a signal-to-noise ratio against the measured power."""

from collections.abc import Callable
from math import inf, isnan
from typing import Any

import numpy as np

from pqswarm._base.random import stream
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError

NOISE_LEVELS: tuple[float, ...] = (inf, 50.0, 45.0, 40.0, 35.0, 30.0, 25.0, 20.0)
"""The noise levels of the paper [dB]; infinity is the event without noise."""

_DECIBEL = 0.23025850929940458  # its natural logarithm, as a ratio of powers: log(10) / 10


def check_snr(snr: object) -> float:
    """Return the signal-to-noise ratio [dB] as a float, or raise an error that names it."""
    try:
        value = -inf if isinstance(snr, str | bytes) else float(snr)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = -inf
    if isnan(value) or value < -300.0:
        raise PqswarmError(f"snr must be a number of decibels of at least -300, or inf for no noise, not {snr!r}.")
    return value


def noise_stream(seed: int, snr: float, *, own: bool = False) -> np.random.Generator:
    """Return the generator of the noise of an event at a level.

    Parameters
    ----------
    seed : int
        The event's seed.
    snr : float
        The level [dB].
    own : bool, default=False
        Whether the noise is part of the event rather than added to it; the two have different streams.

    Returns
    -------
    numpy.random.Generator
        The same for the same arguments.

    Examples
    --------
    >>> bool(noise_stream(1, 30.0).normal() == noise_stream(1, 30.0).normal())
    True
    """
    return stream(seed, (2 if own else 1, int(np.float64(snr).view(np.uint64))))


def add_noise(signal: FloatArray, snr: float, generator: np.random.Generator) -> FloatArray:
    r"""Add white Gaussian noise whose power is that of the signal less `snr` decibels.

    Signal power is the mean square of this signal. The noise is scaled to exactly the requested power: over
    15000 samples, unscaled noise would miss it by 0.05 dB on average.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        Voltage [pu].
    snr : float
        Signal-to-noise ratio [dB]; infinity adds nothing.
    generator : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray of shape (n,)
        The noisy voltage [pu], a new array. A signal without power stays as it is.

    Examples
    --------
    >>> clean = np.sin(2 * np.pi * 50 * np.arange(15000) / 25_000)
    >>> noise = add_noise(clean, 30.0, np.random.default_rng(0)) - clean
    >>> round(float(10 * np.log10(np.mean(clean**2) / np.mean(noise**2))), 6)
    30.0
    """
    snr = check_snr(snr)
    if np.ndim(signal) != 1:
        raise PqswarmError(f"noise is added to one signal at a time, of shape (n,), not {np.shape(signal)}.")
    out = np.empty(len(signal))
    _write_signal_with_noise(signal, snr, lambda noise: generator.random(out=noise), out)
    return out


def write_noisy(signal: FloatArray, snr: float, seed: int, out: FloatArray) -> None:
    """Write ``add_noise(signal, snr, noise_stream(seed, snr))`` to `out`, of the same shape."""
    from pqswarm._kernels.random import fill_uniform

    key = np.array([1, np.float64(snr).view(np.uint64)], dtype=np.uint64)
    _write_signal_with_noise(signal, snr, lambda noise: fill_uniform(np.uint64(seed), key, noise), out)


def _write_signal_with_noise(
    signal: FloatArray, snr: float, fill: Callable[[FloatArray], Any], out: FloatArray
) -> None:
    """Write the signal with noise to `out`; `fill` draws uniform numbers."""
    signal = np.ascontiguousarray(signal, dtype=np.float64)
    if snr == inf or not signal.any():
        out[:] = signal
        return
    from pqswarm.events._kernels import add_noise_of_power

    n = signal.size
    noise = out if n % 2 == 0 else np.empty(n + 1)  # normal numbers come in pairs
    fill(noise)
    add_noise_of_power(signal, -_DECIBEL * snr, noise)
    if noise is not out:
        out[:] = noise[:n]
