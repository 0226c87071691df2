"""Filters rank features by the data alone, without an estimator."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_integer
from pqswarm._base.registry import Registry
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.filters import scores as score_functions

_Scores = Callable[[Any, Any], ArrayLike]


class Filter:
    """A ranking of features; other packages add theirs by an entry point in the group ``pqswarm.filters``.

    Parameters
    ----------
    name : str
        The name under which it is registered.
    scores : callable
        ``scores(X, y)`` returns one number per feature; higher is better.
    title : str, optional
        Its name in reports; by default `name`.
    for_continuous : callable, optional
        Replaces `scores` for a continuous y; by default the same.
    needs_classes : bool
        Whether a continuous y is refused.

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
        self.name = name
        self.title = title or name
        self.needs_classes = needs_classes
        self._scores = scores
        self._for_continuous = for_continuous or scores

    def __repr__(self) -> str:
        return f"<filter {self.name}>"

    def scores(self, X: ArrayLike, y: ArrayLike, *, continuous: bool | None = None) -> FloatArray:
        """Return one number per feature; higher is better, -inf means no score.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            The data. NaN is replaced by the median of the feature.
        y : array_like of shape (n,)
            Labels, or continuous values.
        continuous : bool, optional
            Whether y is continuous; by default scikit-learn's ``type_of_target``, which treats whole numbers as
            labels, decides.

        Returns
        -------
        ndarray of shape (n_features,)
            The scores.
        """
        data = np.asarray(X, dtype=np.float64)
        target = np.asarray(y)
        if data.ndim != 2 or target.shape != data.shape[:1]:
            raise PqswarmError(
                f"filter {self.name!r} needs X of shape (n, n_features) and y of shape (n,), "
                f"not {data.shape} and {target.shape}."
            )
        if _is_filter_target_continuous(target) if continuous is None else continuous:
            if self.needs_classes:
                able = ", ".join(name for name in FILTERS if not FILTERS[name].needs_classes)
                raise PqswarmError(f"filter {self.name!r} needs classes, but y is continuous: use one of {able}.")
            made = self._for_continuous(_fill_gaps_for_filter(data), target.astype(np.float64))
        else:
            made = self._scores(_fill_gaps_for_filter(data), target)
        scores = np.asarray(made, dtype=np.float64)
        if scores.shape != data.shape[1:]:
            raise PqswarmError(f"filter {self.name!r} must return one score per feature, not shape {scores.shape}.")
        return np.where(np.isnan(scores), -np.inf, scores)

    def rank(self, X: ArrayLike, y: ArrayLike, *, continuous: bool | None = None) -> tuple[int, ...]:
        """Return the indices of the features, best first; ties by index, features without a score last."""
        return tuple(np.argsort(-self.scores(X, y, continuous=continuous), kind="stable").tolist())


def _is_filter_target_continuous(y: AnyArray) -> bool:
    from sklearn.utils.multiclass import type_of_target

    with warnings.catch_warnings(action="ignore"):  # many classes
        return bool(type_of_target(y) == "continuous")


def _fill_gaps_for_filter(X: FloatArray) -> FloatArray:
    """The data with NaN replaced by medians."""
    missing = np.isnan(X)
    if missing.any():
        with warnings.catch_warnings(action="ignore"):  # features without any value
            X = np.where(missing, np.nan_to_num(np.nanmedian(X, axis=0)), X)
    if not np.isfinite(X).all():
        raise PqswarmError("X holds infinite values, which filters cannot rank: replace them.")
    return X


FILTERS: Registry[Filter] = Registry(
    "filter",
    Filter,
    (
        Filter("anova", score_functions.anova, title="ANOVA F", for_continuous=score_functions.linear_f),
        Filter(
            "mutual-information",
            score_functions.mutual_information,
            title="mutual information",
            for_continuous=score_functions.mutual_information_continuous,
        ),
        Filter(
            "mutual-information-binned",
            score_functions.binned_information,
            title="mutual information in bins",
            for_continuous=score_functions.with_bins(score_functions.binned_information),
        ),
        Filter(
            "mrmr", score_functions.mrmr, title="mRMR", for_continuous=score_functions.with_bins(score_functions.mrmr)
        ),
        Filter("cfs", score_functions.cfs, title="CFS", for_continuous=score_functions.with_bins(score_functions.cfs)),
        Filter("relieff", score_functions.relieff, title="ReliefF", needs_classes=True),
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
        Their positions in `columns`, best first.
    sentence : str
        What was done, as a sentence.
    """

    columns: IntArray
    order: tuple[int, ...]
    sentence: str


def prefilter(
    X: ArrayLike,
    y: ArrayLike,
    keep: int = 300,
    filter: str = "anova",  # noqa: A002 (the key of a plan)
    *,
    continuous: bool | None = None,
) -> Prefiltered:
    """Keep and rank the best features of wide data by a filter.

    Parameters
    ----------
    X : array_like of shape (n, n_features)
        The data.
    y : array_like of shape (n,)
        Labels, or continuous values.
    keep : int
        Maximum number of features to keep.
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
    'Kept the best 2 of 4 features by ANOVA F.'
    """
    check_integer("keep", keep, 1)
    chosen = FILTERS.find(filter)
    ranked = np.array(chosen.rank(X, y, continuous=continuous), dtype=np.int64)
    columns = np.sort(ranked[:keep])
    if columns.size == ranked.size:
        sentence = f"Kept all {ranked.size} features, ranked by {chosen.title}."
    else:
        sentence = f"Kept the best {columns.size} of {ranked.size} features by {chosen.title}."
    return Prefiltered(columns, tuple(np.searchsorted(columns, ranked[:keep]).tolist()), sentence)
