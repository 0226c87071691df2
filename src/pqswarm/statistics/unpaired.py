"""Comparisons of independent, unpaired runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_number
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.statistics._checks import checked_alpha, checked_sample
from pqswarm.statistics.intervals import MIN_RUNS, Interval, bootstrap_difference, superiority
from pqswarm.statistics.ranks import hommel

MARGIN = 0.05
"""Means that differ by less than this fraction of the first are practically equal by default: our choice."""

ACCURACY_MARGIN = 0.01
"""The same if higher is better: 1 % is customary for accuracies."""

_MAX_EXACT = 2500  # pairs of runs, up to which the test is exact

Conclusion = Literal["better", "worse", "practically equal", "inconclusive"]


@dataclass(frozen=True)
class Comparison:
    """A comparison of independent runs of two algorithms.

    Attributes
    ----------
    algorithm, against : str
        Names of both.
    n_runs, n_runs_against : int
        Numbers of runs.
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

    algorithm: str
    against: str
    n_runs: int
    n_runs_against: int
    p_value: float
    p_hommel: float
    method: Literal["exact", "normal"]
    superiority: Interval
    mean: float
    mean_against: float
    difference: Interval
    margin: float
    p_equivalence: float | None
    alpha: float

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
    pooled = np.concatenate([first, second])
    if np.ptp(pooled) == 0:
        return 1.0, "exact"
    if first.size * second.size > _MAX_EXACT:
        return float(mannwhitneyu(first, second, method="asymptotic").pvalue), "normal"
    ranks = (2 * rankdata(pooled)).astype(np.int64)  # doubled, so that tied ranks are integers
    # ways[k, s]: number of sets of k results with the rank sum s
    ways = np.zeros((first.size + 1, int(np.sort(ranks)[-first.size :].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank]
    fraction = ways[-1] / ways[-1].sum()
    found = int(ranks[: first.size].sum())
    tails = float(fraction[: found + 1].sum()), float(fraction[found:].sum())
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
    control : str, optional
        The algorithm to compare with every other; by default, without `pairs`, the one with the best mean.
    pairs : sequence of (str, str), optional
        Pairs to compare instead, the first against the second.
    lower_is_better : bool
        Whether lower results are better, as for errors and sizes, or higher ones, as for accuracies.
    margin : float, optional
        Means that differ by less than this fraction of the first are practically equal. By default 0.05, and 0.01 if
        higher is better. You should decide what difference matters; the default is our choice.
    alpha : float
        Significance level; intervals have a confidence of 1 - alpha.
    seed : int
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
    fraction = (MARGIN if lower_is_better else ACCURACY_MARGIN) if margin is None else margin
    alpha = checked_alpha(alpha)
    if not isinstance(fraction, int | float | np.number) or not 0 <= fraction < np.inf:
        raise PqswarmError(f"margin must be a fraction of the mean, such as 0.05, not {margin!r}.")
    if len(checked) < 2:
        raise PqswarmError("samples must hold the runs of at least two algorithms.")
    pairs = choose_pairs(checked, control, pairs, lower_is_better)
    alone = [_compare_unpaired(checked, pair, lower_is_better, float(fraction), alpha, seed) for pair in pairs]
    adjusted = hommel([comparison.p_value for comparison in alone]).tolist()
    equal = hommel([1.0 if c.p_equivalence is None else c.p_equivalence for c in alone]).tolist()
    return [
        replace(c, p_hommel=p, p_equivalence=None if c.p_equivalence is None else q)
        for c, p, q in zip(alone, adjusted, equal, strict=True)
    ]


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
            if name not in values:
                raise unknown_name("algorithm", name, values)
        if one == other:
            raise PqswarmError(f"a pair must hold two algorithms, not {one!r} twice.")
    return list(pairs)


def _compare_unpaired(
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
        n_runs=x.size,
        n_runs_against=y.size,
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
