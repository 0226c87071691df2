"""One selection: search, then choose a subset on the front."""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Memo
from pqswarm.search import Progress, ProgressBar, Run, SearchResult
from pqswarm.selector.front import FrontPoint, choose_point, merge_fronts
from pqswarm.selector.searching import Limits, StopReason, drive_selector_searches, has_found, warn_if_search_is_slow
from pqswarm.selector.storage import Saved, Saver, lock_storage_file, read_saved
from pqswarm.selector.task import SelectionTask, SelectorData, make_task, seed_of, threads_of_task

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector

__all__ = ["Selection", "rank_features", "search_and_choose", "select"]


@dataclass(frozen=True)
class Selection:
    """A selection: results of the runs, the front with masks over all features, and the chosen point."""

    task: SelectionTask
    results: list[SearchResult]
    stop_reason: StopReason
    front: list[FrontPoint]
    chosen: FrontPoint
    saved: Saved


def select(selector: "SwarmSelector", data: SelectorData, repetitions: int) -> Selection:
    """Run the selection of `fit`, resuming from a file or the last fit if requested.

    The warning of a long search accounts for `repetitions` that will follow.
    """
    path = None if selector.storage is None else _selection_storage_path(selector.storage)
    with nullcontext() if path is None else lock_storage_file(path):
        saved = None if path is None else read_saved(path)
        where, remedy = f"storage {path}", "delete that file, or use another file for storage"
        if saved is None and selector.warm_start:
            saved = getattr(selector, "_saved", None)
            where, remedy = "the last fit", "set warm_start=False"
        again = saved is not None and selector.random_state is None
        seed = int(saved.identity["random_state"]) if again and saved else seed_of(selector.random_state)
        task = make_task(selector, data, seed)
        runs = task.make_runs(selector.n_runs, selector.max_evaluations)
        if saved is not None:
            saved.restore(runs, task.identity, where, remedy)
        if selector.max_time is None and not selector.verbose:
            left = sum(run.max_evaluations - run.n_evaluations for run in runs if not run.done)
            whole = sum(run.max_evaluations for run in runs)
            warn_if_search_is_slow(task.choice, left + repetitions * whole, threads_of_task(selector.n_jobs))
        saver = None if path is None else Saver(path, task.identity, runs)
        try:
            reason = _run_selection_searches(selector, task, runs, saver)
        except KeyboardInterrupt:
            if not any(has_found(run) for run in runs):
                raise
            reason = "interrupted"
        finally:
            if saver is not None:
                saver.save()
    try:
        return _make_selection(selector, task, runs, reason)
    except KeyboardInterrupt:
        return _make_selection(selector, task, runs, "interrupted")


def search_and_choose(selector: "SwarmSelector", data: SelectorData, seed: int) -> Selection:
    """Run a new selection on other data with another seed; Ctrl-C ends it."""
    task = make_task(selector, data, seed)
    runs = task.make_runs(selector.n_runs, selector.max_evaluations)
    return _make_selection(selector, task, runs, _run_selection_searches(selector, task, runs, None))


def _selection_storage_path(storage: Any) -> Path:
    if not isinstance(storage, str | Path) or not Path(storage).name:
        raise PqswarmError(f"storage must be a file name or None, not {storage!r}.")
    return Path(storage)


def _run_selection_searches(
    selector: "SwarmSelector", task: SelectionTask, runs: Sequence[Run], saver: Saver | None
) -> StopReason:
    """Drive the runs to their end, with an optional progress bar."""
    bar = ProgressBar(task.search.name) if selector.verbose else None

    def callback(progress: Progress) -> object:
        if bar is not None:
            bar(progress)
        return None if selector.callback is None else selector.callback(progress)

    limits = Limits(selector.max_time, selector.patience)
    save = None if saver is None else saver.save_if_due
    try:
        return drive_selector_searches(runs, Memo(task.choice.evaluator), limits, task.kept, callback, save)
    finally:
        if bar is not None:
            bar.close()


def _make_selection(
    selector: "SwarmSelector", task: SelectionTask, runs: Sequence[Run], reason: StopReason
) -> Selection:
    """Build the selection from the results of the runs, by the selector's rule."""
    found = [run.result() for run in runs if has_found(run)] or [runs[0].result()]
    masks, errors = merge_fronts(found)
    sizes = masks.sum(axis=1)
    # A search that was stopped should return at once, without optional figures.
    in_haste = reason in ("interrupted", "max_time")
    measured = slice(len(masks) - (selector.rule == "1se"), None) if in_haste else slice(None)
    folds = task.choice.evaluator.fold_errors(masks[measured]) if len(masks[measured]) else np.empty((0, 1))
    stds = np.full(len(masks), np.nan)
    if folds.shape[1] > 1:
        stds[measured] = folds.std(axis=1, ddof=1)
    chosen = choose_point(selector.rule, sizes.tolist(), errors, folds[-1] if len(folds) else None)
    if not isinstance(selector.rule, str) and sizes[chosen] > selector.rule:
        warnings.warn(
            f"the front has no subset of at most {selector.rule} features: its smallest, of {sizes[chosen]}, is "
            f"selected. Use n_features_to_select={selector.rule} to search for that size.",
            stacklevel=4,
        )
    front = [
        FrontPoint(int(size), task.score(float(error)), float(std), mask)
        for size, error, std, mask in zip(sizes, errors, stds, task.widen(masks), strict=True)
    ]
    return Selection(
        task=task,
        results=[task.widen_result(result) for result in found],
        stop_reason=reason,
        front=front,
        chosen=front[chosen],
        saved=Saved(task.identity, [run.state() for run in runs]),
    )


def rank_features(support: BoolArray, frequency: FloatArray) -> IntArray:
    """Return 1 for selected features, then 2, 3 ... by falling frequency, with equal ranks for ties."""
    ranking = np.ones(support.size, dtype=np.int64)
    ranking[~support] = 2 + np.unique(-frequency[~support], return_inverse=True)[1]
    return ranking
