"""Symmetrical components of three-phase systems."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.recordings.recording import ChannelHeader

_TURN = np.exp(2j * np.pi / 3)
_PHASES = (("A", "B", "C"), ("AB", "BC", "CA"))
_MIN_SEQUENCE = 0.1
"""Fraction of the voltages that the larger sequence has at least: three voltages in phase have no unbalance."""


def symmetrical_components(phasors: Sequence[complex]) -> tuple[complex, complex, complex]:
    """Zero, positive and negative sequence of the phases A, B, C."""
    a, b, c = phasors
    return (a + b + c) / 3, (a + _TURN * b + _TURN**2 * c) / 3, (a + _TURN**2 * b + _TURN * c) / 3


def orient_lines(phasors: "Sequence[complex] | AnyArray") -> tuple[int, int, int]:
    """Signs of three line-to-line voltages, (3,) or (3, n), that minimize their sum: one may have reversed polarity."""
    choices = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1))
    table = np.asarray(phasors).reshape(3, -1)
    return min(choices, key=lambda signs: float(np.nansum(np.abs(np.asarray(signs) @ table))))


def three_phase_groups(channels: Sequence[ChannelHeader], systems: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Find the channels of each system that has exactly the three phases, or the three line-to-line voltages."""
    groups = []
    for system in dict.fromkeys(systems):
        for phases in _PHASES:
            places = [
                [i for i, one in enumerate(channels) if one.phase == phase and systems[i] == system] for phase in phases
            ]
            if all(len(place) == 1 for place in places):
                groups.append(tuple(place[0] for place in places))
    return tuple(groups)


def measure_unbalance(
    channels: Sequence[ChannelHeader], systems: Sequence[str], phasor: AnyArray
) -> tuple[tuple[tuple[int, ...], ...], FloatArray, FloatArray]:
    """Three-phase systems, and their negative and zero over the positive sequence [fraction] in each window.

    `phasor` (channels, windows) is the fundamental. The rotation of the phases is not known: the greater sequence
    counts as the positive one. Line to line there is no zero sequence, NaN.
    """
    groups = three_phase_groups(channels, systems)
    negative, zero = np.full((2, len(groups), phasor.shape[1]), np.nan)
    for g, members in enumerate(groups):
        a, b, c = phasor[list(members)]
        if len(channels[members[0]].phase) == 2:
            a, b, c = (sign * one for sign, one in zip(orient_lines([a, b, c]), (a, b, c), strict=True))
        sizes = np.abs([a + _TURN * b + _TURN**2 * c, a + _TURN**2 * b + _TURN * c])
        top = sizes.max(axis=0)
        live = top > _MIN_SEQUENCE * (np.abs(a) + np.abs(b) + np.abs(c))
        np.divide(sizes.min(axis=0), top, out=negative[g], where=live)
        if len(channels[members[0]].phase) == 1:
            np.divide(np.abs(a + b + c), top, out=zero[g], where=live)
    return groups, negative, zero
