"""Known subsets, and states that grow."""

from typing import ClassVar

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import Search
from pqswarm.search.distinct import VisitedSubsets

rng = np.random.default_rng(5)


@pytest.mark.parametrize("n_features", [3, 8, 17])
def test_known_subsets_behave_like_a_dictionary(n_features):
    seen, slow = VisitedSubsets(n_features), {}
    for _ in range(40):
        masks = rng.random((7, n_features)) < 0.5
        expected = [
            tuple(mask) not in slow and tuple(mask) not in set(map(tuple, masks[:row]))
            for row, mask in enumerate(masks)
        ]
        new = seen.is_new(masks)
        assert new.tolist() == expected
        errors = rng.random(7)
        seen.add(masks[new], errors[new])
        slow |= {tuple(mask): error for mask, error in zip(masks[new], errors[new], strict=True)}
        np.testing.assert_array_equal(seen.find(masks), [slow[tuple(mask)] for mask in masks])
        other = rng.random((5, n_features)) < 0.5
        np.testing.assert_array_equal(seen.find(other), [slow.get(tuple(mask), np.nan) for mask in other])
        again = VisitedSubsets(n_features)  # as after an interruption
        again.packed, again.errors = seen.packed.copy(), seen.errors.copy()
        seen = again
    assert len(seen) == len(slow)


class Growing(Search):
    name = "growing"
    title = "Growing"
    may_ask_empty = False
    state_fields: ClassVar = ("met",)
    growing_fields: ClassVar = ("met",)

    def _start(self):
        self.met = np.zeros((0, self.n_features), dtype=np.bool_)

    def _next(self):
        return self._random_subsets(4)

    def _learn(self, masks, errors):
        self.met = np.vstack([self.met, masks[errors < 0.5]])


def test_a_field_that_grows_is_restored_and_others_are_refused():
    search = Growing(6, seed=1)
    for _ in range(3):
        search.tell(search.ask(), rng.random(4))
    other = Growing(6, seed=2)
    other.restore(search.state())
    assert len(other.met) == len(search.met) > 0
    for wrong in (np.zeros((3, 7), dtype=np.bool_), np.zeros(6, dtype=np.bool_), np.zeros((3, 6))):
        with pytest.raises(PqswarmError, match="met of the state"):
            other.restore(search.state() | {"met": wrong})
