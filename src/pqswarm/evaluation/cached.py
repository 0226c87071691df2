"""A cache of the errors of evaluated subsets."""

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_integer
from pqswarm._base.typing import FloatArray
from pqswarm.evaluation.base import Evaluator

_ENTRY = 170  # bytes per cached subset, plus one bit per feature


class CachedEvaluator:
    """An evaluator with a cache of errors: late in a search the same subsets recur.

    A cached subset still counts as an evaluation. All else is that of the evaluator.

    Parameters
    ----------
    evaluator : Evaluator
        Evaluates the subsets that are not cached.
    max_entries : int
        Maximum number of cached subsets, at least 2. After half as many new ones, those not requested in the meantime
        are dropped.
    max_bytes : int
        Maximum memory, estimated: with many features, fewer subsets are cached.

    Attributes
    ----------
    n_evaluations, n_hits : int
        Subsets requested by `errors`, and how many were cached.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = CachedEvaluator(GaussianNBEvaluator(X, y, Folds.stratified(y)))
    >>> errors = evaluator.errors(np.ones((5, 13), dtype=bool))
    >>> evaluator.n_evaluations, evaluator.n_hits
    (5, 4)
    """

    def __init__(self, evaluator: Evaluator, max_entries: int = 1_000_000, max_bytes: int = 2**28) -> None:
        max_entries = check_integer("max_entries", max_entries, 2)
        max_bytes = check_integer("max_bytes", max_bytes, 1)
        self.evaluator = evaluator
        self.max_entries = max(2, min(max_entries, max_bytes // (_ENTRY + evaluator.n_features // 8)))
        self.n_evaluations = 0
        self.n_hits = 0
        self._recent: dict[bytes, float] = {}  # at most half of the entries, as in
        self._older: dict[bytes, float] = {}  # `_older`: not requested since `_recent` was started
        self._lock = Lock()  # several runs may share the cache

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset; see :meth:`Evaluator.errors`."""
        checked = self.evaluator.checked_masks(masks)
        packed = np.packbits(checked, axis=1)
        keys: list[bytes] = packed.view(f"V{packed.shape[1]}").ravel().tolist()
        with self._lock:
            errors = self._recall(keys)
        unknown = [row for row, error in enumerate(errors) if error is None]
        new: dict[bytes, float] = {}
        if unknown:
            rows = {keys[row]: row for row in unknown}  # equal subsets are evaluated once
            new = dict(zip(rows, self.evaluator.errors(checked[list(rows.values())]).tolist(), strict=True))
            for row in unknown:
                errors[row] = new[keys[row]]
        with self._lock:
            self.n_evaluations += len(keys)
            self.n_hits += len(keys) - len(new)
            self._keep(new)
        return np.array(errors, dtype=np.float64)

    def _recall(self, keys: list[bytes]) -> list[float | None]:
        """The cached errors, which become recent, and None for other subsets."""
        errors = list(map(self._recent.get, keys))
        if self._older:
            again = {
                key: self._older[key]
                for key, error in zip(keys, errors, strict=True)
                if error is None and key in self._older
            }
            if again:
                errors = [again.get(key) if error is None else error for key, error in zip(keys, errors, strict=True)]
                self._keep(again)
        return errors

    def _keep(self, new: dict[bytes, float]) -> None:
        """Add entries, and drop those older than half of the capacity."""
        half = self.max_entries // 2
        if len(self._recent) + len(new) > half:
            self._older = self._recent
            self._recent = {}
        self._recent.update(new if len(new) <= half else list(new.items())[-half:])

    def __getattr__(self, name: str) -> Any:
        """Return what else the evaluator has, which is not cached."""
        if name == "evaluator":  # not set yet, while a copy is made
            raise AttributeError(name)
        return getattr(self.evaluator, name)
