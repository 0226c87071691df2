"""Friedman's test, Hommel's procedure, tests against a control, contrasts: the paper, libraries, slow versions."""

import json
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests

from pqswarm.errors import PqswarmError
from pqswarm.statistics import contrast_estimation, critical_difference, friedman, friedman_from_ranks, hommel, posthoc
from tests.statistics import paper, reference

# Few different values, so that many are equal.
BLOCKS = st.tuples(st.integers(2, 9), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 4).map(lambda n: n / 8))
)


@pytest.mark.parametrize("table", paper.TESTS)
def test_paper(table):
    printed = paper.TESTS[table]
    result = friedman_from_ranks(printed["rank_sums"], paper.N_RUNS, names=paper.NAMES)
    assert paper.agrees(result.chi2, printed["chi2"])
    assert f"{result.p_value:.1E}" == printed["true_p"]
    assert result.best == "2D-UPSO"
    assert result.degrees_of_freedom == 5
    assert sum(map(paper.agrees, result.mean_ranks, printed["mean_ranks"])) == 6
    assert result.chi2_corrected is None
    assert [row["form"] for row in result.tests()] == ["plain", "Iman-Davenport"]
    compared = posthoc(result)
    assert (compared.control, compared.names) == ("2D-UPSO", paper.NAMES[:5])
    assert tuple(f"{z:.2f}" for z in compared.z) == printed["z"]
    assert tuple(f"{p:.2E}" for p in compared.p_values) == printed["p"]
    assert [f"{p:.2E}" for p in compared.p_hommel] == printed["hommel"]
    assert tuple(f"{limit:.4f}" for limit in compared.alpha_over_i) == printed["printed_apv"]
    assert all(row["significant"] for row in compared.rows())


@pytest.mark.parametrize("seed", range(20))
def test_scipy(seed):
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 6, (generator.integers(3, 30), generator.integers(3, 8))) / 7
    oracle = stats.friedmanchisquare(*values.T)
    result = friedman(values)
    assert result.chi2_corrected == pytest.approx(oracle.statistic, rel=1e-12)
    assert result.p_value_corrected == pytest.approx(oracle.pvalue, rel=1e-9)
    assert result.chi2 < result.chi2_corrected  # some values are equal, so the two forms differ
    assert result.p_value == pytest.approx(stats.chi2.sf(result.chi2, values.shape[1] - 1), rel=1e-9)


@given(BLOCKS)
def test_slow_twin(values):
    result = friedman(values)
    np.testing.assert_allclose(result.mean_ranks, reference.mean_ranks(values.tolist()), rtol=1e-14)
    assert result.chi2 == pytest.approx(reference.chi2(values.tolist()), abs=1e-9)
    again = friedman_from_ranks(result.rank_sums, result.n_blocks)
    assert (again.chi2, again.p_value) == (result.chi2, result.p_value)


@given(BLOCKS)
def test_higher_is_better_turns_the_ranks_round(values):
    low, high = friedman(values), friedman(values, lower_is_better=False)
    assert (high.rank_sums == len(values) * (values.shape[1] + 1) - low.rank_sums).all()
    assert high.chi2 == low.chi2
    assert friedman(np.exp(values)).chi2 == low.chi2  # only the order counts


def test_all_equal():
    result = friedman(np.ones((5, 3)))
    assert (result.chi2, result.p_value, result.chi2_corrected, result.p_value_corrected) == (0, 1, 0, 1)
    assert result.mean_ranks.tolist() == [2, 2, 2]


def test_rows_are_plain():
    result = friedman([[1, 2], [1, 2], [2, 2]], names=["a", "b"])
    assert json.loads(json.dumps(result.rows()))[1] == {"algorithm": "b", "mean_rank": 5.5 / 3, "rank_sum": 5.5}
    plain, corrected, iman_davenport = json.loads(json.dumps(result.tests()))
    assert plain == {
        "form": "plain",
        "statistic": pytest.approx(4 / 3),
        "degrees_of_freedom": 1,
        "denominator_degrees": None,
        "p_value": pytest.approx(stats.chi2.sf(4 / 3, 1)),
    }
    assert corrected["statistic"] == pytest.approx(2)
    assert iman_davenport["statistic"] == pytest.approx(2 * 2 / (3 - 2))
    assert iman_davenport["denominator_degrees"] == 2
    assert iman_davenport["p_value"] == pytest.approx(stats.f.sf(4, 1, 2))
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
    rows = json.loads(json.dumps(contrast_estimation([[1, 3], [1, 3]], names=["algorithm", "b"]).rows()))
    assert rows == [
        {"algorithm": "algorithm", "vs algorithm": 0, "vs b": -2},
        {"algorithm": "b", "vs algorithm": 2, "vs b": 0},
    ]


