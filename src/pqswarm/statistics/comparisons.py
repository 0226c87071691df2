"""Comparisons of algorithms: of independent runs, and over several data sets, where one data set is one observation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from pqswarm._base.checks import check_name, check_number
from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import ArrayLike, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.statistics._checks import ROUNDING, checked_alpha, checked_sample, rounded_groups
from pqswarm.statistics.intervals import MIN_RUNS, Interval, bootstrap_difference, superiority
from pqswarm.statistics.ranks import hommel

MARGIN = 0.05
"""Means that differ by less than this fraction of the first are practically equal by default: our choice."""

ACCURACY_MARGIN = 0.01
"""The same if higher is better: 1 % is customary for accuracies."""

_MAX_EXACT = 2500  # pairs of runs, up to which the test is exact

Conclusion = Literal["better", "worse", "practically equal", "inconclusive"]


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """What a :class:`Comparison` and a :class:`PairedComparison` have in common."""

    algorithm: str
    against: str
    p_value: float
    p_hommel: float
    mean: float
    mean_against: float
    difference: Interval
    alpha: float


@dataclass(frozen=True, kw_only=True)
class Comparison(ComparedPair):
    """A comparison of independent runs of two algorithms.

    Attributes
    ----------
    algorithm, against : str
        Names of both.
    p_value : float
        Two-sided p-value of the Mann-Whitney test, unadjusted.
    p_hommel : float
        The same, Hommel-adjusted for the comparisons made together.
    method : {"exact", "normal"}
        How it was computed; see :func:`mann_whitney`.
    superiority : Interval
        Probability that a run of `algorithm` is better than a run of `against`; see :func:`superiority`.
    mean, mean_against : float
        Means.
    difference : Interval
        Mean of `algorithm` minus that of `against`; see :func:`bootstrap_difference`.
    margin : float
        Smallest difference of means that matters, in the unit of the values.
    p_equivalence : float or None
        p-value of the equivalence test within that margin, adjusted like `p_hommel`; None with fewer than 5 runs of
        either.
    alpha : float
        Significance level.
    """

    method: Literal["exact", "normal"]
    superiority: Interval
    margin: float
    p_equivalence: float | None

    @property
    def ratio(self) -> float | None:
        """Mean of `algorithm` divided by that of `against`; None if the latter is 0."""
        return self.mean / self.mean_against if self.mean_against else None

    @property
    def within_margin(self) -> bool:
        """Whether the equivalence test shows that the means differ by less than the margin."""
        return self.p_equivalence is not None and self.p_equivalence <= self.alpha

    @property
    def conclusion(self) -> Conclusion:
        """A difference if it is significant, otherwise equivalence if it is shown, otherwise inconclusive."""
        if self.p_hommel <= self.alpha and self.superiority.estimate != 0.5:
            return "better" if self.superiority.estimate > 0.5 else "worse"
        return "practically equal" if self.within_margin else "inconclusive"

    def row(self) -> dict[str, Any]:
        """Return a row of a table, with plain values."""
        return {
            "algorithm": self.algorithm,
            "against": self.against,
            "p_value": self.p_value,
            "p_hommel": self.p_hommel,
            **self.superiority.row("superiority"),
            **self.difference.row("difference"),
            "ratio": self.ratio,
            "margin": self.margin,
            "p_equivalence": self.p_equivalence,
            "conclusion": self.conclusion,
        }


def mann_whitney(x: ArrayLike, y: ArrayLike) -> tuple[float, Literal["exact", "normal"]]:
    """Test whether runs of two algorithms have the same distribution (Mann-Whitney, Wilcoxon rank sum).

    Up to 2500 pairs of runs, such as 50 of each, the test is exact, even with ties: all assignments of the pooled
    results to the two algorithms are counted, and p is twice the fraction at least as extreme as the observed one.
    Beyond that it is `scipy.stats.mannwhitneyu` with the normal approximation, corrected for ties and continuity.

    Parameters
    ----------
    x, y : array_like of shape (n_runs,)
        Results of independent runs; the numbers of runs may differ.

    Returns
    -------
    p_value : float
        Two-sided p-value.
    method : {"exact", "normal"}
        How it was computed.

    References
    ----------
    .. [1] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than
       the other", Annals of Mathematical Statistics 18 (1947) 50-60, doi:10.1214/aoms/1177730491

    Examples
    --------
    >>> mann_whitney([1.0, 2.0, 2.0], [3.0, 3.0, 4.0])
    (0.1, 'exact')
    """
    from scipy.stats import mannwhitneyu, rankdata

    first, second = sorted((checked_sample("x", x), checked_sample("y", y)), key=len)
    pooled = rounded_groups(np.concatenate([first, second]))
    if np.ptp(pooled) == 0:
        return 1.0, "exact"
    if first.size * second.size > _MAX_EXACT:
        one, other = np.split(pooled, [first.size])
        return float(mannwhitneyu(one, other, method="asymptotic").pvalue), "normal"
    ranks = (2 * rankdata(pooled)).astype(np.int64)  # doubled, so that tied ranks are integers
    # ways[k, s]: number of sets of k results with the rank sum s
    ways = np.zeros((first.size + 1, int(np.sort(ranks)[-first.size :].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank]
    fraction = ways[-1] / ways[-1].sum()
    observed = int(ranks[: first.size].sum())
    tails = float(fraction[: observed + 1].sum()), float(fraction[observed:].sum())
    return min(1.0, 2 * min(tails)), "exact"


def equivalence(x: ArrayLike, y: ArrayLike, margin: float) -> float | None:
    """Test whether the means of two algorithms differ by less than a margin.

    Two one-sided Welch tests (TOST) of the hypotheses that the mean of `x` is above, or below, that of `y` by at least
    the margin; p is the larger of both p-values. p ≤ alpha means that the Welch interval of the difference, with
    confidence 1 - 2 alpha, lies within the margin. A small p shows that the difference is below the margin, not that
    the means are equal; a large p shows nothing.

    Parameters
    ----------
    x, y : array_like of shape (n_runs,)
        Results of independent runs; the numbers of runs and the variances may differ.
    margin : float
        Smallest difference of the means that matters, in their unit.

    Returns
    -------
    float or None
        p-value; None with fewer than 5 runs of either, whose variance would be too uncertain.

    References
    ----------
    .. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing
       the equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680,
       doi:10.1007/BF01068419
    .. [2] D. Lakens, "Equivalence tests", Social Psychological and Personality Science 8 (2017) 355-362,
       doi:10.1177/1948550617697177

    Examples
    --------
    >>> x, y = [5.0, 5.2, 4.9, 5.1, 5.0], [5.1, 5.0, 5.2, 4.9, 5.1]
    >>> round(equivalence(x, y, margin=0.5), 4), round(equivalence(x, y, margin=0.1), 2)
    (0.0001, 0.15)
    """
    from scipy.stats import ttest_ind_from_stats

    first, second = checked_sample("x", x), checked_sample("y", y)
    check_number("margin", margin, 0, unit="in the unit of the values")
    if min(first.size, second.size) < MIN_RUNS:
        return None
    difference = float(first.mean() - second.mean())
    if np.ptp(first) == np.ptp(second) == 0:
        return 0.0 if abs(difference) < margin else 1.0
    spreads = [(float(sample.std(ddof=1)), sample.size) for sample in (first, second)]
    one_sided: Any = partial(ttest_ind_from_stats, equal_var=False)
    above = one_sided(difference + margin, *spreads[0], 0.0, *spreads[1], alternative="greater")
    below = one_sided(difference - margin, *spreads[0], 0.0, *spreads[1], alternative="less")
    return max(float(above.pvalue), float(below.pvalue))


def compare_runs(
    samples: Mapping[str, ArrayLike],
    *,
    control: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    lower_is_better: bool = True,
    margin: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[Comparison]:
    """Compare independent runs of one algorithm with those of every other, or of chosen pairs.

    Each comparison has a test (:func:`mann_whitney`), the probability that a run of one beats a run of the other
    (:func:`superiority`), the difference of the means (:func:`bootstrap_difference`) and an equivalence test
    (:func:`equivalence`). p-values are adjusted by :func:`hommel`; intervals are not.

    Parameters
    ----------
    samples : mapping of str to array_like of shape (n_runs,)
        Results of the runs of each algorithm; the numbers of runs may differ.
    control : str, default=None
        The algorithm to compare with every other; by default, without `pairs`, the one with the best mean.
    pairs : sequence of (str, str), default=None
        Pairs to compare instead, the first against the second.
    lower_is_better : bool, default=True
        Whether lower results are better, as for errors and sizes, or higher ones, as for accuracies.
    margin : float, default=None
        Means that differ by less than this fraction of the first are practically equal. By default 0.05, and 0.01 if
        higher is better. You should decide what difference matters; the default is our choice.
    alpha : float, default=0.05
        Significance level; intervals have a confidence of 1 - alpha.
    seed : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    list of Comparison
        One per other algorithm, the control first in each; or one per pair.

    Examples
    --------
    >>> errors = {"2D-UPSO": [0.07, 0.08, 0.07, 0.08, 0.07], "GA": [0.13, 0.14, 0.13, 0.15, 0.14]}
    >>> (comparison,) = compare_runs(errors, control="2D-UPSO")
    >>> comparison.conclusion, round(comparison.p_value, 4), comparison.superiority.estimate
    ('better', 0.0079, 1.0)
    """
    checked = {str(name): checked_sample(f"samples of {name!r}", values) for name, values in samples.items()}
    fraction = _checked_margin(margin, lower_is_better)
    alpha = checked_alpha(alpha)
    if len(checked) < 2:
        raise PqswarmError("samples must hold the runs of at least two algorithms.")
    pairs = choose_pairs(checked, control, pairs, lower_is_better)
    alone = [_compare_pair_of_runs(checked, pair, lower_is_better, fraction, alpha, seed) for pair in pairs]
    adjusted = hommel([comparison.p_value for comparison in alone]).tolist()
    equal = hommel([1.0 if c.p_equivalence is None else c.p_equivalence for c in alone]).tolist()
    return [
        replace(c, p_hommel=p, p_equivalence=None if c.p_equivalence is None else q)
        for c, p, q in zip(alone, adjusted, equal, strict=True)
    ]


def _checked_margin(margin: float | None, lower_is_better: bool) -> float:
    """The margin of practical equality as a fraction of the mean, by default ours."""
    usual = MARGIN if lower_is_better else ACCURACY_MARGIN
    return check_number("margin", usual if margin is None else margin, 0, unit="as a fraction of the mean")


def choose_pairs(
    values: Mapping[str, FloatArray],
    control: str | None,
    pairs: Sequence[tuple[str, str]] | None,
    lower_is_better: bool,
) -> list[tuple[str, str]]:
    """Return the pairs to compare: those given, or a control, by default the best by its mean, with every other."""
    if control is not None and pairs is not None:
        raise PqswarmError("give a control or pairs, not both.")
    if pairs is None:
        if control is None:
            control = (min if lower_is_better else max)(values, key=lambda name: float(values[name].mean()))
        pairs = [(control, name) for name in values if name != control]
    for one, other in pairs:
        for name in (one, other):
            check_name("algorithm", name, values)
        if one == other:
            raise PqswarmError(f"a pair must hold two algorithms, not {one!r} twice.")
    return list(pairs)


def _compare_pair_of_runs(
    samples: Mapping[str, FloatArray],
    pair: tuple[str, str],
    lower_is_better: bool,
    fraction: float,
    alpha: float,
    seed: int,
) -> Comparison:
    """One comparison with unadjusted p-values."""
    x, y = (samples[name] for name in pair)
    p, method = mann_whitney(x, y)
    margin = fraction * abs(float(x.mean()))
    return Comparison(
        algorithm=pair[0],
        against=pair[1],
        p_value=p,
        p_hommel=p,
        method=method,
        superiority=superiority(x, y, lower_is_better=lower_is_better, alpha=alpha),
        mean=float(x.mean()),
        mean_against=float(y.mean()),
        difference=bootstrap_difference(x, y, alpha=alpha, seed=seed),
        margin=margin,
        p_equivalence=equivalence(x, y, margin),
        alpha=alpha,
    )


_DRAWS = 50_000  # of the posterior
_PRIOR = 0.5  # weight of the pseudo-observation at zero, where an observed data set has 1
_RESAMPLES = 9999
_PROBABLE = 0.95  # posterior probability at which practical equality is stated


@dataclass(frozen=True)
class SignedRankPosterior:
    """Posterior probabilities of a Bayesian signed-rank test; they add up to 1.

    Attributes
    ----------
    better, equal, worse : float
        Probability that the first algorithm is better by more than the margin, that both are practically equal, and
        that the first is worse by more than the margin, on a further data set of the same kind.
    margin : float
        Half the width of the region of practical equivalence, in the unit of the values.
    """

    better: float
    equal: float
    worse: float
    margin: float


@dataclass(frozen=True, kw_only=True)
class PairedComparison(ComparedPair):
    """A comparison of two algorithms over several data sets.

    Attributes
    ----------
    algorithm, against : str
        Names of both.
    n_datasets : int
        Number of data sets.
    wins, ties, losses : int
        Data sets on which the mean of `algorithm` is better than, equal to and worse than that of `against`.
    lead : float
        Matched-pairs rank-biserial correlation, -1 to 1: positive if `algorithm` is better.
    p_value : float
        Two-sided p-value of the Wilcoxon signed-rank test over the data sets, unadjusted.
    p_hommel : float
        The same, Hommel-adjusted for the comparisons made together.
    posterior : SignedRankPosterior
        Bayesian signed-rank test with a region of practical equivalence.
    mean, mean_against : float
        Means over the data sets of the means over runs.
    difference : Interval
        Mean of `algorithm` minus that of `against`; by a hierarchical bootstrap.
    alpha : float
        Significance level.
    """

    n_datasets: int
    wins: int
    ties: int
    losses: int
    lead: float
    posterior: SignedRankPosterior

    @property
    def conclusion(self) -> Conclusion:
        """A difference if the Wilcoxon test is significant, otherwise equality if it is probable, else inconclusive."""
        if self.p_hommel <= self.alpha and self.lead:
            return "better" if self.lead > 0 else "worse"
        return "practically equal" if self.posterior.equal >= _PROBABLE else "inconclusive"

    def row(self) -> dict[str, Any]:
        """Return a row of a table, with plain values."""
        names = ("algorithm", "against", "mean", "mean_against", "wins", "ties", "losses", "lead")
        probable = {f"p_{name}": getattr(self.posterior, name) for name in ("better", "equal", "worse")}
        plain = {name: getattr(self, name) for name in (*names, "p_value", "p_hommel")}
        last = {"margin": self.posterior.margin, "conclusion": self.conclusion}
        return plain | self.difference.row("difference") | probable | last


def _paired_differences(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Differences of paired values; those that only rounding separates from zero are zero."""
    first, second = checked_sample("x", x), checked_sample("y", y)
    if first.size != second.size:
        raise PqswarmError(f"x and y must have one value per data set each, but have {first.size} and {second.size}.")
    differences: FloatArray = first - second
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    return np.where(np.abs(differences) <= ROUNDING * scale, 0.0, differences)


