"""From what was found on each channel to the list of events: one for each thing that happened."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from pqswarm.measure.event import Event, Part
from pqswarm.measure.pages import read_channels
from pqswarm.measure.sag_types import fit_phasor, sag_type
from pqswarm.measure.sentences import (
    describe_change,
    describe_disturbances,
    describe_flags,
    describe_transients,
    group_events,
    group_transients,
    merge_events,
)
from pqswarm.measure.steady import steady_events
from pqswarm.measure.voltage_changes import VoltageChange, find_voltage_changes

if TYPE_CHECKING:
    from pqswarm.measure.characterisation import ChannelResult, Disturbance, Flag
    from pqswarm.measure.scan import Scan
    from pqswarm.measure.survey import Supply
    from pqswarm.measure.thresholds import Thresholds
    from pqswarm.measure.transients import Transient
    from pqswarm.recordings.recording import RecordingSource

__all__ = ["list_events"]

_AT_EDGE = 1.0
"""A transient within this many cycles of the edge of a sag or swell is part of it."""
_SAME_TIME = 1.0
"""Events of two systems begin and end within this many cycles if they are the same."""
_SAME_SIZE = 0.02
"""Their magnitudes differ by no more [pu]."""
_BESIDE = 0.3
"""A small change this close to a sag, swell or interruption of its system is part of it [s]."""


def list_events(
    recording: "RecordingSource",
    supply: "Supply",
    scan: "Scan",
    channels: "Sequence[ChannelResult]",
    polyphase: "Sequence[Disturbance]",
    thresholds: "Thresholds",
) -> tuple[Event, ...]:
    """List the events of all channels in order of time; one of kind "none" if there is nothing else."""
    lister = _Lister(recording, supply, scan, channels, thresholds)
    large = [lister.disturbance(group, polyphase) for group in group_events(e for one in channels for e in one.events)]
    transients = list(map(lister.transient, group_transients(t for one in channels for t in one.transients)))
    large, transients = _join_transients(large, transients, supply.frequency)
    steady = lister.steady(large, transients)
    changes = lister.changes(large, steady)
    found = _join_systems([*large, *transients, *steady, *changes], supply.frequency) or [lister.nothing()]
    return tuple(sorted(found, key=lambda event: (event.start, event.system, event.kind)))


class _Lister:
    """Makes events from the findings of the channels of one recording."""

    def __init__(
        self,
        recording: "RecordingSource",
        supply: "Supply",
        scan: "Scan",
        channels: "Sequence[ChannelResult]",
        thresholds: "Thresholds",
    ) -> None:
        self.recording, self.supply, self.scan = recording, supply, scan
        self.channels, self.thresholds = channels, thresholds
        self.places = {
            id(found): i for i, one in enumerate(channels) for found in (*one.events, *one.transients, *one.flags)
        }

    def _number(self, found: object) -> int:
        """Place in the recording of the channel on which something was found."""
        return self.channels[self.places[id(found)]].number

    def _reference(self, found: object) -> float:
        """What 1 pu is on that channel [V]."""
        return self.channels[self.places[id(found)]].reference

    def disturbance(self, group: "Sequence[Disturbance]", polyphase: "Sequence[Disturbance]") -> Event:
        """Event of the sags, swells or interruptions of a system that overlap in time."""
        whole = merge_events(group)
        parts = tuple(
            Part(
                one.channels[0],
                one.phases[0],
                one.magnitude,
                one.start,
                one.end,
                one.urms_duration,
                self._number(one),
            )
            for one in sorted(group, key=lambda one: (one.phases, one.channels, one.start))
        )
        members = [one for i, one in enumerate(self.channels) if self.supply.system_of(i) == whole.system]
        # By the polyphase rule an interruption of all phases lasts until the first is back.
        duration = max(
            (
                one.urms_duration
                for one in polyphase
                if one.kind == whole.kind == "interruption"
                and one.system == whole.system
                and one.start < whole.end
                and one.end > whole.start
            ),
            default=whole.urms_duration,
        )
        worst = min(group, key=lambda one: abs(one.magnitude - whole.magnitude))
        dip = self._sag_type(members, worst) if whole.kind != "swell" else ("", {})
        return Event(
            kind=whole.kind,
            category=whole.category,
            parts=parts,
            system=whole.system,
            magnitude=whole.magnitude,
            unit="pu",
            start=whole.start,
            end=whole.end,
            duration=duration,
            nominal_frequency=self.supply.nominal_frequency,
            reference=self._reference(worst),
            sentence=describe_disturbances(group),
            sag_type=dip[0],
            cut_start=whole.cut_start,
            cut_end=whole.cut_end,
            details=dip[1],
        )

    def _sag_type(self, members: "Sequence[ChannelResult]", worst: "Disturbance") -> tuple[str, dict[str, float]]:
        """Type and phase jump [degrees] from phasors before the event and at its lowest voltage."""
        phases = [one.phase for one in members]
        rate, frequency = self.recording.sampling_rate, self.supply.frequency
        width = round(rate / frequency)
        own = self.channels[self.places[id(worst)]]
        inside = (self.scan.time >= worst.urms_start - 1e-9) & (self.scan.time <= worst.urms_end + 1e-9)
        known = np.where(inside & np.isfinite(own.urms), own.urms, np.inf)
        before = int((worst.start - 0.25 / frequency) * rate) - width
        during = round(float(self.scan.time[known.argmin()]) * rate) - width // 2
        if len(members) != 3 or before < 0 or during < 0 or during + width > self.recording.n_samples:
            return "", {}
        numbers = [one.number for one in members]
        volts = [read_channels(self.recording, numbers, place, place + width) for place in (before, during)]
        if not all(np.isfinite(part).all() for part in volts):
            return "", {}
        first, second = (
            [fit_phasor(samples, place, rate, frequency) for samples in part]
            for part, place in zip(volts, (before, during), strict=True)
        )
        place = numbers.index(own.number)
        jump = float(np.degrees(np.angle(second[place] / first[place]))) if abs(first[place]) > 0 else float("nan")
        return sag_type(phases, first, second), {"phase_jump": round(jump, 2)}

    def transient(self, together: "Sequence[Transient]") -> Event:
        """Event of transients that begin together."""
        worst = max(together, key=lambda one: one.peak)
        known = [one.decay for one in together if one.decay == one.decay]
        length = self.recording.n_samples / self.recording.sampling_rate
        end = min(max(one.onset for one in together) + 3 * max(known, default=0.0), length)
        return Event(
            kind="transient",
            category=worst.category,
            parts=tuple(
                Part(one.channel, one.phase, one.peak, one.onset, one.onset, 0.0, self._number(one))
                for one in sorted(together, key=lambda one: (one.phase, one.channel))
            ),
            system=worst.system,
            magnitude=worst.peak,
            unit="pu",
            start=min(one.onset for one in together),
            end=end,
            duration=end - min(one.onset for one in together),
            nominal_frequency=self.supply.nominal_frequency,
            reference=self._reference(worst),
            sentence=describe_transients(together),
            details={"frequency": worst.frequency, "decay": worst.decay, "peak_voltage": worst.peak_voltage},
        )

    def steady(self, large: Sequence[Event], transients: Sequence[Event]) -> list[Event]:
        """Events of what is steady: with begin and end in a long recording, of all of a short one."""
        if self.scan.is_long:
            busy = [(event.start, event.end) for event in (*large, *transients)]
            references = [reference.volts for reference in self.supply.references]
            found = steady_events(self.scan.steady, self.thresholds, quiet=busy, references=references)
            return [self._numbered(event) for event in found]
        flags: dict[tuple[str, str], list[Flag]] = {}
        for one in self.channels:
            for flag in one.flags:
                flags.setdefault((flag.system, flag.kind), []).append(flag)
        return [self._flagged(together) for together in flags.values()]

    def _numbered(self, event: Event) -> Event:
        """The same event, with the places of its channels."""
        known = {(one.name, self.supply.system_of(i)): one.number for i, one in reversed([*enumerate(self.channels)])}
        parts = (replace(part, number=known.get((part.channel, event.system), -1)) for part in event.parts)
        return replace(event, parts=tuple(parts))

    def _flagged(self, flags: "Sequence[Flag]") -> Event:
        length = self.recording.n_samples / self.recording.sampling_rate
        worst = max(flags, key=lambda flag: abs(flag.value))
        return Event(
            kind=worst.kind,
            category=worst.kind,
            parts=tuple(
                Part(flag.channel, flag.phase, 100 * flag.value, 0.0, length, length, self._number(flag))
                for flag in flags
            ),
            system=worst.system,
            magnitude=100 * worst.value,
            unit="%",
            start=0.0,
            end=length,
            duration=length,
            nominal_frequency=self.supply.nominal_frequency,
            reference=self._reference(worst),
            sentence=describe_flags(flags),
            cut_start=True,
            cut_end=True,
            details={"per_cycle": worst.per_cycle} if worst.per_cycle else {},
        )

    def changes(self, large: Sequence[Event], steady: Sequence[Event]) -> list[Event]:
        """Events of small voltage changes that overlap in time on the phases of a system.

        Those beside a sag or swell, in flicker, and where harmonics or notches begin and end, are part of these.
        """
        others = [(event.system, event.start, event.end) for event in large]
        for event in steady:
            edges = (
                [(event.start, event.end)] if event.kind == "flicker" else [(t, t) for t in (event.start, event.end)]
            )
            others += [(event.system, *edge) for edge in edges]
        found: list[tuple[str, ChannelResult, VoltageChange]] = []
        for i, one in enumerate(self.channels):
            if not one.reference > 0:
                continue
            made = find_voltage_changes(one.urms, one.spans, self.supply.frequency, self.thresholds.voltage_change)
            found += [(self.supply.system_of(i), one, change) for change in made]
        groups: list[list[tuple[str, ChannelResult, VoltageChange]]] = []
        reach = round(2 * self.supply.frequency * _BESIDE)
        for each in sorted(found, key=lambda item: (item[0], item[2].first)):
            group = groups[-1] if groups else []
            if group and group[0][0] == each[0] and each[2].first <= max(item[2].stop for item in group) + reach:
                group.append(each)
            else:
                groups.append([each])
        events = [self._change(group) for group in groups]
        return [event for event in events if not any(_overlaps(event, *other) for other in others)]

    def _change(self, group: "Sequence[tuple[str, ChannelResult, VoltageChange]]") -> Event:
        group = sorted(group, key=lambda item: (item[1].phase, item[1].name))
        time = self.scan.time
        parts = tuple(
            Part(
                one.name,
                one.phase,
                100 * (change.extreme - change.before),
                float(time[change.first]),
                float(time[min(change.stop, time.size - 1)]),
                float(time[min(change.stop, time.size - 1)] - time[change.first]),
                one.number,
            )
            for _, one, change in group
        )
        worst = max(range(len(group)), key=lambda i: abs(parts[i].magnitude))
        start, end = min(part.start for part in parts), max(part.end for part in parts)
        return Event(
            kind="voltage change",
            category="small voltage change",
            parts=parts,
            system=group[0][0],
            magnitude=parts[worst].magnitude,
            unit="%",
            start=start,
            end=end,
            duration=end - start,
            nominal_frequency=self.supply.nominal_frequency,
            reference=group[worst][1].reference,
            sentence=describe_change(parts, group[0][0], group[worst][2], self.supply.nominal_frequency),
            cut_end=any(change.open_end for _, _, change in group),
            details={"before": group[worst][2].before, "after": group[worst][2].after},
        )

    def nothing(self) -> Event:
        """The event that stands for an undisturbed recording."""
        length = self.recording.n_samples / self.recording.sampling_rate
        parts = tuple(Part(one.name, one.phase, _median(one), 0.0, length, length, one.number) for one in self.channels)
        worst = max(range(len(parts)), key=lambda i: abs(1 - parts[i].magnitude))
        known = bool(np.isfinite(self.scan.urms).any())
        live = known and any(one.reference > 0 for one in self.channels)
        return Event(
            kind="none",
            category="no disturbance" if live else "no voltage" if known else "not measurable",
            parts=parts,
            system="",
            magnitude=parts[worst].magnitude,
            unit="pu",
            start=0.0,
            end=length,
            duration=length,
            nominal_frequency=self.supply.nominal_frequency,
            reference=self.channels[worst].reference,
            sentence=(
                "no disturbance found"
                if live
                else "no voltage on any phase: nothing can be said"
                if known
                else "less than a cycle is known: nothing can be said"
            ),
            cut_start=True,
            cut_end=True,
        )


def _join_systems(events: Iterable[Event], frequency: float) -> list[Event]:
    """Make one event of what several systems show alike: two busbars, or the feeders of one, see the same sag."""
    kept: list[Event] = []
    for event in sorted(events, key=lambda one: (one.start, one.system)):
        since = event.start - _SAME_TIME / frequency
        near = takewhile(lambda other: other.start > since, reversed(kept))  # noqa: B023 (used up at once)
        twin = next((other for other in near if _alike(event, other, frequency)), None)
        if twin is None:
            kept.append(event)
        else:
            kept[kept.index(twin)] = replace(twin, also=(*twin.also, event.system))
    return [
        replace(one, sentence=f"{one.sentence}; the same on {', '.join(one.also)}") if one.also else one for one in kept
    ]


def _alike(event: Event, other: Event, frequency: float) -> bool:
    """Whether an event is the same in another system: in kind, phases, time and size."""
    close = _SAME_TIME / frequency
    return (
        (event.kind, event.category, set(event.phases)) == (other.kind, other.category, set(other.phases))
        and event.system not in (other.system, *other.also)
        and all(event.phases)
        and abs(event.start - other.start) < close
        and abs(event.end - other.end) < close
        and abs(event.magnitude - other.magnitude) < _SAME_SIZE * (100 if event.unit == "%" else 1)
    )


def _median(one: "ChannelResult") -> float:
    known = one.urms[np.isfinite(one.urms)]
    return float(np.median(known)) if known.size and one.reference > 0 else 0.0


def _overlaps(event: Event, system: str, start: float, end: float) -> bool:
    return event.system == system and event.start < end + _BESIDE and event.end > start - _BESIDE


def _join_transients(
    large: Iterable[Event], transients: Iterable[Event], frequency: float
) -> tuple[list[Event], list[Event]]:
    """Make one event of a sag or swell and the transients at its edges."""
    kept, left, reach = list(large), [], _AT_EDGE / frequency
    for transient in transients:
        near = [
            event
            for event in kept
            if event.system == transient.system
            and any(abs(transient.start - edge) < reach for part in event.parts for edge in (part.start, part.end))
        ]
        if near:
            event = min(near, key=lambda one: abs(one.start - transient.start))
            peak = max(transient.magnitude, event.details.get("transient_peak", 0.0))
            said = "" if "transient_peak" in event.details else f"; with a transient of {peak:.2f} pu at its edge"
            kept[kept.index(event)] = replace(
                event, sentence=event.sentence + said, details={**event.details, "transient_peak": peak}
            )
        else:
            left.append(transient)
    return kept, left
