"""Which of many features are left to the search.

A filter that has seen all events makes the score of a cross-validation too good, with few events by so much that a
search finds nothing but that. So the filter is also put inside the splits, and where the difference is large, no more
features are kept than give the best score there, within one standard error.
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
"""Of more features the search is left so many at most, those that rank first by a filter."""

_SIZES = (5, 10, 20, 50, 100, 200)
_SPLITS = 10  # looked at, at most
_OPTIMISM = (
    0.75  # of the error that is left, if the filter has seen all events: less is too optimistic, which is our choice
)


@dataclass(frozen=True)
class Kept:
    """The features that are left, their order, best first, and a sentence; if all are left, empty and None."""

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
    least: int | None,
    continuous: bool,
    **options: Any,
) -> Kept:
    """Return the features that a prefilter leaves, at `least` so many; `options` are those of choose_evaluator."""
    least, most, name = least or 1, WIDE, "anova"
    if is_integer(given) and given >= 1:
        most = int(given)
    elif isinstance(given, str):
        name = name if given == "auto" else given
        if name not in FILTERS:
            raise unknown_name("prefilter", given, ["auto", *FILTERS])
    elif given is not None:
        raise PqswarmError(f"prefilter must be 'auto', a filter, a number of features or None, not {given!r}.")
    most = max(most, least)
    mask = np.ones(X.shape[1], dtype=np.bool_)
    if given is None or mask.size <= most:
        return Kept(mask)
    keep, why = most, ""
    if isinstance(given, str):
        sizes = [*(size for size in _SIZES if least <= size < most), most]
        inside, outside = _filtered_errors(name, estimator, X, y, splits, sizes, continuous, options)
        means, whole = inside.mean(axis=0), outside.mean()
        if len(inside) > 1:
            doubts = inside.std(axis=0, ddof=1) / np.sqrt(len(inside))
            misled = whole < _OPTIMISM * means[-1] and means[-1] - whole > 2 * doubts[-1]
            best = means.argmin()
            keep = sizes[int(np.argmax(means <= means[best] + doubts[best]))] if misled else most
        if keep < most:
            why = (
                f" With {most} the search would be misled: their error is {whole:.2g} if the filter has seen the test "
                f"events, and {means[-1]:.2g} if it has not."
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
    """Errors, in some splits, of the features that rank first: by training events, of each size, and by all events."""
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
