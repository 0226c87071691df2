"""A small model, an empty archive and a watched folder."""

import pytest
from tests.conftest import made_once
from tests.identify.watching import Place

from pqswarm.identify import Archive, load_model, train

NAMES = ["rms.minimum", "rms.maximum", "half.minimum", "harmonic.5", "transient.31_62.excess", "D1.energy", "A8.energy"]


@pytest.fixture(scope="session")
def small_file(tmp_path_factory):
    def make(folder):
        train("field", events_per_class=10, subset=NAMES, seed=3).save(folder / "small.npz")

    return made_once(tmp_path_factory, "small-model", make) / "small.npz"


@pytest.fixture(scope="session")
def small(small_file):
    return load_model(small_file)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def empty(tmp_path):
    with Archive(tmp_path / "archive") as archive:
        yield archive
