"""Measures of a short capture for a classifier: levels, harmonics, modulation, notches, and non-periodic content.

They resemble the measurements of :mod:`pqswarm.measure`, but need no events, reference or steady part. The eleven
functions of the paper are sums and extremes over a whole band: once phase, frequency, length and noise vary, they
cannot distinguish the step at a sag's edge from a transient, or a slow modulation from a short sag. These measures can.
All are taken from a capture of 500 samples per cycle in pu of the peak, before it is extended.
"""

from functools import cache, lru_cache

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.identify.features.shapes import (
    BURSTS,
    SHAPES,
    measure_bursts,
    measure_orders,
    measure_shape,
    measure_steps,
)
from pqswarm.recordings.frequency import moving_mean

SAMPLES_PER_CYCLE = 500
"""As in the paper (25 kHz, 50 Hz)."""

_BANDS = ((4, 8), (8, 16), (16, 31), (31, 62), (62, 125), (125, 250))
_KINDS = ("", ".noise", ".excess", ".energy")
_LOUD = 4.0  # tuned
_SMALL = 0.02  # tuned
_ORDERS = (2, 3, 5, 7, 11, 13)
_FUNDAMENTAL = 2.0
_HIGHEST = 40.0
_NOTCH = 62.0
WIDEST = 200.0
"""Multiple of the fundamental above which no training event has content (10 kHz at 50 Hz)."""

MEASURES: dict[str, float] = {
    **dict.fromkeys(
        (
            "half.minimum",
            "half.maximum",
            "rms.minimum",
            "rms.maximum",
            "rms.median",
            "rms.first",
            "rms.last",
            "rms.below",
            "rms.above",
            "rms.dead",
            "rms.step",
            "rms.low",
            "rms.high",
            "fundamental.spread",
            "fundamental.drift",
            "fundamental.change",
            "flicker.depth",
            "flicker.fit",
            "dc.offset",
        ),
        _FUNDAMENTAL,
    ),
    **{f"harmonic.{order}": order + 0.5 for order in _ORDERS},
    "harmonic.least": 13.5,
    "harmonic.most": 13.5,
    "harmonic.even": 12.5,
    "high.level": _HIGHEST,
    "high.share": _HIGHEST,
    "notch.peak": _NOTCH,
    "notch.kurtosis": _NOTCH,
    **{f"transient.all{kind}": WIDEST for kind in _KINDS},
    **{f"transient.{low}_{high}{kind}": min(float(high), WIDEST) for low, high in _BANDS for kind in _KINDS},
    **SHAPES,
    **dict.fromkeys(BURSTS, _FUNDAMENTAL),
    "rms.peak": _FUNDAMENTAL,
}
"""Highest frequency of each measure, in multiples of the fundamental; it must be below half the sampling rate."""


# Smaller values are insignificant: no grid is quite steady, and no recorder exact. All tuned.
_MIN_VALUES = {
    **dict.fromkeys(("fundamental.spread", "fundamental.drift", "fundamental.change", "flicker.depth"), 0.002),
    **dict.fromkeys(("dc.offset", "harmonic.2", "high.level"), 0.004),
    **dict.fromkeys(("harmonic.even", "rms.step"), 0.006),
    "notch.peak": 0.01,
}