def test_result_cannot_be_changed_nor_changes_the_input():
    values = np.array([[1.0, 2.0], [1.0, 2.0]])
    result = friedman(values)
    with pytest.raises(ValueError, match="read-only"):
        result.rank_sums[0] = 9
    sums = np.array([2.0, 4.0])
    friedman_from_ranks(sums, 2)
    sums[0] = values[0, 0] = 1.0  # the caller's arrays stay writable


def test_data_frame_gives_its_names():
    assert friedman(pd.DataFrame({"GA": [0.2, 0.3], "BPSO": [0.1, 0.2]})).names == ("GA", "BPSO")


@pytest.mark.parametrize("table", paper.TESTS)
def test_the_printed_ranks_of_the_paper(table):
    """One decimal each; those of the error with k-NN add up to 21.1 instead of 21."""
    printed = paper.TESTS[table]
    result = friedman_from_ranks([float(rank) for rank in printed["mean_ranks"]], paper.N_RUNS)
    lower, upper = result.chi2_range
    assert lower < float(printed["chi2"]) < upper
    assert lower < result.chi2 < upper
    assert upper - lower < 25
    assert result.rounding == pytest.approx(0.05 * paper.N_RUNS)
    plain, other = result.tests()
    assert (plain["statistic_lower"], plain["statistic_upper"]) == (lower, upper)
    assert other["statistic_lower"] < other["statistic"] < other["statistic_upper"]


@pytest.mark.parametrize("seed", range(30))
def test_all_ranks_that_round_to_the_printed_ones_are_within_the_range(seed):
    generator = np.random.default_rng(seed)
    n, k = generator.integers(2, 60), generator.integers(2, 8)
    values = generator.random((n, k)) + generator.random(k)
    true = friedman(values)
    printed = friedman_from_ranks(true.mean_ranks.round(1), n, decimals=1)
    lower, upper = printed.chi2_range
    assert lower - 1e-9 <= true.chi2 <= upper + 1e-9
    best = [np.inf, 0.0]  # of random corrections that keep the sum
    middle = n * (k + 1) / 2
    for _ in range(300):
        changed = printed.rank_sums + generator.choice([-1, 0, 1], k) * printed.rounding
        place = generator.integers(k)
        changed[place] += k * middle - changed.sum()
        if abs(changed[place] - printed.rank_sums[place]) <= printed.rounding:
            chi2 = 12 * np.square(changed - middle).sum() / (n * k * (k + 1))
            best = [min(best[0], chi2), max(best[1], chi2)]
    assert lower - 1e-9 <= best[0]
    assert min(best[1], n * (k - 1)) <= upper + 1e-9


def test_rounded_mean_ranks_will_do():
    printed = [5.85, 5.15, 2.31, 2.39, 4.0, 1.3]
    assert friedman_from_ranks(printed, 40).chi2 == pytest.approx(182.66, abs=0.3)
    assert friedman_from_ranks([3, 2, 1], 5, decimals=2).rounding == pytest.approx(0.025)
    exact = friedman_from_ranks([36, 49, 35], 20)
    assert exact.rounding == 0
    assert exact.chi2_range == pytest.approx((exact.chi2, exact.chi2))


def test_values_that_only_rounding_separates_are_ties():
    errors = [[0.1 + 0.2, 0.3, 0.5], [0.3, 0.1 + 0.2, 0.5], [0.3, 0.3 + 1e-8, 0.5]]
    assert friedman(errors).rank_sums.tolist() == [4, 5, 9]


# Some equal, some 0 or 1, some very small.
P_VALUES = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 0.01, 0.02, 0.025, 0.05, 0.1, 0.5])), min_size=1
)


@given(P_VALUES)
def test_hommel_is_that_of_statsmodels(p):
    np.testing.assert_allclose(hommel(p), multipletests(p, method="hommel")[1], rtol=1e-12, atol=0)


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


def test_columns_in_another_order():
    generator = np.random.default_rng(3)
    values = generator.random((15, 5))
    order = [3, 0, 4, 1, 2]
    first = posthoc(friedman(values, names="abcde"))
    second = posthoc(friedman(values[:, order], names=["abcde"[i] for i in order]))
    assert first.control == second.control
    assert sorted(map(str, first.rows())) == sorted(map(str, second.rows()))


TABLES = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-1e6, 1e6))
)


