"""Frequency of the supply: nominal, if a file does not give it, and measured."""

from collections.abc import Callable, Sequence

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray

_BAND = (45.0, 65.0)
"""Where the fundamental is searched first [Hz]; then from 0.4 to 2 times the nominal frequency."""

MOST_CHANNELS = 3
"""Maximum number of voltages used for an estimate."""

_PIECE = 262_144  # samples fetched at once
_ENOUGH_PER_CYCLE = 128
_MIN_FRACTION = 0.5


def estimate_nominal(
    fetch: Callable[[int, int], Sequence[FloatArray]], size: int, sampling_rate: float
) -> float | None:
    """50 or 60 Hz, by the strongest line from 44 to 66 Hz of twenty short pieces; None without one. NaN may occur."""
    # A window of five or six cycles; shorter ones are ambiguous.
    length = min(round(sampling_rate * 0.1), size)
    if length < 32 or length / sampling_rate < 0.03:
        return None
    frequencies = np.arange(44.0, 66.5, 0.5)
    stride = max(1, length // 2000)  # 20 kHz is plenty for 60 Hz
    window = np.hanning(length)[::stride] if length <= _PIECE else np.hanning(len(range(0, length, stride)))
    kernel = np.exp(-2j * np.pi * frequencies[:, None] * np.arange(0, length, stride) / sampling_rate)
    power = np.zeros(frequencies.size)
    total = 0.0
    starts = np.unique(np.linspace(0, size - length, min(20, max(1, size // length))).astype(int))
    parts = [_thin_for_frequency(fetch, int(start), length, stride) for start in starts]
    for channel in zip(*parts, strict=True):
        whole = [part for part in channel if not np.isnan(part).any()]
        scale = max((float(np.abs(part).max()) for part in whole), default=0.0) or 1.0
        for part in whole:
            centered = (part / scale - (part / scale).mean()) * window
            power += (
                np.abs(np.einsum("ij,j->i", kernel, centered)) ** 2
            )  # a matrix product would start threads, which costs more
            total += float(np.sum(centered**2)) * float(np.sum(window**2))
    best = int(np.argmax(power))
    # A mains voltage has half of its energy in one line; a pure line is about 0.5 x 0.67 after normalization.
    is_something_else = total <= 0 or power[best] / total < 0.15
    return None if is_something_else else 50.0 if frequencies[best] < 55 else 60.0


def _thin_for_frequency(
    fetch: Callable[[int, int], Sequence[FloatArray]], start: int, length: int, stride: int
) -> list[FloatArray]:
    """Every `stride`-th sample of a window; a long one is fetched in pieces."""
    piece = max(_PIECE // stride, 1) * stride
    parts = [
        [x[::stride].copy() for x in fetch(first, min(first + piece, start + length))]
        for first in range(start, start + length, piece)
    ]
    return [np.concatenate(channel) for channel in zip(*parts, strict=True)]


def measure_frequency(signals: Sequence[FloatArray], sampling_rate: float, nominal_frequency: float) -> float | None:
    """Estimate the fundamental frequency [Hz] common to `signals` (without NaN), or None if there is none.

    The phase of the fundamental is tracked through the record. The median of its advance per cycle, over cycles of
    steady amplitude, ignores sags, phase jumps and transients.
    """
    if sampling_rate < 4 * nominal_frequency:
        return None
    strongest = sorted((x for x in signals if x.size), key=lambda x: -float(np.std(x)))[:MOST_CHANNELS]
    strongest = [x / np.std(x) for x in strongest if np.std(x) > 1e-9 * max(float(np.abs(x).max(initial=0.0)), 1e-300)]
    every = max(int(sampling_rate / nominal_frequency) // _ENOUGH_PER_CYCLE, 1)
    if every > 1:
        strongest = [x[: x.size // every * every].reshape(-1, every).mean(axis=1) for x in strongest]
        sampling_rate /= every
    if not strongest or strongest[0].size * nominal_frequency / sampling_rate < 2.0:
        return None
    bands = [(0.4 * nominal_frequency, min(2.0 * nominal_frequency, sampling_rate / 4))]
    if _BAND[0] <= nominal_frequency <= _BAND[1]:
        bands.insert(0, _BAND)
    for low, high in bands:
        guess: float | None = _coarse_frequency(strongest, sampling_rate, low, high)
        for _ in range(3):
            step = None if guess is None else _frequency_correction(strongest, sampling_rate, guess)
            guess = None if guess is None or step is None else float(np.clip(guess + step, low, high))
        if guess is None or not low < guess < high:
            continue
        if max(fundamental_fraction(x, sampling_rate, guess) for x in strongest) > _MIN_FRACTION:
            return guess
    return None


def fundamental_fraction(signal: FloatArray, sampling_rate: float, frequency: float) -> float:
    """Fraction of the fundamental in the mean square of the live cycles of a signal; 0 without a whole cycle."""
    fractions = fundamental_fractions(signal, sampling_rate, frequency)
    return float(np.median(fractions)) if fractions.size else 0.0


def fundamental_fractions(signal: FloatArray, sampling_rate: float, frequency: float) -> FloatArray:
    """Fraction of the fundamental in the variance of each cycle with at least half of the maximum RMS."""
    step = round(sampling_rate / frequency)
    if signal.size < step or step < 2:
        return np.zeros(0)
    blocks = signal[: signal.size // step * step].reshape(-1, step)
    power = blocks.var(axis=1)
    live = blocks[(power > 0.25 * power.max(initial=0.0)) & (power > 0)]
    turn = np.exp(-2j * np.pi * frequency / sampling_rate * np.arange(step))
    # A matrix product would start threads, which costs more than it gains.
    in_fundamental = 2 * np.abs(np.einsum("ij,j->i", live - live.mean(axis=1, keepdims=True), turn) / step) ** 2
    return np.asarray(in_fundamental / np.maximum(live.var(axis=1), 1e-300))


def _coarse_frequency(signals: list[FloatArray], sampling_rate: float, low: float, high: float) -> float:
    """Frequency of the highest spectral line in the band [Hz]."""
    n_samples = signals[0].size
    length = min(n_samples, round(sampling_rate))  # one second has the resolution that the next step needs
    padded = max(round(4 * sampling_rate), length)
    line = np.arange(padded // 2 + 1) * sampling_rate / padded
    power = np.zeros(line.size)
    window = np.hanning(length + 2)[1:-1]
    for x in signals:
        for start in range(0, n_samples - length + 1, max(length, (n_samples - length) // 8 + 1)):
            power += np.abs(np.fft.rfft(x[start : start + length] * window, padded)) ** 2
    power[(line < low) | (line > high)] = 0.0
    return float(line[power.argmax()])


def _frequency_correction(signals: list[FloatArray], sampling_rate: float, guess: float) -> float | None:
    """Correction of the guessed frequency [Hz]."""
    cycle = round(sampling_rate / guess)
    hop = max(cycle // 4, 1)
    steps = [np.empty(0)]
    weak = [np.empty(0)]
    for x in signals:
        turn = np.exp(-2j * np.pi * guess / sampling_rate * np.arange(x.size))
        phasor = moving_mean(x * turn, cycle)
        if phasor.size > 2 * cycle:
            phasor = moving_mean(phasor, cycle)  # twice, for a double zero at the mirror frequency
        lag = min(cycle, max((phasor.size - 1) // 2, 1))
        if phasor.size <= lag:
            continue
        before, after = phasor[:-lag:hop], phasor[lag::hop]

        size = np.minimum(np.abs(before), np.abs(after))
        step = np.angle(after * np.conj(before)) * sampling_rate / (2 * np.pi * lag)
        live = size > 0.3 * np.abs(phasor).max()
        steps.append(step[(live & (np.abs(np.abs(after) - np.abs(before)) < 0.03 * size))])
        weak.append(step[live])
    chosen = np.concatenate(steps)
    if chosen.size < 3:
        chosen = np.concatenate(weak)
    return float(np.median(chosen)) if chosen.size else None


def moving_mean(x: AnyArray, width: int) -> AnyArray:
    """Mean over each `width` samples."""
    total = np.concatenate([[0.0], np.cumsum(x)])
    return np.asarray((total[width:] - total[:-width]) / width)
