"""Notches in the shape that all cycles of a window share."""

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray

MIN_SAMPLES = 60
"""Per cycle: with fewer, notches are narrower than two samples."""
_FINE_SAMPLES = 100  # tuned
"""Per cycle: from here on, the jumps of a notch stand out from harmonics."""
_LONGEST = 0.08  # tuned
"""Of a cycle."""
_NOISE = 5.0
"""Minimum jump over the noise of the shape."""
_QUARTER = 0.3186
"""Lower quartile of the size of a normal variable over its standard deviation."""
_RINGING = 0.3  # tuned
"""Minimum jump over the largest one: next to a jump, the interpolated shape rings."""
_SLOW = 25  # tuned
"""Harmonics up to this order can make steep flanks together; a notch has more than these."""
_FAST = 0.3  # tuned
_LINES = 6  # tuned
_PRESENT = 0.2  # tuned
"""Minimum part of the jumps above that order, over that of steps; minimum number of lines there, of at least a fifth of
the strongest: a few that beat have steep flanks, too."""
_ROUGH = 4.0  # tuned
"""Minimum jump over the noise for a first screening."""
_ORDERS = 13  # tuned
_ROUNDS = 8  # tuned
"""Orders of the smooth wave into which notches are cut, and rounds of its fit."""
_MAX_FRACTION = 0.4  # tuned
"""Of a cycle that notches may take."""


