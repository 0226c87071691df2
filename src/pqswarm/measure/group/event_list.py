"""From the parts on each channel to the list of events.

Some events belong together: transients at the edges of sags, and the same event on several systems.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.frequency import find_frequency_events
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.scan import Scan
from pqswarm.measure.detect.spans import find_spans, standard_duration
from pqswarm.measure.event import ChannelEvent, Event, category, group_overlapping, group_parts
from pqswarm.measure.group.sag_type import SagPhasors
from pqswarm.measure.group.sentences import (
    describe_change,
    describe_frequency,
    describe_levels,
    describe_steady,
    describe_transients,
)
from pqswarm.measure.steady.harmonics import fit_harmonics
from pqswarm.measure.supply.survey import Supply
from pqswarm.measure.thresholds import Thresholds
from pqswarm.recordings.recording import RecordingSource

_ORDERS = 13
"""Highest order."""
_CYCLES = 2
"""Cycles of a measurement."""
_BEFORE = -3.5  # tuned
_AFTER = 1.25  # tuned
_LATER = 4.25  # tuned
"""Starts of the measurements, from the start of the event [cycles]; off its edges."""
_EDGE = 0.25  # tuned
"""Least distance of a measurement from the end of the event [cycles]."""
_CERTAIN = 3.0
"""Standard deviations of noise beyond which harmonics are not noise."""
_MORE = 0.01  # tuned
"""Rise of the harmonics that is not that of a small fundamental [pu of 1 pu]."""


def rises_in_thd(details: Mapping[str, float], thd: float) -> bool:
    """Whether harmonics appear during an event: the THD rises above a limit, by harmonics that were not there before.

    If what was before is not known, harmonics over 1 pu count: those of the supply do not shrink with a sag.
    """
    during = details.get("distortion_during", 0.0)
    ratio = details.get("thd_during", 0.0)
    if "distortion_before" not in details:
        return during > thd
    return ratio > thd and during - details["distortion_before"] > _MORE


_BESIDE = 0.3  # tuned
"""A rapid voltage change this close to a sag, swell or interruption of its system is part of it [s]."""
_FAR_OFF = 0.08
"""Departure of the mean frequency from nominal from which on a machine runs off the grid, or the rate is wrong."""
_RECOVERY = 3.0  # tuned
_RECOVERED = 0.02  # tuned
"""Time after a sag in which a rise of the voltage is its recovery [s], if it ends no higher than this above 1 pu."""
_TOGETHER = 0.002  # tuned
"""Transients on several channels that start within this time are one [s]."""


@dataclass(frozen=True, eq=False)
class EventList:
    """Makes events from the parts found on the channels of a recording; `urms` is Urms(1/2) [pu] of each channel."""

    recording: RecordingSource
    supply: Supply
    scan: Scan
    urms: FloatArray
    thresholds: Thresholds

    def moving(
        self, levels: Iterable[ChannelEvent], transients: Iterable[ChannelEvent]
    ) -> tuple[list[Event], list[Event]]:
        """Return the sags, swells and interruptions with the transients at their edges, and the other transients."""
        parts = self._join_partial_interruptions(self._split_before_all(levels))
        large = [self._level(group) for group in group_overlapping(parts)]
        together = group_parts(transients, lambda group, part: part.start <= group[0].start + _TOGETHER)
        return join_transients(large, map(self._transient, together), self.supply.frequency)

    def _split_before_all(self, levels: Iterable[ChannelEvent]) -> list[ChannelEvent]:
        """Make a sag of what an interruption of a phase has before all phases of its system are out: a fault."""
        parts = list(levels)
        cycle = 1 / self.supply.frequency
        done: list[ChannelEvent] = []
        for part in parts:
            beside = {
                one.number: one
                for one in parts
                if one.type == part.type == "interruption"
                and one.system == part.system
                and part.start <= one.start < part.end
            }
            all_out = max((one.start for one in beside.values()), default=part.start)
            is_complete = len(beside) == len(self.supply.members_of(part.system)) > 1
            if not is_complete or part.cut_start or all_out - part.start < cycle:
                done.append(part)
                continue
            last = max(beside.values(), key=lambda one: one.start)
            urms = {"urms_start": part.details["urms_start"], "urms_end": last.details["urms_start"]}
            named = category("sag", all_out - part.start, self.supply.nominal_frequency)
            length = urms["urms_end"] - urms["urms_start"]
            row = self.urms[self.supply.numbers.index(part.number)]
            inside = row[(self.scan.time >= urms["urms_start"]) & (self.scan.time <= all_out - cycle / 2)]
            sag = replace(
                part,
                type="sag",
                category=named,
                magnitude=float(np.nanmin(inside, initial=self.thresholds.sag)),
                end=all_out,
                duration=length,
                cut_end=False,
                details=urms,
            )
            details = {**part.details, "urms_start": urms["urms_end"]}
            done += [sag, replace(part, start=all_out, duration=max(part.duration - length, 0.0), details=details)]
        return done

    def _join_partial_interruptions(self, parts: Iterable[ChannelEvent]) -> list[ChannelEvent]:
        """Make an interruption of only some phases of a system a sag, with those next to it (IEC 61000-4-30, 5.5)."""
        done: list[ChannelEvent] = []
        for one in sorted(parts, key=lambda one: (one.number, one.start)):
            part = one
            if part.type == "interruption" and self._is_partial(part):
                named = category("sag", part.end - part.start, self.supply.nominal_frequency)
                details = {**part.details, "phase_interrupted_s": part.duration}
                part = replace(part, type="sag", category=named, details=details)
            last = done[-1] if done and done[-1].number == part.number and done[-1].type == part.type == "sag" else part
            gap = part.details["urms_start"] - last.details["urms_end"]
            is_partial = "phase_interrupted_s" in {**last.details, **part.details}
            if last is not part and is_partial and gap < 0.75 / self.supply.frequency:  # one follows the other
                done[-1] = self._join_sags(last, part)
                continue
            done.append(part)
        return done

    def _join_sags(self, first: ChannelEvent, second: ChannelEvent) -> ChannelEvent:
        """One part of two that follow each other on a channel."""
        details = {**first.details, **second.details, "urms_start": first.details["urms_start"]}
        urms = details["urms_end"] - details["urms_start"]
        return replace(
            first,
            category=category("sag", second.end - first.start, self.supply.nominal_frequency),
            magnitude=min(first.magnitude, second.magnitude),
            end=second.end,
            duration=standard_duration(second.end - first.start, urms, first.cut_start or second.cut_end),
            cut_end=second.cut_end,
            details=details,
        )

    def _is_partial(self, part: ChannelEvent) -> bool:
        """Whether other phases of the system stay live during an interruption."""
        members = self.supply.members_of(self.supply.system_of(self.supply.numbers.index(part.number)))
        return len(members) > 1 and not self._all_phases([part], members)

    def frequency(self) -> tuple[list[Event], str]:
        """Return the events in which the frequency leaves its band, and a caveat if it is off throughout."""
        volts = [reference.volts for reference in self.supply.references]
        strongest = int(np.argmax(volts)) if volts else 0
        nominal = self.supply.nominal_frequency
        if abs(self.supply.frequency / nominal - 1) > _FAR_OFF:  # another caveat says so
            return [], ""
        hertz, time = self.scan.frequency, self.scan.time
        own = self.supply.systems[strongest]
        makers = [self.supply.part_on(i) for i, name in enumerate(self.supply.systems) if name == own]
        found = [find_frequency_events(hertz, time, nominal, self.thresholds, make) for make in makers]
        events = []
        for parts in zip(*(one for one, _ in found), strict=True):
            sentence = describe_frequency(parts[0], nominal)
            events.append(self._event(parts, parts[0], unit="Hz", sentence=sentence, duration=parts[0].duration))
        return events, found[0][1]

    def steady(self, parts: Iterable[ChannelEvent], off_frequency: Sequence[Event] = ()) -> list[Event]:
        """Return the steady disturbances; those of several channels that overlap in time are one.

        What looks like flicker while the frequency is off is none.
        """
        kept = [
            part
            for part in parts
            if part.type != "flicker" or not any(part.start < one.end and part.end > one.start for one in off_frequency)
        ]
        groups = [_join_parts_by_channel(group) for group in group_overlapping(kept)]
        return [self._largest(group, describe_steady(group)) for group in groups]

    def changes(self, parts: Iterable[ChannelEvent], large: Sequence[Event], steady: Sequence[Event]) -> list[Event]:
        """Return the rapid voltage changes that belong to no sag or swell, flicker, or end of notching."""
        others = [(event.system, event.start, event.end) for event in large]
        for event in steady:
            if event.type == "flicker":
                others.append((event.system, event.start, event.end))
            elif event.type == "notching":
                ends = ((event.start, event.cut_start), (event.end, event.cut_end))
                others += [(event.system, moment, moment) for moment, cut in ends if not cut]
        near = 0.75 / self.supply.frequency  # the next value of Urms(1/2)
        groups = group_parts(parts, lambda group, part: part.start <= max(one.end for one in group) + near)
        ordered = [sorted(group, key=lambda part: (part.phase, part.channel)) for group in groups]
        events = [self._largest(one, describe_change(one, self.supply.nominal_frequency)) for one in ordered]
        return [
            event
            for event in events
            if not any(
                event.system == system and event.start < end + _BESIDE and event.end > start - _BESIDE
                for system, start, end in others
            )
            and not any(_is_recovery(event, sag) for sag in large)
        ]

    def finish(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Return the events in order of time."""
        joined = join_systems(events, self.supply.frequency)
        return tuple(sorted(joined, key=lambda event: (event.start, event.system, event.type)))

    def no_event_reason(self) -> str:
        """Return why a recording has no events, in a sentence."""
        if not np.isfinite(self.scan.urms).any():
            return "less than a cycle is known: nothing can be said"
        if not any(reference.volts > 0 for reference in self.supply.references):
            return "no voltage on any phase: nothing can be said"
        return "no disturbance found"

    def _event(self, parts: Sequence[ChannelEvent], worst: ChannelEvent, **given: Any) -> Event:
        """Make the event of some parts, of which the worst one gives the magnitude."""
        start, end = min(part.start for part in parts), max(part.end for part in parts)
        return Event(
            **{
                "type": worst.type,
                "category": worst.category,
                "parts": tuple(parts),
                "system": worst.system,
                "magnitude": worst.magnitude,
                "unit": "%",
                "start": start,
                "end": end,
                "duration": end - start,
                "nominal_frequency": self.supply.nominal_frequency,
                "reference_volts": self.supply.references[self.supply.numbers.index(worst.number)].volts,
                "cut_start": min(parts, key=lambda part: part.start).cut_start,  # a gap cuts single phases
                "cut_end": max(parts, key=lambda part: part.end).cut_end,
                **given,
            }
        )

    def _level(self, group: Sequence[ChannelEvent]) -> Event:
        """Event of the sags, swells or interruptions of a system that overlap in time."""
        choose = max if group[0].type == "swell" else min
        worst = choose(group, key=lambda part: part.magnitude)
        start, end = min(part.start for part in group), max(part.end for part in group)
        urms = min(part.details["urms_start"] for part in group), max(part.details["urms_end"] for part in group)
        is_cut = min(group, key=lambda part: part.start).cut_start or max(group, key=lambda part: part.end).cut_end
        members = self.supply.members_of(group[0].system)
        sag_type = ""
        details: dict[str, float] = {}
        if worst.type != "swell":
            phasors = SagPhasors(self.recording, self.supply, self.scan.time, self.urms, members)
            sag_type, details = phasors.measure(worst)
        details |= self._distortion(worst)
        if worst.type == "interruption" and (together := self._all_phases(group, members)):
            details = {**details, "all_phases_s": together}
        event = self._event(
            sorted(group, key=lambda part: (part.phase, part.channel, part.start)),
            worst,
            category=category(worst.type, end - start, self.supply.nominal_frequency),
            unit="pu",
            duration=standard_duration(end - start, urms[1] - urms[0], is_cut),
            sag_type=sag_type,
            details=details,
            sentence="",
        )
        sentence = describe_levels(event)
        if rises_in_thd(details, self.thresholds.thd):
            before = f", {100 * details['thd_before']:.1f} % before" if "thd_before" in details else ""
            sentence += f"; THD {100 * details['thd_during']:.1f} % during{before}"
        return replace(event, sentence=sentence)

    def _distortion(self, worst: ChannelEvent) -> dict[str, float]:
        """Harmonics before and during an event, on its worst channel, as far as there are enough cycles.

        ``thd_before``, ``thd_during`` are the RMS of the orders 2 to 13 over the fundamental, ``distortion_before``,
        ``distortion_during`` the same over 1 pu, and ``second_before``, ``second_during`` the second harmonic. During
        the event the lower of two measurements counts: what a step leaves decays.
        """
        i = self.supply.numbers.index(worst.number)
        length = self.recording.n_samples / self.recording.sampling_rate
        end = worst.end if worst.end > worst.start and worst.type != "rapid voltage change" else length
        cycle = 1 / self.supply.frequency
        before = self._orders_at(i, worst.start + _BEFORE * cycle)
        if before is None:  # the record starts too late
            before = self._orders_at(i, end + _EDGE * 2 * cycle)
        later = [self._orders_at(i, worst.start + offset * cycle, end - _EDGE * cycle) for offset in (_AFTER, _LATER)]
        during = min((one for one in later if one is not None), key=lambda one: float(one[1]), default=None)
        details = {}
        for name, sizes in (("before", before), ("during", during)):
            if sizes is not None:
                rest = float(np.sqrt(np.sum(sizes[1:] ** 2)))
                details[f"thd_{name}"] = rest / float(sizes[0]) if sizes[0] > 0 else 0.0
                details[f"distortion_{name}"] = rest
                details[f"second_{name}"] = float(sizes[1])
        return {name: round(value, 5) for name, value in details.items()}

    def _orders_at(self, i: int, moment: float, end: float = np.inf) -> FloatArray | None:
        """Sizes of the orders 1, 2, ... of channel `i` in two cycles from a moment on [pu]; None if not all are there.

        What only noise explains is 0.
        """
        rate = self.recording.sampling_rate
        cycle = rate / self.supply.frequency
        orders = min(_ORDERS, int(0.45 * cycle))
        first = round(moment * rate)
        size = round(_CYCLES * cycle)
        if first < 0 or first + size > min(self.recording.n_samples, end * rate) or orders < 2:
            return None
        (samples,) = read_channels(self.recording, [self.supply.numbers[i]], first, first + size)
        volts = self.supply.references[i].volts
        if not np.isfinite(samples).all() or not volts > 0:
            return None
        _, phasors, noise = fit_harmonics(samples / (np.sqrt(2) * volts), cycle, orders, _CYCLES)
        squares = np.abs(phasors) ** 2
        by_noise = 4 * noise**2  # mean square of an amplitude that only noise makes
        if float(np.sum(squares[1:])) - (orders - 1) * by_noise < (_CERTAIN * np.sqrt(orders - 1) * by_noise):
            squares[1:] = 0.0
        return np.asarray(np.sqrt(np.maximum(squares - by_noise, 0.0)))

    def _all_phases(self, group: Sequence[ChannelEvent], members: Sequence[int]) -> float:
        """How long all phases of a system were interrupted together (IEC 61000-4-30, 5.5.1) [s]; 0 if never."""
        if len(members) < 2 or not self.scan.time.size:
            return 0.0
        time = self.scan.time
        table = self.urms[list(members)]
        longest = 0.0
        for span in find_spans(np.fmin.reduce(table), np.fmax.reduce(table), self.thresholds):
            low, high = float(time[span.first]), float(time[min(span.stop, time.size - 1)])
            inside = [part for part in group if part.details["urms_start"] <= high and part.details["urms_end"] >= low]
            if span.type == "interruption" and inside:
                longest = max(longest, high - low)
        return longest

    def _transient(self, group: Sequence[ChannelEvent]) -> Event:
        """Event of transients that start together."""
        worst = max(group, key=lambda part: part.magnitude)
        known = [part.details["decay"] for part in group if part.details["decay"] == part.details["decay"]]
        length = self.recording.n_samples / self.recording.sampling_rate
        start = min(part.start for part in group)
        end = min(max(part.start for part in group) + 3 * max(known, default=0.0), length)
        return self._event(
            sorted(group, key=lambda part: (part.phase, part.channel)),
            worst,
            unit="pu",
            end=end,
            duration=end - start,
            details=worst.details,
            sentence=describe_transients(group),
        )

    def _largest(self, parts: Sequence[ChannelEvent], sentence: str) -> Event:
        """Event whose magnitude and details are those of its largest part."""
        worst = max(parts, key=lambda part: abs(part.magnitude))
        more = self._distortion(worst) if worst.type == "rapid voltage change" else {}
        return self._event(parts, worst, details={**worst.details, **more}, sentence=sentence)


