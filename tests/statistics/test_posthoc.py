"""Hommel's procedure and the comparisons with the best algorithm."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pqswarm.errors import PqswarmError
from pqswarm.statistics import friedman, friedman_from_ranks, hommel, posthoc
from tests.statistics import paper, reference

# Some equal, some 0 or 1, some very small.
P_VALUES = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 0.01, 0.02, 0.025, 0.05, 0.1, 0.5])), min_size=1
)


@pytest.mark.parametrize("table", paper.TESTS)
def test_paper(table):
    printed = paper.TESTS[table]
    result = posthoc(friedman_from_ranks(printed["rank_sums"], paper.N_RUNS, names=paper.NAMES))
    assert result.control == "2D-UPSO"
    assert result.names == paper.NAMES[:5]
    assert tuple(f"{z:.2f}" for z in result.z) == printed["z"]
    assert tuple(f"{p:.2E}" for p in result.p_values) == printed["p"]
    assert tuple(f"{p:.2E}" for p in result.p_hommel) == printed["hommel"]
    assert tuple(f"{limit:.4f}" for limit in result.alpha_over_i) == printed["printed_apv"]
    assert all(row["significant"] for row in result.rows())


@given(P_VALUES)
def test_statsmodels(p):
    np.testing.assert_allclose(hommel(p), multipletests(p, method="hommel")[1], rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(30))
def test_statsmodels_on_small_p_values(seed):
    generator = np.random.default_rng(seed)
    p = 10.0 ** -generator.uniform(0, 4, generator.integers(1, 40))
    p[generator.random(p.size) < 0.2] = p[0]
    np.testing.assert_allclose(hommel(p), multipletests(p, method="hommel")[1], rtol=1e-12, atol=0)


@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.012, 0.02, 0.03, 0.05, 0.2, 0.9, 1.0]), min_size=1, max_size=7))
def test_slow_twin(p):
    np.testing.assert_allclose(hommel(p), reference.closed_simes(p), rtol=1e-12, atol=0)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_hommel_properties(p, random):
    adjusted = hommel(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, len(p) * np.array(p)) * (1 + 1e-12)).all()  # never worse than Bonferroni
    order = list(range(len(p)))
    random.shuffle(order)
    assert (hommel([p[i] for i in order]) == adjusted[order]).all()


def test_hommel_of_none_and_of_one():
    assert hommel([]).shape == (0,)
    assert hommel([0.3]).tolist() == [0.3]


@pytest.mark.parametrize("p", [[0.1, 1.1], [-0.1], [np.nan], [[0.1]], 0.1, ["a"], [0.1, [0.2]]])
def test_hommel_refuses(p):
    with pytest.raises(PqswarmError, match="p_values must be a list of numbers"):
        hommel(p)


def test_a_chosen_control():
    ranks = friedman_from_ranks([60, 40, 20], 20, names=["worst", "middle", "best"])
    result = posthoc(ranks, "middle", alpha=0.1)
    assert result.names == ("worst", "best")
    assert result.differences.tolist() == [1, -1]
    assert result.z.tolist() == pytest.approx([np.sqrt(10), np.sqrt(10)])
    # Equal p-values: both get the stricter limit, whatever the order of the columns.
    assert result.alpha_over_i.tolist() == [0.05, 0.05]
    assert posthoc(ranks).differences.tolist() == [2, 1]


def test_limits_follow_z_where_p_is_0():
    n = 4000
    result = posthoc(friedman_from_ranks([n, 3 * n, 2 * n], n))
    assert result.p_values.tolist() == [0, 0]
    assert result.alpha_over_i.tolist() == [0.025, 0.05]


def test_significance_is_that_of_the_adjusted_p_value():
    ranks = friedman_from_ranks([36, 49, 35], 20, names=["a", "b", "control"])
    _, row = posthoc(ranks).rows()
    assert row["p_value"] == pytest.approx(0.0269, abs=1e-4)
    assert row["p_hommel"] == pytest.approx(0.0537, abs=1e-4)
    assert not row["significant"]
    assert posthoc(ranks, alpha=0.06).rows()[1]["significant"]


def test_rows_are_plain():
    (row,) = json.loads(json.dumps(posthoc(friedman([[1, 2], [1, 2]], names=["a", "b"])).rows()))
    assert row == {
        "algorithm": "b",
        "rank_difference": 1,
        "z": pytest.approx(np.sqrt(2)),
        "p_value": pytest.approx(0.157299, abs=1e-6),
        "p_hommel": pytest.approx(0.157299, abs=1e-6),
        "significant": False,
        "alpha_over_i": 0.05,
    }


def test_columns_in_another_order():
    generator = np.random.default_rng(3)
    values = generator.random((15, 5))
    order = [3, 0, 4, 1, 2]
    first = posthoc(friedman(values, names="abcde"))
    second = posthoc(friedman(values[:, order], names=["abcde"[i] for i in order]))
    assert first.control == second.control
    assert sorted(map(str, first.rows())) == sorted(map(str, second.rows()))


def test_mistakes():
    ranks = friedman_from_ranks([3, 3], 2, names=["2D-UPSO", "BPSO"])
    with pytest.raises(PqswarmError, match="unknown algorithm 'BPS': did you mean 'BPSO'"):
        posthoc(ranks, "BPS")
    with pytest.raises(PqswarmError, match="alpha must be"):
        posthoc(ranks, alpha=0)
