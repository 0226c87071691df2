"""Transients: what neither the cycle before nor the cycle after has.

A sag's edge is a step as sharp as any transient. It is told apart by comparing each sample with the one a cycle
*earlier* and with the one a cycle *later*: before a step the signal agrees with its past, after it with its future,
while a transient agrees with neither. Steady harmonics, notches and offsets agree with both. The comparison with the
past passes a causal high-pass filter and the one with the future an anti-causal one, so that the filter does not
carry the step across.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pqswarm._typing import BoolArray, FloatArray, IntArray

__all__ = ["Transient", "cycle_residuals", "find_transients"]

_CUTOFF = 4.0
"""Of the high-pass filter [multiples of the fundamental]."""
_LOWEST = 3.0
"""Lowest frequency of an oscillation [multiples of the fundamental]."""
_OPPOSITE = 0.25
"""An oscillation swings back by at least this share of its peak."""
_TAPS = 6
_DENSE = 100
"""Samples per cycle from which on a sample more or less does not matter."""


@dataclass(frozen=True)
class Transient:
    """A transient on one channel.

    Attributes
    ----------
    channel, phase, system : str
        Where.
    kind : {"oscillatory", "impulsive"}
        Whether it swings or is of one polarity (IEEE 1159).
    category : str
        In words, such as ``"low-frequency oscillatory transient"``.
    onset : float
        From the first sample [s].
    peak : float
        Largest deviation from the undisturbed wave [pu of the reference's peak].
    peak_voltage : float
        Largest voltage while it lasts [pu of the reference's peak].
    frequency : float
        Dominant frequency [Hz]; NaN for an impulse, and if it is below three times the fundamental.
    decay : float
        Time constant of the envelope [s]; NaN if it is not known.
    """

    channel: str
    phase: str
    system: str
    kind: str
    category: str
    onset: float
    peak: float
    peak_voltage: float
    frequency: float
    decay: float

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values, None for what is not known."""
        return {key: None if value != value else value for key, value in asdict(self).items()}


def cycle_residuals(signal: FloatArray, sampling_rate: float, frequency: float) -> tuple[FloatArray, FloatArray]:
    """Difference of a signal to itself one cycle earlier, and one cycle later; NaN where there is none."""
    cycle = sampling_rate / frequency
    return signal - _delay(signal, cycle), signal - _delay(signal[::-1], cycle)[::-1]


def find_transients(
    signal: FloatArray,
    sampling_rate: float,
    frequency: float,
    *,
    threshold: float = 0.08,
    noise_factor: float = 6.0,
    steps: Sequence[float] = (),
    crowded: Sequence[tuple[float, float]] = (),
    unsure: BoolArray | None = None,
) -> list[dict[str, Any]]:
    """Find the transients in a signal [pu of the reference's peak] without NaN: kind, onset, ... as in Transient.

    They deviate from the cycles beside by `threshold` [pu] and by `noise_factor` times the noise (1.48 times its median
    size). At `steps` [s], such as the edges of sags, a lone spike is the step itself. Stretches that are `crowded`, (n,
    2) [s], lie between two steps, or a step and an end of the record, less than two cycles apart: there the cycles
    beside do not tell a step from a transient, and nothing is reported; nor is it where samples were missing
    (`unsure`).

    Examples
    --------
    >>> t = np.arange(5000) / 25_000
    >>> ring = 0.3 * np.exp(-(t - 0.085) / 0.001) * np.cos(2 * np.pi * 1200 * (t - 0.085)) * (t >= 0.085)
    >>> found, = find_transients(np.sin(2 * np.pi * 50 * t) + ring, 25_000, 50.0)
    >>> found["kind"], round(found["frequency"], -1), round(found["onset"], 4)
    ('oscillatory', 1200.0, 0.085)
    """
    cycle = sampling_rate / frequency
    if signal.size < 2 * cycle + 2 * _TAPS or sampling_rate < 8 * _CUTOFF * frequency:
        return []
    raw = cycle_residuals(signal, sampling_rate, frequency)
    past, future = _filter_both(signal, raw, sampling_rate, frequency)
    least = np.fmin(np.abs(past), np.abs(future))
    # In the first and last cycle one of the two is missing; a second look at the other, two cycles away, tells a
    # transient there from the shadow of one in the next cycle.
    far = _filter_both(signal, cycle_residuals(signal, sampling_rate, frequency / 2), sampling_rate, frequency)
    for lone, other in ((np.isnan(past), far[1]), (np.isnan(future), far[0])):
        least[lone] = np.fmin(least, np.nan_to_num(np.abs(other)))[lone]
    least = np.nan_to_num(least)
    if unsure is not None and unsure.any():
        reach = np.ones(2 * round(cycle) + 1)
        least[np.convolve(unsure, reach, "same")[: signal.size] > 0.5] = 0.0
    limit = max(threshold, noise_factor * 1.4826 * float(np.median(least)))
    near = [(low - 0.1 / frequency, high + 0.1 / frequency) for low, high in crowded]
    return [
        found
        for first, last in _bursts(_not_alone(least > limit, max(round(cycle / 32), 2)), round(cycle))
        if not any(low < first / sampling_rate < high for low, high in near)
        and (
            found := _describe(signal, raw, (past, future), least, first, last, sampling_rate, frequency, steps, limit)
        )
    ]


def _delay(signal: FloatArray, delay: float) -> FloatArray:
    """Signal of `delay` samples earlier, by Lagrange interpolation; NaN where it is not known."""
    whole = int(np.floor(delay)) - (_TAPS // 2 - 1)
    part = delay - whole
    nodes = np.arange(_TAPS)
    weights = [np.prod([(part - j) / (i - j) for j in nodes if j != i]) for i in nodes]
    late = np.full(signal.size, np.nan)
    first = whole + _TAPS - 1
    if first < signal.size:
        late[first:] = np.convolve(signal, weights, "valid")[: signal.size - first]
    return late


def _filter_both(
    signal: FloatArray, residuals: tuple[FloatArray, FloatArray], sampling_rate: float, frequency: float
) -> tuple[FloatArray, FloatArray]:
    """Filter the residuals to the past and to the future, each in its own direction.

    Where there are many samples per cycle, the jump of a notch may come a sample earlier or later in the next cycle:
    of each residual as much is forgiven as the other cycle varies from sample to sample.
    """
    filtered = []
    for residual, direction in zip(residuals, (1, -1), strict=True):
        if sampling_rate > _DENSE * frequency:
            other = np.nan_to_num(signal - residual)
            change = np.abs(np.diff(other, prepend=other[0], append=other[-1]))
            residual = np.sign(residual) * np.maximum(np.abs(residual) - np.maximum(change[1:], change[:-1]), 0.0)
        filtered.append(_high_pass(residual[::direction], sampling_rate, frequency)[::direction])
    return filtered[0], filtered[1]


def _not_alone(loud: BoolArray, reach: int) -> BoolArray:
    """Loud samples with another loud one within `reach`: noise seldom has two together."""
    total = np.concatenate([np.zeros(reach + 1), np.cumsum(loud), np.full(reach, loud.sum())])
    near = total[2 * reach + 1 :] - total[: loud.size]
    together: BoolArray = loud & (near >= 2)
    return together


def _high_pass(residual: FloatArray, sampling_rate: float, frequency: float) -> FloatArray:
    """Causal high-pass filter, started at the first known sample."""
    from scipy.signal import butter, sosfilt

    known = np.flatnonzero(np.isfinite(residual))
    out = np.full(residual.size, np.nan)
    if known.size:
        sections = butter(3, _CUTOFF * frequency, "highpass", fs=sampling_rate, output="sos")
        out[known[0] : known[-1] + 1] = np.asarray(sosfilt(sections, residual[known[0] : known[-1] + 1]))
    return out


def _bursts(loud: BoolArray, gap: int) -> list[tuple[int, int]]:
    """First and last sample of each group of loud samples with less than `gap` between them."""
    places = np.flatnonzero(loud)
    if not places.size:
        return []
    cuts = np.flatnonzero(np.diff(places) > gap)
    return list(zip(places[np.r_[0, cuts + 1]].tolist(), places[np.r_[cuts, places.size - 1]].tolist(), strict=True))


def _describe(
    signal: FloatArray,
    raw: tuple[FloatArray, FloatArray],
    filtered: tuple[FloatArray, FloatArray],
    least: FloatArray,
    first: int,
    last: int,
    sampling_rate: float,
    frequency: float,
    steps: Sequence[float],
    limit: float,
) -> dict[str, Any] | None:
    """Measure one transient; None if it is the step of a sag's edge."""
    cycle = sampling_rate / frequency
    end = min(signal.size, first + max(2 * (last - first) + 1, 8), first + round(cycle))
    # The past is the cleaner measure, unless it has a transient of its own there or the supply changed (a sag).
    loud = [float(np.abs(np.nan_to_num(part[first:end], nan=np.inf)).max()) for part in filtered]
    use = 1 if loud[0] > 1.3 * loud[1] else 0
    begin = max(first - round(cycle / 8), 0)
    quiet = np.flatnonzero(least[begin : first + 1] < limit / 3)
    onset = begin + int(quiet[-1]) + 1 if quiet.size else first
    end = max(end, min(onset + 8, signal.size))
    rough = np.nan_to_num(filtered[use][onset:end])
    wave = _without_supply(raw[use], onset, end, cycle)
    if wave is None or np.abs(wave).max() > 2 * np.abs(rough).max():
        wave = rough
    top = int(np.abs(wave).argmax())
    swing = min(float(wave.max()), -float(wave.min())) / max(float(np.abs(wave).max()), 1e-12)
    ring_frequency, decay = _ring(wave[max(min(top, wave.size - 4), 0) :], sampling_rate, _LOWEST * frequency)
    if np.abs(wave).max() < limit / 2:
        return None
    if _is_step(raw[use], onset, end, use, float(np.abs(wave).max()), cycle) and np.isnan(raw[1 - use][onset]):
        return None
    lone = swing < _OPPOSITE or decay * ring_frequency < 0.3
    if lone and any(abs(step - onset / sampling_rate) < 0.25 / frequency for step in steps):
        return None
    return {
        "kind": "impulsive" if lone else "oscillatory",
        "onset": onset / sampling_rate,
        "peak": float(np.abs(wave[top])),
        "peak_voltage": float(np.abs(signal[onset:end]).max()),
        "frequency": float("nan") if lone or ring_frequency < 1.01 * _LOWEST * frequency else ring_frequency,
        "decay": decay if decay < 2 / frequency else float("nan"),
    }


def _is_step(residual: FloatArray, onset: int, end: int, use: int, peak: float, cycle: float) -> bool:
    """In the first and last cycle: whether the signal differs on the far side of the burst too, as at a sag's edge."""
    reach = max(round(cycle / 6), 2)
    beside = residual[max(onset - reach, 0) : max(onset - 1, 0)] if use else residual[end : end + reach]
    beside = beside[np.isfinite(beside)]
    return bool(beside.size > 1 and np.abs(beside).max() > 0.3 * peak)


def _without_supply(residual: FloatArray, onset: int, end: int, cycle: float) -> FloatArray | None:
    """Residual from onset to end, less the change of the supply that the end of that cycle shows; None if unknown."""
    later = np.arange(onset + round(cycle / 2), min(onset + round(cycle), residual.size))
    if later.size < cycle / 4 or not np.isfinite(residual[later]).all() or not np.isfinite(residual[onset:end]).all():
        return None

    def supply(place: IntArray) -> FloatArray:
        angle = 2 * np.pi / cycle * place
        return np.column_stack([np.cos(angle), np.sin(angle), np.ones(place.size)])

    fit, *_ = np.linalg.lstsq(supply(later), residual[later], rcond=None)
    left = residual[later] - supply(later) @ fit
    rest: FloatArray = residual[onset:end]
    if np.sum(left**2) < 0.3 * np.sum(residual[later] ** 2):  # else there is more than a change of the supply
        rest = rest - supply(np.arange(onset, end)) @ fit
    return rest


def _ring(wave: FloatArray, sampling_rate: float, lowest: float) -> tuple[float, float]:
    """Frequency [Hz] and time constant [s] of the damped sine that explains most of a burst."""
    n = wave.size
    if n < 4:
        return sampling_rate / 4, n / sampling_rate
    time = np.arange(n) / sampling_rate
    padded = 1 << (4 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(wave, padded)) ** 2
    lines = np.arange(power.size) * sampling_rate / padded
    power[lines < lowest] = 0.0
    best = float(lines[power.argmax()])
    tau, ratio, width = n / sampling_rate / 4, 6.0, 1.5 * sampling_rate / n
    for _ in range(4):
        rates = np.clip(best + np.linspace(-1, 1, 15) * width, lowest, sampling_rate / 2)
        taus = tau * ratio ** np.linspace(-1, 1, 15)
        decays = np.exp(-time / taus[:, None])
        score = np.array([_explained_energy(wave, decays, 2 * np.pi * rate * time) for rate in rates])
        i, j = np.unravel_index(int(score.argmax()), score.shape)
        best, tau = float(rates[i]), float(taus[j])
        ratio, width = ratio**0.4, width * 0.3
    return best, tau


def _explained_energy(wave: FloatArray, decays: FloatArray, angle: FloatArray) -> FloatArray:
    """Energy of `wave` that damped sines of one frequency explain, for each damping."""
    cosine, sine = decays * np.cos(angle), decays * np.sin(angle)
    cc, ss, cs = (cosine**2).sum(1), (sine**2).sum(1), (cosine * sine).sum(1)
    c, s = cosine @ wave, sine @ wave
    bulk = np.maximum(cc * ss - cs**2, 1e-12 * cc * ss + 1e-300)
    explained: FloatArray = (c**2 * ss - 2 * c * s * cs + s**2 * cc) / bulk
    return explained
