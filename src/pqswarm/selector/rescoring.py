"""The best subsets of a search, and other partitions of the samples, against overfitting to the given folds.

The lowest of thousands of errors is low also by luck, which is gone on other partitions of the same samples.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._base.checks import is_integer
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Splits

MOST = 20
"""Number of subsets that are kept."""


class BestSubsets:
    """The best subsets that were evaluated, as bits of the search: by error, then size, then bits."""

    def __init__(self, n_bits: int, size: int | None) -> None:
        self.masks: BoolArray = np.zeros((0, n_bits), dtype=np.bool_)
        self.errors: FloatArray = np.empty(0)
        self._size = size

    def add(self, masks: BoolArray, errors: FloatArray) -> None:
        """Consider evaluated subsets; the order does not matter."""
        sizes = masks.sum(axis=1)
        good = (sizes > 0 if self._size is None else sizes == self._size) & ~np.isnan(errors)
        if len(self.errors) == MOST:
            good &= errors <= self.errors[-1]
        if not good.any():
            return
        masks = np.vstack([self.masks, masks[good]])
        errors = np.append(self.errors, errors[good])
        kept, first = np.unique(masks, axis=0, return_index=True)
        order = np.lexsort((kept.sum(axis=1), errors[first]))[:MOST]  # stable: of equals the first bits
        self.masks = kept[order]
        self.errors = errors[first[order]]

    def state(self) -> dict[str, AnyArray]:
        """Return the subsets and their errors as arrays."""
        return {"masks": self.masks, "errors": self.errors}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Resume from a :meth:`state`, which is not trusted."""
        masks = np.asarray(state.get("masks", False))
        errors = np.asarray(state.get("errors", np.nan))
        shapes = ((errors.size, self.masks.shape[1]), (errors.size,))
        if (masks.shape, errors.shape) != shapes or masks.dtype != np.bool_ or errors.dtype.kind != "f":
            raise PqswarmError("the state is not that of a selection of these features.")
        self.add(masks, errors)


def plain_partition(cv: Any, y: AnyArray, n_folds: int, seed: int, *, classifies: bool) -> Splits | None:
    """Return a random partition of the kind of `cv` into at most `n_folds`; None if that is not a plain k-fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = type(cv)
    if cv is None or is_integer(cv):
        kind = StratifiedKFold if classifies and y.ndim == 1 else KFold
    if kind not in (KFold, StratifiedKFold):
        return None
    most = len(y)
    if kind is StratifiedKFold:
        _, y, counts = np.unique(y, return_inverse=True, return_counts=True)
        most = int(counts.max())
    folds = kind(max(2, min(n_folds, most)), shuffle=True, random_state=seed % 2**32)
    with warnings.catch_warnings(action="ignore"):  # of small classes the given folds have warned
        return Splits.from_cv(folds, y, y)
