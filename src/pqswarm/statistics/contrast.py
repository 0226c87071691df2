"""Contrast estimation: the difference between algorithms over several data sets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.statistics._checks import checked_table, frozen


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
        keys = ("algorithm", *(f"vs {name}" for name in self.names))
        lines = zip(self.names, self.matrix.tolist(), strict=True)
        return [dict(zip(keys, (name, *line), strict=True)) for name, line in lines]


def contrast_estimation(values: ArrayLike, names: Iterable[str] | None = None) -> ContrastResult:
    """Estimate the differences between algorithms from medians over data sets.

    With :math:`Z_{uv}` the median over the data sets of the difference between algorithms u and v, and
    :math:`m_u` the mean of :math:`Z_{uv}` over all v (including u), the contrast is :math:`m_u - m_v`. It needs few
    data sets and is robust to an outlier among them.

    Parameters
    ----------
    values : array_like of shape (n_datasets, n_algorithms)
        One row per data set, one column per algorithm.
    names : iterable of str, optional
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
    if not np.isfinite(matrix).all():
        raise PqswarmError("values are too large to be subtracted: change their unit.")
    return ContrastResult(checked, frozen(matrix))
