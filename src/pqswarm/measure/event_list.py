"""From what was found on each channel to the list of events."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pqswarm.measure.event import Event, Part
from pqswarm.measure.sentences import describe_transients, group_events, group_transients, merge_events

if TYPE_CHECKING:
    from pqswarm.measure.characterisation import ChannelResult

__all__ = ["list_events"]


def list_events(channels: "Sequence[ChannelResult]", duration: float, nominal_frequency: float) -> tuple[Event, ...]:
    """List the events of all channels in order of time; one of kind "none" if there is nothing else."""
    references = {channel.name: channel.reference for channel in channels}
    found: list[Event] = []
    for group in group_events(event for channel in channels for event in channel.events):
        whole = merge_events(group)
        parts = tuple(
            Part(one.channels[0], one.phases[0], one.magnitude, one.start, one.end, one.urms_duration) for one in group
        )
        found.append(
            Event(
                kind=whole.kind,
                category=whole.category,
                parts=parts,
                system=whole.system,
                magnitude=whole.magnitude,
                unit="pu",
                start=whole.start,
                end=whole.end,
                duration=whole.urms_duration,
                nominal_frequency=nominal_frequency,
                reference=references[group[0].channels[0]],
                sentence=whole.sentence,
                cut_start=whole.cut_start,
                cut_end=whole.cut_end,
            )
        )
    for together in group_transients(one for channel in channels for one in channel.transients):
        worst = max(together, key=lambda one: one.peak)
        found.append(
            Event(
                kind="transient",
                category=worst.category,
                parts=tuple(Part(one.channel, one.phase, one.peak, one.onset, one.onset, 0.0) for one in together),
                system=worst.system,
                magnitude=worst.peak,
                unit="pu",
                start=min(one.onset for one in together),
                end=max(one.onset for one in together),
                duration=0.0,
                nominal_frequency=nominal_frequency,
                reference=references[worst.channel],
                sentence=describe_transients(together),
                details={"frequency": worst.frequency, "decay": worst.decay, "peak_voltage": worst.peak_voltage},
            )
        )
    for channel in channels:
        for flag in channel.flags:
            found.append(
                Event(
                    kind=flag.kind,
                    category=flag.kind,
                    parts=(Part(flag.channel, flag.phase, 100 * flag.value, 0.0, duration, duration),),
                    system=flag.system,
                    magnitude=100 * flag.value,
                    unit="%",
                    start=0.0,
                    end=duration,
                    duration=duration,
                    nominal_frequency=nominal_frequency,
                    reference=channel.reference,
                    sentence=flag.sentence,
                )
            )
    if not found and channels:
        one = channels[0]
        nothing = Part(one.name, one.phase, 1.0, 0.0, duration, duration)
        found.append(
            Event(
                kind="none",
                category="no disturbance",
                parts=(nothing,),
                system="",
                magnitude=1.0,
                unit="pu",
                start=0.0,
                end=duration,
                duration=duration,
                nominal_frequency=nominal_frequency,
                reference=one.reference,
                sentence="no disturbance found",
            )
        )
    return tuple(sorted(found, key=lambda event: event.start))