def measure_notches(
    lines: AnyArray, n_samples: int, length: int, size: FloatArray, thd: FloatArray, minimum: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Depth [fraction of the peak], number per cycle, and THD without the notches, in each window.

    `lines` are the spectral lines of the orders 0, 1, ... of a window of `length` samples, not normalized; `size` is
    the RMS of the fundamental [V] and `thd` the distortion with the notches. NaN below 60 samples per cycle.
    """
    if n_samples < MIN_SAMPLES:
        nothing = np.full(size.shape, np.nan)
        return nothing, nothing.copy(), thd.copy()
    depth = np.zeros(size.shape)
    count = np.zeros(size.shape)
    smooth = thd.copy()
    kept = lines[..., : n_samples // 2 + 1]
    scale = np.sqrt(2) * np.where(size > 0, size, np.inf)
    wave = np.fft.irfft(kept, n_samples, axis=-1) * (n_samples / length) / scale[..., None]
    later = {k: np.roll(wave, -k, axis=-1) for k in (-3, -2, 1, 3, 4)}
    rough = np.abs(later[1] - wave - (later[4] - later[3] + later[-2] - later[-3]) / 2)
    # Only the windows that have a place much steeper than its surroundings are looked at closely.
    quarter = np.partition(rough, n_samples // 4, axis=-1)[..., n_samples // 4]
    steep = np.maximum(0.3 * minimum, _ROUGH * quarter / _QUARTER)
    for c, w in zip(*np.nonzero(rough.max(axis=-1) > steep), strict=True):
        notches = (_find_notches_by_jumps if n_samples >= _FINE_SAMPLES else _find_notches_by_deviations)(
            wave[c, w], minimum
        )
        if notches:
            depth[c, w] = max(height for _, _, height in notches)
            count[c, w] = len(notches)
            smooth[c, w] = _thd_without_notches(wave[c, w], notches)
    return depth, count, smooth


def _find_notches_by_jumps(wave: FloatArray, minimum: float) -> list[tuple[int, int, float]]:
    """First and last sample of each notch, and its depth: two jumps of opposite sign, close together."""
    n = wave.size
    jump = np.roll(wave, -1) - wave
    sharp = jump - np.median([np.roll(jump, -k) for k in (-5, -4, -3, 3, 4, 5)], axis=0)
    # A jump may be spread over two or three samples.
    after, before = np.roll(sharp, -1), np.roll(sharp, 1)
    widths = np.stack([sharp, sharp + after, before + sharp + after])
    up, down = widths.max(axis=0), -widths.min(axis=0)
    # Six notches leave only a part of the cycle alone: its lowest quarter tells the noise.
    noise = float(np.percentile(np.abs(sharp), 25)) / _QUARTER
    steep = max(minimum, _NOISE * noise, _RINGING * max(float(up.max()), float(down.max())))
    edges = sorted((i, way) for way, height in ((1, up), (-1, down)) for i in _notch_peaks(height, steep))
    places = [i for i, _ in edges]
    if not edges or np.mean(_jumps_of_notches(wave)[places] / np.maximum(up, down)[places]) < _FAST:
        return []
    notches = []
    used = -1
    for (i, way), (j, back) in zip(edges, [*edges[1:], *((k + n, sign) for k, sign in edges[:1])], strict=True):
        if i != used and 0 < j - i <= _LONGEST * n and way != back:
            used = j % n
            height = min(up[i], down[used]) if way > 0 else min(down[i], up[used])
            notches.append((i + 1, j, _notch_depth(wave, i, j, float(height))))
    return notches


def _find_notches_by_deviations(wave: FloatArray, minimum: float) -> list[tuple[int, int, float]]:
    """First and last sample of each notch, and its depth, where samples are too few for jumps.

    A notch is narrow, and not in the smooth wave of the orders to 13 with the smallest sum of absolute deviations,
    which notches do not attract.
    """
    n = wave.size
    rest = _notches_without_wave(wave, minimum)
    loud = np.abs(rest) > max(minimum, _NOISE * 1.4826 * float(np.median(np.abs(rest))))
    if not loud.any() or loud.mean() > _MAX_FRACTION:
        return []
    turn = int(np.flatnonzero(~loud)[0])
    places = np.flatnonzero(np.roll(loud, -turn))
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    narrow = [(run + turn) % n for run in runs if run.size <= _LONGEST * n + 1]
    return [(int(run[0]), int(run[0]) + run.size - 1, float(np.abs(rest[run]).max())) for run in narrow]


def _notches_without_wave(wave: FloatArray, minimum: float) -> FloatArray:
    """Residual of a cycle after the first orders, fitted by least absolute deviations (reweighted)."""
    angle = 2 * np.pi / wave.size * np.arange(wave.size)
    orders = np.arange(1, min(_ORDERS, int(0.2 * wave.size)) + 1)
    basis = np.column_stack([np.ones(wave.size), np.cos(np.outer(angle, orders)), np.sin(np.outer(angle, orders))])
    rest = wave
    weight = np.ones(wave.size)
    for _ in range(_ROUNDS):
        weighted = basis * weight[:, None]
        rest = wave - basis @ np.linalg.solve(weighted.T @ basis, weighted.T @ wave)
        weight = 1 / np.maximum(np.abs(rest), 1e-3)
        if np.abs(rest).max() < minimum / 2:
            break
    return rest


def _jumps_of_notches(wave: FloatArray) -> FloatArray:
    """Largest jump about each sample above order 25, relative to that of a true step; none if a few lines make it."""
    lines = np.fft.rfft(wave)
    lines[: _SLOW + 1] = 0.0
    size = np.abs(lines)
    if np.count_nonzero(size > _PRESENT * size.max()) < _LINES:
        return np.zeros(wave.size)
    fast = np.fft.irfft(lines, wave.size)
    jump = np.abs(np.roll(fast, -1) - fast)
    largest: FloatArray = np.max([np.roll(jump, -k) for k in (-1, 0, 1)], axis=0)
    return largest / (1 - 2 * _SLOW / wave.size)


def _notch_depth(wave: FloatArray, i: int, j: int, jump: float) -> float:
    """How far the samples between two jumps lie off the line between their outer ends; the `jump` if there are none."""
    inner = np.arange(i + 2, j)
    if not inner.size:
        return jump
    left, right = wave[i - 1], wave[(j + 2) % wave.size]
    line = left + (right - left) * (inner - i + 1) / (j - i + 3)
    return float(abs(np.median(wave[inner % wave.size] - line)))


def _notch_peaks(height: FloatArray, minimum: float) -> list[int]:
    top = np.max([np.roll(height, -k) for k in range(-2, 3)], axis=0)
    places: list[int] = np.flatnonzero((height > minimum) & (height >= top)).tolist()
    return [place for k, place in enumerate(places) if k == 0 or place - places[k - 1] > 1]


def _thd_without_notches(wave: FloatArray, notches: list[tuple[int, int, float]]) -> float:
    """THD of the shape with a straight line in place of each notch."""
    n = wave.size
    keep = np.ones(n, dtype=bool)
    for first, last, _ in notches:
        keep[np.arange(first - 1, last + 3) % n] = False
    x = np.flatnonzero(keep)
    if x.size < n // 2:
        return 0.0
    lines = np.abs(np.fft.rfft(np.interp(np.arange(n), np.concatenate([x - n, x, x + n]), np.tile(wave[x], 3))))
    return float(np.sqrt(np.sum(lines[2:51] ** 2)) / lines[1]) if lines[1] > 0 else 0.0
