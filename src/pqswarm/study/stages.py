"""The stages of a study other than the searches: functions that return findings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.datasets import Dataset, Samples
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, ClassificationEvaluator, Folds
from pqswarm.evaluation.scaling import scale_by_extremes, scale_for_fold
from pqswarm.study.findings import ALL_FEATURES, GridFinding, HeldOut, Hyperparameters, OneStandardError, StageTwo
from pqswarm.study.plan import ClassifierPlan, StudyPlan
from pqswarm.study.worker import StudyProblem

_MANY = 100  # features, above which several are removed at a time

Masks = Mapping[str, BoolArray]
"""Subsets by name of the algorithm, `ALL_FEATURES` or `ONE_STANDARD_ERROR`."""


def search_grid(plan: ClassifierPlan, events: Dataset | Samples, folds: Folds, jobs: int) -> GridFinding | None:
    """Search the grid of a classifier's hyperparameters; None if it has none."""
    search = CLASSIFIERS[plan.kind].search_grid
    result = search(events.X(inf), events.y, folds, scaling=plan.scaling, n_jobs=jobs)
    return None if result is None else GridFinding(plan.name, result)


def choose_hyperparameters(plan: ClassifierPlan, grid: GridFinding | None) -> Hyperparameters:
    """Return the planned hyperparameters, otherwise the best of a grid, otherwise the defaults."""
    settings = None if grid is None or plan.parameters else grid.result.best
    return Hyperparameters(plan.name, plan.make(settings).settings)


def find_smaller(
    name: str, problem: StudyProblem, best: BoolArray, others: Sequence[BoolArray], jobs: int
) -> OneStandardError:
    """Return the smallest subset whose error is within one standard error of that of the best.

    Candidates are the subsets found by searches, and the best one after repeatedly removing the feature whose loss
    costs least; with more than 100 features up to a tenth at a time, to save evaluations. Of equal sizes the one with
    the lowest error is chosen.
    """
    evaluator = problem.searched(jobs)
    if problem.groups is not None:
        best, *others = (problem.groups.contract(mask) for mask in (best, *others))
    rates = evaluator.fold_errors(best[np.newaxis])[0]
    width = float(rates.std(ddof=1) / np.sqrt(rates.size))
    allowed = float(evaluator.errors(best[np.newaxis])[0]) + width
    candidates = [best, *others]
    shrunk = best
    while shrunk.sum() > 1:
        smaller = np.tile(shrunk, (int(shrunk.sum()), 1))
        smaller[np.arange(len(smaller)), np.flatnonzero(shrunk)] = False
        errors = evaluator.errors(smaller)
        if errors.min() > allowed:
            break
        if len(smaller) <= _MANY:
            shrunk = smaller[int(errors.argmin())]
        else:
            shrunk = _without_several(evaluator, shrunk, np.argsort(errors, kind="stable"), allowed)
        candidates.append(shrunk)
    masks = np.stack(candidates)
    errors = evaluator.errors(masks)
    chosen = min(np.flatnonzero(errors <= allowed).tolist(), key=lambda row: (masks[row].sum(), errors[row]))
    mask_found = masks[chosen] if problem.groups is None else problem.groups.expand(masks[chosen])
    return OneStandardError(name, mask_found, float(errors[chosen]), width)


def _without_several(evaluator: Any, mask: BoolArray, least_costly: IntArray, allowed: float) -> BoolArray:
    """Remove as many features as the error allows: a tenth, half of that, ..., or one, which is known to work."""
    selected = np.flatnonzero(mask)[least_costly]
    count = mask.sum() // 10
    while count > 1:
        tried = mask.copy()
        tried[selected[:count]] = False
        if evaluator.errors(tried[np.newaxis])[0] <= allowed:
            return tried
        count //= 2
    tried = mask.copy()
    tried[selected[0]] = False
    return tried


def evaluate_held_out(
    name: str,
    problem: StudyProblem,
    masks: Masks,
    data: Samples | Dataset,
    new: Samples | Dataset,
    at: tuple[float, int],
    jobs: int,
) -> HeldOut:
    """Return the errors on new events of a seed and noise level, after training on all of the study at that level."""
    level, seed = at
    train = data.X(level)
    test = new.X(level)
    if problem.scaling == "once":
        train, test = scale_by_extremes(train, train), scale_by_extremes(test, train)
    else:
        both = scale_for_fold(np.concatenate([train, test]), np.arange(len(train)), problem.scaling)
        train, test = both[: len(train)], both[len(train) :]
    subsets = np.stack(list(masks.values()))
    try:
        predicted = problem.classifier.predict_new(train, problem.y, test, subsets, n_jobs=jobs)
    except PqswarmError as error:
        raise PqswarmError(f"{name} fails on held-out data (seed {seed}): {error}") from error
    rates = (predicted != new.y).mean(axis=1)
    return HeldOut(name, dict(zip(masks, rates.tolist(), strict=True)), level, seed)


def evaluate_stage_two(
    name: str, problem: StudyProblem, masks: Masks, events: Dataset | Samples, level: float, plan: StudyPlan, jobs: int
) -> StageTwo:
    """Return accuracies of subsets at a noise level, with another partition; without noise also confusion matrices."""
    folds = Folds.stratified(events.y, plan.folds.number, plan.folds.stage_two_seed)
    evaluator = replace(problem, X=events.X(level), test_fold=folds.test_fold).evaluator(jobs)
    errors = evaluator.errors(np.stack(list(masks.values())))
    accuracy = {subset: 100.0 * (1.0 - float(error)) for subset, error in zip(masks, errors, strict=True)}
    if level != inf:
        return StageTwo(name, level, accuracy)
    before, after = (_confusion(evaluator, masks[subset]) for subset in (ALL_FEATURES, plan.baseline))
    return StageTwo(name, level, accuracy, before, after)


def _confusion(evaluator: ClassificationEvaluator, mask: BoolArray) -> IntArray:
    """The confusion matrix: rows are true classes, columns predicted ones."""
    predicted = np.searchsorted(evaluator.classes, evaluator.predictions(mask))
    table = np.zeros((evaluator.classes.size,) * 2, dtype=np.int64)
    np.add.at(table, (evaluator.labels, predicted), 1)
    return table
