"""Confidence intervals over several held-out sets."""

from typing import NamedTuple

import numpy as np

from pqswarm._base.typing import FloatArray

CONFIDENCE = 0.95


class Spread(NamedTuple):
    """Means and the ends of their confidence intervals, NaN for a single set."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def t_interval(values: FloatArray) -> Spread:
    """Return the mean over the sets, along the first axis, and its 95 % Student's t interval."""
    from scipy.stats import t

    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    mean = values.mean(axis=0)
    if n < 2:
        return Spread(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    half = t.ppf(0.5 + CONFIDENCE / 2, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
    return Spread(mean, mean - half, mean + half)
