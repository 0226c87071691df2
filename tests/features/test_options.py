"""Other wavelets, levels and border modes: the filters by their equations, the bands beside PyWavelets."""

import numpy as np
import pytest
import pywt

from pqswarm.datasets import load_dataset, make_dataset
from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS
from pqswarm.features import BORDERS, WAVELETS, FeatureOptions, band_names, decompose, extract, minimum_samples
from pqswarm.features.wavelet import FILTERS, coefficient_times

RNG = np.random.default_rng(5)
SIGNALS = RNG.normal(size=(2, 1203)).cumsum(axis=1)
TWO = PRESETS["paper"].with_classes(["sag", "harmonics"])


@pytest.mark.parametrize("wavelet", WAVELETS)
def test_filters_fulfil_their_equations(wavelet):
    """Orthonormal to themselves shifted by two, with the number of vanishing moments that the name says."""
    taps = np.array(FILTERS[wavelet])
    name = "db1" if wavelet == "haar" else wavelet
    family, order = name.rstrip("0123456789"), int(name.lstrip("dbsymcoif"))
    assert taps.size == (6 if family == "coif" else 2) * order
    tolerance = 4e-12 if wavelet == "sym6" else 1e-15
    for shift in range(0, taps.size, 2):
        assert taps[shift:] @ taps[: taps.size - shift] == pytest.approx(float(shift == 0), rel=0, abs=tolerance)
    places = np.linspace(-1, 1, taps.size)
    high = taps * (-1.0) ** np.arange(taps.size)
    for power in range(2 * order if family == "coif" else order):
        assert high @ places**power == pytest.approx(0, abs=tolerance)
    np.testing.assert_allclose(taps, pywt.Wavelet(wavelet).dec_lo, rtol=0, atol=3e-12)


def check_bands(signals, level, wavelet, border):
    """The bands are those of PyWavelets."""
    expected = pywt.wavedec(signals, wavelet, border, level)[::-1]
    for ours, theirs in zip(decompose(signals, level, wavelet, border), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("wavelet", WAVELETS)
def test_bands_are_those_of_pywavelets(wavelet, border):
    for n in (1203, 1100, 601):
        check_bands(SIGNALS[:, :n], 4, wavelet, border)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.filterwarnings("ignore:Level value")
def test_signals_shorter_than_the_filter(border):
    for n in (2, 5, 16, 29):
        check_bands(SIGNALS[0, :n], 2, "coif5", border)


@pytest.mark.parametrize("border", ["symmetric", "periodization"])
@pytest.mark.parametrize("wavelet", ["sym6", "sym8", "coif2"])
def test_times_of_coefficients(wavelet, border):
    """A click is where the largest coefficient says it is, within one and a half steps of the band."""
    signal = np.zeros(15_000)
    signal[7000] = 1.0
    for name, band in zip(band_names(8)[:8], decompose(signal, 8, wavelet, border), strict=False):
        times = coefficient_times(name, band.size, 25_000, wavelet, border)
        place = times[np.abs(band).argmax()] * 25_000
        assert place == pytest.approx(7000, abs=1.5 * 2 ** int(name[1])), name


def test_features_are_those_of_the_bands():
    wave = SIGNALS[:, :1024]
    features = extract(wave, 1600, 50, FeatureOptions(wavelet="db4", level=3, border="periodization"))
    bands = pywt.wavedec(wave, "db4", "periodization", 3)[::-1]
    assert features.shape == (2, 44)
    np.testing.assert_allclose(features[:, ::11], np.stack([band.min(axis=1) for band in bands], axis=1))
    np.testing.assert_allclose(features[:, 3::11], np.stack([(band**2).sum(axis=1) for band in bands], axis=1))
    np.testing.assert_array_equal(extract(wave, 1600, 50, {}), extract(wave, 1600, 50))
    assert np.isfinite(extract(wave[:, : minimum_samples(5, "db1")], 1600, 50, {"wavelet": "db1"})).all()


def test_data_sets_remember_their_options(tmp_path):
    options = FeatureOptions(wavelet="coif2", level=6)
    made = make_dataset(2, snr=[float("inf"), 30], preset=TWO, features=options)
    assert made.features.shape == (2, 4, 77)
    assert made.feature_names[-1] == "A6.kurtosis"
    again = load_dataset(made.save(tmp_path / "coif2.npz"))
    assert again.feature_options == options
    np.testing.assert_array_equal(again.features, made.features)
    np.testing.assert_array_equal(extract(made.event(1).signal, 25_000, 50, options)[0], made.X()[1])
    # Files without options, as all were once, are those of the default.
    plain = make_dataset(1, snr=40, preset=TWO)
    content = plain.save(tmp_path / "plain.npz").read_bytes()
    assert b"feature_options" not in content
    assert load_dataset(tmp_path / "plain.npz").feature_options == FeatureOptions()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wavlet": "sym6"}, "unknown parameter of features 'wavlet': did you mean 'wavelet'"),
        ({"border": "symetric"}, "unknown border of features 'symetric': did you mean 'symmetric'"),
        ({"level": 4.0}, "level of features must be an integer from 1 to 20, or None, not 4.0"),
        ({"wavelet": "coif5", "level": 10}, "signals have 15000 samples, but coif5 to level 10 needs at least 29696"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(PqswarmError, match=message):
        extract(np.zeros(15_000), 25_000, 50, options)


def test_transforms_by_name():
    with pytest.raises(PqswarmError, match="unknown wavelet 'coif9'"):
        decompose(SIGNALS, 2, "coif9")
    with pytest.raises(PqswarmError, match="unknown border 'periodc': did you mean 'periodic'"):
        decompose(SIGNALS, 2, "db2", "periodc")
