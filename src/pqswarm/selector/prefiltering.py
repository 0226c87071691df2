"""Prefilter wide data before the search.

Filtering on all events makes cross-validation optimistic; with few events the search then finds nothing else. The
filter is therefore also applied inside each split; if the error is much higher there, only as many features are kept as
give the lowest such error, within one standard error.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pqswarm._base.checks import is_integer
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import FILTERS, Splits, choose_evaluator, prefilter

__all__ = ["WIDE", "Kept", "keep_features"]

WIDE = 300
"""Maximum number of features to search; of more, those ranked first by a filter are kept."""

_SIZES = (5, 10, 20, 50, 100, 200)
_SPLITS = 10  # maximum number of splits used
_OPTIMISM = 0.75  # ratio of the errors with the filter outside and inside; below it the filter misleads (our choice)


@dataclass(frozen=True)
class Kept:
    """The kept features, their order, best first, and a sentence; empty and None if all are kept."""

    mask: BoolArray
    order: tuple[int, ...] = ()
    sentence: str | None = None


def keep_features(
    given: Any,
    estimator: Any,
    X: FloatArray,
    y: AnyArray,
    splits: Splits,
    *,
    minimum: int | None,
    continuous: bool,
    **options: Any,
) -> Kept:
    """Return the features that a prefilter keeps, at least `minimum`; `options` are those of choose_evaluator."""
    minimum, most, name = minimum or 1, WIDE, "anova"
    if is_integer(given) and given >= 1:
        most = int(given)
    elif isinstance(given, str):
        name = name if given == "auto" else given
        if name not in FILTERS:
            raise unknown_name("prefilter", given, ["auto", *FILTERS])
    elif given is not None:
        raise PqswarmError(f"prefilter must be 'auto', a filter, a number of features or None, not {given!r}.")
    most = max(most, minimum)
    mask = np.ones(X.shape[1], dtype=np.bool_)
    if given is None or mask.size <= most:
        return Kept(mask)
    keep, why = most, ""
    if isinstance(given, str):
        sizes = [*(size for size in _SIZES if minimum <= size < most), most]
        inside, outside = _filtered_errors(name, estimator, X, y, splits, sizes, continuous, options)
        means, whole = inside.mean(axis=0), outside.mean()
        if len(inside) > 1:
            doubts = inside.std(axis=0, ddof=1) / np.sqrt(len(inside))
            misled = whole < _OPTIMISM * means[-1] and means[-1] - whole > 2 * doubts[-1]
            best = means.argmin()
            keep = sizes[int(np.argmax(means <= means[best] + doubts[best]))] if misled else most
        if keep < most:
            why = (
                f" {most} would mislead the search: their error is {whole:.2g} if the filter sees the test events, "
                f"and {means[-1]:.2g} if it does not."
            )
    found = prefilter(X, y, keep, name, continuous=continuous)
    mask[:] = False
    mask[found.columns] = True
    return Kept(mask, found.order, found.sentence + why)


def _filtered_errors(
    name: str,
    estimator: Any,
    X: FloatArray,
    y: AnyArray,
    splits: Splits,
    sizes: list[int],
    continuous: bool,
    options: Any,
) -> tuple[FloatArray, FloatArray]:
    """Errors in some splits of the features ranked first: by training events, for each size, and by all events."""
    rank, most = FILTERS[name].rank, sizes[-1]
    masks = np.arange(most) < np.array(sizes)[:, np.newaxis]
    first = list(rank(X, y, continuous=continuous)[:most])
    pairs = list(splits.split())
    inside, outside = [], []
    for train, test in pairs[:: -(-len(pairs) // _SPLITS)]:
        split = Splits([(train, test)], len(y))
        seen = list(rank(X[train], y[train], continuous=continuous)[:most])
        inside.append(choose_evaluator(estimator, X[:, seen], y, split, **options).evaluator.errors(masks))
        outside.append(choose_evaluator(estimator, X[:, first], y, split, **options).evaluator.errors(masks[-1:])[0])
    return np.array(inside), np.array(outside)
