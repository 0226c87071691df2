"""Slow variations of the half-cycle RMS."""

import numpy as np

from pqswarm._base.typing import FloatArray

_BAND = (0.5, 25.0)
"""Frequency range of a modulation [Hz]."""


def measure_modulation(urms: FloatArray, cycles: int) -> FloatArray:
    """Amplitude (root of two times RMS) of Urms(1/2) about its mean of two windows, in each window [share].

    The mean over 0.4 s passes what is slower than about 1 Hz, and keeps a single step within two windows.
    """
    n_windows = urms.shape[1] // (2 * cycles)
    # One channel at a time: of an hour, this is where most memory is needed.
    return np.array([_modulation(row, 2 * cycles) for row in urms]).reshape(urms.shape[0], n_windows)


def _modulation(urms: FloatArray, per_window: int) -> FloatArray:
    """Do so for one channel."""
    if not urms.size:
        return np.empty(0)
    wide = 2 * per_window
    padded = np.pad(urms, (per_window, per_window - 1), mode="reflect" if urms.size >= wide else "edge")
    known = np.isfinite(padded)
    total = np.concatenate([[0.0], np.cumsum(np.where(known, padded, 0.0))])
    count = np.concatenate([[0], np.cumsum(known)])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (total[wide:] - total[:-wide]) / (count[wide:] - count[:-wide])
        rest = (urms / mean - 1).reshape(-1, per_window)
        seen = np.isfinite(rest)
        mean_square = np.sum(np.where(seen, rest, 0.0) ** 2, axis=-1) / np.sum(seen, axis=-1)
    # The last half cycle of a window reaches into the next one, which may be missing.
    amplitude: FloatArray = np.where(np.sum(seen, axis=-1) >= per_window - 1, np.sqrt(2 * mean_square), np.nan)
    return amplitude


def strongest_modulation(urms: FloatArray, rate: float, frequency: float) -> tuple[float, float]:
    """Frequency [Hz] and amplitude [share] of the strongest line in a stretch of Urms(1/2) at `rate` [Hz]."""
    known = np.isfinite(urms)
    if known.sum() < 8:
        return float("nan"), float("nan")
    relative = np.where(known, urms / np.mean(urms[known]) - 1, 0.0)
    relative -= relative.mean()
    window = np.hanning(relative.size + 2)[1:-1]
    size = max(4 * relative.size, 256)
    lines = 2 * np.abs(np.fft.rfft(relative * window, size)) / window.sum()
    hertz = np.arange(lines.size) * rate / size
    lines[(hertz < max(_BAND[0], 1.5 * rate / relative.size)) | (hertz > _BAND[1])] = 0.0
    best = int(np.argmax(lines))
    # The window of one cycle smooths it.
    return float(hertz[best]), float(lines[best] / np.sinc(hertz[best] / frequency))
