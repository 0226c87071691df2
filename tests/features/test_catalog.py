"""Descriptions of the features."""

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.features import FUNCTIONS, band_edges, band_names, describe_band, describe_feature, feature_names


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
