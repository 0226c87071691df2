"""What a perfect instrument would say of the clean samples: which types of event after IEC 61000-4-30 are right."""

from dataclasses import dataclass

import numpy as np
from nodal import Floats

MARGIN = 0.007
"""How near to a threshold both answers are right, in per unit."""


@dataclass(frozen=True)
class Measured:
    """Types that may be found, those that must; in pu, the least Urms before, its change, the crest of what is new."""

    types: set[str]
    must: set[str]
    before: float
    change: float
    ringing: float


def urms(volts: Floats, fs: int, f: float) -> Floats:
    """RMS values of one cycle, at each sample."""
    n = round(fs / f)
    total = np.cumsum(np.pad(volts**2, ((0, 0), (1, 0))), axis=1)
    return np.sqrt(np.maximum(total[:, n:] - total[:, :-n], 0) / n)


def measure(volts: Floats, fs: int, f: float, nominal: float, t0: float) -> Measured:
    n = round(fs / f)
    u = urms(volts, fs, f) / nominal
    before = u[:, : max(round(t0 * fs) - n, 1)]
    reference = np.median(before, axis=1) if t0 * f > 1.05 else np.median(u[:, -2 * n :], axis=1)
    # Without a nominal voltage, the first steady level is 1 pu.
    level = float(np.clip(reference.mean(), 0.9, 1.1)) if reference.min() > 0.3 else 1.0
    low, high = min(1.0, level), max(1.0, level)
    change = float(np.abs(u - reference[:, None]).max())
    types: set[str] = set()
    must: set[str] = set()
    # Urms(1/2) is one value per half cycle, and where the half cycles begin is the instrument's choice.
    grids = [u[:, k :: max(n // 2, 1)] for k in range(0, n // 2, max(n // 16, 1))]
    dead = [x.max(axis=0).min() for x in grids]
    if min(dead) < 0.1 * high + MARGIN:
        types.add("interruption")
        if max(dead) < 0.1 * low - MARGIN:
            must.add("interruption")
    partial = (u < 0.9 * high + MARGIN).any(axis=0) & (u.max(axis=0) > 0.1 * low - MARGIN)
    # On the way to an interruption, phases are below 0.9 pu for less than a cycle and a half.
    runs = np.diff(np.flatnonzero(np.diff(np.pad(partial.astype(int), 1))))[::2]
    if len(runs) and ("interruption" not in types or runs.max() > 1.5 * n):
        types.add("sag")
        if max(x.min() for x in grids) < 0.9 * low - MARGIN:
            must.add("sag")
    if u.max() > 1.1 * low - MARGIN:
        types.add("swell")
        if min(x.max() for x in grids) > 1.1 * high + MARGIN:
            must.add("swell")
    steps = np.abs(np.median(u[:, -n:], axis=1) - reference).max()
    if change > 0.015:
        types.add("rapid voltage change")
    if steps > 0.035 and not must:
        must.add("rapid voltage change")
    residual = volts[:, n:] - volts[:, :-n]
    around = slice(max(round(t0 * fs) - n - 2, 0), max(round(t0 * fs) - n, 0) + 2 * n)
    ringing = float(np.abs(residual[:, around]).max() / (nominal * np.sqrt(2))) if residual.shape[1] else 0.0
    if ringing > 0.05:
        types.add("transient")
    return Measured(types, must, float(reference.min()), change, ringing)


def distortion(volts: Floats, fs: int, f: float) -> float:
    """Part of the voltages that is no fundamental, over the last cycles, the worst phase."""
    n = round(fs / f)
    cycles = min(volts.shape[1] // n, 10)
    x = volts[:, -cycles * n :]
    w = np.exp(-2j * np.pi * np.arange(x.shape[1]) / n)
    power = np.abs((x * w).mean(axis=1)) ** 2 * 2
    return float(np.sqrt(np.maximum((x**2).mean(axis=1) / power - 1, 0)).max())


def leaves_band(volts: Floats, fs: int, f: float) -> bool:
    """Whether the frequency is outside 1.2 % about nominal for ten half cycles, by the angle of the space vector."""
    w = np.exp(2j * np.pi * np.arange(3) / 3)
    vector = w @ volts
    n = round(fs / f)
    smooth = np.convolve(np.unwrap(np.angle(vector)), np.ones(n) / n, "valid")
    hertz = (smooth[n:] - smooth[:-n]) * fs / n / (2 * np.pi)
    out = np.abs(np.abs(hertz) / f - 1) > 0.012
    kernel = np.convolve(out, np.ones(5 * n), "valid")
    return bool(len(kernel) and kernel.max() >= 5 * n - 0.5)
