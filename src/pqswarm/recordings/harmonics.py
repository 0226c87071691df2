"""The steady state: harmonics, offset, notches and flicker."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pqswarm._typing import BoolArray, FloatArray

__all__ = ["Spectrum", "count_notches", "find_flicker", "measure_spectrum"]

_MOST_ORDERS = 50
_MOST_SAMPLES = 20_000
_NOTCH_SAMPLES = 100
_NOTCH_WIDTH = 0.08
_STEADY = 0.03
"""Greatest variation of the RMS in a steady stretch."""
_FLICKER_BAND = (1.0, 25.0)


@dataclass(frozen=True)
class Spectrum:
    """Harmonics of one channel on its steadiest cycles.

    Attributes
    ----------
    fundamental : float
        RMS of the fundamental [V].
    harmonics : tuple of float
        Amplitude of the orders 2, 3, ... over that of the fundamental.
    thd : float
        Total harmonic distortion: root of the sum of their squares.
    dc : float
        Direct component [V].
    start, cycles : float
        Where the cycles begin [s], and how many they are.
    """

    fundamental: float
    harmonics: tuple[float, ...]
    thd: float
    dc: float
    start: float
    cycles: int

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return {**asdict(self), "harmonics": list(self.harmonics)}


def measure_spectrum(
    signal: FloatArray, sampling_rate: float, frequency: float, steadiness: FloatArray, places: FloatArray
) -> Spectrum | None:
    """Measure harmonics on whole cycles, where the RMS is steadiest.

    Of three cycles and more the spectrum is taken at the very multiples of the fundamental under a Hann window, of
    fewer the sines of all orders are fitted by least squares: neither needs a whole number of samples per cycle.

    Parameters
    ----------
    signal : ndarray of shape (n_samples,)
        Voltage [V], without NaN.
    sampling_rate, frequency : float
        Samples per second and measured fundamental [Hz].
    steadiness : ndarray of shape (n_windows,)
        Urms(1/2) [V]: ten cycles (or as many as there are) in which it varies least, and by no more than 3 %.
    places : ndarray of shape (n_windows,)
        Centres of its windows [s].

    Returns
    -------
    Spectrum or None
        None if there is no live, steady cycle.

    Examples
    --------
    >>> t = np.arange(5000) / 10_000
    >>> u = np.sqrt(2) * 230 * (np.sin(2 * np.pi * 50 * t) + 0.06 * np.sin(2 * np.pi * 250 * t)) + 3
    >>> found = measure_spectrum(u, 10_000, 50.0, np.full(48, 230.0), 0.01 + np.arange(48) / 100)
    >>> round(found.fundamental), round(found.thd, 3), round(found.harmonics[3], 3), round(found.dc, 2)
    (230, 0.06, 0.06, 3.0)
    """
    cycle = sampling_rate / frequency
    orders = min(_MOST_ORDERS, int(0.45 * cycle))
    live = np.isfinite(steadiness) & (steadiness > 0.5 * np.nanmax(steadiness, initial=0.0))
    if not live.any() or orders < 1:
        return None
    best, cycles = _steadiest(steadiness, live, int(np.clip(_MOST_SAMPLES // cycle, 1, 10)))
    if best < 0:
        return None
    start = max(round((places[best] - 0.5 / frequency) * sampling_rate), 0)
    piece = signal[start : start + round(cycles * cycle)]
    direct, sizes = _harmonics(piece, cycle, orders, cycles)
    if sizes[0] < 0.3 * np.sqrt(2) * float(np.nanmax(steadiness)):
        return None
    relative = sizes[1:] / sizes[0]
    return Spectrum(
        fundamental=float(sizes[0] / np.sqrt(2)),
        harmonics=tuple(relative.tolist()),
        thd=float(np.sqrt(np.sum(relative**2))),
        dc=direct,
        start=start / sampling_rate,
        cycles=cycles,
    )


def _steadiest(values: FloatArray, live: BoolArray, most: int) -> tuple[int, int]:
    """First value and number of cycles of the steadiest stretch, as long as it can be; (-1, 0) if there is none."""
    for cycles in (*range(most, 1, -1), 1):
        n_values = 2 * cycles - 1 if cycles > 1 else min(2, values.size)
        if n_values > values.size:
            continue
        table = np.lib.stride_tricks.sliding_window_view(np.where(live, values, np.nan), n_values)
        spread = table.max(axis=1) - table.min(axis=1)
        good = spread < _STEADY * table.max(axis=1)
        if good.any():
            return int(np.flatnonzero(good)[spread[good].argmin()]), cycles
    return -1, 0


def _harmonics(piece: FloatArray, cycle: float, orders: int, cycles: int) -> tuple[float, FloatArray]:
    """Direct component and amplitudes of the orders 1, 2, ... of some whole cycles."""
    angle = 2 * np.pi / cycle * np.arange(piece.size)
    if cycles >= 3:
        window = np.hanning(piece.size + 1)[:-1]
        window /= window.sum()
        step = np.exp(-1j * angle)
        turned = window * piece * step
        sizes = np.empty(orders)
        for k in range(orders):
            sizes[k] = 2 * np.abs(turned.sum())
            turned *= step
        return float(np.sum(window * piece)), sizes
    basis = np.empty((piece.size, 2 * orders + 1))
    basis[:, 0] = 1.0
    for k in range(1, orders + 1):
        basis[:, 2 * k - 1], basis[:, 2 * k] = np.cos(k * angle), np.sin(k * angle)
    fit, *_ = np.linalg.lstsq(basis, piece, rcond=None)
    return float(fit[0]), np.hypot(fit[1::2], fit[2::2])


def count_notches(
    signal: FloatArray, sampling_rate: float, frequency: float, start: float, cycles: int, *, least: float = 0.05
) -> int | None:
    """Count the notches per cycle: two jumps of opposite sign, close together, at the same place in every cycle.

    Parameters
    ----------
    signal : ndarray of shape (n_samples,)
        Voltage [pu of the reference's peak], without NaN.
    sampling_rate, frequency : float
        [Hz].
    start : float
        First of the steady cycles [s].
    cycles : int
        How many.
    least : float
        Least jump [pu].

    Returns
    -------
    int or None
        None if it cannot be told: below 100 samples per cycle, or from less than three cycles.

    Examples
    --------
    >>> t = np.arange(5000) / 25_000
    >>> u = np.sin(2 * np.pi * 50 * t)
    >>> notched = u - 0.2 * np.sign(u) * ((t * 100 + 0.3) % 1 < 0.05)
    >>> count_notches(u, 25_000, 50.0, 0.0, 10), count_notches(notched, 25_000, 50.0, 0.0, 10)
    (0, 2)
    """
    cycle = sampling_rate / frequency
    if cycle < _NOTCH_SAMPLES or cycles < 3:
        return None
    n = int(cycle)
    grid = np.arange(n) * cycle / n
    places = start * sampling_rate + np.arange(cycles)[:, None] * cycle + grid
    table = np.interp(places, np.arange(signal.size), signal)
    # The median over the cycles keeps what all of them have.
    wave = np.median(table, axis=0)
    jump = np.diff(wave, append=wave[0])
    around = np.stack([np.roll(jump, k) for k in (-4, -3, -2, 2, 3, 4)])
    sharp = jump - np.median(around, axis=0)
    # Interpolation may spread a jump over two samples.
    pair = sharp + np.roll(sharp, -1)
    tall = np.where(np.abs(pair) > np.abs(sharp), pair, sharp)
    noise = 1.4826 * float(np.median(np.abs(tall)))
    loud = np.abs(tall) > max(least, 8 * noise)
    top = np.max([np.roll(np.abs(tall), k) for k in range(-2, 3)], axis=0)
    peaks = np.flatnonzero(loud & (np.abs(tall) >= top)).tolist()
    notches, used = 0, -1
    for i, j in zip(peaks, [*peaks[1:], *(p + n for p in peaks[:1])], strict=True):
        if i == used or j - i > _NOTCH_WIDTH * n or tall[i] * tall[j % n] >= 0:
            continue
        used = j
        notches += 1
    return notches


def find_flicker(urms: FloatArray, frequency: float, *, least: float = 0.005) -> tuple[float, float] | None:
    """Find a slow sinusoidal modulation of the voltage.

    Parameters
    ----------
    urms : ndarray of shape (n_windows,)
        Urms(1/2) [pu], without sags, swells and interruptions.
    frequency : float
        Measured fundamental [Hz].
    least : float
        Least depth.

    Returns
    -------
    tuple of float or None
        Frequency [Hz] and depth (amplitude over mean), or None. At least one and a half periods must be seen, and
        the sine must explain 80 % of the variance.

    Examples
    --------
    >>> t = np.arange(60) / 100
    >>> rate, depth = find_flicker(1 + 0.04 * np.sin(2 * np.pi * 8 * t), 50.0)
    >>> round(rate, 1), bool(0.04 < depth < 0.05)
    (8.0, True)
    """
    if urms.size < 12 or not np.isfinite(urms).all() or urms.mean() <= 0:
        return None
    time = np.arange(urms.size) / (2 * frequency)
    lowest = max(_FLICKER_BAND[0], 1.5 / float(time[-1]))
    if lowest >= _FLICKER_BAND[1]:
        return None
    trend = np.column_stack([np.ones(urms.size), time - time.mean()])
    rest = urms / urms.mean()
    rest = rest - trend @ np.linalg.lstsq(trend, rest, rcond=None)[0]
    total = float(np.sum(rest**2))
    if total <= 0:
        return None
    step = 0.1 / float(time[-1])
    rates = np.arange(lowest, _FLICKER_BAND[1] * 1.02, step)
    best, rate, depth = 0.0, 0.0, 0.0
    for candidate in rates:
        angle = 2 * np.pi * candidate * time
        basis = np.column_stack([np.cos(angle), np.sin(angle), trend])
        fit, *_ = np.linalg.lstsq(basis, rest, rcond=None)
        share = 1.0 - float(np.sum((rest - basis @ fit) ** 2)) / total
        if share > best:
            best, rate, depth = share, float(candidate), float(np.hypot(fit[0], fit[1]))
    depth /= float(np.sinc(rate / frequency))  # the window of one cycle smooths it
    return (rate, depth) if best > 0.8 and depth >= least else None
