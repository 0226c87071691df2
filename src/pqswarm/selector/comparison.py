"""Does selection pay? Selected features against all, and against a filter, on samples that no search has seen."""

from copy import copy
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Splits
from pqswarm.evaluation.estimators import take_table
from pqswarm.selector.selection import SubsetSelection
from pqswarm.selector.task import SelectionTask, SelectorData, dense_numbers, make_task, rank_by_filter

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

_PARTS = 5  # test sets
_DIVISOR = 20  # of the evaluations, for each search
_FEWEST = 10  # evaluations of each search
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300)  # features of the filter


def compare_selection(selection: SubsetSelection) -> tuple[dict[str, float], str]:
    """Return the mean scores of a selection, of all features and of a filter, and what follows, as a sentence.

    In each of five training sets, a search with a twentieth of the evaluations selects features, and cross-validation
    selects the number of those that rank first. Nothing is returned but a reason if that is not possible.
    """
    task = selection.task
    none = "Selected features were not compared with all features"
    if selection.in_haste or selection.stop_reason == "callback":
        return {}, f"{none}, because the search was stopped."
    evaluations = task.max_evaluations // _DIVISOR
    if evaluations < _FEWEST:
        return {}, f"{none}, because there were fewer than {_DIVISOR * _FEWEST} evaluations."
    splits = task.repartition(task.y, _PARTS, derived_seed(task.seed, (2**31 + 3,)))
    if splits is None:
        return {}, f"{none}, because the cross-validation is not a plain k-fold: see nested_score."
    prefilter = selection.selector.prefilter
    if task.prefilter is not None and prefilter == "auto":
        prefilter = int(task.groups.used.sum())  # deciding it again would take most of the time
    rows = []
    for number, (train, test) in enumerate(splits.split()):
        part = selection.data.take(train)
        seed = derived_seed(task.seed, (2**31 + 4, number))
        short = copy(selection.selector).set_params(
            n_subsets=1,
            max_features=None,
            callbacks=None,
            max_evaluations=max(evaluations, selection.plan.least),
            cv=task.repartition(part.y, task.splits.n_folds, seed),
            prefilter=prefilter,
        )
        with catch_warnings(action="ignore"):  # the search on all samples has warned
            try:
                row = selection.interrupts.attempt(_compare_in_part, selection, short, part, train, test, seed)
            except PqswarmError as error:
                return {}, f"{none}, because in a training set {error}"
        if row is None:
            return {}, f"{none}, because the search was stopped."
        rows.append(row)
    errors = np.array([row[:3] for row in rows])
    return _conclude(task.score(errors), np.mean([row[3:] for row in rows], axis=0), evaluations)


def _compare_in_part(
    selection: SubsetSelection, short: "SwarmSelector", part: SelectorData, train: IntArray, test: IntArray, seed: int
) -> tuple[float, ...] | None:
    """Errors of selected, all and filtered features, and the number of each; None if stopped."""
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

    masks = (nested.chosen.support, task.allowed, _best_by_filter(task, part))
    errors = [np.nan if mask is None else error(mask) for mask in masks]
    return *errors, *(np.nan if mask is None else mask.sum() for mask in masks)


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


def _conclude(scores: FloatArray, sizes: FloatArray, evaluations: int) -> tuple[Any, str]:
    """The scores and sizes, and the difference that counts: more than one standard error over the test sets."""
    kinds = ("selected", "all", "filter")
    found = dict(zip(kinds, scores.mean(axis=0).tolist(), strict=True))
    found |= {f"n_{kind}": float(size) for kind, size in zip(kinds, sizes, strict=True)}

    def is_better(one: int, other: int) -> bool:
        gains = scores[:, one] - scores[:, other]
        return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))

    text = "{n_selected:.0f} selected features score {selected:.3g}, all {n_all:.0f} {all:.3g}"
    if np.isfinite(found["n_filter"]):
        text += ", the first {n_filter:.0f} by ANOVA F {filter:.3g}"
    advices = (
        (is_better(1, 0), "keep all features unless few are wanted"),
        (is_better(2, 0), "the filter alone is better"),
        (is_better(0, 1), "selection pays"),
        (True, "selection saves features, at about the same score"),
    )
    advice = next(text for holds, text in advices if holds)
    start = f"In nested cross-validation, with searches of {evaluations} evaluations, "
    return found, f"{start}{text.format(**found)}: {advice}."
