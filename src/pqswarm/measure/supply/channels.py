"""Choice of the supply voltages and their three-phase systems."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import frequency_text
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.measure.supply.states import (
    CALCULATED,
    DEAD,
    LIVE,
    PART,
    ChannelState,
    SupplyChannel,
    all_dead,
    describe_states,
    measured_states,
    told_states,
)
from pqswarm.recordings.frequency import measure_frequency, supply_share
from pqswarm.recordings.recording import Channel, ChannelHeader, Recording, RecordingSource

MIN_SAMPLES = 4
"""Samples per cycle that Urms(1/2) needs."""
_WEAK, _SINE = 0.25, 0.8  # tuned
"""Minimum fraction of the strongest channel, and of the fundamental, of channels that tell the frequency."""


def select_channels(
    recording: Recording, names: Sequence[str] | None, nominal: float | Mapping[str, float] | None = None
) -> tuple[tuple[SupplyChannel, ...], tuple[ChannelState, ...], float | None]:
    """Decide what each voltage is, group those of the supply into systems and measure the frequency.

    Returns the channels to analyse, the states of all, and the frequency [Hz] or None. Named channels are always
    analysed; a nominal voltage [V] that fits a channel settles that it is one of the supply.
    """
    check_waveform(recording)
    source = recording.source or "the recording"
    rate, cycle = recording.sampling_rate, recording.sampling_rate / recording.nominal_frequency
    chosen = list(recording.voltages) if names is None else named_channels(recording, names)
    if not chosen:
        raise PqswarmError(f"{source} has no voltage channel; name one in channels.")
    bank = []
    for channel in chosen:
        filled, _ = fill_gaps(channel.samples, cycle)
        bank.append(SupplyChannel(channel, filled, _largest_supply_channel_rms(filled, cycle)))
    found = {id(one): (LIVE, "named") for one in bank}
    if names is None:
        found = told_states(bank, rate, recording.nominal_frequency)
    phases = [one for one in bank if found.get(id(one), (LIVE,))[0] in (LIVE, PART)]
    frequency = _measure_supply_frequency(phases or bank, recording)
    systems = name_supply_systems([one.channel for one in phases])
    found = measured_states(phases, systems, rate, frequency or recording.nominal_frequency, nominal) | found
    kept = [one for one in bank if found[id(one)][0] in (LIVE, PART)]
    if not kept and all_dead([found[id(one)] for one in bank if one.channel.phase] or list(found.values())):
        kept = [one for one in phases if one.channel.phase] or phases
    together = [one for one in phases if one in kept or (one.channel.phase and found[id(one)][0] == DEAD)]
    named = dict(zip(map(id, together), name_supply_systems([one.channel for one in together]), strict=True))
    places = {id(channel): number for number, channel in enumerate(recording.channels)}
    states = [
        ChannelState(places[id(c)], c.name, c.phase, named.get(id(one), ""), *found[id(one)])
        for one in bank
        for c in (one.channel,)
    ]
    if names is None:  # values instead of samples
        summaries = [c for c in recording.channels if c.unit == "V rms"]
        states += [ChannelState(places[id(c)], c.name, c.phase, "", CALCULATED, "no samples") for c in summaries]
    if not kept:
        raise PqswarmError(f"{source} has no voltage that can be analysed. {' '.join(describe_states(states))}")
    return tuple(replace(one, system=named[id(one)]) for one in kept), tuple(states), frequency


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


def _measure_supply_frequency(candidates: Sequence[SupplyChannel], recording: Recording) -> float | None:
    """Frequency of the strongest of the channels that look like a supply voltage, or of all."""
    rate, nominal = recording.sampling_rate, recording.nominal_frequency
    like = [one for one in candidates if supply_share(one.filled, rate, nominal) > _SINE] or candidates
    strongest = max(one.size for one in like)
    return measure_frequency([one.filled for one in like if one.size >= _WEAK * strongest], rate, nominal)


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