def measure_capture(capture: FloatArray, bandwidth: float = WIDEST) -> FloatArray:
    """Measure a capture [pu of the peak] of 500 samples per cycle and at least 2.1 cycles, in the order of MEASURES.

    It has no content above `bandwidth` times the fundamental; measures of higher frequencies are 0.
    """
    if capture.ndim != 1 or capture.size < 2.1 * SAMPLES_PER_CYCLE:
        raise PqswarmError("a capture must have at least 2.1 cycles.")
    found: dict[str, float] = {}
    spectra = _capture_cycle_spectra(capture)
    live = np.abs(spectra[:, 1]) >= 0.3 * np.abs(spectra[:, 1]).max()
    _measure_capture_levels(capture, found)
    _measure_capture_modulation(capture, found)
    _measure_capture_harmonics(spectra[live], found)
    _measure_capture_notches(capture, live, found)
    _measure_capture_transients(capture, bandwidth, found)
    found |= measure_orders(capture, SAMPLES_PER_CYCLE, live, bandwidth)
    found |= measure_shape(capture, SAMPLES_PER_CYCLE, live, bandwidth)
    found |= measure_steps(capture, SAMPLES_PER_CYCLE)
    values = np.array([max(found.get(name, 0.0), _MIN_VALUES.get(name, -np.inf)) for name in MEASURES])
    return np.asarray(np.nan_to_num(values, nan=0.0, posinf=1e6, neginf=-1e6), dtype=np.float64)


