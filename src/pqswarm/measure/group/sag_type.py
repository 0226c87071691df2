"""Type of a three-phase sag after Bollen, from its symmetrical components.

A: all phases alike. C: two phases approach each other; E and G: the same of a fault of two phases to earth, with and
without a zero sequence. D: one phase sags along its own direction and the others less; B: the same with a zero
sequence; F: of a fault of two phases to earth behind a transformer. H and I: one phase or two sag while the others
swell, where the neutral moves. The letter after it is the symmetrical phase.

References
----------
M. H. J. Bollen, "Algorithms for characterizing measured three-phase unbalanced voltage dips", IEEE Trans. Power
Delivery 18 (2003) 937-944.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray

_TURN = np.exp(2j * np.pi / 3)
_TYPES = ("Ca", "Dc", "Cb", "Da", "Cc", "Db")
"""By the angle of V2 / (1 - V1) in steps of 60 degrees."""
_BALANCED = (0.02, 0.2)  # tuned
"""Negative sequence below which a sag is of type A [pu], and as a share of the dip of the positive sequence."""
_ZERO = 0.5  # tuned
_NEUTRAL = 1.5  # tuned
"""Zero sequence over negative sequence from which on a fault is to earth, and from which on the neutral moves."""
_EARTH = 1 / 6
"""Change of the PN factor over that of the characteristic voltage: 0 without earth, 1/3 for two phases to earth."""
_SWELL = 1.08  # tuned
"""Voltage of a phase from which on it swells with the neutral [pu]."""
_MIN_NEUTRAL = 0.05  # tuned
"""Zero sequence of a neutral that moves [pu]."""
_ORDERS: Mapping[tuple[str, ...], bool] = {("A", "B", "C"): False, ("AB", "BC", "CA"): True}


def fit_phasor(samples: FloatArray, first: int, sampling_rate: float, frequency: float) -> complex:
    """Phasor (RMS) of the fundamental in samples of which the first has the number `first`; by least squares."""
    angle = 2 * np.pi * frequency / sampling_rate * (first + np.arange(samples.size))
    basis = np.column_stack([np.cos(angle), np.sin(angle), np.ones(samples.size)])
    (cosine, sine, _), *_ = np.linalg.lstsq(basis, samples, rcond=None)
    return complex(cosine, -sine) / 2**0.5


def symmetrical_components(phasors: Sequence[complex]) -> tuple[complex, complex, complex]:
    """Zero, positive and negative sequence of the phases A, B, C."""
    a, b, c = phasors
    return (a + b + c) / 3, (a + _TURN * b + _TURN**2 * c) / 3, (a + _TURN**2 * b + _TURN * c) / 3


def orient_lines(phasors: "Sequence[complex] | AnyArray") -> tuple[int, int, int]:
    """Signs of three line-to-line voltages, (3,) or (3, n), that minimise their sum: one may have reversed polarity."""
    choices = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1))
    table = np.asarray(phasors).reshape(3, -1)
    return min(choices, key=lambda signs: float(np.nansum(np.abs(np.asarray(signs) @ table))))


def sag_type(phases: Sequence[str], before: Sequence[complex], during: Sequence[complex]) -> tuple[str, complex]:
    """Type of a sag, empty if it has none, and characteristic voltage [pu], from the phasors before and during it."""
    order = next((names for names in _ORDERS if sorted(names) == sorted(phases)), ())
    if not order:
        return "", 1.0
    sorted_before = [before[list(phases).index(name)] for name in order]
    sorted_during = [during[list(phases).index(name)] for name in order]
    if _ORDERS[order]:
        signs = orient_lines(sorted_before)
        sorted_before = [sign * one for sign, one in zip(signs, sorted_before, strict=True)]
        sorted_during = [sign * one for sign, one in zip(signs, sorted_during, strict=True)]
    _, positive, negative = symmetrical_components(sorted_before)
    reverse = abs(negative) > abs(positive)  # phases rotate the other way
    usual = negative if reverse else positive
    if not abs(usual) > 0:
        return "", 1.0
    zero, first, second = (part / usual for part in symmetrical_components(sorted_during))
    if reverse:
        first, second = second, first
    if abs(second) < max(_BALANCED[0], _BALANCED[1] * abs(1 - first)):
        if abs(1 - first) > 2 * _BALANCED[0] and abs(zero) < max(_MIN_NEUTRAL, abs(1 - first)):
            return "A", first
        lowest = int(np.abs(sorted_during).argmin())
        moves = abs(zero) > _MIN_NEUTRAL and not _ORDERS[order]
        return (f"H{'abc'[lowest]}" if moves else ""), first
    if _ORDERS[order]:  # line to line: the negative sequence of the phases is turned by 60 degrees
        second *= np.exp((-1j if reverse else 1j) * np.pi / 3)
    kind = _TYPES[round(float(np.angle(second / (1 - first))) / (np.pi / 3)) % 6]
    turned = second * np.exp(-2j * np.pi / 3 * "abc".index(kind[1]))
    sign = 1 if kind[0] == "D" else -1
    characteristic = first + sign * turned
    factor = first - sign * turned
    if reverse and kind[1] != "a":  # B and C have changed places
        kind = kind[0] + {"b": "c", "c": "b"}[kind[1]]
    to_earth = abs(1 - factor) > _EARTH * abs(1 - characteristic)
    zero_ratio = 0.0 if _ORDERS[order] else abs(zero) / abs(second)
    swells = max(map(abs, sorted_during)) > _SWELL * abs(usual)
    if zero_ratio > _ZERO and abs(zero) > _MIN_NEUTRAL and (swells or zero_ratio > _NEUTRAL):
        letter = "H" if kind[0] == "D" else "I"
    elif kind[0] == "D":
        letter = "B" if zero_ratio > _ZERO else "F" if to_earth else "D"
    else:
        letter = "E" if zero_ratio > _ZERO else "G" if to_earth else "C"
    return letter + kind[1], characteristic
