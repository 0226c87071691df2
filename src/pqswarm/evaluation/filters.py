"""Filters: they rank features by looking at the data alone, without any classifier."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pqswarm._registry import Registry
from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError

__all__ = ["FILTERS", "Filter"]


@dataclass(frozen=True)
class Filter:
    """A ranking of features; one of another package is known by an entry point in the group ``pqswarm.filters``.

    Parameters
    ----------
    name : str
        The name under which it is registered.
    scores : callable
        ``scores(X, y)`` returns one number for each feature; the higher, the better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> FILTERS["anova"].rank(*load_iris(return_X_y=True))
    (2, 3, 0, 1)
    """

    name: str
    scores: Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]

    def rank(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[int, ...]:
        """Return the indices of the features, best first; of equals the lower index, and those without a score last."""
        scores = np.asarray(self.scores(X, y), dtype=np.float64)
        if scores.shape != np.shape(X)[1:]:
            raise PqswarmError(f"filter {self.name!r} must give one score per feature, not an array of {scores.shape}.")
        return tuple(np.argsort(-np.nan_to_num(scores, nan=-np.inf, neginf=-np.inf), kind="stable").tolist())


def _anova(X: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # constant features have no score
        return np.asarray(f_classif(X, y)[0])


def _mutual_information(X: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    from sklearn.feature_selection import mutual_info_classif

    return np.asarray(mutual_info_classif(X, y, random_state=0))


FILTERS: Registry[Filter] = Registry(
    "filter", "pqswarm.filters", Filter, (Filter("anova", _anova), Filter("mutual-information", _mutual_information))
)
"""The filters by name."""
