"""Phases that are reversed or swapped, by the angles between them."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.typing import AnyArray
from pqswarm.measure.supply.channels import SupplyChannel

_SOUND = 0.7  # tuned
"""Minimum voltage of all phases, over the highest, in the cycle that is looked at."""
_NEAR = np.radians(20)  # tuned
"""Maximum departure from the angles of a balanced system; between the wirings there are 60 degrees."""


def describe_wiring(channels: Sequence[SupplyChannel], sampling_rate: float, frequency: float) -> list[str]:
    """A sentence for each three-phase system in which a phase is reversed, or two are swapped."""
    said: list[str] = []
    step = round(sampling_rate / frequency)
    if step > max((one.filled.size for one in channels), default=0):  # less than a cycle, at whatever rate
        return said
    turn = np.exp(-2j * np.pi * frequency / sampling_rate * np.arange(step))
    systems = dict.fromkeys(one.system for one in channels)
    for system in systems:
        own = sorted((one for one in channels if one.system == system), key=lambda one: one.channel.phase)
        names = [one.channel.phase for one in own]
        if names not in (["A", "B", "C"], ["AB", "BC", "CA"]) or own[0].filled.size < step:
            continue
        cycles = [one.filled[: one.filled.size // step * step].reshape(-1, step) for one in own]
        phasors = np.array([np.einsum("ij,j->i", one, turn) for one in cycles])
        size = np.abs(phasors)
        best = int(size.min(axis=0).argmax())
        if size[:, best].min() <= _SOUND * size.max():
            continue
        of = f" of {system}" if len(systems) > 1 else ""
        if _rotation(phasors[:, best]) < 0:
            said.append(f"The phases{of} rotate {names[0]}-{names[2]}-{names[1]}: two of them are swapped.")
        for name, sign in zip(names, 1 - 2 * np.eye(3), strict=True):
            if _rotation(phasors[:, best] * sign):
                said.append(f"Phase {name}{of} is reversed: with its sign changed, the phases are 120 degrees apart.")
    return said


def _rotation(phasors: AnyArray) -> int:
    """1 if three phasors follow each other by 120 degrees, -1 if they do so in the other sense, else 0."""
    for sense in (1, -1):
        aligned = phasors * np.exp(2j * np.pi / 3 * sense * np.arange(3))
        if np.abs(np.angle(aligned[1:] * np.conj(aligned[0]))).max() < _NEAR:
            return sense
    return 0
