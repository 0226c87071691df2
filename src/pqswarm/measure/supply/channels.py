"""Choice of the supply voltages and their three-phase systems."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import frequency_text
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.recordings.frequency import measure_frequency, supply_frequency_shares, supply_share
from pqswarm.recordings.phases import find_phase
from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, RecordingSource

MIN_SAMPLES = 8
"""Samples per cycle of a waveform."""
_WEAK = 0.25  # tuned
"""A channel without a phase that never reaches this fraction of the strongest one is not a supply voltage."""
_DEAD = 0.05  # tuned
"""A phase that never reaches this fraction of the others of its system is dead."""
_NOTHING = 1e-4  # tuned
"""A system that never reaches this fraction of the strongest voltage is not connected."""
_SINE, _SOME, _MOST_CYCLES = 0.8, 0.5, 0.7  # tuned
"""Minimum fraction of the fundamental in a cycle, and of such cycles among the live ones, with and without a phase."""
_FEW_CYCLES, _CLEAR, _PART = 4, 0.9, 0.5  # tuned
"""Maximum number of live cycles that are few; minimum fraction of the fundamental in the best one, and on average."""
_FEW_VOLTS = 10.0  # tuned
"""Below this, a signal that is not a sine is noise of an open input [V]."""
_NO_VOLTAGE = "no voltage"


@dataclass(frozen=True, eq=False)
class SupplyChannel:
    """A channel, its samples without gaps, the largest RMS of a cycle about its mean [V], and its system."""

    channel: Channel
    filled: FloatArray
    size: float
    system: str = ""


@dataclass(frozen=True, eq=False)
class IgnoredChannel:
    """A voltage that is not analysed, and why."""

    channel: ChannelHeader
    reason: str


def select_channels(
    recording: Recording, names: Sequence[str] | None
) -> tuple[tuple[SupplyChannel, ...], tuple[IgnoredChannel, ...], float | None]:
    """Choose the channels that are voltages of the supply, group them into systems and measure the frequency.

    Returns the channels, those that are ignored, and the frequency [Hz] or None. Named channels are always analysed.
    """
    check_waveform(recording)
    source = recording.source or "the recording"
    cycle = recording.sampling_rate / recording.nominal_frequency
    if names is None:
        chosen = list(recording.voltages)
        if not chosen:
            raise PqswarmError(f"{source} has no voltage channel; name one in channels.")
    else:
        chosen = named_channels(recording, names)
    candidates = []
    for channel in chosen:
        filled, _ = fill_gaps(channel.samples, cycle)
        candidates.append(SupplyChannel(channel, filled, _largest_supply_channel_rms(filled, cycle)))
    frequency = _measure_supply_frequency(candidates, recording)
    left_out: tuple[IgnoredChannel, ...] = ()
    if names is None:
        candidates, left_out = _sort_out_supply_channels(
            candidates, recording.sampling_rate, frequency or recording.nominal_frequency
        )
        if not candidates:
            raise PqswarmError(
                f"{source} has no voltage that can be analysed: {'; '.join(list_ignored_channels(left_out))}."
            )
    systems = name_supply_systems([one.channel for one in candidates])
    found = tuple(replace(one, system=system) for one, system in zip(candidates, systems, strict=True))
    return found, left_out, frequency


def named_channels(recording: Recording, names: Sequence[str]) -> list[Channel]:
    """Return the channels with these names or phases, each once."""
    chosen = list(dict.fromkeys(recording.channel(name) for name in names))
    if not chosen:
        raise PqswarmError("channels must name at least one channel.")
    return chosen


def check_waveform(recording: RecordingSource) -> None:
    """Refuse a recording without samples, or with too few in a cycle."""
    source = recording.source or "the recording"
    cycle = recording.sampling_rate / recording.nominal_frequency
    if not recording.n_samples:
        raise PqswarmError(f"{source} has no samples.")
    if cycle < MIN_SAMPLES:
        raise PqswarmError(
            f"{source} has {cycle:.3g} samples per cycle ({frequency_text(recording.sampling_rate)}), and a "
            f"waveform needs {MIN_SAMPLES}: it is a log of RMS values, or its sampling rate is wrong."
        )


def list_ignored_channels(left_out: Sequence[IgnoredChannel]) -> list[str]:
    """Ignored channels, by reason: ``"UN (neutral or residual voltage)"``."""
    names: dict[str, list[str]] = {}
    for one in left_out:
        names.setdefault(one.reason, []).append(one.channel.name)
    return [f"{', '.join(each)} ({reason})" for reason, each in names.items()]


def _measure_supply_frequency(candidates: Sequence[SupplyChannel], recording: Recording) -> float | None:
    """Frequency of the strongest of the channels that look like a supply voltage, or of all."""
    rate, nominal = recording.sampling_rate, recording.nominal_frequency
    like = [one for one in candidates if supply_share(one.filled, rate, nominal) > _SINE] or candidates
    strongest = max(one.size for one in like)
    return measure_frequency([one.filled for one in like if one.size >= _WEAK * strongest], rate, nominal)


def _sort_out_supply_channels(
    candidates: Sequence[SupplyChannel], sampling_rate: float, frequency: float
) -> tuple[list[SupplyChannel], tuple[IgnoredChannel, ...]]:
    """Those that are voltages of the supply, and the others; the phases, if there is no voltage at all."""
    phases = [one for one in candidates if (one.channel.phase or find_phase("", one.channel.name)) != "N"]
    waves = {id(one): _is_wave(one, sampling_rate, frequency) for one in phases}
    strongest = max((one.size for one in phases if waves[id(one)]), default=0.0)
    systems = dict(zip(map(id, phases), name_supply_systems([one.channel for one in phases]), strict=True))
    best: dict[str, float] = {}
    for one in phases:
        if waves[id(one)]:
            best[systems[id(one)]] = max(best.get(systems[id(one)], 0.0), one.size)
    reasons = {}
    for one in candidates:
        if id(one) not in systems:
            reasons[id(one)] = "neutral or residual voltage"
            continue
        beside = best.get(systems[id(one)], 0.0) if one.channel.phase else 0.0
        short = one.filled.size < sampling_rate / frequency  # too short to tell
        reasons[id(one)] = "" if short else _reason_to_ignore_channel(one, waves[id(one)], beside, strongest)
    kept = [one for one in candidates if not reasons[id(one)]]
    named = [one for one in phases if one.channel.phase] or phases
    if not kept and all(reasons[id(one)] == _NO_VOLTAGE for one in named):
        kept = named
    left_out = tuple(IgnoredChannel(one.channel, reasons[id(one)]) for one in candidates if one not in kept)
    return kept, left_out


def _reason_to_ignore_channel(one: SupplyChannel, wave: bool, beside: float, strongest: float) -> str:
    """Why a channel is ignored, or empty; `beside` is the strongest of its system, `strongest` that of all [V]."""
    mean = abs(float(one.filled.mean()))
    if beside > _NOTHING * strongest and one.size <= _DEAD * beside:
        return ""  # a phase that is dead beside live ones
    if max(one.size, mean) <= max(_NOTHING * strongest, 0.0 if wave else _FEW_VOLTS):
        return _NO_VOLTAGE
    if mean > (2 if one.channel.phase else 1) * one.size:
        return "direct voltage"
    if not one.channel.phase and one.size < _WEAK * strongest:
        return "no supply voltage"
    return "" if wave else "no waveform of the supply frequency"


def _is_wave(one: SupplyChannel, sampling_rate: float, frequency: float) -> bool:
    """Whether enough of the live cycles are sines, more or less."""
    shares = supply_frequency_shares(one.filled, sampling_rate, frequency)
    if 0 < shares.size <= _FEW_CYCLES:  # of an interruption little is left but its edges
        return bool(shares.max() > _CLEAR and shares.mean() > _PART)
    return shares.size > 0 and bool(np.mean(shares > _SINE) >= (_SOME if one.channel.phase else _MOST_CYCLES))


def _largest_supply_channel_rms(x: FloatArray, cycle: float) -> float:
    """Largest RMS of any cycle about its mean, in blocks."""
    step = max(round(cycle), 1)
    blocks = x[: x.size // step * step].reshape(-1, step) if x.size >= step else x.reshape(1, -1)
    return float(blocks.std(axis=1).max(initial=0.0))


def _common_channel_prefix(names: list[str]) -> str:
    """Common prefix of the names."""
    first, last = min(names), max(names)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def name_supply_systems(channels: Sequence[ChannelHeader]) -> list[str]:
    """Name of the three-phase system of each channel: a new one starts where a phase is repeated, or of another kind.

    Systems named in a site file take precedence.
    """
    if any(channel.system for channel in channels):
        others = iter(name_supply_systems([channel for channel in channels if not channel.system]))
        return [channel.system or next(others) for channel in channels]
    groups: list[list[ChannelHeader]] = []
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
        start = _common_channel_prefix([member.name for member in group]).rstrip(" _-.:/UVuv")
        end = _common_channel_prefix([member.name[::-1] for member in group])[::-1].lstrip(" _-.:/")
        stem = max(start, end, key=len)
        label = stem if len(stem) > 1 and len(group) > 1 else "/".join(member.name for member in group)
        while label in names:
            label += "'"
        names += [label] * len(group)
    return names
