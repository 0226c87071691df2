"""Flicker: slow variations of the half-cycle RMS."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.spans import Span
from pqswarm.measure.thresholds import Thresholds

_BAND = (1.0, 25.0)
"""Of the modulation [Hz]."""
_PERIODS = 1.5
"""Minimum number of periods that must be seen."""
_MAX_VALUES = 800
_EXPLAINED = 0.8  # tuned
_BETTER = 0.6  # tuned
"""Maximum variance that a sine may leave, over that left by a single change of the level."""
_CHANCE = 1e-3
"""Maximum probability that noise is explained as well."""
_SLIGHT = 0.03  # tuned
"""A modulation may exceed the sag and swell thresholds by this much and is still flicker [pu]."""


def find_flicker(urms: FloatArray, frequency: float, *, minimum: float = 0.005) -> tuple[float, float] | None:
    """Find a slow sinusoidal modulation in Urms(1/2) [pu] without events: its frequency [Hz] and depth, or None.

    At least 1.5 periods must be seen. The sine must explain 80 % of the variance, more than noise would, and clearly
    more than a dip, a rise or a step. `frequency` is the measured fundamental [Hz].
    """
    n = urms.size
    if n < 12 or not np.isfinite(urms).all() or urms.mean() <= 0:
        return None
    time = np.arange(n) / (2 * frequency)
    lowest = max(_BAND[0], _PERIODS / float(time[-1]))
    if lowest >= _BAND[1]:
        return None
    trend = np.linalg.qr(np.column_stack([np.ones(n), time - time.mean()]))[0]
    rest = urms / urms.mean()
    rest = rest - trend @ (trend.T @ rest)
    total = float(np.sum(rest**2))
    if total <= n * 1e-12:
        return None
    rates = np.arange(lowest, _BAND[1] * 1.02, 0.1 / float(time[-1]))
    angle = 2 * np.pi * rates[:, None] * time
    cosine, sine = (wave - (wave @ trend) @ trend.T for wave in (np.cos(angle), np.sin(angle)))
    cc = (cosine**2).sum(1)
    ss = (sine**2).sum(1)
    cs = (cosine * sine).sum(1)
    c = cosine @ rest
    s = sine @ rest
    bulk = np.maximum(cc * ss - cs**2, 1e-9 * n**2)
    in_cosine = (c * ss - s * cs) / bulk
    in_sine = (s * cc - c * cs) / bulk
    explained = (in_cosine * c + in_sine * s) / total
    best = int(explained.argmax())
    fraction = float(explained[best])
    rate = float(rates[best])
    # The window of one cycle smooths it.
    depth = float(np.hypot(in_cosine[best], in_sine[best])) / float(np.sinc(rate / frequency))
    unexplained = max(1.0 - fraction, 0.0)
    if fraction <= _EXPLAINED or depth < minimum or unexplained ** ((n - 4) / 2) * n / 2 > _CHANCE:
        return None
    return (rate, depth) if unexplained * total < _BETTER * _left_by_a_change(urms / urms.mean()) else None


def _left_by_a_change(values: FloatArray) -> float:
    """Sum of squares about a level and one stretch at another, at best; values at its edges belong to neither."""
    n = values.size
    if n > 200:
        values = values[: n // (n // 100) * (n // 100)].reshape(-1, n // 100).mean(axis=1)
        return _left_by_a_change(values) * (n // 100)
    total = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    first, stop = np.triu_indices(n + 1, 1)
    inside = total[stop] - total[first]
    count = (stop - first).astype(np.float64)
    # Between the sums of squares of one level and of two lies this; a mean of 0 was taken off.
    gain = np.where(count < n, inside**2 * n / (count * np.maximum(n - count, 1.0)), 0.0)
    return float(np.sum((values - values.mean()) ** 2) - gain.max())


def drop_flicker_spans(spans: Sequence[Span], urms: FloatArray, frequency: float, thresholds: Thresholds) -> list[Span]:
    """Drop the sags and swells that are the troughs and crests of flicker; our choice, for those beyond by 0.03 pu."""
    low, high = thresholds.sag - _SLIGHT, thresholds.swell + _SLIGHT
    if (
        all(low <= span.magnitude <= high for span in spans)
        and urms.size <= _MAX_VALUES
        and find_flicker(urms, frequency, minimum=thresholds.flicker) is not None
    ):
        return []
    return list(spans)


def longest_quiet_stretch(urms: FloatArray, spans: Sequence[Span]) -> FloatArray:
    """Longest stretch of Urms(1/2) without an event or an unknown value; empty if it is less than half."""
    calm = np.isfinite(urms)
    for span in spans:
        calm[max(span.first - 3, 0) : span.stop + 3] = False
    bounds = np.flatnonzero(np.diff(np.concatenate([[False], calm, [False]])))
    if not bounds.size:
        return np.empty(0)
    first, stop = max(zip(bounds[::2], bounds[1::2], strict=True), key=lambda pair: int(pair[1] - pair[0]))
    if spans and 2 * (stop - first) < urms.size:  # a swinging grid is not flicker
        return np.empty(0)
    return urms[first : min(stop, first + _MAX_VALUES)]


_MODULATION_BAND = (0.5, 25.0)
"""Frequency range of a modulation [Hz]."""


def measure_modulation(urms: FloatArray, cycles: int) -> FloatArray:
    """Amplitude (root of two times RMS) of Urms(1/2) about its mean of two windows, in each window [fraction].

    The mean over 0.4 s passes what is slower than about 1 Hz, and keeps a single step within two windows.
    """
    n_windows = urms.shape[1] // (2 * cycles)
    # One channel at a time: of an hour, this is where most memory is needed.
    return np.array([_modulation(row, 2 * cycles) for row in urms]).reshape(urms.shape[0], n_windows)


def _modulation(urms: FloatArray, per_window: int) -> FloatArray:
    """Do so for one channel."""
    if not urms.size:
        return np.empty(0)
    wide = 2 * per_window
    padded = np.pad(urms, (per_window, per_window - 1), mode="reflect" if urms.size >= wide else "edge")
    known = np.isfinite(padded)
    total = np.concatenate([[0.0], np.cumsum(np.where(known, padded, 0.0))])
    count = np.concatenate([[0], np.cumsum(known)])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (total[wide:] - total[:-wide]) / (count[wide:] - count[:-wide])
        rest = (urms / mean - 1).reshape(-1, per_window)
        seen = np.isfinite(rest)
        mean_square = np.sum(np.where(seen, rest, 0.0) ** 2, axis=-1) / np.sum(seen, axis=-1)
    # The last half cycle of a window reaches into the next one, which may be missing.
    amplitude: FloatArray = np.where(np.sum(seen, axis=-1) >= per_window - 1, np.sqrt(2 * mean_square), np.nan)
    return amplitude


def strongest_modulation(urms: FloatArray, rate: float, frequency: float) -> tuple[float, float]:
    """Frequency [Hz] and amplitude [fraction] of the strongest line in a stretch of Urms(1/2) at `rate` [Hz]."""
    known = np.isfinite(urms)
    if known.sum() < 8:
        return float("nan"), float("nan")
    relative = np.where(known, urms / np.mean(urms[known]) - 1, 0.0)
    relative -= relative.mean()
    window = np.hanning(relative.size + 2)[1:-1]
    size = max(4 * relative.size, 256)
    lines = 2 * np.abs(np.fft.rfft(relative * window, size)) / window.sum()
    hertz = np.arange(lines.size) * rate / size
    lines[(hertz < max(_MODULATION_BAND[0], 1.5 * rate / relative.size)) | (hertz > _MODULATION_BAND[1])] = 0.0
    best = int(np.argmax(lines))
    # The window of one cycle smooths it.
    return float(hertz[best]), float(lines[best] / np.sinc(hertz[best] / frequency))
