"""Prefilter wide data before the search.

Filtering on all samples makes cross-validation optimistic, the more so the more features are kept; with few samples the
search then finds nothing else. How many are kept is therefore decided with the filter inside each split.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pqswarm._base.checks import is_integer
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import FILTERS, EvaluatorChoice, Splits
from pqswarm.evaluation.memory import check_memory
from pqswarm.evaluation.tables import as_numbers

WIDE = 300
"""Maximum number of features to search; of more, those ranked first by a filter are kept."""

_SIZES = (5, 10, 20, 50, 100, 200)
_SPLITS = 10  # maximum number of splits used
_ROOM = 3  # features kept for each that the filter alone needs


@dataclass(frozen=True)
class Kept:
    """The kept features as a mask, in their order, best first, and a sentence; empty and None if all are kept."""

    mask: BoolArray
    order: tuple[int, ...] = ()
    sentence: str | None = None


def keep_features(
    given: Any,
    choose: Callable[[IntArray, Splits], EvaluatorChoice],
    X: Any,
    y: AnyArray,
    splits: Splits,
    *,
    minimum: int | None,
    continuous: bool,
) -> Kept:
    """Return the features that a prefilter keeps, at least `minimum`; `choose` evaluates some columns.

    ``"auto"`` keeps all columns of a frame that holds other things than numbers.
    """
    minimum = minimum or 1
    most = WIDE
    name = "anova"
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
    numbers = _dense_numbers(X)
    if numbers is None:
        if given == "auto":
            return Kept(mask)
        raise PqswarmError(f"prefilter={given!r} ranks numbers, but X has other columns: use prefilter=None.")
    keep = most
    why = ""
    ranked = rank_by_filter(name, numbers, y, continuous=continuous)
    if isinstance(given, str):
        sizes = [*(size for size in _SIZES if minimum <= size < most), most]
        rank = partial(rank_by_filter, name, continuous=continuous)
        errors = filtered_errors(rank, choose, numbers, y, splits, sizes)
        means = errors.mean(axis=0)
        doubt = 0.0
        if len(errors) > 1:
            doubt = errors[:, means.argmin()].std(ddof=1) / np.sqrt(len(errors))
        needed = int(np.argmax(means <= means.min() + doubt))
        keep = min(most, _ROOM * sizes[needed])
        why = (
            f" Inside the splits, {sizes[needed]} by this filter have an error of {means[needed]:.2g}. The score of "
            "the search is also better because the filter has seen all samples."
        )
    mask[:] = False
    mask[ranked[:keep]] = True
    sentence = f"Kept the best {keep} of {mask.size} features by {FILTERS[name].title}.{why}"
    return Kept(mask, tuple(int(place) for place in ranked[:keep]), sentence)


def _dense_numbers(X: Any) -> FloatArray | None:
    """The features as an array for the filter; None if they are not all numbers."""
    if not hasattr(X, "toarray"):
        numbers: FloatArray | None = as_numbers(X)
        return numbers
    remedy = "put SelectKBest before the selector, or use prefilter=None"
    check_memory("the dense copy of X for the filter", 8 * X.shape[0] * X.shape[1], remedy)
    return np.asarray(X.toarray(), dtype=np.float64)


def rank_by_filter(name: str, X: Any, y: AnyArray, *, continuous: bool) -> list[int]:
    """Return the features, best first; for several targets, by the sum of their ranks."""
    numbers = _dense_numbers(X)
    if numbers is None:
        raise PqswarmError(f"the filter {name} ranks numbers, but X has other columns: leave them out.")
    ranks = [FILTERS[name].rank(numbers, column, continuous=continuous) for column in np.atleast_2d(y.T)]
    return [int(place) for place in np.argsort(np.sum(np.argsort(ranks, axis=1), axis=0), kind="stable")]


def filtered_errors(
    rank: Callable[[FloatArray, AnyArray], list[int]],
    choose: Callable[[IntArray, Splits], EvaluatorChoice],
    numbers: FloatArray,
    y: AnyArray,
    splits: Splits,
    sizes: list[int],
) -> FloatArray:
    """Return the errors of the features that rank first by the training samples, in some splits, for each size."""
    masks = np.arange(sizes[-1]) < np.array(sizes)[:, np.newaxis]
    pairs = list(splits.split())
    errors = []
    for train, test in pairs[:: -(-len(pairs) // _SPLITS)]:
        first = np.array(rank(numbers[train], y[train])[: sizes[-1]])
        errors.append(choose(first, Splits([(train, test)], len(y))).evaluator.errors(masks))
    return np.array(errors)
