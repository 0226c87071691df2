"""Survey of a recording before it is measured: supply voltages, frequency and the voltage of 1 pu."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pqswarm._base.text import voltage_text
from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.measure.detect.frequency import trace_frequency, window_lengths
from pqswarm.measure.detect.pages import PAGE
from pqswarm.measure.detect.urms import MeanSquare, median_of_known_urms, window_centres
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker
from pqswarm.measure.supply.channels import DISCONNECTED, ChannelState, SupplyChannel, select_channels
from pqswarm.measure.supply.reference import LevelFacts, SupplyReference, choose_references, is_line_to_line
from pqswarm.recordings.frequency import fundamental_fraction
from pqswarm.recordings.recording import ChannelHeader, Recording, RecordingSource

_MIN_FRACTION = 0.3  # tuned
"""Of the fundamental in the mean square of a supply voltage."""
_FEWEST = 4
"""Samples to which a sine is fitted."""


@dataclass(frozen=True, eq=False)
class Supply:
    """The supply voltages of a recording, with their places `numbers` among its channels.

    The frequency [Hz] is None in `measured` if it could not be measured; `references` are the voltages of 1 pu;
    `states` says what each voltage of the recording is, `caveats` what is odd about them.
    """

    numbers: tuple[int, ...]
    headers: tuple[ChannelHeader, ...]
    systems: tuple[str, ...]
    references: tuple[SupplyReference, ...]
    measured: float | None
    nominal_frequency: float
    states: tuple[ChannelState, ...]
    caveats: tuple[str, ...] = ()

    @property
    def frequency(self) -> float:
        """Measured frequency, or the nominal one [Hz]."""
        return self.nominal_frequency if self.measured is None else self.measured

    def system_of(self, i: int) -> str:
        """Name of the system of a channel; empty if there is only one."""
        return self.systems[i] if len(set(self.systems)) > 1 else ""

    def members_of(self, system: str) -> list[int]:
        """Channels of a system, by the name of :meth:`system_of`."""
        return [i for i in range(len(self.numbers)) if self.system_of(i) == system]

    def part_on(self, i: int) -> ChannelEventMaker:
        """Return a function that makes parts on channel `i`."""
        header = self.headers[i]
        return partial(
            ChannelEvent, number=self.numbers[i], channel=header.name, phase=header.phase, system=self.system_of(i)
        )


def survey_supply(
    source: RecordingSource,
    reference: str | float,
    nominal_voltage: float | Mapping[str, float] | None,
    channels: Sequence[str] | None,
) -> Supply:
    """Find the supply voltages of a recording from its first page, or that in which most channels are live."""
    look = _choose_page_to_survey(source)
    rate = source.sampling_rate
    chosen, states, measured = select_channels(look, channels, nominal_voltage)
    frequency = source.nominal_frequency if measured is None else measured
    dead = {state.number for state in states if state.state == DISCONNECTED}
    is_short = look.n_samples < rate / frequency
    if is_short:
        urms = [_fit_part_of_cycle(one.filled, rate, frequency) for one in chosen]
    else:
        urms = _survey_urms(chosen, rate / frequency)
    headers = [one.channel for one in chosen]
    nominals, caveats = _survey_nominal_voltages(headers, urms, nominal_voltage)
    facts: dict[str, dict[int, LevelFacts]] = {}
    for one, values, nominal in zip(chosen, urms, nominals, strict=True):
        is_sine = is_short or fundamental_fraction(one.filled, rate, frequency) > _MIN_FRACTION
        is_live = one.number not in dead and is_sine
        members = facts.setdefault(one.system, {})
        members[one.number] = LevelFacts(values if is_live else np.zeros(0), one.phase, nominal, frequency)
    references = {
        number: chosen_reference
        for members in facts.values()
        for number, chosen_reference in zip(members, choose_references(reference, list(members.values())), strict=True)
    }
    return Supply(
        numbers=tuple(one.number for one in chosen),
        headers=tuple(ChannelHeader(one.name, one.unit, one.phase, system=one.system) for one in headers),
        systems=tuple(one.system for one in chosen),
        references=tuple(references[one.number] for one in chosen),
        measured=measured,
        nominal_frequency=_survey_nominal_frequency(source.nominal_frequency, measured),
        states=states,
        caveats=(*caveats, *describe_wiring(chosen, rate, frequency)),
    )


def _survey_urms(channels: Sequence[SupplyChannel], cycle: float) -> list[FloatArray]:
    """Urms(1/2) of each channel [V], in windows that follow the frequency of the largest system."""
    systems = [one.system for one in channels]
    members = [one for one in channels if one.system == max(systems, key=systems.count)]
    centres = window_centres(channels[0].filled.size, cycle)
    ratio = trace_frequency(np.array([one.filled for one in members]), [one.phase for one in members], centres, cycle)
    lengths = window_lengths(ratio, cycle)
    return [np.sqrt(MeanSquare(one.channel.samples, cycle).at(centres, lengths)) for one in channels]


def _fit_part_of_cycle(samples: FloatArray, sampling_rate: float, frequency: float) -> FloatArray:
    """RMS of the sine that explains a record of less than a cycle; none if it has less than half, or is no sine."""
    angle = 2 * np.pi * frequency / sampling_rate * np.arange(samples.size)
    if samples.size < max(sampling_rate / frequency / 2, _FEWEST) or not np.sum(samples**2):
        return np.zeros(0)
    basis = np.column_stack([np.cos(angle), np.sin(angle)])
    fit, *_ = np.linalg.lstsq(basis, samples, rcond=None)
    left = float(np.sum((samples - basis @ fit) ** 2)) / float(np.sum(samples**2))
    return np.full(1, np.hypot(*fit) / np.sqrt(2)) if left < 1 - _MIN_FRACTION else np.zeros(0)


def _survey_nominal_frequency(given: float, measured: float | None) -> float:
    """The given frequency, or a standard one that is plainly measured: else a machine runs away from the grid [Hz]."""
    if measured is None or abs(measured / given - 1) <= 0.08:
        return given
    standard = min((50.0, 60.0), key=lambda hertz: abs(hertz - measured))
    return standard if abs(measured / standard - 1) < 0.08 else given


def _survey_nominal_voltages(
    channels: Sequence[ChannelHeader], urms: Sequence[FloatArray], given: float | Mapping[str, float] | None
) -> tuple[list[float | None], list[str]]:
    """Nominal voltage of each channel [V], and what was assumed.

    A single one, where a recording has voltages to neutral and between phases, is that of the kind nearer to it; where
    all phases to neutral are at 0.577 of it, it is line to line.
    """
    if isinstance(given, Mapping):
        return [given.get(channel.name) for channel in channels], []
    kinds = {len(channel.phase) for channel in channels}
    if given is not None and kinds == {1} and len(channels) > 1 and is_line_to_line(given, urms):
        to_neutral = given / 3**0.5
        caveat = (
            f"All phases are near 0.58 of the nominal voltage of {voltage_text(given)}: it was taken as line to line, "
            f"1 pu is {voltage_text(to_neutral)}."
        )
        return [to_neutral] * len(channels), [caveat]
    if given is None or not kinds >= {1, 2}:
        return [given] * len(channels), []
    levels = {
        kind: np.median([median_of_known_urms(v) for v, c in zip(urms, channels, strict=True) if len(c.phase) == kind])
        for kind in (1, 2)
    }
    nearest = min((1, 2), key=lambda kind: abs(np.log(max(levels[kind], 1e-9) / given)))
    factors = {nearest: 1.0, 3 - nearest: 3**0.5 if nearest == 1 else 3**-0.5}
    return [given * factors.get(len(channel.phase), 1.0) for channel in channels], []


def _choose_page_to_survey(source: RecordingSource) -> Recording:
    """All of a recording of less than two pages; else its first, middle or last page, where most channels are live."""
    if source.n_samples < 2 * PAGE:
        return source.read()
    starts = (0, (source.n_samples - PAGE) // 2, source.n_samples - PAGE)
    looks = [source.read(start, start + PAGE) for start in starts]
    voltages = [[one.samples[np.isfinite(one.samples)] for one in look.voltages] for look in looks]
    size = np.array([[x.std() if x.size else 0.0 for x in rows] for rows in voltages])
    return looks[int((size > 0.5 * size.max(axis=0)).sum(axis=1).argmax())]


_SOUND = 0.7  # tuned
"""Minimum voltage of all phases, over the highest, in the cycle that is looked at."""
_NEAR = np.radians(20)  # tuned
"""Maximum departure from the angles of a balanced system; between the wirings there are 60 degrees."""


def describe_wiring(channels: Sequence[SupplyChannel], sampling_rate: float, frequency: float) -> list[str]:
    """A sentence for each three-phase system in which a phase is reversed, or two are swapped."""
    sentences: list[str] = []
    step = round(sampling_rate / frequency)
    turn = np.exp(-2j * np.pi * frequency / sampling_rate * np.arange(min(step, channels[0].filled.size)))
    systems = dict.fromkeys(one.system for one in channels)
    for system in systems:
        members = sorted((one for one in channels if one.system == system), key=lambda one: one.phase)
        names = [one.phase for one in members]
        if names not in (["A", "B", "C"], ["AB", "BC", "CA"]) or members[0].filled.size < step:
            continue
        cycles = [one.filled[: one.filled.size // step * step].reshape(-1, step) for one in members]
        phasors = np.array([np.einsum("ij,j->i", rows, turn) for rows in cycles])
        size = np.abs(phasors)
        best = int(size.min(axis=0).argmax())
        if size[:, best].min() <= _SOUND * size.max():
            continue
        of_system = f" of {system}" if len(systems) > 1 else ""
        first = int((size.min(axis=0) > _SOUND * size.max()).argmax())  # two may be exchanged after it
        if _rotation_of_supply(phasors[:, best]) < 0 and _rotation_of_supply(phasors[:, first]) <= 0:
            sentences.append(f"The phases{of_system} rotate {names[0]}-{names[2]}-{names[1]}: two of them are swapped.")
        sentences += [
            f"Phase {name}{of_system} is reversed: with its sign changed, the phases are 120 degrees apart."
            for name, sign in zip(names, 1 - 2 * np.eye(3), strict=True)
            if _rotation_of_supply(phasors[:, best] * sign)
        ]
    return sentences


def _rotation_of_supply(phasors: AnyArray) -> int:
    """1 if three phasors follow each other by 120 degrees, -1 if they do so in the other sense, else 0."""
    for sense in (1, -1):
        aligned = phasors * np.exp(2j * np.pi / 3 * sense * np.arange(3))
        if np.abs(np.angle(aligned[1:] * np.conj(aligned[0]))).max() < _NEAR:
            return sense
    return 0
