"""The field preset keeps what it promises."""

from functools import cache

import numpy as np
import pytest

from pqswarm.events import PRESETS, generate


@cache
def events():
    return [generate(name, seed, "field") for name in PRESETS["paper"].classes for seed in range(40)]


def values(name):
    return np.array([event.parameters[name] for event in events() if name in event.parameters])


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("phase", 0, 2 * np.pi),
        ("frequency_deviation", -0.01, 0.01),
        ("amplitude", 0.9, 1.1),
        ("snr", 30, 60),
        ("transient_frequency", 300, 10_000),
        ("transient_amplitude", 0.1, 4),
        ("transient_damping", 1 / 20e-3, 1 / 0.2e-3),
        ("notches_per_cycle", 1, 6),
        ("background_5_phase", 0, 2 * np.pi),
    ],
)
def test_ranges(name, low, high):
    drawn = values(name)
    assert drawn.min() >= low
    assert drawn.max() <= high
    assert np.ptp(drawn) > 0.75 * (high - low)


def test_records():
    assert {event.frequency for event in events()} == {50.0, 60.0}
    cycles = np.array([event.cycles for event in events()])
    assert 4 <= cycles.min() < 5
    assert 29 < cycles.max() <= 30
    for event in events():
        assert event.signal.size == round(event.cycles / event.frequency * event.sampling_rate)


def test_notches_fill_the_record_from_its_first_notch_period():
    for event in (event for event in events() if event.label == "notching"):
        frequency = event.frequency * (1 + event.parameters["frequency_deviation"])
        assert event.parameters["notch_position"] <= 1 / (frequency * event.parameters["notches_per_cycle"])


def test_background_distortion_is_at_most_three_percent():
    amplitudes = np.array([values(f"background_{order}") for order in (3, 5, 7, 11, 13)])
    thd = np.sqrt((amplitudes**2).sum(axis=0))
    assert thd.max() <= 0.03
    assert thd.max() > 0.02


@pytest.mark.parametrize(("name", "latest"), [("start", 0.8), ("transient_onset", 0.9)])
def test_disturbances_appear_anywhere(name, latest):
    chosen = [event for event in events() if name in event.parameters]
    places = [event.parameters[name] * event.frequency / event.cycles for event in chosen]
    assert min(places) < 0.05
    assert max(places) > latest


def test_frequency_amplitude_and_background_measured_back():
    event = generate("pure_sinusoid", 5, "field", cycles=30, snr=float("inf"))
    f = event.frequency * (1 + event.parameters["frequency_deviation"])
    orders = (1, 3, 5, 7, 11, 13)
    t = event.time
    basis = np.column_stack([part(2 * np.pi * f * k * t) for k in orders for part in (np.sin, np.cos)])
    weights, _, _, _ = np.linalg.lstsq(basis, event.signal)
    amplitudes = np.hypot(weights[::2], weights[1::2])
    assert amplitudes[0] == pytest.approx(event.parameters["amplitude"], abs=1e-9)
    expected = [event.parameters[f"background_{k}"] * event.parameters["amplitude"] for k in orders[1:]]
    np.testing.assert_allclose(amplitudes[1:], expected, atol=1e-9)
    assert np.abs(basis @ weights - event.signal).max() < 1e-9


def test_the_events_own_noise_has_the_drawn_level():
    for seed in range(20):
        noisy, clean = (generate("sag", seed, "field", **snr) for snr in ({}, {"snr": float("inf")}))
        noise = noisy.signal - clean.signal
        measured = 10 * np.log10(np.mean(clean.signal**2) / np.mean(noise**2))
        assert measured == pytest.approx(noisy.parameters["snr"], abs=0.1)


def test_bench_events_fit_into_field_records():
    for event_class in PRESETS["field"].bench:
        assert min(generate(event_class, seed, "field", source="bench").cycles for seed in range(10)) >= 12
