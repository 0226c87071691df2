"""Short captures are lengthened without leaving a mark."""

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.features import decompose, extend


def sine(size, before=0, frequency=50.0, phase=0.0):
    """A sine whose phase is given after some samples."""
    return np.sin(2 * np.pi * frequency * (np.arange(size) - before) / 25_000 + phase)


@pytest.mark.parametrize("frequency", [49.5, 49.87, 50.0, 50.31, 50.5])
@pytest.mark.parametrize("phase", [0.0, 1.3, 4.0])
def test_a_sine_is_extended_as_a_sine(frequency, phase):
    longer = extend(sine(2000, 0, frequency, phase), 25_000)
    assert longer.size == 15_000
    np.testing.assert_allclose(longer, sine(15_000, 6500, frequency, phase), atol=0.02)
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
    capture, whole = (sine(*part, 50.2) + 0.1 * sine(*part, 5 * 50.2) for part in ((2500, 0), (15_000, 6250)))
    np.testing.assert_allclose(extend(capture, 25_000), whole, atol=0.03)


@pytest.mark.parametrize("place", [150, 1850])
def test_a_transient_near_an_end_is_not_repeated(place):
    since = np.maximum(np.arange(2000) - place, 0) / 25_000
    burst = (since > 0) * np.exp(-800 * since) * np.sin(2 * np.pi * 3000 * since)
    longer = extend(sine(2000) + burst, 25_000)
    outside = np.r_[0:6500, 8500:15_000]
    np.testing.assert_allclose(longer[outside], sine(15_000, 6500)[outside], atol=0.01)


def test_an_ongoing_sag_is_extended():
    longer = extend(np.where(np.arange(3000) > 1250, 0.5, 1.0) * sine(3000), 25_000)
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
