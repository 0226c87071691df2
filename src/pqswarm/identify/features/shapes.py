"""More measures of a short capture: harmonics averaged over cycles, the shape of a cycle, steps of level, bursts.

Averages over cycles keep the periodic part and suppress noise; the differences between cycles give the noise level. All
are taken from a capture of 500 samples per cycle in pu of the peak, limited to the bandwidth of its recorder, and so
have a meaning, and other values, at every bandwidth.
"""

from functools import lru_cache

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
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


def measure_orders(capture: FloatArray, cycle: int, live: BoolArray, bandwidth: float) -> dict[str, float]:
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

    found = {f"order.{k}": max(float(np.sqrt(power[k])), _NOTHING / 2) if k < power.size else 0.0 for k in ORDERS}
    for last in _SUMS:
        found[f"thd.{last}"] = total(order <= last)
    found["thd"] = total(order >= 2)
    odd = (order % 2 == 1) & (order % 3 > 0)
    for last in (7, 15):
        found[f"odd.{last}"] = total(odd & (order <= last))
        found[f"even.{last}"] = total((order % 2 == 0) & (order <= last))
    found["triplen.15"] = total((order % 3 == 0) & (order % 2 == 1) & (order <= 15))
    found["above.7"] = total((order > 7) & (order <= 15))
    found["above.15"] = total((order > 15) & (order <= 31))
    found["share.15"] = found["above.7"] / total(order <= 15)
    found["share.31"] = found["above.15"] / total(order <= 31)
    high = scatter[max(2, power.size // 2) :]
    found["noise.level"] = max(float(np.sqrt(np.square(high).mean())) * np.sqrt(power.size), 1e-3) if high.size else 0.0
    return found


def measure_shape(capture: FloatArray, cycle: int, live: BoolArray, bandwidth: float) -> dict[str, float]:
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
        found[f"{name}.peak"] = max(peak, _NOTHING)
        found[f"{name}.noise"] = peak / max(error, 1e-3)
        found[f"{name}.kurtosis"] = float(np.mean(shape**4)) / max(rms, 1e-9) ** 4 if clear else 0.0
        if name == "shape":
            strong = np.abs(shape) > 0.5 * peak
            found["shape.rms"] = max(rms, _NOTHING / 2)
            found["shape.crest"] = peak / max(rms, 1e-9) if clear else 0.0
            found["shape.count"] = float(np.sum(strong & ~np.roll(strong, 1))) if clear else 0.0
            weight = np.abs(shape) ** 3
            found["shape.inward"] = (
                float(-(weight * np.sign(shape * wave)).sum() / max(weight.sum(), 1e-12)) if clear else 0.0
            )
    return found


def measure_steps(capture: FloatArray, cycle: int) -> dict[str, float]:
    """Measure how well a step, a dip or rise, or a sine describes the amplitude of the fundamental over time."""
    turn = np.exp(-2j * np.pi / cycle * np.arange(capture.size))
    amplitude = 2 * np.abs(moving_mean(capture * turn, cycle)[:: cycle // 8])
    usual = max(float(np.median(amplitude)), 1e-3)
    level = np.clip(amplitude / usual, 0.0, 10.0)
    size = level.size
    found: dict[str, float] = {"level.range": max(float(level.max() - level.min()), _MIN_STEP)}
    ends = max(size // 8, 1)
    found["level.start"] = float(level[:ends].mean())
    found["level.end"] = float(level[-ends:].mean())
    found["level.least"] = float(level.min())
    found["level.most"] = float(level.max())
    normal = max(min((amplitude[0], amplitude[-1], usual), key=lambda value: abs(value - 1)), 1e-3)
    found["dead.level"] = max(float(amplitude.min()) / normal, 0.03)
    found["dead.share"] = float(np.mean(amplitude < 0.1 * normal))
    centred = level - level.mean()
    power = max(float((centred**2).sum()), size * _MIN_STEP**2)
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    # One step: variance explained by two means, split at the best moment.
    cut = np.arange(1, size)
    gain = sums[cut] ** 2 * (1 / cut + 1 / (size - cut))
    best = int(gain.argmax())
    found["step.fit"] = float(gain[best] / power)
    jump = float(-sums[cut[best]] * (1 / cut[best] + 1 / (size - cut[best])))
    found["step.size"] = max(abs(jump), _MIN_STEP)
    found["step.up"] = jump
    # A dip or a rise: a window of another level.
    first, last = _shape_windows(size)
    inside = sums[last] - sums[first]
    width = last - first
    gain = inside**2 * (1 / width + 1 / (size - width))
    best = int(gain.argmax())
    found["dip.fit"] = float(gain[best] / power)
    height = float(inside[best] * (1 / width[best] + 1 / (size - width[best])))
    found["dip.depth"] = max(-height, _MIN_STEP)
    found["rise.height"] = max(height, _MIN_STEP)
    found["sine.gain"] = float(_shape_sine_gain(centred) / power)
    far = centred[np.abs(centred) > 0.25 * float(np.abs(centred).max())]
    found["level.turns"] = float(np.sum(far[1:] * far[:-1] < 0)) if found["level.range"] > 3 * _MIN_STEP else 0.0
    return found


@lru_cache(maxsize=256)
def _shape_windows(size: int) -> tuple[AnyArray, AnyArray]:
    """First and last indices of windows within `size` values; a few thousand at most."""
    places = np.unique(np.linspace(0, size, min(size + 1, 81)).astype(int))
    first, last = np.meshgrid(places, places, indexing="ij")
    fits = (last - first >= 2) & (last - first <= size - 1)
    return first[fits], last[fits]


def _shape_sine_gain(values: FloatArray) -> float:
    """Sum of squares explained by the strongest line of the spectrum of `values`."""
    lines = np.abs(np.fft.rfft(values * np.hanning(values.size + 2)[1:-1], 4 * values.size)) ** 2
    total = float((lines[1:]).sum()) / 2
    best = int(lines.argmax())
    near = float(lines[max(best - 8, 0) : best + 9].sum()) / 2
    return float((values**2).sum()) * near / max(total, 1e-12)


def measure_bursts(residual: FloatArray, deviation: FloatArray, noise: float, cycle: int) -> dict[str, float]:
    """Measure the form of `residual` where `deviation` is largest, given the noise level."""
    place = int(deviation.argmax())
    around = residual[max(place - cycle // 2, 0) : place + cycle // 2]
    around = around - np.median(around)
    own = float(np.abs(residual[max(place - cycle // 25, 0) : place + cycle // 25 + 1]).max(initial=0.0))
    found = {"burst.swing": 0.0, "burst.width": 0.0, "burst.turns": 0.0}
    if own <= max(4 * noise, 0.02) or not around.size:
        return found
    peak = int(np.abs(around).argmax())
    turned = around * np.sign(around[peak])
    found["burst.swing"] = float(max(-turned.min(), 0.0) / turned[peak])
    found["burst.width"] = float(np.mean(np.abs(turned) > 0.5 * turned[peak]))
    far = turned[np.abs(turned) > max(0.25 * float(turned[peak]), 3 * noise)]
    found["burst.turns"] = float(np.sum(far[1:] * far[:-1] < 0))
    return found
