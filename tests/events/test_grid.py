"""The preset `paper-grid`: the paper's ranges in steps, and one laboratory."""

from math import inf

import numpy as np
import pytest

from pqswarm.events import PRESETS, Fixed, generate

STEPPED, PAPER = PRESETS["paper-grid"], PRESETS["paper"]


@pytest.fixture(scope="module")
def events(paper_events):
    return paper_events("paper-grid")


def of(events, name, label):
    values = events.parameters[:, events.parameter_names.index(name)]
    return values[(events.y == events.class_names.index(label)) & (events.source == 0)]


def test_parameters_take_the_steps_that_are_documented(events):
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
        drawn = of(events, name, label)
        assert np.abs(drawn[:, np.newaxis] - np.array(allowed)).min(axis=1).max() < 1e-12
        assert len(np.unique(drawn.round(9))) >= 0.8 * len(allowed)


def test_harmonics_have_one_of_four_spectra(events):
    for label in ("harmonics", "sag_with_harmonics", "flicker_with_harmonics"):
        number = of(events, "spectrum", label)
        assert set(number) == {1.0, 2.0, 3.0, 4.0}
        assert set(zip(number, of(events, "h5", label), of(events, "h13", label), strict=True)) == {
            (1.0, 0.2, 0.077),
            (2.0, 0.18, 0.0693),
            (3.0, 0.16, 0.0616),
            (4.0, 0.14, 0.0539),
        }


def test_no_class_consists_of_identical_waveforms(events):
    for label in range(14):
        assert len(np.unique(events.X(inf)[events.y == label].round(9), axis=0)) >= 6


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


def test_a_tenth_of_the_events_is_from_the_laboratory(events):
    counts = {label: int(events.source[events.y == i].sum()) for i, label in enumerate(events.class_names)}
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
