"""What a study of several data sets would find: variance between data sets and between runs, and power."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.checks import check_integer
from pqswarm._base.typing import ArrayLike
from pqswarm.errors import PqswarmError
from pqswarm.statistics._checks import checked_alpha, checked_sample

_STEPS = 4000  # of the integral
_SURE = 0.8  # the power at which a difference counts as detectable


@dataclass(frozen=True)
class Variances:
    """How much the difference of two algorithms varies.

    Attributes
    ----------
    between : float
        Standard deviation of the true difference from one data set to the next.
    within : float
        Standard deviation of the runs of one algorithm on one data set.
    """

    between: float
    within: float

    def standard_deviation(self, n_runs: int) -> float:
        """Return the standard deviation of the difference on one data set, of means over some runs of each."""
        return float(np.sqrt(self.between**2 + 2 * self.within**2 / n_runs))


def measure_variances(x: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> Variances:
    """Measure the variances of the difference of two algorithms in a pilot study.

    Parameters
    ----------
    x, y : sequence of array_like
        For each data set, the results of the runs of both algorithms; on some data set several runs.

    Returns
    -------
    Variances
        By the method of moments: what the runs explain is taken off the variance of the differences.

    Examples
    --------
    >>> found = measure_variances([[1.0, 1.2], [2.0, 2.2], [3.0, 3.2]], [[1.1, 1.3], [2.5, 2.7], [3.0, 3.2]])
    >>> round(found.between, 2), round(found.within, 2)
    (0.22, 0.14)
    """
    if len(x) != len(y) or len(x) < 2:
        raise PqswarmError("x and y must hold the runs of both algorithms on the same data sets, at least two.")
    pairs = [(checked_sample("x", one), checked_sample("y", other)) for one, other in zip(x, y, strict=True)]
    noise = [[float(each.var(ddof=1)) if each.size > 1 else 0.0 for each in pair] for pair in pairs]
    of_means = [
        sum(v / each.size for v, each in zip(own, pair, strict=True)) for own, pair in zip(noise, pairs, strict=True)
    ]
    differences = np.array([one.mean() - other.mean() for one, other in pairs])
    repeated = [
        v for own, pair in zip(noise, pairs, strict=True) for v, each in zip(own, pair, strict=True) if each.size > 1
    ]
    if not repeated:
        raise PqswarmError("single runs leave the variance between runs unknown: give several runs on a data set.")
    between = max(0.0, float(differences.var(ddof=1)) - float(np.mean(of_means)))
    return Variances(float(np.sqrt(between)), float(np.sqrt(np.mean(repeated))))


def detection_power(
    difference: float, variances: Variances, n_datasets: int, n_runs: int, *, alpha: float = 0.05
) -> float:
    """Return the probability that a study finds a difference: that of a paired t test over the data sets.

    The Wilcoxon test has nearly the same power, but finds nothing at the 5 % level with fewer than six data sets.

    Parameters
    ----------
    difference : float
        True mean difference of the two algorithms.
    variances : Variances
        Between data sets and between runs, in the same unit.
    n_datasets, n_runs : int
        Number of data sets, and of runs of each algorithm on each.
    alpha : float, default=0.05
        Significance level, two-sided.

    Returns
    -------
    float
        Power, 0 to 1.

    Examples
    --------
    >>> variances = Variances(between=0.4, within=0.3)
    >>> [round(detection_power(0.5, variances, k, 5), 2) for k in (3, 6, 12)]
    [0.21, 0.6, 0.94]
    """
    from scipy.special import chdtri, ndtr, stdtrit

    n = check_integer("n_datasets", n_datasets, 2)
    spread = variances.standard_deviation(check_integer("n_runs", n_runs, 1))
    if spread == 0:
        return 1.0 if difference else checked_alpha(alpha)
    limit = float(stdtrit(n - 1, 1 - checked_alpha(alpha) / 2))
    shift = abs(difference) * n**0.5 / spread
    # Over the distribution of the estimated deviation; SciPy's noncentral t is not a number for large shifts.
    deviations = np.sqrt(chdtri(n - 1, 1 - (np.arange(_STEPS) + 0.5) / _STEPS) / (n - 1))
    return float(np.mean(ndtr(shift - limit * deviations) + ndtr(-shift - limit * deviations)))


def detectable_difference(variances: Variances, n_datasets: int, n_runs: int, *, alpha: float = 0.05) -> float:
    """Return the smallest difference that a study finds with a power of 80 %.

    Parameters
    ----------
    variances : Variances
        Between data sets and between runs.
    n_datasets, n_runs : int
        Number of data sets, and of runs of each algorithm on each.
    alpha : float, default=0.05
        Significance level, two-sided.

    Returns
    -------
    float
        Difference, in the unit of the variances.

    Examples
    --------
    >>> round(detectable_difference(Variances(0.4, 0.3), 12, 5), 3)
    0.393
    """
    from scipy.optimize import brentq

    spread = variances.standard_deviation(check_integer("n_runs", n_runs, 1))
    if spread == 0:
        return 0.0
    return float(
        brentq(
            lambda d: detection_power(d, variances, n_datasets, n_runs, alpha=alpha) - _SURE,
            0.0,
            40.0 * spread,
            xtol=1e-9 * spread,
        )
    )
