"""Does selection pay? Selected features against all, and against a filter, on samples that no search has seen."""

from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from warnings import catch_warnings

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Splits
from pqswarm.evaluation.estimators import take_table
from pqswarm.selector.rescoring import plain_partition
from pqswarm.selector.selection import SubsetSelection
from pqswarm.selector.task import SelectionTask, SelectorData, dense_numbers, make_task, rank_by_filter

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

_PARTS = 5  # test sets
_DIVISOR = 20  # of the evaluations, for each search
_FEWEST = 10  # evaluations of each search
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300)  # features of the filter


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of selected features, of all and of those ranked first by a filter, in nested cross-validation.

    Attributes
    ----------
    selected, every, filtered : float
        Mean score over five test sets: of the best subset of a short search in each training set, of all features, and
        of the first features by ANOVA's F; NaN if the filter cannot rank the features.
    n_selected, n_filtered : float
        Mean number of features.
    scores : ndarray of shape (5, 3)
        The score of each test set: selected, all, filtered.
    text : str
        What follows, as a sentence.
    """

    selected: float
    every: float
    filtered: float
    n_selected: float
    n_filtered: float
    scores: FloatArray = field(repr=False)
    text: str = field(repr=False)


def compare_selection(selection: SubsetSelection) -> Comparison | str:
    """Return the comparison of a selection, or a sentence that says why there is none.

    In each of five training sets, a search with a twentieth of the evaluations selects features, and cross-validation
    selects the number of those that rank first.
    """
    task = selection.task
    data = selection.data
    none = "Selected features were not compared with all features"
    if selection.in_haste or selection.stop_reason == "callback":
        return f"{none}, because the search was stopped."
    evaluations = task.max_evaluations // _DIVISOR
    if evaluations < _FEWEST:
        return f"{none}, because there were fewer than {_DIVISOR * _FEWEST} evaluations."
    partition = partial(plain_partition, selection.selector.cv, classifies=task.classifies)
    splits = partition(data.y, _PARTS, derived_seed(task.seed, (2**31 + 3,)))
    if splits is None:
        return f"{none}, because the cross-validation is not a plain k-fold: see nested_score."
    rows = []
    for number, (train, test) in enumerate(splits.split()):
        part = data.take(train)
        short = copy(selection.selector)
        short.n_subsets = 1
        short.max_features = None
        short.callbacks = None
        short.max_evaluations = max(evaluations, selection.plan.least)
        seed = derived_seed(task.seed, (2**31 + 4, number))
        short.cv = partition(part.y, task.splits.n_folds, seed)
        if task.prefilter is not None and short.prefilter == "auto":
            short.prefilter = int(task.groups.used.sum())  # deciding it again would take most of the time
        with catch_warnings(action="ignore"):  # the search on all samples has warned
            try:
                row = selection.interrupts.attempt(_compare_in_part, selection, short, part, train, test, seed)
            except PqswarmError as error:
                return f"{none}, because in a training set {error}"
        if row is None:
            return f"{none}, because the search was stopped."
        rows.append(row)
    errors = np.array([row[:3] for row in rows])
    sizes = np.mean([row[3:] for row in rows], axis=0)
    return _conclude(task, task.scores(errors), sizes, evaluations)


def _compare_in_part(
    selection: SubsetSelection, short: "SwarmSelector", part: SelectorData, train: IntArray, test: IntArray, seed: int
) -> tuple[float, ...] | None:
    """Errors of selected, all and filtered features, and the numbers of selected and filtered ones; None if stopped."""
    task = make_task(short, part, seed)
    nested = SubsetSelection(short, task, part, selection.interrupts, selection.deadline)
    nested.search()
    if nested.in_haste:
        return None
    split = Splits([(train, test)], len(selection.data.y))

    def error(mask: BoolArray) -> float:
        columns = np.flatnonzero(mask)
        evaluator = selection.task.choose(columns, split).evaluator
        return float(evaluator.errors(np.ones((1, columns.size), dtype=np.bool_))[0])

    selected = nested.chosen.support
    every = task.allowed
    filtered = _best_by_filter(task, part)
    if filtered is None:
        return error(selected), error(every), np.nan, selected.sum(), np.nan
    return error(selected), error(every), error(filtered), selected.sum(), filtered.sum()


def _best_by_filter(task: SelectionTask, part: SelectorData) -> BoolArray | None:
    """The first features by ANOVA's F, as many as score best in cross-validation; None if it cannot rank them."""
    columns = np.flatnonzero(task.allowed)
    numbers = dense_numbers(take_table(part.X, columns, axis=1))
    if numbers is None or not np.isfinite(numbers).all():
        return None
    ranked = rank_by_filter("anova", numbers, part.y, continuous=not task.classifies)
    sizes = np.array(sorted({min(size, len(ranked)) for size in _SIZES}))
    first = columns[ranked[: sizes[-1]]]
    errors = task.choose(first, task.splits).evaluator.errors(np.arange(first.size) < sizes[:, np.newaxis])
    mask = np.zeros_like(task.allowed)
    mask[first[: sizes[int(np.argmin(errors))]]] = True
    return mask


def _conclude(task: SelectionTask, scores: FloatArray, sizes: FloatArray, evaluations: int) -> Comparison:
    """The comparison, with the difference that counts: more than one standard error over the test sets."""
    means = scores.mean(axis=0)
    n_selected, n_filtered = sizes.tolist()
    n_features = int(task.allowed.sum())

    def is_better(one: int, other: int) -> bool:
        gains = scores[:, one] - scores[:, other]
        return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))

    found = f"{n_selected:.0f} selected features score {means[0]:.3g}, all {n_features} {means[1]:.3g}"
    if np.isfinite(n_filtered):
        found += f", the first {n_filtered:.0f} by ANOVA F {means[2]:.3g}"
    if is_better(1, 0):
        advice = "keep all features unless few are wanted"
    elif is_better(2, 0):
        advice = "the filter alone is better"
    elif is_better(0, 1):
        advice = "selection pays"
    else:
        advice = "selection saves features, at about the same score"
    return Comparison(
        selected=float(means[0]),
        every=float(means[1]),
        filtered=float(means[2]),
        n_selected=n_selected,
        n_filtered=n_filtered,
        scores=scores,
        text=f"In nested cross-validation, with searches of {evaluations} evaluations, {found}: {advice}.",
    )
