"""The front of score against size, over all runs, and the choice of a subset on it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult

__all__ = ["FrontPoint", "choose_point", "merge_fronts"]


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """A subset on the front: no subset that was evaluated is as small and has a better score.

    Attributes
    ----------
    size : int
        Number of features.
    score : float
        Mean score over the splits of the cross-validation.
    std : float
        Standard deviation of the score over these splits; NaN if it was not evaluated.
    support : ndarray of bool, shape (n_features_in_,)
        The features.
    """

    size: int
    score: float
    std: float
    support: BoolArray = field(repr=False)


def merge_fronts(results: Sequence[SearchResult]) -> tuple[BoolArray, FloatArray]:
    """Return masks and errors of the front over all runs, by size, the error falling; of equals the first run's."""
    subsets = np.vstack([result.mask if result.front_masks is None else result.front_masks for result in results])
    values = np.hstack([result.error if result.front_errors is None else result.front_errors for result in results])
    order = np.lexsort((values, subsets.sum(axis=1)))
    least = np.minimum.accumulate(values[order])
    kept = order[np.append(True, least[1:] < least[:-1])]
    return subsets[kept], values[kept]


def choose_point(rule: Any, sizes: Sequence[int], errors: FloatArray, best_fold_errors: FloatArray | None) -> int:
    """Return the place on the front that a rule chooses.

    ``"best"`` takes the least error; ``"1se"`` the smallest subset whose error is within one standard error, that of
    the best subset's mean over the folds, of the least; an integer the best subset of at most so many features, or
    the smallest if there is none.
    """
    if rule == "best":
        return len(sizes) - 1
    if rule == "1se":
        if best_fold_errors is None or best_fold_errors.size < 2:
            raise PqswarmError("rule='1se' needs the errors of at least two splits: let cv make more.")
        allowed = errors[-1] + best_fold_errors.std(ddof=1) / np.sqrt(best_fold_errors.size)
        return int(np.argmax(errors <= allowed))
    return max(0, int(np.searchsorted(sizes, rule, side="right")) - 1)
