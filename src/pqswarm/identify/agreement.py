"""The class of an event by the rules of the standard, and how it compares with the model's."""

import json
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.events.classes import class_title, class_type
from pqswarm.identify.tolerance import RMS
from pqswarm.measure import ChannelResult, Characterization, Event
from pqswarm.measure.event import EVENT_TYPES, ChannelEvent
from pqswarm.measure.group.event_list import rises_in_thd

_RULE_CLASSES = {"DC offset": "dc_offset", "rapid voltage change": "voltage_change"}
"""Classes of the types that have another name."""
MEASURED = "measured"
"""Agreement of an event whose class follows from measurements alone: the model is not asked."""
_TRANSIENT_OVER = 3.0  # tuned
"""A transient at an edge is the step of the harmonics themselves if its peak is below this multiple of their RMS."""


def in_words(event_class: str) -> str:
    """Return an event class as it is written in a sentence; an undisturbed voltage is ``"no disturbance"``."""
    if event_class == "pure_sinusoid":
        return "no disturbance"
    title = class_title(event_class)
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def event_rule(event: Event, events: Iterable[Event], thd: float = 0.05, background: float = 0.0) -> str:
    """Return the class of an event by the rules, given the other events on its worst channel and the limit of THD.

    A sag or swell is one with a transient if a transient at its edge exceeds the step itself, and one with harmonics if
    the THD before it is above the limit, or rises above it during the event. Where the THD before is unknown, the
    harmonics of the steadiest cycles of the channel are its `background` [pu].
    """
    beside = {
        other.type
        for other in events
        if other is not event
        and any(part.number == event.worst.number for part in other.parts)
        and other.start <= event.end
        and other.end >= event.start
    }
    if event.type in ("sag", "swell"):
        peak = event.details.get("transient_peak", 1.0 if "transient" in beside else 0.0)
        step = abs(1 - event.magnitude)
        if peak > max(step, _TRANSIENT_OVER * event.details.get("distortion_before", background)):
            return f"{event.type}_with_transient"
        is_above = rises_in_thd(event.details, thd) or event.details.get("thd_before", background) > thd
        is_distorted = "notching" not in beside and ("harmonics" in beside or is_above)
        return f"{event.type}_with_harmonics" if is_distorted else event.type
    if event.type == "transient":
        return "impulsive_transient" if event.category.startswith("impulsive") else "oscillatory_transient"
    if event.type in ("harmonics", "flicker") and {event.type, *beside} >= {"harmonics", "flicker"}:
        return "flicker_with_harmonics"
    return _RULE_CLASSES.get(event.type, event.type.replace(" ", "_"))


def settle_class(rule: str, label: str) -> str:
    """Return the class that was right more often on third-party events where rules and model differ so.

    If none did, all events of this class by the rules count in which they differ; without any, the model's is returned.
    The numbers of events in which each was right are in `settled.json`, written by `research/settled_classes.py`.
    """
    table = read_settled()
    rule_right, label_right = table.get(f"{rule}, {label}", (0, 0))
    if not rule_right + label_right:
        alike = [counts for pair, counts in table.items() if pair.startswith(f"{rule}, ")]
        rule_right, label_right = (sum(counts[side] for counts in alike) for side in (0, 1))
    return rule if rule_right > label_right else label


@cache
def read_settled() -> dict[str, tuple[int, int]]:
    """The table of events in which the rules, and the model, were right, by their two classes."""
    text = Path(__file__).with_name("settled.json").read_text(encoding="utf-8")
    return {pair: (rule, label) for pair, (rule, label) in json.loads(text)["pairs"].items()}


def describe_agreement(
    rule: str, label: str, class_names: Collection[str], result: ChannelResult, found: Characterization
) -> str:
    """Describe whether the classes by rules and model agree, with the measurement that explains a difference.

    The text starts with ``"agree"``, ``"partly agree"``, ``"disagree"``, or, if one does not know the class of the
    other, with ``"cannot be compared"``.
    """
    if rule == label:
        return "agree"
    said = f"rules say {in_words(rule)}, the model {in_words(label)}"
    if label != "pure_sinusoid" and class_type(label) not in EVENT_TYPES:
        return f"cannot be compared: {said}, which the rules do not know"
    said += _agreement_reason(rule, label, result, found)
    if class_type(rule) == class_type(label):
        return f"partly agree: {said}"
    return f"disagree: {said}" if rule in class_names else f"cannot be compared: the model does not know this; {said}"


def _agreement_reason(rule: str, label: str, result: ChannelResult, found: Characterization) -> str:
    """The measurement behind the rule, if it bears on the difference."""
    if ("harmonics" in rule) != ("harmonics" in label) and result.spectrum is not None:
        return f" (THD {100 * result.spectrum.thd_above_noise:.1f} %)"
    if class_type(rule) == class_type(label):
        return ""
    events = [event for event in found.events if any(part.number == result.number for part in event.parts)]
    parts = [part for event in events for part in event.parts if part.number == result.number]
    reason = _voltage_agreement_reason({class_type(rule), class_type(label)}, parts, found.urms_of(result))
    if reason or ("transient" in rule) == ("transient" in label):
        return reason
    peaks = [event.details.get("transient_peak", 0.0) for event in events]
    peaks += [part.magnitude for part in parts if part.type == "transient"]
    return f" (peak {max(peaks):.2f} pu)" if max(peaks, default=0.0) > 0 else ""


def _voltage_agreement_reason(event_types: set[str], parts: Iterable[ChannelEvent], urms: FloatArray) -> str:
    """What Urms(1/2) [pu] says where one of rules and model sees an RMS event, or flicker, and the other does not."""
    levels = [part.magnitude for part in parts if part.type in RMS]
    known = urms[np.isfinite(urms)]
    if levels and not event_types.isdisjoint(RMS):
        return f" (Urms(1/2) reaches {max(levels, key=lambda level: abs(1 - level)):.2f} pu)"
    if known.size and not levels and not event_types.isdisjoint((*RMS, "flicker")):
        return f" (Urms(1/2) stays between {known.min():.3f} and {known.max():.3f} pu)"
    return ""
