"""Transients: what neither the cycle before nor the cycle after has.

A sag's edge is a step as sharp as any transient. One-sided filters tell them apart: a
causal high-pass filter looks for what starts, an anti-causal one for what ends. Before a step the signal agrees with
its past, after it with its future; a transient agrees with neither. In long enough stretches without a step
the comparison is with the median of three cycles before and three after, which does not have what lasts for a cycle or
two; else with the cycle before and the cycle after. Steady harmonics, notches and offsets agree with both.

Comparing each sample with six other cycles costs a hundred times as much as reading it. A long recording is therefore
compared only where a sample differs from the one a cycle before by half of the threshold; our choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker, any_channel, oscillation_word
from pqswarm.measure.filters import butterworth_sections, filter_sections, steady_filter_state

CUTOFF = 4.0
"""Of the high-pass filter [multiples of the fundamental]."""
MARGIN = 10
"""Samples beyond a cycle that the comparison with another one needs."""
_DENSE = 100  # tuned
"""Samples per cycle from which on a sample more or less does not matter."""
_BESIDE = 3
"""Cycles on each side that the median is taken over."""
_FEWEST = 3
"""Minimum number of known cycles."""
_CHANGE = 0.03  # tuned
"""Of the fundamental between the cycles before and after, below which the supply is steady [pu]."""
_WINDOWS = (0.0003, 0.0012)
"""In which the energy is compared with that of noise [s]."""
_CHANCE = 1e-8


def cycle_residuals(signal: FloatArray, sampling_rate: float, frequency: float) -> tuple[FloatArray, FloatArray]:
    """Difference of a signal to itself one cycle earlier, and one cycle later; NaN where there is none."""
    cycle = sampling_rate / frequency
    return signal - _delay_cycle(signal, cycle), signal - _delay_cycle(signal[::-1], cycle)[::-1]


def compare_cycles(
    signal: FloatArray, residuals: tuple[FloatArray, FloatArray], sampling_rate: float, frequency: float
) -> FloatArray:
    """Size of what neither the cycle before nor the one after has, from the residuals to them.

    In the first and last cycle one of the two is missing; a second look at the other, two cycles away, tells a
    transient there from the shadow of one in the next cycle.
    """

    def sizes(pair: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        steady = [_forgive_cycle_shift(signal, residual, sampling_rate, frequency) for residual in pair]
        past, future = filter_both((steady[0], steady[1]), sampling_rate, frequency)
        return np.abs(past), np.abs(future)

    past, future = sizes(residuals)
    least = np.fmin(past, future)
    far = sizes(cycle_residuals(signal, sampling_rate, frequency / 2))
    for lone, other in ((np.isnan(past), far[1]), (np.isnan(future), far[0])):
        least[lone] = np.fmin(least, np.nan_to_num(other))[lone]
    return np.nan_to_num(least)


def compare_stretch(
    signal: FloatArray, sampling_rate: float, frequency: float
) -> tuple[FloatArray, FloatArray, float, BoolArray]:
    """Difference to the median of three cycles before and three after; what of it is sharp; its noise; where it holds.

    What lasts for less than two cycles is not in the median; harmonics and notches are. Of the difference, the median
    over a quarter of a cycle is a change of the supply: it follows slow changes and leaves the rest. All this holds
    where the cycles before and those after have the same fundamental.
    """
    from scipy.ndimage import median_filter

    cycle = sampling_rate / frequency
    before, after = (np.full((_BESIDE, signal.size), np.nan) for _ in range(2))
    for k in range(_BESIDE):
        before[k] = _delay_cycle(signal, (k + 1) * cycle)
        after[k] = _delay_cycle(signal[::-1], (k + 1) * cycle)[::-1]
    residual = np.nan_to_num(signal - _known_median_of_cycles(np.concatenate([before, after]), _FEWEST))
    sharp = residual - median_filter(residual, 2 * round(cycle / 8) + 1, mode="reflect")
    noise = robust_size(sharp)
    steady = _is_steady_between_cycles(_known_median_of_cycles(before, 1) - _known_median_of_cycles(after, 1), cycle)
    return residual, _forgive_notch_jitter(sharp, cycle, noise), noise, steady


def _is_steady_between_cycles(change: FloatArray, cycle: float) -> BoolArray:
    """Where the change from the cycles before to those after has no fundamental, a cycle to either side."""
    from scipy.ndimage import maximum_filter1d

    width = round(cycle)
    known = np.flatnonzero(np.isfinite(change))
    first, last = int(known[0]), int(known[-1]) + 1
    turn = np.exp(-2j * np.pi / cycle * np.arange(last - first))
    total = np.concatenate([[0.0], np.cumsum(change[first:last] * turn)])
    size = 2 * np.abs(total[width:] - total[:-width]) / width
    start = first + width // 2
    whole = np.pad(size, (start, change.size - start - size.size), mode="edge")
    return np.asarray(maximum_filter1d(whole, 2 * width + 1, mode="nearest") < _CHANGE)


def _forgive_notch_jitter(residual: FloatArray, cycle: float, noise: float) -> FloatArray:
    """Take from a residual what two other cycles have there: the jump of a notch comes a sample earlier or later."""
    size = np.abs(residual)
    wide = np.fmax(size, np.fmax(np.concatenate([[0.0], size[:-1]]), np.concatenate([size[1:], [0.0]])))
    others = np.full((2 * _BESIDE, size.size), np.nan)
    for k in range(_BESIDE):
        step = round((k + 1) * cycle)
        if step < size.size:
            others[2 * k, step:] = wide[:-step]
            others[2 * k + 1, :-step] = wide[step:]
    second = np.sort(np.nan_to_num(others), axis=0)[-2] - 2.5 * noise
    return np.asarray(np.sign(residual) * np.maximum(size - 1.2 * np.maximum(second, 0.0), 0.0))


def _known_median_of_cycles(others: FloatArray, fewest: int) -> FloatArray:
    """Median over the first axis of the known values, where there are enough."""
    ordered = np.sort(others, axis=0)  # unknown ones last
    count = np.isfinite(ordered).sum(axis=0)
    middle = np.stack([np.maximum(count - 1, 0) // 2, count // 2])
    median: FloatArray = np.take_along_axis(ordered, np.minimum(middle, others.shape[0] - 1), axis=0).mean(axis=0)
    median[count < fewest] = np.nan
    return median


def _delay_cycle(signal: FloatArray, delay: float) -> FloatArray:
    """Signal of `delay` samples earlier, by Lagrange interpolation; NaN where it is not known."""
    taps = MARGIN
    whole = int(np.floor(delay)) - (taps // 2 - 1)
    part = delay - whole
    nodes = np.arange(taps)
    weights = [np.prod([(part - j) / (i - j) for j in nodes if j != i]) for i in nodes]
    late = np.full(signal.size, np.nan)
    first = whole + taps - 1
    if first < signal.size:
        late[first:] = np.convolve(signal, weights, "valid")[: signal.size - first]
    return late


def filter_both(
    residuals: tuple[FloatArray, FloatArray], sampling_rate: float, frequency: float
) -> tuple[FloatArray, FloatArray]:
    """High-pass filter of the residual to the past forwards, and of that to the future backwards."""
    past = _high_pass_residual(residuals[0], sampling_rate, frequency)
    return past, _high_pass_residual(residuals[1][::-1], sampling_rate, frequency)[::-1]


def _forgive_cycle_shift(
    signal: FloatArray, residual: FloatArray, sampling_rate: float, frequency: float
) -> FloatArray:
    """Take from a residual to another cycle what that cycle varies from sample to sample, where these are many."""
    if sampling_rate <= _DENSE * frequency:
        return residual
    other = np.nan_to_num(signal - residual)
    change = np.abs(np.diff(other, prepend=other[0], append=other[-1]))
    return np.asarray(np.sign(residual) * np.maximum(np.abs(residual) - np.maximum(change[1:], change[:-1]), 0.0))


def _high_pass_residual(residual: FloatArray, sampling_rate: float, frequency: float) -> FloatArray:
    """Causal high-pass filter, started at the first known sample."""
    known = np.flatnonzero(np.isfinite(residual))
    out = np.full(residual.size, np.nan)
    if known.size:
        sections = _high_pass_sections(CUTOFF * frequency, sampling_rate)
        past = steady_filter_state(sections, np.zeros(1))
        out[known[0] : known[-1] + 1] = filter_sections(sections, residual[None, known[0] : known[-1] + 1], past)[0]
    return out


@lru_cache(maxsize=64)
def _high_pass_sections(hertz: float, sampling_rate: float) -> FloatArray:
    """Sections of the filter; its design costs more than a filtering."""
    return butterworth_sections(3, hertz, sampling_rate, high=True)


def robust_size(values: FloatArray) -> float:
    """Standard deviation of noise, by the median of the known values; 0 if there are none."""
    known = np.abs(values[np.isfinite(values)])
    return 1.4826 * float(np.median(known)) if known.size else 0.0


def is_loud(
    strength: FloatArray, sampling_rate: float, noise: FloatArray, least: FloatArray, factor: float
) -> BoolArray:
    """Where the energy in a window about a sample is beyond `least`, squared, and beyond that of noise.

    White noise of that size passes once in 10^8 windows, with a `factor` of 1.
    """
    from scipy.special import gammainccinv

    loud = np.zeros(strength.size, dtype=bool)
    total = np.concatenate([[0.0], np.cumsum(strength**2)])
    for window in _WINDOWS:
        n = min(max(round(window * sampling_rate), 3), strength.size)
        quantile = np.sqrt(2 * float(gammainccinv(n / 2, _CHANCE)) / n)
        energy = (total[n:] - total[:-n]) / n
        place = slice(n // 2, n // 2 + energy.size)
        loud[place] |= energy > np.maximum(least[place], factor * quantile * noise[place]) ** 2
    return loud


_SCREENED = 0.5  # tuned
"""Fraction of the threshold."""
_USUAL = 1.6  # tuned
"""Multiple of the usual difference, in a noisy signal."""
_BEFORE, _AFTER = 7.0, 9.0  # tuned
"""Cycles around a suspect that are examined closely."""


def find_suspects(signal: FloatArray, cycle: float, threshold: float) -> list[tuple[int, int]]:
    """Stretches [samples] in which a transient of at least `threshold` could be; `cycle` is its length [samples]."""
    whole = int(cycle)
    part = cycle - int(cycle)
    later = signal[whole + 1 :]
    change = later - (1 - part) * signal[1 : 1 + later.size] - part * signal[: later.size]
    width = max(round(cycle / 4), 2)
    n_blocks = change.size // width
    if n_blocks < 8:
        return [(0, signal.size)]
    # What is slow, a change of the supply, is a straight line in a quarter of a cycle.
    blocks = change[: n_blocks * width].reshape(n_blocks, width)
    ramp = np.linspace(-1.0, 1.0, width)
    slope = np.einsum("ij,j->i", blocks, ramp) / float(ramp @ ramp)
    rest = blocks - blocks.mean(axis=1, keepdims=True)
    rest -= slope[:, np.newaxis] * ramp
    largest = np.abs(rest, out=rest).max(axis=1)
    loud = np.flatnonzero(largest > max(_SCREENED * threshold, _USUAL * float(np.median(largest))))
    if not loud.size:
        return []
    before, after = round(_BEFORE * cycle), round(_AFTER * cycle)
    firsts = loud * width + whole + 1 - before
    stops = loud * width + whole + 1 + after
    cuts = np.flatnonzero(firsts[1:] > stops[:-1])
    return [
        (max(int(first), 0), min(int(stop), signal.size))
        for first, stop in zip(firsts[np.r_[0, cuts + 1]], stops[np.r_[cuts, loud.size - 1]], strict=True)
    ]


_LOWEST = 3.0  # tuned
"""Lowest frequency of an oscillation [multiples of the fundamental]."""
_OPPOSITE = 0.25  # tuned
"""An oscillation swings back by at least this fraction of its peak."""
_ENOUGH = 5.0  # tuned
"""Cycles of a stretch in which the median of cycles says what is usual."""
_EDGE = 0.3  # tuned
"""Cycles next to a step that are left to the comparison with the next cycles."""
_MIN_SAMPLES = 31.0
"""Samples per cycle: 32, and a frequency that may be off."""
_NOTICED = 0.25  # tuned
"""Fraction of the threshold that the root of the energy must reach in a long stretch; the peak is higher."""
_USUAL_FACTOR = 6.0
_SHADOW = 0.3  # tuned
"""Fraction of its peak below which a burst has not begun: long ringing is in the median of the neighboring cycles."""


def find_transients(
    signal: FloatArray,
    sampling_rate: float,
    frequency: float,
    *,
    threshold: float = 0.08,
    noise_factor: float = 6.0,
    steps: Sequence[float] = (),
    crowded: Sequence[tuple[float, float]] = (),
    unsure: BoolArray | None = None,
    make: ChannelEventMaker = any_channel,
    heard: list[float] | None = None,
) -> list[ChannelEvent]:
    """Find the transients in a signal [pu of the reference's peak] without NaN; `make` makes parts on its channel.

    Their magnitude is the largest deviation from the undisturbed wave [pu], their start the onset. Details are
    ``peak_voltage``, the largest voltage [pu], ``frequency`` [Hz], NaN of an impulse and below three times the
    fundamental, and ``decay``, the time constant of the envelope [s], NaN if it is unknown.

    They peak at `threshold` [pu] at least, and are noticed by the energy of what the neighboring cycles do not have, in
    0.3 or 1.2 ms, where white noise would have as much in one of 10^8 windows; `noise_factor` over 6 scales that limit.
    At `steps` [s], such as the edges of sags, a lone spike is the step itself. Stretches that are `crowded`, (n, 2)
    [s], lie between two steps, or a step and an end of the record, less than two cycles apart: there the neighboring
    cycles do not distinguish a step from a transient, and nothing is reported; nor is it where samples were missing
    (`unsure`). The RMS of the noise [pu] is added to `heard`.
    """
    cycle = sampling_rate / frequency
    if signal.size < 2 * cycle + 2 * MARGIN or sampling_rate < _MIN_SAMPLES * frequency:
        return []
    factor = noise_factor / _USUAL_FACTOR
    raw = cycle_residuals(signal, sampling_rate, frequency)
    filtered = filter_both(raw, sampling_rate, frequency)
    noise = np.full(signal.size, robust_size(filtered[0]))
    minimum = np.full(signal.size, _NOTICED * threshold)
    if heard is not None:
        heard.append(float(noise[0]) / 2**0.5)  # the noise of two cycles
    # A first look: whatever is new differs from the cycle before or, in the first one, from the cycle after.
    if not any(is_loud(np.nan_to_num(part), sampling_rate, noise, minimum, 0.7 * factor).any() for part in filtered):
        return []
    strength = compare_cycles(signal, raw, sampling_rate, frequency)
    minimum[:] = 0.5 * threshold
    limit = np.full(signal.size, threshold)
    for first, stop in _stretches_for_transients(signal.size, cycle, [step * sampling_rate for step in steps]):
        residual, sharp, size, steady = compare_stretch(signal[first:stop], sampling_rate, frequency)
        here = first + np.flatnonzero(steady)
        strength[here] = np.abs(sharp[steady])
        noise[here] = size
        minimum[here] = limit[here] = _NOTICED * threshold
        for known, one in zip((*raw, *filtered), (residual, residual, sharp, sharp), strict=True):
            known[here] = one[steady]
    loud = is_loud(strength, sampling_rate, noise, minimum, factor)
    if unsure is not None and unsure.any():
        loud[np.convolve(unsure, np.ones(2 * round(cycle) + 1), "same")[: signal.size] > 0.5] = False
    near = [(low - 0.1 / frequency, high + 0.1 / frequency) for low, high in crowded]
    limit = np.maximum(limit, 2.5 * factor * noise)
    meter = _TransientMeter(signal, sampling_rate, frequency, raw, filtered, strength, limit, steps)
    transients = []
    for first, last in _transient_bursts(loud & (strength > limit), round(cycle)):
        measured = None if any(low < first / sampling_rate < high for low, high in near) else meter.measure(first, last)
        if measured is not None and measured["magnitude"] >= threshold:
            transients.append(make(**measured))
    return transients


def fundamental_rms(signal: FloatArray, sampling_rate: float, frequency: float, moments: FloatArray) -> FloatArray:
    """RMS of the fundamental over the cycle about each moment [s], which a transient does not raise."""
    cycle = sampling_rate / frequency
    first = np.clip(np.round(moments * sampling_rate - cycle / 2), 0, max(signal.size - round(cycle), 0)).astype(int)
    inside = np.arange(min(round(cycle), signal.size))
    turned = signal[first[:, None] + inside] @ np.exp(-2j * np.pi / cycle * inside)
    return np.asarray(np.sqrt(2) * np.abs(turned) / cycle)


def _stretches_for_transients(size: int, cycle: float, steps: Sequence[float]) -> list[tuple[int, int]]:
    """First sample, and the one after the last, of the stretches between steps [samples] that have enough cycles."""
    marks = sorted({0.0, float(size), *(step for step in steps if 0 < step < size)})
    edges = [
        (round(low + _EDGE * cycle * (low > 0)), round(high - _EDGE * cycle * (high < size)))
        for low, high in pairwise(marks)
    ]
    return [(low, high) for low, high in edges if high - low >= _ENOUGH * cycle]


def _transient_bursts(loud: BoolArray, gap: int) -> list[tuple[int, int]]:
    """First and last sample of each group of loud samples with less than `gap` between them."""
    places = np.flatnonzero(loud)
    if not places.size:
        return []
    cuts = np.flatnonzero(np.diff(places) > gap)
    return list(zip(places[np.r_[0, cuts + 1]].tolist(), places[np.r_[cuts, places.size - 1]].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _TransientMeter:
    """Measures transients by what a signal has that the cycles before and after do not have: raw, and filtered."""

    signal: FloatArray
    sampling_rate: float
    frequency: float
    raw: tuple[FloatArray, FloatArray]
    filtered: tuple[FloatArray, FloatArray]
    strength: FloatArray
    limit: FloatArray
    steps: Sequence[float]

    def measure(self, first: int, last: int) -> dict[str, Any] | None:
        """Measure one transient: attributes of its part; None if it is the step of a sag's edge."""
        rate = self.sampling_rate
        cycle = rate / self.frequency
        strength = self.strength[first : last + 1]
        first += int(np.argmax(strength > _SHADOW * strength.max()))
        end = min(self.signal.size, first + max(2 * (last - first) + 1, 8), first + round(cycle))
        # The past is the cleaner measure, unless it has a transient of its own there or the supply changed (a sag).
        past, future = (float(np.abs(np.nan_to_num(part[first:end], nan=np.inf)).max()) for part in self.filtered)
        use = 1 if past > 1.3 * future else 0
        onset = self._onset(first)
        end = max(end, min(onset + 8, self.signal.size))
        rough = np.nan_to_num(self.filtered[use][onset:end])
        wave = _transient_without_supply(self.raw[use], onset, end, cycle)
        if wave is None or np.abs(wave).max() > 2 * np.abs(rough).max():
            wave = rough
        peak = float(np.abs(wave).max())
        top = int(np.abs(wave).argmax())
        swing = min(float(wave.max()), -float(wave.min())) / max(peak, 1e-12)
        hertz, decay = _fit_transient_ringing(wave[max(min(top, wave.size - 4), 0) :], rate, _LOWEST * self.frequency)
        if _is_step_not_transient(self.raw[use], onset, end, use, peak, cycle) and np.isnan(self.raw[1 - use][onset]):
            return None
        is_lone = swing < _OPPOSITE or decay * hertz < 0.3
        if is_lone and any(abs(step - onset / rate) < 0.25 / self.frequency for step in self.steps):
            return None
        if is_lone or hertz < 1.01 * _LOWEST * self.frequency:
            hertz = float("nan")
        return {
            "type": "transient",
            "category": "impulsive transient" if is_lone else f"{oscillation_word(hertz)} oscillatory transient",
            "magnitude": float(np.abs(wave[top])),
            "start": onset / rate,
            "end": onset / rate,
            "duration": 0.0,
            "details": {
                "frequency": hertz,
                "decay": decay if decay < 2 / self.frequency else float("nan"),
                "peak_voltage": float(np.abs(self.signal[onset : max(end, last + 1)]).max()),
            },
        }

    def _onset(self, first: int) -> int:
        """First sample of a transient that is loud from `first` on: after the last quiet one before it."""
        begin = max(first - round(self.sampling_rate / self.frequency / 8), 0)
        enough = np.maximum(self.limit[begin : first + 1], self.strength[first]) / 2
        quiet = np.flatnonzero(self.strength[begin : first + 1] < enough)
        return begin + int(quiet[-1]) + 1 if quiet.size else first


def _is_step_not_transient(residual: FloatArray, onset: int, end: int, use: int, peak: float, cycle: float) -> bool:
    """In the first and last cycle: whether the signal differs on the far side of the burst too, as at a sag's edge."""
    reach = max(round(cycle / 6), 2)
    beside = residual[max(onset - reach, 0) : max(onset - 1, 0)] if use else residual[end : end + reach]
    beside = beside[np.isfinite(beside)]
    return bool(beside.size > 1 and np.abs(beside).max() > 0.3 * peak)


def _transient_without_supply(residual: FloatArray, onset: int, end: int, cycle: float) -> FloatArray | None:
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


def _fit_transient_ringing(wave: FloatArray, sampling_rate: float, lowest: float) -> tuple[float, float]:
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
    tau = n / sampling_rate / 4
    ratio = 6.0
    width = 1.5 * sampling_rate / n
    for _ in range(4):
        rates = np.clip(best + np.linspace(-1, 1, 15) * width, lowest, sampling_rate / 2)
        taus = tau * ratio ** np.linspace(-1, 1, 15)
        score = _energy_of_ringing(wave, np.exp(-time / taus[:, None]), 2 * np.pi * rates[:, None] * time)
        i, j = np.unravel_index(int(score.argmax()), score.shape)
        best = float(rates[i])
        tau = float(taus[j])
        ratio = ratio**0.4
        width = width * 0.3
    return best, tau


def _energy_of_ringing(wave: FloatArray, decays: FloatArray, angles: FloatArray) -> FloatArray:
    """Energy of `wave` that damped sines explain, for each frequency (rows) and each damping (columns)."""
    cosine = np.cos(angles)
    sine = np.sin(angles)
    square = (decays**2).T
    cc = cosine**2 @ square
    ss = sine**2 @ square
    cs = (cosine * sine) @ square
    c = (cosine * wave) @ decays.T
    s = (sine * wave) @ decays.T
    bulk = np.maximum(cc * ss - cs**2, 1e-12 * cc * ss + 1e-300)
    return np.asarray((c**2 * ss - 2 * c * s * cs + s**2 * cc) / bulk)
