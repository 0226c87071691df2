import numpy as np
import pytest
from tests.measure.waves import dipped

from pqswarm.measure import Thresholds, characterize
from pqswarm.measure.detect.spans import find_spans
from pqswarm.measure.event import category, oscillation_word


def spans(values):
    values = np.array(values, dtype=float)
    return [(s.type, s.first, s.stop, s.magnitude) for s in find_spans(values, values, Thresholds())]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 0.89, 0.91, 0.89, 0.915, 0.92, 1], [("sag", 1, 5, 0.89)]),  # until it is back by the hysteresis
        ([1, 1.11, 1.09, 1.2, 1.08, 1], [("swell", 1, 4, 1.2)]),  # at or below the threshold less hysteresis
        ([1, 0.9, 1.1, 1], []),  # exactly at the threshold
        (  # an interruption leaves the fault before it
            [1, 0.6, 0.5, 0.5, 0.5, 0.5, 0.2, 0.02, 0.0, 0.05, 0.5, 1],
            [("sag", 1, 7, 0.5), ("interruption", 7, 10, 0.0)],
        ),
        ([1, 0.05, 0.05, 0.13, 0.14, 0.13, 0.05, 1], [("interruption", 1, 7, 0.05)]),  # coupled voltage
        (  # a voltage that is back splits an interruption
            [1, 0.05, 0.05, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.05, 1],
            [("interruption", 1, 3, 0.05), ("sag", 3, 9, 0.7), ("interruption", 9, 10, 0.05)],
        ),
        ([1, 0.8, np.nan, 0.8, 1], [("sag", 1, 4, 0.8)]),  # unknown values change nothing
    ],
)
def test_spans_by_hand(values, found):
    assert spans(values) == found


def test_polyphase_rules_by_hand():
    low = np.array([1, 0.8, 0.05, 0.05, 0.05, 0.85, 1])
    high = np.array([1, 1.0, 0.9, 0.05, 0.13, 0.95, 1])
    found = [(s.type, s.first, s.stop) for s in find_spans(low, high, Thresholds())]
    assert ("interruption", 3, 4) in found  # all below; ends when any is back
    sag = find_spans(np.array([1, 0.8, 0.7, 0.91, 0.92]), np.array([1, 1, 0.99, 1, 1]), Thresholds())
    assert [(s.type, s.first, s.stop) for s in sag] == [("sag", 1, 4)]  # any below; ends when all are back


def test_polyphase_interruption_needs_all_phases():
    two = characterize(dipped((0.1, 0.2, 0.0), (0.1, 0.2, 0.0)))
    assert [(e.type, "all_phases_s" in e.details) for e in two.events] == [("sag", False)]
    assert two.sentences()[0].startswith("instantaneous sag on phases A and B, 0.00 pu residual")


@pytest.mark.parametrize(
    ("kind", "duration", "word"),
    [
        ("sag", 0.01, "instantaneous sag"),
        ("sag", 30 / 50, "instantaneous sag"),
        ("sag", 30.5 / 50, "momentary sag"),
        ("swell", 3.0, "momentary swell"),
        ("swell", 3.01, "temporary swell"),
        ("sag", 60.0, "temporary sag"),
        ("sag", 60.1, "undervoltage"),
        ("swell", 60.1, "overvoltage"),
        ("interruption", 0.02, "momentary interruption"),
        ("interruption", 3.01, "temporary interruption"),
        ("interruption", 61.0, "sustained interruption"),
    ],
)
def test_words_at_their_bounds(kind, duration, word):
    assert category(kind, duration, 50.0) == word


def test_words_that_depend_on_a_frequency():
    assert category("sag", 0.55, 60.0) == "momentary sag"  # of 50 Hz to 0.6 s instantaneous
    assert [oscillation_word(f) for f in (4999, 5000, 5e5)] == ["low-frequency", "medium-frequency", "high-frequency"]
