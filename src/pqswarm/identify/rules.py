"""What the rules of the standard would call a channel, and how that compares with the model."""

from typing import TYPE_CHECKING

import numpy as np

from pqswarm.identify.model import GROUPS

if TYPE_CHECKING:
    from pqswarm.recordings.characterisation import ChannelResult

__all__ = ["agreement", "in_plain_words", "main_disturbance", "rule_class"]

_PLAIN = {"pure_sinusoid": "no disturbance", "dc_offset": "DC offset", "oscillatory_transient": "transient"}


def in_plain_words(event_class: str) -> str:
    """Return a class in words.

    Examples
    --------
    >>> in_plain_words("sag_with_harmonics"), in_plain_words("pure_sinusoid")
    ('sag with harmonics', 'no disturbance')
    """
    return _PLAIN.get(event_class, event_class.replace("_", " "))


def main_disturbance(result: "ChannelResult") -> tuple[float, float] | None:
    """Return begin and end [s] of the largest disturbance of a channel, or None.

    Parameters
    ----------
    result : ChannelResult
        What was found on the channel.

    Returns
    -------
    tuple of float or None
        Of the event farthest from 1 pu, or of the transient with the highest peak if that deviates more.
    """
    found = [(abs(1 - event.magnitude), event.start, event.end) for event in result.events]
    found += [(transient.peak, transient.onset, transient.onset) for transient in result.transients]
    if not found:
        return None
    _, start, end = max(found)
    return start, end


def rule_class(result: "ChannelResult", window: tuple[float, float]) -> str:
    """Return the class that the findings of the rules amount to.

    Parameters
    ----------
    result : ChannelResult
        What was found on the channel.
    window : tuple of float
        Begin and end of what the model looks at [s]; what lies outside does not count.

    Returns
    -------
    str
        One of :data:`pqswarm.events.EVENT_CLASSES`.
    """
    first, last = window
    flags = {flag.kind for flag in result.flags}
    events = [event for event in result.events if event.start < last and event.end > first]
    transient = any(first <= one.onset <= last for one in result.transients)
    if events:
        main = max(events, key=lambda event: abs(1 - event.magnitude))
        if main.kind == "interruption":
            return "interruption"
        if transient:
            return f"{main.kind}_with_transient"
        return f"{main.kind}_with_harmonics" if "harmonics" in flags and "notching" not in flags else main.kind
    if transient:
        return "oscillatory_transient"
    if "notching" in flags:
        return "notching"
    if "flicker" in flags:
        return "flicker_with_harmonics" if "harmonics" in flags else "flicker"
    if "harmonics" in flags:
        return "harmonics"
    return "dc_offset" if "DC offset" in flags else "pure_sinusoid"


def agreement(rule: str, label: str, result: "ChannelResult") -> str:
    """Say whether rules and model agree.

    Parameters
    ----------
    rule, label : str
        Class by the rules, and by the model.
    result : ChannelResult
        What the rules found, which may explain a difference.

    Returns
    -------
    str
        Begins with ``"agree"``, ``"agree in the main"`` or ``"disagree"``.
    """
    if rule == label:
        return "agree"
    said = f"rules say {in_plain_words(rule)}, the model {in_plain_words(label)}"
    if GROUPS[rule] == GROUPS[label]:
        return f"agree in the main: {said}{_reason(rule, label, result)}"
    return f"disagree: {said}{_reason(rule, label, result)}"


def _reason(rule: str, label: str, result: "ChannelResult") -> str:
    """The measurement behind the rule, where it bears on the difference."""
    if ("harmonics" in rule) != ("harmonics" in label) and result.spectrum is not None:
        return f" (THD {100 * result.spectrum.thd:.1f} %)"
    kinds = {GROUPS[rule], GROUPS[label]}
    known = result.urms[np.isfinite(result.urms)]
    if known.size and not result.events and kinds & {"sag", "swell", "interruption", "flicker"}:
        return f" (Urms(1/2) stays between {known.min():.3f} and {known.max():.3f} pu)"
    if kinds & {"sag", "swell", "interruption"} and result.events:
        main = max(result.events, key=lambda event: abs(1 - event.magnitude))
        return f" (Urms(1/2) reaches {main.magnitude:.2f} pu)"
    if ("transient" in rule) != ("transient" in label) and result.transients:
        return f" (peak {max(one.peak for one in result.transients):.2f} pu)"
    return ""
