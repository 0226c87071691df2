"""Symmetrical components of three-phase systems."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.measure.group.sag_type import orient_lines
from pqswarm.recordings.recording import ChannelHeader

_PHASES = (("A", "B", "C"), ("AB", "BC", "CA"))
_MIN_SEQUENCE = 0.1
"""Fraction of the voltages that the larger sequence has at least: three voltages in phase have no unbalance."""


def three_phase_groups(channels: Sequence[ChannelHeader], systems: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Find the channels of each system that has exactly the three phases, or the three line-to-line voltages."""
    found = []
    for system in dict.fromkeys(systems):
        for phases in _PHASES:
            places = [
                [i for i, one in enumerate(channels) if one.phase == phase and systems[i] == system] for phase in phases
            ]
            if all(len(place) == 1 for place in places):
                found.append(tuple(place[0] for place in places))
    return tuple(found)


def measure_unbalance(
    channels: Sequence[ChannelHeader], systems: Sequence[str], phasor: AnyArray
) -> tuple[tuple[tuple[int, ...], ...], FloatArray, FloatArray]:
    """Three-phase systems, and their negative and zero over the positive sequence [fraction] in each window.

    `phasor` (channels, windows) is the fundamental. The rotation of the phases is not known: the greater sequence
    counts as the positive one. Line to line there is no zero sequence, NaN.
    """
    groups = three_phase_groups(channels, systems)
    turn = np.exp(2j * np.pi / 3)
    negative, zero = np.full((2, len(groups), phasor.shape[1]), np.nan)
    for g, members in enumerate(groups):
        a, b, c = phasor[list(members)]
        if len(channels[members[0]].phase) == 2:
            a, b, c = (sign * one for sign, one in zip(orient_lines([a, b, c]), (a, b, c), strict=True))
        sizes = np.abs([a + turn * b + turn**2 * c, a + turn**2 * b + turn * c])
        top = sizes.max(axis=0)
        live = top > _MIN_SEQUENCE * (np.abs(a) + np.abs(b) + np.abs(c))
        np.divide(sizes.min(axis=0), top, out=negative[g], where=live)
        if len(channels[members[0]].phase) == 1:
            np.divide(np.abs(a + b + c), top, out=zero[g], where=live)
    return groups, negative, zero
