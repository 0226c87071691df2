"""Comparisons of algorithms over several data sets: one data set is one observation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_number
from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.statistics._checks import checked_alpha, checked_sample
from pqswarm.statistics.intervals import Interval
from pqswarm.statistics.ranks import hommel
from pqswarm.statistics.unpaired import ACCURACY_MARGIN, MARGIN, Conclusion, choose_pairs

_DRAWS = 50_000  # of the posterior
_PRIOR = 0.5  # weight of the pseudo-observation at zero, where an observed data set has 1
_RESAMPLES = 9999
_ROUNDING = 1e-9  # relative difference that may be due to rounding: means of counts of errors are rarely this close
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


@dataclass(frozen=True)
class PairedComparison:
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

    algorithm: str
    against: str
    n_datasets: int
    wins: int
    ties: int
    losses: int
    lead: float
    p_value: float
    p_hommel: float
    posterior: SignedRankPosterior
    mean: float
    mean_against: float
    difference: Interval
    alpha: float

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
    found: FloatArray = first - second
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    return np.where(np.abs(found) <= _ROUNDING * scale, 0.0, found)


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
    from scipy.stats import rankdata

    found = _paired_differences(x, y)
    found = found[found != 0]
    if not found.size:
        return 1.0
    scale = float(np.abs(found).max())
    ranks = (2 * rankdata(np.round(np.abs(found) / scale, 9))).astype(np.int64)  # doubled: tied ranks are integers
    ways = np.zeros(int(ranks.sum()) + 1)  # ways[s]: share of the assignments of signs whose positive ranks sum to s
    ways[0] = 1.0
    for rank in ranks:
        moved = np.zeros_like(ways)
        moved[rank:] = ways[:-rank]
        ways = (ways + moved) / 2
    positive = int(ranks[found > 0].sum())
    return min(1.0, 2 * min(float(ways[: positive + 1].sum()), float(ways[positive:].sum())))


def _paired_rank_lead(gains: FloatArray) -> float:
    """The share of the ranks of positive gains minus that of negative ones."""
    from scipy.stats import rankdata

    gains = gains[gains != 0]
    if not gains.size:
        return 0.0
    ranks = rankdata(np.round(np.abs(gains) / np.abs(gains).max(), 9))
    return float((ranks * np.sign(gains)).sum() / ranks.sum())


def bayesian_signed_rank(
    x: ArrayLike, y: ArrayLike, margin: float, *, lower_is_better: bool = True, seed: int = 0
) -> SignedRankPosterior:
    """Return how probable it is that one algorithm is better than another, or that both are practically equal.

    Benavoli's test: the data sets are a sample of a Dirichlet process with a pseudo-observation of strength 0.5 at
    zero. For each of 50,000 draws of the weights, the region (better, equal, worse) to which most of the weight of all
    pairs of data sets belongs wins; the probabilities are the shares of the draws that each region wins. See
    A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis", Journal of Machine Learning Research 18 (2017) 1-36.
    """
    check_number("margin", margin, 0, unit="in the unit of the values")
    found = np.concatenate([[0.0], _paired_differences(x, y)]) * (
        -1.0 if lower_is_better else 1.0
    )  # positive: x is better
    order = np.argsort(found, kind="stable")
    values = found[order]
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
    control : str, optional
        The algorithm to compare with every other; by default, without `pairs`, the one with the best mean.
    pairs : sequence of (str, str), optional
        Pairs to compare instead, the first against the second.
    lower_is_better : bool
        Whether lower results are better, as for errors and sizes, or higher ones, as for accuracies.
    margin : float, optional
        Means that differ by less than this fraction of the first are practically equal. By default 0.05, and 0.01 if
        higher is better: our choice.
    alpha : float
        Significance level; intervals have a confidence of 1 - alpha.
    seed : int
        Seed of the bootstrap and of the posterior draws.

    Returns
    -------
    list of PairedComparison
        One per other algorithm, the control first in each; or one per pair.

    Examples
    --------
    >>> errors = {"2D-UPSO": [[0.07, 0.08], [0.06], [0.05], [0.07], [0.08], [0.06]],
    ...           "GA": [[0.13, 0.14], [0.12], [0.15], [0.13], [0.14], [0.12]]}
    >>> (found,) = compare_datasets(errors, control="2D-UPSO")
    >>> found.wins, found.p_value, found.conclusion
    (6, 0.03125, 'better')
    """
    alpha = checked_alpha(alpha)
    fraction = (MARGIN if lower_is_better else ACCURACY_MARGIN) if margin is None else margin
    check_number("margin", fraction, 0, unit="as a fraction of the mean")
    means = {
        name: np.array([checked_sample(f"samples of {name!r}", one).mean() for one in each])
        for name, each in samples.items()
    }
    if len(means) < 2 or len({each.size for each in means.values()}) > 1:
        raise PqswarmError("samples must hold at least two algorithms, each with runs on the same data sets.")
    pairs = choose_pairs(means, control, pairs, lower_is_better)
    found = []
    for one, other in pairs:
        differences = _paired_differences(means[one], means[other]) * (1 if lower_is_better else -1)
        width = fraction * abs(float(means[one].mean()))
        p = wilcoxon_signed_rank(means[one], means[other])
        found.append(
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
    adjusted = hommel([comparison.p_value for comparison in found]).tolist()
    return [replace(comparison, p_hommel=p) for comparison, p in zip(found, adjusted, strict=True)]
