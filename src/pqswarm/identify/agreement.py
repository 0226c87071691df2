"""What the rules of the standard would call a channel, and how that compares with the model."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pqswarm.identify.show.curves import RMS

if TYPE_CHECKING:
    from pqswarm.measure import ChannelResult, Event

__all__ = [
    "GROUPS",
    "describe_agreement",
    "event_rule",
    "group_of",
    "in_words",
    "model_level",
    "rule_level",
]

GROUPS: Mapping[str, str] = {
    "pure_sinusoid": "normal",
    "dc_offset": "dc offset",
    "sag": "sag",
    "swell": "swell",
    "interruption": "interruption",
    "flicker": "flicker",
    "notching": "notching",
    "harmonics": "harmonics",
    "oscillatory_transient": "transient",
    "sag_with_harmonics": "sag",
    "swell_with_harmonics": "swell",
    "flicker_with_harmonics": "harmonics",
    "sag_with_transient": "sag",
    "swell_with_transient": "swell",
    "impulsive_transient": "transient",
    "voltage_change": "voltage change",
}
"""What each class that the rules know is above all."""

_TITLES = {
    "pure_sinusoid": "no disturbance",
    "dc_offset": "DC offset",
    "oscillatory_transient": "transient",
    "voltage_change": "small voltage change",
}
_SINGLE = {"none": "pure_sinusoid", "DC offset": "dc_offset", "unbalance": "pure_sinusoid"}


def group_of(event_class: str) -> str:
    """Return the group of a class; one that the rules do not know is a group of its own.

    Examples
    --------
    >>> group_of("sag_with_harmonics"), group_of("my_class")
    ('sag', 'my class')
    """
    return GROUPS.get(event_class, event_class.replace("_", " "))


def in_words(event_class: str) -> str:
    """Return a class in words, such as "sag with harmonics"."""
    return _TITLES.get(event_class, event_class.replace("_", " "))


def rule_level(events: "Iterable[Event]") -> str:
    """Return ``"sag"``, ``"swell"`` or ``"interruption"``, whichever event is farthest from 1 pu, or ``"none"``."""
    levels = [event for event in events if event.kind in RMS]
    return max(levels, key=lambda event: abs(1 - event.magnitude)).kind if levels else "none"


def model_level(label: str) -> str:
    """Return whether a class is a sag, a swell, or an interruption, ``"none"``, or ``"unknown"`` without a class.

    Examples
    --------
    >>> model_level("sag_with_harmonics"), model_level("flicker"), model_level("")
    ('sag', 'none', 'unknown')
    """
    if label in ("", "unknown"):
        return "unknown"
    return group if (group := group_of(label)) in RMS else "none"


def event_rule(event: "Event", events: "Iterable[Event]") -> str:
    """Return the class of GROUPS that an event is by the rules, with what else is there on its worst channel."""
    beside = {
        other.kind
        for other in events
        if other is not event
        and any(part.number == event.worst.number for part in other.parts)
        and other.start <= event.end
        and other.end >= event.start
    }
    if event.kind in ("sag", "swell"):
        if "transient_peak" in event.details or "transient" in beside:
            return f"{event.kind}_with_transient"
        return f"{event.kind}_with_harmonics" if "harmonics" in beside and "notching" not in beside else event.kind
    if event.kind == "transient":
        return "impulsive_transient" if event.category.startswith("impulsive") else "oscillatory_transient"
    if {event.kind, *beside} >= {"harmonics", "flicker"} and event.kind in ("harmonics", "flicker"):
        return "flicker_with_harmonics"
    return _SINGLE.get(event.kind, event.kind.replace(" ", "_"))


def describe_agreement(rule: str, label: str, class_names: Collection[str], result: "ChannelResult") -> str:
    """Say whether the classes by rules and model agree, and what the rules measured where that explains why not.

    The text begins with ``"agree"``, ``"partly agree"``, ``"disagree"``, or, where one does not know the class of the
    other, with ``"cannot be compared"``.
    """
    if rule == label:
        return "agree"
    said = f"rules say {in_words(rule)}, the model {in_words(label)}"
    if label not in GROUPS:
        return f"cannot be compared: {said}, which the rules do not know"
    said += _reason(rule, label, result)
    if GROUPS[rule] == GROUPS[label]:
        return f"partly agree: {said}"
    return f"disagree: {said}" if rule in class_names else f"cannot be compared: the model does not know this; {said}"


def _reason(rule: str, label: str, result: "ChannelResult") -> str:
    """The measurement behind the rule, where it bears on the difference."""
    if ("harmonics" in rule) != ("harmonics" in label) and result.spectrum is not None:
        return f" (THD {100 * result.spectrum.thd:.1f} %)"
    kinds = {GROUPS[rule], GROUPS[label]}
    if len(kinds) == 1:
        return ""
    known = result.urms[np.isfinite(result.urms)]
    if known.size and not result.events and kinds & {"sag", "swell", "interruption", "flicker"}:
        return f" (Urms(1/2) stays between {known.min():.3f} and {known.max():.3f} pu)"
    if kinds & {"sag", "swell", "interruption"} and result.events:
        main = max(result.events, key=lambda event: abs(1 - event.magnitude))
        return f" (Urms(1/2) reaches {main.magnitude:.2f} pu)"
    if ("transient" in rule) != ("transient" in label) and result.transients:
        return f" (peak {max(one.peak for one in result.transients):.2f} pu)"
    return ""
