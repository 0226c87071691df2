"""Compiled steps of the searches against their formulas, to the last bit; slow twins show the others."""

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import ALGORITHMS, GA, Run, advance_runs
from pqswarm.search._kernels import breed_population, deposit_pheromone, exchange_population_tails, spin_roulette_wheel
from pqswarm.search.learning2d import adaptive_weight, cardinality, neighborhood_best, position, ranks

ODD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308, -1e308, 2.0, np.nextafter(2.0, 3.0)])


def same_bits(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def numbers(rng, shape, kind):
    """Likelihoods: all different, many equal, odd ones, or of all magnitudes."""
    if kind == 0:
        return rng.normal(1.0, 2.0, shape)
    if kind == 1:
        return rng.integers(-1, 3, shape).astype(float)
    if kind == 2:
        return rng.choice(ODD, shape)
    return np.exp(rng.normal(0.0, 50.0, shape)) * rng.choice([-1.0, 1.0], shape)


@pytest.mark.parametrize("kind", range(4))
def test_the_likeliest_features_and_the_wheel(kind):
    rng = np.random.default_rng(kind)
    with np.errstate(all="ignore"):
        for n in (1, 2, 7, 8, 99, 130, 300):
            rho = numbers(rng, (40, n), kind)
            xi = rng.integers(0, n + 2, 40)
            places = np.argsort(np.argsort(-rho, axis=1, kind="stable"), axis=1)  # of equals the first
            assert np.array_equal(position(rho, xi), places < xi[:, np.newaxis])
            assert np.array_equal(ranks(rho), places + 1)
            r = rng.random(40) * rho.sum(axis=1)
            accumulated = rho.cumsum(axis=1)
            reached = accumulated >= r[:, np.newaxis]
            reached[:, -1] = True
            expected = np.where(accumulated[:, -1] > 0, reached.argmax(axis=1), rho.argmax(axis=1)) + 1
            assert np.array_equal(cardinality(rho, r), expected)
            assert np.array_equal(cardinality(rho, r[0]), cardinality(rho, np.full(40, r[0])))


def test_neighbors_and_trust():
    rng = np.random.default_rng(2)
    for count, neighbors in ((2, 1), (3, 4), (30, 1), (30, 7), (30, 100)):
        errors, previous = rng.integers(0, 4, (2, count)) / 4.0
        errors[rng.random(count) < 0.1] = np.inf
        around = np.sort((np.arange(count)[:, np.newaxis] + np.arange(-neighbors, neighbors + 1)) % count, axis=1)
        best = errors[around].argmin(axis=1)
        assert np.array_equal(neighborhood_best(errors, neighbors), around[np.arange(count), best])
        worst = errors.max()
        share = np.isinf(errors).astype(float) if np.isinf(worst) else errors / max(worst, 0.25)
        expected = np.where(errors < previous, 1 - share, share - 1) + 0.0
        assert same_bits(adaptive_weight(errors, previous), expected if worst > 0 else np.zeros(count))


def slow_roulette(weights, u):
    wheel = np.cumsum(weights if weights.any() else np.ones_like(weights))
    chosen = np.searchsorted(wheel, u * wheel[-1], side="right")
    return np.minimum(chosen, np.flatnonzero(np.diff(wheel, prepend=0.0))[-1])


def test_wheels_and_children():
    rng = np.random.default_rng(4)
    for m, n in ((2, 1), (3, 9), (11, 40), (30, 99)):
        for weights in (rng.random(m), rng.integers(0, 2, m) * 0.5, np.zeros(m), np.r_[1.0, np.full(m - 1, 1e-300)]):
            u = np.linspace(0, 1, 77)
            assert np.array_equal(spin_roulette_wheel(weights, u), slow_roulette(weights, u))
            population = rng.random((m, n)) < 0.5
            pairs, u = m // 2, rng.random(m)
            crossed, where, bits, places, flipped = (rng.random(k) for k in (pairs, pairs, m * n, m, m))
            cuts = np.where(crossed < 0.8, 1 + (where * (n - 1)).astype(int), n)
            children = population[slow_roulette(weights, u)]
            exchange_population_tails(children, cuts)
            made = breed_population(population, weights, np.concatenate([u, crossed, where, bits]), 0.8, 0.2, True)
            assert np.array_equal(made, children ^ (bits.reshape(m, n) < 0.2))
            made = breed_population(
                population, weights, np.concatenate([u, crossed, where, places, flipped]), 0.8, 0.2, False
            )
            one = np.arange(n) == (places * n).astype(int)[:, np.newaxis]
            assert np.array_equal(made, children ^ (one & (flipped < 0.2)[:, np.newaxis]))


def test_pheromone():
    rng = np.random.default_rng(5)
    for ants in (1, 5, 40):
        pheromone, paths, errors = rng.random((2, 99)) + 0.3, rng.random((ants, 99)) < 0.4, rng.random(ants)
        total = (1.0 - 0.2) * pheromone + (np.stack([paths, ~paths]) * (1.0 - errors)[:, np.newaxis]).sum(axis=1) / 5.0
        made = deposit_pheromone(pheromone, paths, errors, 5.0, 0.2, 0.4, 1.2)
        assert same_bits(made, np.clip(total, 0.4, 1.2))


class Told:
    """Made-up errors, the last one as given."""

    n_features = 9

    def __init__(self, last=None):
        self.last = last

    def errors(self, masks):
        errors = np.abs(masks @ np.arange(-4.0, 5.0) - 3.0) % 5.0 / 8.0 + masks.sum(axis=1) / 64.0
        return errors if self.last is None else np.r_[errors[:-1], self.last]


def test_a_step_is_taken_by_all_runs_or_by_none():
    runs = [Run(GA(9, seed), 100) for seed in range(3)]
    advance_runs(runs, Told())
    for last in (np.nan, -np.inf):
        with pytest.raises(PqswarmError, match="errors must be 90 numbers, none NaN"):
            advance_runs(runs, Told(last))
        assert all(run.n_evaluations == 30 for run in runs)
    advance_runs(runs, Told(np.inf))
    assert all(run.n_evaluations == 60 for run in runs)


@pytest.mark.parametrize("name", ["ga", "2d-upso", "aco", "cbpso", "merit"])
def test_runs_that_end_at_different_times_find_what_each_finds_alone(name):
    def started(seed):
        return Run(ALGORITHMS[name](9, seed), (301, 77, 30, 160)[seed])

    alone, together = [started(seed) for seed in range(4)], [started(seed) for seed in range(4)]
    for run in alone:
        while not run.done:
            run.tell(Told().errors(run.ask()))
    steps = 0
    while not all(run.done for run in together):
        advance_runs(together, Told())
        steps += 1
        if steps == 3:  # as if the machine had been switched off
            states, together = [run.state() for run in together], [started(seed) for seed in range(4)]
            for run, state in zip(together, states, strict=True):
                run.restore(state)
    for one, other in zip(alone, together, strict=True):
        expected, found = one.state(), other.state()
        assert expected.keys() == found.keys()
        for key, array in expected.items():
            assert same_bits(array, found[key]), key
