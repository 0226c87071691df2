"""Corrections: the last one of an event wins."""

from pqswarm.identify.analysis import EventResult
from pqswarm.identify.training.corrections import Correction, merge_corrections
from pqswarm.measure.event import ChannelEvent, Event

AT = "2026-06-30T12:00:00+00:00"


def correction(start=0.2, channels=("UA",), **known):
    parts = tuple(ChannelEvent(i, name, "A", "sag", 0.6, start, start + 0.1, 0.1) for i, name in enumerate(channels))
    event = Event("sag", "sag", parts, "", 0.6, "pu", start, start + 0.1, 0.1, 50.0, 230.0, "a sag")
    found = EventResult(event, "sag", {"sag": 0.9, "swell": 0.1}, "agree", (0.0, 1.0), "nominal")
    values = {"path": "june/a.cfg", "digest": 64 * "a", "source": "a.cfg", "found": found}
    return Correction(**values | {"label": "sag_with_harmonics", "by": "Eve", "at": AT} | known)


def test_the_last_one_of_an_event_wins_and_an_empty_label_withdraws():
    said = [correction(), correction(start=0.7), correction(label="sag_with_transient", path="b.cfg", source="b.cfg")]
    found = [(one.found.event.start, one.label) for one in merge_corrections(said)]
    assert found == [(0.2, "sag_with_transient"), (0.7, "sag_with_harmonics")]
    assert [one.found.event.start for one in merge_corrections([*said, correction(label="", start=0.7)])] == [0.2]
