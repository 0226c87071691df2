"""Measure the parameters of a noise-free event back from its samples.

Nothing here knows how the events are generated: only the sampling rate, the fundamental frequency, and
that the supply is a steady wave whose cycles are all alike.
"""

from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar

FS = 25_000.0
F0 = 50.0
CYCLE = round(FS / F0)


def spectrum(signal):
    """Amplitude of each multiple of the fundamental, and the mean; the record holds whole cycles."""
    n = signal.size
    lines = np.fft.rfft(signal)
    amplitudes = 2 * np.abs(lines[:: n // CYCLE]) / n
    return amplitudes, lines[0].real / n


def steady_cycle(signal):
    """One cycle of the undisturbed wave, scaled to the RMS of a unit sine."""
    power = np.convolve(signal**2, np.ones(CYCLE // 2), "valid")
    flat = np.array([np.ptp(power[i : i + CYCLE]) for i in range(0, power.size - CYCLE, CYCLE // 2)])
    first = int(flat.argmin()) * CYCLE // 2
    cycle = np.roll(signal[first : first + CYCLE], first % CYCLE)
    return cycle / np.sqrt(2 * np.mean(cycle**2))


def window(signal, cycle):
    """Change of magnitude [pu], start [s] and duration [s] of a sag, swell or interruption."""
    wave = np.tile(cycle, signal.size // CYCLE)
    seen = np.abs(wave) > 0.05
    envelope = np.interp(np.arange(signal.size), np.flatnonzero(seen), signal[seen] / wave[seen])
    disturbed = np.abs(envelope - 1) > 0.04
    places = np.flatnonzero(disturbed)
    change = np.median(envelope[disturbed]) - 1
    return change, places[0] / FS, (places[-1] - places[0] + 1) / FS


def transient(signal):
    """Amplitude [pu], damping [1/s], frequency [Hz] and onset [s], and the signal without the transient.

    A steady sine obeys x[n] = 2 cos(w) x[n-1] - x[n-2]; a transient breaks that for good, an edge only for
    two samples. Where the supply is steady, sine and transient together obey a recurrence of order four
    (Prony), whose roots are their poles.
    """
    w = 2 * np.pi * F0 / FS
    broken = np.abs(signal[2:] - 2 * np.cos(w) * signal[1:-1] + signal[:-2]) > 1e-6
    lasting = np.convolve(broken, np.ones(12), "valid") == 12
    onset = int(np.flatnonzero(lasting)[0]) + 2
    for first in range(onset + 1, onset + 4000, 40):
        piece = signal[first : first + 160]
        rows = np.column_stack([piece[4 - k : piece.size - k] for k in range(1, 5)])
        recurrence, *_ = np.linalg.lstsq(rows, piece[4:])
        if np.abs(rows @ recurrence - piece[4:]).max() < 1e-9:
            break
    else:
        raise AssertionError("no piece of the signal has a steady supply")
    roots = np.roots([1.0, *-recurrence])
    pole = max(roots[roots.imag > 0], key=lambda root: root.imag / abs(root) * (root.real < 1) - root.real)
    damping, frequency = -np.log(abs(pole)) * FS, np.angle(pole) * FS / (2 * np.pi)
    t = np.arange(first, first + 160) / FS
    decay = np.exp(-damping * (t - onset / FS))
    ring, supply = 2 * np.pi * frequency * t, w * FS * t
    basis = np.column_stack([decay * np.sin(ring), decay * np.cos(ring), np.sin(supply), np.cos(supply)])
    (a, b, _, _), *_ = np.linalg.lstsq(basis, piece)
    t = np.arange(signal.size) / FS
    angle = 2 * np.pi * frequency * t
    after = np.arange(signal.size) >= onset
    ring = np.where(after, np.exp(-damping * (t - onset / FS) * after) * (a * np.sin(angle) + b * np.cos(angle)), 0.0)
    return np.hypot(a, b), damping, frequency, onset / FS, signal - ring


@cache
def modulations(shape):
    """Frequencies [Hz] to try on cycles of a wave, their sines less the mean of the cycles, and the squares of them."""
    t = np.arange(shape[0] * shape[1]).reshape(shape) / FS
    tried = np.arange(0.5, 25.6, 0.1)
    sines = np.sin(2 * np.pi * tried[:, None, None] * t)
    sines -= sines.mean(axis=1, keepdims=True)
    return tried, sines, (sines**2).sum(axis=1)


def flicker(signal):
    """Depth [pu] and frequency [Hz] of a modulation 1 + depth sin(2 pi f t) on whatever periodic wave."""
    t = np.arange(signal.size).reshape(-1, CYCLE) / FS
    v = signal.reshape(-1, CYCLE)
    tried, sines, powers = modulations(v.shape)

    def fit(frequency):
        s = np.sin(2 * np.pi * frequency * t)
        ds, dv = s - s.mean(axis=0), v - v.mean(axis=0)
        slope = (ds * dv).sum(axis=0) / (ds**2).sum(axis=0)
        wave = v.mean(axis=0) - slope * s.mean(axis=0)
        return slope, wave, ((dv - slope * ds) ** 2).sum()

    explained = np.einsum("fcp,cp->fp", sines, v - v.mean(axis=0)) ** 2 / powers
    best = tried[explained.sum(axis=1).argmax()]
    found = minimize_scalar(lambda f: fit(f)[2], bounds=(best - 0.15, best + 0.15), options={"xatol": 1e-9})
    slope, wave, _ = fit(found.x)
    clear = np.abs(wave) > 0.2
    return np.median(slope[clear] / wave[clear]), found.x


def notches(signal):
    """Depth [pu], position of the first [s], width [s] and number of the notches of a unit sine."""
    difference = np.abs(signal - np.sin(2 * np.pi * F0 * np.arange(signal.size) / FS))
    places = np.flatnonzero(difference > 1e-9)
    groups = np.split(places, np.flatnonzero(np.diff(places) > 3) + 1)
    widths = [group[-1] - group[0] + 1 for group in groups]
    return np.median(difference[places]), places[0] / FS, np.median(widths) / FS, len(groups)
