"""Searches that never ask for a subset twice, their operators, known subsets, and states that grow."""

import itertools
from typing import ClassVar

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import ALGORITHMS, DistinctSearch, Run, Search, minimize
from pqswarm.search.distinct import VisitedSubsets, move_subsets
from tests.search.problems import problem

FRESH = [name for name, search in ALGORITHMS.items() if issubclass(search, DistinctSearch)]
TABLE = "breast cancer, 12 features, Gaussian NB"
rng = np.random.default_rng(3)


@pytest.mark.parametrize("name", FRESH)
@pytest.mark.parametrize("size", [None, 3])
def test_every_subset_once_and_then_the_end(name, size):
    run, asked = Run(ALGORITHMS[name](8, seed=2, parameters={"size": size}), 10**4), []
    while not run.done:
        asked += map(tuple, run.ask().tolist())
        run.tell(rng.random(len(run.ask())))
    every = [
        mask for mask in itertools.product([False, True], repeat=8) if (any(mask) if size is None else sum(mask) == 3)
    ]
    assert sorted(asked) == sorted(every)


@pytest.mark.parametrize("name", FRESH)
def test_searches_start_with_few_features(name):
    run = Run(ALGORITHMS[name](3000, seed=1), 200)
    while not run.done:
        masks = run.ask()
        assert masks.sum(axis=1).max() <= 60
        run.tell(rng.random(len(masks)))


@pytest.mark.parametrize("name", FRESH)
def test_the_optimum_of_a_small_problem_is_found(name):
    table = problem(TABLE)
    assert minimize(name, table, 2000, seed=0).error == table.optimum


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("keep_size", [False, True])
def test_a_move_changes_one_feature_or_exchanges_two(n, keep_size):
    masks = rng.random((3000, n)) < rng.random((3000, 1))
    masks[~masks.any(axis=1), 0] = True
    moved = move_subsets(masks, rng.random(3000), rng.random(masks.shape), keep_size=keep_size)
    before, after, full = masks.sum(axis=1), moved.sum(axis=1), masks.all(axis=1)
    stays = full if keep_size or n == 1 else np.zeros(3000, dtype=bool)
    assert moved.any(axis=1).all()
    assert ((masks != moved).sum(axis=1)[~stays] == np.where(before == after, 2, 1)[~stays]).all()
    np.testing.assert_array_equal(masks[stays], moved[stays])
    assert (before == after).all() if keep_size else (np.abs(before - after) <= 1).all()
    if n == 6 and not keep_size:  # each kind as often as it should be
        inner = (before > 1) & ~full
        shares = [np.mean((after - before)[inner] == change) for change in (1, -1, 0)]
        assert shares == pytest.approx([0.3, 0.3, 0.4], abs=0.05)


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
