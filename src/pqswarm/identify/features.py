"""Features of a capture of any rate, frequency and length, as a model uses them."""

from collections.abc import Iterable
from functools import cache, lru_cache

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.features import WINDOW_CYCLES, extend, extract, feature_names
from pqswarm.recordings.frequency import moving_mean

ORDERS = (*range(2, 14), 17, 19, 23, 25)
"""Harmonics that are measured individually."""
_SUMS = (3, 7, 15, 31, 50)
SHAPES: dict[str, float] = {
    **{f"order.{order}": order + 0.5 for order in ORDERS},
    **{f"thd.{last}": last + 0.25 for last in _SUMS},
    **{f"{kind}.{last}": last + 0.25 for kind in ("odd", "even") for last in (7, 15)},
    **dict.fromkeys(("triplen.15", "above.7"), 15.25),
    **dict.fromkeys(("above.15", "share.31"), 31.0),
    "share.15": 15.25,
    **dict.fromkeys(("thd", "noise.level", "shape.peak", "shape.rms", "shape.kurtosis", "shape.crest"), 2.0),
    **dict.fromkeys(("shape.count", "shape.inward", "shape.noise", "fine.peak", "fine.kurtosis", "fine.noise"), 2.0),
    **dict.fromkeys(("step.size", "step.fit", "step.up", "dip.depth", "dip.fit", "rise.height", "level.range"), 2.0),
    **dict.fromkeys(("level.start", "level.end", "level.turns", "level.least", "level.most", "sine.gain"), 2.0),
    **dict.fromkeys(("dead.level", "dead.share"), 2.0),
}
"""Highest frequency of each, in multiples of the fundamental; 2 if it uses the whole bandwidth of the recorder."""
BURSTS = ("burst.peak", "burst.noise", "burst.excess", "burst.energy", "burst.swing", "burst.width", "burst.turns")
"""Measures of the largest deviation that is not periodic."""
WHOLE: tuple[str, ...] = (
    "thd",
    "noise.level",
    "shape.peak",
    "shape.rms",
    "shape.kurtosis",
    "shape.crest",
    "shape.count",
    "shape.inward",
    "shape.noise",
    "fine.peak",
    "fine.kurtosis",
    "fine.noise",
    *BURSTS,
)
"""Measures of the whole bandwidth, which differ between bandwidths."""
_NOTHING = 0.004  # tuned
_MIN_STEP = 0.003  # tuned
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
_NAMES = feature_names(8)
FEATURES: tuple[str, ...] = (*_NAMES, *MEASURES)
"""Names of all features that a model can use: the paper's 99, then the measures."""
MIN_CYCLES = 2.2
"""Cycles of the shortest capture that a model can classify."""
BANDWIDTHS: tuple[float, ...] = (WIDEST, 125.0, 62.5, 31.25, 16.0, 8.0, 4.0)
"""Bandwidths for which a model has a subset of features, in multiples of the fundamental."""
_TAPS = 24
_MIN_SAMPLES = 16
_FINER = 4
MARGIN = 1.02
"""Factor by which half the sampling rate may be below the edge of a band: 64 samples per cycle are common."""


