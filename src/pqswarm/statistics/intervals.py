"""Confidence intervals of a mean, a difference of means and a probability of superiority."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import ArrayLike, FloatArray
from pqswarm.statistics._checks import checked_alpha, checked_sample, rounded_groups

MIN_RUNS = 5
"""With fewer values a bootstrap or an estimated variance is meaningless, and none is given."""

_RESAMPLES = 9999


@dataclass(frozen=True)
class Interval:
    """An estimate and its confidence interval.

    Attributes
    ----------
    estimate : float
        The estimate, in the unit of the values, or a probability.
    lower, upper : float or None
        Ends of the interval; None if there are too few values.
    alpha : float
        One minus the confidence level.
    """

    estimate: float
    lower: float | None
    upper: float | None
    alpha: float

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    def row(self, name: str) -> dict[str, float | None]:
        """Return the columns of a table: the name, and the name with ``_lower`` and ``_upper``."""
        return {name: self.estimate, f"{name}_lower": self.lower, f"{name}_upper": self.upper}


class Spread(NamedTuple):
    """Means and the ends of their confidence intervals, NaN for a single set."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def t_interval(values: FloatArray) -> Spread:
    """Return the mean along the first axis, and its 95 % Student's t interval."""
    from scipy.stats import t

    n = len(values)
    mean = values.mean(axis=0)
    half = t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full_like(mean, np.nan)
    return Spread(mean, mean - half, mean + half)


def bootstrap_mean(values: ArrayLike, *, alpha: float = 0.05, seed: int = 0) -> Interval:
    """Estimate a mean with a bootstrap interval.

    The values are resampled 9999 times; the interval is bias-corrected and accelerated (BCa). It assumes no
    distribution, needs at least 5 values, and is slightly too narrow for fewer than about 20.

    Parameters
    ----------
    values : array_like of shape (n_runs,)
        Results of independent runs of one algorithm.
    alpha : float, default=0.05
        One minus the confidence level.
    seed : int, default=0
        Seed of the resampling.

    Returns
    -------
    Interval
        Mean and interval, in the unit of the values.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987)
       171-185, doi:10.1080/01621459.1987.10478410

    Examples
    --------
    >>> mean = bootstrap_mean([0.071, 0.074, 0.069, 0.080, 0.075, 0.072])
    >>> round(mean.estimate, 4), round(mean.lower, 4), round(mean.upper, 4)
    (0.0735, 0.0712, 0.0768)
    """
    return _bootstrap_interval(lambda x, axis: x.mean(axis), (checked_sample("values", values),), alpha, seed)


def bootstrap_difference(x: ArrayLike, y: ArrayLike, *, alpha: float = 0.05, seed: int = 0) -> Interval:
    """Estimate the difference of the means of two algorithms with a bootstrap interval.

    The runs of each algorithm are resampled independently, since they are not paired; otherwise as
    :func:`bootstrap_mean`.

    Parameters
    ----------
    x, y : array_like of shape (n_runs,)
        Results of independent runs; the numbers of runs may differ.
    alpha : float, default=0.05
        One minus the confidence level.
    seed : int, default=0
        Seed of the resampling.

    Returns
    -------
    Interval
        Mean of `x` minus that of `y`, and interval.

    Examples
    --------
    >>> difference = bootstrap_difference([10, 12, 11, 13, 10], [20, 23, 22, 20, 21])
    >>> round(difference.estimate, 2), round(difference.lower, 1), round(difference.upper, 1)
    (-10.0, -11.4, -8.6)
    """
    samples = checked_sample("x", x), checked_sample("y", y)
    return _bootstrap_interval(lambda x, y, axis: x.mean(axis) - y.mean(axis), samples, alpha, seed)