def _ranked_differences(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The differences that are not zero, and the ranks of their sizes."""
    from scipy.stats import rankdata

    kept = differences[differences != 0]
    return kept, rankdata(rounded_groups(np.abs(kept)))


def wilcoxon_signed_rank(x: ArrayLike, y: ArrayLike) -> float:
    """Test whether two algorithms differ over data sets, by Wilcoxon's signed ranks.

    Data sets on which both have the same result are left out. The test is exact, also with tied differences: all
    assignments of signs to the ranks are counted, and p is twice the fraction at least as extreme as the observed one.
    With n data sets p cannot be below 2 / 2^n: six are needed for p < 0.05.

    Parameters
    ----------
    x, y : array_like of shape (n_datasets,)
        One result of each algorithm per data set, such as the mean over runs.

    Returns
    -------
    float
        Two-sided p-value.

    References
    ----------
    .. [1] F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945) 80-83,
       doi:10.2307/3001968
    .. [2] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine Learning
       Research 7 (2006) 1-30

    Examples
    --------
    >>> wilcoxon_signed_rank([0.07, 0.06, 0.08, 0.07, 0.05, 0.09], [0.08, 0.08, 0.11, 0.11, 0.10, 0.15])
    0.03125
    """
    differences, plain_ranks = _ranked_differences(_paired_differences(x, y))
    ranks = (2 * plain_ranks).astype(np.int64)  # doubled: tied ranks are integers
    ways = np.zeros(int(ranks.sum()) + 1)  # ways[s]: fraction of the assignments of signs whose positive ranks sum to s
    ways[0] = 1.0
    for rank in ranks:
        ways = (ways + np.concatenate([np.zeros(rank), ways[:-rank]])) / 2
    positive = int(ranks[differences > 0].sum())
    return min(1.0, 2 * min(float(ways[: positive + 1].sum()), float(ways[positive:].sum())))


def _paired_rank_lead(gains: FloatArray) -> float:
    """The fraction of the ranks of positive gains minus that of negative ones."""
    gains, ranks = _ranked_differences(gains)
    return float((ranks * np.sign(gains)).sum() / ranks.sum()) if gains.size else 0.0


def bayesian_signed_rank(
    x: ArrayLike, y: ArrayLike, margin: float, *, lower_is_better: bool = True, seed: int = 0
) -> SignedRankPosterior:
    """Return how probable it is that one algorithm is better than another, or that both are practically equal.

    Benavoli's test: the data sets are a sample of a Dirichlet process with a pseudo-observation of strength 0.5 at
    zero. For each of 50,000 draws of the weights, the region (better, equal, worse) to which most of the weight of all
    pairs of data sets belongs wins; the probabilities are the fractions of the draws that each region wins. See
    A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis", Journal of Machine Learning Research 18 (2017) 1-36.
    """
    check_number("margin", margin, 0, unit="in the unit of the values")
    differences = np.concatenate([[0.0], _paired_differences(x, y)])
    gains = -differences if lower_is_better else differences
    order = np.argsort(gains, kind="stable")
    values = gains[order]
    strength = np.where(order == 0, _PRIOR, 1.0)
    weights = stream(checked_seed(seed), ()).gamma(strength, size=(_DRAWS, values.size))
    weights /= weights.sum(axis=1, keepdims=True)
    above = np.concatenate([np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], np.zeros((_DRAWS, 1))], axis=1)
    fractions = []
    for sign in (1.0, -1.0):  # of pairs with a mean above the margin, and below minus the margin
        fraction = np.zeros(_DRAWS)
        for i, value in enumerate(values):
            limit = sign * 2 * margin - value  # the other value of the pair must be beyond it: on it they are equal
            k = int(np.searchsorted(values, limit, "right" if sign > 0 else "left"))
            fraction += weights[:, i] * (above[:, k] if sign > 0 else 1.0 - above[:, k])
        fractions.append(fraction)
    equal = 1.0 - fractions[0] - fractions[1]
    winners = np.bincount(np.argmax([fractions[0], equal, fractions[1]], axis=0), minlength=3) / _DRAWS
    better, same, worse = winners.tolist()
    return SignedRankPosterior(better, same, worse, float(margin))


def hierarchical_difference(
    x: Sequence[ArrayLike], y: Sequence[ArrayLike], *, alpha: float = 0.05, seed: int = 0
) -> Interval:
    """Estimate the mean difference of two algorithms over data sets, with a hierarchical bootstrap interval.

    Each of 9999 resamples draws data sets with replacement, and of each of them the runs of both algorithms with
    replacement; the interval holds the central percentiles. It says what to expect on further data sets of the same
    kind; with fewer than about ten data sets it is too narrow, with fewer than three it has no ends.
    """
    alpha = checked_alpha(alpha)
    generator = stream(checked_seed(seed), ())
    if len(x) != len(y):
        raise PqswarmError(f"x and y must hold the same data sets, but have {len(x)} and {len(y)}.")
    pairs = [
        (np.sort(checked_sample(f"x of data set {i}", one)), np.sort(checked_sample(f"y of data set {i}", other)))
        for i, (one, other) in enumerate(zip(x, y, strict=True))
    ]
    pairs.sort(key=lambda pair: (tuple(pair[0]), tuple(pair[1])))  # so that their order does not matter
    estimate = float(np.mean([one.mean() - other.mean() for one, other in pairs]))
    if len(pairs) < 3:
        return Interval(estimate, None, None, alpha)
    chosen = generator.integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    resampled = np.empty(chosen.shape)
    for i, (one, other) in enumerate(pairs):
        drawn = int((chosen == i).sum())
        means = [
            sample[generator.integers(sample.size, size=(drawn, sample.size))].mean(axis=1) for sample in (one, other)
        ]
        resampled[chosen == i] = means[0] - means[1]
    ends = np.quantile(np.round(resampled.mean(axis=1), 14), [alpha / 2, 1 - alpha / 2])
    return Interval(estimate, float(ends[0]), float(ends[1]), alpha)


def compare_datasets(
    samples: Mapping[str, Sequence[ArrayLike]],
    *,
    control: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    lower_is_better: bool = True,
    margin: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[PairedComparison]:
    """Compare one algorithm with every other, or chosen pairs, over several data sets.

    The unit is the data set: the runs on it count by their mean. Each comparison has wins, ties and losses, a test
    (:func:`wilcoxon_signed_rank`), posterior probabilities (Benavoli's signed-rank test) and the mean difference with
    its interval (hierarchical bootstrap). p-values are adjusted by :func:`hommel`.

    Parameters
    ----------
    samples : mapping of str to sequence of array_like
        For each algorithm, the results of its runs on each data set; the numbers of runs may differ.
    control : str, default=None
        The algorithm to compare with every other; by default, without `pairs`, the one with the best mean.
    pairs : sequence of (str, str), default=None
        Pairs to compare instead, the first against the second.
    lower_is_better : bool, default=True
        Whether lower results are better, as for errors and sizes, or higher ones, as for accuracies.
    margin : float, default=None
        Means that differ by less than this fraction of the first are practically equal. By default 0.05, and 0.01 if
        higher is better: our choice.
    alpha : float, default=0.05
        Significance level; intervals have a confidence of 1 - alpha.
    seed : int, default=0
        Seed of the bootstrap and of the posterior draws.

    Returns
    -------
    list of PairedComparison
        One per other algorithm, the control first in each; or one per pair.

    Examples
    --------
    >>> errors = {"2D-UPSO": [[0.07, 0.08], [0.06], [0.05], [0.07], [0.08], [0.06]],
    ...           "GA": [[0.13, 0.14], [0.12], [0.15], [0.13], [0.14], [0.12]]}
    >>> (comparison,) = compare_datasets(errors, control="2D-UPSO")
    >>> comparison.wins, comparison.p_value, comparison.conclusion
    (6, 0.03125, 'better')
    """
    alpha = checked_alpha(alpha)
    fraction = _checked_margin(margin, lower_is_better)
    means = {
        name: np.array([checked_sample(f"samples of {name!r}", one).mean() for one in each])
        for name, each in samples.items()
    }
    if len(means) < 2 or len({each.size for each in means.values()}) > 1:
        raise PqswarmError("samples must hold at least two algorithms, each with runs on the same data sets.")
    pairs = choose_pairs(means, control, pairs, lower_is_better)
    comparisons = []
    for one, other in pairs:
        differences = _paired_differences(means[one], means[other]) * (1 if lower_is_better else -1)
        width = fraction * abs(float(means[one].mean()))
        p = wilcoxon_signed_rank(means[one], means[other])
        comparisons.append(
            PairedComparison(
                algorithm=one,
                against=other,
                n_datasets=differences.size,
                wins=int((differences < 0).sum()),
                ties=int((differences == 0).sum()),
                losses=int((differences > 0).sum()),
                lead=_paired_rank_lead(-differences),
                p_value=p,
                p_hommel=p,
                posterior=bayesian_signed_rank(
                    means[one], means[other], width, lower_is_better=lower_is_better, seed=seed
                ),
                mean=float(means[one].mean()),
                mean_against=float(means[other].mean()),
                difference=hierarchical_difference(samples[one], samples[other], alpha=alpha, seed=seed),
                alpha=alpha,
            )
        )
    adjusted = hommel([comparison.p_value for comparison in comparisons]).tolist()
    return [replace(comparison, p_hommel=p) for comparison, p in zip(comparisons, adjusted, strict=True)]
