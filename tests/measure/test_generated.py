"""Generated events, with known parameters."""

import numpy as np
import pytest
from tests.depth import some
from tests.measure.waves import levels, parts, record, sine

from pqswarm.events import generate
from pqswarm.measure import characterize


def generated(event_class, seed, factor, **parameters):
    """An event in the field (either frequency, any phase), decimated, with its reference of 1 pu."""
    event = generate(event_class, seed, "field", cycles=24.0, **parameters)
    wave = event.signal[::factor]
    volts = 325.0
    return event, record(volts * wave, rate=event.sampling_rate / factor, frequency=event.frequency)


@pytest.mark.parametrize("event_class", ["sag", "swell", "interruption"])
def test_magnitude_and_duration_of_generated_events(event_class):
    rng = np.random.default_rng(7)
    for seed in range(some(40)):
        factor = int(rng.choice([1, 2, 4, 8, 16]))
        period = 1 / 60
        start, duration = rng.uniform(3 * period, 8 * period), rng.uniform(1.6 * period, 9 * period)
        # Not so near the threshold that noise decides.
        change = {
            "sag": {"depth": rng.uniform(0.13, 0.87)},
            "swell": {"rise": rng.uniform(0.13, 0.8)},
            "interruption": {"depth": rng.uniform(0.93, 1.0)},
        }[event_class]
        event, recorded = generated(event_class, seed, factor, start=start, duration=duration, snr=40.0, **change)
        found = characterize(recorded)
        truth = 1 + event.parameters.get("rise", 0.0) - event.parameters.get("depth", 0.0)
        case = (event_class, seed, factor, found.sentences())
        assert [e.type for e in levels(found)] == [event_class], case
        (one,) = levels(found)
        if duration * found.frequency >= 1.5:
            assert one.magnitude == pytest.approx(truth, abs=0.02), case
        assert one.end - one.start == pytest.approx(duration, abs=0.5 / found.frequency), case
        assert one.start == pytest.approx(start, abs=0.5 / found.frequency), case


@pytest.mark.parametrize(
    "event_class", ["pure_sinusoid", "dc_offset", "flicker", "notching", "harmonics", "flicker_with_harmonics"]
)
def test_no_false_alarms(event_class):
    transients = 0
    for seed in range(some(15)):
        _, recorded = generated(event_class, seed, 1 + seed % 4)
        found = characterize(recorded)
        assert levels(found) == [], (seed, found.sentences())
        transients += parts(found, "transient") != []
    # A notch cut by the start of the record has no twin.
    assert transients <= (event_class == "notching")


def test_sag_edges_and_noise_are_no_transients():
    for seed in range(some(20)):
        _, recorded = generated("sag", seed, 1 + seed % 3, start=0.1, duration=0.12, snr=30.0)
        found = characterize(recorded)
        assert parts(found, "transient") == [], (seed, found.sentences())


def test_transients_are_found_and_measured():
    rng = np.random.default_rng(3)
    for seed in range(some(20)):
        damping = rng.uniform(60, 1500)
        ring, size, onset = rng.uniform(500, 5000), rng.uniform(0.3, 2.0), rng.uniform(0.06, 0.3)
        _, recorded = generated(
            "oscillatory_transient",
            seed,
            1,
            transient_amplitude=size,
            transient_damping=damping,
            transient_frequency=ring,
            transient_onset=onset,
            snr=45.0,
        )
        found = characterize(recorded)
        (one,) = parts(found, "transient")
        case = (seed, damping, ring, size, one)
        assert one.category.endswith("oscillatory transient"), case
        assert one.details["frequency"] == pytest.approx(ring, rel=0.05), case
        assert one.start == pytest.approx(onset, abs=0.001), case
        assert 0.5 / damping < one.details["decay"] < 2 / damping, case


def test_impulse():
    wave = sine(10)
    wave[1234:1240] += [60, 200, 150, 100, 60, 30]
    (one,) = parts(characterize(record(wave)), "transient")
    assert one.category == "impulsive transient"
    assert one.start == pytest.approx(0.1234, abs=0.0003)
    assert one.magnitude == pytest.approx(200 / 325, abs=0.05)


@pytest.mark.parametrize(
    ("event_class", "kind", "fixed"),
    [
        ("harmonics", "harmonics", {"h5": 0.1}),
        ("dc_offset", "DC offset", {"offset": 0.05}),
        ("notching", "notching", {"notch_depth": 0.25}),
        ("flicker", "flicker", {"flicker_depth": 0.04, "flicker_frequency": 9.0}),
    ],
)
def test_steady_disturbances(event_class, kind, fixed):
    tries = some(20)
    found = [parts(characterize(generated(event_class, seed, 1, snr=45.0, **fixed)[1]), kind) for seed in range(tries)]
    assert sum(map(bool, found)) >= 0.9 * tries
    if kind == "flicker":
        assert [part.magnitude for (part,) in found] == pytest.approx([4.0] * tries, abs=1)
