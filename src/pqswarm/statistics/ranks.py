"""Friedman's test, whether algorithms differ in mean rank, the tests after it, and estimates of the differences."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import erfc, inf, sqrt
from typing import Any

import numpy as np

from pqswarm._base.checks import check_integer, check_name
from pqswarm._base.text import count_text
from pqswarm._base.typing import ArrayLike, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.statistics._checks import (
    ROUNDING,
    checked_alpha,
    checked_names,
    checked_table,
    frozen,
    number_array,
    rounded_groups,
)


@dataclass(frozen=True, eq=False)
class FriedmanResult:
    """Ranks of the algorithms and Friedman's test.

    Attributes
    ----------
    names : tuple of str
        Names of the algorithms.
    rank_sums : ndarray of shape (n_algorithms,)
        Sum of each algorithm's ranks; rank 1 is the best of a block, ties share their mean rank.
    n_blocks : int
        Number of blocks: runs or data sets.
    chi2, p_value : float
        The statistic without correction for ties, as in the paper, and its p-value.
    chi2_corrected, p_value_corrected : float or None
        The statistic corrected for ties and its p-value; None if only rank sums are known. If all values of every block
        are equal, they are 0 and 1.
    rounding : float
        By how much each rank sum may differ from the true one, as it was printed with few digits; 0 if it is exact.
    """

    names: tuple[str, ...]
    rank_sums: FloatArray
    n_blocks: int
    chi2: float
    p_value: float
    chi2_corrected: float | None = None
    p_value_corrected: float | None = None
    rounding: float = 0.0

    @property
    def mean_ranks(self) -> FloatArray:
        """Mean rank of each algorithm."""
        return self.rank_sums / self.n_blocks

    @property
    def degrees_of_freedom(self) -> int:
        """One less than the number of algorithms."""
        return len(self.names) - 1

    @property
    def best(self) -> str:
        """Name of the algorithm with the lowest mean rank; of equals the first."""
        return self.names[int(self.rank_sums.argmin())]

    @property
    def chi2_range(self) -> tuple[float, float]:
        """The lowest and the highest statistic, uncorrected, that the rounding of the ranks allows."""
        n = self.n_blocks
        k = len(self.names)
        lower = (
            np.sort(self.rank_sums - n * (k + 1) / 2)[::-1] - self.rounding
        )  # deviations from the mean, which sum to 0
        upper = lower + 2 * self.rounding
        levels = np.sort(np.concatenate([lower, upper]))
        level = np.interp(0.0, [np.clip(one, lower, upper).sum() for one in levels], levels)
        least = np.clip(level, lower, upper)
        most = lower + np.clip(-lower.sum() - 2 * self.rounding * np.arange(k), 0.0, 2 * self.rounding)
        ends = [12 * float(np.square(each).sum()) / (n * k * (k + 1)) for each in (least, most)]
        return ends[0], min(ends[1], float(n * (k - 1)))

    def iman_davenport(self) -> tuple[float, int, int, float]:
        """Return Iman and Davenport's F, which is less conservative than chi-square, its degrees of freedom, and p.

        It uses the statistic corrected for ties, if it is known. If every block ranks the algorithms alike, F is
        infinite and p is 0.

        Examples
        --------
        >>> result = friedman([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
        >>> [round(value, 3) for value in result.iman_davenport()]
        [3.857, 2, 6, 0.084]
        """
        from scipy.special import fdtrc

        first = self.degrees_of_freedom
        second = first * (self.n_blocks - 1)
        statistic = self._iman_davenport_statistic(self.chi2 if self.chi2_corrected is None else self.chi2_corrected)
        return statistic, first, second, float(fdtrc(first, second, statistic))

    def _iman_davenport_statistic(self, chi2: float) -> float:
        most = self.n_blocks * self.degrees_of_freedom
        rest = most - chi2
        return (self.n_blocks - 1) * chi2 / rest if rest > 1e-9 * most else inf

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per algorithm: its name, mean rank and sum of ranks."""
        ranks = zip(self.names, self.mean_ranks.tolist(), self.rank_sums.tolist(), strict=True)
        return [{"algorithm": name, "mean_rank": mean, "rank_sum": total} for name, mean, total in ranks]

    def tests(self) -> list[dict[str, Any]]:
        """Return one row per form of the test: uncorrected, corrected for ties, and by Iman and Davenport.

        If ranks were rounded, it has the lowest and the highest statistic that the rounding allows.
        """
        statistic, first, second, p = self.iman_davenport()
        forms: list[tuple[str, float, int | None, float]] = [("plain", self.chi2, None, self.p_value)]
        if self.chi2_corrected is not None and self.p_value_corrected is not None:
            forms.append(("corrected for ties", self.chi2_corrected, None, self.p_value_corrected))
        forms.append(("Iman-Davenport", statistic, second, p))
        rows: list[dict[str, Any]] = []
        for form, value, other, p in forms:
            row: dict[str, Any] = {"form": form, "statistic": value}
            if self.rounding:
                lower, upper = (
                    self.chi2_range if other is None else map(self._iman_davenport_statistic, self.chi2_range)
                )
                row |= {"statistic_lower": lower, "statistic_upper": upper}
            rows.append(row | {"degrees_of_freedom": first, "denominator_degrees": other, "p_value": p})
        return rows


def friedman(values: ArrayLike, *, names: Iterable[str] | None = None, lower_is_better: bool = True) -> FriedmanResult:
    r"""Rank the algorithms in each block and test whether their mean ranks differ.

    With N blocks, k algorithms and mean ranks :math:`R_j`,
    :math:`\chi^2 = \frac{12 N}{k (k + 1)} \left(\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\right)` approximately
    follows a chi-square distribution with k - 1 degrees of freedom. This is the statistic of the paper. With ties it is
    slightly too small; the corrected statistic, also given, is that of `scipy.stats.friedmanchisquare`.

    Parameters
    ----------
    values : array_like of shape (n_blocks, n_algorithms)
        One row per run or data set, one column per algorithm.
    names : iterable of str, default=None
        Names of the algorithms; by default the columns of a data frame.
    lower_is_better : bool, default=True
        Whether rank 1 is the lowest value, as for errors, or the highest, as for accuracies.

    Returns
    -------
    FriedmanResult
        Ranks, statistics and p-values.

    References
    ----------
    .. [1] J. Derrac, S. Garcia, D. Molina, F. Herrera, "A practical tutorial on the use of nonparametric
       statistical tests", Swarm and Evolutionary Computation 1 (2011) 3-18, doi:10.1016/j.swevo.2011.02.002

    Examples
    --------
    >>> errors = [[0.10, 0.20, 0.30], [0.10, 0.30, 0.20], [0.20, 0.25, 0.40], [0.10, 0.10, 0.30]]
    >>> result = friedman(errors, names=["2D-UPSO", "BPSO", "GA"])
    >>> result.mean_ranks.tolist()
    [1.125, 2.125, 2.75]
    >>> round(result.chi2, 3), round(result.chi2_corrected, 3), round(result.p_value, 3)
    (5.375, 5.733, 0.068)
    """
    from scipy.special import chdtrc
    from scipy.stats import rankdata

    array, checked = checked_table(values, names)
    ranks = rankdata(rounded_groups(array if lower_is_better else -array), axis=1)
    n_blocks, k = ranks.shape
    sums = ranks.sum(axis=0)
    between = float(np.square(sums - n_blocks * (k + 1) / 2).sum())
    within = float(np.square(ranks - (k + 1) / 2).sum())  # without ties n_blocks k (k + 1) (k - 1) / 12
    corrected = (k - 1) * between / within if within else 0.0
    plain = 12 * between / (n_blocks * k * (k + 1))
    return FriedmanResult(
        names=checked,
        rank_sums=frozen(sums),
        n_blocks=n_blocks,
        chi2=plain,
        p_value=float(chdtrc(k - 1, plain)),
        chi2_corrected=corrected,
        p_value_corrected=float(chdtrc(k - 1, corrected)),
    )


def friedman_from_ranks(
    ranks: ArrayLike, n_blocks: int, *, names: Iterable[str] | None = None, decimals: int | None = None
) -> FriedmanResult:
    """Apply Friedman's test to published ranks.

    Mean ranks are usually printed with one or two digits. Then :attr:`FriedmanResult.chi2_range` holds the statistics
    that the printed digits allow. Ranks that no rounding explains are refused.

    Parameters
    ----------
    ranks : array_like of shape (n_algorithms,)
        Mean ranks, as printed, or sums of ranks.
    n_blocks : int
        Number of blocks.
    names : iterable of str, default=None
        Names of the algorithms.
    decimals : int, default=None
        Digits after the point with which the ranks are printed; by default the most that any of them has.

    Returns
    -------
    FriedmanResult
        As from :func:`friedman`, but without the correction for ties, which needs all ranks. If printed ranks do not
        add up, each is corrected by the same amount in the statistic.

    Examples
    --------
    The error of 40 runs with k-NN in the paper, which states 182.66:

    >>> result = friedman_from_ranks([5.9, 5.2, 2.3, 2.4, 4.0, 1.3], n_blocks=40)
    >>> [round(end, 1) for end in result.chi2_range]
    [179.6, 196.7]
    """
    from scipy.special import chdtrc

    n_blocks = check_integer("n_blocks", n_blocks, 2)
    given = number_array(ranks, f"ranks must be numbers, one per algorithm, not {ranks!r}.")
    if given.ndim != 1 or given.size < 2 or not np.isfinite(given).all():
        raise PqswarmError("ranks must be at least two finite numbers, one per algorithm.")
    k = given.size
    expected = k * (k + 1) / 2
    are_sums = given.sum() > expected * (n_blocks + 1) / 2
    if decimals is None:
        decimals = max(len(np.format_float_positional(one, trim="-").partition(".")[2]) for one in given.tolist())
    unit = 0.5 * 10.0**-decimals
    scale = 1 if are_sums else n_blocks
    sums = scale * given
    missing = abs(float(sums.sum()) - n_blocks * expected)
    rounding = 0.0 if are_sums and missing < ROUNDING * n_blocks * expected else scale * unit
    tolerance = rounding * (1 + ROUNDING) + ROUNDING * n_blocks
    if missing > k * tolerance:
        raise PqswarmError(
            f"mean ranks of {k} algorithms must add up to {expected:g}, and rank sums over {n_blocks} blocks to "
            f"{n_blocks * expected:g}, but these add up to {given.sum():g}: rounding to "
            f"{count_text(decimals, 'decimal')} explains a difference of at most {k * unit:g}. "
            f"Check the numbers of ranks and blocks."
        )
    if sums.min() < n_blocks - tolerance or sums.max() > n_blocks * k + tolerance:
        raise PqswarmError(
            f"mean ranks of {k} algorithms must lie between 1 and {k}, and rank sums over {n_blocks} blocks between "
            f"{n_blocks} and {n_blocks * k}."
        )
    chi2 = 12 * float(np.square(sums - sums.mean()).sum()) / (n_blocks * k * (k + 1))
    p = float(chdtrc(k - 1, chi2))
    return FriedmanResult(checked_names(names, k), frozen(sums), n_blocks, chi2, p, rounding=rounding)


def critical_difference(n_treatments: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Return the smallest significant difference of two mean ranks, by the Nemenyi test.

    Parameters
    ----------
    n_treatments, n_blocks : int
        Number of algorithms, all pairs of which are compared; number of blocks.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    float
        Difference of mean ranks.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7 (2006) 1-30

    Examples
    --------
    >>> round(critical_difference(6, 40), 3)
    1.192
    """
    from scipy.stats import studentized_range

    k = check_integer("n_treatments", n_treatments, 2)
    n = check_integer("n_blocks", n_blocks, 2)
    quantile = float(studentized_range.isf(checked_alpha(alpha), k, np.inf))
    return quantile * float(np.sqrt(k * (k + 1) / (12 * n)))


@dataclass(frozen=True, eq=False)
class PosthocResult:
    """Comparisons of each algorithm with a control.

    Attributes
    ----------
    control : str
        Name of the control.
    names : tuple of str
        Names of the other algorithms.
    differences : ndarray of shape (n_others,)
        Mean rank minus that of the control; positive if the control is better.
    z : ndarray of shape (n_others,)
        Test statistic: the absolute difference in standard errors.
    p_values, p_hommel : ndarray of shape (n_others,)
        Two-sided p-values, unadjusted; Hommel-adjusted p-values: at most `alpha`, the difference is significant.
    alpha_over_i : ndarray of shape (n_others,)
        The column that the paper calls "APV". It holds limits for the unadjusted p-values, not p-values: `alpha` / i,
        where i = 1 for the largest p-value, 2 for the next, and so on; equal ones share the largest i among them.
    alpha : float
        Significance level.
    """

    control: str
    names: tuple[str, ...]
    differences: FloatArray
    z: FloatArray
    p_values: FloatArray
    p_hommel: FloatArray
    alpha_over_i: FloatArray
    alpha: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per comparison; `significant` refers to the adjusted p-value."""
        significant = self.p_hommel <= self.alpha
        arrays = (self.differences, self.z, self.p_values, self.p_hommel, significant, self.alpha_over_i)
        columns = (self.names, *(array.tolist() for array in arrays))
        keys = ("algorithm", "rank_difference", "z", "p_value", "p_hommel", "significant", "alpha_over_i")
        return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def hommel(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Hommel's procedure.

    The adjusted value of a hypothesis is the maximum Simes p-value, min over r of (m p_(r) / r), over all sets of m
    hypotheses that contain it. For each size m only one set matters: the hypothesis and the m - 1 largest others.

    Parameters
    ----------
    p_values : array_like of shape (n,)
        Unadjusted p-values.

    Returns
    -------
    ndarray of shape (n,)
        Adjusted p-values, in the same order.

    References
    ----------
    .. [1] G. Hommel, "A stagewise rejective multiple test procedure based on a modified Bonferroni test",
       Biometrika 75 (1988) 383-386, doi:10.1093/biomet/75.2.383

    Examples
    --------
    >>> hommel([0.01, 0.02, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.045, 0.06, 0.5]
    """
    p = number_array(p_values, "p_values must be a list of numbers.")
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise PqswarmError("p_values must be a list of numbers from 0 to 1.")
    order = np.argsort(p, kind="stable")
    ascending = p[order]
    worst = ascending.copy()
    for size in range(2, p.size + 1):
        # If the hypothesis is itself among the others this is not a set, but then the smaller set considered before has
        # at least as large a p-value.
        of_others = (size * ascending[p.size - size + 1 :] / np.arange(2, size + 1)).min()
        worst = np.maximum(worst, np.minimum(size * ascending, of_others))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(worst, 1.0)
    return adjusted


def posthoc(result: FriedmanResult, control: str | None = None, *, alpha: float = 0.05) -> PosthocResult:
    r"""Compare each algorithm with the best one, or with a given control.

    With N blocks, k algorithms and mean ranks :math:`R_i`, :math:`z_i = |R_0 - R_i| / \sqrt{k (k + 1) / (6 N)}` is
    approximately normal.

    Parameters
    ----------
    result : FriedmanResult
        Ranks.
    control : str, default=None
        Name of the algorithm to compare with; by default the one with the lowest mean rank.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    PosthocResult
        One comparison per other algorithm.

    Examples
    --------
    >>> from pqswarm.statistics import friedman_from_ranks
    >>> ranks = friedman_from_ranks([92.5, 95.5, 52], n_blocks=40, names=["BPSO", "catfish", "2D-UPSO"])
    >>> comparison = posthoc(ranks)
    >>> comparison.control, comparison.z.round(2).tolist()
    ('2D-UPSO', [4.53, 4.86])
    """
    alpha = checked_alpha(alpha)
    name = result.best if control is None else control
    check_name("algorithm", name, result.names)
    k = len(result.names)
    chosen = result.names.index(name)
    others = [index for index in range(k) if index != chosen]
    differences = (result.rank_sums[others] - result.rank_sums[chosen]) / result.n_blocks
    z = np.abs(differences) / sqrt(k * (k + 1) / (6 * result.n_blocks))
    p = np.array([erfc(value / sqrt(2)) for value in z.tolist()])
    place = (z[:, np.newaxis] >= z).sum(axis=1)  # by z: p may be 0 for several
    return PosthocResult(
        control=name,
        names=tuple(result.names[index] for index in others),
        differences=frozen(differences),
        z=frozen(z),
        p_values=frozen(p),
        p_hommel=frozen(hommel(p)),
        alpha_over_i=frozen(alpha / place),
        alpha=alpha,
    )


@dataclass(frozen=True, eq=False)
class ContrastResult:
    """Estimated differences between all pairs of algorithms.

    Attributes
    ----------
    names : tuple of str
        Names of the algorithms.
    matrix : ndarray of shape (n_algorithms, n_algorithms)
        Value of the row's algorithm minus that of the column's, in the unit of the values; antisymmetric.
    """

    names: tuple[str, ...]
    matrix: FloatArray

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per algorithm, with a column `vs NAME` for each."""
        keys = [f"vs {name}" for name in self.names]
        lines = zip(self.names, self.matrix.tolist(), strict=True)
        return [{"algorithm": name, **dict(zip(keys, line, strict=True))} for name, line in lines]


def contrast_estimation(values: ArrayLike, names: Iterable[str] | None = None) -> ContrastResult:
    """Estimate the differences between algorithms from medians over data sets.

    With :math:`Z_{uv}` the median over the data sets of the difference between algorithms u and v, and
    :math:`m_u` the mean of :math:`Z_{uv}` over all v (including u), the contrast is :math:`m_u - m_v`. It needs few
    data sets and is robust to an outlier among them.

    Parameters
    ----------
    values : array_like of shape (n_datasets, n_algorithms)
        One row per data set, one column per algorithm.
    names : iterable of str, default=None
        Names of the algorithms; by default the columns of a data frame.

    Returns
    -------
    ContrastResult
        A positive contrast means that the row's values are larger: better for accuracies, worse for errors.

    References
    ----------
    .. [1] S. Garcia, A. Fernandez, J. Luengo, F. Herrera, "Advanced nonparametric tests for multiple comparisons",
       Information Sciences 180 (2010) 2044-2064, doi:10.1016/j.ins.2009.12.010

    Examples
    --------
    >>> accuracies = [[98.4, 99.5, 99.7], [96.8, 97.8, 98.9], [96.0, 97.5, 98.8]]
    >>> contrast_estimation(accuracies, names=["GA", "BPSO", "2D-UPSO"]).matrix.round(2).tolist()
    [[0.0, -1.07, -2.13], [1.07, 0.0, -1.07], [2.13, 1.07, 0.0]]
    """
    array, checked = checked_table(values, names)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.array([np.median(array[:, [u]] - array, axis=0).mean() for u in range(array.shape[1])])
        matrix = mean[:, np.newaxis] - mean
        matrix[np.abs(matrix) < 1e-12 * np.abs(array).max()] = 0.0  # equal but for rounding: neither is ahead
    if not np.isfinite(matrix).all():
        raise PqswarmError("values are too large to be subtracted: change their unit.")
    return ContrastResult(checked, frozen(matrix))
