"""Fold racing: of a batch of subsets, find the best without testing the others in every fold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import Evaluator

_STAGES = (0.4, 0.7, 0.9, 1.0)  # fractions of the folds: hardly a subset can be dropped earlier


@dataclass(frozen=True, eq=False)
class Race:
    """The outcome of a race.

    Attributes
    ----------
    errors : ndarray of shape (m,)
        The error of each subset that was tested in all folds, the lowest among them; of the others a lower bound, which
        exceeds the lowest error.
    finished : ndarray of bool, shape (m,)
        Which were tested in all folds.
    folds : ndarray of int, shape (m,)
        The number of folds in which each was tested.
    """

    errors: FloatArray
    finished: BoolArray
    folds: IntArray

    @property
    def best(self) -> int:
        """The place of the lowest error, of equals the first."""
        return int(self.errors.argmin())


class RacingEvaluator:
    """An evaluator that races the subsets of each batch, for searches in which only the best of a batch counts: SFFS.

    Their result and front are the same as without it. Its errors of dropped subsets are lower bounds.

    Parameters
    ----------
    evaluator : Evaluator
        The evaluator to race with.

    Attributes
    ----------
    n_features : int
        Number of features.
    n_evaluations : float
        Evaluations so far, counted in folds: folds tested, divided by the folds of a full evaluation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, KNNEvaluator
    >>> from pqswarm.search import minimize
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = KNNEvaluator(X, y, Folds.stratified(y))
    >>> racing = RacingEvaluator(evaluator)
    >>> raced, full = minimize("sffs", racing, 10_000), minimize("sffs", evaluator, 10_000)
    >>> raced.error == full.error, raced.selected.tolist() == full.selected.tolist()
    (True, True)
    >>> racing.n_evaluations < full.n_evaluations
    True
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.n_features = evaluator.n_features
        self.n_evaluations = 0.0

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset, or a lower bound above the lowest error; see :func:`race`."""
        found = race(self._evaluator, masks)
        self.n_evaluations += float(found.folds.sum()) / self._evaluator.folds.n_folds
        return found.errors


def race(evaluator: Evaluator, masks: ArrayLike, limit: float = np.inf) -> Race:
    """Test subsets in more and more folds, and drop each as soon as it can no longer be the best.

    A subset is dropped when its errors so far, without any in the other folds, would already exceed the lowest error,
    or the limit. The best subset and its error are therefore those of :meth:`Evaluator.errors`, bit for bit. First all
    are tested in two fifths of the folds; the best of them is then tested in all, which sets the mark for the others.
    This saves time where each fold is a fit (:class:`GenericEvaluator`); exact evaluators are faster in one batch.

    Parameters
    ----------
    evaluator : Evaluator
        An evaluator that counts errors, of classifiers without a scoring; others test every subset in all folds.
    masks : array_like of shape (m, n_features)
        Subsets, at least one.
    limit : float
        Subsets with an error above it may be dropped as well; then the lowest error may be a bound, above the limit.

    Returns
    -------
    Race
        The errors, and how many folds they took.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> race(evaluator, np.eye(13)[:, ::-1] > 0).best
    6
    >>> int(evaluator.errors(np.eye(13)[:, ::-1] > 0).argmin())
    6
    """
    checked, counted, folds = evaluator.checked_masks(masks), evaluator.counts_errors, evaluator.folds
    m, n = len(checked), folds.n_folds
    if not m:
        raise PqswarmError("masks must hold at least one subset.")
    if not counted:
        return Race(evaluator.errors(checked), np.ones(m, dtype=np.bool_), np.full(m, n))
    counter: Any = evaluator
    counts, done = np.zeros((m, n), dtype=np.int64), np.zeros(m, dtype=np.int64)

    def test(rows: IntArray, last: int) -> None:
        """Test subsets, all of them in as many folds so far, in those up to the last."""
        first = int(done[rows[0]])
        found = counter.error_counts(checked[rows], range(first, last))
        counts[rows, first:last], done[rows] = found, last
        refused = rows[(found < 0).any(axis=1)]
        counts[refused], done[refused] = folds.sizes, n  # wrong in every fold

    edges = sorted({max(1, round(n * stage)) for stage in _STAGES})
    test(np.arange(m), edges[0])
    if n > edges[0]:
        test(np.array([folds.mean_rates(counts).argmin()]), n)
    for edge in edges[1:]:
        bounds = folds.mean_rates(counts)
        lowest = min(limit, float(bounds[done == n].min(initial=np.inf)))
        if (rows := np.flatnonzero((done < edge) & (bounds <= lowest))).size:
            test(rows, edge)
    return Race(folds.mean_rates(counts), done == n, done)


def race_blocks(evaluator: Evaluator, masks: BoolArray, first: IntArray, limits: FloatArray) -> FloatArray:
    """Return what :meth:`Evaluator.raced` does."""
    counter: Any = evaluator
    folds, ends = evaluator.folds, np.cumsum((0, *evaluator.blocks))
    counts, found = np.zeros((len(masks), folds.n_folds), dtype=np.int64), np.full((len(masks), 4), np.nan)
    alive, spent = np.ones(len(masks), dtype=np.bool_), np.zeros(len(masks))
    for stage in range(3):
        block = (first + stage) % 3
        for b in range(3):
            if (rows := np.flatnonzero(alive & (block == b))).size:
                part = range(int(ends[b]), int(ends[b + 1]))
                counted = counter.error_counts(masks[rows], part)
                counts[rows, part.start : part.stop] = counted
                # Added one by one: the same sum for any number of subsets.
                rates = np.cumsum(counted / folds.sizes[part.start : part.stop], axis=1)[:, -1] / folds.n_folds
                found[rows, b], spent[rows] = rates, spent[rows] + rates
                refused = rows[(counted < 0).any(axis=1)]  # wrong in every fold
                counts[refused], found[refused, :3], alive[refused] = folds.sizes, 1.0 / 3.0, False
                found[refused, 3] = 1.0
        if stage < 2:
            alive &= ~(spent > limits[:, stage])
    found[alive, 3] = folds.mean_rates(counts[alive])
    return found
