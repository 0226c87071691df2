"""Harmonics and offset, on the steadiest cycles."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray

_MAX_ORDERS = 50
_MAX_SAMPLES = 20_000
_STEADY = 0.03  # tuned
"""Maximum variation of the RMS in a steady stretch; up to three times that if noise alone varies it more."""


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
        Total harmonic distortion: root of the sum of their squares (IEC 61000-4-7).
    dc : float
        Direct component [V].
    start, cycles : float
        Start [s] and number of the cycles.
    noise_thd : float
        THD that noise alone has on average.
    """

    fundamental: float
    harmonics: tuple[float, ...]
    thd: float
    dc: float
    start: float
    cycles: int
    noise_thd: float = 0.0

    @property
    def thd_above_noise(self) -> float:
        """THD less what noise has on average: the distortion of the supply, for decisions about its class."""
        return float(np.sqrt(max(self.thd**2 - self.noise_thd**2, 0.0)))

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return {**asdict(self), "harmonics": list(self.harmonics)}


def measure_spectrum(
    signal: FloatArray, sampling_rate: float, frequency: float, steadiness: FloatArray, places: FloatArray
) -> Spectrum | None:
    """Measure harmonics on whole cycles, where the RMS is steadiest; None if there is no live, steady cycle.

    The signal [V] has no NaN. `steadiness` is Urms(1/2) [V] at `places` [s]: ten cycles (or as many as there are) are
    used in which it varies least, and by no more than 3 %. Of three cycles and more the spectrum is taken at the very
    multiples of the fundamental under a Hann window, of fewer the sines of all orders are fitted by least squares:
    neither needs an integer number of samples per cycle.
    """
    cycle = sampling_rate / frequency
    orders = min(_MAX_ORDERS, int(0.45 * cycle))
    live = np.isfinite(steadiness) & (steadiness > 0.5 * np.nanmax(steadiness, initial=0.0))
    if not live.any() or orders < 1:
        return None
    values = np.where(live, steadiness, np.nan)[np.newaxis]
    best, cycles = steadiest_cycles(values, int(np.clip(_MAX_SAMPLES // cycle, 1, 10)))
    if best < 0:
        return None
    start = max(round((places[best] - 0.5 / frequency) * sampling_rate), 0)
    direct, phasors, noise = fit_harmonics(signal[start : start + round(cycles * cycle)], cycle, orders, cycles)
    sizes = np.abs(phasors)
    if sizes[0] < 0.3 * np.sqrt(2) * float(np.nanmax(steadiness)):
        return None
    return make_spectrum(direct, sizes, noise, start / sampling_rate, cycles)


def make_spectrum(direct: float, sizes: FloatArray, noise: float, start: float, cycles: int) -> Spectrum:
    """The spectrum of cycles that start at `start` [s], from the results of :func:`fit_harmonics`."""
    relative = sizes[1:] / sizes[0]
    by_noise = 4 * (noise / sizes[0]) ** 2  # mean square of an amplitude that only noise makes
    return Spectrum(
        fundamental=float(sizes[0] / np.sqrt(2)),
        harmonics=tuple(relative.tolist()),
        thd=float(np.sqrt(np.sum(relative**2))),
        dc=direct,
        start=start,
        cycles=cycles,
        noise_thd=float(np.sqrt(by_noise * relative.size)),
    )


def steadiest_cycles(values: FloatArray, maximum: int) -> tuple[int, int]:
    """First value and number of cycles, to `maximum`, where all channels, NaN apart, are steadiest; or (-1, 0)."""
    limit = max(map(_steady_limit_of_harmonics, values))
    for cycles in (*range(maximum, 1, -1), 1):
        n_values = 2 * cycles - 1 if cycles > 1 else min(2, values.shape[1])
        if n_values > values.shape[1]:
            continue
        table = np.lib.stride_tricks.sliding_window_view(values, n_values, axis=1)
        high = table.max(axis=2)
        spread = np.max((high - table.min(axis=2)) / np.where(high > 0, high, np.nan), axis=0)
        good = spread < limit
        if good.any():
            return int(np.flatnonzero(good)[spread[good].argmin()]), cycles
    return -1, 0


def _steady_limit_of_harmonics(values: FloatArray) -> float:
    """By how much the RMS may vary in a steady stretch, over its maximum."""
    known = values[np.isfinite(values)]
    noise = 1.4826 * float(np.median(np.abs(np.diff(known)) / known[1:])) if known.size > 3 else 0.0
    return min(max(_STEADY, 6 * noise), 3 * _STEADY)


def fit_harmonics(piece: FloatArray, cycle: float, orders: int, cycles: int) -> tuple[float, AnyArray, float]:
    """Direct component, phasors (cosines at the first sample) of orders 1, 2, ..., and how noise moves the first."""
    angle = 2 * np.pi / cycle * np.arange(piece.size)
    if cycles >= 3:
        window = np.hanning(piece.size + 1)[:-1]
        window /= window.sum()
        step = np.exp(-1j * angle)
        turned = window * piece * step
        phasors = np.empty(orders, np.complex128)
        for k in range(orders):
            phasors[k] = 2 * turned.sum()
            turned *= step
        direct = float(np.sum(window * piece))
        rest = float(np.mean(piece**2)) - direct**2 - float(np.sum(np.abs(phasors) ** 2)) / 2
        return direct, phasors, float(np.sqrt(max(rest, 0.0) * np.sum(window**2)))
    basis = np.empty((piece.size, 2 * orders + 1))
    basis[:, 0] = 1.0
    for k in range(1, orders + 1):
        basis[:, 2 * k - 1] = np.cos(k * angle)
        basis[:, 2 * k] = np.sin(k * angle)
    fit, *_ = np.linalg.lstsq(basis, piece, rcond=None)
    free = max(piece.size - basis.shape[1], 1)
    rest = float(np.sum((piece - basis @ fit) ** 2)) / free
    return float(fit[0]), fit[1::2] - 1j * fit[2::2], float(np.sqrt(rest / free))
