"""Events that belong together: transients at the edges of sags, and the same event on several systems."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

from pqswarm.measure.event import Event

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
            said = "" if "transient_peak" in event.details else f"; with a transient of {peak:.2f} pu at its edge"
            kept[kept.index(event)] = replace(
                event, sentence=event.sentence + said, details={**event.details, "transient_peak": peak}
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
        and all(_close(event, other, phase) for phase in set(event.phases))
    )


def _close(event: Event, other: Event, phase: str) -> bool:
    """Whether two events are of one size on a phase."""
    sizes = [[part.magnitude for part in one.parts if part.phase == phase] for one in (event, other)]
    maximum = _SAME_SIZE * (100 if event.unit == "%" else 1)
    return len(sizes[0]) == len(sizes[1]) and all(abs(a - b) < maximum for a, b in zip(*sizes, strict=True))
