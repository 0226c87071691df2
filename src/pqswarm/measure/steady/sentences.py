"""Steady disturbances in words."""

from collections.abc import Mapping, Sequence

from pqswarm.measure.event import Part
from pqswarm.measure.ieee1159 import join_names

__all__ = ["describe_steady"]

_ALIKE = 0.5
"""Parts whose durations differ by less have the same [s]."""

_AROUND = {"harmonics": ("THD ", ""), "notching": ("", " deep"), "flicker": ("", " deep")}
"""What is said before and after the greatest value."""


def describe_steady(kind: str, parts: Sequence[Part], details: Sequence[Mapping[str, float]], system: str) -> str:
    """Describe an event by its worst part, with what differs on the others."""
    where = join_names(tuple(part.channel for part in parts), tuple(part.phase for part in parts), system)
    worst = max(range(len(parts)), key=lambda k: abs(parts[k].magnitude))
    duration = max(part.end for part in parts) - min(part.start for part in parts)
    values = [_value(kind, part.magnitude) for part in parts]
    lasting = [f" for {part.duration:.1f} s" if duration - part.duration > _ALIKE else "" for part in parts]
    before, after = _AROUND.get(kind, ("", ""))
    text = f"{kind} on {where}, {before}{values[worst]}{after}"
    # Unbalance is one value of all phases.
    if kind != "unbalance" and (len(set(values)) > 1 or any(lasting)):
        each = [
            f"{part.phase or part.channel} {value}{last}"
            for part, value, last in zip(parts, values, lasting, strict=True)
        ]
        text += f" ({', '.join(each)})"
    return f"{text}{_more(kind, parts, details, worst)}, for {duration:.1f} s"


def _value(kind: str, magnitude: float) -> str:
    if kind == "DC offset":
        return f"{magnitude / 100:.3f} pu"
    return f"{magnitude / 100:.2f} pu" if kind == "notching" else f"{magnitude:.1f} %"


def _more(kind: str, parts: Sequence[Part], details: Sequence[Mapping[str, float]], worst: int) -> str:
    """What else is said, of each phase where they differ."""
    if kind == "harmonics":
        return f", most of order {_each(details, 'order', '.0f', parts)}"
    if kind == "notching":
        return f", {_each(details, 'per_cycle', '.0f', parts)} per cycle"
    if kind == "flicker" and "pst" in details[worst]:
        return f", Pst {_each(details, 'pst', '.2f', parts)}"
    if kind == "flicker":
        return f", at {_each(details, 'frequency', '.1f', parts)} Hz"
    if kind == "unbalance" and details[worst]["zero_sequence"] == details[worst]["zero_sequence"]:
        return f", zero sequence {100 * details[worst]['zero_sequence']:.1f} %"
    return ""


def _each(details: Sequence[Mapping[str, float]], name: str, form: str, parts: Sequence[Part]) -> str:
    values = [format(one.get(name, float("nan")), form) for one in details]
    if len(set(values)) == 1:
        return values[0]
    return ", ".join(f"{value} on {part.phase or part.channel}" for value, part in zip(values, parts, strict=True))
