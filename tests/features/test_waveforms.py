"""Wavelet bands as waveforms, against PyWavelets."""

import numpy as np
import pytest
import pywt

from pqswarm.errors import PqswarmError
from pqswarm.features import band_edges, band_names, band_waveforms


@pytest.mark.parametrize(
    ("n", "rate", "level"), [(5000, 12_800, 8), (4999, 12_800, 8), (3001, 6400, 7), (100, 6400, 3)]
)
def test_each_band_is_that_of_pywavelets(n, rate, level):
    signal = 300 * np.random.default_rng(n).normal(size=n).cumsum()
    found = band_waveforms(signal, rate)
    assert found.names == band_names(level)
    assert found.edges_hz == band_edges(rate, level)
    parts = pywt.wavedec(signal, "sym6", "symmetric", level)
    for row, values in enumerate(found.values):
        alone = [part if i == level - row else np.zeros_like(part) for i, part in enumerate(parts)]
        if row == level:
            alone = [parts[0], *map(np.zeros_like, parts[1:])]
        expected = pywt.waverec(alone, "sym6", "symmetric")[:n]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9 * np.abs(signal).max())
    np.testing.assert_allclose(found.values.sum(axis=0), signal, rtol=0, atol=1e-9 * np.abs(signal).max())
    np.testing.assert_allclose(found.time, np.arange(n) / rate)


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        (np.zeros(21), "22 to 200000 samples"),
        (np.zeros(200_001), "22 to 200000 samples"),
        (np.zeros((2, 100)), r"shape \(2, 100\)"),
        (np.r_[np.zeros(50), np.nan], "no missing samples"),
    ],
)
def test_signals_that_cannot_be_split(signal, words):
    with pytest.raises(PqswarmError, match=words):
        band_waveforms(signal, 6400)