def _bootstrap_interval(
    statistic: Callable[..., Any], samples: tuple[FloatArray, ...], alpha: float, seed: int
) -> Interval:
    """A statistic with its BCa interval, which is a point if the samples do not vary.

    Samples are sorted and statistics rounded: the same results in another order, or read back from a file, have the
    same interval, although many resamples have equal statistics up to rounding.
    """
    from scipy.stats import bootstrap

    alpha = checked_alpha(alpha)
    generator = stream(checked_seed(seed), ())
    samples = tuple(np.sort(sample) for sample in samples)
    digits = 9 - int(np.ceil(np.log10(max(float(np.abs(sample).max()) for sample in samples) or 1.0)))

    def rounded(*resampled: FloatArray, axis: int) -> Any:
        return np.round(statistic(*resampled, axis=axis), digits)

    estimate = float(rounded(*samples, axis=-1))
    if min(sample.size for sample in samples) < MIN_RUNS:
        return Interval(estimate, None, None, alpha)
    if all(np.ptp(sample) == 0 for sample in samples):
        return Interval(estimate, estimate, estimate, alpha)
    options: Any = {"n_resamples": _RESAMPLES, "confidence_level": 1 - alpha, "vectorized": True, "method": "BCa"}
    ends = bootstrap(samples, rounded, random_state=generator, **options).confidence_interval
    return Interval(estimate, float(ends.low), float(ends.high), alpha)


def superiority(x: ArrayLike, y: ArrayLike, *, lower_is_better: bool = True, alpha: float = 0.05) -> Interval:
    r"""Estimate the probability that a run of one algorithm is better than a run of another.

    :math:`\theta = P(X < Y) + \tfrac{1}{2} P(X = Y)` is the fraction of pairs of runs that the first algorithm wins,
    counting ties as half: U / (m n) of Mann and Whitney. At 1/2 neither is ahead. The interval is
    method 5 of Newcombe [1]_: all :math:`\theta` with :math:`(\hat\theta - \theta)^2 \le z^2 V(\theta)` and
    :math:`V = \frac{\theta (1 - \theta)}{m n} \left[1 + N \left(\frac{1 - \theta}{2 - \theta} +
    \frac{\theta}{1 + \theta}\right)\right]`, N = (m + n) / 2 - 1. It stays within 0 and 1 and has a positive length
    even if every run of one algorithm beats every run of the other.

    Parameters
    ----------
    x, y : array_like of shape (n_runs,)
        Results of independent runs; the numbers of runs may differ.
    lower_is_better : bool, default=True
        Whether the lower value wins, as with errors, or the higher.
    alpha : float, default=0.05
        One minus the confidence level.

    Returns
    -------
    Interval
        Probability that a run of `x` is better, and interval.

    References
    ----------
    .. [1] R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part
       2: asymptotic methods and evaluation", Statistics in Medicine 25 (2006) 559-573, doi:10.1002/sim.2324

    Examples
    --------
    >>> better = superiority([1, 2, 3, 4], [3, 5, 6, 7])
    >>> better.estimate, round(better.lower, 2), round(better.upper, 2)
    (0.90625, 0.48, 0.99)
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    alpha = checked_alpha(alpha)
    first, second = checked_sample("x", x), checked_sample("y", y)
    m = first.size
    n = second.size
    z = float(ndtri(1 - alpha / 2))
    places = rounded_groups(np.concatenate([first, second]))
    signs = np.sign(places[m:] - places[:m, np.newaxis]) * (1 if lower_is_better else -1)
    fraction = float((signs.mean() + 1) / 2)

    def outside(theta: float) -> float:
        spread = 1 + ((m + n) / 2 - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return (fraction - theta) ** 2 - z**2 * theta * (1 - theta) / (m * n) * spread

    tiny = 1e-12  # at 0 and 1 the variance vanishes: the end is 0 or 1
    lower = 0.0 if fraction <= tiny else float(brentq(outside, 0.0, min(fraction, 1 - tiny)))
    upper = 1.0 if fraction >= 1 - tiny else float(brentq(outside, max(fraction, tiny), 1.0))
    return Interval(fraction, lower, upper, alpha)
