"""One selection: search, then choose a subset on the front."""

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.search import Progress, ProgressBar, Run, SearchResult
from pqswarm.selector.doubting import filter_instead
from pqswarm.selector.front import FrontPoint, choose_point, merge_fronts
from pqswarm.selector.rescoring import Pool, rescore
from pqswarm.selector.searching import (
    Interrupts,
    Limits,
    StopReason,
    drive_selector_searches,
    has_found,
    warn_if_search_is_slow,
)
from pqswarm.selector.storage import NO_SHARING, Saved, Saver, lock_storage_file, read_saved
from pqswarm.selector.task import SelectionTask, SelectorData, make_task, seed_of

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector


@dataclass(frozen=True)
class Selection:
    """A selection: results of the runs, the front with masks over all features, and the chosen point."""

    task: SelectionTask
    results: list[SearchResult]
    stop_reason: StopReason
    front: list[FrontPoint]
    chosen: FrontPoint
    how: str  # the chosen point was found, as a sentence
    scores: dict[str, FloatArray]  # of each front point and split, by name; the optimised score first
    saved: Saved


def select(
    selector: "SwarmSelector", data: SelectorData, repetitions: int, began: float, interrupts: Interrupts
) -> Selection:
    """Run the selection of `fit`, resumed if requested; a warning of a long search accounts for `repetitions`."""
    path = None if selector.storage is None else _selection_storage_path(selector.storage)
    with nullcontext() if path is None else lock_storage_file(path):
        saved = None if path is None else read_saved(path)
        where, remedy = f"storage {path}", f"delete that file, or use another file for storage{NO_SHARING}"
        if saved is None and selector.warm_start:
            saved = getattr(selector, "_saved", None)
            where, remedy = "the last fit", "set warm_start=False"
        again = saved is not None and selector.random_state is None
        seed = int(saved.identity["random_state"]) if again and saved else seed_of(selector.random_state)
        task = interrupts.insist(make_task, selector, data, seed)
        runs, pool = task.make_runs(selector.n_runs), task.make_pool()
        if saved is not None:
            saved.restore(runs, pool, task.identity, where, remedy)
        if selector.max_time is None and selector.verbose <= 0:
            left = sum(run.max_evaluations - run.n_evaluations for run in runs if not run.done)
            whole = sum(run.max_evaluations for run in runs)
            interrupts.attempt(warn_if_search_is_slow, task.choice, left + repetitions * whole, task.n_jobs)
        saver = None if path is None else Saver(path, task.identity, runs, pool)
        try:
            reason = _run_selection_searches(selector, task, runs, pool, saver, began, interrupts)
        finally:
            if saver is not None:
                saver.save()
    return _make_selection(selector, task, data, runs, pool, reason, began, interrupts)


def search_and_choose(
    selector: "SwarmSelector", data: SelectorData, seed: int, interrupts: Interrupts, began: float | None = None
) -> Selection | None:
    """Run a new selection on other data with another seed; None if Ctrl-C ended it."""
    began = time.monotonic() if began is None else began
    task = interrupts.attempt(make_task, selector, data, seed)
    if task is None:
        return None
    runs, pool = task.make_runs(selector.n_runs), task.make_pool()
    reason = _run_selection_searches(selector, task, runs, pool, None, began, interrupts)
    made = (selector, task, data, runs, pool, reason, began, interrupts)
    return None if interrupts.pressed else _make_selection(*made)


def _selection_storage_path(storage: Any) -> Path:
    if not isinstance(storage, str | Path) or not Path(storage).name:
        raise PqswarmError(f"storage must be a file name or None, not {storage!r}.")
    return Path(storage)


def _run_selection_searches(
    selector: "SwarmSelector", task: SelectionTask, runs: Sequence[Run], pool: Pool, saver: Saver | None, began: float,
    interrupts: Interrupts,
) -> StopReason:  # fmt: skip
    """Drive the runs to their end, with an optional progress bar."""
    callbacks = check_callbacks(selector.callback)
    limits = Limits(began, selector.max_time, selector.patience)
    save = None if saver is None else saver.save_if_due
    if selector.verbose <= 0:
        return drive_selector_searches(runs, task, pool, limits, interrupts, callbacks, save)
    with ProgressBar(task.search.name) as bar:
        return drive_selector_searches(runs, task, pool, limits, interrupts, [bar, *callbacks], save)


