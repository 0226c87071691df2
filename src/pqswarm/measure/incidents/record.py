"""One record for an incident: events with one cause."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pqswarm.errors import PqswarmError
from pqswarm.measure.event import restore_record

_SAME_LEVEL = 0.15  # tuned
"""Levels of stages of one name that differ by less are the same [pu]."""
CAUSES = ("fault", "motor start", "transformer energising", "capacitor switching", "load switching", "unknown")
"""The causes of an incident."""


@dataclass(frozen=True)
class IncidentStage:
    """A part of an incident in which the voltages stay as they are, or recover.

    Attributes
    ----------
    start, end : float
        From the first sample [s].
    name : str
        What happens, such as ``"fault on phase A"`` or ``"interruption"``.
    levels : mapping of str to float
        Median of Urms(1/2) of each phase, or channel [pu].
    """

    start: float
    end: float
    name: str
    levels: Mapping[str, float] = field(default_factory=dict)

    def is_like(self, other: "IncidentStage") -> bool:
        """Whether another stage has the same name and the same levels."""
        levels = self.levels.items()
        return self.name == other.name and all(
            abs(level - other.levels.get(name, level)) < _SAME_LEVEL for name, level in levels
        )


@dataclass(frozen=True)
class Incident:
    """Events that belong together, and what made them.

    Attributes
    ----------
    cause : str
        One of :data:`CAUSES`.
    probability : float
        That the cause is right; for ``"unknown"``, that it is none of the others.
    evidence : tuple of str
        The measurements that speak for the cause, in words.
    stages : tuple of IncidentStage
        In order of time; none for a steady disturbance.
    events : tuple of int
        Positions of its events in :attr:`Characterization.events`, the main one first.
    start, end : float
        From the first sample [s].
    course : str
        How it goes on, such as ``"reclosing, successful"``; empty if there is nothing to add.
    phases : str
        The faulted phases by the currents, ``"AG"`` to ``"ABC"``, or, without currents, by the voltages, ``"A"`` to
        ``"ABC"``; empty if it is no fault.
    feeder : str
        The feeder whose currents rise most in a fault; empty without currents.
    """

    cause: str
    probability: float
    evidence: tuple[str, ...]
    stages: tuple[IncidentStage, ...]
    events: tuple[int, ...]
    start: float
    end: float
    course: str = ""
    phases: str = ""
    feeder: str = ""

    @staticmethod
    def of(plain: Mapping[str, Any], n_events: int) -> "Incident":
        """Restore an incident of some events from :meth:`as_dict`, or raise :class:`PqswarmError`."""
        incident = restore_record(Incident, plain, "an incident")
        if incident.cause not in CAUSES or not 0 <= incident.probability <= 1:
            raise PqswarmError("not an incident: its cause or probability is not one.")
        if not incident.events or not all(0 <= one < n_events for one in incident.events):
            raise PqswarmError("not an incident: it names an event that is not there.")
        return incident

    @property
    def title(self) -> str:
        """The cause in words, with phases, feeder and course."""
        if self.cause == "unknown":
            return f"cause unknown{f' ({self.course})' if self.course else ''}"
        where = f" {self.phases}" if self.phases else ""
        on = f" on {self.feeder}" if self.feeder else ""
        return f"{self.cause}{where}{on}{f', {self.course}' if self.course else ''}"

    def text(self) -> str:
        """Return the cause, its probability and the evidence in one line."""
        sure = "" if self.cause == "unknown" else f" ({100 * self.probability:.0f} %)"
        return f"{self.title}{sure}: {'; '.join(self.evidence)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values; `events` are positions in those of the recording."""
        return {
            **vars(self),
            "evidence": list(self.evidence),
            "stages": [{**vars(stage), "levels": dict(stage.levels)} for stage in self.stages],
            "events": list(self.events),
        }


def order_in_time(incident: Incident) -> tuple[float, int]:
    """Return the sort key of incidents: their start, then their first event."""
    return incident.start, min(incident.events)
