"""The standard limits the model: classes that contradict the measurement are not offered."""

from collections.abc import Collection

from pqswarm.events.classes import class_type, visible_classes
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.tolerance import RMS


def measured_classes(
    offered: Collection[str], event_type: str, rule: str, thd: float | None, limit: float
) -> frozenset[str]:
    """Return the offered classes whose additions agree with the measurement.

    A sag, swell or interruption has the class of the rules. What was measured is not an undisturbed voltage. Of the
    others, classes with harmonics need a THD above the limit, those without need one below it; both are offered if the
    THD is unknown.
    """
    if event_type in RMS:
        return frozenset({rule}) & frozenset(offered)
    other = {"notching" if event_type == "unbalance" else "pure_sinusoid"}
    if thd is not None:
        other |= {"flicker"} if thd > limit else {"harmonics", "flicker_with_harmonics"}
    return (frozenset(offered) - other) | (frozenset({rule}) & frozenset(offered))


def allowed_classes(
    names: Collection[str], event_type: str, rule: str, sampling_rate: float, frequency: float, cycles: float
) -> frozenset[str]:
    """Return the classes of a model that an event of this type can have; its class by the rules is always one.

    A sag is a sag, with harmonics, with a transient or without; an event that is none of sag, swell and interruption by
    its magnitude is none of these by the model either. Classes that the capture cannot show, by its rate and
    fundamental [Hz] and its length in cycles, are not offered.
    """
    family = event_type if event_type in RMS else ""
    own = {name for name in names if (class_type(name) if class_type(name) in RMS else "") == family}
    visible = visible_classes(names, sampling_rate, frequency, cycles)
    return frozenset((own & visible) | {rule}) & frozenset(names)


def possible_labels(
    analysis: Analysis, event: EventResult, class_names: Collection[str] = TRAINING_CLASSES
) -> tuple[str, ...]:
    """Return the classes that a model can give to an event: the others contradict the measurements.

    A correction to any other class would have no effect, however the model is trained.

    Parameters
    ----------
    analysis : Analysis
        Analysis on the recording.
    event : EventResult
        One of its events.
    class_names : collection of str
        Classes of the model.

    Returns
    -------
    tuple of str
        In the order of `class_names`; empty if the event is left to the rules.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.identify import identify
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> analysis = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> possible_labels(analysis, analysis.events[0])
    ('sag', 'sag_with_harmonics', 'sag_with_transient')
    """
    if not event.probabilities:
        return ()
    first, last = event.window
    cycles = (last - first) * analysis.frequency
    event_type = event.event.type
    rule = event.rule_label
    offered = allowed_classes(class_names, event_type, rule, analysis.sampling_rate, analysis.frequency, cycles)
    return tuple(name for name in class_names if name in offered)
