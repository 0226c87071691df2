"""What each voltage of a recording is, and which are of the supply, with their three-phase systems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import frequency_text
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.recordings.frequency import measure_frequency, supply_frequency_shares, supply_share
from pqswarm.recordings.phases import find_phase
from pqswarm.recordings.recording import STATES, Channel, ChannelHeader, Recording, RecordingSource
from pqswarm.recordings.text import first_names

CONNECTED, DISCONNECTED, PARTIAL, DERIVED, AUXILIARY = STATES
MIN_SAMPLES = 4
"""Samples per cycle that Urms(1/2) needs."""
_WEAK = 0.25  # tuned
"""A channel without a phase that never reaches this fraction of the strongest one is not a supply voltage."""
_DEAD, _DEAD_NOISE = 5e-3, 0.05  # tuned
"""A phase that never reaches this fraction of the others of its system is dead: a sine, and anything else."""
_NOTHING = 1e-4  # tuned
"""A system that never reaches this fraction of the strongest voltage is not connected."""
_SINE, _SOME, _MOST_CYCLES = 0.8, 0.5, 0.7  # tuned
"""Minimum fraction of the fundamental in a cycle, and of such cycles among the live ones, with and without a phase."""
_FEW_CYCLES, _CLEAR, _MEAN = 4, 0.9, 0.5  # tuned
"""Maximum number of live cycles that are few; minimum fraction of the fundamental in the best one, and on average."""
_FEW_VOLTS = 10.0  # tuned
"""Below this, a signal that is not a sine is noise of an open input [V]."""
_SUM, _NOT_ONE = 0.98, 0.9  # tuned
"""Minimum squared correlation with the sum of three phases, and its maximum with one of them."""
_NO_VOLTAGE = 0.05
"""Of the largest RMS: below it, a channel is partial."""
_NEUTRAL = "neutral, residual or open-delta voltage"
_SEQUENCE = re.compile(
    r"(?:neg|pos|zero|homo)\w*[ ._-]?seq|последоват|(?<![a-z])[3d]?[uv][012][ _]?(?:комп|расч|calc)", re.I
)
_CONTROLLED = re.compile(r"(?<![a-z])(?:alpha|gamma|overlap|firing|angle)(?![a-z])", re.I)
_NUMBERED = re.compile(r"(?<![a-z0-9])[uv][ _]?([123])(?![a-z0-9])", re.I)


@dataclass(frozen=True)
class ChannelState:
    """What a voltage of a recording is.

    Attributes
    ----------
    number : int
        Index of the channel in the recording.
    name, phase, system : str
        Its name, phase and three-phase system; empty if unknown.
    state : str
        ``"connected"``; ``"disconnected"``: not connected, or open; ``"partial"`` of the recording;
        ``"derived"``, such as a sequence component, a residual voltage, a magnitude or an angle; or
        ``"auxiliary"``.
    reason : str
        Why; empty for most live channels.
    """

    number: int
    name: str
    phase: str
    system: str
    state: str
    reason: str = ""


@dataclass(frozen=True, eq=False)
class SupplyChannel:
    """A channel, its samples without gaps, the largest RMS of a cycle about its mean [V], and its system."""

    channel: Channel
    filled: FloatArray
    size: float
    system: str = ""

    def is_wave(self, sampling_rate: float, frequency: float, *, solid: bool = False) -> bool:
        """Whether enough of the live cycles are sines, more or less; `solid` if they must be many."""
        shares = supply_frequency_shares(self.filled, sampling_rate, frequency)
        if 0 < shares.size <= _FEW_CYCLES and not solid:  # of an interruption little is left but its edges
            starts = (round(k * sampling_rate / frequency / 4) for k in range(4))
            parts = [supply_frequency_shares(self.filled[one:], sampling_rate, frequency) for one in starts]
            shares = np.concatenate(parts)
            return bool(shares.max() > _CLEAR and shares.mean() > _MEAN)
        least = _SOME if self.channel.phase and not solid else _MOST_CYCLES
        return shares.size > (_FEW_CYCLES if solid else 0) and bool(np.mean(shares > _SINE) >= least)


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
    found = {id(one): (CONNECTED, "named") for one in bank}
    if names is None:
        found = _states_by_name(bank, rate, recording.nominal_frequency)
    phases = [one for one in bank if found.get(id(one), (CONNECTED,))[0] in (CONNECTED, PARTIAL)]
    frequency = _measure_supply_frequency(phases or bank, recording)
    found = _states_by_samples(phases, rate, frequency or recording.nominal_frequency, nominal) | found
    kept = [one for one in bank if found[id(one)][0] in (CONNECTED, PARTIAL)]
    phased = [one for one in bank if one.channel.phase] or bank
    if not kept and all(found[id(one)][0] == DISCONNECTED or found[id(one)][1] == _NEUTRAL for one in phased):
        kept = [one for one in phases if one in phased]
    together = [one for one in phases if one in kept or (one.channel.phase and found[id(one)][0] == DISCONNECTED)]
    systems = dict(zip(map(id, together), name_supply_systems([one.channel for one in together]), strict=True))
    told = {id(one.channel): (systems.get(id(one), ""), *found[id(one)]) for one in bank}
    if names is None:
        told |= {id(c): ("", DERIVED, "values, no samples") for c in recording.channels if c.unit == "V rms"}
    numbered = [(i, channel) for i, channel in enumerate(recording.channels) if id(channel) in told]
    states = tuple(ChannelState(i, channel.name, channel.phase, *told[id(channel)]) for i, channel in numbered)
    if not kept:
        raise PqswarmError(f"{source} has no voltage that can be analysed. {' '.join(describe_states(states))}")
    return tuple(replace(one, system=systems[id(one)]) for one in kept), states, frequency


def named_channels(recording: Recording, names: Sequence[str | int]) -> list[Channel]:
    """Return the channels with these names, phases or places, each once."""
    given = (recording.channels[one] if isinstance(one, int) else recording.channel(one) for one in names)
    chosen = list(dict.fromkeys(given))
    if not chosen:
        raise PqswarmError("channels must name at least one channel.")
    return chosen


def check_waveform(recording: RecordingSource) -> None:
    """Refuse a recording without samples, or with too few in a cycle."""
    source = recording.source or "the recording"
    cycle = recording.sampling_rate / recording.nominal_frequency
    if not recording.n_samples:
        raise PqswarmError(f"{source} has no samples.")
    if cycle < 1:
        pause = f"one every {1 / recording.sampling_rate:.4g} s"
        raise PqswarmError(f"{source} is a log of RMS values, {pause}, and not a waveform: export the waveforms.")
    if cycle < MIN_SAMPLES:
        raise PqswarmError(
            f"{source} has {cycle:.3g} samples per cycle ({frequency_text(recording.sampling_rate)}), and a "
            f"waveform needs {MIN_SAMPLES}: it is a log of RMS values, or its sampling rate is wrong."
        )


def describe_states(states: Sequence[ChannelState]) -> list[str]:
    """A sentence for each state but connected: ``"Derived: UN (neutral voltage)."``."""
    said: dict[str, dict[str, list[str]]] = {}
    for one in states:
        if one.state != CONNECTED:
            said.setdefault(one.state, {}).setdefault(one.reason, []).append(one.name)
    return [
        f"{state.capitalize()}: {'; '.join(f'{first_names(names, 20)} ({why})' for why, names in reasons.items())}."
        for state, reasons in said.items()
    ]


def mark_dead_parts(
    states: Sequence[ChannelState], numbers: Sequence[int], urms: FloatArray, frequency: float
) -> tuple[ChannelState, ...]:
    """Connected channels without voltage for a cycle or more are partial, by their RMS [V] each half cycle."""
    marked = {one.number: one for one in states}
    for number, row in zip(numbers, urms, strict=True):
        known = row[np.isfinite(row)]
        count = int(np.sum(known <= _NO_VOLTAGE * known.max(initial=0.0)))
        if marked[number].state == CONNECTED and 2 <= count < known.size:
            text = f"no voltage for {count / (2 * frequency):.2g} s of {known.size / (2 * frequency):.3g} s"
            marked[number] = replace(marked[number], state=PARTIAL, reason=text)
    return tuple(marked.values())


def _measure_supply_frequency(candidates: Sequence[SupplyChannel], recording: Recording) -> float | None:
    """Frequency of the strongest of the channels that look like a supply voltage, or of all."""
    rate, nominal = recording.sampling_rate, recording.nominal_frequency
    like = [one for one in candidates if supply_share(one.filled, rate, nominal) > _SINE] or candidates
    strongest = max(one.size for one in like)
    return measure_frequency([one.filled for one in like if one.size >= _WEAK * strongest], rate, nominal)


def _states_by_name(bank: Sequence[SupplyChannel], rate: float, frequency: float) -> dict[int, tuple[str, str]]:
    """States by `id` that the user or a name tells; some names do not count if the samples are a sine."""
    numbered = {id(one): match[1] for one in bank if (match := _NUMBERED.search(one.channel.name))}
    lettered = {one.channel.phase for one in bank if id(one) not in numbered} >= {"A", "B", "C"}
    told = {}
    for one in bank:
        name = one.channel.name
        is_part = lettered and id(one) in numbered and "3" not in numbered.values()
        if one.channel.state:
            told[id(one)] = (one.channel.state, "given")
        elif (one.channel.phase or find_phase("", name)) == "N":
            told[id(one)] = (DERIVED, _NEUTRAL)
        elif _SEQUENCE.search(name):
            told[id(one)] = (DERIVED, "sequence component")
        elif (is_part or _CONTROLLED.search(name)) and not one.is_wave(rate, frequency, solid=True):
            told[id(one)] = (DERIVED, "sequence component or magnitude" if is_part else "control quantity")
    return told


def _states_by_samples(
    bank: Sequence[SupplyChannel], rate: float, frequency: float, nominal: float | Mapping[str, float] | None
) -> dict[int, tuple[str, str]]:
    """States by `id` that the samples show; a nominal voltage [V] may be given."""
    phased = any(one.channel.phase for one in bank)
    waves = {}
    for one in bank:
        volts = nominal.get(one.channel.name) if isinstance(nominal, Mapping) else nominal
        fits = volts is not None and (one.channel.phase or not phased) and 0.1 * volts < one.size < 3 * volts
        waves[id(one)] = bool(fits) or one.is_wave(rate, frequency)
    strongest = max((one.size for one in bank if waves[id(one)]), default=0.0)
    systems: dict[str, list[SupplyChannel]] = {}
    for one, system in zip(bank, name_supply_systems([one.channel for one in bank]), strict=True):
        systems.setdefault(system, []).append(one)
    found: dict[int, tuple[str, str]] = {}
    triples = []
    for own in systems.values():
        best = max((one.size for one in own if waves[id(one)]), default=0.0)
        for one in own:
            short = one.filled.size < rate / frequency  # too short to tell
            beside = best if one.channel.phase else 0.0
            found[id(one)] = (CONNECTED, "") if short else _state_by_size(one, waves[id(one)], beside, strongest)
        live = [one for one in own if found[id(one)][0] == CONNECTED]
        triples += [live] if sorted(one.channel.phase for one in live) == ["A", "B", "C"] else []
    members = [one for triple in triples for one in triple]
    for one in bank:
        if (
            found[id(one)][0] == CONNECTED
            and one not in members
            and any(_is_sum_of_phases(one, each) for each in triples)
        ):
            found[id(one)] = (DERIVED, "sum of the three phases: residual or open-delta voltage")
    return found


def _state_by_size(one: SupplyChannel, wave: bool, beside: float, strongest: float) -> tuple[str, str]:
    """State of a channel; `beside` is the strongest of its system, `strongest` that of all [V]."""
    mean = abs(float(one.filled.mean()))
    if beside > 0 and one.size <= (_DEAD if wave else _DEAD_NOISE) * beside:
        return DISCONNECTED, "no voltage beside live phases: not connected, or open"
    if max(one.size, mean) <= max(_NOTHING * strongest, 0.0 if wave else _FEW_VOLTS):
        return DISCONNECTED, "no voltage"
    if mean > (2 if one.channel.phase else 1) * one.size:
        return AUXILIARY, "direct voltage"
    if not one.channel.phase and one.size < _WEAK * strongest:
        return AUXILIARY, "no supply voltage"
    return (CONNECTED, "") if wave else (AUXILIARY, "no waveform of the supply frequency")


def _is_sum_of_phases(one: SupplyChannel, triple: Sequence[SupplyChannel]) -> bool:
    """Whether a channel follows the sum of three phases, and none of them alone."""
    phases = [phase.filled for phase in triple]
    with np.errstate(divide="ignore", invalid="ignore"):
        follows = np.corrcoef([one.filled, *phases, np.sum(phases, axis=0)])[0, 1:] ** 2
    return bool(follows[-1] > _SUM and follows[:-1].max() < _NOT_ONE)


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
    """Name of the system of each channel: the site's, or a new one where a phase is repeated or of another kind."""
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
