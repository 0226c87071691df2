"""The definitions of the standard bind the model: classes that the measurement rules out are not offered."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from pqswarm.events.broad import BROAD_CLASSES
from pqswarm.identify.agreement import GROUPS
from pqswarm.measure.visible import visible_classes

if TYPE_CHECKING:
    from pqswarm.identify.verdict import EventVerdict, Verdict

__all__ = ["classes_of_kind", "classes_seen", "possible_labels"]

_SAGS = frozenset({"sag", "sag_with_harmonics", "sag_with_transient"})
_SWELLS = frozenset({"swell", "swell_with_harmonics", "swell_with_transient"})
_BREAKS = frozenset({"interruption"})


def classes_of_kind(
    names: Collection[str], kind: str, rule: str, visible: Collection[str] | None = None
) -> frozenset[str]:
    """Return the classes that an event of a kind by the standard can be.

    A sag is a sag, with harmonics, with a transient or without; what is none of sag, swell and interruption by its
    magnitude is none of these by the model either. Classes that are not `visible` are not offered.

    Examples
    --------
    >>> sorted(classes_of_kind(("sag", "sag_with_harmonics", "flicker"), "sag", "sag"))
    ['sag', 'sag_with_harmonics']
    """
    families = {"sag": _SAGS, "swell": _SWELLS, "interruption": _BREAKS}
    own = families.get(kind, frozenset(names) - _SAGS - _SWELLS - _BREAKS)
    seen = own if visible is None else own & frozenset(visible)
    return (seen | {rule}) & frozenset(names)


def classes_seen(names: Collection[str], sampling_rate: float, frequency: float, cycles: float) -> frozenset[str]:
    """Return the classes that a capture can show; of those that the rules do not know nothing is said."""
    return (frozenset(names) - frozenset(GROUPS)) | visible_classes(sampling_rate, frequency, cycles)


def possible_labels(
    verdict: "Verdict", event: "EventVerdict", class_names: Collection[str] = BROAD_CLASSES
) -> tuple[str, ...]:
    """Return the classes that a model can ever call an event: the others contradict what was measured.

    A correction to any other class could not show in a verdict, however a model is trained.

    Parameters
    ----------
    verdict : Verdict
        Of the recording.
    event : EventVerdict
        One of its events.
    class_names : collection of str
        Classes of the model.

    Returns
    -------
    tuple of str
        In the order of `class_names`; empty if a model cannot be asked about this event.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.identify import identify
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> verdict = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> possible_labels(verdict, verdict.events[0])
    ('sag', 'sag_with_harmonics', 'sag_with_transient')
    """
    if not event.probabilities:
        return ()
    found, (begin, end) = verdict.characterisation, event.window
    seen = classes_seen(class_names, found.sampling_rate, found.frequency, (end - begin) * found.frequency)
    offered = classes_of_kind(class_names, event.event.kind, event.rule, seen)
    return tuple(name for name in class_names if name in offered)
