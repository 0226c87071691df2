"""Generating single events: determinism, overrides, other grids, errors."""

import inspect

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, PRESETS, SOURCES, generate, models
from pqswarm.events.event import synthesize_event

TABLE_1 = """
pure_sinusoid dc_offset sag swell interruption flicker notching harmonics oscillatory_transient sag_with_harmonics
swell_with_harmonics flicker_with_harmonics sag_with_transient swell_with_transient
"""
PAPER_ORDER = tuple(TABLE_1.split())
ALL = [
    (preset, source, event_class)
    for preset in PRESETS.built_in
    for source in SOURCES
    for event_class in (PRESETS[preset].models if source == "model" else PRESETS[preset].bench)
]


def test_classes_are_the_papers_in_its_order():
    assert tuple(EVENT_CLASSES.built_in) == (*PAPER_ORDER, "impulsive_transient", "voltage_change")
    assert {preset.classes for name, preset in PRESETS.built_in.items() if name != "field-extended"} == {PAPER_ORDER}
    assert PRESETS["field-extended"].classes == tuple(EVENT_CLASSES.built_in)
    functions = {name: "sag" if name == "voltage_change" else name for name in EVENT_CLASSES.built_in}
    assert all(EVENT_CLASSES[name].model is getattr(models, function) for name, function in functions.items())
    assert [one.seed_word for one in EVENT_CLASSES.built_in.values()] == list(range(16))


@pytest.mark.parametrize(("preset", "source", "event_class"), ALL)
def test_an_event_follows_from_its_arguments_and_from_its_parameters(preset, source, event_class):
    event, again, other = (generate(event_class, seed, preset, source=source) for seed in (7, 7, 8))
    assert again.signal.tobytes() == event.signal.tobytes()
    assert dict(again.parameters) == dict(event.parameters)
    assert not np.array_equal(event.signal, other.signal)
    record = {"sampling_rate": event.sampling_rate, "frequency": event.frequency, "cycles": event.cycles}
    made = synthesize_event(event.label, event.parameters, **record, source=event.source, seed=event.seed)
    assert made.tobytes() == event.signal.tobytes()
    assert np.isfinite(made).all()


def test_a_given_parameter_does_not_change_the_others():
    free, fixed = generate("sag_with_transient", 3), generate("sag_with_transient", 3, depth=0.5)
    assert fixed.parameters == {**free.parameters, "depth": 0.5}


def test_rate_frequency_and_length_are_adjustable():
    event = generate("harmonics", 0, sampling_rate=12_800, frequency=60, cycles=12)
    assert event.signal.size == round(12 / 60 * 12_800)
    assert np.abs(np.fft.rfft(event.signal)).argmax() == 12
    assert (event.sampling_rate, event.frequency, event.cycles) == (12_800, 60, 12)


def test_events_can_be_copied_and_sent_to_other_processes():
    import copy
    import pickle

    event = generate("sag", 0)
    assert np.array_equal(pickle.loads(pickle.dumps(event)).signal, copy.deepcopy(event).signal)


def test_a_preset_with_fixed_values():
    event = generate("sag", 0, PRESETS["paper"].fixed(frequency=60, sampling_rate=12_000))
    assert (event.frequency, event.sampling_rate) == (60, 12_000)
    assert event.preset == "paper, frequency=60, sampling_rate=12000"
    assert generate("pure_sinusoid", 0, PRESETS["paper"].fixed(amplitude=1.0)).parameters["amplitude"] == 1.0
    with pytest.raises(PqswarmError, match="unknown parameter of all classes of preset paper 'depth'"):
        PRESETS["paper"].fixed(depth=0.5)


def test_windows_stay_inside_the_record():
    for seed in range(50):
        assert 0 < generate("sag", seed, start=0.55).parameters["duration"] <= 0.05 + 1e-12
        event = generate("sag", seed, cycles=4)
        assert event.parameters["start"] + event.parameters["duration"] <= 4 / 50 + 1e-12
        assert event.parameters["duration"] >= 0.5 / 50


