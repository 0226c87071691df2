"""Which channels are voltages of the supply, and which of them belong together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.urms import fill_gaps
from pqswarm.recordings.frequency import measure_frequency, supply_share
from pqswarm.recordings.phases import find_phase
from pqswarm.recordings.recording import Channel, Recording

__all__ = ["SupplyChannel", "select_channels"]

_WEAK = 0.25
"""A channel without a phase that never reaches this share of the strongest one is not a supply voltage."""


@dataclass(frozen=True, eq=False)
class SupplyChannel:
    """A channel to be looked at: the channel, its system, its samples without gaps, and the share of gaps."""

    channel: Channel
    system: str
    filled: FloatArray
    missing: float


def select_channels(
    recording: Recording, names: Sequence[str] | None
) -> tuple[tuple[SupplyChannel, ...], tuple[str, ...], float | None]:
    """Choose the channels, group them into systems and measure the frequency.

    Returns the channels, a sentence for the voltages that are ignored, and the frequency [Hz] or None.
    """
    cycle = recording.sampling_rate / recording.nominal_frequency
    if not recording.n_samples:
        raise PqswarmError(f"{recording.source or 'the recording'} has no samples.")
    if names is None:
        chosen = list(recording.voltages)
        if not chosen:
            raise PqswarmError(f"{recording.source or 'the recording'} has no voltage channel; name one in channels.")
    else:
        chosen = list(dict.fromkeys(recording.channel(name) for name in names))
        if not chosen:
            raise PqswarmError("channels must name at least one channel.")
    filled = [fill_gaps(channel.samples, cycle) for channel in chosen]
    strength = np.array([_largest_rms(x, cycle) for x, _ in filled])
    frequency = measure_frequency(
        [x for (x, _), size in zip(filled, strength, strict=True) if size >= _WEAK * strength.max()],
        recording.sampling_rate,
        recording.nominal_frequency,
    )
    kept = []
    ignored: dict[str, list[str]] = {}
    for channel, (x, missing), size in zip(chosen, filled, strength, strict=True):
        pure = 1.0 if frequency is None else supply_share(x, recording.sampling_rate, frequency)
        reason = "" if names is not None else _reason_to_ignore(channel, x, size, float(strength.max()), pure)
        if reason:
            ignored.setdefault(reason, []).append(channel.name)
        else:
            kept.append((channel, x, float(missing.mean())))
    if not kept:  # all neutral or dead: better to look at them than to say nothing
        kept = [(channel, x, float(missing.mean())) for channel, (x, missing) in zip(chosen, filled, strict=True)]
        ignored = {}
    systems = _systems([channel for channel, _, _ in kept])
    return (
        tuple(SupplyChannel(channel, system, x, gap) for (channel, x, gap), system in zip(kept, systems, strict=True)),
        tuple(f"Ignored {', '.join(names)} ({reason})." for reason, names in ignored.items()),
        frequency,
    )


def _largest_rms(x: FloatArray, cycle: float) -> float:
    """Largest RMS of any cycle about its mean, in blocks."""
    step = max(round(cycle), 1)
    blocks = x[: x.size // step * step].reshape(-1, step) if x.size >= step else x.reshape(1, -1)
    return float(blocks.std(axis=1).max(initial=0.0))


def _reason_to_ignore(channel: Channel, x: FloatArray, size: float, strongest: float, pure: float) -> str:
    if (channel.phase or find_phase("", channel.name)) == "N":
        return "neutral or residual voltage"
    if not channel.phase and strongest > 0:
        if size < _WEAK * strongest:
            return "no supply voltage"
        if pure < 0.5:
            return "no supply frequency"
        if abs(float(x.mean())) > 2 * size:
            return "direct voltage"
    return ""


def _common(names: list[str]) -> str:
    """Characters with which all names begin."""
    first, last = min(names), max(names)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _systems(channels: list[Channel]) -> list[str]:
    """Name of the three-phase system of each channel: a new one begins where a phase comes again, or another kind.

    What a site file says comes first.
    """
    if any(channel.system for channel in channels):
        others = iter(_systems([channel for channel in channels if not channel.system]))
        return [channel.system or next(others) for channel in channels]
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
