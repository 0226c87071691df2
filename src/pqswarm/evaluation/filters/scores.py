"""The scores of the filters: one number per feature."""

import warnings
from collections.abc import Callable
from functools import wraps

import numpy as np
import numpy.typing as npt

from pqswarm._base.typing import AnyArray, FloatArray, IntArray

_MAX_BINS = 10
_MAX_RANKED = 300  # features that mRMR and CFS choose in turn; the rest follow by relevance
_MIN_REDUNDANCY = 1e-3  # [nat], avoids division by zero
_NEIGHBORS = 10
_RELIEF_COST = 4e9  # differences of values; above it ReliefF samples the samples
_MIN_SAMPLES = 200
_BLOCK = 1_000_000


_Scores = Callable[[FloatArray, AnyArray], FloatArray]


def _of_varying(scores: _Scores) -> _Scores:
    """The same scores for features that vary; constant ones have none."""

    @wraps(scores)
    def of_varying(X: FloatArray, y: AnyArray) -> FloatArray:
        varies = np.ptp(X, axis=0) > 0
        made = np.full(X.shape[1], -np.inf)
        if varies.any():
            made[varies] = scores(X[:, varies], y)
        return made

    return of_varying


def anova(X: FloatArray, y: AnyArray) -> FloatArray:
    """F of the analysis of variance of each feature by class."""
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # constant features have no score
        return np.asarray(f_classif(X, y)[0])


def linear_f(X: FloatArray, y: FloatArray) -> FloatArray:
    """F of the linear regression of a continuous y on each feature."""
    from sklearn.feature_selection import f_regression

    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # here too
        return np.asarray(f_regression(X, y, force_finite=False)[0])


def mutual_information(X: FloatArray, y: AnyArray) -> FloatArray:
    """Mutual information of each feature and the classes, by scikit-learn's nearest neighbours."""
    from sklearn.feature_selection import mutual_info_classif

    return np.asarray(mutual_info_classif(X, y, random_state=0))


def mutual_information_continuous(X: FloatArray, y: FloatArray) -> FloatArray:
    """Mutual information of each feature and a continuous y, by scikit-learn's nearest neighbours."""
    from sklearn.feature_selection import mutual_info_regression

    return np.asarray(mutual_info_regression(X, y, random_state=0))


@_of_varying
def binned_information(X: FloatArray, y: AnyArray) -> FloatArray:
    """Mutual information [nat] of each feature, in bins, and the classes."""
    return _BinnedFeatures(X).information(_labels(y))


@_of_varying
def mrmr(X: FloatArray, y: AnyArray) -> FloatArray:
    """Minimum redundancy, maximum relevance, as a quotient of mutual informations."""
    codes = _BinnedFeatures(X)

    def worth(relevance: FloatArray, redundancy: FloatArray, chosen: list[int], _: float) -> FloatArray:
        return relevance / (redundancy / len(chosen) + _MIN_REDUNDANCY) if chosen else relevance

    return _greedy_scores(codes.information(_labels(y)), lambda f: codes.information(codes.of(f)), worth)


@_of_varying
def cfs(X: FloatArray, y: AnyArray) -> FloatArray:
    """Correlation-based feature selection: in turn the feature that maximises the merit of the chosen set."""
    codes = _BinnedFeatures(X)

    def merit(relevance: FloatArray, redundancy: FloatArray, chosen: list[int], pairs: float) -> FloatArray:
        gained = relevance[chosen].sum() + relevance
        return np.asarray(gained / np.sqrt(len(chosen) + 1 + 2 * (pairs + redundancy)))

    return _greedy_scores(codes.uncertainty(_labels(y)), lambda f: codes.uncertainty(codes.of(f)), merit)


@_of_varying
def relieff(X: FloatArray, y: AnyArray) -> FloatArray:
    """ReliefF with ten neighbours of each class: how much more a feature differs between classes than within."""
    from pqswarm.evaluation.filters.kernels import add_relief

    labels = _labels(y)
    low = X.min(axis=0)
    high = X.max(axis=0)
    rows = np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1.0))
    n, width = rows.shape
    limit = max(_MIN_SAMPLES, int(_RELIEF_COST / (n * width)))
    looked_at = np.arange(n)
    if n > limit:  # evenly across the classes
        looked_at = np.sort(np.argsort(labels, kind="stable")[(2 * np.arange(limit) + 1) * n // (2 * limit)])
    weights = np.zeros(width)
    add_relief(rows, np.ascontiguousarray(rows.T), labels, np.bincount(labels), looked_at, _NEIGHBORS, weights)
    return weights / looked_at.size


def with_bins(scores: _Scores) -> _Scores:
    """Return the same scores for a continuous y, with bins as classes."""
    return lambda X, y: scores(X, in_bins(y[:, np.newaxis], n_bins_of(len(y)))[0])


def n_bins_of(n: int) -> int:
    """Return the number of bins for n samples: the cube root of n, from 2 to 10."""
    return int(np.clip(round(float(np.cbrt(n))), 2, _MAX_BINS))


def in_bins(X: FloatArray, n_bins: int) -> npt.NDArray[np.uint8]:
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
        found = np.where(value[:, -1:] < n_bins, value, n_bins * (start + end) // (2 * n))
        np.put_along_axis(bins[at : at + step], order, found, axis=1)
    return bins


class _BinnedFeatures:
    """Binned features, and their mutual information with other integers."""

    def __init__(self, X: FloatArray) -> None:
        from pqswarm._kernels.math import logarithms

        counts = np.arange(len(X) + 1)
        self.n_bins = n_bins_of(len(X))
        self.values = in_bins(X, self.n_bins)
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
        from pqswarm.evaluation.filters.kernels import count_information

        made = np.empty(len(self.values))
        count_information(self.values, self.n_bins, other, int(other.max()) + 1, self._table, made)
        return made / other.size

    def uncertainty(self, other: IntArray) -> FloatArray:
        """Symmetric uncertainty, from 0 to 1, of each feature and `other`; 0 for two constants."""
        both = self._entropy + self._entropy_of(other)
        return 2 * self.information(other) / np.where(both > 0, both, 1.0)


def _labels(y: AnyArray) -> IntArray:
    return np.unique(y, return_inverse=True)[1].astype(np.int64)


def _greedy_scores(
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
