"""One selection: run its searches, rescore the best subsets, choose one, and the members of the ensemble."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult
from pqswarm.search.driver import evaluations_of
from pqswarm.selector.ensemble import SubsetEnsemble
from pqswarm.selector.plan import MOST, PlannedSearch, SearchPlan
from pqswarm.selector.search_loop import Interrupts, SearchLoop, StopReason, check_callbacks, warn_if_search_is_slow
from pqswarm.selector.storage import Storage
from pqswarm.selector.task import SelectionTask, SelectorData, scorer_of

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

PARTITIONS = 10
"""Number of other partitions in which the best subsets of a single search are rescored."""
_EACH = 300  # evaluations for each subset that is rescored there: it costs at most a thirtieth of them
_BEST = 4  # subsets of each search that are members
_BEST_INSIDE = 2  # of each search inside the pool
_PARTS = 5  # test sets in which members are scored
_FREQUENT = 10  # best subsets of each search that are rescored, and whose features make the pool
_TIE_BREAK = 1e-6


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """A subset on the front: no evaluated subset of at most its size has a better score.

    Attributes
    ----------
    size : int
        Number of features.
    score : float
        Mean score over the splits.
    std : float
        Standard deviation over these splits; NaN if not evaluated.
    support : ndarray of bool, shape (n_features_in_,)
        The features.
    """

    size: int
    score: float
    std: float
    support: BoolArray = field(repr=False)


class SubsetSelection:
    """The selection of a selector on some data; :meth:`search` does it.

    `interrupts` notes Ctrl-C; `deadline`, a time of ``time.monotonic``, ends the search, with whatever was found.
    """

    result: SearchResult  # of the search in the given partition, with masks over all features
    front: list[FrontPoint]
    fold_scores: FloatArray | None  # of each front point and split; None if the search was stopped
    chosen: FrontPoint
    members: BoolArray  # subsets of the ensemble, over all features
    rule_text: str  # how the chosen subset and the members were selected

    def __init__(
        self,
        selector: "SwarmSelector",
        task: SelectionTask,
        data: SelectorData,
        interrupts: Interrupts,
        deadline: float | None = None,
        storage: Storage | None = None,
    ) -> None:
        self.selector = selector
        self.task = task
        self.data = data
        self.interrupts = interrupts
        self.deadline = deadline
        self.storage = storage
        self.plan = SearchPlan(task)
        self.first = interrupts.insist(self.plan.first_searches)
        self.second: list[PlannedSearch] = []
        self.pool: BoolArray | None = None  # the features of all members, if they are limited
        self.stop_reason: StopReason = "finished"
        # The best subsets of the searches, as bits, their mean error over the partitions, and that in the given one.
        self._rescored = np.zeros((0, task.groups.n_bits), dtype=np.bool_), np.empty(0), np.empty(0)
        if storage is not None:
            storage.restore(self.first)

    @property
    def n_evaluations(self) -> int:
        """Evaluations so far."""
        return evaluations_of(search.run for search in [*self.first, *self.second])

    def warn_if_slow(self) -> None:
        """Warn of a search that will take more than a minute, unless something watches or limits it."""
        evaluations = self.task.max_evaluations - self.n_evaluations
        if self.deadline is None and not self.selector.callbacks and evaluations > 0:
            self.interrupts.attempt(warn_if_search_is_slow, self.task.choice, evaluations, self.task.n_jobs)

    def search(self) -> None:
        """Run the searches to their end, and choose the best subset and the members of the ensemble."""
        loop = SearchLoop(self.task, self.interrupts, check_callbacks(self.selector.callbacks), self.storage)
        deadline = self.deadline
        if deadline is not None and self.plan.n_phases == 2:
            deadline -= max(0.0, deadline - time.monotonic()) / 2
        self.stop_reason = loop.drive(self.first, deadline)
        self._choose()
        if self.plan.n_phases == 2:
            self.pool = self._find_pool()
            self._search_pool(loop)
        self._choose_members()
        if self.interrupts.pressed and self.stop_reason != "max_time":
            self.stop_reason = "interrupted"

    def _search_pool(self, loop: SearchLoop) -> None:
        """Run the second phase, inside the pool of features, unless the search was stopped."""
        has_choice = self.task.groups.keep(np.asarray(self.pool)).n_bits > 0
        if not has_choice or self.interrupts.pressed or self.stop_reason == "callback":
            return
        self.second = self.interrupts.insist(self.plan.searches_in_pool, self.pool)
        if self.storage is not None and all(search.run.done for search in self.first):
            self.storage.restore(self.second)
        reason = loop.drive(self.second, self.deadline)
        if self.stop_reason != "max_time":
            self.stop_reason = reason

    @property
    def in_haste(self) -> bool:
        """Whether the search was stopped: `fit` should then return at once, without optional figures."""
        return self.stop_reason in ("interrupted", "max_time")

    @np.errstate(invalid="ignore")  # subsets that the estimator refuses may have infinite errors
    def _choose(self) -> None:
        """Choose the best subset: by its mean score over several partitions, or the smallest that is as good."""
        self._rescore()
        bits, means, errors = self._rescored
        candidates = self.task.groups.expand(bits)
        self._find_front(candidates, errors)
        sizes = candidates.sum(axis=1)
        limit = self.task.limit if isinstance(self.task.limit, int) else self.task.allowed.size
        self.chosen = [self.front[0], *(point for point in self.front if point.size <= limit)][-1]
        if self.task.is_smallest:
            self._choose_smallest()
        elif (sizes <= limit).any():
            order = np.lexsort((sizes, means))
            self.chosen = self._point(candidates[order[sizes[order] <= limit][0]])

    def _rescore(self) -> None:
        """Find the mean error of the best subsets over several partitions, unless the search was stopped."""
        task = self.task
        m = len(self.first)
        done = self.n_evaluations
        self.rule_text = "The subset with the best score; none was rescored, because the search was stopped."
        if self.in_haste:
            return
        if m == 1 and (not task.has_partitions or done < 2 * _EACH):
            reason = f"it had fewer than {2 * _EACH} evaluations." if task.has_partitions else _NO_PARTITIONS
            self.rule_text = f"The subset with the best score; none was rescored, because {reason}"
            return
        each = min(MOST, done // _EACH) if m == 1 else min(_FREQUENT, max(1, task.max_evaluations // (5 * m * (m - 1))))
        bits = _unique_rows([search.best.masks[:each] for search in self.first])
        own = [search.evaluator for search in self.first]
        others = (task.evaluator(task.groups, number) for number in range(1, PARTITIONS + 1 if m == 1 else 1))
        errors = self.interrupts.attempt(lambda: [each.errors(bits) for each in chain(own, others)])
        if errors is not None:
            self._rescored = bits, np.mean(errors, axis=0), errors[0]
            where = f"{len(errors)} partitions." if task.has_partitions else f"the given splits: {_NO_PARTITIONS}"
            self.rule_text = f"Of the {len(bits)} best subsets, the one with the best mean score over {where}"

    def _find_front(self, candidates: BoolArray, errors: FloatArray) -> None:
        """Find the front by size in the given partition, with the scores of each split."""
        task = self.task
        given = self.first[:1] if task.has_partitions else [search for search in self.first if search.found]
        results = [task.groups.expand_result(search.run.result()) for search in given]
        self.result = results[0]
        masks = np.vstack([*(np.asarray(result.front_masks) for result in results), candidates])
        errors = np.concatenate([*(np.asarray(result.front_errors) for result in results), errors])
        if task.groups.fixed.any() and not self.in_haste and "size" not in task.parameters:
            # The fixed features alone, which no search asks for.
            fixed = task.groups.fixed[np.newaxis]
            masks = np.vstack([fixed, masks])
            errors = np.append(task.choice.evaluator.errors(fixed[:, task.groups.used]), errors)
        order = np.lexsort((errors, masks.sum(axis=1)))
        lowest = np.minimum.accumulate(errors[order])
        order = order[np.append(True, lowest[1:] < lowest[:-1])]
        (worst,) = task.choice.evaluator.errors(np.zeros_like(masks[:1, task.groups.used]))  # also of refused subsets
        order = order[int(len(order) > 1 and errors[order[0]] == worst) :]
        masks = masks[order]
        self._errors = errors[order]
        self.fold_scores = None
        if not self.in_haste:
            folds = self.interrupts.attempt(task.choice.evaluator.fold_errors, masks[:, task.groups.used])
            self.fold_scores = None if folds is None else task.score(folds)
        stds = np.full(len(masks), np.nan)
        if self.fold_scores is not None and self.fold_scores.shape[1] > 1:
            stds = self.fold_scores.std(axis=1, ddof=1)
        self.front = [
            FrontPoint(int(mask.sum()), task.score(float(error)), float(std), mask)
            for error, std, mask in zip(self._errors, stds, masks, strict=True)
        ]

    def _choose_smallest(self) -> None:
        """Choose the smallest subset within one standard error of the best score."""
        best = self.front[-1]
        n_splits = self.task.splits.n_folds
        if n_splits < 2:
            raise PqswarmError("n_features_to_select='1se' needs at least two splits: use a larger cv.")
        self.front[-1] = best = self._point(best.support)
        self.chosen = self.front[int(np.argmax(self._errors <= self._errors[-1] + best.std / np.sqrt(n_splits)))]
        self.rule_text = "The smallest subset within one standard error of the best score."

    def _point(self, mask: BoolArray) -> FrontPoint:
        """A subset, on the front or not, with its score in the given partition."""
        bits = mask[np.newaxis, self.task.groups.used]
        folds = self.task.choice.evaluator.fold_errors(bits)[0]
        std = float(folds.std(ddof=1)) if folds.size > 1 else float("nan")
        error = float(self.task.choice.evaluator.errors(bits)[0])
        return FrontPoint(int(mask.sum()), self.task.score(error), std, mask)

    def _find_pool(self) -> BoolArray:
        """The features that good subsets of the searches contain most often, within the limit.

        Good are those whose mean error over the partitions is within one standard error of the lowest. Of features that
        they contain equally often, those that the best subsets of each search contain more often come first.
        """
        groups = self.task.groups
        limit = self.chosen.size if self.task.limit == "auto" else self.task.limit
        best = [search.best.masks[:_FREQUENT].mean(axis=0) for search in self.first if search.found]
        frequencies = np.mean(best, axis=0)
        candidates, means, _ = self._rescored
        doubt = self.chosen.std / np.sqrt(self.task.splits.n_folds)
        if len(candidates) and np.isfinite(doubt):
            good = candidates[means <= means.min() + doubt]
            frequencies = good.mean(axis=0) + _TIE_BREAK * frequencies
        pool = groups.fixed.copy()
        for bit in np.argsort(-frequencies, kind="stable")[: np.count_nonzero(frequencies)]:
            more = pool | (groups.owner == bit)
            if more.sum() <= limit:
                pool = more
        return pool

    def _choose_members(self) -> None:
        """Choose the members of the ensemble: the best subset of each search, then the second best, ..."""
        if self.task.n_subsets == 1 or (self.task.limit is not None and self.pool is None):
            self.members = self.chosen.support[np.newaxis]
            return
        allowed = np.ones_like(self.chosen.support) if self.pool is None else self.pool
        inside = _by_rank(self.second, _BEST_INSIDE)
        cut = [mask & allowed for mask in _by_rank(self.first, _BEST)]
        members = [mask for mask in [*inside, *cut] if mask.any()] or [allowed]
        self.members = _unique_rows([np.array(members)])

    def fit_members(self) -> list[Any]:
        """Return the estimator, fitted to each member; if it refuses some, without these, or to the chosen subset.

        It may refuse what is left of a subset inside the pool, such as fewer features than a PCA has components.
        """
        try:
            fitted = self.data.fit_all(self.task.estimator, self.members, self.task.n_jobs)
        except Exception:  # noqa: BLE001 (third-party code may raise anything)
            refusal = getattr(self.task.choice.evaluator, "refusal", str)  # exact evaluators know none
            taken = [mask for mask in self.members if not refusal(mask[self.task.groups.used])]
            self.members = np.array(taken or [self.chosen.support])
            fitted = self.data.fit_all(self.task.estimator, self.members, self.task.n_jobs)
        if len(fitted) > 1:
            self.rule_text += (
                f" Predictions average {len(fitted)} subsets of {self.members.any(axis=0).sum()} features in all."
            )
        return fitted


def score_members(selection: SubsetSelection) -> FloatArray:
    """Return the cross-validated scores of the first one, two, ... members, in a partition that no search has seen.

    They take at most a tenth of the fits of the searches; else, and if there is no such partition, none are returned.
    """
    task = selection.task
    data = selection.data
    members = selection.members
    splits = task.repartition(task.y, _PARTS, derived_seed(task.seed, (2**31 + 5,)))
    if selection.in_haste or splits is None or 10 * len(members) > selection.n_evaluations:
        return np.empty(0)
    scorer = scorer_of(selection.selector)

    def score_in(train: IntArray, test: IntArray) -> list[float]:
        fitted = data.take(train).fit_all(task.estimator, members, task.n_jobs)
        ensemble = SubsetEnsemble(fitted, members, several=data.y.ndim > 1)
        scores = []
        for ensemble.count in range(1, len(members) + 1):
            scores.append(data.take(test).score(scorer, ensemble))
        return scores

    scores = selection.interrupts.attempt(lambda: [score_in(*split) for split in splits.split()])
    return np.empty(0) if scores is None else np.mean(scores, axis=0)


_NO_PARTITIONS = "the cross-validation is not a plain k-fold."


def _by_rank(searches: Sequence[PlannedSearch], count: int) -> list[BoolArray]:
    """The best subset of each search, then the second best of each, ..."""
    masks = [search.groups.expand(search.best.masks) for search in searches]
    return [best[rank] for rank in range(count) for best in masks if rank < len(best)]


def _unique_rows(parts: Sequence[BoolArray]) -> BoolArray:
    """The rows of arrays, each once, in their order."""
    rows = np.vstack(parts)
    _, first = np.unique(rows, axis=0, return_index=True)
    return rows[np.sort(first)]
