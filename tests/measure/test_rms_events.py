"""Urms(1/2) and the frequency it needs, and the spans of sags, swells and interruptions in it."""

import numpy as np
import pytest
from tests.measure.waves import RATE, sine, with_level
from tests.reference.urms import half_cycle_rms as slow_half_cycle_rms

from pqswarm.measure import Thresholds, half_cycle_rms
from pqswarm.measure.detect.spans import find_spans
from pqswarm.measure.event import category, oscillation_word
from pqswarm.recordings.frequency import estimate_nominal, measure_frequency


@pytest.mark.parametrize(("rate", "frequency"), [(1000.0, 50.0), (1000.0, 59.3), (3200.0, 50.2), (2713.3, 60.0)])
def test_urms_is_the_slow_twin(rate, frequency):
    samples = np.random.default_rng(1).normal(size=round(3.3 * rate / frequency))
    time, values = half_cycle_rms(samples, rate, frequency)
    slow_time, slow_values = slow_half_cycle_rms(samples, rate, frequency)
    np.testing.assert_allclose(time, slow_time, atol=1e-12)
    np.testing.assert_allclose(values, slow_values, rtol=2e-3)


@pytest.mark.parametrize("rate", [600.0, 1000.0, 1237.0, 3200.0, 30707.2])
@pytest.mark.parametrize("frequency", [47.3, 50.0, 59.97, 63.0])
def test_urms_of_a_sine_at_any_rate(rate, frequency):
    _, values = half_cycle_rms(sine(8, rate, frequency), rate, frequency)
    np.testing.assert_allclose(values, 325 / np.sqrt(2), rtol=0.012 if rate < 1500 else 2e-3)


def test_urms_of_exactly_one_cycle_has_one_value():
    _, values = half_cycle_rms(sine(1), RATE, 50.0)
    np.testing.assert_allclose(values, [325 / np.sqrt(2)], rtol=1e-3)


def test_missing_samples_are_bridged_and_long_gaps_have_no_value():
    wave = sine(20)
    wave[1003:1030] = np.nan
    wave[2000:2500] = np.nan
    _, values = half_cycle_rms(wave, RATE, 50.0)
    assert np.isnan(values).sum() >= 3
    np.testing.assert_allclose(values[np.isfinite(values)], 325 / np.sqrt(2), rtol=2e-2)


@pytest.mark.parametrize("frequency", [45.6, 49.7, 50.0, 60.02, 64.0])
@pytest.mark.parametrize("rate", [800.0, 3200.0, 25_000.0])
def test_frequency_through_sags_and_transients(frequency, rate):
    wave = with_level(sine(12, rate, frequency), 0.08, 0.13, 0.3, rate)
    wave[round(0.05 * rate)] += 300
    nominal = 50.0 if frequency < 55 else 60.0
    assert measure_frequency([wave], rate, nominal) == pytest.approx(frequency, abs=0.15)


@pytest.mark.parametrize("frequency", [49.2, 50.0, 50.6, 59.5, 60.4])
def test_nominal_frequency_of_files_that_do_not_say_it(frequency):
    wave = with_level(sine(24, 4000.0, frequency), 0.08, 0.13, 0.3, 4000.0)
    wave[100] = np.nan
    noise = np.random.default_rng(0).normal(size=4000)
    for signal, nominal in ((wave, 50.0 if frequency < 55 else 60.0), (wave[:60], None), (noise, None)):
        assert estimate_nominal(lambda first, stop, x=signal: [x[first:stop]], signal.size, 4000.0) == nominal


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
