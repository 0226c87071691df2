"""Friedman's test: the paper's numbers, scipy's, and what must not matter."""

import json
import subprocess
import sys
from math import erfc, exp, pi, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from pqswarm.errors import PqswarmError
from pqswarm.statistics import critical_difference, friedman, friedman_from_ranks
from tests.statistics import paper, reference

# Few different values, so that many are equal.
BLOCKS = st.tuples(st.integers(2, 9), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 4).map(lambda n: n / 8))
)


def no_tie(generator, n, k):
    return generator.permuted(np.tile(np.arange(k, dtype=float), (n, 1)), axis=1)


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
    assert [row["form"] for row in result.tests()] == ["plain"]


@pytest.mark.parametrize("table", paper.TESTS)
def test_p_value_is_the_closed_form(table):
    """The tail of chi-square with 5 degrees of freedom has a closed form; the paper's p-values of 1E-10 are not it."""
    result = friedman_from_ranks(paper.TESTS[table]["rank_sums"], paper.N_RUNS)
    x = result.chi2
    assert result.p_value == pytest.approx(erfc(sqrt(x / 2)) + sqrt(2 * x / pi) * exp(-x / 2) * (1 + x / 3), rel=1e-10)


def test_exact_statistics_of_the_notes():
    chi2 = [friedman_from_ranks(printed["rank_sums"], 40).chi2 for printed in paper.TESTS.values()]
    assert [f"{value:.4f}" for value in chi2] == ["182.6607", "130.2464", "181.5750", "101.0571"]


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


def test_without_ties_both_forms_agree():
    values = no_tie(np.random.default_rng(0), 12, 5)
    result = friedman(values)
    assert result.chi2 == pytest.approx(result.chi2_corrected, rel=1e-14)
    assert result.chi2 == pytest.approx(stats.friedmanchisquare(*values.T).statistic, rel=1e-12)


@given(BLOCKS)
def test_slow_twin(values):
    result = friedman(values)
    np.testing.assert_allclose(result.mean_ranks, reference.mean_ranks(values.tolist()), rtol=1e-14)
    assert result.chi2 == pytest.approx(reference.chi2(values.tolist()), abs=1e-9)
    again = friedman_from_ranks(result.rank_sums, result.n_blocks)
    assert (again.chi2, again.p_value) == (result.chi2, result.p_value)


@given(BLOCKS, st.randoms(use_true_random=False))
def test_order_does_not_matter(values, random):
    result = friedman(values)
    rows, columns = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    same = friedman(values[rows])
    assert (same.rank_sums == result.rank_sums).all()
    assert (same.chi2, same.chi2_corrected) == (result.chi2, result.chi2_corrected)
    moved = friedman(values[:, columns], names=[result.names[column] for column in columns])
    assert (moved.rank_sums == result.rank_sums[columns]).all()
    assert moved.chi2 == pytest.approx(result.chi2, rel=1e-12)


@given(BLOCKS)
def test_higher_is_better_turns_the_ranks_round(values):
    low, high = friedman(values), friedman(values, lower_is_better=False)
    assert (high.rank_sums == len(values) * (values.shape[1] + 1) - low.rank_sums).all()
    assert high.chi2 == low.chi2
    assert friedman(np.exp(values)).chi2 == low.chi2  # only the order counts


def test_rank_1_is_the_best():
    errors = [[0.3, 0.1, 0.2]] * 4
    assert friedman(errors).mean_ranks.tolist() == [3, 1, 2]
    assert friedman(errors, lower_is_better=False).mean_ranks.tolist() == [1, 3, 2]
    assert friedman(errors, names="abc").best == "b"


def test_all_equal():
    result = friedman(np.ones((5, 3)))
    assert (result.chi2, result.p_value, result.chi2_corrected, result.p_value_corrected) == (0, 1, 0, 1)
    assert result.mean_ranks.tolist() == [2, 2, 2]


def test_rows_are_plain():
    result = friedman([[1, 2], [1, 2], [2, 2]], names=["a", "b"])
    assert json.loads(json.dumps(result.rows()))[1] == {"algorithm": "b", "mean_rank": 5.5 / 3, "rank_sum": 5.5}
    plain, corrected = json.loads(json.dumps(result.tests()))
    assert plain == {
        "form": "plain",
        "chi2": pytest.approx(4 / 3),
        "degrees_of_freedom": 1,
        "p_value": pytest.approx(stats.chi2.sf(4 / 3, 1)),
    }
    assert corrected["chi2"] == pytest.approx(2)


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


def test_rounded_mean_ranks_will_do():
    printed = np.array([5.85, 5.15, 2.31, 2.39, 4.0, 1.3])
    assert friedman_from_ranks(printed * 40, 40).chi2 == pytest.approx(182.66, abs=0.3)


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
        (lambda: friedman_from_ranks([1.3, 2.4, 2.3], 40), "must add up to 240, not 6: multiply mean ranks"),
        (lambda: friedman_from_ranks([10, 50], 20), "must lie between 20 and 40"),
        (lambda: friedman_from_ranks([25, 25, 70], 20), "must lie between 20 and 60"),
        (lambda: friedman_from_ranks([3, 3], 2.0), "n_blocks must be an integer of at least 2, not 2.0"),
        (lambda: friedman_from_ranks([np.nan, 3], 2), "finite"),
        (lambda: friedman_from_ranks([6], 2), "at least two"),
        (lambda: friedman_from_ranks(["a", "b"], 2), "must be numbers"),
        (lambda: critical_difference(1, 10), "n_treatments must be an integer of at least 2, not 1"),
        (lambda: critical_difference(3, True), "n_blocks must be"),
        (lambda: critical_difference(3, 10, alpha=1), "alpha must be a number between 0 and 1, such as 0.05, not 1"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(PqswarmError, match=message):
        call()


def test_import_is_light():
    program = (
        "import sys, pqswarm.statistics;"
        "print([name for name in ('scipy', 'sklearn', 'pandas', 'numba', 'matplotlib') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
