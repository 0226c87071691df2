"""Binary swarms, with all of their options, against a slow twin that is given the same random numbers."""

import numpy as np
import pytest

from pqswarm._base.random import stream
from pqswarm.search import ALGORITHMS, CatfishBPSO
from tests.reference import searches
from tests.search.problems import assert_same_as_twin


@pytest.mark.parametrize("randomness", ["element", "particle"])
@pytest.mark.parametrize(
    ("name", "options", "twin"),
    [
        ("bpso", {}, {}),
        ("cbpso", {}, {"catfish": "random"}),
        ("cbpso", {"catfish_positions": "extreme"}, {"catfish": "extreme"}),
        ("chbpso", {}, {"chaos": 0.48}),
    ],
)
def test_binary_swarms_equal_their_slow_twin(name, options, twin, randomness):
    fast = ALGORITHMS[name](12, 7, {"randomness": randomness, **options})
    slow = searches.BPSO(12, stream(7, ()), pairs=randomness == "particle", **twin)
    assert_same_as_twin(fast, slow, 40)


def test_reinitialised_catfish_are_random_subsets_of_the_required_size():
    options = {"refresh_gap": 1, "catfish_fraction": 1.0, "start_probability": 0.25}
    search = CatfishBPSO(40, 0, options)
    sized = CatfishBPSO(40, 0, options | {"size": 7})
    taken = 0
    for _ in range(41):
        masks = search.ask()
        search.tell(masks, np.full(30, 0.5))
        taken += masks.sum()
        other = sized.ask()
        sized.tell(other, np.full(30, 0.5))
        assert (other.sum(axis=1) == 7).all()
    assert abs(taken / (41 * 30 * 40) - 0.25) < 0.009  # four standard deviations
