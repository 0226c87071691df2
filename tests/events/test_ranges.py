"""Events keep to the ranges of Table 1 when their parameters are measured back from the waveform."""

from functools import cache

import numpy as np
import pytest
from tests.depth import some
from tests.reference import measure

from pqswarm.events import PRESETS, generate

COUNT = some(200)
CYCLE = 0.02
SAMPLE = 1 / 25_000


@cache
def events(event_class, count=COUNT):
    return [generate(event_class, seed) for seed in range(count)]


def check(event, name, measured, low, high, tolerance):
    """The measured value lies in the printed range and is the one that the event says it has."""
    label = f"{name} of {event.label}, seed {event.seed}"
    assert low - tolerance <= measured <= high + tolerance, label
    assert measured == pytest.approx(event.parameters[name], abs=tolerance), label


def check_window(event, signal, name, low, high):
    change, start, duration = measure.window(signal, measure.steady_cycle(signal))
    check(event, name, abs(change), low, high, 1e-3)
    assert (change > 0) == (name == "rise")
    check(event, "duration", duration, 0.5 * CYCLE, 30 * CYCLE, 12 * SAMPLE)
    check(event, "start", start, 0.0, 29.5 * CYCLE, 12 * SAMPLE)
    assert start + duration <= 30 * CYCLE + SAMPLE


def check_harmonics(event, cycle):
    amplitudes, _ = measure.spectrum(cycle)
    for order in (5, 7, 11, 13):
        check(event, f"h{order}", amplitudes[order], 0.0, 0.2, 1e-6)
    assert np.sum(amplitudes[[1, 5, 7, 11, 13]] ** 2) == pytest.approx(1.0, abs=1e-6)
    thd = np.sqrt(np.sum(amplitudes[2:51] ** 2)) / amplitudes[1]
    assert 0 < thd <= np.sqrt(4 * 0.04 / (1 - 4 * 0.04)) + 1e-6


def check_transient(event):
    amplitude, damping, frequency, onset, rest = measure.transient(event.signal)
    check(event, "transient_frequency", frequency, 1000.0, 10000.0, 0.1)
    check(event, "transient_damping", damping, 50.0, 100.0, 0.1)
    # The amplitude is that of the true onset, which lies up to one sample before the first disturbed one.
    check(event, "transient_amplitude", amplitude, 1.0, 4.0, 0.05)
    check(event, "transient_onset", onset, 0.3 * 0.6, 0.9 * 0.6, 4 * SAMPLE)
    return rest


@pytest.mark.parametrize("event_class", PRESETS["paper"].classes)
def test_record(event_class):
    for event in events(event_class):
        assert event.signal.shape == (15_000,)
        assert event.signal.dtype == np.float64
        assert (event.sampling_rate, event.frequency, event.cycles) == (25_000, 50, 30)
        assert (event.label, event.source, event.preset) == (event_class, "model", "paper")


def test_pure_sinusoid_and_dc_offset():
    for event in (*events("pure_sinusoid"), *events("dc_offset")):
        amplitudes, mean = measure.spectrum(event.signal)
        check(event, "amplitude", amplitudes[1], 0.9, 1.1, 1e-9)
        if event.label == "dc_offset":
            check(event, "offset", mean, 0.0, 0.1, 1e-9)
        else:
            assert abs(mean) < 1e-12
            assert amplitudes[2:].max() < 1e-12


@pytest.mark.parametrize(
    ("event_class", "name", "low", "high"),
    [
        ("sag", "depth", 0.1, 0.9),
        ("swell", "rise", 0.1, 0.8),
        ("interruption", "depth", 0.9, 1.0),
        ("sag_with_harmonics", "depth", 0.1, 0.9),
        ("swell_with_harmonics", "rise", 0.1, 0.8),
        ("sag_with_transient", "depth", 0.1, 0.9),
        ("swell_with_transient", "rise", 0.1, 0.8),
    ],
)
def test_windows(event_class, name, low, high):
    for event in events(event_class):
        rest = check_transient(event) if "transient" in event_class else event.signal
        check_window(event, rest, name, low, high)
        if "harmonics" in event_class:
            check_harmonics(event, measure.steady_cycle(event.signal))


@cache
def modulations(event_class):
    """Depth and frequency of the modulation of each event; a slow fit, made once."""
    return [measure.flicker(event.signal) for event in events(event_class)]


@pytest.mark.parametrize("event_class", ["flicker", "flicker_with_harmonics"])
def test_flicker(event_class):
    for event, (depth, frequency) in zip(events(event_class), modulations(event_class), strict=True):
        check(event, "flicker_depth", depth, 0.0, 0.07, 1e-4)
        check(event, "flicker_frequency", frequency, 1.0, 25.0, 0.02)


def test_flicker_with_harmonics():
    found = modulations("flicker_with_harmonics")
    for event, (depth, frequency) in zip(events("flicker_with_harmonics"), found, strict=True):
        envelope = 1 + depth * np.sin(2 * np.pi * frequency * event.time)
        check_harmonics(event, (event.signal / envelope)[:500])


def test_notching():
    for event in events("notching"):
        depth, position, width, count = measure.notches(event.signal)
        check(event, "notch_depth", depth, 0.1, 0.4, 1e-9)
        check(event, "notch_position", position, 0.0, CYCLE, 2 * SAMPLE)
        check(event, "notch_width", width, 0.01 * CYCLE, 0.05 * CYCLE, 2 * SAMPLE)
        assert 29 <= count <= 30
        sine = np.sin(2 * np.pi * 50 * event.time)
        assert np.all((event.signal - sine) * sine <= 1e-15)  # a notch never adds to the voltage


def test_harmonics():
    for event in events("harmonics"):
        check_harmonics(event, event.signal[:500])
        np.testing.assert_allclose(event.signal[500:], event.signal[:-500], atol=1e-11)


def test_oscillatory_transient():
    for event in events("oscillatory_transient"):
        np.testing.assert_allclose(check_transient(event), np.sin(2 * np.pi * 50 * event.time), atol=1e-4)


def test_parameters_fill_their_ranges():
    """Uniform draws of 200 come within 5 % of both ends, so no range is silently narrower than printed."""
    for event_class, name, low, high in [
        ("sag", "depth", 0.1, 0.9),
        ("swell", "rise", 0.1, 0.8),
        ("interruption", "depth", 0.9, 1.0),
        ("sag", "duration", 0.5 * CYCLE, 30 * CYCLE),
        ("flicker", "flicker_frequency", 1.0, 25.0),
        ("notching", "notch_depth", 0.1, 0.4),
        ("harmonics", "h13", 0.0, 0.2),
        ("oscillatory_transient", "transient_frequency", 1000.0, 10000.0),
        ("oscillatory_transient", "transient_onset", 0.18, 0.54),
        ("dc_offset", "offset", 0.0, 0.1),
    ]:
        values = np.array([event.parameters[name] for event in events(event_class, 200)])
        assert (values.min() - low) / (high - low) < 0.05
        assert (high - values.max()) / (high - low) < 0.05
        assert (values.mean() - low) / (high - low) == pytest.approx(0.5, abs=0.1)
