"""Drive the runs of a selector until a limit is reached, the user stops them, or they end; and estimate the time."""

import signal
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from pqswarm._base.random import stream
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.evaluation import CachedEvaluator, EvaluatorChoice
from pqswarm.search import Progress, Run, step
from pqswarm.selector.rescoring import Pool

if TYPE_CHECKING:
    from pqswarm.selector.task import SelectionTask

StopReason = Literal["max_evaluations", "max_time", "patience", "callback", "interrupted", "finished"]
"""Why a search ended; ``"finished"``: the algorithm ended by itself, or knew all subsets."""

_T = TypeVar("_T")
_SLOW = 60.0  # seconds; longer searches get a warning
_BATCH = 32  # subsets per batch, as in searches
_QUICK = 0.05  # seconds per subset up to which a batch is timed
_PART = 0.1  # seconds between two looks at the clock, unless one subset takes longer
_NAMES = 8  # features that a progress names


@dataclass(frozen=True)
class Limits:
    """Limits beyond the budget: seconds since `began`, a time of ``time.monotonic``, and idle evaluations."""

    began: float
    max_time: float | None = None
    patience: int | None = None

    def is_late(self) -> bool:
        """Return whether the time is over."""
        return self.max_time is not None and time.monotonic() - self.began >= self.max_time

    def is_stalled(self, run: Run) -> bool:
        """Return whether a run has not improved for too long."""
        return self.patience is not None and has_found(run) and run.stalled >= self.patience


@dataclass(frozen=True, repr=False)
class SelectorProgress(Progress):
    """Progress of a selector."""

    task: "SelectionTask"
    elapsed: float  # seconds since the start of the search

    @property
    def mask(self) -> BoolArray:
        """The subset with the best score, as a mask over all features."""
        return self.task.widen(self.leader.best)

    @property
    def score(self) -> float:
        """The best score so far, in the sense of `scoring`."""
        return self.task.score(self.error)

    @property
    def features(self) -> tuple[Any, ...]:
        """Names of the features with the best score; positions if there are no names."""
        return tuple(self.task.names[place] for place in np.flatnonzero(self.mask).tolist())

    @property
    def best_text(self) -> str:
        """The best score so far, such as ``"score 0.98"``."""
        return f"score {self.score:.4g}"

    def __repr__(self) -> str:
        shown = ", ".join(str(name) for name in self.features[:_NAMES])
        more = ", ..." if self.size > _NAMES else ""
        return f"{super().__repr__()} after {self.elapsed:.1f} s ({shown}{more})"


def has_found(run: Run) -> bool:
    """Return whether a run has evaluated a subset that it could return."""
    return bool(run.best.any())


def drive_selector_searches(
    runs: Sequence[Run], task: "SelectionTask", pool: Pool, limits: Limits, interrupts: "Interrupts",
    callbacks: Sequence[Callable[[Progress], object]] = (), save: Callable[[], object] | None = None,
) -> StopReason:  # fmt: skip
    """Advance all runs in lockstep to their ends, and return why they ended.

    Time and Ctrl-C stop them after any evaluation, once there is a subset to return; `save` is called after each step,
    and the callbacks after each batch. `pool` receives the subsets.
    """
    began, total = time.monotonic(), sum(run.max_evaluations for run in runs)
    stoppable = _StoppableEvaluator(task, runs, pool, limits, interrupts)
    while active := [run for run in runs if not run.done and not limits.is_stalled(run)]:
        step(active, stoppable, whole=False)
        if save is not None:
            save()
        if stoppable.reason == "interrupted":
            return "interrupted"
        evaluated = sum(run.n_evaluations for run in runs)
        progress = SelectorProgress(tuple(runs), evaluated, total, task, time.monotonic() - began)
        answers = [interrupts.attempt(callback, progress) for callback in callbacks]
        if interrupts.pressed:
            return "interrupted"
        if any(isinstance(answer, bool | np.bool_) and answer for answer in answers):
            return "callback"
        if stoppable.reason is not None:
            return stoppable.reason
    if any(run.n_evaluations >= run.max_evaluations for run in runs):
        return "max_evaluations"
    return "patience" if any(limits.is_stalled(run) for run in runs) else "finished"


