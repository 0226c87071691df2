import numpy as np
import pytest
from tests.measure.waves import record, sine, with_level

from pqswarm.measure import Thresholds, characterize
from pqswarm.measure.detect.spans import find_spans
from pqswarm.measure.event import category, oscillation_word


def spans(values):
    values = np.array(values, dtype=float)
    return [(s.type, s.first, s.stop, s.magnitude) for s in find_spans(values, values, Thresholds())]


def test_hysteresis_holds_a_sag_until_it_is_well_back():
    assert spans([1, 0.89, 0.91, 0.89, 0.915, 0.92, 1]) == [("sag", 1, 5, 0.89)]


def test_a_swell_ends_at_or_below_the_threshold_less_hysteresis():
    assert spans([1, 1.11, 1.09, 1.2, 1.08, 1]) == [("swell", 1, 4, 1.2)]


def test_exactly_at_the_threshold_is_no_event():
    assert spans([1, 0.9, 1.1, 1]) == []


def test_an_interruption_leaves_the_fault_before_it():
    found = spans([1, 0.6, 0.5, 0.5, 0.5, 0.5, 0.2, 0.02, 0.0, 0.05, 0.5, 1])
    assert found == [("sag", 1, 7, 0.5), ("interruption", 7, 10, 0.0)]


def test_coupled_voltage_does_not_split_an_interruption():
    assert spans([1, 0.05, 0.05, 0.13, 0.14, 0.13, 0.05, 1]) == [("interruption", 1, 7, 0.05)]
    assert len(spans([1, 0.05, 0.05, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.05, 1])) == 3


def test_unknown_values_change_nothing():
    assert spans([1, 0.8, np.nan, 0.8, 1]) == [("sag", 1, 4, 0.8)]


def test_polyphase_rules_by_hand():
    low = np.array([1, 0.8, 0.05, 0.05, 0.05, 0.85, 1])
    high = np.array([1, 1.0, 0.9, 0.05, 0.13, 0.95, 1])
    found = [(s.type, s.first, s.stop) for s in find_spans(low, high, Thresholds())]
    assert ("interruption", 3, 4) in found  # all below; ends when any is back
    sag = find_spans(np.array([1, 0.8, 0.7, 0.91, 0.92]), np.array([1, 1, 0.99, 1, 1]), Thresholds())
    assert [(s.type, s.first, s.stop) for s in sag] == [("sag", 1, 4)]  # any below; ends when all are back


def test_polyphase_sag_from_the_first_phase_to_the_last():
    waves = [sine(phase=-2 * np.pi * k / 3) for k in range(3)]
    found = characterize(record(with_level(waves[0], 0.1, 0.2, 0.5), with_level(waves[1], 0.15, 0.3, 0.7), waves[2]))
    (event,) = found.events
    assert (event.type, event.phases) == ("sag", ("A", "B"))
    assert event.start == pytest.approx(0.1, abs=0.003)
    assert event.end == pytest.approx(0.3, abs=0.003)
    assert event.magnitude == pytest.approx(0.5, abs=0.01)
    assert found.sentences() == (
        "instantaneous sag on phases A and B, 0.50 pu residual, 10.0 cycles: "
        "A 0.50 pu for 5.0 cycles, B 0.70 pu for 7.5 cycles",
    )


def test_polyphase_interruption_needs_all_phases():
    waves = [sine(phase=-2 * np.pi * k / 3) for k in range(3)]
    two = characterize(record(*(with_level(w, 0.1, 0.2, 0.0) for w in waves[:2]), waves[2]))
    assert [(e.type, "all_phases_s" in e.details) for e in two.events] == [("sag", False)]
    assert two.sentences()[0].startswith("instantaneous sag on phases A and B, 0.00 pu residual")
    three = characterize(record(*(with_level(w, 0.1, 0.2 + 0.04 * k, 0.0) for k, w in enumerate(waves))))
    (event,) = [e for e in three.events if e.type == "interruption"]
    assert event.details["all_phases_s"] == pytest.approx(0.1, abs=0.011)
    assert event.end == pytest.approx(0.28, abs=0.005)


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


def test_thirty_cycles_depend_on_the_frequency():
    assert category("sag", 0.55, 50.0) == "instantaneous sag"
    assert category("sag", 0.55, 60.0) == "momentary sag"


def test_oscillation_words():
    assert [oscillation_word(f) for f in (4999, 5000, 5e5)] == ["low-frequency", "medium-frequency", "high-frequency"]
