"""What each voltage of a recording is: live, dead, calculated or not of the supply; one decision for all of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.recordings.frequency import supply_frequency_shares
from pqswarm.recordings.phases import find_phase
from pqswarm.recordings.recording import STATES, Channel
from pqswarm.recordings.text import first_names

LIVE, DEAD, PART, CALCULATED, OTHER = STATES
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
_NOMINAL = (0.1, 3.0)  # tuned
"""Largest RMS over a given nominal voltage of a channel that needs no further test."""
_SUM, _NOT_ONE = 0.98, 0.9  # tuned
"""Minimum squared correlation with the sum of three phases, and its maximum with one of them."""
_NO_VOLTAGE = 0.05
"""Of the largest RMS: below it, a channel is dead for a part."""
_NEUTRAL = "neutral, residual or open-delta voltage"
_CONTROL = "control quantity"
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
        ``"live"``; ``"dead throughout"``: not connected, or open; ``"dead for a part"`` of the recording;
        ``"calculated"``, such as a sequence component, a residual voltage, a magnitude or an angle; or
        ``"not of the supply"``.
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


def describe_states(states: Sequence[ChannelState]) -> list[str]:
    """A sentence for each state but live: ``"Calculated: UN (neutral voltage)."``."""
    said: dict[str, dict[str, list[str]]] = {}
    for one in states:
        if one.state != LIVE:
            said.setdefault(one.state, {}).setdefault(one.reason, []).append(one.name)
    return [
        f"{state.capitalize()}: {'; '.join(f'{first_names(names, 20)} ({why})' for why, names in reasons.items())}."
        for state, reasons in said.items()
    ]


def mark_dead_parts(
    states: Sequence[ChannelState], numbers: Sequence[int], urms: FloatArray, frequency: float
) -> tuple[ChannelState, ...]:
    """Live channels without voltage for a cycle or more are dead for a part, by their RMS [V] each half cycle."""
    dead = {}
    for number, row in zip(numbers, urms, strict=True):
        known = row[np.isfinite(row)]
        count = int(np.sum(known <= _NO_VOLTAGE * known.max(initial=0.0)))
        if 2 <= count < known.size:
            dead[number] = f"no voltage for {count / (2 * frequency):.2g} s of {known.size / (2 * frequency):.3g} s"
    return tuple(
        replace(one, state=PART, reason=dead[one.number]) if one.state == LIVE and one.number in dead else one
        for one in states
    )


def told_states(
    bank: Sequence[SupplyChannel], sampling_rate: float, nominal_frequency: float
) -> dict[int, tuple[str, str]]:
    """States by `id` that the user or a name tells; some names do not count if the samples are a sine."""
    numbered = {id(one): match[1] for one in bank if (match := _NUMBERED.search(one.channel.name))}
    lettered = {one.channel.phase for one in bank if id(one) not in numbered} >= {"A", "B", "C"}
    told = {}
    for one in bank:
        channel = one.channel
        if channel.state:
            told[id(one)] = (channel.state, "given")
        elif (channel.phase or find_phase("", channel.name)) == "N":
            told[id(one)] = (CALCULATED, _NEUTRAL)
        elif _SEQUENCE.search(channel.name):
            told[id(one)] = (CALCULATED, "sequence component")
        else:
            part = lettered and id(one) in numbered and "3" not in numbered.values()
            doubtful = part or _CONTROLLED.search(channel.name)
            if doubtful and not is_wave(one, sampling_rate, nominal_frequency, solid=True):
                told[id(one)] = (CALCULATED, "sequence component or magnitude" if part else _CONTROL)
    return told


def measured_states(
    bank: Sequence[SupplyChannel],
    systems: Sequence[str],
    sampling_rate: float,
    frequency: float,
    nominal: float | Mapping[str, float] | None,
) -> dict[int, tuple[str, str]]:
    """States by `id` that the samples show; the systems are those of `bank`, and a nominal voltage [V] may be given."""
    waves = {id(one): _has_nominal_level(one, bank, nominal) or is_wave(one, sampling_rate, frequency) for one in bank}
    strongest = max((one.size for one in bank if waves[id(one)]), default=0.0)
    best: dict[str, float] = {}
    for one, system in zip(bank, systems, strict=True):
        if waves[id(one)]:
            best[system] = max(best.get(system, 0.0), one.size)
    found = {}
    for one, system in zip(bank, systems, strict=True):
        beside = best.get(system, 0.0) if one.channel.phase else 0.0
        if one.filled.size < sampling_rate / frequency:
            found[id(one)] = (LIVE, "too short to tell")
        else:
            found[id(one)] = _judge_by_size(one, waves[id(one)], beside, strongest)
    triples = _three_live_phases(bank, systems, found)
    phases = [one for triple in triples for one in triple]
    for one in bank:
        if found[id(one)][0] == LIVE and one not in phases and any(_is_sum_of_phases(one, each) for each in triples):
            found[id(one)] = (CALCULATED, "sum of the three phases: residual or open-delta voltage")
    return found


def is_wave(one: SupplyChannel, sampling_rate: float, frequency: float, *, solid: bool = False) -> bool:
    """Whether enough of the live cycles are sines, more or less; `solid` if they must be many."""
    shares = supply_frequency_shares(one.filled, sampling_rate, frequency)
    if 0 < shares.size <= _FEW_CYCLES and not solid:  # of an interruption little is left but its edges
        step = sampling_rate / frequency
        starts = (one.filled[round(k * step / 4) :] for k in range(4))
        shares = np.concatenate([supply_frequency_shares(part, sampling_rate, frequency) for part in starts])
        return bool(shares.max() > _CLEAR and shares.mean() > _MEAN)
    least = _SOME if one.channel.phase and not solid else _MOST_CYCLES
    return shares.size > (_FEW_CYCLES if solid else 0) and bool(np.mean(shares > _SINE) >= least)


def all_dead(states: Sequence[tuple[str, str]]) -> bool:
    """Whether there is no voltage at all, and nothing that is no voltage."""
    return all(state == DEAD or reason == _NEUTRAL for state, reason in states)


def _has_nominal_level(
    one: SupplyChannel, bank: Sequence[SupplyChannel], nominal: float | Mapping[str, float] | None
) -> bool:
    """Whether a nominal voltage that is given fits a channel: one with a phase, or no channel has one."""
    volts = nominal.get(one.channel.name) if isinstance(nominal, Mapping) else nominal
    phased = bool(one.channel.phase) or not any(other.channel.phase for other in bank)
    return volts is not None and phased and _NOMINAL[0] * volts < one.size < _NOMINAL[1] * volts


def _judge_by_size(one: SupplyChannel, wave: bool, beside: float, strongest: float) -> tuple[str, str]:
    """State of a channel; `beside` is the strongest of its system, `strongest` that of all [V]."""
    mean = abs(float(one.filled.mean()))
    if beside > 0 and one.size <= (_DEAD if wave else _DEAD_NOISE) * beside:
        return DEAD, "no voltage beside live phases: not connected, or open"
    if max(one.size, mean) <= max(_NOTHING * strongest, 0.0 if wave else _FEW_VOLTS):
        return DEAD, "no voltage"
    if mean > (2 if one.channel.phase else 1) * one.size:
        return OTHER, "direct voltage"
    if not one.channel.phase and one.size < _WEAK * strongest:
        return OTHER, "no supply voltage"
    return (LIVE, "") if wave else (OTHER, "no waveform of the supply frequency")


def _three_live_phases(
    bank: Sequence[SupplyChannel], systems: Sequence[str], found: Mapping[int, tuple[str, str]]
) -> list[list[SupplyChannel]]:
    """The phases A, B and C of each system that has all of them live."""
    triples = []
    for system in dict.fromkeys(systems):
        own = [one for one, name in zip(bank, systems, strict=True) if name == system and found[id(one)][0] == LIVE]
        if sorted(one.channel.phase for one in own) == ["A", "B", "C"]:
            triples.append(own)
    return triples


def _is_sum_of_phases(one: SupplyChannel, triple: Sequence[SupplyChannel]) -> bool:
    """Whether a channel follows the sum of three phases, and none of them alone."""
    x = one.filled - one.filled.mean()

    def follows(other: FloatArray) -> float:
        y = other - other.mean()
        power = float(np.dot(x, x) * np.dot(y, y))
        return float(np.dot(x, y)) ** 2 / power if power > 0 else 0.0

    alone = max(follows(phase.filled) for phase in triple)
    return alone < _NOT_ONE and follows(np.sum([phase.filled for phase in triple], axis=0)) > _SUM
