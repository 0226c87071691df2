"""One selection: restore a search, run it, rescore its best subsets, choose one, and compare it with a filter alone.

A search sees thousands of subsets, a filter a dozen: with few or noisy samples the filter can be better on new ones. No
score of the search itself shows that, but searches repeated in parts of the samples do, scored on the other samples.
"""

from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from warnings import catch_warnings

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Splits
from pqswarm.evaluation.estimators import as_numbers
from pqswarm.search import SearchResult
from pqswarm.selector.rescoring import Pool, plain_partition, rescore
from pqswarm.selector.search_loop import Interrupts, SearchLoop, StopReason, check_callbacks, warn_if_search_is_slow
from pqswarm.selector.storage import Saver
from pqswarm.selector.task import SelectionTask, SelectorData, filtered_errors, make_task, rank_by_filter

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

_PARTS = 5  # nested searches
_DIVISOR = 10  # of the evaluations, for each nested search
_FEWEST = 3000  # evaluations of a search that is checked
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)  # features of the filter


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
    """The selection of a selector on some data: its methods are the steps, in their order.

    `interrupts` notes Ctrl-C; `deadline`, a time of ``time.monotonic``, ends the search, with whatever was found.
    """

    result: SearchResult  # of the search, with masks over all features
    front: list[FrontPoint]
    fold_scores: FloatArray | None  # of each front point and split; None if the search was stopped
    chosen: FrontPoint
    rule_text: str  # how the chosen subset was selected

    def __init__(
        self,
        selector: "SwarmSelector",
        task: SelectionTask,
        data: SelectorData,
        interrupts: Interrupts,
        deadline: float | None = None,
    ) -> None:
        self.selector = selector
        self.task = task
        self.data = data
        self.interrupts = interrupts
        self.deadline = deadline
        self.run = task.make_run()
        self.pool = Pool(task.groups.n_bits, task.subset_size)
        self.stop_reason: StopReason = "finished"

    def warn_if_slow(self) -> None:
        """Warn of a search that will take more than a minute, unless something watches or limits it."""
        if self.deadline is None and not self.selector.callbacks and not self.run.done:
            evaluations = self.run.max_evaluations - self.run.n_evaluations
            self.interrupts.attempt(warn_if_search_is_slow, self.task.choice, evaluations, self.task.n_jobs)

    def search(self, saver: Saver | None = None) -> None:
        """Run the search to its end."""
        loop = SearchLoop(self.run, self.task, self.pool, self.interrupts, self.deadline)
        self.stop_reason = loop.drive(check_callbacks(self.selector.callbacks), saver)

    @property
    def _in_haste(self) -> bool:
        """Whether the search was stopped: `fit` should then return at once, without optional figures."""
        return self.stop_reason in ("interrupted", "max_time")

    def choose(self) -> None:
        """Choose a subset by the rule of the selector."""
        rule = self.selector.selection_rule
        self._find_front()
        self.chosen = self.front[-1]
        self.rule_text = "The subset with the best score; no rescoring."
        if rule == "1se":
            self._choose_smallest()
        elif rule != "best" and not self._in_haste:
            self._rescore()
            if rule == "filter-check" and self.stop_reason != "callback":
                self._check_filter()
        if self.interrupts.pressed and self.stop_reason != "max_time":
            self.stop_reason = "interrupted"

    def _find_front(self) -> None:
        """Find the front by size, with the scores of each split."""
        self.result = self.task.groups.expand_result(self.run.result())
        masks = np.asarray(self.result.front_masks)
        errors = np.asarray(self.result.front_errors)
        if self.task.groups.fixed.any() and not self._in_haste and self.task.subset_size is None:
            masks, errors = self._with_fixed_alone(masks, errors)
        self._errors = errors
        self.fold_scores = None
        if not self._in_haste:
            evaluator = self.task.choice.evaluator
            folds = self.interrupts.attempt(evaluator.fold_errors, masks[:, self.task.groups.used])
            self.fold_scores = None if folds is None else self.task.scores(folds)
        stds = np.full(len(masks), np.nan)
        if self.fold_scores is not None and self.fold_scores.shape[1] > 1:
            stds = self.fold_scores.std(axis=1, ddof=1)
        self.front = [
            FrontPoint(int(mask.sum()), self.task.score(float(error)), float(std), mask)
            for error, std, mask in zip(errors, stds, masks, strict=True)
        ]

    def _with_fixed_alone(self, masks: BoolArray, errors: FloatArray) -> tuple[BoolArray, FloatArray]:
        """The front with the fixed features alone, which no search asks for; they beat subsets that are no better."""
        fixed = self.task.groups.fixed
        error = self.task.choice.evaluator.errors(fixed[np.newaxis, self.task.groups.used])
        better = errors < error
        return np.vstack([fixed, masks[better]]), np.append(error, errors[better])

    def _choose_smallest(self) -> None:
        """Choose the smallest subset within one standard error of the best score."""
        best = self.front[-1]
        if self.fold_scores is None:
            folds = self.task.choice.evaluator.fold_errors(best.support[np.newaxis, self.task.groups.used])
            scores = self.task.scores(folds)[0]
        else:
            scores = self.fold_scores[-1]
        if scores.size < 2:
            raise PqswarmError("selection_rule='1se' needs at least two splits: use a larger cv.")
        std = float(scores.std(ddof=1))
        self.front[-1] = replace(best, std=std)
        self.chosen = self.front[int(np.argmax(self._errors <= self._errors[-1] + std / np.sqrt(scores.size)))]
        self.rule_text = "The smallest subset within one standard error of the best score."

    def _rescore(self) -> None:
        """Choose the subset with the best mean score over the given and other partitions of the samples."""
        task = self.task
        better = self.interrupts.attempt(rescore, self.pool, task.partitions(), task.errors_in, self.run.n_evaluations)
        if better is not None:
            bits, self.rule_text = better
            self.chosen = self._point(task.widen(bits))

    def _check_filter(self) -> None:
        """Choose the first features by a filter instead, if they are clearly better than what searches find."""
        mask, sentence = find_better_filter(self)
        if mask is None:
            self.rule_text += sentence
        else:
            self.rule_text = sentence
            self.chosen = self._point(mask)

    def repeat(self, selector: "SwarmSelector", data: SelectorData, seed: int) -> "SubsetSelection | None":
        """Return a selection with other options, data and seed; None if Ctrl-C or the time ended it."""
        task = self.interrupts.attempt(make_task, selector, data, seed)
        if task is None:
            return None
        other = SubsetSelection(selector, task, data, self.interrupts, self.deadline)
        other.search()
        if self.interrupts.pressed or other.stop_reason == "max_time":
            return None
        other.choose()
        return None if self.interrupts.pressed else other

    def _point(self, mask: BoolArray) -> FrontPoint:
        """A subset, on the front or not, with its score."""
        used = self.task.groups.used
        evaluator = self.task.choice.evaluator
        if (mask & ~used).any():
            used = mask
            evaluator = self.task.choose(np.flatnonzero(mask), self.task.splits).evaluator
        folds = evaluator.fold_errors(mask[np.newaxis, used])[0]
        std = float(folds.std(ddof=1)) if folds.size > 1 else float("nan")
        error = float(evaluator.errors(mask[np.newaxis, used])[0])
        return FrontPoint(int(mask.sum()), self.task.score(error), std, mask)


