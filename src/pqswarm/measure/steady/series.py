"""Steady quantities through a recording: what is measured in each window of 10 or 12 cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import ChannelEvent
from pqswarm.measure.steady.flicker import Flickermeter, measure_modulation, short_term_severity
from pqswarm.measure.steady.notching import measure_notches
from pqswarm.measure.steady.unbalance import measure_unbalance
from pqswarm.recordings.recording import ChannelHeader

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


@dataclass(frozen=True)
class WindowMeter:
    """Measures windows of some cycles of a frequency [Hz], with harmonics up to an order.

    `min_notch` is the minimum depth of a notch [fraction of the peak].
    """

    sampling_rate: float
    frequency: float
    cycles: int
    orders: int
    min_notch: float

    @property
    def length(self) -> int:
        """Samples of a window."""
        return round(self.cycles * self.sampling_rate / self.frequency)

    def _angle(self, n: int) -> FloatArray:
        """Angle of the fundamental at each of `n` samples."""
        return np.asarray(2 * np.pi * self.frequency / self.sampling_rate * np.arange(n))

    def phasors(self, table: FloatArray) -> tuple[AnyArray, AnyArray]:
        """Complex RMS of the fundamental in the first and second half of each window (channels, windows, n)."""
        half = table.shape[-1] // 2
        basis = np.exp(-1j * self._angle(table.shape[-1])) * (np.sqrt(2) / half)
        # Not by matrix product: threads cost more here than they bring.
        first, second = (
            np.einsum("cwi,i->cw", table[..., piece], basis.real[piece])
            + 1j * np.einsum("cwi,i->cw", table[..., piece], basis.imag[piece])
            for piece in (slice(0, half), slice(table.shape[-1] - half, None))
        )
        return first, second

    def deviation(self, first: AnyArray, second: AnyArray, good: BoolArray) -> FloatArray:
        """Deviation of the frequency [Hz] in each window, from :meth:`phasors`; NaN where no channel is good."""
        seconds = (self.length - self.length // 2) / self.sampling_rate
        together = np.sum(np.where(good, second * np.conj(first), 0.0), axis=0)
        return np.where(together != 0, np.angle(together) / (2 * np.pi * seconds), np.nan)

    def half_cycle_squares(self, samples: FloatArray, n_windows: int) -> FloatArray:
        """Mean square of each half cycle (channels, windows, 2 x cycles), of the broken line through the squares."""
        n_halves = 2 * self.cycles
        square = np.pad(samples[:, : n_windows * self.length] ** 2, ((0, 0), (1, 1)), mode="edge")
        integral = np.zeros_like(square)
        np.cumsum((square[:, 1:] + square[:, :-1]) / 2, axis=1, out=integral[:, 1:])
        # Sample i covers the time from i - 1/2 to i + 1/2; the padding shifts it by one.
        places = 0.5 + np.arange(n_windows * n_halves + 1) * (self.length / n_halves)
        index = np.minimum(places.astype(np.int64), square.shape[1] - 2)
        part = places - index
        at = integral[:, index] + part * square[:, index] + part**2 / 2 * (square[:, index + 1] - square[:, index])
        means: FloatArray = np.maximum(np.diff(at, axis=1), 0.0) * (n_halves / self.length)
        return means.reshape(samples.shape[0], n_windows, n_halves)

    def measure(self, samples: FloatArray, good: BoolArray) -> WindowValues:
        """Measure windows; `samples` [V] have no NaN, `good` (channels, windows) marks the complete."""
        n_channels, n_windows = good.shape
        length = self.length
        table = np.ascontiguousarray(samples[:, : n_windows * length]).reshape(n_channels, n_windows, length)
        rms = np.sqrt(np.einsum("cwi,cwi->cw", table, table) / length)
        first, second = self.phasors(table)
        phasor = (first + second) / 2
        size = np.abs(phasor)
        live = good & (size > np.maximum(_MIN_LIVE * rms, _NOTHING))
        # The fundamental is taken out before the transform: a window is never exactly a whole number of cycles.
        angle = self._angle(length)
        rest = table - np.sqrt(2) * (phasor.real[..., None] * np.cos(angle) - phasor.imag[..., None] * np.sin(angle))
        lines = np.fft.rfft(rest, axis=-1) * (np.sqrt(2) / length)
        power = lines.real**2 + lines.imag**2
        with np.errstate(divide="ignore", invalid="ignore"):
            per_fundamental = 1 / np.where(live, size, np.nan)
            # Harmonic subgroups of IEC 61000-4-7: the line and its two neighbors.
            middle = np.arange(2, self.orders + 1) * self.cycles
            groups = power[..., middle - 1] + power[..., middle] + power[..., middle + 1]
            harmonics = np.sqrt(groups) * per_fundamental[..., None]
            # Lines midway between the harmonics; the median of an exponential distribution is ln 2 of its mean.
            between = power[..., self.cycles // 2 + self.cycles :: self.cycles]
            noise = np.sqrt(np.median(between, axis=-1) / np.log(2) * (length / 2)) * per_fundamental
        thd = np.sqrt(np.sum(harmonics**2, axis=-1))
        # The shape common to all cycles of the window: the harmonics alone.
        common = lines[..., :: self.cycles] * (length / np.sqrt(2))
        common[..., 1] += phasor * (length / np.sqrt(2))
        depth, count, smooth = measure_notches(
            common, length // self.cycles, length, np.where(live, size, 0.0), thd, self.min_notch
        )
        squares = self.half_cycle_squares(samples, n_windows)
        for values in (rms, thd, smooth, noise, depth, count, squares):
            values[~good] = np.nan
        return WindowValues(
            frequency=self.frequency + self.deviation(first, second, live),
            phasor=np.where(good, phasor, np.nan),
            rms=rms,
            harmonics=harmonics.astype(np.float32),
            thd=thd,
            smooth_thd=smooth,
            dc=np.where(good, lines[..., 0].real / np.sqrt(2), np.nan),
            notch_depth=depth,
            notches=count,
            noise=noise,
            squares=squares,
        )


def highest_order(sampling_rate: float, frequency: float, shortest: int, cycles: int) -> int:
    """Highest order of harmonics that the rate and the `shortest` window [samples] allow, at most 50."""
    return max(min(_MAX_ORDERS, int(0.45 * sampling_rate / frequency), (shortest // 2 - 1) // cycles), 1)


INTERVAL = 600.0
"""Seconds of a value of Pst."""


@dataclass(frozen=True, eq=False)
class SteadySeries:
    """Steady quantities of a recording in windows of 10 or 12 cycles.

    Fractions are relative to the fundamental of the window; 0.05 is 5 %. Values of windows with missing samples are
    NaN. The first axis are channels (or systems), the second windows.

    Attributes
    ----------
    channels : tuple of ChannelHeader
        What was measured.
    systems : tuple of str
        Name of the group of phases of each channel.
    numbers : tuple of int
        Index of each channel in the recording.
    groups : tuple of tuple of int
        The three channels of each three-phase system, in the order of the phases.
    sampling_rate : float
        Samples per second [Hz].
    nominal_frequency : float
        Of the grid [Hz].
    cycles : int
        Of a window.
    edges : ndarray of shape (n_windows + 1,)
        Boundaries of the windows, from the first sample [s].
    frequency : ndarray of shape (n_windows,)
        Of the fundamental, over the window [Hz].
    rms, fundamental : ndarray of shape (n_channels, n_windows)
        RMS of everything and of the fundamental [V].
    harmonics : ndarray of shape (n_channels, n_windows, n_orders - 1)
        Harmonic subgroups of IEC 61000-4-7 of the orders 2, 3, ... at most 50 [fraction],
        in single precision.
    thd : ndarray of shape (n_channels, n_windows)
        Total harmonic distortion of these subgroups [fraction].
    thd_without_notches : ndarray of shape (n_channels, n_windows)
        The same, after notches were filled by straight lines [fraction].
    dc : ndarray of shape (n_channels, n_windows)
        Direct component [V].
    notch_depth, notches : ndarray of shape (n_channels, n_windows)
        Depth of the deepest notch common to all cycles of the window [fraction of the peak], and notches per cycle.
        NaN below 60 samples per cycle.
    noise : ndarray of shape (n_channels, n_windows)
        RMS of what lies between the harmonics, as if it were white [fraction].
    modulation : ndarray of shape (n_channels, n_windows)
        Amplitude of the variation of Urms(1/2) about its mean of two windows [fraction].
    sensation : ndarray of shape (n_channels, n_windows)
        Maximum instantaneous flicker sensation Pinst.
    urms : ndarray of shape (n_channels, n_windows * 2 * cycles)
        Urms(1/2) at each half cycle [V]; the last one spans half a cycle.
    unbalance, zero_sequence : ndarray of shape (n_systems, n_windows)
        Negative and zero over positive sequence of each of `groups` [fraction]; no zero sequence line to line.
    severity : ndarray of shape (n_channels, n_intervals)
        Short-term flicker severity Pst of each ten minutes; NaN if less than 95 % of the interval is known.
    """

    channels: tuple[ChannelHeader, ...]
    systems: tuple[str, ...]
    numbers: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    sampling_rate: float
    nominal_frequency: float
    cycles: int
    edges: FloatArray
    frequency: FloatArray
    rms: FloatArray
    fundamental: FloatArray
    harmonics: AnyArray
    thd: FloatArray
    thd_without_notches: FloatArray
    dc: FloatArray
    notch_depth: FloatArray
    notches: FloatArray
    noise: FloatArray
    modulation: FloatArray
    sensation: FloatArray
    urms: AnyArray
    unbalance: FloatArray
    zero_sequence: FloatArray
    severity: FloatArray

    @property
    def n_windows(self) -> int:
        """Number of windows."""
        return self.edges.size - 1

    def part(
        self, i: int, first: int, stop: int, event_type: str, magnitude: float, details: Mapping[str, float]
    ) -> ChannelEvent:
        """Make the part on channel `i` of the windows from `first` to before `stop`."""
        header = self.channels[i]
        start, end = float(self.edges[first]), float(self.edges[stop])
        return ChannelEvent(
            number=self.numbers[i],
            channel=header.name,
            phase=header.phase,
            type=event_type,
            magnitude=magnitude,
            start=start,
            end=end,
            duration=end - start,
            category=event_type,
            system=self.systems[i],
            cut_start=first == 0,
            cut_end=stop == self.n_windows,
            details=details,
        )

    @property
    def samples_per_cycle(self) -> float:
        """Samples per nominal cycle."""
        return self.sampling_rate / self.nominal_frequency

    @property
    def intervals(self) -> IntArray:
        """The ten minutes to which each window belongs, from the first sample."""
        return ten_minutes_of(self.edges[:-1])

    def quiet_windows(self, quiet: BoolArray | Sequence[tuple[float, float]]) -> BoolArray:
        """Mark the windows that have a part in certain times.

        Parameters
        ----------
        quiet : ndarray of bool of shape (n_windows,), or sequence of (start, end)
            Marks themselves, or times from the first sample [s].

        Returns
        -------
        ndarray of bool of shape (n_windows,)
            The marks.
        """
        if isinstance(quiet, np.ndarray) and quiet.dtype == bool:
            if quiet.shape != (self.n_windows,):
                raise PqswarmError(f"quiet must have a value for each of {self.n_windows} windows, not {quiet.shape}.")
            return quiet
        marked = np.zeros(self.n_windows, dtype=bool)
        for start, end in quiet:
            marked |= (self.edges[:-1] <= end) & (self.edges[1:] >= start)
        return marked


def ten_minutes_of(start: FloatArray) -> IntArray:
    """Number of the ten minutes in which each time [s] lies."""
    return np.floor(start / INTERVAL + 1e-9).astype(np.int64)


def build_series(
    channels: Sequence[ChannelHeader],
    systems: Sequence[str],
    numbers: Sequence[int],
    nominal_frequency: float,
    meter: WindowMeter,
    edges: FloatArray,
    windows: Sequence[WindowValues],
    sensation: FloatArray,
    severity: FloatArray,
) -> SteadySeries:
    """Put together what was measured in pieces."""
    cycles = meter.cycles
    n_channels = len(channels)

    def together(name: str, *shape: int) -> AnyArray:
        pieces = [getattr(one, name) for one in windows]
        return np.concatenate(pieces, axis=1) if pieces else np.empty((n_channels, 0, *shape))

    phasor = together("phasor")
    squares = together("squares", 2 * cycles).reshape(n_channels, -1)
    # Each value spans its half cycle and the next.
    following = np.concatenate([squares[:, 1:], squares[:, -1:]], axis=1)
    urms = np.sqrt((squares + following) / 2)
    groups, negative, zero = measure_unbalance(channels, systems, phasor)
    return SteadySeries(
        channels=tuple(channels),
        systems=tuple(systems),
        numbers=tuple(numbers),
        groups=groups,
        sampling_rate=meter.sampling_rate,
        nominal_frequency=nominal_frequency,
        cycles=cycles,
        edges=edges,
        frequency=np.concatenate([np.empty(0), *(one.frequency for one in windows)]),
        rms=together("rms"),
        fundamental=np.abs(phasor),
        harmonics=together("harmonics", meter.orders - 1),
        thd=together("thd"),
        thd_without_notches=together("smooth_thd"),
        dc=together("dc"),
        notch_depth=together("notch_depth"),
        notches=together("notches"),
        noise=together("noise"),
        modulation=measure_modulation(urms, cycles),
        sensation=sensation,
        urms=urms,
        unbalance=negative,
        zero_sequence=zero,
        severity=severity,
    )


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
        intervals = ten_minutes_of(starts / self._meter.sampling_rate)
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
