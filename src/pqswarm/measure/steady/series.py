"""Steady quantities through a recording."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker
from pqswarm.measure.steady.modulation import measure_modulation
from pqswarm.measure.steady.unbalance import measure_unbalance
from pqswarm.measure.steady.windows import WindowValues
from pqswarm.recordings.recording import ChannelHeader

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

    def part_on(self, i: int) -> ChannelEventMaker:
        """Return a function that makes parts on channel `i`."""
        one = self.channels[i]
        return partial(ChannelEvent, number=self.numbers[i], channel=one.name, phase=one.phase, system=self.systems[i])

    @property
    def samples_per_cycle(self) -> float:
        """Samples per nominal cycle."""
        return self.sampling_rate / self.nominal_frequency

    @property
    def intervals(self) -> IntArray:
        """The ten minutes to which each window belongs, from the first sample."""
        return steady_series_interval(self.edges[:-1])

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


def steady_series_interval(start: FloatArray) -> IntArray:
    """Number of the ten minutes in which each time [s] lies."""
    return np.floor(start / INTERVAL + 1e-9).astype(np.int64)


def build_series(
    channels: Sequence[ChannelHeader],
    systems: Sequence[str],
    numbers: Sequence[int],
    sampling_rate: float,
    nominal_frequency: float,
    cycles: int,
    orders: int,
    edges: FloatArray,
    windows: Sequence[WindowValues],
    sensation: FloatArray,
    severity: FloatArray,
) -> SteadySeries:
    """Put together what was measured in pieces."""
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
        sampling_rate=sampling_rate,
        nominal_frequency=nominal_frequency,
        cycles=cycles,
        edges=edges,
        frequency=np.concatenate([np.empty(0), *(one.frequency for one in windows)]),
        rms=together("rms"),
        fundamental=np.abs(phasor),
        harmonics=together("harmonics", orders - 1),
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
