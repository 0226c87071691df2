"""Filters rank features by the data alone, without an estimator."""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pqswarm._base.checks import check_integer
from pqswarm._base.registry import Registry
from pqswarm._base.typing import AnyArray, ArrayLike, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.scaling import scale_by_extremes

_MAX_BINS = 10
_MAX_RANKED = 300  # features that mRMR and CFS choose in turn; the rest follow by relevance
_MIN_REDUNDANCY = 1e-3  # [nat], avoids division by zero
_NEIGHBORS = 10
_RELIEF_COST = 4e9  # differences of values; above it ReliefF samples the samples
_MIN_SAMPLES = 200
_BLOCK = 1_000_000


_Scores = Callable[[FloatArray, AnyArray], FloatArray]


def _score_varying(scores: _Scores) -> _Scores:
    """The same scores for features that vary; constant ones have none."""

    @wraps(scores)
    def of_varying(X: FloatArray, y: AnyArray) -> FloatArray:
        varies = np.ptp(X, axis=0) > 0
        all_scores = np.full(X.shape[1], -np.inf)
        if varies.any():
            all_scores[varies] = scores(X[:, varies], y)
        return all_scores

    return of_varying


def _sklearn_scores(name: str, **options: Any) -> _Scores:
    """The scores of a function of scikit-learn's feature_selection, the first array of those that return several."""

    def scores(X: FloatArray, y: AnyArray) -> FloatArray:
        from sklearn import feature_selection

        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # constant features have no score
            result = getattr(feature_selection, name)(X, y, **options)
        return np.asarray(result[0] if isinstance(result, tuple) else result)

    return scores


@_score_varying
def binned_information(X: FloatArray, y: AnyArray) -> FloatArray:
    """Mutual information [nat] of each feature, in bins, and the classes."""
    return _BinnedFeatures(X).information(_filter_labels(y))


@_score_varying
def mrmr(X: FloatArray, y: AnyArray) -> FloatArray:
    """Minimum redundancy, maximum relevance, as a quotient of mutual informations."""
    codes = _BinnedFeatures(X)

    def worth(relevance: FloatArray, redundancy: FloatArray, chosen: list[int], _: float) -> FloatArray:
        return relevance / (redundancy / len(chosen) + _MIN_REDUNDANCY) if chosen else relevance

    return _greedy_filter_scores(codes.information(_filter_labels(y)), lambda f: codes.information(codes.of(f)), worth)


@_score_varying
def cfs(X: FloatArray, y: AnyArray) -> FloatArray:
    """Correlation-based feature selection: in turn the feature that maximizes the merit of the chosen set."""
    codes = _BinnedFeatures(X)

    def merit(relevance: FloatArray, redundancy: FloatArray, chosen: list[int], pairs: float) -> FloatArray:
        gained = relevance[chosen].sum() + relevance
        return np.asarray(gained / np.sqrt(len(chosen) + 1 + 2 * (pairs + redundancy)))

    return _greedy_filter_scores(codes.uncertainty(_filter_labels(y)), lambda f: codes.uncertainty(codes.of(f)), merit)


