"""Survey of a recording before it is measured: supply voltages, frequency and the voltage of 1 pu."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import voltage_text
from pqswarm.errors import PqswarmError
from pqswarm.measure.detect.pages import PAGE
from pqswarm.measure.detect.urms import half_cycle_rms, known_median
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker
from pqswarm.measure.supply.channels import DISCONNECTED, ChannelState, select_channels
from pqswarm.measure.supply.reference import Reference, choose_reference, is_line_to_line
from pqswarm.measure.supply.wiring import describe_wiring
from pqswarm.recordings.frequency import supply_share
from pqswarm.recordings.recording import ChannelHeader, Recording, RecordingSource

_MIN_SHARE = 0.3  # tuned
"""Of the fundamental in the mean square of a supply voltage."""


@dataclass(frozen=True, eq=False)
class Supply:
    """The supply voltages of a recording, with their places `numbers` among its channels.

    The frequency [Hz] is None in `measured` if it could not be measured; `references` are the voltages of 1 pu;
    `states` says what each voltage of the recording is, `caveats` what is odd about them.
    """

    numbers: tuple[int, ...]
    headers: tuple[ChannelHeader, ...]
    systems: tuple[str, ...]
    references: tuple[Reference, ...]
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

    def part_on(self, i: int) -> ChannelEventMaker:
        """Return a function that makes parts on channel `i`."""
        header = self.headers[i]
        return partial(
            ChannelEvent, number=self.numbers[i], channel=header.name, phase=header.phase, system=self.system_of(i)
        )


def survey(
    source: RecordingSource, reference: str | float, nominal_voltage: float | Mapping[str, float] | None,
    channels: Sequence[str] | None,
) -> Supply:  # fmt: skip
    """Find the supply voltages of a recording from its first page, or that in which most channels are live."""
    look = _choose_surveyed_stretch(source)
    chosen, states, measured = select_channels(look, channels, nominal_voltage)
    nominal_frequency = source.nominal_frequency
    if measured is not None and abs(measured / nominal_frequency - 1) > 0.08:
        standard = min((50.0, 60.0), key=lambda f: abs(f - measured))
        # A grid, or a machine that runs away from it.
        nominal_frequency = standard if abs(measured / standard - 1) < 0.08 else nominal_frequency
    frequency = source.nominal_frequency if measured is None else measured
    places = {id(channel): number for number, channel in enumerate(look.channels)}
    numbers = [places[id(one.channel)] for one in chosen]
    dead = {one.number for one in states if one.state == DISCONNECTED}
    urms = [half_cycle_rms(one.channel.samples, source.sampling_rate, frequency)[1] for one in chosen]
    systems = [one.system for one in chosen]
    nominals, caveats = _surveyed_nominal_voltages([one.channel for one in chosen], urms, nominal_voltage)
    references: dict[int, Reference] = {}
    for system in dict.fromkeys(systems):
        members = [i for i, name in enumerate(systems) if name == system]
        made = choose_reference(
            reference,
            [urms[i] for i in members],
            [chosen[i].channel.phase for i in members],
            [
                numbers[i] not in dead and supply_share(chosen[i].filled, source.sampling_rate, frequency) > _MIN_SHARE
                for i in members
            ],
            [nominals[i] for i in members],
            frequency,
        )
        references |= dict(zip(members, made, strict=True))
    return Supply(
        numbers=tuple(numbers),
        headers=tuple(_surveyed_channel(one.channel) for one in chosen),
        systems=tuple(systems),
        references=tuple(references[i] for i in range(len(chosen))),
        measured=measured,
        nominal_frequency=nominal_frequency,
        states=states,
        caveats=(*caveats, *describe_wiring(chosen, source.sampling_rate, frequency)),
    )


def _surveyed_channel(channel: ChannelHeader) -> ChannelHeader:
    """A channel without its samples."""
    return ChannelHeader(channel.name, channel.unit, channel.phase, system=channel.system)


def _surveyed_nominal_voltages(
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
        said = (
            f"All phases are near 0.58 of the nominal voltage of {voltage_text(given)}: it was taken as line to line, "
        )
        return [to_neutral] * len(channels), [f"{said}1 pu is {voltage_text(to_neutral)}."]
    if given is None or not kinds >= {1, 2}:
        return [given] * len(channels), []
    levels = {
        kind: np.median([known_median(v) for v, c in zip(urms, channels, strict=True) if len(c.phase) == kind])
        for kind in (1, 2)
    }
    own = min((1, 2), key=lambda kind: abs(np.log(max(levels[kind], 1e-9) / given)))
    factors = {own: 1.0, 3 - own: 3**0.5 if own == 1 else 3**-0.5}
    return [given * factors.get(len(channel.phase), 1.0) for channel in channels], []


def _choose_surveyed_stretch(source: RecordingSource) -> Recording:
    """All of a recording of less than two pages; else its first, middle or last page, where most channels are live."""
    if not source.n_samples:
        raise PqswarmError(f"{source.source or 'the recording'} has no samples.")
    if source.n_samples < 2 * PAGE:
        return source.read()
    starts = (0, (source.n_samples - PAGE) // 2, source.n_samples - PAGE)
    looks = [source.read(start, start + PAGE) for start in starts]
    voltages = [[one.samples[np.isfinite(one.samples)] for one in look.voltages] for look in looks]
    size = np.array([[x.std() if x.size else 0.0 for x in own] for own in voltages])
    live = (size > 0.5 * size.max(axis=0)).sum(axis=1)
    return looks[int(live.argmax())]
