"""Flicker: slow variations of the half-cycle RMS."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.spans import Span, true_stretches
from pqswarm.measure.filters import (
    bilinear_section,
    butterworth_sections,
    filter_sections,
    response_at,
    steady_filter_state,
)
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
_FEWEST = 48
_TURNS = 5
_TOGETHER = 0.35  # tuned
_NO_CHANGE = 0.55  # tuned
"""Values of an irregular modulation, turns in them, correlation with a cycle later, of which noise has none, and
variance that a single change of the level leaves, at least."""
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
    return (rate, depth) if unexplained * total < _BETTER * _flicker_left_by_change(urms / urms.mean()) else None


def find_irregular_flicker(urms: FloatArray, frequency: float, *, minimum: float) -> tuple[float, float] | None:
    """Find an irregular modulation, as of an arc furnace, in Urms(1/2) [pu] without events: as :func:`find_flicker`.

    Its depth is the amplitude of a sine with its RMS, its frequency that of the strongest line.
    """
    if urms.size < _FEWEST or not np.isfinite(urms).all() or urms.mean() <= 0:
        return None
    relative = urms / urms.mean()
    time = np.arange(urms.size)
    rest = relative - np.polyval(np.polyfit(time, relative, 1), time)
    depth = float(np.sqrt(2) * rest.std())
    if depth < minimum:
        return None
    beyond = rest[np.abs(rest) > 0.5 * rest.std()]
    turns = np.count_nonzero(np.diff(np.sign(beyond)))
    together = float(np.sum(rest[2:] * rest[:-2]) / np.sum(rest**2))
    left = _flicker_left_by_change(relative) / float(np.sum((relative - 1) ** 2))
    is_irregular = turns >= _TURNS and together > _TOGETHER and left > _NO_CHANGE
    return (strongest_modulation(urms, 2 * frequency, frequency)[0], depth) if is_irregular else None


def _flicker_left_by_change(values: FloatArray) -> float:
    """Sum of squares about a level and one stretch at another, at best; values at its edges belong to neither."""
    n = values.size
    if n > 200:
        values = values[: n // (n // 100) * (n // 100)].reshape(-1, n // 100).mean(axis=1)
        return _flicker_left_by_change(values) * (n // 100)
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
    first, stop = max(true_stretches(calm), key=lambda pair: pair[1] - pair[0], default=(0, 0))
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
    return np.array([_flicker_modulation(row, 2 * cycles) for row in urms]).reshape(urms.shape[0], n_windows)


def _flicker_modulation(urms: FloatArray, per_window: int) -> FloatArray:
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
    return np.asarray(np.where(np.sum(seen, axis=-1) >= per_window - 1, np.sqrt(2 * mean_square), np.nan))


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


_MIN_RATE = 400.0
_LOWEST_RATE = 1200.0
"""Of the decimated square [Hz]."""
_OUTPUT_RATE = 100.0
"""Of the flicker sensation that is kept, at least [Hz]; the standard asks for 50 Hz."""
_LEVEL_SECONDS = 27.3
"""Time constant of the voltage adaptor (block 1): 10 to 90 % of a step in one minute."""
_SMOOTHING_SECONDS = 0.3
_SETTLING = 150
"""Cycles, repeated from the first ones, in which the filters settle before the meter begins."""


@dataclass(frozen=True)
class _FlickerLamp:
    """Weighting of lamp, eye and brain (block 3), and the modulation at 8.8 Hz that is just perceptible [%]."""

    k: float
    damping: float
    corners: tuple[float, float, float, float]
    perceptible: float


_LAMPS = {
    230: _FlickerLamp(1.74802, 4.05981, (9.15494, 2.27979, 1.22535, 21.9), 0.250),
    120: _FlickerLamp(1.6357, 4.167375, (9.077169, 2.939902, 1.394468, 17.31512), 0.321),
}


class Flickermeter:
    """Instantaneous flicker sensation of voltages that arrive in blocks, after IEC 61000-4-15.

    Block 1 relates the voltage to its own level of the last half minute, block 2 squares it, block 3 keeps 0.05 to
    35 Hz (42 Hz at 60 Hz) as lamp, eye and brain weight them, block 4 squares and smooths. Results do not depend on
    the sizes of the blocks.

    Parameters
    ----------
    sampling_rate : float
        Samples per second, at least 400 [Hz].
    nominal_frequency : float
        Of the grid [Hz]; above 55 Hz the filter of block 3 ends at 42 Hz.
    n_channels : int, default=1
        Voltages measured at once.
    lamp : {230, 120}, default=None
        Incandescent lamp of 230 V or 120 V; by default that of 120 V above 55 Hz.
    frequency : float, default=None
        Measured one, if it is known [Hz]: the meter settles on whole cycles at the start.

    Attributes
    ----------
    output_rate : float
        Values of the flicker sensation per second [Hz].

    References
    ----------
    IEC 61000-4-15:2010 (edition 2), clauses 4 and 5.

    Examples
    --------
    >>> t = np.arange(40_000) / 2000
    >>> u = 325 * np.sin(2 * np.pi * 50 * t) * (1 + 0.00125 * np.sin(2 * np.pi * 8.8 * t))
    >>> meter = Flickermeter(2000.0, 50.0)
    >>> sensation = meter.feed(u[None])
    >>> bool(abs(sensation[0, -1000:].max() - 1) < 0.02)
    True
    """

    def __init__(
        self,
        sampling_rate: float,
        nominal_frequency: float,
        n_channels: int = 1,
        *,
        lamp: int | None = None,
        frequency: float | None = None,
    ) -> None:
        if not sampling_rate >= _MIN_RATE:
            raise PqswarmError(f"a flickermeter needs at least {_MIN_RATE:g} samples per second, not {sampling_rate}.")
        if not sampling_rate >= 4 * nominal_frequency > 0:
            raise PqswarmError(
                f"a flickermeter needs four samples per cycle, not {sampling_rate:g} Hz for {nominal_frequency:g} Hz."
            )
        usual = 120 if nominal_frequency > 55 else 230
        chosen = usual if lamp is None else lamp
        if chosen not in _LAMPS:
            raise PqswarmError(f"lamp must be 230 or 120, not {lamp!r}.")
        self._step = max(int(sampling_rate / _LOWEST_RATE), 1)
        rate = sampling_rate / self._step
        self._every = max(int(rate / _OUTPUT_RATE), 1)
        self.output_rate = rate / self._every
        self._filters = _FlickerFilters(rate, nominal_frequency, _LAMPS[chosen], n_channels)
        self._cycle = max(round(sampling_rate / nominal_frequency), 1)
        # The whole cycles, of up to a second, that are nearest to a whole number of samples.
        cycles = np.arange(1, max(round(nominal_frequency), 1) + 1) * (sampling_rate / (frequency or nominal_frequency))
        self._first = round(float(cycles[np.argmin(np.abs(cycles - np.round(cycles)))]))
        self._waiting = np.empty((n_channels, 0))
        self._past: FloatArray | None = None
        self._sums: FloatArray | None = None
        self._skip = 0

    def feed(self, volts: FloatArray) -> FloatArray:
        """Measure the next samples.

        Parameters
        ----------
        volts : ndarray of shape (n_channels, n_samples)
            Voltages, in any unit; missing ones (NaN) are replaced by those of the cycle before.

        Returns
        -------
        ndarray of shape (n_channels, n_values)
            Instantaneous flicker sensation at `output_rate`: 1 is just perceptible.
        """
        if volts.ndim != 2 or volts.shape[0] != self._waiting.shape[0]:
            raise PqswarmError(f"volts must have the shape ({self._waiting.shape[0]}, n_samples), not {volts.shape}.")
        self._waiting = np.concatenate([self._waiting, self._fill(volts)], axis=1)
        if self._sums is None:
            if self._waiting.shape[1] < self._first:
                return np.empty((volts.shape[0], 0))
            begin = self._waiting[:, : self._first]
            self._filters.start(np.mean(begin**2, axis=1))
            settling = np.tile(begin, (1, _SETTLING * self._cycle // self._first + 1))
            self._measure(settling[:, settling.shape[1] % self._step :])
        whole = self._waiting.shape[1] // self._step * self._step
        values = self._measure(self._waiting[:, :whole])
        self._waiting = self._waiting[:, whole:]
        kept: FloatArray = values[:, self._skip :: self._every]
        self._skip = (self._skip - values.shape[1]) % self._every
        return kept

    def _fill(self, volts: FloatArray) -> FloatArray:
        """Replace what is missing by what was there a cycle before."""
        past = np.zeros((volts.shape[0], self._cycle)) if self._past is None else self._past
        table = np.concatenate([past, volts], axis=1)
        missing = ~np.isfinite(table)
        if missing.any():
            cycle = self._cycle
            for place in range(cycle, table.shape[1], cycle):
                now = table[:, place : place + cycle]
                before = table[:, place - cycle : place - cycle + now.shape[1]]
                np.copyto(now, before, where=missing[:, place : place + cycle])
        self._past = table[:, table.shape[1] - self._cycle :].copy()
        return table[:, self._cycle :]

    def _measure(self, volts: FloatArray) -> FloatArray:
        """Square, decimate by a triangular filter, and weight whole steps."""
        square = (volts**2).reshape(volts.shape[0], -1, self._step)
        total = square.sum(axis=-1)
        rising = np.einsum("cki,i->ck", square, np.arange(self._step) / self._step)
        sums = np.stack([total, rising])
        if self._sums is not None:
            sums = np.concatenate([self._sums, sums], axis=2)
        self._sums = sums[:, :, -1:]
        total, rising = sums
        return self._filters.run((rising[:, :-1] + total[:, 1:] - rising[:, 1:]) / self._step)


class _FlickerFilters:
    """Blocks 1, 3 and 4 on the decimated square, with their state."""

    def __init__(self, rate: float, nominal_frequency: float, lamp: _FlickerLamp, n_channels: int) -> None:
        self.weight, self.level, self.smooth, self.gain = _design_flicker_filters(rate, nominal_frequency, lamp)
        self._past = [steady_filter_state(one, np.zeros(n_channels)) for one in (self.level, self.weight, self.smooth)]

    def start(self, mean_square: FloatArray) -> None:
        """Begin as if the level had always been this; channels are the first axis."""
        self._past[0] = steady_filter_state(self.level, mean_square)
        self._past[1] = steady_filter_state(self.weight, np.ones(mean_square.size))

    def run(self, square: FloatArray) -> FloatArray:
        """Filter the next values of the square."""
        level, self._past[0] = filter_sections(self.level, square, self._past[0])
        relative = np.divide(square, level, out=np.ones_like(square), where=level > 0)
        weighted, self._past[1] = filter_sections(self.weight, relative, self._past[1])
        sensation, self._past[2] = filter_sections(self.smooth, weighted**2, self._past[2])
        return np.asarray(np.maximum(sensation, 0.0) * self.gain)


@lru_cache(maxsize=32)
def _design_flicker_filters(
    rate: float, nominal_frequency: float, lamp: _FlickerLamp
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Sections of weighting, level and smoothing, and the gain; their design costs more than a short recording."""
    w1, w2, w3, w4 = (2 * np.pi * corner for corner in lamp.corners)
    eye = bilinear_section((0.0, lamp.k * w1, 0.0), (1.0, 2 * 2 * np.pi * lamp.damping, w1**2), rate)
    brain = bilinear_section((0.0, 1 / w2, 1.0), (1 / (w3 * w4), 1 / w3 + 1 / w4, 1.0), rate)
    highest = 42.0 if nominal_frequency > 55 else 35.0
    band = [butterworth_sections(1, 0.05, rate, high=True), butterworth_sections(6, highest, rate)]
    weight = np.concatenate([*band, [eye, brain]])
    level, smooth = (
        bilinear_section((0.0, 0.0, 1.0), (0.0, seconds, 1.0), rate)[None]
        for seconds in (_LEVEL_SECONDS, _SMOOTHING_SECONDS)
    )
    # Scaled so that the just perceptible sine of 8.8 Hz reaches 1 at its peaks.
    through = response_at(weight, 8.8, rate) * lamp.perceptible / 100
    gain = 2 / (through**2 * (1 + response_at(smooth, 2 * 8.8, rate)))
    return weight, level, smooth, gain


def short_term_severity(sensation: FloatArray) -> float:
    """Flicker severity Pst of evenly spaced sensations, by the percentiles of IEC 61000-4-15 (block 5); without NaN."""
    known = sensation[np.isfinite(sensation)]
    if not known.size:
        return float("nan")
    # Percentiles of the exceeded level, some smoothed over their neighbors.
    groups = ((0.1,), (0.7, 1.0, 1.5), (2.2, 3.0, 4.0), (6.0, 8.0, 10.0, 13.0, 17.0), (30.0, 50.0, 80.0))
    levels = [float(np.mean(np.percentile(known, 100 - np.array(group)))) for group in groups]
    return float(np.sqrt(np.dot([0.0314, 0.0525, 0.0657, 0.28, 0.08], levels)))
