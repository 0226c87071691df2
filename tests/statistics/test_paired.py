"""Comparisons over data sets: against SciPy, brute force, definitions in plain loops, and printed numbers of others."""

from itertools import product

import numpy as np
import pytest
import scipy.stats

from pqswarm.errors import PqswarmError
from pqswarm.statistics import (
    Variances,
    compare_datasets,
    detectable_difference,
    detection_power,
    friedman,
    measure_variances,
    wilcoxon_signed_rank,
)
from pqswarm.statistics.comparisons import bayesian_signed_rank, hierarchical_difference

X = np.array([0.0724, 0.0699, 0.0811, 0.0650, 0.0702, 0.0777, 0.0690, 0.0731, 0.0688, 0.0745, 0.0710, 0.0699])
Y = np.array([0.0780, 0.0732, 0.0805, 0.0661, 0.0745, 0.0790, 0.0688, 0.0772, 0.0701, 0.0760, 0.0742, 0.0730])


@pytest.mark.parametrize("n", [3, 6, 12, 25])
def test_wilcoxon_is_scipys_without_ties(n):
    random = np.random.default_rng(n)
    for _ in range(20):
        x, y = random.normal(size=n), random.normal(0.3, size=n)
        expected = scipy.stats.wilcoxon(x, y, method="exact").pvalue
        assert wilcoxon_signed_rank(x, y) == pytest.approx(expected, rel=1e-9)


def all_signs(differences):
    """Two-sided p by trying all signs."""
    found = differences[differences != 0]
    ranks = scipy.stats.rankdata(np.abs(found))
    sums = np.array(
        [sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in product((0, 1), repeat=found.size)]
    )
    observed = ranks[found > 0].sum()
    return min(1.0, 2 * min((sums <= observed + 1e-9).mean(), (sums >= observed - 1e-9).mean()))


def test_wilcoxon_with_ties_tries_all_signs():
    random = np.random.default_rng(0)
    for _ in range(30):
        x, y = random.integers(0, 5, 9) / 7, random.integers(0, 5, 9) / 7
        expected = all_signs(np.round(x - y, 12))
        assert wilcoxon_signed_rank(x, y) == pytest.approx(expected if (x != y).any() else 1.0, rel=1e-9)
    assert wilcoxon_signed_rank([1, 2, 3], [1, 2, 3]) == 1.0


def test_iman_davenport():
    """F from SciPy's chi-square, whose correction for ties we share."""
    values = np.random.default_rng(1).integers(0, 4, (10, 4)) + np.array([0, 0.2, 0.4, 0.1])
    chi2 = scipy.stats.friedmanchisquare(*values.T).statistic
    statistic, first, second, p = friedman(values).iman_davenport()
    assert statistic == pytest.approx(9 * chi2 / (10 * 3 - chi2))
    assert (first, second) == (3, 27)
    assert p == pytest.approx(scipy.stats.f.sf(statistic, 3, 27))
    assert friedman([[1, 2, 3]] * 4).iman_davenport()[3] == 0.0


@pytest.mark.parametrize(("margin", "equal"), [(0.0005, 0.0004), (0.002, 0.2905), (0.0035, 0.98645)])
def test_bayesian_signed_rank_as_others_compute_it(margin, equal):
    """Means of two runs of baycomp 1.0.3 (50,000 draws)."""
    found = bayesian_signed_rank(X, Y, margin)
    assert found.equal == pytest.approx(equal, abs=0.006)
    assert found.better + found.equal + found.worse == pytest.approx(1.0)
    swapped = bayesian_signed_rank(1 - X, 1 - Y, margin, lower_is_better=False)
    assert (swapped.better, swapped.worse) == pytest.approx((found.better, found.worse), abs=1e-3)


