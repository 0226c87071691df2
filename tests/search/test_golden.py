"""Every algorithm has golden results, and they have not moved."""

import json

import pytest

from tests.search.golden import FILE, OURS, golden


def test_every_algorithm_has_golden_results():
    told = "python -m tests.search.golden writes those of a new algorithm"
    assert sorted(json.loads(FILE.read_text())) == sorted(OURS), told


@pytest.mark.parametrize("name", OURS)
def test_golden(name):
    """A change in the order of draws, in a tie rule or in an update moves them."""
    assert golden(name) == json.loads(FILE.read_text()).get(name)
