"""Remember the errors of subsets that were asked for before."""

from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from pqswarm._base.checks import check_integer
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.evaluation.base import Evaluator

__all__ = ["Memo"]

_ENTRY = 170  # bytes that a remembered subset takes, besides a bit for each feature


class Memo:
    """An evaluator that looks up what it has evaluated before.

    Late in a search the same subsets come again and again. A subset that is found in the memory still
    counts as an evaluation.

    Parameters
    ----------
    evaluator : Evaluator
        Who evaluates what is not remembered.
    max_entries : int
        Subsets remembered at most, 2 or more. When there are half as many new ones since last time, all that were not
        asked for in between are forgotten.
    max_bytes : int
        Memory that they may take, by an estimate: with many features, fewer are remembered.

    Attributes
    ----------
    n_evaluations, n_hits : int
        Subsets asked for, and how many of them were remembered.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> memo = Memo(GaussianNBEvaluator(X, y, Folds.stratified(y)))
    >>> errors = memo.errors(np.ones((5, 13), dtype=bool))
    >>> memo.n_evaluations, memo.n_hits
    (5, 4)
    """

    def __init__(self, evaluator: Evaluator, max_entries: int = 1_000_000, max_bytes: int = 2**28) -> None:
        max_entries = check_integer("max_entries", max_entries, 2)
        max_bytes = check_integer("max_bytes", max_bytes, 1)
        self.evaluator = evaluator
        self.n_features = evaluator.n_features
        self.max_entries = max(2, min(max_entries, max_bytes // (_ENTRY + self.n_features // 8)))
        self.n_evaluations = 0
        self.n_hits = 0
        self._recent: dict[bytes, float] = {}  # at most half of the entries, as many are
        self._older: dict[bytes, float] = {}  # not asked for since `_recent` was begun
        self._lock = Lock()  # several runs may share the memory

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def errors(self, masks: npt.ArrayLike) -> FloatArray:
        """Return the error of each subset; see :meth:`Evaluator.errors`."""
        checked = self.evaluator.checked_masks(masks)
        packed = np.packbits(checked, axis=1)
        keys: list[bytes] = packed.view(f"V{packed.shape[1]}").ravel().tolist()
        with self._lock:
            known = self._recall(keys)
        unknown = [row for row, error in enumerate(known) if error is None]
        new: dict[bytes, float] = {}
        if unknown:
            rows = {keys[row]: row for row in unknown}  # of equal subsets one is evaluated
            new = dict(zip(rows, self.evaluator.errors(checked[list(rows.values())]).tolist(), strict=True))
            for row in unknown:
                known[row] = new[keys[row]]
        with self._lock:
            self.n_evaluations += len(keys)
            self.n_hits += len(keys) - len(new)
            self._keep(new)
        return np.array(known, dtype=np.float64)

    def _recall(self, keys: list[bytes]) -> list[float | None]:
        """The errors that are remembered, which are recent from now on, and None of other subsets."""
        known = list(map(self._recent.get, keys))
        if self._older:
            again = {
                key: self._older[key]
                for key, error in zip(keys, known, strict=True)
                if error is None and key in self._older
            }
            if again:
                known = [again.get(key) if error is None else error for key, error in zip(keys, known, strict=True)]
                self._keep(again)
        return known

    def _keep(self, new: dict[bytes, float]) -> None:
        """Take new entries, and forget what is older than half of all that may be remembered."""
        half = self.max_entries // 2
        if len(self._recent) + len(new) > half:
            self._recent, self._older = {}, self._recent
        self._recent.update(new if len(new) <= half else list(new.items())[-half:])

    def error_counts(self, masks: npt.ArrayLike) -> IntArray:
        """Return the misclassified events of each fold, not from memory; only where errors are counted."""
        counted: Any = self.evaluator
        return np.asarray(counted.error_counts(masks))

    def fold_errors(self, masks: npt.ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, not from memory; see :meth:`Evaluator.fold_errors`."""
        return self.evaluator.fold_errors(masks)

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss, and not one minus a score."""
        return self.evaluator.is_loss

    def predictions(self, mask: npt.ArrayLike) -> AnyArray:
        """Return the predicted label of each event, not from memory."""
        return self.evaluator.predictions(mask)

    def checked_masks(self, masks: npt.ArrayLike) -> BoolArray:
        """Return the masks as a boolean matrix; see :meth:`Evaluator.checked_masks`."""
        return self.evaluator.checked_masks(masks)