def check_callbacks(given: Any) -> list[Callable[[Progress], object]]:
    """Return the callbacks of a selector as a list."""
    found = [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    if not all(callable(one) for one in found):
        raise PqswarmError(f"callback must be a function, a list of functions or None, not {given!r}.")
    return found


def _make_selection(
    selector: "SwarmSelector", task: SelectionTask, data: SelectorData, runs: Sequence[Run], pool: Pool,
    reason: StopReason, began: float, interrupts: Interrupts,
) -> Selection:  # fmt: skip
    """Build the selection from the results of the runs, by the selector's rule."""
    results = [task.groups.expand_result(run.result()) for run in runs if has_found(run)]
    masks, errors = merge_fronts(results or [task.groups.expand_result(runs[0].result())])
    # A search that was stopped should return at once, without optional figures.
    in_haste = reason in ("interrupted", "max_time")
    used = task.groups.used
    if task.groups.fixed.any() and not in_haste and "size" not in task.parameters:
        masks, errors = _with_fixed_alone(task, masks, errors)
    sizes = masks.sum(axis=1)
    scores: dict[str, FloatArray] = {}
    for name, choose in task.scorings.items():
        found = None if in_haste else interrupts.attempt(choose().evaluator.fold_errors, masks[:, used])
        if found is not None:
            scores[name] = -found if choose().evaluator.is_loss else 1.0 - found
        elif not scores and selector.rule == "1se":
            best = 1.0 - task.choice.evaluator.fold_errors(masks[-1:, used])
            scores[name] = np.vstack([np.full((len(masks) - 1, best.shape[1]), np.nan), best])
    splits = next(iter(scores.values()), None)
    chosen = choose_point(selector.rule, sizes.tolist(), errors, None if splits is None else splits[-1])
    if not isinstance(selector.rule, str) and sizes[chosen] > selector.rule:
        warnings.warn(
            f"the front has no subset of at most {selector.rule} features: its smallest, of {sizes[chosen]}, is "
            f"selected. Use n_features_to_select={selector.rule} to search for that size.",
            stacklevel=4,
        )
    stds = np.full(len(masks), np.nan)
    if splits is not None and splits.shape[1] > 1:
        stds = splits.std(axis=1, ddof=1)
    front = [
        FrontPoint(int(size), task.score(float(error)), float(std), mask)
        for size, error, std, mask in zip(sizes, errors, stds, masks, strict=True)
    ]
    point, how = front[chosen], f"It is chosen from the front by rule={selector.rule!r}."
    if selector.rule in ("rescored", "nested"):
        how = "It has the best score; nothing was rescored."
    if selector.rule in ("rescored", "nested") and not in_haste:
        done = sum(run.n_evaluations for run in runs)
        better = interrupts.attempt(rescore, pool, task.partitions(), task.errors_in, done)
        if better is not None:
            point, how = _point_of(task, task.widen(better[0])), better[1]
        if selector.rule == "nested" and reason != "callback":
            search = partial(search_and_choose, interrupts=interrupts, began=began)
            mask, sentence = filter_instead(selector, task, data, done, search)
            how += sentence
            if mask is not None:
                point, how = _point_of(task, mask), sentence
    return Selection(
        task=task,
        results=results,
        stop_reason="interrupted" if interrupts.pressed and reason != "max_time" else reason,
        front=front,
        chosen=point,
        how=how,
        scores=scores,
        saved=Saved(task.identity, [run.state() for run in runs], pool.state()),
    )


def _point_of(task: SelectionTask, mask: BoolArray) -> FrontPoint:
    """A subset, on the front or not, with its score."""
    used, evaluator = task.groups.used, task.choice.evaluator
    if (mask & ~used).any():
        used, evaluator = mask, task.choose(np.flatnonzero(mask), task.splits).evaluator
    folds = evaluator.fold_errors(mask[np.newaxis, used])[0]
    std = float(folds.std(ddof=1)) if folds.size > 1 else float("nan")
    return FrontPoint(int(mask.sum()), task.score(float(evaluator.errors(mask[np.newaxis, used])[0])), std, mask)


def _with_fixed_alone(task: SelectionTask, masks: BoolArray, errors: FloatArray) -> tuple[BoolArray, FloatArray]:
    """The front with the fixed features alone, which no search asks for; they beat subsets that are no better."""
    fixed = task.groups.fixed
    error = task.choice.evaluator.errors(fixed[np.newaxis, task.groups.used])
    better = errors < error
    return np.vstack([fixed, masks[better]]), np.append(error, errors[better])


def rank_features(support: BoolArray, frequency: FloatArray) -> IntArray:
    """Return 1 for selected features, then 2, 3 ... by falling frequency, with equal ranks for ties."""
    ranking = np.ones(support.size, dtype=np.int64)
    ranking[~support] = 2 + np.unique(-frequency[~support], return_inverse=True)[1]
    return ranking
