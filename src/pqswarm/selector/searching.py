"""Drive the runs of a selector until a limit is reached, the user stops them, or they end; and estimate the time."""

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pqswarm._base.random import stream
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.evaluation import EvaluatorChoice
from pqswarm.search import Progress, Run, step

__all__ = [
    "Interrupts",
    "Limits",
    "MappedProgress",
    "StopReason",
    "drive_selector_searches",
    "has_found",
    "warn_if_search_is_slow",
]

StopReason = Literal["max_evaluations", "max_time", "patience", "callback", "interrupted", "finished"]
"""Why a search ended; ``"finished"``: the algorithm ended by itself, or knew all subsets."""

_SLOW = 60.0  # seconds; longer searches get a warning
_BATCH = 32  # subsets per batch, as in searches
_QUICK = 0.05  # seconds per subset up to which a batch is timed


@dataclass(frozen=True)
class Limits:
    """Limits beyond the budget: seconds, and evaluations without improvement."""

    max_time: float | None = None
    patience: int | None = None

    def is_stalled(self, run: Run) -> bool:
        """Return whether a run has not improved for too long."""
        return self.patience is not None and has_found(run) and run.stalled >= self.patience


@dataclass(frozen=True)
class MappedProgress(Progress):
    """Progress of runs on some of the features, with a mask over all features."""

    kept: BoolArray

    @property
    def mask(self) -> BoolArray:
        """The subset with the lowest error, as a mask over all features."""
        whole = np.zeros_like(self.kept)
        whole[self.kept] = self.leader.best
        return whole


def has_found(run: Run) -> bool:
    """Return whether a run has evaluated a subset that it could return."""
    return bool(run.best.any())


def drive_selector_searches(
    runs: Sequence[Run],
    evaluator: Any,
    limits: Limits,
    kept: BoolArray,
    callback: Callable[[Progress], object] | None = None,
    save: Callable[[], object] | None = None,
) -> StopReason:
    """Advance all runs in lockstep to their ends, and return why they ended; Ctrl-C takes effect between steps.

    `save` is called after each step, `callback` with the progress; it can stop the search. `max_time` stops it only
    after each run has found a subset.
    """
    began, total = time.monotonic(), sum(run.max_evaluations for run in runs)
    with Interrupts() as interrupts:
        interruptible = interrupts.interruptible(evaluator)
        while active := [run for run in runs if not run.done and not limits.is_stalled(run)]:
            step(active, interruptible)
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
    return "patience" if any(limits.is_stalled(run) for run in runs) else "finished"


class Interrupts:
    """Inside this context, SIGINT takes effect only in :meth:`window`; an earlier one waits for it.

    A search is thus never left in the middle of a step. Nothing changes in threads other than the main one, which get
    no signals, or if the present handler is not a function.
    """

    def __init__(self) -> None:
        self._open = False
        self._waiting: tuple[int, FrameType | None] | None = None
        self._previous: Any = None

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            if self._waiting is not None and kind is None:
                self._previous(*self._waiting)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._open:
            self._previous(number, frame)
        else:
            self._waiting = number, frame

    @contextmanager
    def window(self) -> Iterator[None]:
        """Let Ctrl-C take effect, including a pending one."""
        self._open = True
        try:
            if self._waiting is not None:
                waiting, self._waiting = self._waiting, None
                self._previous(*waiting)
            yield
        finally:
            self._open = False

    def interruptible(self, evaluator: Any) -> Any:
        """Return an evaluator during whose calls Ctrl-C takes effect."""
        return _InterruptibleSearchEvaluator(evaluator, self)


class _InterruptibleSearchEvaluator:
    def __init__(self, evaluator: Any, interrupts: Interrupts) -> None:
        self.n_features: int = evaluator.n_features
        self._evaluator, self._interrupts = evaluator, interrupts

    def errors(self, masks: npt.ArrayLike) -> FloatArray:
        with self._interrupts.window():
            found: FloatArray = self._evaluator.errors(masks)
        return found


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
            stacklevel=4,
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
