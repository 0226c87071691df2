"""Type of a three-phase sag after Bollen, from its symmetrical components.

A: all phases alike; B: one phase, with a zero sequence; C: two phases approach each other; D: one phase sags along its
own direction and the others less. The letter after it is the symmetrical phase.

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
_BALANCED = 0.05  # tuned
"""Negative sequence below which a sag is of type A [pu]."""
_ZERO = 0.5  # tuned
"""Zero sequence over negative sequence from which on a sag of type D is of type B."""
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
    """Signs of three line-to-line voltages that minimise their sum: one may be measured with reversed polarity.

    `phasors` are three, or have the shape (3, n).
    """
    choices = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1))
    table = np.asarray(phasors).reshape(3, -1)
    return min(choices, key=lambda signs: float(np.nansum(np.abs(np.asarray(signs) @ table))))


def sag_type(phases: Sequence[str], before: Sequence[complex], during: Sequence[complex]) -> str:
    """Type of a sag from the phasors before and during it; empty if the channels are not three phases."""
    order = next((names for names in _ORDERS if sorted(names) == sorted(phases)), ())
    if not order:
        return ""
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
        return ""
    zero, first, second = (part / usual for part in symmetrical_components(sorted_during))
    if reverse:
        first, second = second, first
    if abs(second) < _BALANCED:
        return "A" if abs(1 - first) > _BALANCED else ""  # a zero sequence alone is no sag between phases
    if _ORDERS[order]:  # line to line: the negative sequence of the phases is turned by 60 degrees
        second *= np.exp((-1j if reverse else 1j) * np.pi / 3)
    kind = _TYPES[round(float(np.angle(second / (1 - first))) / (np.pi / 3)) % 6]
    if reverse and kind[1] != "a":  # B and C have changed places
        kind = kind[0] + {"b": "c", "c": "b"}[kind[1]]
    if kind[0] == "D" and abs(zero) > _ZERO * abs(second) and not _ORDERS[order]:
        return f"B{kind[1]}"
    return kind
