"""Comparisons over runs and data sets: against SciPy, R, brute force, definitions in plain loops and simulation."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind

from pqswarm.errors import PqswarmError
from pqswarm.statistics import (
    Variances,
    bootstrap_difference,
    bootstrap_mean,
    compare_datasets,
    compare_runs,
    detectable_difference,
    detection_power,
    equivalence,
    friedman,
    mann_whitney,
    measure_variances,
    superiority,
    wilcoxon_signed_rank,
)
from pqswarm.statistics.comparisons import bayesian_signed_rank, hierarchical_difference

TIED = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=5)


@given(TIED, TIED)
@settings(max_examples=40)
def test_exact_test_counts_all_ways_to_deal_the_results(x, y):
    pooled = stats.rankdata([*x, *y])
    sums = np.array([pooled[list(chosen)].sum() for chosen in combinations(range(pooled.size), len(x))])
    found = pooled[: len(x)].sum()
    expected = min(1.0, 2 * min((sums <= found).mean(), (sums >= found).mean()))
    assert mann_whitney(x, y) == (pytest.approx(expected), "exact")


@pytest.mark.parametrize("seed", range(3))
def test_exact_test_without_ties_is_that_of_scipy(seed):
    generator = np.random.default_rng(seed)
    x, y = generator.normal(size=40), generator.normal(0.5, 2.0, size=11)
    expected = stats.mannwhitneyu(x, y, method="exact").pvalue
    assert mann_whitney(x, y)[0] == pytest.approx(expected)
    assert mann_whitney(y, x)[0] == pytest.approx(expected)


def test_many_runs_take_the_normal_approximation_and_it_is_close():
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 30, 51).astype(float), generator.integers(3, 33, 51).astype(float)
    p, method = mann_whitney(x, y)
    assert method == "normal"
    assert p == stats.mannwhitneyu(x, y, method="asymptotic").pvalue
    assert mann_whitney(x[:50], y[:50])[1] == "exact"
    assert mann_whitney(x[:50], y[:50])[0] == pytest.approx(stats.mannwhitneyu(x[:50], y[:50]).pvalue, rel=0.1)


def test_superiority_of_a_published_example():
    """``ci.mann`` of the R package statpsych: 0.86875, with another interval, by Sen, of 0.629 to 1."""
    y1 = [9.4, 10.3, 58.3, 106.0, 31.0, 46.2, 12.0, 19.0, 135.0, 159.0]
    y2 = [14.6, 5.1, 8.1, 22.7, 6.4, 4.4, 19.0, 3.2]
    found = superiority(y1, y2, lower_is_better=False)
    assert found.estimate == 0.86875
    assert (found.lower, found.upper) == (pytest.approx(0.629, abs=0.04), pytest.approx(0.96, abs=0.01))
    turned = superiority(y1, y2)
    assert (turned.lower, turned.upper) == (pytest.approx(1 - found.upper), pytest.approx(1 - found.lower))


@pytest.mark.parametrize("n", [5, 40])
def test_interval_of_complete_separation_has_a_length(n):
    found = superiority(np.arange(n), np.arange(n) + n)
    assert (found.estimate, found.upper) == (1.0, 1.0)
    # The end where (1 - theta)^2 = z^2 V(theta), divided by 1 - theta.
    theta, z = found.lower, stats.norm.isf(0.025)
    spread = 1 + (n - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    assert 1 - theta == pytest.approx(z**2 * theta / n**2 * spread)


@pytest.mark.parametrize(("shift", "scale", "n"), [(0.0, 1.0, 40), (1.0, 1.0, 10), (2.0, 3.0, 40), (2.5, 1.0, 20)])
def test_interval_of_superiority_covers(shift, scale, n):
    generator = np.random.default_rng(1)
    truth = stats.norm.cdf(shift / np.hypot(1, scale))
    samples = [(generator.normal(size=n), generator.normal(shift, scale, n)) for _ in range(400)]
    found = [superiority(x, y) for x, y in samples]
    assert 0.92 < np.mean([interval.lower <= truth <= interval.upper for interval in found]) <= 0.99


def test_bootstrap_is_deterministic_and_covers():
    generator = np.random.default_rng(2)
    sample = generator.normal(10, 3, 40)
    assert bootstrap_mean(sample) == bootstrap_mean(sample)
    assert bootstrap_mean(sample) != bootstrap_mean(sample, seed=1)
    low, high = bootstrap_mean(sample).ends
    expected = stats.t.interval(0.95, 39, sample.mean(), stats.sem(sample))
    assert (low, high) == pytest.approx(expected, abs=0.2)
    hits = 0
    for _ in range(60):
        x, y = generator.exponential(1.0, 30), generator.exponential(1.0, 20) + 1
        low, high = bootstrap_difference(x, y).ends
        hits += low <= -1 <= high
    assert hits >= 51


def test_bootstrap_of_what_does_not_vary_or_is_too_little():
    assert bootstrap_mean([3.0] * 8).ends == (3.0, 3.0)
    assert bootstrap_mean([1.0, 2.0, 3.0, 4.0]).ends is None
    low, high = bootstrap_difference([0.1] * 6, [1.0, 2.0, 3.0, 2.0, 1.0]).ends
    assert low < 0.1 - 1.8 < high


@pytest.mark.parametrize("margin", [0.1, 0.5, 2.0])
def test_equivalence_is_that_of_statsmodels(margin):
    generator = np.random.default_rng(3)
    x, y = generator.normal(0, 1, 20), generator.normal(0.2, 2, 30)
    assert equivalence(x, y, margin) == pytest.approx(ttost_ind(x, y, -margin, margin, usevar="unequal")[0])


def test_equivalence_of_what_does_not_vary_or_is_too_little():
    assert equivalence([1.0] * 5, [1.0] * 5, 0.1) == 0.0
    assert equivalence([1.0] * 5, [1.2] * 5, 0.1) == 1.0
    assert equivalence([0.0] * 5, [0.0] * 5, 0.0) == 1.0
    assert equivalence([1.0] * 4, [1.0] * 40, 0.1) is None


def samples(n=20, **means):
    generator = np.random.default_rng(5)
    return {name: mean + generator.normal(0, 0.01, n) for name, mean in means.items()}


def test_a_control_is_compared_with_each_other():
    given = samples(A=1.0, B=1.2, C=1.001, D=0.9)
    found = compare_runs(given, control="A", margin=0.03)
    assert [(c.algorithm, c.against) for c in found] == [("A", "B"), ("A", "C"), ("A", "D")]
    assert [c.conclusion for c in found] == ["better", "practically equal", "worse"]
    raw = [stats.mannwhitneyu(given["A"], given[name], method="exact").pvalue for name in "BCD"]
    assert [c.p_value for c in found] == pytest.approx(raw)
    assert [c.p_hommel for c in found] == pytest.approx(multipletests(raw, method="hommel")[1])
    margin = 0.03 * given["A"].mean()
    raw = [ttost_ind(given["A"], given[name], -margin, margin, usevar="unequal")[0] for name in "BCD"]
    assert [c.p_equivalence for c in found] == pytest.approx(multipletests(raw, method="hommel")[1])
    assert compare_runs(given, control="A", margin=0.001)[1].conclusion == "inconclusive"
    assert found[0].ratio == pytest.approx(given["A"].mean() / given["B"].mean())


def test_directions_and_defaults():
    given = samples(A=0.98, B=0.95)
    (low,), (high,) = compare_runs(given), compare_runs(given, lower_is_better=False)
    assert (low.algorithm, low.conclusion) == ("B", "better")
    assert (high.algorithm, high.conclusion) == ("A", "better")
    assert low.margin == pytest.approx(0.05 * given["B"].mean())
    assert high.margin == pytest.approx(0.01 * given["A"].mean())
    (pair,) = compare_runs(given | {"C": [1.0] * 3}, pairs=[("A", "B")])
    assert (pair.conclusion, pair.p_hommel) == ("worse", pair.p_value)
    assert pair.row()["superiority_upper"] == pair.superiority.upper


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ({"A": [1.0]}, {}, "at least two algorithms"),
        ({"A": [1.0], "B": []}, {}, "samples of 'B' must be a list of finite numbers"),
        ({"A": [1.0], "B": [np.nan]}, {}, "samples of 'B' must be a list of finite numbers"),
        ({"A": [1.0], "B": [1e200]}, {}, "samples of 'B' are too large"),
        ({"Alpha": [1.0], "Beta": [2.0]}, {"control": "Alpa"}, "did you mean 'Alpha'"),
        ({"A": [1.0], "B": [2.0]}, {"pairs": [("A", "B")], "control": "A"}, "not both"),
        ({"A": [1.0], "B": [2.0]}, {"alpha": 5}, "alpha must be"),
    ],
)
def test_mistakes(given, options, message):
    with pytest.raises(PqswarmError, match=message):
        compare_runs(given, **options)
    with pytest.raises(PqswarmError, match="margin must be a number"):
        equivalence([1.0], [1.0], float("nan"))


X = np.array([0.0724, 0.0699, 0.0811, 0.0650, 0.0702, 0.0777, 0.0690, 0.0731, 0.0688, 0.0745, 0.0710, 0.0699])
Y = np.array([0.0780, 0.0732, 0.0805, 0.0661, 0.0745, 0.0790, 0.0688, 0.0772, 0.0701, 0.0760, 0.0742, 0.0730])


@pytest.mark.parametrize("n", [3, 6, 12, 25])
def test_wilcoxon_is_scipys_without_ties(n):
    random = np.random.default_rng(n)
    for _ in range(20):
        x, y = random.normal(size=n), random.normal(0.3, size=n)
        expected = stats.wilcoxon(x, y, method="exact").pvalue
        assert wilcoxon_signed_rank(x, y) == pytest.approx(expected, rel=1e-9)


def all_signs(differences):
    """Two-sided p by trying all signs."""
    found = differences[differences != 0]
    ranks = stats.rankdata(np.abs(found))
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
    chi2 = stats.friedmanchisquare(*values.T).statistic
    statistic, first, second, p = friedman(values).iman_davenport()
    assert statistic == pytest.approx(9 * chi2 / (10 * 3 - chi2))
    assert (first, second) == (3, 27)
    assert p == pytest.approx(stats.f.sf(statistic, 3, 27))
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
    assert better.p_value == pytest.approx(stats.wilcoxon(X, Y).pvalue, rel=0.2)
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
    limit, shift = stats.t.isf(0.025, k - 1), difference * k**0.5 / spread
    expected = stats.nct.sf(limit, k - 1, shift) + stats.nct.cdf(-limit, k - 1, shift)
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