def _is_recovery(change: Event, sag: Event) -> bool:
    """Whether a rapid voltage change is the last part of the return from a sag, as motors run up again."""
    return (
        sag.type != "swell"
        and sag.system == change.system
        and 0 <= change.start - sag.end < _RECOVERY
        and all(part.magnitude > 0 and part.details["after"] < 1 + _RECOVERED for part in change.parts)
    )


def _join_parts_by_channel(group: Sequence[ChannelEvent]) -> list[ChannelEvent]:
    """One part for each channel, with the worst magnitude, over all of its stretches."""
    joined = []
    for number in dict.fromkeys(part.number for part in sorted(group, key=lambda part: part.number)):
        parts = [part for part in group if part.number == number]
        start, end = min(part.start for part in parts), max(part.end for part in parts)
        joined.append(
            replace(
                max(parts, key=lambda part: abs(part.magnitude)),
                start=start,
                end=end,
                duration=end - start,
                cut_start=any(part.cut_start for part in parts),
                cut_end=any(part.cut_end for part in parts),
            )
        )
    return joined


_AT_EDGE = 1.0  # tuned
"""A transient within this many cycles of the edge of a sag or swell is part of it."""
_SAME_TIME = 1.0  # tuned
"""Events of two systems start and end within this many cycles if they are the same."""
_SAME_SIZE = 0.02  # tuned
"""Their magnitudes differ by no more [pu]."""


