"""From what was found on each channel to the list of events: one for each thing that happened."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.voltage_changes import VoltageChange, find_voltage_changes
from pqswarm.measure.event import Event, Part
from pqswarm.measure.group.joins import join_systems, join_transients
from pqswarm.measure.group.sag_type import fit_phasor, sag_type, symmetrical_components
from pqswarm.measure.group.sentences import (
    describe_change,
    describe_disturbances,
    describe_flags,
    describe_transients,
    group_events,
    group_transients,
    merge_events,
)
from pqswarm.measure.steady import steady_events

if TYPE_CHECKING:
    from pqswarm.measure.characterisation import ChannelResult, Disturbance, Flag
    from pqswarm.measure.detect.scan import Scan
    from pqswarm.measure.detect.transients import Transient
    from pqswarm.measure.supply.survey import Supply
    from pqswarm.measure.thresholds import Thresholds
    from pqswarm.recordings.recording import RecordingSource

__all__ = ["list_events"]

_SOON = 10.0
"""The type of a sag is that of its lowest voltage in the first cycles."""
_PAST, _USUAL, _TURNS = 2.0, 0.1, 8
"""How long before a sag [s], how near to 1 pu, and over how many values of Urms(1/2) its phasors are compared with."""
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
    large, transients = join_transients(large, transients, supply.frequency)
    steady = lister.steady(large, transients)
    changes = lister.changes(large, steady)
    found = join_systems([*large, *transients, *steady, *changes], supply.frequency) or [lister.nothing()]
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
                _standard_duration(one),
                self._number(one),
            )
            for one in sorted(group, key=lambda one: (one.phases, one.channels, one.start))
        )
        members = [one for i, one in enumerate(self.channels) if self.supply.system_of(i) == whole.system]
        worst = min(group, key=lambda one: abs(one.magnitude - whole.magnitude))
        dip = self._sag_type(members, worst) if whole.kind != "swell" else ("", {})
        together = max(
            (
                one.urms_duration
                for one in polyphase
                if one.kind == whole.kind == "interruption"
                and one.system == whole.system
                and one.start < whole.end
                and one.end > whole.start
            ),
            default=0.0,
        )
        details = {**dip[1], "all_phases_s": together} if together else dip[1]
        return Event(
            kind=whole.kind,
            category=whole.category,
            parts=parts,
            system=whole.system,
            magnitude=whole.magnitude,
            unit="pu",
            start=whole.start,
            end=whole.end,
            duration=_standard_duration(whole),
            nominal_frequency=self.supply.nominal_frequency,
            reference=self._reference(worst),
            sentence=describe_disturbances(group),
            sag_type=dip[0],
            cut_start=whole.cut_start,
            cut_end=whole.cut_end,
            details=details,
        )

    def _sag_type(self, members: "Sequence[ChannelResult]", worst: "Disturbance") -> tuple[str, dict[str, float]]:
        """Type and phase jump [degrees] from phasors [pu] before the event and at its lowest voltage soon after.

        Between the two, phasors turn by as much as the frequency is off; the cycles before tell by how much.
        """
        frequency, time = self.supply.frequency, self.scan.time
        own = self.channels[self.places[id(worst)]]
        if len(members) != 3 or not all(one.reference > 0 for one in members):
            return "", {}
        soon = min(worst.urms_end, worst.urms_start + _SOON / frequency)
        inside = (time >= worst.urms_start - 1e-9) & (time <= soon + 1e-9)
        body = inside & (time >= worst.start + 0.5 / frequency) & (time <= worst.end - 0.5 / frequency)
        inside = body if body.any() else inside
        lowest = int(np.where(inside & np.isfinite(own.urms), own.urms, np.inf).argmin())
        usual = np.all([np.abs(one.urms - 1) < _USUAL for one in members], axis=0)
        calm = np.flatnonzero(usual & (time < worst.start - 0.75 / frequency) & (time > worst.start - _PAST))
        if not calm.size:
            return "", {}
        first, last = time[max(int(calm[-1]) - _TURNS, int(calm[0]))], time[calm[-1]]
        moments = [float(first), float(last), float(time[lowest])]
        phasors = [self._phasors(members, moment) for moment in moments]
        if any(each is None for each in phasors):
            return "", {}
        turn = 0.0
        if last > first:
            before = [symmetrical_components(each)[1] for each in phasors[:2] if each is not None]
            slip = float(np.angle(before[1] / before[0])) if abs(before[0]) > _USUAL else 0.0
            turn = slip / (moments[1] - moments[0]) * (moments[2] - moments[1])
        steady, during = phasors[1], [one * np.exp(-1j * turn) for one in phasors[2] or ()]
        place = [one.number for one in members].index(own.number)
        angle = float(np.degrees(np.angle(during[place] / steady[place]))) if steady and during[place] else 0.0
        return sag_type([one.phase for one in members], steady or (), during), {"phase_jump": round(angle, 2)}

    def _phasors(self, members: "Sequence[ChannelResult]", moment: float) -> list[complex] | None:
        """Phasors [pu] of the cycle about a moment [s]; None if it is not whole."""
        rate, frequency = self.recording.sampling_rate, self.supply.frequency
        width = round(rate / frequency)
        first = round(moment * rate) - width // 2
        if first < 0 or first + width > self.recording.n_samples:
            return None
        volts = read_channels(self.recording, [one.number for one in members], first, first + width)
        if not np.isfinite(volts).all():
            return None
        return [
            fit_phasor(samples / one.reference, first, rate, frequency)
            for samples, one in zip(volts, members, strict=True)
        ]

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
            if self.scan.is_long_for_flicker:
                return [self._numbered(event) for event in found]
            found = [self._numbered(event) for event in found if event.kind != "flicker"]
            return found + self._flagged_kinds()
        return self._flagged_kinds()

    def _flagged_kinds(self) -> list[Event]:
        """Events of what is steady in all of a short recording."""
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

        Those beside a sag or swell, in flicker, and where notches begin and end, are part of these.
        """
        others = [(event.system, event.start, event.end) for event in large]
        for event in steady:
            if event.kind == "flicker":
                others.append((event.system, event.start, event.end))
            elif event.kind == "notching":
                ends = ((event.start, event.cut_start), (event.end, event.cut_end))
                others += [(event.system, moment, moment) for moment, cut in ends if not cut]
        found: list[tuple[str, ChannelResult, VoltageChange]] = []
        for i, one in enumerate(self.channels):
            if not one.reference > 0:
                continue
            made = find_voltage_changes(one.urms, one.spans, self.supply.frequency, self.thresholds.voltage_change)
            found += [(self.supply.system_of(i), one, change) for change in made]
        groups: list[list[tuple[str, ChannelResult, VoltageChange]]] = []
        for each in sorted(found, key=lambda item: (item[0], item[2].first)):
            group = groups[-1] if groups else []
            if group and group[0][0] == each[0] and each[2].first <= max(item[2].stop for item in group) + 1:
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


def _standard_duration(one: "Disturbance") -> float:
    """Duration by Urms(1/2); of an event that the record cuts, at least what is seen of it [s]."""
    return max(one.urms_duration, one.duration) if one.cut_start or one.cut_end else one.urms_duration


def _median(one: "ChannelResult") -> float:
    known = one.urms[np.isfinite(one.urms)]
    return float(np.median(known)) if known.size and one.reference > 0 else 0.0


def _overlaps(event: Event, system: str, start: float, end: float) -> bool:
    return event.system == system and event.start < end + _BESIDE and event.end > start - _BESIDE