def find_better_filter(selection: "SubsetSelection") -> tuple[BoolArray | None, str]:
    """Return the first features of a filter and a sentence if they are better than what searches find, else None.

    They are if their error over the parts is lower by more than two standard errors. Nothing is compared if the filter
    cannot rank the data, or the search had constraints or few evaluations or was stopped before its end.
    """
    task = selection.task
    data = selection.data
    constrained = task.subset_size is not None or bool(selection.selector.constraints)
    if selection.run.n_evaluations < _FEWEST or constrained or hasattr(data.X, "toarray"):
        return None, ""
    partition = partial(plain_partition, selection.selector.cv, classifies=task.classifies)
    splits = partition(data.y, _PARTS, derived_seed(task.seed, (2**31 + 3,)))
    numbers = as_numbers(data.X)
    if splits is None or numbers is None:
        return None, ""
    searched = []
    for number, (train, test) in enumerate(splits.split()):
        part = data.take(train)
        seed = derived_seed(task.seed, (2**31 + 4, number))
        short = copy(selection.selector)
        short.selection_rule = "best"
        short.callbacks = None
        short.max_evaluations = selection.run.n_evaluations // _DIVISOR
        if task.prefilter is not None and short.prefilter == "auto":
            short.prefilter = int(task.groups.used.sum())  # deciding it again would take most of the time
        short.cv = partition(part.y, task.splits.n_folds, seed)
        with catch_warnings(action="ignore"):  # the search on all samples has warned
            nested = selection.repeat(short, part, seed)
        if nested is None:
            return None, ""
        columns = np.flatnonzero(nested.chosen.support)
        evaluator = task.choose(columns, Splits([(train, test)], len(data.y))).evaluator
        searched.append(float(evaluator.errors(np.ones((1, columns.size), dtype=np.bool_))[0]))
    rank = partial(rank_by_filter, "anova", continuous=not task.classifies)
    sizes = sorted({min(size, numbers.shape[1]) for size in _SIZES})
    with catch_warnings(action="ignore"):
        errors = filtered_errors(rank, task.choose, numbers, data.y, splits, sizes)
    means = np.nan_to_num(errors.mean(axis=0), nan=np.inf)
    best = int(means.argmin())
    gains = np.array(searched) - errors[:, best]
    scores = f"({task.score(means[best]):.3g} vs. {task.score(float(np.mean(searched))):.3g})"
    if not gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(gains.size):  # also of NaN
        features = f"{sizes[best]} features by ANOVA F"
        return None, (f" A filter ({features}) did not score significantly higher in nested cross-validation {scores}.")
    mask = np.zeros(numbers.shape[1], dtype=np.bool_)
    mask[rank(numbers, data.y)[: sizes[best]]] = True
    return mask, (
        f"The first {sizes[best]} features by ANOVA F, which scored significantly higher than searches in nested "
        f"cross-validation {scores}."
    )
