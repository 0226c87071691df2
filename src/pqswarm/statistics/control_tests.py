"""Post hoc tests after Friedman's: which algorithms differ significantly from a control."""

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.statistics._checks import checked_alpha, frozen
from pqswarm.statistics.ranks import FriedmanResult


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
    try:
        p = np.array(p_values, dtype=np.float64)
    except (TypeError, ValueError):
        raise PqswarmError("p_values must be a list of numbers.") from None
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
    control : str, optional
        Name of the algorithm to compare with; by default the one with the lowest mean rank.
    alpha : float
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
    if name not in result.names:
        raise unknown_name("algorithm", name, result.names)
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
