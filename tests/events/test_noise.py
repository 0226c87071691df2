"""Noise: level, whiteness, streams."""

from math import inf, nan

import numpy as np
import pytest
from scipy import stats

from pqswarm.errors import PqswarmError
from pqswarm.events import NOISE_LEVELS, PRESETS, add_noise, generate, noise_stream


def test_levels_of_the_paper():
    assert (inf, 50, 45, 40, 35, 30, 25, 20) == NOISE_LEVELS


@pytest.mark.parametrize("event_class", PRESETS["paper"].classes)
def test_measured_snr(event_class):
    for seed in range(200):
        signal = generate(event_class, seed).signal
        level = NOISE_LEVELS[1 + seed % 7]
        noise = add_noise(signal, level, noise_stream(seed, level)) - signal
        assert 10 * np.log10(np.mean(signal**2) / np.mean(noise**2)) == pytest.approx(level, abs=0.1)


def test_noise_is_white_gaussian_with_zero_mean():
    signal = generate("sag", 0).signal
    noise = np.concatenate([add_noise(signal, 20.0, noise_stream(seed, 20.0)) - signal for seed in range(20)])
    noise /= noise.std()
    assert abs(noise.mean()) < 4 / np.sqrt(noise.size)
    assert stats.kstest(noise, "norm").pvalue > 0.001
    spectrum = np.abs(np.fft.rfft(noise.reshape(20, -1), axis=1)) ** 2
    bands = spectrum[:, 1:7501].reshape(20, 75, 100).mean(axis=(0, 2))
    assert np.ptp(bands) / bands.mean() < 0.2


def test_streams_are_keyed_by_event_and_level():
    signal = np.ones(1000)
    drawn = {(seed, snr): add_noise(signal, snr, noise_stream(seed, snr)) for seed in (1, 2) for snr in (30.0, 20.0)}
    assert np.array_equal(drawn[1, 30.0], add_noise(signal, 30.0, noise_stream(1, 30.0)))
    shapes = [noise - signal for noise in drawn.values()]
    correlations = np.corrcoef(shapes)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 0.15


def test_without_noise_or_power_the_signal_is_copied():
    for signal, snr in ((np.arange(5.0), inf), (np.zeros(10), 20.0)):
        result = add_noise(signal, snr, noise_stream(0, snr))
        assert np.array_equal(result, signal)
        assert result is not signal
    assert add_noise([1.0, -1.0], inf, noise_stream(0, inf)).tolist() == [1.0, -1.0]
    with pytest.raises(PqswarmError, match=r"of shape \(n,\), not \(2, 3\)"):
        add_noise(np.ones((2, 3)), 20.0, noise_stream(0, 20.0))


def test_an_events_own_noise_is_not_the_added_noise():
    event, clean = (generate("sag", 3, "field", snr=snr).signal for snr in (30.0, inf))
    added = add_noise(clean, 30.0, noise_stream(3, 30.0)) - clean
    assert abs(np.corrcoef(event - clean, added)[0, 1]) < 0.1


@pytest.mark.parametrize("snr", [nan, -inf, "loud", "30", None, 10**400])
def test_bad_levels(snr):
    with pytest.raises(PqswarmError, match="snr must be a number of decibels"):
        add_noise(np.ones(10), snr, np.random.default_rng(0))
