"""Steady quantities through a recording: what is measured in each window of 10 or 12 cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import ChannelEvent
from pqswarm.measure.steady.flicker import measure_modulation
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
        return interval_of(self.edges[:-1])

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


def interval_of(start: FloatArray) -> IntArray:
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
