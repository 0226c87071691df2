"""The confidence interval of a proportion."""

from math import sqrt

_Z = 1.959963984540054  # of the normal distribution at 0.975


def wilson_interval(right: int, n: int) -> tuple[float, float]:
    """Return both ends of Wilson's 95 % interval of a proportion: `right` of `n` trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(95, 100)]
    [0.888, 0.978]
    """
    rate = right / n
    z2 = _Z**2
    center = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return max(0.0, center - half), min(1.0, center + half)
