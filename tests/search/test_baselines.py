"""The algorithms compared with 2D-UPSO behave as documented, and binary swarms as a slow twin that draws the same."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest

from pqswarm._base.random import stream
from pqswarm.search import ACO, ALGORITHMS, GA, CatfishBPSO, ChaoticBPSO, minimize
from pqswarm.search.ga import fitness
from tests.reference import searches
from tests.search.problems import Table, assert_same_as_twin, problem


def steps(search, errors, count):
    """Run the search on a function of masks; yields what was asked."""
    for _ in range(count):
        masks = search.ask()
        yield masks
        search.tell(masks, errors(masks))


class TestGA:
    def test_fitness(self):
        errors = np.array([0.1, 0.4, 0.8])
        np.testing.assert_allclose(fitness(errors), [0.9, 0.6, 0.2])
        np.testing.assert_allclose(fitness(errors, "windowed"), [0.7, 0.4, 0.0])
        losses = np.array([100.0, 300.0, 400.0, np.inf])
        np.testing.assert_allclose(fitness(losses), [0.75, 0.25, 0.0, 0.0])
        assert fitness(np.full(3, np.inf), "windowed").tolist() == [0, 0, 0]

    def test_elites_survive(self):
        search = GA(30, 0, {"elites": 2})
        best = None
        for masks in steps(search, lambda masks: masks.mean(axis=1), 20):
            if best is not None:
                assert best.tobytes() in {row.tobytes() for row in masks}
            best = masks[masks.mean(axis=1).argmin()]

    def test_the_defaults_are_a_random_walk_and_the_options_are_not(self):
        options = {"fitness": "windowed", "elites": 2, "mutation": "chromosome"}
        evaluator = SimpleNamespace(n_features=60, errors=lambda masks: 0.5 * masks.mean(axis=1))
        plain = np.mean([minimize("ga", evaluator, 3000, seed).error for seed in range(5)])
        better = np.mean([minimize("ga", evaluator, 3000, seed, parameters=options).error for seed in range(5)])
        assert better < 0.5 * plain


class TestACO:
    def test_the_other_readings_of_a_and_rho(self):
        search = ACO(10, 0, {"factor": 0.2, "factor_as": "multiplier", "evaporation_as": "persistence"})
        masks = search.ask()
        errors = np.linspace(0, 0.98, 50)
        search.tell(masks, errors)
        left = sum((1 - errors[ant]) * np.stack([masks[ant], ~masks[ant]]) for ant in range(5))
        np.testing.assert_allclose(search.pheromone, np.clip(0.2 + 0.2 * left, 0.3, 1.5))

    def test_the_global_best_is_remembered(self):
        search = ACO(10, 0, {"depositors": "global-best"})
        first = search.ask()
        search.tell(first, np.r_[0.1, np.full(49, 0.9)])
        before = search.pheromone.copy()
        second = search.ask()
        search.tell(second, np.full(50, 0.5))  # its own best is worse
        left = 0.9 * np.stack([first[0], ~first[0]])
        np.testing.assert_allclose(search.pheromone, np.clip(0.8 * before + left / 5, 0.3, 1.5))

    def test_the_iterations_best_alone_leaves_pheromone(self):
        search = ACO(10, 0, {"depositors": "iteration-best"})
        masks = search.ask()
        search.tell(masks, np.r_[np.full(49, 0.9), 0.2])
        np.testing.assert_allclose(search.pheromone, 0.8 + 0.8 / 5 * np.stack([masks[49], ~masks[49]]))

    def test_ants_follow_the_pheromone(self):
        search = ACO(4, 0)
        search.pheromone = np.array([[1.5, 0.3, 1.0, 0.3], [0.3, 1.5, 1.0, 0.3]])
        taken = np.concatenate([search._next() for _ in range(100)]).sum(axis=0)
        for count, p in zip(taken, [1.5 / 1.8, 0.3 / 1.8, 0.5, 0.5], strict=True):
            assert binomtest(int(count), 5000, p).pvalue > 1e-4

    def test_bounds_the_wrong_way_round(self):
        with pytest.raises(ValueError, match="pheromone_low is 2"):
            ACO(4, 0, {"pheromone_low": 2.0})


class TestChaotic:
    @pytest.mark.parametrize("start", [0.25, 0.5, 0.75, 0.0, 1.0])
    def test_starts_that_are_not_chaotic_are_refused(self, start):
        with pytest.raises(ValueError, match="initial_inertia"):
            ChaoticBPSO(6, 0, {"initial_inertia": start})


class TestSFFS:
    @pytest.mark.parametrize("seed", range(28))
    @pytest.mark.parametrize("overshoot", [0, 2])
    def test_equals_the_slow_twin_at_every_size_on_tables_with_ties(self, seed, overshoot):
        table = Table(np.random.default_rng(seed).integers(0, 12, 2**7) / 12)
        d = 1 + seed % 7
        found = minimize("sffs", table, 10**5, parameters={"size": d, "overshoot": overshoot})
        subset, lowest = searches.sffs(table.error, 7, d, overshoot)
        assert found.selected.tolist() == subset
        assert found.error == lowest

    def test_too_small_a_budget_is_an_error_that_says_so(self):
        with pytest.raises(ValueError, match="sffs needs at least 30 evaluations to reach 5 features: raise max_eval"):
            minimize("sffs", problem("wine, 8 features, 3-NN"), 29, parameters={"size": 5})
        stopped = {"parameters": {"size": 5}, "callback": lambda progress: True}
        with pytest.raises(ValueError, match="no subset of 5 features in 8 evaluations: continue it"):
            minimize("sffs", problem("wine, 8 features, 3-NN"), 1000, **stopped)

    def test_without_a_size_all_sizes_are_tried(self):
        table = problem("wine, 8 features, 3-NN")
        result = minimize("sffs", table, 10**5)
        assert result.error == min(minimize("sffs", table, 10**5, parameters={"size": d}).error for d in range(1, 9))


@pytest.mark.parametrize("randomness", ["element", "particle"])
@pytest.mark.parametrize(
    ("name", "options", "twin"),
    [
        ("bpso", {}, {}),
        ("cbpso", {}, {"catfish": "random"}),
        ("cbpso", {"catfish_positions": "extreme"}, {"catfish": "extreme"}),
        ("chbpso", {}, {"chaos": 0.48}),
        ("bpso", {"inertia": 0.7, "cognitive": 2.1, "social": 1.3}, {"w": 0.7, "c1": 2.1, "c2": 1.3}),
        ("bpso", {"velocity_limit": 0.5}, {"limit": 0.5}),
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
