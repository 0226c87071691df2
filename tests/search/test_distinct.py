"""Searches that never ask for a subset twice, and their operators."""

import itertools

import numpy as np
import pytest

from pqswarm.search import ALGORITHMS, DistinctSearch, Run, minimize
from pqswarm.search.distinct import move_subsets
from tests.search.problems import problem

FRESH = [name for name, search in ALGORITHMS.items() if issubclass(search, DistinctSearch)]
TABLE = "breast cancer, 12 features, Gaussian NB"
rng = np.random.default_rng(3)


@pytest.mark.parametrize("name", FRESH)
@pytest.mark.parametrize("size", [None, 3])
def test_every_subset_once_and_then_the_end(name, size):
    """With a sufficient budget all subsets are requested, none twice."""
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
