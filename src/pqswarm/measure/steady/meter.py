"""Steady quantities of voltages that arrive in blocks."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.steady.flicker import Flickermeter, short_term_severity
from pqswarm.measure.steady.series import (
    INTERVAL,
    SteadySeries,
    WindowMeter,
    WindowValues,
    build_series,
    highest_order,
    interval_of,
)
from pqswarm.recordings.recording import ChannelHeader

_WINDOWS = 15
"""Measured at once; 15 windows are the 150 or 180 cycles of IEC 61000-4-30."""
_RANGE = 0.1
"""Maximum relative departure from the given frequency."""
_ENOUGH = 3
"""Windows that set the frequency anew: a phase jump in one window does not count."""
_NEARLY = 0.95
"""Fraction of an interval that must be known for its Pst."""
_FLICKER_RATE = 400.0
_ABSURD = 1e100
"""No voltage [V]; its square would overflow."""


class SteadyMeter:
    """Measure harmonics, unbalance, flicker and more in windows of 10 or 12 cycles.

    Windows follow each other without gap; their length follows the frequency of the samples themselves, within half a
    sample, and is set anew every 15 windows. Results are the same, bit for bit, whatever the sizes of the blocks; no
    more than about 3.5 s of samples are kept.

    Parameters
    ----------
    sampling_rate : float
        Samples per second, at least four per cycle [Hz].
    nominal_frequency : float
        Of the grid [Hz]: 10 cycles make a window at 50 Hz, 12 at 60 Hz.
    frequency : float
        Measured at the beginning [Hz]; it may depart from this by 10 %.
    channels : sequence of ChannelHeader
        Name and phase of each channel.
    systems : sequence of str, default=None
        Name of the group of phases to which each channel belongs; by default all belong together.
    numbers : sequence of int, default=None
        Index of each channel in the recording; by default 0, 1, 2, ...
    min_notch : float, default=0.05
        Minimum depth of a notch [fraction of the peak].

    Examples
    --------
    >>> t = np.arange(20_000) / 10_000
    >>> u = 325 * np.sin(2 * np.pi * 50 * t + np.array([[0.0], [-2.0944], [2.0944]]))
    >>> u[0] += 16.25 * np.sin(2 * np.pi * 250 * t)
    >>> meter = SteadyMeter(10_000, 50, 50.0, [ChannelHeader(f"U{p}", "V", p) for p in "ABC"])
    >>> meter.feed(u[:, :7000])
    >>> meter.feed(u[:, 7000:])
    >>> series = meter.finish()
    >>> series.n_windows, series.thd[:, 0].round(3).tolist(), round(float(series.unbalance[0, 0]), 4)
    (10, [0.05, 0.0, 0.0], 0.0)
    """

    def __init__(
        self,
        sampling_rate: float,
        nominal_frequency: float,
        frequency: float,
        channels: Sequence[ChannelHeader],
        *,
        systems: Sequence[str] | None = None,
        numbers: Sequence[int] | None = None,
        min_notch: float = 0.05,
    ) -> None:
        if not channels:
            raise PqswarmError("channels must name at least one channel.")
        if systems is not None and len(systems) != len(channels):
            raise PqswarmError(f"systems must name one group for each of {len(channels)} channels, not {len(systems)}.")
        if not (
            nominal_frequency > 0 and frequency > 0 and sampling_rate >= max(4 * nominal_frequency, 3.9 * frequency)
        ):
            raise PqswarmError(
                f"steady quantities need at least 4 samples per cycle, not {sampling_rate:g} Hz for {frequency:g} Hz."
            )
        cycles = max(round(nominal_frequency / 5), 1)
        self._nominal = float(nominal_frequency)
        self._bounds = (frequency * (1 - _RANGE), frequency * (1 + _RANGE))
        orders = highest_order(sampling_rate, frequency, int(cycles * sampling_rate / self._bounds[1]), cycles)
        self._meter = WindowMeter(float(sampling_rate), float(frequency), cycles, orders, min_notch)
        self._channels = tuple(ChannelHeader(one.name, one.unit, one.phase) for one in channels)
        self._systems = tuple(systems) if systems is not None else ("",) * len(channels)
        self._numbers = tuple(numbers) if numbers is not None else tuple(range(len(channels)))
        self._most = _WINDOWS * (int(cycles * sampling_rate / self._bounds[0]) + 1)
        self._buffer = np.empty((len(channels), 0))
        self._filled = 0
        self._position = 0
        self._windows: list[WindowValues] = []
        self._starts: list[AnyArray] = []
        self._flicker = _FlickerLog(sampling_rate, nominal_frequency, frequency, len(channels))

    def feed(self, volts: FloatArray) -> None:
        """Measure the next samples.

        Parameters
        ----------
        volts : ndarray of shape (n_channels, n_samples)
            Voltages [V]; NaN where they are not known.
        """
        volts = np.asarray(volts, dtype=np.float64)
        if volts.ndim != 2 or volts.shape[0] != len(self._channels):
            raise PqswarmError(f"volts must have the shape ({len(self._channels)}, n_samples), not {volts.shape}.")
        done = 0
        while done < volts.shape[1]:
            more = min(volts.shape[1] - done, self._most - self._filled)
            self._make_room(self._filled + more)
            self._buffer[:, self._filled : self._filled + more] = volts[:, done : done + more]
            self._filled += more
            done += more
            if self._filled == self._most:
                self._measure(_WINDOWS)

    def _make_room(self, size: int) -> None:
        """Grow the buffer to `size` samples: a short recording at a high rate needs no memory for whole windows."""
        if size > self._buffer.shape[1]:
            larger = np.empty((len(self._channels), min(max(size, 2 * self._buffer.shape[1]), self._most)))
            larger[:, : self._filled] = self._buffer[:, : self._filled]
            self._buffer = larger

    def finish(self) -> SteadySeries:
        """Measure the remaining windows and return the series; samples after the last whole window are dropped."""
        while (left := self._filled // self._meter.length) > 0:
            self._measure(min(left, _WINDOWS))
        sensation, severity = self._flicker.finish()
        return build_series(
            self._channels,
            self._systems,
            self._numbers,
            self._nominal,
            self._meter,
            np.concatenate([*self._starts, [self._position]]) / self._meter.sampling_rate,
            self._windows,
            sensation,
            severity,
        )

    def _measure(self, n_windows: int) -> None:
        """Measure `n_windows` windows at the start of the buffer, or one less if the frequency turns out lower."""
        volts = self._buffer[:, : self._filled]
        known = np.abs(volts) < _ABSURD  # not NaN either
        samples = np.where(known, volts, 0.0)
        length = self._meter.length
        self._follow(samples, known, n_windows)
        if self._meter.length != length:  # measured once more with the better window
            self._follow(samples, known, n_windows)
            length = self._meter.length
        n_windows = min(n_windows, self._filled // length)
        if not n_windows:
            self._filled = 0
            return
        used = n_windows * length
        good: BoolArray = np.all(known[:, :used].reshape(known.shape[0], n_windows, length), axis=-1)
        self._windows.append(self._meter.measure(samples, good))
        starts = self._position + np.arange(n_windows) * length
        intervals = interval_of(starts / self._meter.sampling_rate)
        self._flicker.feed(np.where(known, volts, np.nan)[:, :used], good, intervals)
        self._starts.append(starts)
        self._position += used
        self._buffer[:, : self._filled - used] = self._buffer[:, used : self._filled].copy()
        self._filled -= used

    def _follow(self, samples: FloatArray, known: BoolArray, n_windows: int) -> None:
        """Set the frequency to that of these windows, if they have one."""
        length = self._meter.length
        n_windows = min(n_windows, self._filled // length)
        table = samples[:, : n_windows * length].reshape(samples.shape[0], n_windows, length)
        good = known[:, : n_windows * length].reshape(table.shape).all(axis=-1)
        first, second = self._meter.phasors(table)
        live = good & (np.abs(first + second) > 0.5 * np.sqrt(np.einsum("cwi,cwi->cw", table, table) / length))
        deviation = self._meter.deviation(first, second, live)
        if np.isfinite(deviation).sum() >= _ENOUGH:
            measured = self._meter.frequency + float(np.nanmedian(deviation))
            if self._bounds[0] < measured < self._bounds[1]:
                self._meter = replace(self._meter, frequency=measured)


class _FlickerLog:
    """Flicker sensation of each window, and the severity of each interval of ten minutes."""

    def __init__(self, rate: float, nominal: float, frequency: float, n_channels: int) -> None:
        enough = rate >= _FLICKER_RATE
        self._meter = Flickermeter(rate, nominal, n_channels, frequency=frequency) if enough else None
        self._n_channels = n_channels
        self._windows: list[FloatArray] = []
        self._interval: list[FloatArray] = []
        self._severities: list[list[float]] = []

    def feed(self, volts: FloatArray, good: BoolArray, intervals: IntArray) -> None:
        """Log some windows; `good` (channels, windows) says which are known, `intervals` to which ten minutes."""
        values = np.empty((good.shape[0], 0)) if self._meter is None else self._meter.feed(volts)
        if not values.shape[1]:
            self._windows.append(np.full(good.shape, np.nan))
            return
        # Values are assigned to windows in proportion to time.
        owner = np.arange(values.shape[1]) * good.shape[1] // values.shape[1]
        values = np.where(good[:, owner], values, np.nan)
        bounds = np.searchsorted(owner, np.arange(good.shape[1]))
        self._windows.append(np.where(good, np.fmax.reduceat(values, bounds, axis=1), np.nan))
        for interval in np.unique(intervals):
            while len(self._severities) < interval:
                self._close()
            self._interval.append(values[:, intervals[owner] == interval])

    def _close(self) -> None:
        """Take the severity of the interval that is over; NaN where too few values are known."""
        table = np.concatenate(self._interval, axis=1)
        rate = self._meter.output_rate if self._meter else 0.0
        enough = np.isfinite(table).sum(axis=1) >= _NEARLY * INTERVAL * rate
        self._severities.append(
            [short_term_severity(row) if yes else float("nan") for row, yes in zip(table, enough, strict=True)]
        )
        self._interval = []

    def finish(self) -> tuple[FloatArray, FloatArray]:
        """Maximum sensation (channels, windows) of each window; severity (channels, intervals)."""
        if self._interval:
            self._close()
        nothing = np.empty((self._n_channels, 0))
        sensation = np.concatenate(self._windows, axis=1) if self._windows else nothing
        return sensation, np.array(self._severities).T if self._severities else nothing
