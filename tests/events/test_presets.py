"""The presets `field` and `paper-grid` keep what they promise."""

from functools import cache
from math import inf

import numpy as np
import pytest

from pqswarm.events import PRESETS, Fixed, generate

STEPPED, PAPER = PRESETS["paper-grid"], PRESETS["paper"]


@cache
def field_events():
    return [generate(name, seed, "field") for name in PRESETS["paper"].classes for seed in range(40)]


def values(name):
    return np.array([event.parameters[name] for event in field_events() if name in event.parameters])


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
def test_ranges_of_the_field(name, low, high):
    drawn = values(name)
    assert drawn.min() >= low
    assert drawn.max() <= high
    assert np.ptp(drawn) > 0.75 * (high - low)


def test_records_of_the_field():
    assert {event.frequency for event in field_events()} == {50.0, 60.0}
    cycles = np.array([event.cycles for event in field_events()])
    assert 4 <= cycles.min() < 5
    assert 29 < cycles.max() <= 30
    for event in field_events():
        assert event.signal.size == round(event.cycles / event.frequency * event.sampling_rate)


def test_notches_fill_the_record_from_its_first_notch_period():
    for event in (event for event in field_events() if event.label == "notching"):
        frequency = event.frequency * (1 + event.parameters["frequency_deviation"])
        assert event.parameters["notch_position"] <= 1 / (frequency * event.parameters["notches_per_cycle"])


def test_background_distortion_is_at_most_three_percent():
    amplitudes = np.array([values(f"background_{order}") for order in (3, 5, 7, 11, 13)])
    thd = np.sqrt((amplitudes**2).sum(axis=0))
    assert thd.max() <= 0.03
    assert thd.max() > 0.02


@pytest.mark.parametrize(("name", "latest"), [("start", 0.8), ("transient_onset", 0.9)])
def test_disturbances_appear_anywhere(name, latest):
    chosen = [event for event in field_events() if name in event.parameters]
    places = [event.parameters[name] * event.frequency / event.cycles for event in chosen]
    assert min(places) < 0.05
    assert max(places) > latest


def test_frequency_amplitude_and_background_measured_back():
    event = generate("pure_sinusoid", 5, "field", cycles=30, snr=inf)
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
        noisy, clean = (generate("sag", seed, "field", **snr) for snr in ({}, {"snr": inf}))
        noise = noisy.signal - clean.signal
        measured = 10 * np.log10(np.mean(clean.signal**2) / np.mean(noise**2))
        assert measured == pytest.approx(noisy.parameters["snr"], abs=0.1)


def test_bench_events_fit_into_field_records():
    for event_class in PRESETS["field"].bench:
        assert min(generate(event_class, seed, "field", source="bench").cycles for seed in range(10)) >= 12


@pytest.fixture(scope="module")
def grid(paper_events):
    return paper_events("paper-grid")


def of(events, name, label):
    values = events.parameters[:, events.parameter_names.index(name)]
    return values[(events.y == events.class_names.index(label)) & (events.source == 0)]


def test_parameters_take_the_steps_that_are_documented(grid):
    period = 0.02
    steps = {
        ("flicker", "flicker_depth"): np.arange(1, 8) / 100,
        ("flicker_with_harmonics", "flicker_frequency"): np.arange(1.0, 26.0),
        ("dc_offset", "offset"): np.arange(1, 11) / 100,
        ("pure_sinusoid", "amplitude"): [0.9, 0.94, 0.98, 1.02, 1.06, 1.1],
        ("sag", "duration"): np.arange(1, 61) * period / 2,
        ("swell_with_transient", "start"): [0.0],
    }
    for (label, name), allowed in steps.items():
        drawn = of(grid, name, label)
        assert np.abs(drawn[:, np.newaxis] - np.array(allowed)).min(axis=1).max() < 1e-12
        assert len(np.unique(drawn.round(9))) >= 0.8 * len(allowed)


def test_harmonics_have_one_of_four_spectra(grid):
    for label in ("harmonics", "sag_with_harmonics", "flicker_with_harmonics"):
        number = of(grid, "spectrum", label)
        assert set(number) == {1.0, 2.0, 3.0, 4.0}
        assert set(zip(number, of(grid, "h5", label), of(grid, "h13", label), strict=True)) == {
            (1.0, 0.2, 0.077),
            (2.0, 0.18, 0.0693),
            (3.0, 0.16, 0.0616),
            (4.0, 0.14, 0.0539),
        }


def test_no_class_consists_of_identical_waveforms(grid):
    for label in range(14):
        assert len(np.unique(grid.X(inf)[grid.y == label].round(9), axis=0)) >= 6


def test_the_laboratory_has_one_circuit():
    varied = {"load_resistance", "rectifier_ratio", "switching_angle", "transient_onset", "start", "duration"}
    for label, ranges in STEPPED.bench.items():
        assert {name for name, spec in ranges.items() if not isinstance(spec, Fixed)} <= varied, label
    circuits = [{k: v for k, v in ranges.items() if "capaci" in k or "fault" in k} for ranges in STEPPED.bench.values()]
    for name in ("capacitance", "fault_ratio"):
        assert len({circuit[name] for circuit in circuits if name in circuit}) == 1


def test_the_fault_of_the_laboratory_leaves_044_pu():
    for seed in range(3):
        event = generate("sag", seed, "paper-grid", source="bench", duration=0.4)
        during = event.signal[(event.time > 0.1) & (event.time < 0.38)]
        assert np.sqrt(2 * np.mean(during**2)) == pytest.approx(0.44, abs=0.02)


def test_a_tenth_of_the_events_is_from_the_laboratory(grid):
    counts = {label: int(grid.source[grid.y == i].sum()) for i, label in enumerate(grid.class_names)}
    assert {label: n for label, n in counts.items() if n} == {
        "sag": 78,
        "harmonics": 35,
        "oscillatory_transient": 78,
        "sag_with_harmonics": 78,
        "sag_with_transient": 78,
    }
    assert STEPPED.with_classes(["sag", "swell"]).fraction_from_bench("sag") == 0.315


def test_ranges_stay_within_the_printed_ones():
    def ends(spec):
        values = {"frequency": 50.0, "cycles": 30.0, "sampling_rate": 25e3, "spectrum": 1.0}
        values |= {"duration": 0.1, "notches_per_cycle": 1.0, "transient_onset": 0.18, "start": 0.0}
        return sorted((spec.at(0.0, values), spec.at(1 - 1e-12, values)))

    for label in PAPER.classes:
        for name, printed in PAPER.ranges(label).items():
            if name == "start" and "transient_onset" in PAPER.ranges(label):
                continue  # with the record, not with the transient
            low, high = ends(printed)
            low_here, high_here = ends(STEPPED.ranges(label)[name])
            assert low_here >= low - 1e-9, (label, name)
            assert high_here <= high + 1e-9, (label, name)
