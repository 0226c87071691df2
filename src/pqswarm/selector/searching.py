"""Drive the runs of a selector until a limit is reached, or somebody stops them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pqswarm._base.typing import BoolArray
from pqswarm.search import Progress, Run, step
from pqswarm.selector.interrupts import Interrupts

__all__ = ["Limits", "MappedProgress", "StopReason", "drive", "has_found"]

StopReason = Literal["max_evaluations", "max_time", "patience", "callback", "interrupted", "finished"]
"""Why a search ended; ``"finished"``: the algorithm came to its own end, or knew all subsets."""


@dataclass(frozen=True)
class Limits:
    """When to stop, beside the budget of evaluations: after seconds, or evaluations without improvement."""

    max_time: float | None = None
    patience: int | None = None

    def is_tired(self, run: Run) -> bool:
        """Whether a run has been without improvement for too long."""
        return self.patience is not None and has_found(run) and run.stalled >= self.patience


@dataclass(frozen=True)
class MappedProgress(Progress):
    """Progress of runs on some of the features only, whose mask is one of all features."""

    kept: BoolArray

    @property
    def mask(self) -> BoolArray:
        """The subset with the least error, among all features."""
        whole = np.zeros_like(self.kept)
        whole[self.kept] = self.leader.best
        return whole


def has_found(run: Run) -> bool:
    """Whether a run has evaluated a subset that it could return."""
    return bool(run.best.any())


def drive(
    runs: Sequence[Run],
    evaluator: Any,
    limits: Limits,
    kept: BoolArray,
    callback: Callable[[Progress], object] | None = None,
    save: Callable[[], object] | None = None,
) -> StopReason:
    """Take all runs in lockstep to their ends, and say why they ended; Ctrl-C is raised between two steps.

    `save` is called after each step, `callback` with the progress, by which it can stop the search. `max_time` stops
    it only when each run has found something.
    """
    began, total = time.monotonic(), sum(run.max_evaluations for run in runs)
    with Interrupts() as interrupts:
        opened = interrupts.opened_by(evaluator)
        while active := [run for run in runs if not run.done and not limits.is_tired(run)]:
            step(active, opened)
            if save is not None:
                save()
            if callback is not None:
                progress = MappedProgress(tuple(runs), sum(run.n_evaluations for run in runs), total, kept)
                with interrupts.window():
                    stop = callback(progress)
                if isinstance(stop, bool | np.bool_) and stop:
                    return "callback"
            late = limits.max_time is not None and time.monotonic() - began >= limits.max_time
            if late and all(has_found(run) for run in runs):
                return "max_time"
    if any(run.n_evaluations >= run.max_evaluations for run in runs):
        return "max_evaluations"
    return "patience" if any(limits.is_tired(run) for run in runs) else "finished"
