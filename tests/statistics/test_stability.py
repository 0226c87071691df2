"""Nogueira's stability: a slow twin, and where it is undefined."""

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