def test_transients_stay_below_the_nyquist_frequency():
    for seed in range(50):
        event = generate("oscillatory_transient", seed, sampling_rate=6400)
        assert 1000 <= event.parameters["transient_frequency"] <= 0.45 * 6400


def test_printed_options():
    """The presets differ where the print is evidently an error, and nowhere else."""
    printed, paper = PRESETS["paper-printed"], PRESETS["paper"]
    for seed in range(20):
        assert 50 <= generate("flicker", seed, printed).parameters["flicker_frequency"] <= 1250
        assert 1 <= generate("flicker", seed, paper).parameters["flicker_frequency"] <= 25
        for name in ("sag_with_transient", "swell_with_transient"):
            event = generate(name, seed, paper)
            assert event.parameters["transient_onset"] == event.parameters["start"]
            assert 0.18 <= event.parameters["start"] <= 0.54
            assert event.parameters["start"] + event.parameters["duration"] <= 0.6
        assert 0.18 <= generate("oscillatory_transient", seed, paper).parameters["transient_onset"] <= 0.54
        assert generate("notching", seed, paper).parameters["notches_per_cycle"] == 1
    differing = {name for name in paper.models if paper.models[name] != printed.models[name]}
    assert differing == {"flicker", "flicker_with_harmonics"}
    assert (paper.bench, paper.bench_fraction) == (printed.bench, printed.bench_fraction)


def test_half_cycle_notches_are_twice_as_frequent():
    once, twice = (generate("notching", 1, notches_per_cycle=n) for n in (1, 2))
    sine = np.sin(2 * np.pi * 50 * once.time)
    disturbed = [np.count_nonzero(np.abs(event.signal - sine) > 1e-9) for event in (once, twice)]
    assert disturbed[1] == pytest.approx(2 * disturbed[0], rel=0.05)


def test_models_are_pure_functions_with_the_formula_in_the_docstring():
    for model in (EVENT_CLASSES[name].model for name in PAPER_ORDER):
        assert ":math:`v_" in inspect.getdoc(model)
        source = inspect.getsource(model)
        assert "random" not in source
        assert "global" not in source


def test_global_random_state_is_left_alone():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    generate("sag", 0, "field")
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize(
    ("arguments", "parameters", "message"),
    [
        (("sag", 1.5), {}, "seed must be an integer of at least 0, not 1.5"),
        (("sag", True), {}, "seed must be an integer of at least 0"),
        (("sag", 0), {"rise": 0.5}, "unknown parameter of sag 'rise'"),
        (("sag", 0), {"depth": float("nan")}, "depth of sag must be a number"),
        (("sag", 0), {"depth": "deep"}, "depth of sag must be a number"),
        (("sag", 0), {"start": 10**400}, "start of sag must be a number"),
        (("sag", 0), {"amplitude": 1e308}, "amplitude of sag must be a number"),
        (("sag", 0), {"start": 0.7}, "start of sag must lie inside the record of 0.6 s, not at 0.7 s"),
        (("sag", 0), {"start": 0.5, "duration": 0.2}, "reach beyond the record of 0.6 s"),
        (("oscillatory_transient", 0), {"transient_onset": 0.9}, "transient_onset of oscillatory_transient must lie"),
        (("oscillatory_transient", 0), {"transient_frequency": 1e5}, "must be below half the sampling rate"),
        (("oscillatory_transient", 0), {"sampling_rate": 1400}, "cannot hold a range of 1000 to 10000 hertz"),
        (("sag", 0, []), {}, "unknown preset"),
        (("sag", 0, "field"), {"snr": -400}, "snr of sag must be a number"),
        (("sag", 0), {"sampling_rate": 0}, "sampling_rate of sag must be"),
        (("sag", 0), {"cycles": -3}, "cycles of sag must be"),
        (("swell", 0), {"source": "bench"}, "cannot produce 'swell'; it produces sag, harmonics"),
    ],
)
def test_mistakes_are_named(arguments, parameters, message):
    with pytest.raises(PqswarmError, match=message):
        generate(*arguments, **parameters)
