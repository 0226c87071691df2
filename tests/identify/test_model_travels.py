"""The bundled model on events of another published model (tests/reference/disturbances.py), through features alone."""

import numpy as np
import pytest
from tests.reference.disturbances import CLASSES, GROUP, LABELS, make, make_sine

from pqswarm.events import class_type
from pqswarm.identify import compute_features, default_model, usable_features
from pqswarm.recordings.frequency import measure_frequency

PER_CLASS = 3


def analyze(wave, rate, nominal=50.0):
    frequency = measure_frequency([wave], rate, nominal) or nominal
    row = compute_features(wave / (230 * np.sqrt(2)), rate, frequency, wavelet=False)
    return default_model().predict(row, usable_features(rate, frequency)).best(count=1)[0][0]


@pytest.mark.parametrize(
    ("rate", "frequency", "snr", "exact", "group"),
    [
        (12_800.0, 50.0, 40.0, 0.88, 0.92),
        (12_800.0, 50.0, None, 0.88, 0.92),
        (6400.0, 50.0, 40.0, 0.85, 0.9),
        (3200.0, 50.0, 40.0, 0.8, 0.85),
        (12_800.0, 50.0, 20.0, 0.75, 0.8),
        (7680.0, 60.0, 40.0, 0.85, 0.9),
    ],
)
def test_events_of_another_generator(rate, frequency, snr, exact, group):
    right = np.zeros(2)
    for i, name in enumerate(CLASSES):
        rng = np.random.default_rng([5, i])
        for _ in range(PER_CLASS):
            wave, _ = make(name, rng, sampling_rate=rate, frequency=frequency, snr=snr)
            label = analyze(wave, rate, frequency)
            right += (label in LABELS[name], class_type(label) == GROUP[name])
    shares = right / (PER_CLASS * len(CLASSES))
    assert shares[0] >= exact
    assert shares[1] >= group


def test_sines_at_any_rate_are_no_disturbance():
    rng = np.random.default_rng(8)
    said = [
        analyze(make_sine(rng, sampling_rate=rate, snr=snr), rate)
        for rate in np.geomspace(1000, 100_000, 40).round(-1)
        for snr in (20.0, None)
    ]
    assert np.mean([label == "pure_sinusoid" for label in said]) >= 0.95