def join_transients(
    large: Iterable[Event], transients: Iterable[Event], frequency: float
) -> tuple[list[Event], list[Event]]:
    """Make one event of a sag or swell and the transients at its edges."""
    kept = list(large)
    left = []
    reach = _AT_EDGE / frequency
    for transient in transients:
        near = [
            event
            for event in kept
            if any(
                part.number == other.number and abs(transient.start - edge) < reach
                for part in event.parts
                for other in transient.parts
                for edge in (part.start, part.end)
            )
        ]
        if near:
            event = min(near, key=lambda one: abs(one.start - transient.start))
            peak = max(transient.magnitude, event.details.get("transient_peak", 0.0))
            addition = "" if "transient_peak" in event.details else f"; with a transient of {peak:.2f} pu at its edge"
            kept[kept.index(event)] = replace(
                event, sentence=event.sentence + addition, details={**event.details, "transient_peak": peak}
            )
        else:
            left.append(transient)
    return kept, left


def join_systems(events: Iterable[Event], frequency: float) -> list[Event]:
    """Merge the same event on several systems: two busbars, or the feeders of one, see the same sag."""
    kept: list[Event] = []
    for event in sorted(events, key=lambda one: (one.start, one.system)):
        since = event.start - _SAME_TIME / frequency
        near = takewhile(lambda other: other.start > since, reversed(kept))  # noqa: B023 (used up at once)
        twin = next((other for other in near if _is_same_event(event, other, frequency)), None)
        if twin is None:
            kept.append(event)
        else:
            kept[kept.index(twin)] = replace(twin, also=(*twin.also, event.system))
    return [
        replace(one, sentence=f"{one.sentence}; the same on {', '.join(one.also)}") if one.also else one for one in kept
    ]


def _is_same_event(event: Event, other: Event, frequency: float) -> bool:
    """Whether an event is the same in another system: in type, phases, time and size."""
    close = _SAME_TIME / frequency
    return (
        (event.type, event.category, set(event.phases)) == (other.type, other.category, set(other.phases))
        and event.system not in (other.system, *other.also)
        and all(event.phases)
        and abs(event.start - other.start) < close
        and abs(event.end - other.end) < close
        and all(_is_same_size_event(event, other, phase) for phase in set(event.phases))
    )


def _is_same_size_event(event: Event, other: Event, phase: str) -> bool:
    """Whether two events are of one size on a phase."""
    sizes = [[part.magnitude for part in one.parts if part.phase == phase] for one in (event, other)]
    maximum = _SAME_SIZE * (100 if event.unit == "%" else 1)
    return len(sizes[0]) == len(sizes[1]) and all(abs(a - b) < maximum for a, b in zip(*sizes, strict=True))
