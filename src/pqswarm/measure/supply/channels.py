"""What each voltage of a recording is, and which are of the supply, with their three-phase systems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix

import numpy as np

from pqswarm._base.text import frequency_text
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.recordings.frequency import fundamental_fraction, fundamental_fractions, measure_frequency
from pqswarm.recordings.names import find_phase
from pqswarm.recordings.recording import STATES, Channel, ChannelHeader, Recording, RecordingSource
from pqswarm.recordings.text import first_names

CONNECTED, DISCONNECTED, PARTIAL, DERIVED, AUXILIARY = STATES
_USED = (CONNECTED, PARTIAL)
MIN_SAMPLES = 4
"""Samples per cycle that Urms(1/2) needs."""
_WEAK = 0.25  # tuned
"""A channel without a phase that never reaches this fraction of the strongest one is not a supply voltage."""
_DEAD = 5e-3  # tuned
_DEAD_NOISE = 0.05  # tuned
"""A phase that never reaches this fraction of the others of its system is dead: a sine, and anything else."""
_NOTHING = 1e-4  # tuned
"""A system that never reaches this fraction of the strongest voltage is not connected."""
_SINE = 0.8  # tuned
_SOME = 0.5  # tuned
_MOST_CYCLES = 0.7  # tuned
"""Minimum fraction of the fundamental in a cycle, and of such cycles among the live ones, with and without a phase."""
_FEW_CYCLES = 4  # tuned
_CLEAR = 0.9  # tuned
_MEAN = 0.5  # tuned
"""Maximum number of live cycles that are few; minimum fraction of the fundamental in the best one, and on average."""
_FEW_VOLTS = 10.0  # tuned
"""Below this, a signal that is not a sine is noise of an open input [V]."""
_SUM = 0.98  # tuned
_NOT_ONE = 0.9  # tuned
"""Minimum squared correlation with the sum of three phases, and its maximum with one of them."""
_NO_VOLTAGE = 0.05
"""Of the largest RMS: below it, a channel is partial."""
_SUM_OF_PHASES = "sum of the three phases: residual or open-delta voltage"
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
    """A channel, its place, its samples without gaps, the largest RMS of a cycle about its mean [V], and its system."""

    number: int
    channel: Channel
    filled: FloatArray
    size: float
    system: str = ""

    @property
    def phase(self) -> str:
        """Phase of the channel; empty if unknown."""
        return self.channel.phase

    def is_wave(self, sampling_rate: float, frequency: float, *, solid: bool = False) -> bool:
        """Whether enough of the live cycles are sines, more or less; `solid` if they must be many."""
        fractions = fundamental_fractions(self.filled, sampling_rate, frequency)
        if 0 < fractions.size <= _FEW_CYCLES and not solid:  # of an interruption little is left but its edges
            starts = (round(k * sampling_rate / frequency / 4) for k in range(4))
            shifted = [fundamental_fractions(self.filled[start:], sampling_rate, frequency) for start in starts]
            fractions = np.concatenate(shifted)
            return bool(fractions.max() > _CLEAR and fractions.mean() > _MEAN)
        least = _SOME if self.phase and not solid else _MOST_CYCLES
        return fractions.size > (_FEW_CYCLES if solid else 0) and bool(np.mean(fractions > _SINE) >= least)


_StatesByChannel = dict[SupplyChannel, tuple[str, str]]
"""State of each channel, and the reason."""


def select_channels(
    recording: Recording, names: Sequence[str] | None, nominal: float | Mapping[str, float] | None = None
) -> tuple[tuple[SupplyChannel, ...], tuple[ChannelState, ...], float | None]:
    """Decide what each voltage is, group those of the supply into systems and measure the frequency.

    Returns the channels to analyze, the states of all, and the frequency [Hz] or None. Named channels are always
    analyzed; a nominal voltage [V] that fits a channel settles that it is one of the supply.
    """
    check_waveform(recording)
    source = recording.source or "the recording"
    rate = recording.sampling_rate
    bank = _fill_supply_channels(recording, names)
    if not bank:
        raise PqswarmError(f"{source} has no voltage channel; name one in channels.")
    states_by_channel = (
        _states_by_name(bank, rate, recording.nominal_frequency)
        if names is None
        else dict.fromkeys(bank, (CONNECTED, "named"))
    )
    candidates = [one for one in bank if states_by_channel.get(one, (CONNECTED,))[0] in _USED]
    frequency = _measure_supply_frequency(candidates or bank, recording)
    states_by_channel = (
        _states_by_samples(candidates, rate, frequency or recording.nominal_frequency, nominal) | states_by_channel
    )
    kept = [one for one in bank if states_by_channel[one][0] in _USED] or _dead_supply_channels(
        bank, candidates, states_by_channel
    )
    systems = _name_supply_channels(candidates, kept, states_by_channel)
    states = [
        ChannelState(one.number, one.channel.name, one.phase, systems.get(one, ""), *states_by_channel[one])
        for one in bank
    ]
    states += [
        ChannelState(number, channel.name, channel.phase, "", DERIVED, "values, no samples")
        for number, channel in enumerate(recording.channels)
        if names is None and channel.unit == "V rms"
    ]
    states.sort(key=lambda state: state.number)
    if not kept:
        raise PqswarmError(f"{source} has no voltage that can be analyzed. {' '.join(describe_states(states))}")
    return tuple(replace(one, system=systems[one]) for one in kept), tuple(states), frequency


def _name_supply_channels(
    candidates: Sequence[SupplyChannel], kept: Sequence[SupplyChannel], states_by_channel: _StatesByChannel
) -> dict[SupplyChannel, str]:
    """Systems of the channels that are kept, and of the dead phases next to them."""
    dead_phases = [one for one in candidates if one.phase and states_by_channel[one][0] == DISCONNECTED]
    members = [one for one in candidates if one in kept or one in dead_phases]
    return dict(zip(members, name_systems([one.channel for one in members]), strict=True))


def _fill_supply_channels(recording: Recording, names: Sequence[str] | None) -> list[SupplyChannel]:
    """The voltages, or the named channels, without gaps."""
    cycle = recording.sampling_rate / recording.nominal_frequency
    places = {channel: number for number, channel in enumerate(recording.channels)}
    bank = []
    for channel in recording.voltages if names is None else named_channels(recording, names):
        filled, _ = fill_gaps(channel.samples, cycle)
        bank.append(SupplyChannel(places[channel], channel, filled, _largest_rms_of_channel(filled, cycle)))
    return bank


def _dead_supply_channels(
    bank: Sequence[SupplyChannel], candidates: Sequence[SupplyChannel], states_by_channel: _StatesByChannel
) -> list[SupplyChannel]:
    """The phases of a supply without voltage, which are analyzed if there is nothing else."""
    phased = [one for one in bank if one.phase] or bank
    is_dead = all(states_by_channel[one][0] == DISCONNECTED or states_by_channel[one][1] == _NEUTRAL for one in phased)
    return [one for one in candidates if one in phased] if is_dead else []


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
    named: dict[str, dict[str, list[str]]] = {}
    for one in states:
        if one.state != CONNECTED:
            named.setdefault(one.state, {}).setdefault(one.reason, []).append(one.name)
    return [
        f"{state.capitalize()}: {'; '.join(f'{first_names(names, 20)} ({why})' for why, names in reasons.items())}."
        for state, reasons in named.items()
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
    rate = recording.sampling_rate
    nominal = recording.nominal_frequency
    sines = [one for one in candidates if fundamental_fraction(one.filled, rate, nominal) > _SINE] or candidates
    strongest = max(one.size for one in sines)
    return measure_frequency([one.filled for one in sines if one.size >= _WEAK * strongest], rate, nominal)


def _states_by_name(bank: Sequence[SupplyChannel], rate: float, frequency: float) -> _StatesByChannel:
    """States that the user or a name tells; some names do not count if the samples are a sine."""
    numbered = {one: match[1] for one in bank if (match := _NUMBERED.search(one.channel.name))}
    lettered = {one.phase for one in bank if one not in numbered} >= {"A", "B", "C"}
    has_components = lettered and "3" not in numbered.values()
    states_by_channel: _StatesByChannel = {}
    for one in bank:
        name = one.channel.name
        is_component = has_components and one in numbered
        if one.channel.state:
            states_by_channel[one] = (one.channel.state, "given")
        elif (one.phase or find_phase("", name)) == "N":
            states_by_channel[one] = (DERIVED, _NEUTRAL)
        elif _SEQUENCE.search(name):
            states_by_channel[one] = (DERIVED, "sequence component")
        elif (is_component or _CONTROLLED.search(name)) and not one.is_wave(rate, frequency, solid=True):
            states_by_channel[one] = (
                DERIVED,
                "sequence component or magnitude" if is_component else "control quantity",
            )
    return states_by_channel


def _states_by_samples(
    bank: Sequence[SupplyChannel], rate: float, frequency: float, nominal: float | Mapping[str, float] | None
) -> _StatesByChannel:
    """States that the samples show; a nominal voltage [V] may be given."""
    phased = any(one.phase for one in bank)
    waves = [one for one in bank if _channel_fits_nominal(one, nominal, phased) or one.is_wave(rate, frequency)]
    strongest = max((one.size for one in waves), default=0.0)
    systems: dict[str, list[SupplyChannel]] = {}
    for one, system in zip(bank, name_systems([one.channel for one in bank]), strict=True):
        systems.setdefault(system, []).append(one)
    is_short = any(one.filled.size < rate / frequency for one in bank)  # too short to tell
    states_by_channel: _StatesByChannel = {}
    for members in systems.values():
        beside = max((one.size for one in members if one in waves), default=0.0)
        for one in members:
            states_by_channel[one] = (
                (CONNECTED, "") if is_short else _channel_state_by_size(one, one in waves, beside, strongest)
            )
    return states_by_channel | _find_sum_channels(list(systems.values()), states_by_channel)


def _find_sum_channels(
    systems: Sequence[Sequence[SupplyChannel]], states_by_channel: _StatesByChannel
) -> _StatesByChannel:
    """The connected channels that follow the sum of the three phases of a system."""
    live = [[one for one in members if states_by_channel[one][0] == CONNECTED] for members in systems]
    triples = [members for members in live if sorted(one.phase for one in members) == ["A", "B", "C"]]
    others = [one for members in live if members not in triples for one in members]
    return {one: (DERIVED, _SUM_OF_PHASES) for one in others if any(_is_sum_channel(one, triple) for triple in triples)}


def _channel_fits_nominal(one: SupplyChannel, nominal: float | Mapping[str, float] | None, phased: bool) -> bool:
    """Whether a channel has about a given nominal voltage; next to phases, others do not count."""
    volts = nominal.get(one.channel.name) if isinstance(nominal, Mapping) else nominal
    return volts is not None and bool(one.phase or not phased) and 0.1 * volts < one.size < 3 * volts


def _channel_state_by_size(one: SupplyChannel, wave: bool, beside: float, strongest: float) -> tuple[str, str]:
    """State of a channel; `beside` is the strongest of its system, `strongest` that of all [V]."""
    mean = abs(float(one.filled.mean()))
    if one.phase and beside > 0 and one.size <= (_DEAD if wave else _DEAD_NOISE) * beside:
        return DISCONNECTED, "no voltage, unlike the live phases: not connected, or open"
    if max(one.size, mean) <= max(_NOTHING * strongest, 0.0 if wave else _FEW_VOLTS):
        return DISCONNECTED, "no voltage"
    if mean > (2 if one.phase else 1) * one.size:
        return AUXILIARY, "direct voltage"
    if not one.phase and one.size < _WEAK * strongest:
        return AUXILIARY, "no supply voltage"
    return (CONNECTED, "") if wave else (AUXILIARY, "no waveform of the supply frequency")


def _is_sum_channel(one: SupplyChannel, triple: Sequence[SupplyChannel]) -> bool:
    """Whether a channel follows the sum of three phases, and none of them alone."""
    phases = [phase.filled for phase in triple]
    with np.errstate(divide="ignore", invalid="ignore"):
        follows = np.corrcoef([one.filled, *phases, np.sum(phases, axis=0)])[0, 1:] ** 2
    return bool(follows[-1] > _SUM and follows[:-1].max() < _NOT_ONE)


def _largest_rms_of_channel(x: FloatArray, cycle: float) -> float:
    """Largest RMS of any cycle about its mean, in blocks."""
    step = max(round(cycle), 1)
    blocks = x[: x.size // step * step].reshape(-1, step) if x.size >= step else x.reshape(1, -1)
    return float(blocks.std(axis=1).max(initial=0.0))


def name_systems(channels: Sequence[ChannelHeader]) -> list[str]:
    """Name of the system of each channel: the site's, or a new one where a phase is repeated or of another kind."""
    if any(channel.system for channel in channels):
        others = iter(name_systems([channel for channel in channels if not channel.system]))
        return [channel.system or next(others) for channel in channels]
    names: list[str] = []
    for members in _group_channels_by_phase(channels):
        name = _common_channel_name([member.name for member in members])
        while name in names:
            name += "'"
        names += [name] * len(members)
    return names


def _group_channels_by_phase(channels: Sequence[ChannelHeader]) -> list[list[ChannelHeader]]:
    """Channels that follow each other, until a phase is repeated or of another kind."""
    groups: list[list[ChannelHeader]] = []
    for channel in channels:
        phases = {member.phase for member in groups[-1]} if groups else set()
        if (bool(channel.phase) and channel.phase in phases) or len(channel.phase) not in map(len, phases):
            groups.append([channel])
        else:
            groups[-1].append(channel)
    return groups


def _common_channel_name(names: list[str]) -> str:
    """What names have in common at their start or end, or all of them."""
    start = commonprefix(names).rstrip(" _-.:/UVuv")  # noqa: RUF071 (of letters)
    end = commonprefix([name[::-1] for name in names])[::-1].lstrip(" _-.:/")  # noqa: RUF071
    stem = max(start, end, key=len)
    return stem if len(stem) > 1 and len(names) > 1 else "/".join(names)
