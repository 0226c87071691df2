"""Ranges of a handful of values: equal steps, and harmonic spectra whose amplitudes belong together."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from pqswarm.datasets import load_dataset, make_dataset
from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS, Fixed, Steps, generate, spectrum_ranges

SPECTRA = {
    "six_pulse": {"h5": 0.2, "h7": 0.14, "h11": 0.09, "h13": 0.077},
    "twelve_pulse": {"h11": 0.09, "h13": 0.077},
    "six_pulse_with_choke": {"h5": 0.2, "h7": 0.09, "h11": 0.05, "h13": 0.03},
}
RECORD = {"frequency": 50.0, "cycles": 30.0, "sampling_rate": 25_000.0}


@pytest.fixture(scope="module")
def preset():
    paper = PRESETS["paper"]
    series = spectrum_ranges(SPECTRA)
    kept = {"dc_offset": {**paper.models["dc_offset"], "offset": Steps(0.01, 0.1, 10)}}
    window = {"duration": Steps(0.5, 30, 60, "cycles"), "start": Fixed(0.0)}
    kept["harmonics"] = series
    kept["sag_with_harmonics"] = {"depth": paper.models["sag"]["depth"], **window, **series}
    return replace(paper, name="stepped", models=kept, bench={}, bench_fraction=0.0)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (Steps(0.01, 0.07, 7), np.linspace(0.01, 0.07, 7)),
        (Steps(1, 25, 25), np.arange(1, 26)),
        (Steps(0.5, 30, 60, "cycles"), 0.01 * np.arange(1, 61)),
        (Steps(0.1, 0.9, 3, "record"), [0.06, 0.3, 0.54]),
    ],
)
def test_all_steps_are_equally_likely(steps, expected):
    drawn = [steps.at((i + 0.5) / 4200, RECORD) for i in range(4200)]
    values, counts = np.unique(drawn, return_counts=True)
    np.testing.assert_allclose(values, expected, rtol=1e-14)
    assert set(counts) == {4200 // len(expected)}
    assert (steps.at(0.0, RECORD), steps.at(1 - 2**-53, RECORD)) == (values[0], values[-1])


@pytest.mark.parametrize(("frequency", "cycles"), [(50.0, 4.0), (60.0, 7.3), (49.7, 12.0)])
def test_steps_that_the_record_cannot_hold_are_not_drawn(frequency, cycles):
    steps, values = Steps(0.5, 30, 60, "cycles"), {**RECORD, "frequency": frequency, "cycles": cycles}
    drawn = Counter(steps.at(i / 1000, values) for i in range(1000))
    expected = [0.5 * k / frequency for k in range(1, int(2 * cycles) + 1)]
    np.testing.assert_allclose(sorted(drawn), expected, rtol=1e-12)
    assert max(drawn.values()) - min(drawn.values()) <= 1
    with pytest.raises(PqswarmError, match="cannot hold a range of 5 to 30 cycles"):
        Steps(5, 30, 6, "cycles").at(0.0, {**values, "cycles": 4.0})


def test_an_event_has_the_amplitudes_of_one_spectrum(preset):
    """Also where two spectra have the same h5; each is drawn in a third of the events."""
    events = [generate("sag_with_harmonics", seed, preset) for seed in range(300)]
    numbers = Counter(event.parameters["spectrum"] for event in events)
    assert set(numbers) == {1.0, 2.0, 3.0}
    assert min(numbers.values()) > 75
    for event in events:
        spectrum = list(SPECTRA.values())[int(event.parameters["spectrum"]) - 1]
        assert {key: event.parameters[key] for key in ("h5", "h7", "h11", "h13")} == {"h5": 0.0, "h7": 0.0, **spectrum}


def test_a_spectrum_can_be_chosen(preset):
    free, given = generate("sag_with_harmonics", 3, preset), generate("sag_with_harmonics", 3, preset, spectrum=2)
    assert (given.parameters["spectrum"], given.parameters["h5"], given.parameters["h11"]) == (2.0, 0.0, 0.09)
    assert all(given.parameters[key] == free.parameters[key] for key in ("depth", "duration", "start"))
    lines = np.abs(np.fft.rfft(generate("harmonics", 0, preset, spectrum=3).signal)) / 7500
    np.testing.assert_allclose(lines[[150, 210, 330, 390]], [0.2, 0.09, 0.05, 0.03], atol=1e-9)
    for number in (1.5, 4):
        with pytest.raises(PqswarmError, match=f"spectrum must be an integer from 1 to 3, not {number}"):
            generate("harmonics", 0, preset, spectrum=number)


def test_data_sets_store_spectra(preset, tmp_path):
    dataset = make_dataset(4, snr=[float("inf"), 40], preset=preset.fixed(frequency=60))
    again = load_dataset(dataset.save(tmp_path / "stepped.npz"))
    assert again.preset["models"]["harmonics"]["spectrum"] == {"range": "NameIndex", "names": list(SPECTRA)}
    assert again.preset["models"]["dc_offset"]["offset"]["number"] == 10
    for number in range(len(again)):
        event = again.event(number)
        assert ("spectrum" in event.parameters) == (event.label != "dc_offset")
        made = generate(event.label, event.seed, preset.fixed(frequency=60))
        assert made.signal.tobytes() == event.signal.tobytes()
    assert preset.with_classes(["harmonics"]).classes == ("harmonics",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Steps(0, 1, 1), "number of Steps must be an integer of at least 2, not 1"),
        (lambda: Steps(0, 1, 2.5), "number of Steps must be an integer of at least 2, not 2.5"),
        (lambda: Steps(1, 1, 3), "low of Steps must be below high"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(PqswarmError, match=message):
        make()
