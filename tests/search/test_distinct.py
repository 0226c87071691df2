"""Searches that never ask for a subset twice, and their operators."""

import itertools

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import ALGORITHMS, DistinctSearch, Run, SimulatedAnnealing, SparseEA, minimize
from pqswarm.search.annealing import accepted
from pqswarm.search.de import trial
from pqswarm.search.distinct import flip_balanced, move
from pqswarm.search.nsga2 import crowding, front_ranks
from pqswarm.search.sparse_ea import contest
from pqswarm.search.umda import frequencies
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
    alone = [mask for mask in asked if sum(mask) == 1] if (name, size) == ("sparse-ea", 3) else []  # its scores
    assert sorted(asked) == sorted(every + alone)
    assert len(alone) in (0, 8)


@pytest.mark.parametrize("name", FRESH)
def test_searches_start_with_few_features(name):
    run = Run(ALGORITHMS[name](3000, seed=1), 3200 if name == "sparse-ea" else 200)
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
    moved = move(masks, rng.random(3000), rng.random(masks.shape), keep_size=keep_size)
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


def test_flips_are_balanced():
    masks = np.tile(np.arange(100) < 8, (4000, 1))
    flipped = masks ^ flip_balanced(masks, 3.0, rng.random(masks.shape))
    assert flipped[:, :8].sum() / 4000 == pytest.approx(1.5, abs=0.1)
    assert flipped[:, 8:].sum() / 4000 == pytest.approx(1.5, abs=0.1)


def test_worse_is_accepted_by_metropolis_rule():
    changes = np.repeat([-0.1, 0.0, 0.02], 20_000)
    shares = accepted(changes, 0.01, rng.random(changes.size)).reshape(3, -1).mean(axis=1)
    assert shares == pytest.approx([1.0, 1.0, np.exp(-2)], abs=0.01)
    assert accepted(changes, 0.0, rng.random(changes.size)).reshape(3, -1).all(axis=1).tolist() == [True, True, False]


def test_annealing_cools_and_is_reheated():
    search, temperatures = SimulatedAnnealing(40, 1, {"evaluations": 300, "chains": 2, "tries": 15}), []
    for _ in range(21):
        masks = search.ask()
        search.tell(masks, rng.random(30))
        temperatures.append(search._temperature() / float(search.unit))
    assert temperatures[9] == temperatures[19] == pytest.approx(0.01)
    assert temperatures[8] == pytest.approx(0.01 * 0.1**0.9)
    assert (np.diff(temperatures[:9]) < 0).all()
    with pytest.raises(PqswarmError, match=r"cold of .* is 0.2, above hot, 0.1"):
        SimulatedAnnealing(40, 1, {"hot": 0.1, "cold": 0.2})


def test_frequencies_stay_away_from_0_and_1():
    assert frequencies(np.array([[True, False, True, False]] * 3 + [[True, False, False, False]])).tolist() == [
        0.75,
        0.25,
        0.75,
        0.25,
    ]


def test_a_trial_takes_bits_of_the_best_and_of_a_difference():
    parents, best, one, other = rng.random((4, 500, 60)) < 0.5
    rates = np.full(500, 0.4)
    children = trial(parents, best, one, other, rates, np.ones(500), rng.random((3, 500, 60)))
    changed = parents != children
    assert not changed[(parents == best) & (one == other)].any()
    assert changed[(parents != best) & (one == other)].mean() == pytest.approx(0.4, abs=0.02)
    assert changed[(parents == best) & (one != other) & (one != parents)].mean() == pytest.approx(0.4, abs=0.02)
    few = trial(parents, ~parents, one, one, np.ones(500), np.zeros(500), rng.random((3, 500, 60)))
    assert ((few != parents).sum(axis=1) == 1).all()


def test_fronts_are_ranked():
    errors, sizes = np.round(rng.random(80), 1), rng.integers(1, 9, 80)
    ranks, left, rank = front_ranks(errors, sizes), set(range(80)), 0
    while left:
        front = {
            i
            for i in left
            if not any(
                (errors[j] <= errors[i] and sizes[j] <= sizes[i])
                and ((errors[j], sizes[j]) != (errors[i], sizes[i]) or j < i)
                for j in left - {i}
            )
        }
        assert set(np.flatnonzero(ranks == rank)) == front
        left, rank = left - front, rank + 1


def test_crowding_is_that_of_the_neighbours_in_the_front():
    errors, sizes = np.array([0.8, 0.5, 0.4, 0.1, 0.9, 0.7]), np.array([1, 2, 5, 9, 3, 6])
    ranks = front_ranks(errors, sizes)
    assert ranks.tolist() == [0, 0, 0, 0, 1, 1]
    expected = [np.inf, 0.4 / 0.7 + 4 / 8, 0.4 / 0.7 + 7 / 8, np.inf, np.inf, np.inf]
    assert crowding(errors, sizes, ranks) == pytest.approx(expected)


def test_a_tournament_is_between_two_candidates():
    candidates = rng.random((400, 9)) < 0.3
    scores = np.broadcast_to(rng.permutation(9).astype(float), (400, 9))
    draws = rng.random((400, 9))
    for row, chosen in enumerate(contest(candidates, scores, draws)):
        drawn = sorted(np.flatnonzero(candidates[row]), key=lambda i: -draws[row, i])[:2]
        assert chosen == min(drawn, key=lambda i: scores[row, i], default=-1)


def test_sparse_ea_starts_with_single_features():
    search = SparseEA(300, 0)
    alone = []
    for _ in range(2):
        alone.append(search.ask())
        search.tell(alone[-1], alone[-1].argmax(axis=1) / 300.0)
    np.testing.assert_array_equal(np.concatenate(alone), np.eye(300, dtype=bool))
    chosen = search.ask().mean(axis=0)
    assert chosen[:100].sum() > 1.5 * chosen[200:].sum()  # by the contests, 5 to 1 for few features
