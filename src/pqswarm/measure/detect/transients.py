"""Transients: what neither the cycle before nor the cycle after has.

A sag's edge is a step as sharp as any transient. One-sided filters tell them apart: a
causal high-pass filter looks for what starts, an anti-causal one for what ends. Before a step the signal agrees with
its past, after it with its future; a transient agrees with neither. In long enough stretches without a step
the comparison is with the median of three cycles before and three after, which does not have what lasts for a cycle or
two; else with the cycle before and the cycle after. Steady harmonics, notches and offsets agree with both.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.measure.detect.residuals import (
    MARGIN,
    compare_cycles,
    compare_stretch,
    cycle_residuals,
    filter_both,
    is_residual_loud,
    robust_size,
)
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker, any_channel
from pqswarm.measure.ieee1159 import oscillation_word

_LOWEST = 3.0  # tuned
"""Lowest frequency of an oscillation [multiples of the fundamental]."""
_OPPOSITE = 0.25  # tuned
"""An oscillation swings back by at least this fraction of its peak."""
_ENOUGH = 5.0  # tuned
"""Cycles of a stretch in which the median of cycles says what is usual."""
_EDGE = 0.3  # tuned
"""Cycles beside a step that are left to the comparison with the next cycles."""
_MIN_SAMPLES = 31.0
"""Samples per cycle: 32, and a frequency that may be off."""
_NOTICED = 0.25  # tuned
"""Fraction of the threshold that the root of the energy must reach in a long stretch; the peak is higher."""
_USUAL_FACTOR = 6.0


def find_transients(
    signal: FloatArray, sampling_rate: float, frequency: float, *, threshold: float = 0.08, noise_factor: float = 6.0,
    steps: Sequence[float] = (), crowded: Sequence[tuple[float, float]] = (), unsure: BoolArray | None = None,
    make: ChannelEventMaker = any_channel, heard: list[float] | None = None,
) -> list[ChannelEvent]:  # fmt: skip
    """Find the transients in a signal [pu of the reference's peak] without NaN; `make` makes parts on its channel.

    Their magnitude is the largest deviation from the undisturbed wave [pu], their start the onset. Details are
    ``peak_voltage``, the largest voltage [pu], ``frequency`` [Hz], NaN of an impulse and below three times the
    fundamental, and ``decay``, the time constant of the envelope [s], NaN if it is unknown.

    They peak at `threshold` [pu] at least, and are noticed by the energy of what the cycles beside do not have, in 0.3
    or 1.2 ms, where white noise would have as much in one of 10^8 windows; `noise_factor` over 6 scales that limit. At
    `steps` [s], such as the edges of sags, a lone spike is the step itself. Stretches that are `crowded`, (n, 2) [s],
    lie between two steps, or a step and an end of the record, less than two cycles apart: there the cycles beside do
    not tell a step from a transient, and nothing is reported; nor is it where samples were missing (`unsure`). The RMS
    of the noise [pu] is added to `heard`.
    """
    cycle = sampling_rate / frequency
    if signal.size < 2 * cycle + 2 * MARGIN or sampling_rate < _MIN_SAMPLES * frequency:
        return []
    factor = noise_factor / _USUAL_FACTOR
    raw = cycle_residuals(signal, sampling_rate, frequency)
    filtered = filter_both(raw, sampling_rate, frequency)
    noise, minimum = np.full(signal.size, robust_size(filtered[0])), np.full(signal.size, _NOTICED * threshold)
    if heard is not None:
        heard.append(float(noise[0]) / 2**0.5)  # the noise of two cycles
    # A first look: whatever is new differs from the cycle before or, in the first one, from the cycle after.
    if not any(
        is_residual_loud(np.nan_to_num(part), sampling_rate, noise, minimum, 0.7 * factor).any() for part in filtered
    ):
        return []
    strength = compare_cycles(signal, raw, sampling_rate, frequency)
    minimum[:] = 0.5 * threshold
    limit = np.full(signal.size, threshold)
    for first, stop in _long_stretches_for_transients(signal.size, cycle, [step * sampling_rate for step in steps]):
        residual, sharp, size, steady = compare_stretch(signal[first:stop], sampling_rate, frequency)
        here = first + np.flatnonzero(steady)
        strength[here], noise[here] = np.abs(sharp[steady]), size
        minimum[here] = limit[here] = _NOTICED * threshold
        for known, one in zip((*raw, *filtered), (residual, residual, sharp, sharp), strict=True):
            known[here] = one[steady]
    loud = is_residual_loud(strength, sampling_rate, noise, minimum, factor)
    if unsure is not None and unsure.any():
        loud[np.convolve(unsure, np.ones(2 * round(cycle) + 1), "same")[: signal.size] > 0.5] = False
    near = [(low - 0.1 / frequency, high + 0.1 / frequency) for low, high in crowded]
    limit = np.maximum(limit, 2.5 * factor * noise)
    measure = partial(
        _describe_transient, signal, raw, filtered, strength, sampling_rate, frequency, steps, limit, make
    )
    return [
        found
        for first, last in _bursts(loud & (strength > limit), round(cycle))
        if not any(low < first / sampling_rate < high for low, high in near)
        and (found := measure(first, last))
        and found.magnitude >= threshold
    ]


def fundamental_rms(signal: FloatArray, sampling_rate: float, frequency: float, moments: FloatArray) -> FloatArray:
    """RMS of the fundamental over the cycle about each moment [s], which a transient does not raise."""
    cycle = sampling_rate / frequency
    first = np.clip(np.round(moments * sampling_rate - cycle / 2), 0, max(signal.size - round(cycle), 0)).astype(int)
    inside = np.arange(min(round(cycle), signal.size))
    turned = signal[first[:, None] + inside] @ np.exp(-2j * np.pi / cycle * inside)
    return np.asarray(np.sqrt(2) * np.abs(turned) / cycle)


def _long_stretches_for_transients(size: int, cycle: float, steps: Sequence[float]) -> list[tuple[int, int]]:
    """First sample, and the one after the last, of the stretches between steps [samples] that have enough cycles."""
    marks = sorted({0.0, float(size), *(step for step in steps if 0 < step < size)})
    edges = [
        (round(low + _EDGE * cycle * (low > 0)), round(high - _EDGE * cycle * (high < size)))
        for low, high in pairwise(marks)
    ]
    return [(low, high) for low, high in edges if high - low >= _ENOUGH * cycle]


def _bursts(loud: BoolArray, gap: int) -> list[tuple[int, int]]:
    """First and last sample of each group of loud samples with less than `gap` between them."""
    places = np.flatnonzero(loud)
    if not places.size:
        return []
    cuts = np.flatnonzero(np.diff(places) > gap)
    return list(zip(places[np.r_[0, cuts + 1]].tolist(), places[np.r_[cuts, places.size - 1]].tolist(), strict=True))


def _describe_transient(
    signal: FloatArray, raw: tuple[FloatArray, FloatArray], filtered: tuple[FloatArray, FloatArray],
    strength: FloatArray, sampling_rate: float, frequency: float, steps: Sequence[float], limit: FloatArray,
    make: ChannelEventMaker, first: int, last: int,
) -> ChannelEvent | None:  # fmt: skip
    """Measure one transient; None if it is the step of a sag's edge."""
    cycle = sampling_rate / frequency
    end = min(signal.size, first + max(2 * (last - first) + 1, 8), first + round(cycle))
    # The past is the cleaner measure, unless it has a transient of its own there or the supply changed (a sag).
    loud = [float(np.abs(np.nan_to_num(part[first:end], nan=np.inf)).max()) for part in filtered]
    use = 1 if loud[0] > 1.3 * loud[1] else 0
    begin = max(first - round(cycle / 8), 0)
    quiet = np.flatnonzero(strength[begin : first + 1] < limit[begin : first + 1] / 2)
    onset = begin + int(quiet[-1]) + 1 if quiet.size else first
    end = max(end, min(onset + 8, signal.size))
    rough = np.nan_to_num(filtered[use][onset:end])
    wave = _without_supply(raw[use], onset, end, cycle)
    if wave is None or np.abs(wave).max() > 2 * np.abs(rough).max():
        wave = rough
    top = int(np.abs(wave).argmax())
    swing = min(float(wave.max()), -float(wave.min())) / max(float(np.abs(wave).max()), 1e-12)
    ring_frequency, decay = _ring(wave[max(min(top, wave.size - 4), 0) :], sampling_rate, _LOWEST * frequency)
    if _is_step(raw[use], onset, end, use, float(np.abs(wave).max()), cycle) and np.isnan(raw[1 - use][onset]):
        return None
    lone = swing < _OPPOSITE or decay * ring_frequency < 0.3
    if lone and any(abs(step - onset / sampling_rate) < 0.25 / frequency for step in steps):
        return None
    nan = float("nan")
    hertz = nan if lone or ring_frequency < 1.01 * _LOWEST * frequency else ring_frequency
    return make(
        type="transient",
        category="impulsive transient" if lone else f"{oscillation_word(hertz)} oscillatory transient",
        magnitude=float(np.abs(wave[top])),
        start=onset / sampling_rate,
        end=onset / sampling_rate,
        duration=0.0,
        details={
            "frequency": hertz,
            "decay": decay if decay < 2 / frequency else nan,
            "peak_voltage": float(np.abs(signal[onset : max(end, last + 1)]).max()),
        },
    )


def _is_step(residual: FloatArray, onset: int, end: int, use: int, peak: float, cycle: float) -> bool:
    """In the first and last cycle: whether the signal differs on the far side of the burst too, as at a sag's edge."""
    reach = max(round(cycle / 6), 2)
    beside = residual[max(onset - reach, 0) : max(onset - 1, 0)] if use else residual[end : end + reach]
    beside = beside[np.isfinite(beside)]
    return bool(beside.size > 1 and np.abs(beside).max() > 0.3 * peak)


def _without_supply(residual: FloatArray, onset: int, end: int, cycle: float) -> FloatArray | None:
    """Residual from onset to end, less the change of the supply that the end of that cycle shows; None if unknown."""
    later = np.arange(onset + round(cycle / 2), min(onset + round(cycle), residual.size))
    if later.size < cycle / 4 or not np.isfinite(residual[later]).all() or not np.isfinite(residual[onset:end]).all():
        return None

    def supply(place: IntArray) -> FloatArray:
        angle = 2 * np.pi / cycle * place
        return np.column_stack([np.cos(angle), np.sin(angle), np.ones(place.size)])

    fit, *_ = np.linalg.lstsq(supply(later), residual[later], rcond=None)
    left = residual[later] - supply(later) @ fit
    rest: FloatArray = residual[onset:end]
    if np.sum(left**2) < 0.3 * np.sum(residual[later] ** 2):  # else there is more than a change of the supply
        rest = rest - supply(np.arange(onset, end)) @ fit
    return rest


def _ring(wave: FloatArray, sampling_rate: float, lowest: float) -> tuple[float, float]:
    """Frequency [Hz] and time constant [s] of the damped sine that explains most of a burst."""
    n = wave.size
    if n < 4:
        return sampling_rate / 4, n / sampling_rate
    time = np.arange(n) / sampling_rate
    padded = 1 << (4 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(wave, padded)) ** 2
    lines = np.arange(power.size) * sampling_rate / padded
    power[lines < lowest] = 0.0
    best = float(lines[power.argmax()])
    tau, ratio, width = n / sampling_rate / 4, 6.0, 1.5 * sampling_rate / n
    for _ in range(4):
        rates = np.clip(best + np.linspace(-1, 1, 15) * width, lowest, sampling_rate / 2)
        taus = tau * ratio ** np.linspace(-1, 1, 15)
        score = _explained_energy(wave, np.exp(-time / taus[:, None]), 2 * np.pi * rates[:, None] * time)
        i, j = np.unravel_index(int(score.argmax()), score.shape)
        best, tau = float(rates[i]), float(taus[j])
        ratio, width = ratio**0.4, width * 0.3
    return best, tau


def _explained_energy(wave: FloatArray, decays: FloatArray, angles: FloatArray) -> FloatArray:
    """Energy of `wave` that damped sines explain, for each frequency (rows) and each damping (columns)."""
    cosine, sine, square = np.cos(angles), np.sin(angles), (decays**2).T
    cc, ss, cs = cosine**2 @ square, sine**2 @ square, (cosine * sine) @ square
    c, s = (cosine * wave) @ decays.T, (sine * wave) @ decays.T
    bulk = np.maximum(cc * ss - cs**2, 1e-12 * cc * ss + 1e-300)
    explained: FloatArray = (c**2 * ss - 2 * c * s * cs + s**2 * cc) / bulk
    return explained
