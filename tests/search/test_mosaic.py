"""MOSAIC, beyond the checks of all searches."""

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import Mosaic, Run, minimize, minimize_many
from tests.search.problems import PROBLEMS, problem


class Made:
    """A problem with many features: the first few help, the others cost a little."""

    def __init__(self, n_features, wanted):
        self.n_features, self.wanted = n_features, wanted

    def errors(self, masks):
        missing = self.wanted - masks[:, : self.wanted].sum(axis=1)
        return 0.05 * missing + 0.001 * masks[:, self.wanted :].sum(axis=1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_of_small_problems_is_found(name):
    """For each of some seeds; benchmarks/searches.py uses 100."""
    table = problem(name)
    results = minimize_many("mosaic", table, range(5), 2000)
    assert [result.error for result in results] == [table.optimum] * 5


def test_batches_fill_a_gpu():
    run, sizes = Run(Mosaic(99, seed=5), 3000), []
    while not run.done:
        masks = run.ask()
        sizes.append(len(masks))
        run.tell(Made(99, 9).errors(masks))
    assert np.mean(sizes) > 20
    assert np.mean(np.array(sizes[:-1]) >= 20) > 0.8  # lines that have come to their end may ask for less


@pytest.mark.parametrize(("n_features", "budget"), [(5, 31), (60, 1500), (500, 5000)])
def test_useful_features_are_found(n_features, budget):
    wanted = min(10, n_features - 2)
    result = minimize("mosaic", Made(n_features, wanted), budget, seed=1)
    assert result.mask[:wanted].all()
    assert result.size <= wanted + 2


def test_an_order_is_a_warm_start():
    problem, order = Made(2000, 10), tuple(range(2000))
    warm = minimize("mosaic", problem, 600, parameters={"order": order})
    cold = minimize("mosaic", problem, 600)
    misled = minimize("mosaic", problem, 600, parameters={"order": order[::-1]})
    assert warm.mask[:10].sum() >= 8 > cold.mask[:10].sum() >= misled.mask[:10].sum()
    with pytest.raises(PqswarmError, match="order of MosaicParameters must hold each of the 4 features once"):
        Mosaic(4, parameters={"order": (0, 1, 1, 3)})


def test_starts_with_few_features():
    assert 5 <= Mosaic(99, seed=0).ask().sum(axis=1).mean() <= 20
    assert Mosaic(10_000, seed=0).ask().sum(axis=1).mean() <= 20
    assert Mosaic(24, seed=0).ask().sum(axis=1).mean() <= 5


def test_parsimony_buys_smaller_subsets():
    class Slope:
        n_features = 60

        def errors(self, masks):
            return 0.5 - 0.4 * (1 - np.exp(-(masks @ np.linspace(0.3, 0.01, 60))))

    sizes = [
        minimize("mosaic", Slope(), 1500, parameters={"parsimony": power}).size_after(1500) for power in (0.0, 1.0)
    ]
    assert sizes[1] < sizes[0]


def test_negative_and_infinite_errors_are_handled():
    class Odd(Made):
        def errors(self, masks):
            return np.where(masks[:, 3], np.inf, super().errors(masks) - 2.0)

    result = minimize("mosaic", Odd(30, 3), 800)
    assert result.mask[:3].all()
    assert not result.mask[3]


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_all_lines_may_end_at_once(seed):
    """As on a smooth slope: then all lines are new, without neighbours."""

    class Slope:
        n_features = 99

        def errors(self, masks):
            return 0.01 * np.abs(masks.sum(axis=1) - 12) + masks[:, :49].mean(axis=1)

    result = minimize("mosaic", Slope(), 2000, seed=seed)
    assert result.n_evaluations == 2000
    assert result.error == 0.0
