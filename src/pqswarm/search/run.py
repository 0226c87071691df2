"""A run: a search, its budget, and its best subset."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pqswarm._base.checks import check_integer
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import Search, checked_errors


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search.

    Attributes
    ----------
    algorithm : str
        Name of the algorithm.
    mask : ndarray of bool, shape (n_features,)
        The best evaluated subset, never empty. Ties are broken by the first, or the smallest if the search
        `prefers_small`.
    error : float
        Its error.
    n_evaluations : int
        Subsets evaluated; those that were dropped early count in proportion to the folds in which they were tested.
    improvements : ndarray of shape (k, 3)
        Each better subset, or equally good smaller one: evaluations before it, error, size. The last is `mask`.
    front_masks, front_errors : ndarray of shape (m, n_features) and (m,), or None
        The front by size: the best subset of each size that beats all smaller ones (the first, if there are several),
        and their falling errors. Only the best subset if the size was set. None if unknown.
    """

    algorithm: str
    mask: BoolArray
    error: float
    n_evaluations: int
    improvements: FloatArray = field(repr=False)
    front_masks: BoolArray | None = field(default=None, repr=False)
    front_errors: FloatArray | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Number of selected features."""
        return int(self.mask.sum())

    @property
    def selected(self) -> IntArray:
        """Indices of the selected features."""
        return np.flatnonzero(self.mask)

    def error_after(self, evaluations: ArrayLike) -> FloatArray:
        """Return the lowest error after each number of evaluations; infinity before the first."""
        return self._after(evaluations, 1, np.inf)

    def size_after(self, evaluations: ArrayLike) -> IntArray:
        """Return the size of the best subset after each number of evaluations; 0 before the first."""
        return self._after(evaluations, 2, 0).astype(np.int64)

    def _after(self, evaluations: ArrayLike, column: int, before: float) -> FloatArray:
        last = np.searchsorted(self.improvements[:, 0], evaluations, side="left") - 1
        return np.asarray(np.where(last >= 0, self.improvements[np.maximum(last, 0), column], before))

    @cached_property
    def errors(self) -> FloatArray:
        """Lowest error after each evaluation; see :meth:`error_after`."""
        return self.error_after(np.arange(1, self.n_evaluations + 1))

    @cached_property
    def sizes(self) -> IntArray:
        """Size of the best subset after each evaluation; see :meth:`size_after`."""
        return self.size_after(np.arange(1, self.n_evaluations + 1))


class Run:
    """A search with a budget, and the best subset it has evaluated.

    The budget is exact: the last batch is cut to the remaining evaluations. A subset counts as an evaluation each time
    it is requested, a raced one in proportion to the folds in which it was tested; a remainder of less than one
    evaluation is left. Only a subset that was tested in all folds can be the best; not the empty one, nor one of
    another size if the size is set.

    Parameters
    ----------
    search : Search
        A new search.
    max_evaluations : int, default=6000
        Budget.
    blocks : tuple of int, default=()
        The folds of each block in which the evaluator tests subsets, for a search that races; empty for none.

    Examples
    --------
    >>> from pqswarm.search import ALGORITHMS
    >>> run = Run(ALGORITHMS["bpso"](n_features=8, seed=0), max_evaluations=100)
    >>> while not run.done:
    ...     run.tell(run.ask().mean(axis=1))
    >>> run.result().size, run.result().n_evaluations
    (1, 100)
    """

    def __init__(self, search: Search, max_evaluations: int = 6000, blocks: tuple[int, ...] = ()) -> None:
        max_evaluations = check_integer("max_evaluations", max_evaluations, 1)
        if max_evaluations < search.min_evaluations:
            raise PqswarmError(
                f"{search.name} needs at least {search.min_evaluations} evaluations to reach {search.size} features: "
                f"raise max_evaluations, now {max_evaluations}."
            )
        self.search = search
        self.max_evaluations = max_evaluations
        self.blocks = blocks if search.races else ()
        self._spent = 0  # folds tested
        self._unit = sum(self.blocks) or 1  # folds of an evaluation
        self.best: BoolArray = np.zeros(search.n_features, dtype=np.bool_)
        self.best_error = np.inf
        # What is known of the first subsets of a batch cut by the budget: errors, or the outcome of a race.
        self._partial: FloatArray = np.empty((0, 4) if self.blocks else 0)
        # Each better subset: evaluations before it, its error, its size.
        self._improvements: list[tuple[int, float, int]] = []
        self._front: dict[int, tuple[BoolArray, float]] = {}  # by size: a subset that beats all smaller ones
        self._lowest = self._nothing_found()

    @property
    def done(self) -> bool:
        """Whether the budget is spent or the search has finished."""
        return self.n_evaluations >= self.max_evaluations or self.search.done

    @property
    def n_evaluations(self) -> int:
        """Evaluations so far; one that was begun counts."""
        return -(-self._spent // self._unit)

    def ask(self) -> BoolArray:
        """Return the subsets to evaluate next, within the budget; see :meth:`Search.ask`."""
        if self.done:
            raise PqswarmError("the run is done: check `done` before asking again.")
        return self.next_masks().copy()

    def next_masks(self) -> BoolArray:
        """Return the subsets of :meth:`ask` without a copy; they must not be changed."""
        asked = self.search._ask()
        told = len(self._partial)
        return asked[told : told + self.max_evaluations - self.n_evaluations]

    def tell(self, errors: ArrayLike) -> None:
        """Accept the errors, lower is better, of the subsets that :meth:`ask` returned, or the outcome of a race."""
        masks = self.next_masks()
        self.take(masks, checked_errors(errors, len(masks), raced=bool(self.blocks)), masks.sum(axis=1))

    def take(self, masks: BoolArray, errors: FloatArray, sizes: IntArray) -> None:
        """Accept the subsets of :meth:`next_masks`, their checked errors, which are not shared, and their sizes."""
        folds: IntArray = np.ones(len(masks), dtype=np.int64)
        if self.blocks:
            folds = np.where(np.isnan(errors[:, :3]), 0, self.blocks).sum(axis=1)
        spent = self._spent + np.cumsum(folds)
        self._remember(masks, errors[:, 3] if self.blocks else errors, sizes, -(-spent // self._unit) - 1)
        self._spent += int(folds.sum())
        told = np.concatenate([self._partial, errors]) if len(self._partial) else errors
        if len(told) == len(self.search._ask()):
            self.search._tell(told)
            told = told[:0]
        self._partial = told

    def _remember(self, masks: BoolArray, errors: FloatArray, sizes: IntArray, before: IntArray) -> None:
        """Consider the subsets that beat all of at most their size: one may be the best."""
        for row in (~(errors >= self._lowest[sizes]) & ~np.isnan(errors)).nonzero()[0]:
            error, size = float(errors[row]), int(sizes[row])
            as_good = self.search.prefers_small and error == self.best_error
            if not self._improvements or error < self.best_error or (as_good and size < self._improvements[-1][2]):
                self.best = masks[row].copy()
                self.best_error = error
                self._improvements.append((int(before[row]), error, size))
            self._extend_front(masks[row], error, size)

    def _nothing_found(self) -> FloatArray:
        """The lowest error up to each size: NaN if none yet, minus infinity for sizes that are not searched."""
        n, size = self.search.n_features, self.search.size
        lowest = np.full(n + 1, np.nan if size is None else -np.inf)
        lowest[0 if size is None else size] = -np.inf if size is None else np.nan
        return lowest

    def _extend_front(self, mask: BoolArray, error: float, size: int) -> None:
        """Add a subset to the front if it beats all of at most its size, and drop larger ones that it beats."""
        if not error >= self._lowest[size]:
            self._front = {key: kept for key, kept in self._front.items() if key < size or kept[1] < error}
            self._front[size] = mask.copy(), error
            self._lowest[size:] = np.fmin(self._lowest[size:], error)

    def _front_arrays(self) -> dict[str, AnyArray]:
        """The front by ascending size, as arrays."""
        points = [self._front[size] for size in sorted(self._front)]
        return {
            "front_masks": np.array([mask for mask, _ in points], dtype=np.bool_).reshape(-1, self.best.size),
            "front_errors": np.array([error for _, error in points], dtype=np.float64),
        }

    def result(self) -> SearchResult:
        """Return the best subset so far, with its history."""
        if not self._improvements:
            size = "" if self.search.size is None else f" of {self.search.size} features"
            raise PqswarmError(
                f"{self.search.name} has evaluated no subset{size} in {self.n_evaluations} evaluations: continue it."
            )
        return SearchResult(
            algorithm=self.search.name,
            mask=self.best.copy(),
            error=self.best_error,
            n_evaluations=self.n_evaluations,
            improvements=np.array(self._improvements, dtype=np.float64),
            **self._front_arrays(),
        )

    def state(self) -> dict[str, AnyArray]:
        """Return the state of the run and its search as new arrays; those of the search are ``search.NAME``."""
        return {
            "spent": np.array(self._spent),
            "blocks": np.array(self.blocks, dtype=np.int64),
            "best": self.best.copy(),
            "told": self._partial.copy(),
            **self._front_arrays(),
            "improvements": np.array(self._improvements, dtype=np.float64).reshape(-1, 3),
            **{f"search.{name}": array for name, array in self.search.state().items()},
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Resume from a :meth:`state` of a run of the same search; the budget may differ."""
        own = {name: np.asarray(array) for name, array in state.items() if not name.startswith("search.")}
        growing = ("improvements", "told", "front_errors")
        lengths = {name: len(own[name]) if name in own and own[name].ndim else 0 for name in growing}
        expected = {
            "spent": ("iu", ()),
            "blocks": ("iu", (len(self.blocks),)),
            "best": ("b", self.best.shape),
            "told": ("f", (lengths["told"], *self._partial.shape[1:])),
            "front_masks": ("b", (lengths["front_errors"], self.best.size)),
            "front_errors": ("f", (lengths["front_errors"],)),
            "improvements": ("f", (lengths["improvements"], 3)),
        }
        fits = own.keys() == expected.keys() and all(
            own[name].dtype.kind in kinds and own[name].shape == shape for name, (kinds, shape) in expected.items()
        )
        if not fits or not _is_run_state_sound(own) or own["blocks"].tolist() != list(self.blocks):
            raise PqswarmError("the state is not that of a run of this search.")
        self.search.restore({name[7:]: array for name, array in state.items() if name.startswith("search.")})
        self._spent = int(own["spent"])
        self._partial = checked_errors(own["told"], len(own["told"]), raced=bool(self.blocks))
        self.best = own["best"].astype(np.bool_)
        self._improvements = [(int(start), float(error), int(size)) for start, error, size in own["improvements"]]
        self.best_error = self._improvements[-1][1] if self._improvements else np.inf
        self._front = {}
        self._lowest = self._nothing_found()
        for mask, error in zip(own["front_masks"].astype(np.bool_), own["front_errors"].tolist(), strict=True):
            self._extend_front(mask, error, int(mask.sum()))
        if self._improvements:  # a state without front: the best is known
            self._extend_front(self.best, self.best_error, int(self.best.sum()))


def _is_run_state_sound(own: Mapping[str, AnyArray]) -> bool:
    """Whether the numbers of an untrusted state are consistent."""
    steps = own["improvements"]
    told = own["told"] if own["told"].ndim == 1 else own["told"][:0, 0]  # a race may have dropped subsets
    numbers = np.concatenate([steps[:, 1], told, own["front_errors"]])
    return bool(
        own["spent"] >= 0
        and own["best"].any() == bool(len(steps))
        and np.isfinite(steps[:, ::2]).all()
        and not np.isnan(numbers).any()
    )