class _StoppableEvaluator:
    """Evaluates a batch in parts, and returns the errors known so far when the time is over or Ctrl-C was pressed."""

    def __init__(
        self, task: "SelectionTask", runs: Sequence[Run], pool: Pool, limits: Limits, interrupts: "Interrupts"
    ) -> None:
        self._pool = pool
        self._memo = CachedEvaluator(task.evaluator)
        self.n_features, self.blocks = self._memo.n_features, self._memo.blocks
        self._limits, self._interrupts, self._jobs = limits, interrupts, task.n_jobs
        self._size = runs[0].search.size
        self._found = any(has_found(run) for run in runs)
        self._count = task.n_jobs
        self.reason: StopReason | None = None

    def errors(self, masks: BoolArray) -> FloatArray:
        return np.concatenate([np.empty(0), *self._in_parts(self._memo.errors, masks)])

    def raced(self, masks: BoolArray, first: IntArray, limits: FloatArray) -> FloatArray:
        return np.concatenate([np.empty((0, 4)), *self._in_parts(self._memo.raced, masks, first, limits)])

    def _in_parts(self, evaluate: Callable[..., FloatArray], masks: BoolArray, *more: AnyArray) -> list[FloatArray]:
        found: list[FloatArray] = []
        done = 0
        while done < len(masks) and self.reason is None:
            here = slice(done, done + self._count)
            part = masks[here]
            errors = self._evaluate(evaluate, part, *(each[here] for each in more))
            if errors is not None:
                found.append(errors)
                whole = errors if errors.ndim == 1 else errors[:, 3]
                self._pool.add(part, whole)
                done += len(part)
                sizes = part.sum(axis=1)[~np.isnan(whole)]
                self._found |= bool((sizes > 0 if self._size is None else sizes == self._size).any())
            if self._found and self._interrupts.pressed:
                self.reason = "interrupted"
            elif self._found and self._limits.is_late():
                self.reason = "max_time"
        return found

    def _evaluate(self, evaluate: Callable[..., FloatArray], part: BoolArray, *more: AnyArray) -> FloatArray | None:
        """The errors, or None if Ctrl-C was pressed; the first subset is evaluated in any case."""
        known, began = self._memo.n_hits, time.perf_counter()
        run = self._interrupts.attempt if self._found else self._interrupts.insist
        errors = run(evaluate, part, *more)
        new = len(part) - (self._memo.n_hits - known)
        if new:
            self._count = max(self._jobs, int(_PART * new / max(time.perf_counter() - began, 1e-9)))
        return errors


class Interrupts:
    """Inside this context Ctrl-C is only noted in `pressed`, so that no step of a search is left half done.

    Nothing changes in threads other than the main one, which get no signals, or if the present handler of SIGINT is not
    a function.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._heeds: Literal["no", "second", "first"] = "no"
        self._previous: Any = None

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        before, self.pressed = self.pressed, True
        if self._heeds == "first" or (before and self._heeds == "second"):
            self._previous(number, frame)

    def attempt(self, work: Callable[..., _T], *given: Any) -> _T | None:
        """Return the result of ``work(*given)``, or None if Ctrl-C was pressed before or meanwhile."""
        if self.pressed:
            return None
        try:
            return self._call("first", work, given)
        except KeyboardInterrupt:
            self.pressed, self._heeds = True, "no"
            return None

    def insist(self, work: Callable[..., _T], *given: Any) -> _T:
        """Return the result of ``work(*given)``, in spite of Ctrl-C; a second Ctrl-C raises KeyboardInterrupt."""
        return self._call("second", work, given)

    def _call(self, heeds: Literal["second", "first"], work: Callable[..., _T], given: tuple[Any, ...]) -> _T:
        self._heeds = heeds
        try:
            return work(*given)
        finally:
            self._heeds = "no"


def warn_if_search_is_slow(choice: EvaluatorChoice, evaluations: int, n_jobs: int) -> None:
    """Warn of a search that will take more than a minute, estimated from a few subsets, and say how to limit it."""
    each = choice.measure() if evaluations else 0.0
    if each * evaluations > _SLOW:  # one by one; batches may be faster
        each = _time_search_batch(choice) if each <= _QUICK else each / n_jobs
    seconds = each * evaluations
    if seconds > _SLOW:
        warnings.warn(
            f"the search will take about {seconds:.0f} s{_search_duration_text(seconds)}: {evaluations} evaluations at "
            f"{each:.2g} s each. Limit it by max_time or patience, lower max_evaluations, use more n_jobs or a "
            f"faster estimator; Ctrl-C keeps the best subset found. max_time or verbose silence this warning.",
            stacklevel=6,
        )


def _time_search_batch(choice: EvaluatorChoice) -> float:
    """Seconds per subset in a random batch."""
    masks = stream(0, ()).random((_BATCH, choice.evaluator.n_features)) < 0.5
    began = time.perf_counter()
    choice.evaluator.errors(masks)
    return (time.perf_counter() - began) / _BATCH


def _search_duration_text(seconds: float) -> str:
    if seconds < 120:
        return ""
    return f" ({seconds / 60:.0f} minutes)" if seconds < 7200 else f" ({seconds / 3600:.0f} hours)"
