"""Say once what several channels share."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pqswarm.measure.ieee1159 import category, duration_text, join_names

if TYPE_CHECKING:
    from pqswarm.measure.characterisation import Disturbance, Flag
    from pqswarm.measure.detect.transients import Transient
    from pqswarm.measure.detect.voltage_changes import VoltageChange
    from pqswarm.measure.event import Part

__all__ = [
    "describe_change",
    "describe_disturbances",
    "describe_flags",
    "describe_transients",
    "group_events",
    "group_transients",
    "merge_events",
]

_SAME_SIZE = 0.03
"""Magnitudes that differ by less are said once [pu]."""
_TOGETHER = 0.002
"""Transients on several channels that begin within this time are one [s]."""


def group_events(events: Iterable["Disturbance"]) -> list[list["Disturbance"]]:
    """Group the events of one system and kind that overlap in time."""
    groups: list[list[Disturbance]] = []
    for event in sorted(events, key=lambda event: (event.system, event.kind, event.start)):
        group = groups[-1] if groups else []
        if (
            group
            and (group[0].system, group[0].kind) == (event.system, event.kind)
            and event.start < max(member.end for member in group)
        ):
            group.append(event)
        else:
            groups.append([event])
    return groups


def merge_events(events: Sequence["Disturbance"]) -> "Disturbance":
    """One event from the first start to the last end, with the worst magnitude."""
    first = events[0]
    if len(events) == 1:
        return first
    start, end = min(event.start for event in events), max(event.end for event in events)
    urms_start, urms_end = min(event.urms_start for event in events), max(event.urms_end for event in events)
    worst = max if first.kind == "swell" else min
    pairs = [zip(event.phases, event.channels, strict=True) for event in events]
    where = sorted({pair for each in pairs for pair in each})
    return replace(
        first,
        category=category(first.kind, end - start, first.nominal_frequency),
        channels=tuple(name for _, name in where),
        phases=tuple(phase for phase, _ in where),
        magnitude=worst(event.magnitude for event in events),
        start=start,
        end=end,
        duration=end - start,
        cycles=(end - start) * first.nominal_frequency,
        urms_start=urms_start,
        urms_end=urms_end,
        urms_duration=urms_end - urms_start,
        cut_start=any(event.cut_start for event in events),
        cut_end=any(event.cut_end for event in events),
    )


def describe_disturbances(group: Sequence["Disturbance"]) -> str:
    """Describe the sags, swells or interruptions that make one event; where phases differ, each gets its own words."""
    whole = merge_events(group)
    cycle = 1 / whole.nominal_frequency
    sizes, lengths = [one.magnitude for one in group], [one.said_duration for one in group]
    spread = max(lengths) - min(lengths)
    if max(sizes) - min(sizes) < _SAME_SIZE and spread <= max(1.01 * cycle, 0.05 * max(lengths)):
        return whole.sentence
    each = (
        f"{one.phases[0] or one.channels[0]} {one.magnitude:.2f} pu for {duration_text(one.said_duration, 1 / cycle)}"
        for one in sorted(group, key=lambda one: (one.phases, one.channels))
    )
    return f"{whole.sentence}: {', '.join(each)}"


def describe_flags(flags: Sequence["Flag"]) -> str:
    """Describe the steady disturbances of one kind in a system, each phase with its own value."""
    if len(flags) == 1:
        return flags[0].sentence
    where = join_names(tuple(flag.channel for flag in flags), tuple(flag.phase for flag in flags), flags[0].system)
    each = ", ".join(f"{flag.phase or flag.channel} {flag.value_text}" for flag in flags)
    return f"{flags[0].kind} on {where} ({each})"


def describe_change(parts: Sequence["Part"], system: str, worst: "VoltageChange", nominal_frequency: float) -> str:
    """Describe a small voltage change, each phase with its own size."""
    where = join_names(tuple(part.channel for part in parts), tuple(part.phase for part in parts), system)
    largest = max(parts, key=lambda part: abs(part.magnitude))
    word = "step" if abs(worst.after - worst.before) > worst.largest / 2 else "dip" if largest.magnitude < 0 else "rise"
    each = ", ".join(f"{part.phase or part.channel} {part.magnitude:+.1f} %" for part in parts)
    alike = len({part.magnitude > 0 for part in parts}) == 1
    text = (
        f"small voltage change on {where}, {word} of {largest.magnitude:+.1f} %"
        if alike
        else f"small voltage change on {where}"
    )
    if len(parts) > 1:
        text += f" ({each})"
    of = f" on {largest.phase or largest.channel}" if len(parts) > 1 else ""
    text += f", from {worst.before:.3f} to {worst.after:.3f} pu{of}"
    return text if largest.end <= largest.start else f"{text}, {duration_text(largest.duration, nominal_frequency)}"


def group_transients(transients: Iterable["Transient"]) -> list[list["Transient"]]:
    """Group the transients of one system that begin together."""
    groups: list[list[Transient]] = []
    for transient in sorted(transients, key=lambda transient: (transient.system, transient.onset)):
        group = groups[-1] if groups else []
        if group and group[0].system == transient.system and transient.onset <= group[0].onset + _TOGETHER:
            group.append(transient)
        else:
            groups.append([transient])
    return groups


def _moment(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 10 else f"{seconds:.4f} s"


def describe_transients(group: Sequence["Transient"]) -> str:
    """Describe the strongest of simultaneous transients, and say where they are."""
    strongest = max(group, key=lambda transient: transient.peak)
    where = sorted({(transient.phase, transient.channel) for transient in group})
    text = (
        f"{strongest.category} on "
        f"{join_names(tuple(name for _, name in where), tuple(phase for phase, _ in where), strongest.system)} "
        f"at {_moment(strongest.onset)}, {strongest.peak:.2f} pu peak "
        f"({max(transient.peak_voltage for transient in group):.2f} pu voltage)"
    )
    peaks = {transient.phase or transient.channel: transient.peak for transient in group}
    if len(peaks) > 1 and min(peaks.values()) < 0.8 * max(peaks.values()):
        text += f" ({', '.join(f'{name} {peak:.2f}' for name, peak in sorted(peaks.items()))} pu)"
    if strongest.frequency == strongest.frequency:
        hertz = strongest.frequency
        text += f", {hertz / 1000:.1f} kHz" if hertz >= 1000 else f", {hertz:.0f} Hz"
    if strongest.decay == strongest.decay:
        text += f", decays in {1000 * strongest.decay:.2g} ms"
    return text
