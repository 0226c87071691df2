"""Slow, obvious twins of the steady quantities."""

import numpy as np
from scipy import signal


def line(samples, sampling_rate, frequency):
    """Complex RMS at one frequency, by its definition."""
    total = 0j
    for i, value in enumerate(samples):
        total += value * np.exp(-2j * np.pi * frequency * i / sampling_rate)
    return np.sqrt(2) * total / len(samples)


def subgroup(samples, sampling_rate, order, cycles):
    """RMS of a harmonic subgroup of IEC 61000-4-7: three lines of a window that is a whole number of cycles."""
    step = sampling_rate / len(samples)
    return np.sqrt(sum(abs(line(samples, sampling_rate, (order * cycles + k) * step)) ** 2 for k in (-1, 0, 1)))


def line_to_line_unbalance(a, b, c):
    """Negative over positive sequence from three line-to-line RMS values (IEC 61000-4-30, 5.7.1)."""
    beta = (a**4 + b**4 + c**4) / (a**2 + b**2 + c**2) ** 2
    root = np.sqrt(3 - 6 * beta)
    return np.sqrt((1 - root) / (1 + root))


def flicker_sensation(volts, rate, frequency, k, damping, corners, highest, gain):
    """Blocks 2 to 4 at the full rate, of a voltage with an RMS of 1, with the filters as transfer functions."""
    w1, w2, w3, w4 = 2 * np.pi * np.array(corners)
    weight = (
        np.polymul([k * w1, 0], [1 / w2, 1]),
        np.polymul([1, 4 * np.pi * damping, w1**2], np.polymul([1 / w3, 1], [1 / w4, 1])),
    )
    seen = signal.sosfilt(signal.butter(1, 0.05, "high", fs=rate, output="sos"), volts**2 - 1)
    seen = signal.sosfilt(signal.butter(6, highest, fs=rate, output="sos"), seen)
    seen = signal.lfilter(*signal.bilinear(*weight, fs=rate), seen)
    return gain * signal.lfilter(*signal.bilinear([1], [0.3, 1], fs=rate), seen**2)