def _capture_square_roots(squares: FloatArray) -> FloatArray:
    """Square roots of values that rounding may have made slightly negative."""
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _measure_capture_levels(capture: FloatArray, found: dict[str, float]) -> None:
    cycle, hop = SAMPLES_PER_CYCLE, SAMPLES_PER_CYCLE // 20
    centre = float(np.median(moving_mean(capture, cycle)))
    squares = 2 * (capture - centre) ** 2
    half = _capture_square_roots(moving_mean(squares, cycle // 2)[::hop])
    rms = _capture_square_roots(moving_mean(squares, cycle)[::hop])
    found["half.minimum"] = float(half.min())
    found["half.maximum"] = float(half.max())
    found["rms.minimum"] = float(rms.min())
    found["rms.maximum"] = float(rms.max())
    found["rms.median"] = float(np.median(rms))
    found["rms.low"], found["rms.high"] = (float(value) for value in np.percentile(rms, [10, 90]))
    found["rms.first"] = float(rms[0])
    found["rms.last"] = float(rms[-1])
    found["rms.below"] = float(np.mean(half < 0.9 * _capture_normal_level(rms)))
    found["rms.above"] = float(np.mean(half > 1.1 * _capture_normal_level(rms)))
    found["rms.dead"] = float(half.min() / _capture_normal_level(rms))
    found["rms.peak"] = float(half.max() / _capture_normal_level(rms))
    found["rms.step"] = float(np.abs(rms[20:] - rms[:-20]).max(initial=0.0) / max(float(rms.max()), 1e-9))


def _capture_normal_level(rms: FloatArray) -> float:
    """The normal level: the first, last or median one, whichever is closest to 1 pu."""
    return float(max(min((rms[0], rms[-1], np.median(rms)), key=lambda value: abs(value - 1)), 1e-3))


def _measure_capture_modulation(capture: FloatArray, found: dict[str, float]) -> None:
    """Measure the amplitude of the fundamental, cycle by cycle."""
    cycle = SAMPLES_PER_CYCLE
    turn = np.exp(-2j * np.pi / cycle * np.arange(capture.size))
    amplitude = 2 * np.abs(moving_mean(capture * turn, cycle)[:: cycle // 8])
    usual = max(float(np.median(amplitude)), 1e-3)
    low, high = np.percentile(amplitude, [10, 90])
    found["fundamental.spread"] = float(high - low) / usual
    found["fundamental.change"] = float(np.median(np.abs(amplitude[4:] - amplitude[:-4]))) / usual
    lag = max(8, amplitude.size // 3)
    far = np.abs(amplitude[lag:] - amplitude[:-lag])
    found["fundamental.drift"] = float(np.median(far)) / usual if far.size else 0.0
    found["dc.offset"] = abs(float(np.median(moving_mean(capture, cycle)))) / usual
    depth, fit = _best_capture_sine(amplitude)
    found["flicker.depth"] = depth / usual
    found["flicker.fit"] = fit


def _best_capture_sine(values: FloatArray) -> tuple[float, float]:
    """Amplitude of the best-fitting sine of 0.02 to 0.5 per cycle, and the fraction of the variance it explains."""
    bases = _capture_sines(values.size)
    centred = values - values.mean()
    power = float((centred**2).sum())
    explained = np.einsum("kij,j->ki", bases, values) ** 2
    gain = explained.sum(axis=1) - values.size * values.mean() ** 2
    best = int(gain.argmax())
    depth = float(np.sqrt(max(2 * gain[best], 0.0) / values.size))
    return depth, float(gain[best] / power) if power > 0 else 0.0


@lru_cache(maxsize=256)
def _capture_sines(size: int) -> FloatArray:
    """Orthonormal bases of a constant and a sine, one for each frequency: shape (n_frequencies, 3, size)."""
    time = np.arange(size) / 8
    bases = []
    for frequency in np.linspace(0.02, 0.5, 25):
        columns = np.column_stack(
            [np.ones(size), np.cos(2 * np.pi * frequency * time), np.sin(2 * np.pi * frequency * time)]
        )
        bases.append(np.linalg.qr(columns)[0].T)
    return np.array(bases)


def _capture_cycle_spectra(capture: FloatArray) -> AnyArray:
    """Spectrum of each cycle, in steps of half a cycle: amplitudes by order."""
    cycle = SAMPLES_PER_CYCLE
    starts = np.arange(0, capture.size - cycle + 1, cycle // 2)
    blocks = capture[starts[:, np.newaxis] + np.arange(cycle)]
    spectra: AnyArray = np.fft.rfft(blocks, axis=1)[:, : int(_HIGHEST) + 1] * (2 / cycle)
    return spectra


def _measure_capture_harmonics(spectra: AnyArray, found: dict[str, float]) -> None:
    share = np.abs(spectra) / np.maximum(np.abs(spectra[:, 1:2]), 1e-9)
    usual = np.median(share, axis=0)
    for order in _ORDERS:
        found[f"harmonic.{order}"] = float(usual[order])
    characteristic = usual[[5, 7, 11, 13]]
    found["harmonic.least"] = float(characteristic.min())
    found["harmonic.most"] = float(characteristic.max())
    found["harmonic.even"] = float(np.sqrt((usual[[2, 4, 6, 8, 10, 12]] ** 2).sum()))
    high = float(np.sqrt((usual[14:] ** 2).sum()))
    found["high.level"] = high
    found["high.share"] = high / max(float(np.sqrt((usual[2:] ** 2).sum())), 1e-9)


def _measure_capture_notches(capture: FloatArray, live: AnyArray, found: dict[str, float]) -> None:
    """Measure the common shape of the cycles, without the orders up to 13."""
    cycle = SAMPLES_PER_CYCLE
    count = capture.size // cycle
    blocks = capture[: count * cycle].reshape(count, cycle)
    chosen = blocks[live[::2][:count]] if live[::2][:count].any() else blocks
    spectrum = np.fft.rfft(np.median(chosen, axis=0))
    spectrum[:14] = 0
    spectrum[int(_NOTCH) + 1 :] = 0
    shape = np.fft.irfft(spectrum, cycle)
    variance = max(float(np.mean(shape**2)), 1e-18)
    found["notch.peak"] = float(np.abs(shape).max())
    found["notch.kurtosis"] = float(np.mean(shape**4)) / variance**2


def _measure_capture_transients(capture: FloatArray, bandwidth: float, found: dict[str, float]) -> None:
    """Measure the largest deviation, in octaves, from the cycles before and after and from steady cycles of all levels.

    Causal filters find onsets and anti-causal ones ends, as in :mod:`pqswarm.measure.detect.transients`: a step agrees
    with one of the two, and only a deviation from all counts.
    """
    from scipy.signal import sosfilt

    cycle = SAMPLES_PER_CYCLE
    step = capture[cycle:] - capture[:-cycle]
    shape, levels = _capture_steady_shape(capture)
    both = np.stack([capture, shape])
    for name, sections in _capture_filters().items():
        if name != "transient.all" and MEASURES[name] > bandwidth:
            continue
        past = np.abs(sosfilt(sections, step))
        future = np.abs(sosfilt(sections, step[::-1])[::-1])
        noise = max(1.05 * float(np.median(past)), 1e-5)  # of one sample: the difference of two has 1.41 times as much
        deviation = np.full(capture.size, np.inf)
        for wave, usual in (sosfilt(sections, both, axis=1), sosfilt(sections, both[:, ::-1], axis=1)[:, ::-1]):
            for level in levels:
                np.minimum(deviation, np.abs(wave - level * usual), out=deviation)
        np.minimum(deviation[cycle:], past, out=deviation[cycle:])
        np.minimum(deviation[:-cycle], future, out=deviation[:-cycle])
        excess = np.maximum(deviation - max(_LOUD * noise, _SMALL), 0.0)
        found[name] = max(float(deviation.max()), _SMALL)
        found[f"{name}.noise"] = float(deviation.max()) / max(noise, _SMALL / _LOUD)
        found[f"{name}.excess"] = float(excess.max())
        found[f"{name}.energy"] = float(np.square(excess).sum())
        if name == "transient.all":
            found |= {burst: found[f"{name}{kind}"] for burst, kind in zip(BURSTS, _KINDS, strict=False)}
            place = int(deviation.argmax())
            own = min(levels, key=lambda level: abs(capture[place] - level * shape[place]))
            found |= measure_bursts(capture - own * shape, deviation, noise, cycle)


def _capture_steady_shape(capture: FloatArray) -> tuple[FloatArray, list[float]]:
    """The usual cycle of a capture, repeated (n_samples,), and the levels at which it may occur."""
    cycle, hop = SAMPLES_PER_CYCLE, SAMPLES_PER_CYCLE // 20
    half = _capture_square_roots(2 * moving_mean(capture**2, cycle // 2)[::hop])
    starts = np.arange(0, capture.size - cycle + 1, cycle // 2)
    first, second = half[starts // hop], half[starts // hop + 10]
    level = np.sqrt((first**2 + second**2) / 2)
    uneven = np.abs(first - second) / np.maximum(level, max(0.2 * float(level.max()), 1e-6))
    steady = uneven <= max(0.03, float(np.sort(uneven)[min(1, uneven.size - 1)]))
    usual = float(min(level[steady], key=lambda value: abs(value - 1)))
    chosen = np.flatnonzero(steady & (np.abs(level - usual) <= 0.05 * usual))
    rows = capture[starts[chosen, np.newaxis] + np.arange(cycle)]
    # Rows that start at half a cycle are rolled, so that all start at the same phase.
    odd = (starts[chosen] % cycle) > 0
    rows[odd] = np.roll(rows[odd], cycle // 2, axis=1)
    shape = np.median(rows / max(usual, 0.05), axis=0)
    middle = 0.5 * float(level.min() + level.max())
    levels = [usual, float(half.min()), float(half.max()), float(half[0]), float(half[-1])]
    levels += [float(np.median(side)) for side in (level[level <= middle], level[level >= middle])]
    return np.resize(shape, capture.size), list(dict.fromkeys(levels))


@cache
def _capture_filters() -> dict[str, AnyArray]:
    from scipy.signal import butter

    rate = float(SAMPLES_PER_CYCLE)
    found: dict[str, AnyArray] = {"transient.all": butter(2, _BANDS[0][0], "highpass", fs=rate, output="sos")}
    for low, high in _BANDS:
        found[f"transient.{low}_{high}"] = (
            butter(2, low, "highpass", fs=rate, output="sos")
            if 2 * high >= rate
            else butter(2, (float(low), float(high)), "bandpass", fs=rate, output="sos")
        )
    return found