def test_hierarchical_difference_by_loops():
    random = np.random.default_rng(0)
    x = [random.normal(m, 0.3, 5) for m in random.normal(1.0, 0.5, 8)]
    y = [random.normal(m + 0.4, 0.3, 5) for m in random.normal(1.0, 0.5, 8)]
    found = hierarchical_difference(x, y)
    means = []
    for _ in range(4000):
        chosen = random.integers(8, size=8)
        means.append(np.mean([random.choice(x[i], 5).mean() - random.choice(y[i], 5).mean() for i in chosen]))
    assert found.estimate == pytest.approx(np.mean([a.mean() - b.mean() for a, b in zip(x, y, strict=True)]))
    np.testing.assert_allclose(found.ends, np.quantile(means, [0.025, 0.975]), atol=0.04)
    shuffled = [random.permutation(one) for one in x]
    assert hierarchical_difference(shuffled, y) == found  # the order of the runs does not matter
    assert hierarchical_difference(x[:2], y[:2]).ends is None


def test_compare_datasets():
    samples = {"a": [[x, x + 1e-4] for x in X], "b": [[y, y + 1e-4] for y in Y], "c": [[2 * x] for x in X]}
    better, far = compare_datasets(samples, control="a")
    assert (better.wins, better.ties, better.losses) == (10, 0, 2)
    assert better.p_value == pytest.approx(scipy.stats.wilcoxon(X, Y).pvalue, rel=0.2)
    assert (far.conclusion, far.wins) == ("better", 12)
    assert better.conclusion == "better"
    assert [one.conclusion for one in compare_datasets(samples, pairs=[("c", "a")])] == ["worse"]
    same = compare_datasets({"a": [[x] for x in X], "b": [[x * (1 + 1e-4 * (-1) ** i)] for i, x in enumerate(X)]})
    assert same[0].conclusion == "practically equal"
    with pytest.raises(PqswarmError, match="same data sets"):
        compare_datasets({"a": [[1.0]], "b": [[1.0], [2.0]]})
    with pytest.raises(PqswarmError, match="unknown algorithm 'd'"):
        compare_datasets(samples, control="d")


def test_variances_are_found_again():
    random = np.random.default_rng(0)
    shifts = random.normal(0.1, 0.4, 4000)
    x = [random.normal(1.0 + shift, 0.3, 4) for shift in shifts]
    y = [random.normal(1.0, 0.3, 4) for _ in shifts]
    found = measure_variances(x, y)
    assert found.between == pytest.approx(0.4, rel=0.05)
    assert found.within == pytest.approx(0.3, rel=0.02)


def test_single_runs_do_not_say_how_much_runs_vary():
    with pytest.raises(PqswarmError, match="single runs leave the variance between runs unknown"):
        measure_variances([[1.0], [2.0]], [[1.5], [1.0]])
    assert measure_variances([[1.0], [2.0]], [[1.5, 1.7], [1.0, 1.2]]).within == pytest.approx(0.02**0.5)


@pytest.mark.parametrize(("k", "runs"), [(3, 1), (6, 5), (12, 10)])
def test_power_is_scipys(k, runs):
    variances, difference = Variances(0.4, 0.3), 0.45
    spread = variances.standard_deviation(runs)
    found = detection_power(difference, variances, k, runs)
    limit, shift = scipy.stats.t.isf(0.025, k - 1), difference * k**0.5 / spread
    expected = scipy.stats.nct.sf(limit, k - 1, shift) + scipy.stats.nct.cdf(-limit, k - 1, shift)
    assert found == pytest.approx(expected, abs=1e-4)
    assert detection_power(detectable_difference(variances, k, runs), variances, k, runs) == pytest.approx(
        0.8, abs=1e-6
    )


def test_small_losses_are_losses_and_equal_errors_are_equal():
    """Within the margin neither is more probably better, but the test says who is."""
    x = [[0.10 + i / 1000] for i in range(9)]
    (found,) = compare_datasets({"a": [[v[0] + 1e-4] for v in x], "b": x}, control="a")
    assert (found.wins, found.losses, found.conclusion, found.lead) == (0, 9, "worse", -1.0)
    (same,) = compare_datasets({"a": [[0.0]] * 7, "b": [[0.0]] * 7}, control="a")
    assert (same.ties, same.p_value, same.posterior.equal, same.conclusion) == (7, 1.0, 1.0, "practically equal")
    shuffled = [(i * 4) % 9 for i in range(9)]
    y = [[v[0] * 1.01, v[0] * 1.03] for v in x]
    assert hierarchical_difference(x, y) == hierarchical_difference([x[i] for i in shuffled], [y[i] for i in shuffled])
