"""What a signal has that the cycles beside do not have."""

from functools import lru_cache

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray

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
    return signal - _delay(signal, cycle), signal - _delay(signal[::-1], cycle)[::-1]


def compare_cycles(
    signal: FloatArray, residuals: tuple[FloatArray, FloatArray], sampling_rate: float, frequency: float
) -> FloatArray:
    """Size of what neither the cycle before nor the one after has, from the residuals to them.

    In the first and last cycle one of the two is missing; a second look at the other, two cycles away, tells a
    transient there from the shadow of one in the next cycle.
    """

    def sizes(pair: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        steady = [_forgive_shift(signal, residual, sampling_rate, frequency) for residual in pair]
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
        before[k] = _delay(signal, (k + 1) * cycle)
        after[k] = _delay(signal[::-1], (k + 1) * cycle)[::-1]
    residual = np.nan_to_num(signal - _median_for_residual(np.concatenate([before, after]), _FEWEST))
    sharp = residual - median_filter(residual, 2 * round(cycle / 8) + 1, mode="reflect")
    noise = robust_size(sharp)
    steady = _is_steady_for_residual(_median_for_residual(before, 1) - _median_for_residual(after, 1), cycle)
    return residual, _forgive_jitter(sharp, cycle, noise), noise, steady


def _is_steady_for_residual(change: FloatArray, cycle: float) -> BoolArray:
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
    steady: BoolArray = maximum_filter1d(whole, 2 * width + 1, mode="nearest") < _CHANGE
    return steady


def _forgive_jitter(residual: FloatArray, cycle: float, noise: float) -> FloatArray:
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


def _median_for_residual(others: FloatArray, fewest: int) -> FloatArray:
    """Median over the first axis of the known values, where there are enough."""
    ordered = np.sort(others, axis=0)  # unknown ones last
    count = np.isfinite(ordered).sum(axis=0)
    middle = np.stack([np.maximum(count - 1, 0) // 2, count // 2])
    median: FloatArray = np.take_along_axis(ordered, np.minimum(middle, others.shape[0] - 1), axis=0).mean(axis=0)
    median[count < fewest] = np.nan
    return median


def _delay(signal: FloatArray, delay: float) -> FloatArray:
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


def _forgive_shift(signal: FloatArray, residual: FloatArray, sampling_rate: float, frequency: float) -> FloatArray:
    """Take from a residual to another cycle what that cycle varies from sample to sample, where these are many."""
    if sampling_rate <= _DENSE * frequency:
        return residual
    other = np.nan_to_num(signal - residual)
    change = np.abs(np.diff(other, prepend=other[0], append=other[-1]))
    return np.asarray(np.sign(residual) * np.maximum(np.abs(residual) - np.maximum(change[1:], change[:-1]), 0.0))


def _high_pass_residual(residual: FloatArray, sampling_rate: float, frequency: float) -> FloatArray:
    """Causal high-pass filter, started at the first known sample."""
    from scipy.signal import sosfilt

    known = np.flatnonzero(np.isfinite(residual))
    out = np.full(residual.size, np.nan)
    if known.size:
        sections = _high_pass_sections(CUTOFF * frequency, sampling_rate)
        out[known[0] : known[-1] + 1] = np.asarray(sosfilt(sections, residual[known[0] : known[-1] + 1]))
    return out


@lru_cache(maxsize=64)
def _high_pass_sections(hertz: float, sampling_rate: float) -> AnyArray:
    """Sections of the filter; its design costs more than a filtering."""
    from scipy.signal import butter

    return np.asarray(butter(3, hertz, "highpass", fs=sampling_rate, output="sos"))


def robust_size(values: FloatArray) -> float:
    """Standard deviation of noise, by the median of the known values; 0 if there are none."""
    known = np.abs(values[np.isfinite(values)])
    return 1.4826 * float(np.median(known)) if known.size else 0.0


def is_residual_loud(
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
