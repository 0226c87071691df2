"""Which channels are voltages of the supply, and which of them belong together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.recordings.frequency import measure_frequency, supply_share
from pqswarm.recordings.recording import Channel, Recording
from pqswarm.recordings.urms import fill_gaps

__all__ = ["Selected", "select_channels"]

_NEUTRAL = re.compile(r"(^|[^a-z0-9])(3?[uv](0|o|n|ne|ng|res)|3[uv]0?|[uv]4|neutral)([^a-z0-9]|$)", re.IGNORECASE)
_WEAK = 0.25
"""A channel that never reaches this share of the strongest of its record is no supply voltage, if it has no phase."""


@dataclass(frozen=True, eq=False)
class Selected:
    """A channel to be looked at: the channel, its system, its samples without gaps."""

    channel: Channel
    system: str
    filled: FloatArray
    missing: float


def select_channels(
    recording: Recording, names: Sequence[str] | None
) -> tuple[tuple[Selected, ...], tuple[str, ...], float | None]:
    """Choose the channels, group them into systems and measure the frequency.

    Returns the channels, a sentence for each voltage left out, and the frequency [Hz] or None.
    """
    cycle = recording.sampling_rate / recording.nominal_frequency
    if not recording.n_samples:
        raise PqswarmError(f"{recording.source or 'the recording'} has no samples.")
    if names is None:
        chosen = list(recording.voltages)
        if not chosen:
            raise PqswarmError(f"{recording.source or 'the recording'} has no voltage channel; name one in channels.")
    else:
        chosen = [recording.channel(name) for name in dict.fromkeys(names)]
        if not chosen:
            raise PqswarmError("channels must name at least one channel.")
    filled = [fill_gaps(channel.samples, cycle) for channel in chosen]
    strength = np.array([_alternating(x, cycle) for x, _ in filled])
    frequency = measure_frequency(
        [x for x, _ in filled if _alternating(x, cycle) >= _WEAK * strength.max()],
        recording.sampling_rate,
        recording.nominal_frequency,
    )
    kept = []
    left_out: dict[str, list[str]] = {}
    for channel, (x, missing), size in zip(chosen, filled, strength, strict=True):
        pure = 1.0 if frequency is None else supply_share(x, recording.sampling_rate, frequency)
        reason = "" if names is not None else _reason_to_leave(channel, x, size, float(strength.max()), pure)
        if reason:
            left_out.setdefault(reason, []).append(channel.name)
        else:
            kept.append((channel, x, float(missing.mean())))
    if not kept:  # all neutral or dead: better to look at them than to say nothing
        kept = [(channel, x, float(missing.mean())) for channel, (x, missing) in zip(chosen, filled, strict=True)]
        left_out = {}
    systems = _systems([channel for channel, _, _ in kept])
    return (
        tuple(Selected(channel, system, x, gap) for (channel, x, gap), system in zip(kept, systems, strict=True)),
        tuple(f"Left out, {reason}: {', '.join(names)}." for reason, names in left_out.items()),
        frequency,
    )


def _alternating(x: FloatArray, cycle: float) -> float:
    """Largest RMS of any cycle about its mean, in blocks."""
    step = max(round(cycle), 1)
    blocks = x[: x.size // step * step].reshape(-1, step) if x.size >= step else x.reshape(1, -1)
    return float(blocks.std(axis=1).max(initial=0.0))


def _reason_to_leave(channel: Channel, x: FloatArray, size: float, strongest: float, pure: float) -> str:
    if channel.phase == "N" or (not channel.phase and _NEUTRAL.search(channel.name)):
        return "a neutral or residual voltage"
    if not channel.phase and strongest > 0:
        if size < _WEAK * strongest:
            return "without supply voltage"
        if pure < 0.5:
            return "without supply frequency"
        if abs(float(x.mean())) > 2 * size:
            return "a direct voltage"
    return ""


def _common(names: list[str]) -> str:
    """Characters with which all names begin."""
    first, last = min(names), max(names)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _systems(channels: list[Channel]) -> list[str]:
    """Name of the three-phase system of each channel: a new one begins where a phase comes again, or another kind."""
    groups: list[list[Channel]] = []
    for channel in channels:
        group = groups[-1] if groups else []
        seen = {member.phase for member in group}
        kinds = {len(member.phase) for member in group}
        if not group or (channel.phase and channel.phase in seen) or len(channel.phase) not in kinds:
            groups.append([channel])
        else:
            group.append(channel)
    names: list[str] = []
    for group in groups:
        begin = _common([member.name for member in group]).rstrip(" _-.:/UVuv")
        end = _common([member.name[::-1] for member in group])[::-1].lstrip(" _-.:/")
        stem = max(begin, end, key=len)
        label = stem if len(stem) > 1 and len(group) > 1 else "/".join(member.name for member in group)
        while label in names:
            label += "'"
        names += [label] * len(group)
    return names
