"""Filters: they rank features by looking at the data alone, without any estimator."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pqswarm._base.checks import check_integer
from pqswarm._base.registry import Registry
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.filters import scores as ours

__all__ = ["FILTERS", "Filter", "Prefiltered", "prefilter"]

_Scores = Callable[[Any, Any], npt.ArrayLike]


class Filter:
    """A ranking of features; one of another package is known by an entry point in the group ``pqswarm.filters``.

    Parameters
    ----------
    name : str
        The name under which it is registered.
    scores : callable
        ``scores(X, y)`` returns one number for each feature; the higher, the better.
    title : str, optional
        What it is called in reports; by default its name.
    for_continuous : callable, optional
        What takes the place of `scores` if y is continuous; by default the same.
    needs_classes : bool
        Whether it cannot rank features for a continuous y.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> FILTERS["anova"].rank(*load_iris(return_X_y=True))
    (2, 3, 0, 1)
    """

    def __init__(
        self,
        name: str,
        scores: _Scores,
        *,
        title: str | None = None,
        for_continuous: _Scores | None = None,
        needs_classes: bool = False,
    ) -> None:
        self.name, self.title, self.needs_classes = name, title or name, needs_classes
        self._scores, self._for_continuous = scores, for_continuous or scores

    def __repr__(self) -> str:
        return f"<filter {self.name}>"

    def scores(self, X: npt.ArrayLike, y: npt.ArrayLike, *, continuous: bool | None = None) -> FloatArray:
        """Return one number for each feature: the higher, the better; -inf for those without a score.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            The data. Missing values (NaN) count as the median of their feature.
        y : array_like of shape (n,)
            Labels, or continuous values.
        continuous : bool, optional
            Whether y is continuous; by default if scikit-learn's ``type_of_target`` says so, which takes whole numbers
            for labels.

        Returns
        -------
        ndarray of shape (n_features,)
            The scores.
        """
        data, target = np.asarray(X, dtype=np.float64), np.asarray(y)
        if data.ndim != 2 or target.shape != data.shape[:1]:
            raise PqswarmError(
                f"filter {self.name!r} needs X of shape (n, n_features) and y of shape (n,), "
                f"not {data.shape} and {target.shape}."
            )
        if _is_continuous(target) if continuous is None else continuous:
            if self.needs_classes:
                able = ", ".join(name for name in FILTERS if not FILTERS[name].needs_classes)
                raise PqswarmError(f"filter {self.name!r} needs classes, and y is continuous: take one of {able}.")
            made = self._for_continuous(_finite(data), target.astype(np.float64))
        else:
            made = self._scores(_finite(data), target)
        scores = np.asarray(made, dtype=np.float64)
        if scores.shape != data.shape[1:]:
            raise PqswarmError(f"filter {self.name!r} must give one score per feature, not an array of {scores.shape}.")
        return np.where(np.isnan(scores), -np.inf, scores)

    def rank(self, X: npt.ArrayLike, y: npt.ArrayLike, *, continuous: bool | None = None) -> tuple[int, ...]:
        """Return the indices of the features, best first; of equals the lower index, and those without a score last."""
        return _best_first(self.scores(X, y, continuous=continuous))


def _best_first(scores: FloatArray) -> tuple[int, ...]:
    return tuple(np.argsort(-scores, kind="stable").tolist())


def _is_continuous(y: AnyArray) -> bool:
    from sklearn.utils.multiclass import type_of_target

    with warnings.catch_warnings(action="ignore"):  # that there are many classes
        return bool(type_of_target(y) == "continuous")


def _finite(X: FloatArray) -> FloatArray:
    """The data with medians in place of missing values."""
    missing = np.isnan(X)
    if missing.any():
        with warnings.catch_warnings(action="ignore"):  # that features have no value at all
            X = np.where(missing, np.nan_to_num(np.nanmedian(X, axis=0)), X)
    if not np.isfinite(X).all():
        raise PqswarmError("X holds infinite values, which no filter can rank: replace them.")
    return X


FILTERS: Registry[Filter] = Registry(
    "filter",
    "pqswarm.filters",
    Filter,
    (
        Filter("anova", ours.anova, title="ANOVA F", for_continuous=ours.linear_f),
        Filter(
            "mutual-information",
            ours.mutual_information,
            title="mutual information",
            for_continuous=ours.mutual_information_continuous,
        ),
        Filter(
            "mutual-information-binned",
            ours.binned_information,
            title="mutual information in bins",
            for_continuous=ours.with_bins(ours.binned_information),
        ),
        Filter("mrmr", ours.mrmr, title="mRMR", for_continuous=ours.with_bins(ours.mrmr)),
        Filter("cfs", ours.cfs, title="CFS", for_continuous=ours.with_bins(ours.cfs)),
        Filter("relieff", ours.relieff, title="ReliefF", needs_classes=True),
    ),
)
"""The filters by name."""


class Prefiltered(NamedTuple):
    """The features of wide data that a filter keeps.

    Attributes
    ----------
    columns : ndarray of int, shape (n_kept,)
        Their indices, ascending.
    order : tuple of int
        Their places in `columns`, best first.
    sentence : str
        What was done, to be told.
    """

    columns: IntArray
    order: tuple[int, ...]
    sentence: str


def prefilter(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    keep: int = 300,
    filter: str = "anova",  # noqa: A002 (as a plan calls it)
    *,
    continuous: bool | None = None,
) -> Prefiltered:
    """Keep the best features of wide data by a filter, and rank them.

    Parameters
    ----------
    X : array_like of shape (n, n_features)
        The data.
    y : array_like of shape (n,)
        Labels, or continuous values.
    keep : int
        How many features to keep at most.
    filter : str
        A name in :data:`FILTERS`.
    continuous : bool, optional
        Whether y is continuous; see :meth:`Filter.scores`.

    Returns
    -------
    Prefiltered
        The columns kept, their order, and a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> kept = prefilter(*load_iris(return_X_y=True), keep=2)
    >>> kept.columns, kept.order
    (array([2, 3]), (0, 1))
    >>> kept.sentence
    'Of 4 features the 2 that rank first by ANOVA F were kept.'
    """
    check_integer("keep", keep, 1)
    chosen = FILTERS.find(filter)
    ranked = np.array(chosen.rank(X, y, continuous=continuous), dtype=np.int64)
    columns = np.sort(ranked[:keep])
    if columns.size == ranked.size:
        sentence = f"All {ranked.size} features were kept, ranked by {chosen.title}."
    else:
        sentence = f"Of {ranked.size} features the {columns.size} that rank first by {chosen.title} were kept."
    return Prefiltered(columns, tuple(np.searchsorted(columns, ranked[:keep]).tolist()), sentence)
