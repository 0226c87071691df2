"""Short captures are lengthened without leaving a mark."""

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.features import decompose, extend


@pytest.mark.parametrize("frequency", [49.5, 49.87, 50.0, 50.31, 50.5])
@pytest.mark.parametrize("phase", [0.0, 1.3, 4.0])
def test_a_sine_is_extended_as_a_sine(frequency, phase):
    n, before = 2000, 6500
    t = np.arange(n) / 25_000
    longer = extend(np.sin(2 * np.pi * frequency * t + phase), 25_000)
    assert longer.size == 15_000
    expected = np.sin(2 * np.pi * frequency * (np.arange(15_000) - before) / 25_000 + phase)
    np.testing.assert_allclose(longer, expected, atol=0.02)
    high = decompose(longer[np.newaxis], 8)[0][0]
    assert np.abs(high[8:-8]).max() < 1e-3


def test_the_capture_itself_is_untouched():
    capture = np.random.default_rng(0).standard_normal(2000)
    assert np.array_equal(extend(capture, 25_000)[6500:8500], capture)
    assert np.array_equal(extend(np.zeros(2000), 25_000), np.zeros(15_000))
    assert extend(capture, 25_000, 60).size == 12_500
    long = np.zeros(20_000)
    assert extend(long, 25_000) is long


def test_distorted_cycles_are_repeated():
    t = np.arange(2500) / 25_000
    wave = np.sin(2 * np.pi * 50.2 * t) + 0.1 * np.sin(2 * np.pi * 5 * 50.2 * t)
    longer = extend(wave, 25_000)
    time = (np.arange(15_000) - 6250) / 25_000
    expected = np.sin(2 * np.pi * 50.2 * time) + 0.1 * np.sin(2 * np.pi * 5 * 50.2 * time)
    np.testing.assert_allclose(longer, expected, atol=0.03)


@pytest.mark.parametrize("place", [150, 1850])
def test_a_transient_near_an_end_is_not_repeated(place):
    t = np.arange(2000) / 25_000
    since = np.maximum(t - place / 25_000, 0)
    burst = (since > 0) * np.exp(-800 * since) * np.sin(2 * np.pi * 3000 * since)
    longer = extend(np.sin(2 * np.pi * 50 * t) + burst, 25_000)
    expected = np.sin(2 * np.pi * 50 * (np.arange(15_000) - 6500) / 25_000)
    outside = np.r_[0:6500, 8500:15_000]
    np.testing.assert_allclose(longer[outside], expected[outside], atol=0.01)


def test_an_ongoing_sag_is_extended():
    t = np.arange(3000) / 25_000
    longer = extend(np.where(t > 0.05, 0.5, 1.0) * np.sin(2 * np.pi * 50 * t), 25_000)
    assert np.abs(longer[:5000]).max() == pytest.approx(1.0, abs=0.01)
    assert np.abs(longer[10_000:]).max() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("signal", "rate", "frequency", "message"),
    [
        (np.zeros(1000), 25_000, 50, r"2.1 cycles \(1050 samples\)"),
        (np.zeros((1, 2000)), 25_000, 50, r"2.1 cycles \(1050 samples\)"),
        (np.zeros(2000), 25_000, 0, "frequency must be a positive number"),
        (np.zeros(20), 100, 50, "16 samples per cycle"),
    ],
)
def test_mistakes_are_named(signal, rate, frequency, message):
    with pytest.raises(PqswarmError, match=message):
        extend(signal, rate, frequency)
