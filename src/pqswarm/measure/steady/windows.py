"""What is measured in each window of 10 or 12 cycles."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.measure.steady.notching import measure_notches

_MAX_ORDERS = 50
_MIN_LIVE = 0.2  # tuned
"""A channel whose fundamental is below this fraction of its RMS has no fundamental."""
_NOTHING = 1e-100
"""No voltage [V]."""


@dataclass(frozen=True, eq=False)
class WindowValues:
    """Values of some windows; channels are the first axis, windows the second. Units as in SteadySeries."""

    frequency: FloatArray
    phasor: AnyArray
    rms: FloatArray
    harmonics: AnyArray
    thd: FloatArray
    smooth_thd: FloatArray
    dc: FloatArray
    notch_depth: FloatArray
    notches: FloatArray
    noise: FloatArray
    squares: FloatArray


def window_phasors(table: FloatArray, frequency: float, sampling_rate: float) -> tuple[AnyArray, AnyArray]:
    """Complex RMS of the fundamental in the first and second half of each window (channels, windows, n)."""
    half = table.shape[-1] // 2
    angle = 2 * np.pi * frequency / sampling_rate * np.arange(table.shape[-1])
    basis = np.exp(-1j * angle) * (np.sqrt(2) / half)
    # Not by matrix product: threads cost more here than they bring.
    parts = [
        np.einsum("cwi,i->cw", table[..., piece], basis.real[piece])
        + 1j * np.einsum("cwi,i->cw", table[..., piece], basis.imag[piece])
        for piece in (slice(0, half), slice(table.shape[-1] - half, None))
    ]
    return parts[0], parts[1]


def window_frequency_deviation(first: AnyArray, second: AnyArray, good: BoolArray, seconds: float) -> FloatArray:
    """Deviation of the frequency [Hz] in each window, from phasors `seconds` apart; NaN where no channel is good."""
    together = np.sum(np.where(good, second * np.conj(first), 0.0), axis=0)
    return np.where(together != 0, np.angle(together) / (2 * np.pi * seconds), np.nan)


def window_half_cycle_squares(samples: FloatArray, n_windows: int, length: int, cycles: int) -> FloatArray:
    """Mean square of each half cycle (channels, windows, 2 x cycles), of the broken line through the squares."""
    square = np.pad(samples[:, : n_windows * length] ** 2, ((0, 0), (1, 1)), mode="edge")
    integral = np.zeros_like(square)
    np.cumsum((square[:, 1:] + square[:, :-1]) / 2, axis=1, out=integral[:, 1:])
    # Sample i covers the time from i - 1/2 to i + 1/2; the padding shifts it by one.
    places = 0.5 + np.arange(n_windows * 2 * cycles + 1) * (length / (2 * cycles))
    index = np.minimum(places.astype(np.int64), square.shape[1] - 2)
    part = places - index
    at = integral[:, index] + part * square[:, index] + part**2 / 2 * (square[:, index + 1] - square[:, index])
    means: FloatArray = np.maximum(np.diff(at, axis=1), 0.0) * (2 * cycles / length)
    return means.reshape(samples.shape[0], n_windows, 2 * cycles)


def measure_windows(
    samples: FloatArray,
    good: BoolArray,
    length: int,
    cycles: int,
    sampling_rate: float,
    frequency: float,
    orders: int,
    min_notch: float,
) -> WindowValues:
    """Measure windows of `length` samples; `samples` [V] have no NaN, `good` (channels, windows) marks the complete."""
    n_channels, n_windows = good.shape
    table = np.ascontiguousarray(samples[:, : n_windows * length]).reshape(n_channels, n_windows, length)
    rms = np.sqrt(np.einsum("cwi,cwi->cw", table, table) / length)
    first, second = window_phasors(table, frequency, sampling_rate)
    phasor = (first + second) / 2
    size = np.abs(phasor)
    live = good & (size > np.maximum(_MIN_LIVE * rms, _NOTHING))
    deviation = window_frequency_deviation(first, second, live, (length - length // 2) / sampling_rate)
    # The fundamental is taken out before the transform: a window is never exactly a whole number of cycles.
    angle = 2 * np.pi * frequency / sampling_rate * np.arange(length)
    rest = table - np.sqrt(2) * (phasor.real[..., None] * np.cos(angle) - phasor.imag[..., None] * np.sin(angle))
    lines = np.fft.rfft(rest, axis=-1) * (np.sqrt(2) / length)
    power = lines.real**2 + lines.imag**2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 / np.where(live, size, np.nan)
        # Harmonic subgroups of IEC 61000-4-7: the line and its two neighbours.
        middle = np.arange(2, orders + 1) * cycles
        groups = power[..., middle - 1] + power[..., middle] + power[..., middle + 1]
        harmonics = np.sqrt(groups) * share[..., None]
        # Lines midway between the harmonics; the median of an exponential distribution is ln 2 of its mean.
        between = power[..., cycles // 2 + cycles :: cycles]
        noise = np.sqrt(np.median(between, axis=-1) / np.log(2) * (length / 2)) * share
    thd = np.sqrt(np.sum(harmonics**2, axis=-1))
    # The shape common to all cycles of the window: the harmonics alone.
    common = lines[..., ::cycles] * (length / np.sqrt(2))
    common[..., 1] += phasor * (length / np.sqrt(2))
    depth, count, smooth = measure_notches(common, length // cycles, length, np.where(live, size, 0.0), thd, min_notch)
    unknown = ~good
    for values in (rms, thd, smooth, noise, depth, count):
        values[unknown] = np.nan
    dc = np.where(good, lines[..., 0].real / np.sqrt(2), np.nan)
    squares = window_half_cycle_squares(samples, n_windows, length, cycles)
    squares[unknown] = np.nan
    return WindowValues(
        frequency=frequency + deviation,
        phasor=np.where(good, phasor, np.nan),
        rms=rms,
        harmonics=harmonics.astype(np.float32),
        thd=thd,
        smooth_thd=smooth,
        dc=dc,
        notch_depth=depth,
        notches=count,
        noise=noise,
        squares=squares,
    )


def highest_order(sampling_rate: float, frequency: float, shortest: int, cycles: int) -> int:
    """Highest order of harmonics that the rate and the `shortest` window [samples] allow, at most 50."""
    return max(min(_MAX_ORDERS, int(0.45 * sampling_rate / frequency), (shortest // 2 - 1) // cycles), 1)
