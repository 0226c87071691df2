"""The algorithms compared with 2D-UPSO behave as documented."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest

from pqswarm.search import ACO, GA, SFFS, CatfishBPSO, ChaoticBPSO, Run, minimize
from pqswarm.search._kernels import exchange_population_tails
from pqswarm.search.aco import pheromone_probability
from pqswarm.search.ga import fitness
from tests.reference import searches
from tests.search.problems import PROBLEMS, problem


def steps(search, errors, count):
    """Run the search on a function of masks; yields what was asked."""
    for _ in range(count):
        masks = search.ask()
        yield masks
        search.tell(masks, errors(masks))


class TestGA:
    @pytest.mark.parametrize("mutation", ["bit", "chromosome"])
    def test_mutation_flips_the_right_share(self, mutation):
        search = GA(99, 0, {"crossover_probability": 0.0, "mutation": mutation})
        asked = list(steps(search, lambda masks: np.r_[0.0, np.ones(len(masks) - 1)], 60))
        flips = np.concatenate([masks != before[0] for before, masks in pairwise(asked)])  # the wheel holds the first
        if mutation == "chromosome":
            flips = flips.sum(axis=1)
            assert set(flips) == {0, 1}
        assert binomtest(int(flips.sum()), flips.size, 0.2).pvalue > 1e-4

    def test_crossover_keeps_what_both_parents_have(self):
        rng = np.random.default_rng(1)
        parents = rng.random((7, 20)) < 0.5
        children = parents.copy()
        exchange_population_tails(children, np.array([5, 1, 20]))
        for k in range(0, 6, 2):
            np.testing.assert_array_equal(np.sort(children[k : k + 2], axis=0), np.sort(parents[k : k + 2], axis=0))
        np.testing.assert_array_equal(children[4:], parents[4:])

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
        def error(masks):
            return 0.5 * masks.mean(axis=1)

        class Evaluator:
            n_features = 60
            errors = staticmethod(error)

        options = {"fitness": "windowed", "elites": 2, "mutation": "chromosome"}
        plain = np.mean([minimize("ga", Evaluator, 3000, seed).error for seed in range(5)])
        better = np.mean([minimize("ga", Evaluator, 3000, seed, parameters=options).error for seed in range(5)])
        assert better < 0.5 * plain


class TestACO:
    @pytest.mark.parametrize("depositors", ["best-fraction", "iteration-best", "global-best"])
    def test_pheromone_stays_in_bounds_and_reaches_them(self, depositors):
        # Five ants leave pheromone on nearly all edges, so that only much less of each lets some fall to the bound.
        search = ACO(20, 0, {"depositors": depositors, "factor": 12.0 if depositors == "best-fraction" else 1.0})
        lowest, highest = 1.0, 1.0
        for _ in steps(search, lambda masks: masks[:, :10].mean(axis=1) * 0.9, 80):
            lowest, highest = min(lowest, search.pheromone.min()), max(highest, search.pheromone.max())
        assert lowest == 0.3
        assert highest == 1.5

    def test_probabilities_by_hand(self):
        new = np.array([[1.05, 1.0, 0.9], [0.8, 0.9, 1.0]])
        np.testing.assert_allclose(pheromone_probability(new), [1.05 / 1.85, 1.0 / 1.9, 0.9 / 1.9])

    def test_five_of_fifty_ants_leave_pheromone(self):
        search = ACO(10, 0)
        masks = search.ask()
        errors = np.linspace(0, 0.98, 50)[np.random.default_rng(0).permutation(50)]
        search.tell(masks, errors)
        best = np.argsort(errors)[:5]
        left = sum((1 - errors[ant]) * np.stack([masks[ant], ~masks[ant]]) for ant in best)
        np.testing.assert_allclose(search.pheromone, np.clip(0.8 + left / 5, 0.3, 1.5))

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


class TestCatfish:
    def run(self, gbest_errors, **options):
        """Feed a script of lowest errors; return in which iterations catfish were asked for, and the search."""
        search = CatfishBPSO(99, 0, options | {"catfish_positions": "extreme"})
        fired = []
        for iteration, lowest in enumerate(gbest_errors):
            masks = search.ask()
            extreme = masks.all(axis=1) | ~masks.any(axis=1)
            if extreme.any():
                fired.append(iteration)
                np.testing.assert_array_equal(np.flatnonzero(extreme), self.worst)
            errors = lowest + 0.01 * np.random.default_rng(iteration).permutation(30)
            count = max(1, round(30 * search.parameters.catfish_fraction))
            self.worst = np.sort(np.argsort(-errors)[:count])
            search.tell(masks, errors)
        return fired

    def test_fires_exactly_after_three_iterations_without_improvement(self):
        # Iterations      0    1    2    3    4    5    6    7    8    9    10   11
        script = np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.4, 0.4, 0.4, 0.4, 0.4])
        assert self.run(script) == [4, 7, 12]

    def test_never_fires_while_the_swarm_improves(self):
        assert self.run(0.9 - 0.01 * np.arange(40)) == []
        slow = np.repeat(0.9 - 0.01 * np.arange(20), 3)  # better every third iteration
        assert self.run(slow) == []

    def test_gap_and_share_are_options(self):
        assert self.run(np.full(10, 0.5), refresh_gap=1, catfish_fraction=0.2) == [2, 3, 4, 5, 6, 7, 8, 9]


class TestChaotic:
    @pytest.mark.parametrize("start", [0.25, 0.5, 0.75, 0.0, 1.0])
    def test_starts_that_are_not_chaotic_are_refused(self, start):
        with pytest.raises(ValueError, match="initial_inertia"):
            ChaoticBPSO(6, 0, {"initial_inertia": start})


class TestSFFS:
    @pytest.mark.parametrize("name", PROBLEMS)
    @pytest.mark.parametrize("overshoot", [0, 2])
    def test_equals_the_slow_twin_at_every_size(self, name, overshoot):
        table = problem(name)
        n = table.n_features

        def error(features):
            return table.table[sum(1 << f for f in features)]

        for d in range(1, n + 1):
            found = minimize("sffs", table, 10**5, parameters={"size": d, "overshoot": overshoot})
            subset, lowest = searches.sffs(error, n, d, overshoot)
            assert found.selected.tolist() == subset
            assert found.error == lowest
            if not overshoot:
                assert found.error <= searches.sfs(error, n, d)

    @pytest.mark.parametrize("seed", range(30))
    def test_equals_the_slow_twin_on_random_tables_with_ties(self, seed):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 12, 2**7) / 12

        class Table:
            n_features = 7

            @staticmethod
            def errors(masks):
                return values[masks @ (1 << np.arange(7))]

        d = 1 + seed % 7
        found = minimize("sffs", Table, 10**5, parameters={"size": d})
        subset, lowest = searches.sffs(lambda features: values[sum(1 << f for f in features)], 7, d)
        assert found.selected.tolist() == subset
        assert found.error == lowest

    def test_floats(self):
        """On some problem a removal must pay, or nothing floats."""
        table = problem("breast cancer, 12 features, Gaussian NB")
        run = Run(SFFS(12), 10**5)
        sizes = []
        while not run.done:
            run.tell(table.errors(run.ask()))
            sizes.append(int(run.search.current.sum()))
        assert (np.diff(sizes) < 0).any()

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
