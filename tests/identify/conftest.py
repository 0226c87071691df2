"""A small model for all tests of this folder."""

import pytest

from pqswarm.identify import train

NAMES = ["rms.minimum", "rms.maximum", "half.minimum", "harmonic.5", "transient.31_62.excess", "D1.energy", "A8.energy"]


@pytest.fixture(scope="session")
def small():
    return train("field", events_per_class=10, subset=NAMES, seed=3)


@pytest.fixture(scope="session")
def small_file(small, tmp_path_factory):
    return small.save(tmp_path_factory.mktemp("model") / "small.npz")
