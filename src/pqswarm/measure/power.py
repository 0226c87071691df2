"""Power of the fundamental: of each three-phase current with the voltages of its busbar."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerSnapshot:
    """Power of the three currents of a feeder, of the fundamental, in the direction in which they are counted.

    Attributes
    ----------
    name : str
        Of the system of currents.
    voltages : str
        Of the system of voltages.
    active, reactive, apparent : float
        P [W], Q [var], positive if the current lags, and S [VA].
    power_factor : float or None
        P over S, the displacement factor; None without current.
    """

    name: str
    voltages: str
    active: float
    reactive: float
    apparent: float
    power_factor: float | None


def measure_power(
    name: str, voltages: str, volts: Sequence[complex], amperes: Sequence[complex], *, between: bool
) -> PowerSnapshot:
    """Power of phasors (RMS) of the phases A, B, C; the voltages may be `between` phases: AB, BC, CA."""
    if between:
        ab, bc, ca = volts
        volts = [(ab - ca) / 3, (bc - ab) / 3, (ca - bc) / 3]
    power = sum(u * complex(i).conjugate() for u, i in zip(volts, amperes, strict=True))
    apparent = abs(power)
    factor = power.real / apparent if apparent > 0 else None
    return PowerSnapshot(name, voltages, float(power.real), float(power.imag), float(apparent), factor)