def order_features(capture: FloatArray, cycle: int, live: BoolArray, bandwidth: float) -> dict[str, float]:
    """Measure harmonics up to the bandwidth, relative to the fundamental: medians over cycles of both parts.

    Each cycle is rotated to the phase of its own fundamental, so that noise and phase jumps do not add up.
    """
    starts = np.arange(0, capture.size - cycle + 1, cycle // 2)[live]
    spectra = np.fft.rfft(capture[starts[:, np.newaxis] + np.arange(cycle)], axis=1)[:, : int(bandwidth) + 1]
    first = spectra[:, 1:2]
    size = np.maximum(np.abs(first), 1e-9)
    turned = spectra / size * (np.conj(first) / size) ** np.arange(spectra.shape[1])
    usual = np.median(turned.real, axis=0) + 1j * np.median(turned.imag, axis=0)
    off = np.abs(turned - usual)
    scatter = 1.2 * np.median(off, axis=0)  # of one cycle: the median of a Rayleigh variable is 1.18 of its scale
    doubt = scatter**2 * min(1.0, 2.5 / max(len(starts) / 2, 1.0))
    power = np.maximum(np.abs(usual) ** 2 - doubt, 0.0)
    power[:2] = 0.0
    order = np.arange(power.size)

    def total(which: BoolArray) -> float:
        return max(float(np.sqrt(power[which].sum())), _NOTHING)

    above_7 = total((order > 7) & (order <= 15))
    above_15 = total((order > 15) & (order <= 31))
    high = scatter[max(2, power.size // 2) :]
    return {
        **{f"order.{k}": max(float(np.sqrt(power[k])), _NOTHING / 2) if k < power.size else 0.0 for k in ORDERS},
        **{f"thd.{last}": total(order <= last) for last in _SUMS},
        **{f"odd.{last}": total((order % 2 == 1) & (order % 3 > 0) & (order <= last)) for last in (7, 15)},
        **{f"even.{last}": total((order % 2 == 0) & (order <= last)) for last in (7, 15)},
        "thd": total(order >= 2),
        "triplen.15": total((order % 3 == 0) & (order % 2 == 1) & (order <= 15)),
        "above.7": above_7,
        "above.15": above_15,
        "share.15": above_7 / total(order <= 15),
        "share.31": above_15 / total(order <= 31),
        "noise.level": max(float(np.sqrt(np.square(high).mean())) * np.sqrt(power.size), 1e-3) if high.size else 0.0,
    }


def shape_features(capture: FloatArray, cycle: int, live: BoolArray, bandwidth: float) -> dict[str, float]:
    """Measure the common shape of the cycles, without the fundamental, and again without the orders up to 13."""
    starts = np.arange(0, capture.size - cycle + 1, cycle // 2)[live]
    blocks = capture[starts[:, np.newaxis] + np.arange(cycle)]
    blocks[(starts % cycle) > 0] = np.roll(blocks[(starts % cycle) > 0], cycle // 2, axis=1)
    mean = np.median(blocks, axis=0)
    scatter = 1.48 * np.median(np.abs(blocks - mean), axis=0)
    error = float(np.sqrt(np.square(scatter).mean()) / np.sqrt(max(len(starts) / 2, 1.0)))
    spectrum = np.fft.rfft(mean)
    size = max(2 * float(np.abs(spectrum[1])) / cycle, 1e-3)
    wave = np.fft.irfft(np.where(np.arange(spectrum.size) == 1, spectrum, 0), cycle) / size
    spectrum[int(bandwidth) + 1 :] = 0
    found: dict[str, float] = {}
    for name, last in (("shape", 1), ("fine", min(13, int(bandwidth) // 2))):
        spectrum[: last + 1] = 0
        shape = np.fft.irfft(spectrum, cycle) / size
        peak = float(np.abs(shape).max())
        rms = float(np.sqrt(np.mean(shape**2)))
        clear = peak > max(0.008, 3.5 * error)
        found |= {
            f"{name}.peak": max(peak, _NOTHING),
            f"{name}.noise": peak / max(error, 1e-3),
            f"{name}.kurtosis": float(np.mean(shape**4)) / max(rms, 1e-9) ** 4 if clear else 0.0,
        }
        if name == "shape":
            strong = np.abs(shape) > 0.5 * peak
            weight = np.abs(shape) ** 3
            inward = float(-(weight * np.sign(shape * wave)).sum() / max(weight.sum(), 1e-12))
            found |= {
                "shape.rms": max(rms, _NOTHING / 2),
                "shape.crest": peak / max(rms, 1e-9) if clear else 0.0,
                "shape.count": float(np.sum(strong & ~np.roll(strong, 1))) if clear else 0.0,
                "shape.inward": inward if clear else 0.0,
            }
    return found


def step_features(capture: FloatArray, cycle: int) -> dict[str, float]:
    """Measure how well a step, a dip or rise, or a sine describes the amplitude of the fundamental over time."""
    turn = np.exp(-2j * np.pi / cycle * np.arange(capture.size))
    amplitude = 2 * np.abs(moving_mean(capture * turn, cycle)[:: cycle // 8])
    usual = max(float(np.median(amplitude)), 1e-3)
    level = np.clip(amplitude / usual, 0.0, 10.0)
    size = level.size
    span = max(float(level.max() - level.min()), _MIN_STEP)
    ends = max(size // 8, 1)
    normal = max(min((amplitude[0], amplitude[-1], usual), key=lambda value: abs(value - 1)), 1e-3)
    centered = level - level.mean()
    power = max(float((centered**2).sum()), size * _MIN_STEP**2)
    sums = np.concatenate([[0.0], np.cumsum(centered)])
    # One step: variance explained by two means, split at the best moment.
    cut = np.arange(1, size)
    step_gain = sums[cut] ** 2 * (1 / cut + 1 / (size - cut))
    best = int(step_gain.argmax())
    jump = float(-sums[cut[best]] * (1 / cut[best] + 1 / (size - cut[best])))
    # A dip or a rise: a window of another level.
    first, last = _shape_feature_windows(size)
    inside = sums[last] - sums[first]
    width = last - first
    gain = inside**2 * (1 / width + 1 / (size - width))
    best = int(gain.argmax())
    height = float(inside[best] * (1 / width[best] + 1 / (size - width[best])))
    far = centered[np.abs(centered) > 0.25 * float(np.abs(centered).max())]
    return {
        "level.range": span,
        "level.start": float(level[:ends].mean()),
        "level.end": float(level[-ends:].mean()),
        "level.least": float(level.min()),
        "level.most": float(level.max()),
        "dead.level": max(float(amplitude.min()) / normal, 0.03),
        "dead.share": float(np.mean(amplitude < 0.1 * normal)),
        "step.fit": float(step_gain.max() / power),
        "step.size": max(abs(jump), _MIN_STEP),
        "step.up": jump,
        "dip.fit": float(gain[best] / power),
        "dip.depth": max(-height, _MIN_STEP),
        "rise.height": max(height, _MIN_STEP),
        "sine.gain": float(_sine_gain_feature(centered) / power),
        "level.turns": float(np.sum(far[1:] * far[:-1] < 0)) if span > 3 * _MIN_STEP else 0.0,
    }


@lru_cache(maxsize=256)
def _shape_feature_windows(size: int) -> tuple[AnyArray, AnyArray]:
    """First and last indices of windows within `size` values; a few thousand at most."""
    places = np.unique(np.linspace(0, size, min(size + 1, 81)).astype(int))
    first, last = np.meshgrid(places, places, indexing="ij")
    fits = (last - first >= 2) & (last - first <= size - 1)
    return first[fits], last[fits]


def _sine_gain_feature(values: FloatArray) -> float:
    """Sum of squares explained by the strongest line of the spectrum of `values`."""
    lines = np.abs(np.fft.rfft(values * np.hanning(values.size + 2)[1:-1], 4 * values.size)) ** 2
    total = float((lines[1:]).sum()) / 2
    best = int(lines.argmax())
    near = float(lines[max(best - 8, 0) : best + 9].sum()) / 2
    return float((values**2).sum()) * near / max(total, 1e-12)


def burst_features(residual: FloatArray, deviation: FloatArray, noise: float, cycle: int) -> dict[str, float]:
    """Measure the form of `residual` where `deviation` is largest, given the noise level."""
    place = int(deviation.argmax())
    around = residual[max(place - cycle // 2, 0) : place + cycle // 2]
    around = around - np.median(around)
    own = float(np.abs(residual[max(place - cycle // 25, 0) : place + cycle // 25 + 1]).max(initial=0.0))
    if own <= max(4 * noise, 0.02) or not around.size:
        return {"burst.swing": 0.0, "burst.width": 0.0, "burst.turns": 0.0}
    peak = int(np.abs(around).argmax())
    turned = around * np.sign(around[peak])
    far = turned[np.abs(turned) > max(0.25 * float(turned[peak]), 3 * noise)]
    return {
        "burst.swing": float(max(-turned.min(), 0.0) / turned[peak]),
        "burst.width": float(np.mean(np.abs(turned) > 0.5 * turned[peak])),
        "burst.turns": float(np.sum(far[1:] * far[:-1] < 0)),
    }


def capture_features(capture: FloatArray, bandwidth: float = WIDEST) -> FloatArray:
    """Measure a capture [pu of the peak] of 500 samples per cycle and at least 2.1 cycles, in the order of MEASURES.

    It has no content above `bandwidth` times the fundamental; measures of higher frequencies are 0.
    """
    if capture.ndim != 1 or capture.size < 2.1 * SAMPLES_PER_CYCLE:
        raise PqswarmError("a capture must have at least 2.1 cycles.")
    spectra = _cycle_spectra_for_features(capture)
    live = np.abs(spectra[:, 1]) >= 0.3 * np.abs(spectra[:, 1]).max()
    found = {
        **_capture_level_features(capture),
        **_capture_modulation_features(capture),
        **_capture_harmonic_features(spectra[live]),
        **_capture_notch_features(capture, live),
        **_capture_transient_features(capture, bandwidth),
        **order_features(capture, SAMPLES_PER_CYCLE, live, bandwidth),
        **shape_features(capture, SAMPLES_PER_CYCLE, live, bandwidth),
        **step_features(capture, SAMPLES_PER_CYCLE),
    }
    values = np.array([max(found.get(name, 0.0), _MIN_VALUES.get(name, -np.inf)) for name in MEASURES])
    return np.asarray(np.nan_to_num(values, nan=0.0, posinf=1e6, neginf=-1e6), dtype=np.float64)


def _feature_square_roots(squares: FloatArray) -> FloatArray:
    """Square roots of values that rounding may have made slightly negative."""
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _capture_level_features(capture: FloatArray) -> dict[str, float]:
    cycle, hop = SAMPLES_PER_CYCLE, SAMPLES_PER_CYCLE // 20
    center = float(np.median(moving_mean(capture, cycle)))
    squares = 2 * (capture - center) ** 2
    half = _feature_square_roots(moving_mean(squares, cycle // 2)[::hop])
    rms = _feature_square_roots(moving_mean(squares, cycle)[::hop])
    # The first, last or median level, whichever is closest to 1 pu.
    normal = float(max(min((rms[0], rms[-1], np.median(rms)), key=lambda value: abs(value - 1)), 1e-3))
    return {
        "half.minimum": float(half.min()),
        "half.maximum": float(half.max()),
        "rms.minimum": float(rms.min()),
        "rms.maximum": float(rms.max()),
        "rms.median": float(np.median(rms)),
        "rms.low": float(np.percentile(rms, 10)),
        "rms.high": float(np.percentile(rms, 90)),
        "rms.first": float(rms[0]),
        "rms.last": float(rms[-1]),
        "rms.below": float(np.mean(half < 0.9 * normal)),
        "rms.above": float(np.mean(half > 1.1 * normal)),
        "rms.dead": float(half.min() / normal),
        "rms.peak": float(half.max() / normal),
        "rms.step": float(np.abs(rms[20:] - rms[:-20]).max(initial=0.0) / max(float(rms.max()), 1e-9)),
    }


def _capture_modulation_features(capture: FloatArray) -> dict[str, float]:
    """Measure the amplitude of the fundamental, cycle by cycle."""
    cycle = SAMPLES_PER_CYCLE
    turn = np.exp(-2j * np.pi / cycle * np.arange(capture.size))
    amplitude = 2 * np.abs(moving_mean(capture * turn, cycle)[:: cycle // 8])
    usual = max(float(np.median(amplitude)), 1e-3)
    low, high = np.percentile(amplitude, [10, 90])
    lag = max(8, amplitude.size // 3)
    far = np.abs(amplitude[lag:] - amplitude[:-lag])
    depth, fit = _best_sine_for_features(amplitude)
    return {
        "fundamental.spread": float(high - low) / usual,
        "fundamental.change": float(np.median(np.abs(amplitude[4:] - amplitude[:-4]))) / usual,
        "fundamental.drift": float(np.median(far)) / usual if far.size else 0.0,
        "dc.offset": abs(float(np.median(moving_mean(capture, cycle)))) / usual,
        "flicker.depth": depth / usual,
        "flicker.fit": fit,
    }


def _best_sine_for_features(values: FloatArray) -> tuple[float, float]:
    """Amplitude of the best-fitting sine of 0.02 to 0.5 per cycle, and the fraction of the variance it explains."""
    bases = _sines_for_features(values.size)
    power = float(((values - values.mean()) ** 2).sum())
    gain = (np.einsum("kij,j->ki", bases, values) ** 2).sum(axis=1) - values.size * values.mean() ** 2
    best = int(gain.argmax())
    depth = float(np.sqrt(max(2 * gain[best], 0.0) / values.size))
    return depth, float(gain[best] / power) if power > 0 else 0.0


@lru_cache(maxsize=256)
def _sines_for_features(size: int) -> FloatArray:
    """Orthonormal bases of a constant and a sine, one for each frequency: shape (n_frequencies, 3, size)."""
    time = np.arange(size) / 8
    angles = [2 * np.pi * frequency * time for frequency in np.linspace(0.02, 0.5, 25)]
    return np.array([np.linalg.qr(np.column_stack([np.ones(size), np.cos(a), np.sin(a)]))[0].T for a in angles])


def _cycle_spectra_for_features(capture: FloatArray) -> AnyArray:
    """Spectrum of each cycle, in steps of half a cycle: amplitudes by order."""
    cycle = SAMPLES_PER_CYCLE
    starts = np.arange(0, capture.size - cycle + 1, cycle // 2)
    blocks = capture[starts[:, np.newaxis] + np.arange(cycle)]
    return np.asarray(np.fft.rfft(blocks, axis=1)[:, : int(_HIGHEST) + 1] * (2 / cycle))


def _capture_harmonic_features(spectra: AnyArray) -> dict[str, float]:
    usual = np.median(np.abs(spectra) / np.maximum(np.abs(spectra[:, 1:2]), 1e-9), axis=0)
    characteristic = usual[[5, 7, 11, 13]]
    high = float(np.sqrt((usual[14:] ** 2).sum()))
    return {f"harmonic.{order}": float(usual[order]) for order in _ORDERS} | {
        "harmonic.least": float(characteristic.min()),
        "harmonic.most": float(characteristic.max()),
        "harmonic.even": float(np.sqrt((usual[[2, 4, 6, 8, 10, 12]] ** 2).sum())),
        "high.level": high,
        "high.share": high / max(float(np.sqrt((usual[2:] ** 2).sum())), 1e-9),
    }


def _capture_notch_features(capture: FloatArray, live: AnyArray) -> dict[str, float]:
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
    return {
        "notch.peak": float(np.abs(shape).max()),
        "notch.kurtosis": float(np.mean(shape**4)) / variance**2,
    }


def _capture_transient_features(capture: FloatArray, bandwidth: float) -> dict[str, float]:
    """Measure the largest deviation, in octaves, from the cycles before and after and from steady cycles of all levels.

    Causal filters find onsets and anti-causal ones ends, as in :mod:`pqswarm.measure.detect.transients`: a step agrees
    with one of the two, and only a deviation from all counts.
    """
    from scipy.signal import sosfilt

    cycle = SAMPLES_PER_CYCLE
    step = capture[cycle:] - capture[:-cycle]
    shape, levels = _steady_shape_for_features(capture)
    both = np.stack([capture, shape])
    found: dict[str, float] = {}
    for name, sections in _feature_filters().items():
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
        found |= {
            name: max(float(deviation.max()), _SMALL),
            f"{name}.noise": float(deviation.max()) / max(noise, _SMALL / _LOUD),
            f"{name}.excess": float(excess.max()),
            f"{name}.energy": float(np.square(excess).sum()),
        }
        if name == "transient.all":
            found |= {burst: found[f"{name}{kind}"] for burst, kind in zip(BURSTS, _KINDS, strict=False)}
            place = int(deviation.argmax())
            own = min(levels, key=lambda level: abs(capture[place] - level * shape[place]))
            found |= burst_features(capture - own * shape, deviation, noise, cycle)
    return found


def _steady_shape_for_features(capture: FloatArray) -> tuple[FloatArray, list[float]]:
    """The usual cycle of a capture, repeated (n_samples,), and the levels at which it may occur."""
    cycle, hop = SAMPLES_PER_CYCLE, SAMPLES_PER_CYCLE // 20
    half = _feature_square_roots(2 * moving_mean(capture**2, cycle // 2)[::hop])
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
    levels = [
        usual,
        float(half.min()),
        float(half.max()),
        float(half[0]),
        float(half[-1]),
        float(np.median(level[level <= middle])),
        float(np.median(level[level >= middle])),
    ]
    return np.resize(shape, capture.size), list(dict.fromkeys(levels))


@cache
def _feature_filters() -> dict[str, AnyArray]:
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


def feature_upper_frequencies() -> FloatArray:
    """Return the highest frequency of each feature, in multiples of the fundamental."""
    bands = {f"D{j}": min(SAMPLES_PER_CYCLE / 2**j, WIDEST) for j in range(1, 9)} | {"A8": SAMPLES_PER_CYCLE / 2**9}
    return np.array([*(bands[name.partition(".")[0]] for name in _NAMES), *MEASURES.values()])


def usable_features(sampling_rate: float, frequency: float) -> BoolArray:
    """Return which features a recording of that rate has.

    Parameters
    ----------
    sampling_rate : float
        Sampling rate of the recording [Hz].
    frequency : float
        Fundamental [Hz].

    Returns
    -------
    ndarray of bool, shape (n_features,)
        True for features of frequencies below half the sampling rate, in the order of :data:`FEATURES`.

    Examples
    --------
    >>> [name for name, yes in zip(FEATURES, usable_features(3200, 50), strict=True) if yes][0]
    'D4.minimum'
    """
    return np.asarray(feature_upper_frequencies() <= MARGIN * sampling_rate / (2 * frequency))


def bandwidth_of(sampling_rate: float, frequency: float) -> float:
    """Return the widest of BANDWIDTHS that a recording has, or the narrowest if it has none."""
    highest = MARGIN * sampling_rate / (2 * frequency)
    return next((bandwidth for bandwidth in BANDWIDTHS if bandwidth <= highest), BANDWIDTHS[-1])


def uses_wavelet_features(names: Iterable[str]) -> bool:
    """Whether any of these is one of the paper's wavelet features, which need 30 cycles."""
    return not set(names).isdisjoint(_NAMES)


def resample_for_features(signal: FloatArray, ratio: float, cutoff: float = 1.0) -> FloatArray:
    """Resample an evenly sampled signal without NaN, band-limited, to `ratio` times its rate.

    By sinc interpolation with a Kaiser window. Content above the new Nyquist frequency, or above `cutoff` times the old
    one, is filtered out. Beyond its ends the signal is continued point-symmetrically.
    """
    from scipy.ndimage import map_coordinates
    from scipy.signal import firwin, upfirdn

    cutoff = min(1.0, ratio, cutoff)
    reach = min(int(np.ceil(_TAPS / cutoff)), signal.size - 1)
    if signal.size < _MIN_SAMPLES:
        raise PqswarmError(f"a capture of {signal.size} samples is too short to be resampled.")
    padded = np.concatenate([2 * signal[0] - signal[reach:0:-1], signal, 2 * signal[-1] - signal[-2 : -reach - 2 : -1]])
    low_pass = _FINER * firwin(2 * _FINER * reach + 1, 0.97 * cutoff / _FINER, window=("kaiser", 7.0))
    finer = upfirdn(low_pass, padded, up=_FINER)
    places = np.arange(int(np.floor((signal.size - 1) * ratio)) + 1) / ratio
    result = map_coordinates(finer, [_FINER * (2 * reach + places)], order=3, mode="nearest")
    return np.asarray(result, dtype=np.float64)


def compute_features(
    capture: FloatArray, sampling_rate: float, frequency: float, *, wavelet: bool = True
) -> FloatArray:
    """Compute all features of a capture, including those that its rate does not allow (see :func:`usable_features`).

    Time is scaled so that a cycle has 500 samples, whatever the frequency and rate: bands are the same multiples of the
    fundamental for all recordings. Content above the widest of :data:`BANDWIDTHS` that the rate allows is filtered out,
    so that recorders of different rates give the same values. Captures shorter than 30 cycles are extended
    (:func:`pqswarm.features.extend`) for the wavelet features; longer ones are cut.

    Parameters
    ----------
    capture : ndarray of shape (n,)
        Voltage [pu of the peak], without NaN.
    sampling_rate : float
        Sampling rate [Hz].
    frequency : float
        Measured fundamental [Hz].
    wavelet : bool, default=True
        Whether to compute the 99 wavelet features; otherwise they are 0.

    Returns
    -------
    ndarray of shape (n_features,)
        In the order of :data:`FEATURES`.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> event = generate("sag", seed=1, frequency=60, cycles=6, sampling_rate=15_360)
    >>> compute_features(event.signal, 15_360, 60.0).shape == (len(FEATURES),)
    True
    """
    cycles = capture.size / sampling_rate * frequency
    if cycles < MIN_CYCLES:
        raise PqswarmError(f"a capture of {cycles:.2g} cycles is too short: the minimum is {MIN_CYCLES}.")
    bandwidth = bandwidth_of(sampling_rate, frequency)
    ratio = SAMPLES_PER_CYCLE * frequency / sampling_rate
    cutoff = 2 * bandwidth * frequency / sampling_rate
    even = resample_for_features(capture, ratio, cutoff)[: round(WINDOW_CYCLES * SAMPLES_PER_CYCLE)]
    bands = extract(extend(even, 25_000.0, 50.0), 25_000.0)[0] if wavelet else np.zeros(len(_NAMES))
    return np.concatenate([bands, capture_features(even, bandwidth)])
