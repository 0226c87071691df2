"""As much of a verdict as the page needs: a thousand long recordings must fit into memory."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.identify.show.curves import rank_event
from pqswarm.identify.show.page.en50160 import has_ten_minutes
from pqswarm.identify.show.page.levels import LEAD, SHOWN, urms_parts
from pqswarm.identify.show.page.waveforms import MOST_FIGURES
from pqswarm.measure import Series

if TYPE_CHECKING:
    from pqswarm._base.typing import BoolArray
    from pqswarm.identify.verdict import Verdict

__all__ = ["slim"]


@dataclass(frozen=True)
class _TenMinutes:
    """The values of ten minutes, without those of the windows."""

    rows: list[dict[str, Any]]

    def ten_minutes(self) -> list[dict[str, Any]]:
        """Return a row for each ten minutes and channel."""
        return self.rows


def slim(verdict: "Verdict") -> "Verdict":
    """Return a verdict from which the same page is made: Urms(1/2) as far as it is drawn, and ten-minute values."""
    found = verdict.characterisation
    series, kept = found.require_series(), _near_events(verdict)
    steady: Any = _TenMinutes(series.steady.ten_minutes() if has_ten_minutes(verdict) else [])
    slimmer = Series(series.time[kept], series.urms[:, kept], steady)
    return replace(verdict, characterisation=replace(found, series=slimmer))


def _near_events(verdict: "Verdict") -> "BoolArray":
    """Which values of Urms(1/2) a figure may show: all near the worst events, and the extremes of the rest."""
    time = verdict.characterisation.require_series().time
    kept = urms_parts(verdict)
    events = sorted((one.event for one in verdict.events), key=rank_event, reverse=True)
    for event in events[:MOST_FIGURES]:
        middle = (event.start + event.end) / 2
        kept |= (time >= event.start - LEAD) & (time <= min(event.end, event.start + SHOWN) + LEAD)
        kept |= np.abs(time - middle) <= LEAD
    return kept
