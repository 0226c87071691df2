"""Remember the errors of subsets that were asked for before."""

from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from pqswarm._typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import Evaluator

__all__ = ["Memo"]


class Memo:
    """An evaluator that looks up what it has evaluated before.

    Late in a search the same subsets come again and again. A subset that is found in the memory still
    counts as an evaluation.

    Parameters
    ----------
    evaluator : Evaluator
        Who evaluates what is not remembered.
    max_entries : int
        Subsets remembered at most; the least recently used is forgotten first. An entry takes about 180
        bytes with 99 features.

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

    def __init__(self, evaluator: Evaluator, max_entries: int = 1_000_000) -> None:
        if not isinstance(max_entries, int | np.integer) or max_entries < 1:
            raise PqswarmError(f"max_entries must be an integer of at least 1, not {max_entries!r}.")
        self.evaluator = evaluator
        self.max_entries = max_entries
        self.n_features = evaluator.n_features
        self.n_evaluations = 0
        self.n_hits = 0
        self._errors: OrderedDict[bytes, float] = OrderedDict()
        self._lock = Lock()  # several runs may share the memory

    def __len__(self) -> int:
        return len(self._errors)

    def errors(self, masks: npt.ArrayLike) -> FloatArray:
        """Return the error of each subset; see :meth:`Evaluator.errors`."""
        checked = self.evaluator.checked_masks(masks)
        keys = [row.tobytes() for row in np.packbits(checked, axis=1)]
        with self._lock:
            known = {key: self._errors[key] for key in set(keys) if key in self._errors}
        first = {key: row for row, key in reversed(list(enumerate(keys))) if key not in known}
        rows = sorted(first.values())
        if rows:
            known.update(zip((keys[row] for row in rows), self.evaluator.errors(checked[rows]).tolist(), strict=True))
        with self._lock:
            self.n_evaluations += len(keys)
            self.n_hits += len(keys) - len(rows)
            for key in keys:
                self._errors[key] = known[key]
                self._errors.move_to_end(key)
            while len(self._errors) > self.max_entries:
                self._errors.popitem(last=False)
        return np.array([known[key] for key in keys], dtype=np.float64)

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