@pytest.mark.parametrize("classifier", paper.CONTRASTS)
def test_contrasts_of_the_paper(classifier):
    result = contrast_estimation(paper.ACCURACIES[classifier], names=paper.NAMES)
    printed = paper.CONTRASTS[classifier]
    wrong = [
        (first, second, result.matrix[u, v], printed[u][v])
        for u, first in enumerate(paper.NAMES)
        for v, second in enumerate(paper.NAMES)
        if not paper.agrees(result.matrix[u, v], printed[u][v])
    ]
    assert not wrong


def test_contrasts_of_equal_algorithms_are_zero():
    """Of these accuracies rounding leaves 1e-15, which would be bold as positive."""
    accuracies = 100 * (1 - np.array([[43, 41, 42, 37], [58, 60, 56, 59]]) / 140)[:, [0, 1, 2, 3, 1]]
    matrix = contrast_estimation(accuracies).matrix
    assert (matrix[1, 4], matrix[4, 1]) == (0.0, 0.0)
    shifted = np.array([[69.28571428571429, 70.71428571428571], [58.57142857142857, 57.142857142857146]])
    assert contrast_estimation(shifted).matrix.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@given(TABLES)
def test_slow_twin_of_contrasts(values):
    expected = reference.contrasts(values.tolist())
    found = contrast_estimation(values).matrix
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)
    assert (found == -found.T).all()


# Demsar 2006, Table 5(a).
QUANTILES = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


@pytest.mark.parametrize(
    ("alpha", "k", "quantile"), [(alpha, k, q) for alpha, row in QUANTILES.items() for k, q in enumerate(row, start=2)]
)
def test_critical_difference(alpha, k, quantile):
    expected = quantile * sqrt(k * (k + 1) / (6 * 14))
    assert critical_difference(k, 14, alpha) == pytest.approx(expected, abs=1.1e-3 * sqrt(k * (k + 1) / (6 * 14)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman([1, 2, 3]), r"at least two rows .* and two columns .*, not the shape \(3,\)"),
        (lambda: friedman([[1, 2, 3]]), "at least two rows"),
        (lambda: friedman([[1], [2]]), "two columns"),
        (lambda: friedman([[1, 2], [3]]), "table of numbers"),
        (lambda: friedman([["a", "b"], ["c", "d"]]), "table of numbers"),
        (lambda: friedman([[1, 2], [3, np.nan]], names=["GA", "ACO"]), "row 1 of 'ACO' is nan"),
        (lambda: friedman([[1, np.inf], [3, 4]]), "row 0 of 'algorithm 2' is inf"),
        (lambda: friedman([[1, 2], [3, 4]], names=["GA"]), "names must have 2 entries, one per algorithm, not 1"),
        (lambda: friedman([[1, 2], [3, 4]], names=["GA", "GA"]), "'GA' occurs more than once"),
        (lambda: friedman([[1, 2], [3, 4]], names=["GA", " "]), "must not be empty"),
        (
            lambda: friedman_from_ranks([1.3, 2.4, 2.9], 40),
            "must add up to 6, .* explains a difference of at most 0.15",
        ),
        (lambda: friedman_from_ranks([130, 24, 29], 40), "rank sums over 40 blocks to 240, but these add up to 183"),
        (lambda: friedman_from_ranks([10, 50], 20), "between 20 and 40"),
        (lambda: friedman_from_ranks([25, 25, 70], 20), "between 20 and 60"),
        (lambda: friedman_from_ranks([0.5, 2.5], 20), "must lie between 1 and 2"),
        (lambda: friedman_from_ranks([3, 3], 2.0), "n_blocks must be an integer of at least 2, not 2.0"),
        (lambda: friedman_from_ranks([np.nan, 3], 2), "finite"),
        (lambda: friedman_from_ranks([6], 2), "at least two"),
        (lambda: friedman_from_ranks(["a", "b"], 2), "must be numbers"),
        (lambda: critical_difference(1, 10), "n_treatments must be an integer of at least 2, not 1"),
        (lambda: critical_difference(3, True), "n_blocks must be"),
        (lambda: critical_difference(3, 10, alpha=1), "alpha must be a number between 0 and 1, such as 0.05, not 1"),
        (lambda: posthoc(friedman([[1, 2], [2, 1]], names=["UPSO", "BPSO"]), "BPS"), "'BPS': did you mean 'BPSO'"),
        (lambda: posthoc(friedman([[1, 2], [2, 1]]), alpha=0), "alpha must be"),
        (lambda: contrast_estimation([[1, 2]]), "at least two rows"),
        (lambda: contrast_estimation([[1e308, -1e308], [1e308, -1e308]]), "too large"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(PqswarmError, match=message):
        call()