@_score_varying
def relieff(X: FloatArray, y: AnyArray) -> FloatArray:
    """ReliefF with ten neighbors of each class: how much more a feature differs between classes than within."""
    from pqswarm.evaluation._kernels import add_relief_weights

    labels = _filter_labels(y)
    rows = scale_by_extremes(X, X)
    n, width = rows.shape
    limit = max(_MIN_SAMPLES, int(_RELIEF_COST / (n * width)))
    looked_at = np.arange(n)
    if n > limit:  # evenly across the classes
        looked_at = np.sort(np.argsort(labels, kind="stable")[(2 * np.arange(limit) + 1) * n // (2 * limit)])
    weights = np.zeros(width)
    add_relief_weights(rows, np.ascontiguousarray(rows.T), labels, np.bincount(labels), looked_at, _NEIGHBORS, weights)
    return weights / looked_at.size


def score_with_bins(scores: _Scores) -> _Scores:
    """Return the same scores for a continuous y, with bins as classes."""
    return lambda X, y: scores(X, bin_features(y[:, np.newaxis], number_of_bins(len(y)))[0])


def number_of_bins(n: int) -> int:
    """Return the number of bins for n samples: the cube root of n, from 2 to 10."""
    return int(np.clip(round(float(np.cbrt(n))), 2, _MAX_BINS))


def bin_features(X: FloatArray, n_bins: int) -> npt.NDArray[np.uint8]:
    """Return the bin of each value, features first: of equal counts, or one per value; equal values share one."""
    n, width = X.shape
    bins = np.empty((width, n), dtype=np.uint8)  # small: it is read hundreds of times
    step = max(1, _BLOCK // n)
    for at in range(0, width, step):
        block = X[:, at : at + step].T
        order = np.argsort(block, axis=1, kind="stable")
        ranked = np.take_along_axis(block, order, axis=1)
        edge = np.ones((len(block), 1), dtype=bool)
        first = np.hstack([edge, ranked[:, 1:] != ranked[:, :-1]])
        last = np.hstack([first[:, 1:], edge])
        start = np.maximum.accumulate(np.where(first, np.arange(n), 0), axis=1)
        end = np.minimum.accumulate(np.where(last, np.arange(1, n + 1), n)[:, ::-1], axis=1)[:, ::-1]
        value = np.cumsum(first, axis=1) - 1
        placed = np.where(value[:, -1:] < n_bins, value, n_bins * (start + end) // (2 * n))
        np.put_along_axis(bins[at : at + step], order, placed, axis=1)
    return bins


class _BinnedFeatures:
    """Binned features, and their mutual information with other integers."""

    def __init__(self, X: FloatArray) -> None:
        from pqswarm._kernels.math import logarithms

        counts = np.arange(len(X) + 1)
        self.n_bins = number_of_bins(len(X))
        self.values = bin_features(X, self.n_bins)
        # Multiples of 2^-24: their sums are exact, and equal features get equal scores.
        logs = logarithms(np.maximum(counts, 1).astype(np.float64))  # the same on every processor
        self._table = np.round(counts * logs * 2.0**24) / 2.0**24
        self._entropy = np.array([self._entropy_of(row) for row in self.values])

    def of(self, feature: int) -> IntArray:
        """The bins of one feature."""
        return np.asarray(self.values[feature], dtype=np.int64)

    def _entropy_of(self, values: AnyArray) -> float:
        return float(self._table[-1] - self._table[np.bincount(values)].sum()) / values.size

    def information(self, other: IntArray) -> FloatArray:
        """Mutual information [nat] of each feature and `other`."""
        from pqswarm.evaluation._kernels import count_mutual_information

        information = np.empty(len(self.values))
        count_mutual_information(self.values, self.n_bins, other, int(other.max()) + 1, self._table, information)
        return information / other.size

    def uncertainty(self, other: IntArray) -> FloatArray:
        """Symmetric uncertainty, from 0 to 1, of each feature and `other`; 0 for two constants."""
        both = self._entropy + self._entropy_of(other)
        return 2 * self.information(other) / np.where(both > 0, both, 1.0)


def _filter_labels(y: AnyArray) -> IntArray:
    return np.unique(y, return_inverse=True)[1].astype(np.int64)


def _greedy_filter_scores(
    relevance: FloatArray,
    related: Callable[[int], FloatArray],
    worth: Callable[[FloatArray, FloatArray, list[int], float], FloatArray],
) -> FloatArray:
    """Scores by the order in which features are chosen, each the most valuable given those before it.

    `worth` receives the relevance of each feature, the sum of its relations to the chosen ones, these, and the sum
    over all pairs of chosen ones. After the first few hundred, the others follow by relevance.
    """
    n = relevance.size
    redundancy = np.zeros(n)
    left = np.ones(n, dtype=bool)
    chosen: list[int] = []
    pairs = 0.0
    while len(chosen) < min(n, _MAX_RANKED):
        best = int(np.where(left, worth(relevance, redundancy, chosen, pairs), -np.inf).argmax())
        pairs += redundancy[best]
        chosen.append(best)
        left[best] = False
        redundancy += related(best)
    rest = np.flatnonzero(left)
    scores = np.empty(n)
    scores[[*chosen, *rest[np.argsort(-relevance[rest], kind="stable")]]] = np.arange(n, 0, -1)
    return scores


_GivenScores = Callable[[Any, Any], ArrayLike]


class Filter:
    """A ranking of features by one number for each.

    Parameters
    ----------
    name : str
        The name under which it is registered.
    scores : callable
        ``scores(X, y)`` returns one number per feature; higher is better.
    title : str, default=None
        Its name in reports; by default `name`.
    for_continuous : callable, default=None
        Replaces `scores` for a continuous y; by default the same.
    needs_classes : bool, default=False
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
        scores: _GivenScores,
        *,
        title: str | None = None,
        for_continuous: _GivenScores | None = None,
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
        continuous : bool, default=None
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
        if _is_continuous_for_filter(target) if continuous is None else continuous:
            if self.needs_classes:
                able = ", ".join(name for name in FILTERS if not FILTERS[name].needs_classes)
                raise PqswarmError(f"filter {self.name!r} needs classes, but y is continuous: use one of {able}.")
            given = self._for_continuous(_impute_filter_input(data), target.astype(np.float64))
        else:
            given = self._scores(_impute_filter_input(data), target)
        scores = np.asarray(given, dtype=np.float64)
        if scores.shape != data.shape[1:]:
            raise PqswarmError(f"filter {self.name!r} must return one score per feature, not shape {scores.shape}.")
        return np.where(np.isnan(scores), -np.inf, scores)

    def rank(self, X: ArrayLike, y: ArrayLike, *, continuous: bool | None = None) -> tuple[int, ...]:
        """Return the indices of the features, best first; ties by index, features without a score last."""
        return tuple(np.argsort(-self.scores(X, y, continuous=continuous), kind="stable").tolist())


def _is_continuous_for_filter(y: AnyArray) -> bool:
    from sklearn.utils.multiclass import type_of_target

    with warnings.catch_warnings(action="ignore"):  # many classes
        return bool(type_of_target(y) == "continuous")


def _impute_filter_input(X: FloatArray) -> FloatArray:
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
        Filter(
            "anova",
            _sklearn_scores("f_classif"),
            title="ANOVA F",
            for_continuous=_sklearn_scores("f_regression", force_finite=False),
        ),
        Filter(
            "mutual-information",
            _sklearn_scores("mutual_info_classif", random_state=0),
            title="mutual information",
            for_continuous=_sklearn_scores("mutual_info_regression", random_state=0),
        ),
        Filter(
            "mutual-information-binned",
            binned_information,
            title="mutual information in bins",
            for_continuous=score_with_bins(binned_information),
        ),
        Filter("mrmr", mrmr, title="mRMR", for_continuous=score_with_bins(mrmr)),
        Filter("cfs", cfs, title="CFS", for_continuous=score_with_bins(cfs)),
        Filter("relieff", relieff, title="ReliefF", needs_classes=True),
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
    keep : int, default=300
        Maximum number of features to keep.
    filter : str, default="anova"
        A name in :data:`FILTERS`.
    continuous : bool, default=None
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
