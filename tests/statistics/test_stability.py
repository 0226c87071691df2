"""Nogueira's stability: a slow twin, Kuncheva's index, the jackknife, and where it is undefined."""

import json
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pqswarm.errors import PqswarmError
from pqswarm.statistics import selection_stability
from tests.statistics import reference

MASKS = st.tuples(st.integers(2, 8), st.integers(1, 7)).flatmap(lambda shape: arrays(np.bool_, shape))


def numbers(result):
    return result.stability, result.variance, result.lower, result.upper


@given(MASKS, st.sampled_from([0.01, 0.05, 0.1]))
def test_slow_twin(masks, alpha):
    expected = reference.stability(masks.tolist(), alpha)
    result = numbers(selection_stability(masks, alpha=alpha))
    # The square root turns a variance of 1e-32 instead of 0 into 1e-16.
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(result[1], expected[1], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_kuncheva(seed):
    """For subsets of one size it is the mean of Kuncheva's index over all pairs."""
    generator = np.random.default_rng(seed)
    masks = generator.permuted(np.tile(np.arange(12) < generator.integers(1, 12), (6, 1)), axis=1)
    assert selection_stability(masks).stability == pytest.approx(reference.kuncheva(masks.tolist()), abs=1e-12)


def test_variance_is_near_the_jackknife():
    generator = np.random.default_rng(0)
    masks = generator.random((300, 20)) < np.linspace(0.02, 0.9, 20) * generator.uniform(0.7, 1.1, (300, 1))
    each = np.array([selection_stability(np.delete(masks, run, axis=0)).stability for run in range(300)])
    jackknife = 299 * each.var()
    assert selection_stability(masks).variance == pytest.approx(jackknife, rel=0.03)


def test_interval_covers():
    """Of 300 samples from a known procedure, some 95 in 100 intervals hold its true stability."""
    generator = np.random.default_rng(1)
    share = np.linspace(0.05, 0.95, 30)
    truth = 1 - (share * (1 - share)).mean() / (share.mean() * (1 - share.mean()))
    results = [selection_stability(generator.random((100, 30)) < share) for _ in range(300)]
    covered = sum(result.lower <= truth <= result.upper for result in results)
    assert 270 <= covered <= 297
    assert np.mean([result.stability for result in results]) == pytest.approx(truth, abs=0.003)


def test_extremes():
    same = selection_stability([[1, 0, 1]] * 5)
    assert numbers(same) == pytest.approx((1, 0, 1, 1))
    opposite = selection_stability([[True, False], [False, True]])
    assert opposite.stability == pytest.approx(-1)
    random = selection_stability(np.random.default_rng(0).random((200, 300)) < 0.3)
    assert abs(random.stability) < 0.01


@pytest.mark.parametrize("value", [True, False])
def test_undefined_where_there_is_no_choice(value):
    result = selection_stability(np.full((4, 5), value))
    assert all(map(isnan, numbers(result)))
    assert result.mean_size == 5 * value


def test_rows_are_plain():
    (row,) = json.loads(json.dumps(selection_stability([[1, 0, 1], [1, 0, 0]]).rows()))
    assert {key: row[key] for key in ("n_runs", "n_features", "mean_size", "alpha")} == {
        "n_runs": 2,
        "n_features": 3,
        "mean_size": 1.5,
        "alpha": 0.05,
    }
    assert row["stability"] == pytest.approx(1 / 3)
    assert row["upper"] - row["stability"] == pytest.approx(1.959964 * sqrt(row["variance"]))


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ([[1, 0, 1]], "at least two runs"),
        ([[1, 0], [1]], "table of True and False"),
        ([[1, 0], [1, 2]], "table of True and False"),
        ([[1, 0], [1, np.nan]], "table of True and False"),
        ([1, 0], "table of True and False"),
        ([[], []], "table of True and False"),
        ([["a"], ["b"]], "table of True and False"),
    ],
)
def test_mistakes(masks, message):
    with pytest.raises(PqswarmError, match=message):
        selection_stability(masks)


def test_alpha():
    with pytest.raises(PqswarmError, match="alpha must be"):
        selection_stability([[1, 0], [0, 1]], alpha=2)
