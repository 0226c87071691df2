"""MERIT, beyond the checks of all searches."""

from itertools import pairwise

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import Merit, Run, minimize, minimize_many
from pqswarm.search._merit_kernels import breed_candidates, fit_slopes, predict_errors
from tests.search.problems import PROBLEMS, problem
from tests.search.test_mosaic import Made

rng = np.random.default_rng(5)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_of_small_problems_is_found(name):
    """For each of some seeds; benchmarks/searches.py uses 100."""
    table = problem(name)
    results = minimize_many("merit", table, range(5), 2000)
    assert [result.error for result in results] == [table.optimum] * 5


@pytest.mark.parametrize(("n_features", "budget"), [(5, 31), (60, 1500), (500, 5000)])
def test_useful_features_are_found(n_features, budget):
    wanted = min(10, n_features - 2)
    result = minimize("merit", Made(n_features, wanted), budget, seed=1)
    assert result.mask[:wanted].all()
    assert result.size <= wanted + 2


def test_batches_have_their_size():
    run, sizes = Run(Merit(99, seed=5), 3000), []
    while not run.done:
        sizes.append(len(run.ask()))
        run.tell(Made(99, 9).errors(run.ask()))
    assert sizes == [60, 60] + 96 * [30]


def test_an_order_is_a_warm_start():
    problem, order = Made(2000, 10), tuple(range(2000))
    warm = minimize("merit", problem, 600, parameters={"order": order})
    cold = minimize("merit", problem, 600)
    misled = minimize("merit", problem, 600, parameters={"order": order[::-1]})
    assert warm.mask[:10].sum() >= 8 > cold.mask[:10].sum() >= misled.mask[:10].sum()
    with pytest.raises(PqswarmError, match="order of MeritParameters must hold each of the 4 features once"):
        Merit(4, parameters={"order": (0, 1, 1, 3)})


def test_parsimony_buys_smaller_subsets():
    class Slope:
        n_features = 200

        def errors(self, masks):
            return 0.5 - 0.4 * (1 - np.exp(-(masks @ np.linspace(0.3, 0.001, 200))))

    sizes = [minimize("merit", Slope(), 600, parameters={"parsimony": price}).size for price in (0.0, 10.0)]
    assert sizes[1] < 0.7 * sizes[0]


def test_negative_and_infinite_errors_are_handled():
    class Odd(Made):
        def errors(self, masks):
            return np.where(masks[:, 3], np.inf, super().errors(masks) - 2.0)

    result = minimize("merit", Odd(30, 3), 800)
    assert result.mask[:3].all()
    assert not result.mask[3]


def seen_subsets(n=12, m=300):
    masks = rng.random((m, n)) < 0.4
    errors = 0.3 + masks @ rng.normal(0.0, 0.05, n) + rng.normal(0.0, 0.01, m)
    ends = np.append(0, np.cumsum(masks.sum(axis=1)))
    return masks, errors, np.nonzero(masks)[1].astype(np.uint32), ends


def test_the_model_is_a_weighted_ridge_regression():
    """After enough steps it is the solution of the normal equations."""
    masks, errors, places, ends = seen_subsets()
    rows, slopes = rng.permutation(300)[:200], np.zeros(12)
    fit_slopes(places, ends, rows, errors, slopes, 0.02, 100)
    noise, deviations = fit_slopes(places, ends, rows, errors, slopes, 0.02, 0)
    x, y = masks[rows].astype(float), errors[rows]
    half = 0.5 * y.std()
    weights = half / (half + y - y.min())
    x, y = x - np.average(x, axis=0, weights=weights), y - np.average(y, weights=weights)
    diagonal = (weights[:, np.newaxis] * x**2).sum(axis=0)
    ridge = 0.02 * diagonal.mean()
    expected = np.linalg.solve((x.T * weights) @ x + ridge * np.eye(12), x.T @ (weights * y))
    assert slopes == pytest.approx(expected, rel=1e-6)
    assert noise == pytest.approx(np.sqrt(np.average((y - x @ expected) ** 2, weights=weights)), rel=1e-6)
    assert deviations == pytest.approx(noise / np.sqrt(diagonal + ridge), rel=1e-6)


def test_predictions_are_sums_of_slopes():
    masks, slopes = rng.random((50, 9)) < 0.5, rng.normal(size=9)
    sums, sizes = predict_errors(masks, slopes)
    assert sums == pytest.approx(masks @ slopes)
    assert sizes.tolist() == masks.sum(axis=1).tolist()


def test_candidates_are_of_four_kinds():
    elites, likely = rng.random((40, 50)) < 0.3, rng.random(50)
    slopes, draws, picks = rng.normal(size=50), rng.random((500, 50)), rng.random((2000, 10))
    drawn, crossed, stepped, guided = np.split(
        breed_candidates(elites, likely, slopes, np.zeros(50), draws, picks), 4, axis=0
    )
    np.testing.assert_array_equal(drawn, draws < likely)
    places = [(np.minimum(picks[:, k], picks[:, k + 1]) * 40).astype(int) for k in (0, 2)]
    one, other = (elites[place[500:1000]] for place in places)
    mixed = np.where(draws < 0.5, one, other)
    assert set((crossed != mixed).sum(axis=1).tolist()) == {1, 2}  # one step
    for masks, kind in ((stepped, 2), (guided, 3)):
        parents = elites[places[0][500 * kind : 500 * kind + 500]]
        steps = 1 + (3 * picks[500 * kind : 500 * kind + 500, 4]).astype(int)
        changes = (masks != parents).sum(axis=1)
        assert (changes >= steps).all()
        assert (changes <= 2 * steps).all()
        if kind == 3:  # what is added has lower slopes than what stays out
            added, left = masks & ~parents, ~masks & ~parents
            lowest = np.where(left, slopes, np.inf).min(axis=1)
            assert (np.where(added, slopes, -np.inf).max(axis=1) < lowest).all()


def test_a_stalled_search_starts_afresh_and_returns():
    """On a plateau epochs alternate: from few features of the elites, and from the best of all."""
    search, starts = Merit(60, seed=2, parameters={"patience": 90}), []
    for _ in range(40):
        masks = search.ask()
        starts.append(int(search.epoch[0]))
        search.tell(masks, 0.1 + 0.01 * masks[:, 3:].sum(axis=1))
    fresh = sorted(set(starts) - {0})
    assert len(fresh) >= 2
    assert starts[-1] in (0, fresh[-1])
    assert all(0 in starts[starts.index(one) : starts.index(two)] for one, two in pairwise(fresh))
