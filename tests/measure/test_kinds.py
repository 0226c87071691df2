"""Kinds of captures that are easily taken for a fault: events, causes and what is said of the recorder."""

import numpy as np
import pytest
from tests.measure.kinds import KINDS, T, box, record, three_phases

from pqswarm.measure import characterize

SAID = {
    "frozen": "frozen from",
    "lost": "samples are lost",
    "swapped": "exchanged at",
    "missing": "missing on UA",
    "clipped_swell": "UA is clipped at",
}


def draw(kind, seed):
    return KINDS[kind](np.random.default_rng([seed, len(kind)]))


@pytest.mark.parametrize("kind", KINDS)
def test_events_and_causes(kind):
    for seed in range(3):
        drawn = draw(kind, seed)
        found = characterize(drawn.recording)
        types = {event.type for event in found.events}
        assert types & drawn.types or not drawn.types, seed
        assert drawn.types or not types, seed
        causes = {incident.cause for incident in found.incidents if incident.stages} or {"none"}
        assert causes <= drawn.causes, seed
        assert SAID.get(kind, "") in " ".join(found.caveats), seed


def test_a_small_change_is_told_but_names_no_cause():
    (incident,) = characterize(draw("spike", 0).recording).incidents
    assert incident.title == "cause unknown"
    assert any("too little to name a cause" in text for text in incident.evidence)
    assert any(text.startswith("an impulse of") for text in incident.evidence)


def test_a_lost_phase_asks_for_the_fuse():
    (incident,) = characterize(draw("fuse", 1).recording).incidents
    assert "VT fuse?" in incident.title


def test_a_sag_before_an_opening_keeps_its_row_and_its_phase():
    found = characterize(draw("lockout", 0).recording)
    sag, interruption = found.events
    assert (sag.type, len(sag.parts), interruption.type) == ("sag", 1, "interruption")
    assert sag.magnitude == pytest.approx(0.1, abs=0.03)
    assert sag.cycles == pytest.approx(1.5, abs=0.6)
    assert found.incidents[0].phases == sag.parts[0].phase


def test_a_second_harmonic_in_the_current_is_an_inrush_and_none_is_a_fault():
    rng = np.random.default_rng(1)
    dip = box(0.3) * np.exp(-np.maximum(T - 0.3, 0) / 0.1)
    levels = [1 - size * dip for size in (0.14, 0.05, 0.02)]
    turn = 2 * np.pi * 50 * T
    current = [100 * np.sin(turn) + 900 * dip * (np.sin(turn) + share * np.sin(2 * turn)) for share in (0.5, 0.5, 0.5)]
    (incident,) = characterize(record(three_phases(rng, levels), current)).incidents
    assert incident.cause == "transformer energising"


def test_probabilities_come_from_the_table():
    (incident,) = characterize(draw("evolving", 0).recording).incidents
    assert incident.rule == "deep, change from 35 %, without currents"
    assert 0.9 < incident.probability < 1
