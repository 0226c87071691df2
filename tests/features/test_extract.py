"""Extracting features: edge cases and mistakes; bands as waveforms; descriptions of features."""

from itertools import pairwise

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.events import generate
from pqswarm.features import (
    FUNCTIONS,
    band_edges,
    band_names,
    decomposition_level,
    describe_band,
    describe_feature,
    extract,
    feature_names,
    minimum_samples,
)


@pytest.mark.parametrize(
    ("rate", "frequency", "level"),
    [(25_000, 50, 8), (25_000, 60, 8), (12_800, 50, 8), (6400, 50, 7), (3200, 60, 5), (100, 50, 1), (30_707, 60, 8)],
)
def test_rule_of_thumb(rate, frequency, level):
    assert decomposition_level(rate, frequency) == level
    assert rate / 2 ** (level + 1) <= frequency <= rate / 2**level


def test_bands():
    assert band_names(8) == ("D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "A8")
    edges = band_edges(25_000, 8)
    assert edges[0] == (6250, 12_500)
    assert edges[-1] == (0, 25_000 / 512)
    assert all(low == upper for (low, _), (_, upper) in pairwise(edges[:-1]))


@pytest.mark.parametrize("value", [0.0, 1.0, -3.7, 1e-9, 1e9])
def test_constant_signal(value):
    features = extract(np.full(15_000, value), 25_000)
    assert value or not features.any()
    table = dict(zip(FUNCTIONS, features.reshape(9, 11).T, strict=True))
    assert not table["skewness"].any()
    assert not table["kurtosis"].any()
    assert not table["entropy"][:8].any()
    np.testing.assert_allclose(table["mean"], [*[0] * 8, 16 * value], atol=1e-9 * abs(value))
    np.testing.assert_allclose(table["variance"], 0, atol=1e-18 * value**2)


def test_a_constant_does_not_hide_a_small_signal():
    """What counts as rounding is far below what any recorder sees."""
    ripple = 1e-7 * np.random.default_rng(0).standard_normal(15_000)
    table = dict(zip(FUNCTIONS, extract(1.0 + ripple, 25_000).reshape(9, 11).T, strict=True))
    assert (table["entropy"][:8] > 2).all()
    assert (table["kurtosis"] > 1).all()


def test_integers_and_single_precision_are_converted():
    counts = np.random.default_rng(0).integers(-100, 100, (2, 3000))
    expected = extract(counts.astype(float), 25_000)
    for dtype in (np.int16, np.int64, np.float32):
        assert np.array_equal(extract(counts.astype(dtype), 25_000), expected)
    assert np.array_equal(extract(counts.tolist(), 25_000), expected)


def test_views_and_column_order_do_not_matter():
    signals = np.array([generate("swell", seed).signal for seed in range(3)])
    assert np.array_equal(extract(np.asfortranarray(signals), 25_000), extract(signals, 25_000))
    assert np.array_equal(extract(np.repeat(signals, 2, axis=1)[:, ::2], 25_000), extract(signals, 25_000))


def with_value(value):
    signals = np.zeros((3, 3000))
    signals[1, 17] = value
    return signals


@pytest.mark.parametrize(
    ("signals", "rate", "frequency", "message"),
    [
        (np.zeros(2815), 25_000, 50, r"signals have 2815 samples, but sym6 to level 8 needs at least 2816 \(0.113 s"),
        (np.zeros((2, 0)), 25_000, 50, "signals have 0 samples"),
        (np.zeros((2, 2, 3000)), 25_000, 50, r"shape \(n, n_samples\), not \(2, 2, 3000\)"),
        (np.float64(3.0), 25_000, 50, "one row per signal"),
        (with_value(np.nan), 25_000, 50, "sample 17 of signal 1 is nan"),
        (with_value(np.inf), 25_000, 50, "sample 17 of signal 1 is inf"),
        (with_value(1e200), 25_000, 50, "signal 1 is too large for its energy"),
        (np.zeros(3000, complex), 25_000, 50, "signals must be real numbers, not of type complex128"),
        (np.zeros(3000, bool), 25_000, 50, "signals must be real numbers, not of type bool"),
        (["a", "b"], 25_000, 50, "signals must be real numbers"),
        ([[1.0, 2.0], [1.0]], 25_000, 50, "same length"),
        (np.zeros(3000), 0, 50, r"sampling_rate must be a positive number \[Hz\], not 0"),
        (np.zeros(3000), 25_000, -50, "frequency must be a positive number"),
        (np.zeros(3000), float("nan"), 50, "sampling_rate must be a positive number"),
        (np.zeros(3000), "25000", 50, "sampling_rate must be a positive number"),
        (np.zeros(3000), 25_000, None, "frequency must be a positive number"),
        (np.ma.masked_equal([0.0] * 3000, 0.0), 25_000, 50, "signals must not be masked"),
        (np.zeros(3000), 60, 50, "must be at least twice the frequency"),
    ],
)
def test_mistakes_are_named(signals, rate, frequency, message):
    with pytest.raises(PqswarmError, match=message):
        extract(signals, rate, frequency)


def test_shortest_allowed_signal_and_none():
    assert minimum_samples(8) == 2816
    assert np.isfinite(extract(generate("sag", 0).signal[:2816], 25_000)).all()
    assert extract(np.empty((0, 15_000)), 25_000).shape == (0, 99)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 17])
def test_signals_side_by_side_do_not_see_each_other(count):
    signals = np.random.default_rng(count).standard_normal((count, 3001)) * np.arange(1, count + 1)[:, np.newaxis]
    signals[count // 2, 1000:] = 0.0
    together = extract(signals, 25_000)
    alone = np.concatenate([extract(signal, 25_000) for signal in signals])
    assert together.tobytes() == alone.tobytes()


def test_every_feature_has_its_own_description():
    words = [describe_feature(name, 25_000) for name in feature_names()]
    assert len(set(words)) == 99
    assert len({describe_feature(f"D1.{function}") for function in FUNCTIONS}) == 11


@pytest.mark.parametrize("level", [1, 5, 8])
def test_the_band_is_that_of_the_wavelet(level):
    for name, edges in zip(band_names(level), band_edges(12_800, level), strict=True):
        assert describe_band(*edges) in describe_feature(f"{name}.energy", 12_800)
        assert f"of band {name}" in describe_feature(f"{name}.energy")


def test_bands_as_text():
    assert describe_band(0, 3.125) == "below 3.1 Hz"
    assert describe_band(97.65625, 195.3125) == "98 to 195 Hz"
    assert describe_band(500, 1000) == "500 Hz to 1 kHz"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alcohol", "'alcohol' is not the name of a wavelet feature"),
        ("D0.energy", "not the name"),
        ("D3.energi", "did you mean 'energy'"),
    ],
)
def test_other_names_are_refused(name, message):
    with pytest.raises(PqswarmError, match=message):
        describe_feature(name, 25_000)
