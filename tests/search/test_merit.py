"""MERIT, beyond the checks of all searches."""

from types import SimpleNamespace

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import Merit, Run, minimize, minimize_many
from pqswarm.search._kernels import change_merit_elites, fit_merit_slopes
from tests.search.problems import PROBLEMS, problem

rng = np.random.default_rng(5)


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
    results = minimize_many("merit", table, range(5), 2000)
    assert [result.error for result in results] == [table.optimum] * 5


def test_an_order_is_a_warm_start():
    problem, order = Made(2000, 10), tuple(range(2000))
    warm = minimize("merit", problem, 600, parameters={"order": order})
    cold = minimize("merit", problem, 600)
    misled = minimize("merit", problem, 600, parameters={"order": order[::-1]})
    assert warm.mask[:10].sum() >= 8 > cold.mask[:10].sum() >= misled.mask[:10].sum()
    with pytest.raises(PqswarmError, match="order must hold each of the 4 features once"):
        Merit(4, parameters={"order": (0, 1, 1, 3)})


def test_thinning_buys_smaller_subsets():
    def errors(masks):
        return 0.5 - 0.4 * (1 - np.exp(-(masks @ np.linspace(0.3, 0.001, 200))))

    slope = SimpleNamespace(n_features=200, errors=errors)
    sizes = [minimize("merit", slope, 900, parameters={"thinning": share}).size for share in (0.0, 0.3)]
    assert sizes[1] < 0.7 * sizes[0]


def test_features_are_drawn_by_their_frequency_in_the_best_of_the_population():
    """The population holds the last batch and a share of all, and the elites."""
    search = Merit(40, seed=2, parameters={"growth": 0.1, "thinning": 0.0, "unranked": 1.0})
    told = Made(40, 6)
    for _ in range(12):
        masks = search.ask()
        search.tell(masks, told.errors(masks))
    masks = np.unpackbits(search.seen_masks, axis=1, count=40).astype(bool)
    order = np.lexsort((masks.sum(axis=1), search.seen_errors))
    population = sorted({*order[:20].tolist(), *range(480 - 60 - 48, 480)})
    best = [row for row in order if row in population][: round(0.3 * 108)]
    np.testing.assert_array_equal(search._best_of_population(), best)
    drawn = np.concatenate([search._next() for _ in range(40)]).mean(axis=0)
    assert drawn == pytest.approx(masks[best].mean(axis=0), abs=0.08)


def test_a_new_population_starts_when_nothing_better_is_found():
    """The first subset of the second population has the size of an initial one again, and the best is kept."""

    run = Run(Merit(80, seed=1), 3000)
    epochs, stalled = set(), 0
    while not run.done:
        masks = run.ask()
        if run.search.epoch[0] == len(run.search.seen):
            epochs.add(int(run.search.epoch[0]))
            assert 12 < masks.sum(axis=1).mean() < 20  # a fifth of all features
        elif len(run.search.seen) - run.search.epoch[1] > 240:
            elites = run.search._masks(run.search._elites)
            changed = (masks[:, np.newaxis] ^ elites).sum(axis=2).min(axis=1)
            assert changed.max() <= 6  # three exchanges
            stalled += 1
        run.tell(np.where(masks[:, 0] & (masks.sum(axis=1) < 6), 0.1, 0.2))
    assert len(epochs) > 2
    assert stalled > 10
    assert run.result().error == 0.1
    forged = run.state() | {"search.epoch": np.array([9, 10**6])}
    with pytest.raises(PqswarmError, match="do not fit the subsets seen"):
        Run(Merit(80, seed=1), 3000).restore(forged)


def test_dropped_subsets_rank_behind_the_best_of_the_population():
    """A third of the folds says little: the error is estimated, and only complete subsets are elites."""
    search = Merit(40, seed=2)
    for batch in range(4):
        masks = search.ask()
        first, limits = search.race_limits()
        assert first == batch % 3
        assert np.isinf(limits).all() == (batch == 0)
        parts = Made(40, 6).errors(masks)[:, np.newaxis] * [0.3, 0.3, 0.4]
        told = np.column_stack([parts, parts.sum(axis=1)])
        order = [first, (first + 1) % 3, (first + 2) % 3]
        late = np.cumsum(parts[:, order], axis=1)[:, :2] > limits
        told[late.any(axis=1), order[2]] = told[late.any(axis=1), 3] = np.nan
        told[late[:, 0], order[1]] = np.nan
        best = search._best_of_population() if batch else np.empty(0, int)
        worst = search.seen_errors[best].max(initial=-np.inf)
        search.tell(masks, told)
        new = search.seen_errors[-40:]
        assert (new[late.any(axis=1)] > worst).all()
        np.testing.assert_array_equal(new[~late.any(axis=1)], told[~late.any(axis=1), 3])
    assert np.isinf(search.parts).any()
    assert np.isfinite(search.parts[search._elites]).all()


def test_negative_and_infinite_errors_are_handled():
    plain = Made(30, 3)
    odd = SimpleNamespace(n_features=30, errors=lambda masks: np.where(masks[:, 3], np.inf, plain.errors(masks) - 2.0))
    result = minimize("merit", odd, 800)
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
    rows = rng.permutation(300)[:200]
    slopes = np.zeros(12)
    x, y = masks[rows].astype(float), errors[rows]
    half = 0.5 * y.std()
    weights = half / (half + y - y.min())
    x, y = x - np.average(x, axis=0, weights=weights), y - np.average(y, weights=weights)
    for _ in range(25):
        squares = fit_merit_slopes(places, ends, rows, weights, y, slopes, 5.0, np.zeros((5, 12)))
    diagonal = (weights[:, np.newaxis] * x**2).sum(axis=0)
    ridge = 5.0 * diagonal.mean() / weights.sum()
    expected = np.linalg.solve((x.T * weights) @ x + ridge * np.eye(12), x.T @ (weights * y))
    assert slopes == pytest.approx(expected, rel=1e-6)
    assert squares == pytest.approx((weights * (y - x @ expected) ** 2).sum(), rel=1e-6)


@pytest.mark.parametrize("size", [1, 5, 12])
def test_one_to_three_features_are_added_dropped_or_exchanged(size):
    masks = np.tile(np.arange(12) < size, (4000, 1))
    changed = masks.copy()
    weights = np.linspace(1.0, 3.0, 12)
    change_merit_elites(changed, rng.random((4000, 4)), rng.random((4000, 12)), weights, weights, False)
    assert changed.any(axis=1).all()
    differences = (changed ^ masks).sum(axis=1)
    assert differences.min() == 1
    assert differences.max() == {1: 4, 5: 6, 12: 3}[size]
    one = changed[differences == 1]
    if size == 5:  # heavier features leave and enter more often
        assert (~one[:, 0]).sum() < (~one[:, 4]).sum()
        assert one[:, 5].sum() < one[:, 11].sum()
    change_merit_elites(masks, rng.random((4000, 4)), rng.random((4000, 12)), weights, weights, True)
    assert (masks.sum(axis=1) == size).all()
