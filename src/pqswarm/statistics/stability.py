"""Stability of a selection: whether repeated runs find the same features."""

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from pqswarm._base.typing import ArrayLike
from pqswarm.errors import PqswarmError
from pqswarm.statistics._checks import checked_alpha


@dataclass(frozen=True)
class StabilityResult:
    """Stability of the feature subsets of several runs.

    Attributes
    ----------
    stability : float
        1 if all runs select the same features, about 0 if they select at random; NaN if every run selects none or all
        of the features.
    variance : float
        Estimated asymptotic variance of the stability, too small for a handful of runs.
    lower, upper : float
        Confidence interval of the stability, not truncated at 1.
    alpha : float
        One minus the confidence level.
    n_runs, n_features : int
        Numbers of runs and features.
    mean_size : float
        Mean number of selected features.
    """

    stability: float
    variance: float
    lower: float
    upper: float
    alpha: float
    n_runs: int
    n_features: int
    mean_size: float

    def rows(self) -> list[dict[str, Any]]:
        """Return a single row of all attributes."""
        return [dict(vars(self))]


def selection_stability(masks: ArrayLike, *, alpha: float = 0.05) -> StabilityResult:
    r"""Measure how similar the feature subsets of several runs are.

    With M runs, d features, :math:`p_f` the fraction of runs that select feature f and :math:`\bar k` the mean number
    of selected features, :math:`\hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M - 1} p_f (1 - p_f)}
    {\frac{\bar k}{d} (1 - \frac{\bar k}{d})}`.

    Parameters
    ----------
    masks : array_like of bool, shape (n_runs, n_features)
        Features selected by each run; at least two runs.
    alpha : float, default=0.05
        One minus the confidence level.

    Returns
    -------
    StabilityResult
        Stability, variance and confidence interval.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis, G. Brown, "On the stability of feature selection algorithms", Journal of Machine
       Learning Research 18 (2018) 174, 1-54

    Examples
    --------
    >>> masks = [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0]]
    >>> result = selection_stability(masks)
    >>> round(result.stability, 3), round(result.lower, 3), round(result.upper, 3)
    (0.583, 0.23, 0.937)
    """
    from scipy.special import ndtri

    alpha = checked_alpha(alpha)
    selected = _checked_stability_masks(masks)
    n_runs, d = selected.shape
    fraction = selected.mean(axis=0)
    size = selected.sum(axis=1)
    mean_size = float(size.mean())
    if not 0 < mean_size < d:
        return StabilityResult(nan, nan, nan, nan, alpha, n_runs, d, mean_size)
    chance = mean_size / d * (1 - mean_size / d)
    phi = 1 - n_runs / (n_runs - 1) * float((fraction * (1 - fraction)).mean()) / chance
    # The contribution of each run to the estimate, Theorem 7 of [1].
    overlap = (selected * fraction).mean(axis=1) - size * mean_size / d**2
    drift = phi / 2 * (2 * size * mean_size / d**2 - size / d - mean_size / d + 1)
    contribution = (overlap + drift) / chance
    variance = 4 / n_runs * float(contribution.var())
    margin = float(ndtri(1 - alpha / 2)) * variance**0.5
    return StabilityResult(phi, variance, phi - margin, phi + margin, alpha, n_runs, d, mean_size)


def _checked_stability_masks(masks: ArrayLike) -> npt.NDArray[np.float64]:
    try:
        array = np.asarray(masks)
        valid = array.dtype.kind in "biuf" and array.ndim == 2 and array.size > 0 and np.isin(array, (0, 1)).all()
    except ValueError:
        valid = False
    if not valid:
        raise PqswarmError("masks must be a table of True and False, one row per run, one column per feature.")
    if len(array) < 2:
        raise PqswarmError("masks must hold at least two runs.")
    return array.astype(np.float64)
