"""The same signal, cut to several lengths, has the same findings: one method for what is steady."""

import re
from functools import cache

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.measure.waves import record

from pqswarm.measure import characterize
from pqswarm.recordings import Channel, Recording

RATE, HERTZ, PEAK = 12_800.0, 50.0, 230 * np.sqrt(2)
LENGTHS = (0.4, 1.2, 1.45, 1.6, 3.2, 12.0 if DEPTH > 1 else 6.0)


@cache
def phases(seconds):
    t = np.arange(round(seconds * RATE)) / RATE
    return t, 2 * np.pi * HERTZ * t - 2 * np.pi / 3 * np.arange(3)[:, None] + 0.4


def notches(depth):
    def make(t, angle):
        return np.sin(angle) - depth * np.sign(np.sin(angle)) * ((angle / np.pi + 0.3) % 1 < 0.05)

    return make


def fifth_harmonic(t, angle):
    return np.sin(angle) + 0.052 * np.sin(5 * angle)


def flicker(t, angle):
    return (1 + 0.006 * np.sin(2 * np.pi * 8 * t)) * np.sin(angle)


def low_phase(t, angle):
    return np.array([[0.92], [1.0], [1.0]]) * np.sin(angle)


def offset(t, angle):
    return np.sin(angle) + 0.02


SIGNALS = {
    "clean": (lambda t, angle: np.sin(angle), None, 0.0, {}),
    "shallow notches": (notches(0.045), None, 0.0, {}),
    "notches": (notches(0.06), "notching", 6.0, {"per_cycle": 2, "depth": 0.06}),
    "fifth harmonic": (fifth_harmonic, "harmonics", 5.2, {"order": 5, "thd": 0.052}),
    "flicker": (flicker, "flicker", 0.6, {"frequency": 8.0, "depth": 0.006}),
    "low phase": (low_phase, "unbalance", 2.7, {}),
    "offset": (offset, "DC offset", 2.0, {}),
}
TOLERANCES = {"notching": 0.7, "harmonics": 0.15, "flicker": 0.1, "unbalance": 0.15, "DC offset": 0.1}
"""Of the magnitude [%]."""


def found_in(make, seconds, noise):
    waves = PEAK * make(*phases(seconds))
    waves = waves + noise * 230 * np.random.default_rng(5).normal(size=waves.shape)
    return characterize(record(*waves, rate=RATE), nominal_voltage=230.0)


def form(sentence):
    """A sentence without its numbers, each phase with its own or not."""
    text = re.sub(r"-?\d+(\.\d+)?", "#", re.sub(r" \([^()]*\)", "", sentence))
    return text.replace("# on A, # on B, # on C", "#")


@pytest.mark.parametrize("noise", [0.0, 0.01], ids=["no noise", "40 dB"])
@pytest.mark.parametrize("name", SIGNALS)
def test_findings_do_not_depend_on_the_length(name, noise):
    make, kind, magnitude, details = SIGNALS[name]
    forms = set()
    for seconds in LENGTHS:
        found = found_in(make, seconds, noise)
        case = (seconds, found.sentences())
        assert [event.type for event in found.events] == ([kind] if kind else []), case
        forms.add(form(*found.sentences()))
        if kind is None:
            continue
        (event,) = found.events
        assert (event.phases, event.unit) == (("A", "B", "C"), "%"), case
        assert event.magnitude == pytest.approx(magnitude, abs=TOLERANCES[kind]), case
        assert event.duration == pytest.approx(seconds, abs=0.25), case
        for key, value in details.items():
            assert event.details[key] == pytest.approx(value, rel=0.12), (key, *case)
    assert len(forms) == 1, forms


@pytest.mark.parametrize("seconds", LENGTHS)
def test_flicker_needs_one_and_a_half_periods(seconds):
    """A modulation of 3 Hz has 1.2 periods in 0.4 s, and is seen in all longer records."""

    def slow(t, angle):
        return (1 + 0.02 * np.sin(2 * np.pi * 3 * t)) * np.sin(angle)

    kinds = [event.type for event in found_in(slow, seconds, 0.0).events]
    assert (kinds == ["flicker"]) == (seconds > 0.5), kinds


@pytest.mark.parametrize("seconds", [0.4, 0.6, 1.0, 1.6, 3.2])
@pytest.mark.parametrize("name", ["notches", "fifth harmonic", "low phase", "offset"])
def test_a_sag_does_not_hide_what_is_steady(name, seconds):
    """Captures of an event that take less than half of it."""
    make, kind, magnitude, _ = SIGNALS[name]

    def with_sag(t, angle):
        return np.where(abs(t - 0.55 * seconds) < 0.06, 0.6, 1.0) * make(t, angle)

    events = {event.type: event for event in found_in(with_sag, seconds, 0.005).events}
    assert set(events) == {"sag", kind}, [event.sentence for event in events.values()]
    assert events[kind].magnitude == pytest.approx(magnitude, abs=1.5 * TOLERANCES[kind])


def test_a_clean_capture_of_a_sag_has_nothing_steady():
    for seconds in (0.3, 0.4, 0.6, 1.0, 1.6):
        for noise in (0.0, 0.01, 0.03):

            def sag(t, angle, half=0.15 * seconds, middle=0.5 * seconds):
                return np.where(abs(t - middle) < half, [[0.3], [0.8], [0.95]], 1.0) * np.sin(angle)

            found = found_in(sag, seconds, noise)
            assert {event.type for event in found.events} == {"sag"}, (seconds, noise, found.sentences())


def test_three_voltages_in_phase_have_no_unbalance():
    wave = 325 * np.sin(2 * np.pi * 50 * np.arange(7680) / 12_800)
    channels = tuple(Channel(f"U{phase}", "V", phase, wave) for phase in "ABC")
    assert characterize(Recording(channels, 12_800, 50.0)).events == ()


@pytest.mark.parametrize("level", [0.6, 1.3])
@pytest.mark.parametrize(("start", "end"), [(0.05, 0.13), (0.04, 0.165)])
def test_harmonics_of_a_short_capture_with_an_event(level, start, end):
    """Ten cycles, an event in the middle: too little before and after it, but enough inside."""
    t, angle = phases(0.2)
    wave = PEAK * fifth_harmonic(t, angle[0]) * np.where((t >= start) & (t < end), level, 1.0)
    events = characterize(record(wave, rate=RATE), nominal_voltage=230).events
    assert {event.type for event in events} == {"sag" if level < 1 else "swell", "harmonics"}
    clean = PEAK * np.sin(angle[0]) * np.where((t >= start) & (t < end), level, 1.0)
    assert len(characterize(record(clean, rate=RATE), nominal_voltage=230).events) == 1
