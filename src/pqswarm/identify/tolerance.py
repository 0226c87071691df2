"""Voltage tolerance curves (ITIC, SEMI F47) and the severity of events."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log10, nan

from pqswarm.measure import Event

RMS = ("interruption", "sag", "swell")
"""Types whose magnitude is an RMS voltage."""


@dataclass(frozen=True)
class ToleranceCurve:
    """A tolerance curve.

    `lower` are the steps of the lower curve: up to each duration [s], the minimum voltage [%]; `upper` the corners of
    the upper one, duration [s] and voltage [%], in order of time, none if there is no such curve.
    """

    title: str
    lower: tuple[tuple[float, float], ...]
    upper: tuple[tuple[float, float], ...] = ()

    def minimum(self, duration: float) -> float:
        """Return the voltage [%] of the lower curve at a duration [s]."""
        return next(level for end, level in self.lower if duration <= end)

    def maximum(self, duration: float) -> float:
        """Return the voltage [%] of the upper curve at a duration [s], linear over the logarithm of time."""
        if not self.upper:
            return inf
        if duration <= self.upper[0][0]:
            return self.upper[0][1]
        for (t0, v0), (t1, v1) in zip(self.upper, self.upper[1:], strict=False):
            if t0 < duration <= t1:
                return v0 + (v1 - v0) * log10(duration / t0) / log10(t1 / t0)
        return self.upper[-1][1]

    def place(self, voltage: float, duration: float) -> str:
        """Return ``"above"``, ``"below"`` or ``"inside"`` for a voltage [%] of a duration [s]; limits are inside."""
        if voltage < self.minimum(duration):
            return "below"
        return "above" if voltage > self.maximum(duration) else "inside"


ITIC = ToleranceCurve(
    "ITIC curve (2000), the successor of the CBEMA curve",
    lower=((0.02, 0.0), (0.5, 70.0), (10.0, 80.0), (inf, 90.0)),
    upper=((0.01 / 60, 500.0), (1e-3, 200.0), (3e-3, 140.0), (3e-3, 120.0), (0.5, 120.0), (0.5, 110.0), (inf, 110.0)),
)
"""Information Technology Industry Council, 2000; 0.01 cycle is of 60 Hz."""

SEMI = ToleranceCurve(
    "SEMI F47-0706",
    lower=((0.05 - 1e-9, 0.0), (0.2, 50.0), (0.5, 70.0), (1.0, 80.0), (10.0, 80.0), (inf, 90.0)),
)
"""Required from 50 ms to 1 s; 80 % to 10 s and 90 % beyond are recommended."""

SEMI_REQUIRED = 1.0
"""Duration up to which SEMI F47 is mandatory [s]."""

AGGREGATION = 60.0
"""Events of a site that start within this time of the first count as one [s] (IEEE 1564)."""

_SEVERITY: Sequence[tuple[float, float]] = ((0.2, 50.0), (0.5, 70.0), (10.0, 80.0), (inf, 90.0))


def event_severity(voltage: float, duration: float, nominal_frequency: float) -> float:
    """Return the severity of a sag or interruption after IEEE 1564, with SEMI F47 as the curve: 1 is on it.

    It is (1 - V) / (1 - V_curve), and 1 - V within the first cycle. For swells we use the upper ITIC curve. Voltages
    are in %, durations in s, the frequency in Hz.
    """
    if voltage > 100:
        return (voltage - 100) / (ITIC.maximum(max(duration, 1e-6)) - 100)
    if duration * nominal_frequency <= 1 + 1e-9:
        return (100 - voltage) / 100
    return (100 - voltage) / (100 - next(level for end, level in _SEVERITY if duration <= end))


def rank_event(event: Event) -> tuple[float, float]:
    """Return the sort key of an event, worst highest: voltage events, by severity, above steady ones (our choice)."""
    size = event.magnitude if isfinite(event.magnitude) else 0.0
    if event.type in RMS:
        duration = round(event.duration, 3) if event.duration > 0 else 0.0
        return 2.0, event_severity(100 * size, duration, event.nominal_frequency)
    if event.type == "transient":
        return 2.0, size
    if event.unit == "Hz":
        return 1.0, abs(size / event.nominal_frequency - 1)
    return 1.0, abs(size - 1) if event.unit == "pu" else abs(size) / 100


def tolerance_curve_point(event: Event) -> tuple[float, float] | None:
    """Return duration [s] and voltage [%] on a tolerance curve, of a transient decay and peak; None if none."""
    if event.type in RMS:
        seconds = round(event.duration, 3)
        percent = round(100 * event.magnitude, 1)
    elif event.type == "transient":
        seconds = event.details.get("decay") or nan
        percent = 100 * (event.details.get("peak_voltage") or nan)
        percent = percent if percent > 100 else nan
    else:
        return None
    return (seconds, percent) if seconds > 0 and isfinite(seconds) and isfinite(percent) else None
