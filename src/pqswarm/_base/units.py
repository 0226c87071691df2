"""Values with SI prefixes instead of powers of ten."""

from math import isfinite

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"))


def scale_of(largest: float) -> tuple[float, str]:
    """Return the factor and the unit prefix that suit values up to `largest`."""
    if not isfinite(largest) or largest <= 0:
        return 1.0, ""
    return next(((factor, prefix) for factor, prefix in _PREFIXES if abs(largest) >= factor), _PREFIXES[-1])


def unit_text(value: float, unit: str) -> str:
    """Format a value with four digits and a unit prefix, ``167.3 kV``; empty if it is not finite."""
    if not isfinite(value):
        return ""
    factor, prefix = scale_of(abs(value))
    return f"{digits_text(value / factor)} {prefix}{unit}"


def voltage_text(volts: float) -> str:
    """Format a voltage [V], such as ``"167.3 kV"``; empty if it is not finite."""
    return unit_text(volts, "V")


def frequency_text(hertz: float) -> str:
    """Format a frequency or sampling rate [Hz], such as ``"15.36 kHz"``; empty if it is not finite."""
    return unit_text(hertz, "Hz")


def digits_text(value: float, number: int = 4) -> str:
    """Format a number with that many digits, without exponent and trailing zeros."""
    rounded = float(f"{value:.{number}g}")
    return f"{rounded:.0f}" if abs(rounded) >= 10**number else f"{rounded:.10g}"
