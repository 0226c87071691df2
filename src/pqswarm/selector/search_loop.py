"""Run the search of a selector until a limit or callback ends it, the user stops it, or it ends; estimate the time."""

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from types import FrameType
from typing import Any, Literal, TypeVar

import numpy as np

from pqswarm._base.checks import check_integer, check_positive
from pqswarm._base.random import stream
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import EvaluatorChoice
from pqswarm.search import Progress
from pqswarm.search.driver import budget_of, evaluate_batches, evaluations_of
from pqswarm.selector.plan import PlannedSearch
from pqswarm.selector.storage import Storage
from pqswarm.selector.task import SelectionTask

StopReason = Literal["max_evaluations", "max_time", "callback", "interrupted", "finished"]
"""Why a search ended; ``"finished"``: the algorithm ended by itself, or knew all subsets."""

_T = TypeVar("_T")
_SLOW = 60.0  # seconds; longer searches get a warning
_BATCH = 32  # subsets per batch, as in searches
_QUICK = 0.05  # seconds per subset up to which a batch is timed
_PART = 0.1  # seconds between two looks at the clock, unless one subset takes longer
_NAMES = 8  # features that a progress names


@dataclass(frozen=True, repr=False)
class SelectorProgress(Progress):
    """Progress of a selector; `searches` are those of its runs."""

    searches: tuple[PlannedSearch, ...]
    task: SelectionTask
    elapsed: float  # seconds since the start of the search

    @property
    def mask(self) -> BoolArray:
        """The subset with the best score, as a mask over all features."""
        leader = min(self.searches, key=lambda search: search.run.best_error)
        return leader.groups.expand(leader.run.best)

    @property
    def score(self) -> float:
        """The best score so far, in the sense of `scoring`."""
        return float(self.task.score(self.error))

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


class EarlyStopping:
    """Stop a search at a score, after evaluations that hardly raised it, or after some time.

    Parameters
    ----------
    score : float, default=None
        Stop when the best score reaches this.
    patience : int, default=None
        Stop when the score has risen by at most `tolerance` over this many evaluations.
    tolerance : float, default=0.0
        Rises of the score up to this do not count.
    max_time : float, default=None
        Seconds from the start of `fit` after which the search stops, within the time of one evaluation. At least one
        subset is evaluated.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm import SwarmSelector
    >>> selector = SwarmSelector(callbacks=EarlyStopping(score=0.95), random_state=0).fit(*load_wine(return_X_y=True))
    >>> selector.stop_reason_
    'callback'
    """

    def __init__(
        self,
        score: float | None = None,
        patience: int | None = None,
        tolerance: float = 0.0,
        max_time: float | None = None,
    ) -> None:
        if score is None and patience is None and max_time is None:
            raise PqswarmError("give a score, a patience or a max_time: without them nothing stops early.")
        self.score = score
        self.patience = None if patience is None else check_integer("patience", patience, 1)
        self.tolerance = tolerance
        self.max_time = None if max_time is None else check_positive("max_time", max_time, unit="of seconds")
        self._best = -float("inf")
        self._since = 0

    def __call__(self, progress: SelectorProgress) -> bool:
        """Return whether to stop; the time is watched by the search."""
        if progress.n_evaluations < self._since or progress.score > self._best + self.tolerance:
            self._best = progress.score
            self._since = progress.n_evaluations
        idle = self.patience is not None and progress.n_evaluations - self._since >= self.patience
        return idle or (self.score is not None and progress.score >= self.score)


def check_callbacks(given: Any) -> list[Callable[[Progress], object]]:
    """Return the callbacks of a selector as a list."""
    if given is None:
        return []
    callbacks = list(given) if isinstance(given, list | tuple) else [given]
    if not all(callable(callback) for callback in callbacks):
        raise PqswarmError(f"callbacks must be a function, a list of functions or None, not {given!r}.")
    return callbacks


def deadline_of(callbacks: Iterable[object]) -> float | None:
    """Return the time of ``time.monotonic`` at which the first `max_time` of the callbacks is over, from now on."""
    limits = (callback.max_time for callback in callbacks if isinstance(callback, EarlyStopping))
    first = min((limit for limit in limits if limit is not None), default=None)
    return None if first is None else time.monotonic() + first


class SearchLoop:
    """Advances searches in turn, in parts of a batch: time and Ctrl-C stop them after any evaluation.

    The first search of all finds something in any case.
    """

    def __init__(
        self,
        task: SelectionTask,
        interrupts: "Interrupts",
        callbacks: Sequence[Callable[[Progress], object]],
        storage: Storage | None,
    ) -> None:
        self.task = task
        self.interrupts = interrupts
        self.callbacks = callbacks
        self.storage = storage
        self.searches: list[PlannedSearch] = []
        self._part_size = task.n_jobs
        self._began = time.monotonic()

    def drive(self, searches: Sequence[PlannedSearch], deadline: float | None) -> StopReason:
        """Advance these searches until something ends them, and return what."""
        self.searches += searches
        while active := [search for search in searches if not search.run.done]:
            if self._is_over(deadline):
                return "interrupted" if self.interrupts.pressed else "max_time"
            is_urgent = active[0] is self.searches[0] and not self.searches[0].found
            search = active[0] if is_urgent else min(active, key=lambda search: search.run.n_evaluations)
            left = inf if deadline is None else deadline - time.monotonic()
            self._evaluate_batch(search, time.monotonic() + left / len(active))
            if self.storage is not None:
                self.storage.save_if_due()
            if self.searches[0].found and self.interrupts.pressed:
                return "interrupted"
            if self._callbacks_stop():
                return "interrupted" if self.interrupts.pressed else "callback"
        spent = all(search.run.n_evaluations >= search.run.max_evaluations for search in self.searches)
        return "max_evaluations" if spent else "finished"

    def _is_over(self, deadline: float | None) -> bool:
        """Whether Ctrl-C or the time ends the search, now that there is something to return."""
        late = deadline is not None and time.monotonic() >= deadline
        return self.searches[0].found and (late or self.interrupts.pressed)

    def _callbacks_stop(self) -> bool:
        """Call the callbacks; return whether one of them, or Ctrl-C meanwhile, stops the search."""
        runs = tuple(search.run for search in self.searches)
        to_come = self.task.max_evaluations - sum(run.max_evaluations for run in runs)
        elapsed = time.monotonic() - self._began
        progress = SelectorProgress(
            runs, evaluations_of(runs), budget_of(runs) + to_come, tuple(self.searches), self.task, elapsed
        )
        answers = [self.interrupts.attempt(callback, progress) for callback in self.callbacks]
        return self.interrupts.pressed or any(isinstance(answer, bool | np.bool_) and answer for answer in answers)

    def _evaluate_batch(self, search: PlannedSearch, deadline: float | None) -> None:
        """Evaluate the next batch of a search, or as much of it as the time allows."""
        masks = search.run.next_masks()
        done = 0
        while done < len(masks):
            part = masks[done : done + self._part_size]
            errors = self._evaluate(search, part)
            if errors is not None:
                search.best.add(part, errors if errors.ndim == 1 else errors[:, 3])
                search.run.take(part, errors, part.sum(axis=1))
                done += len(part)
            if self._is_over(deadline):
                return

    def _evaluate(self, search: PlannedSearch, part: BoolArray) -> FloatArray | None:
        """The errors, or None if Ctrl-C was pressed; the first subset is evaluated in any case."""
        hits = search.evaluator.n_hits
        began = time.perf_counter()
        call = self.interrupts.attempt if self.searches[0].found else self.interrupts.insist
        errors = call(evaluate_batches, [search.run], [part], search.evaluator)
        new = len(part) - (search.evaluator.n_hits - hits)
        if new:
            seconds = max(time.perf_counter() - began, 1e-9)
            self._part_size = max(self.task.n_jobs, int(_PART * new / seconds))
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
        again = self.pressed
        self.pressed = True
        if self._heeds == "first" or (again and self._heeds == "second"):
            self._previous(number, frame)

    def attempt(self, work: Callable[..., _T], *given: Any) -> _T | None:
        """Return the result of ``work(*given)``, or None if Ctrl-C was pressed before or meanwhile."""
        if self.pressed:
            return None
        try:
            return self._call("first", work, given)
        except KeyboardInterrupt:
            self.pressed = True
            self._heeds = "no"
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
    each = choice.seconds_per_subset
    if each * evaluations > _SLOW:  # one by one; batches may be faster
        batch = stream(0, ()).random((_BATCH, choice.evaluator.n_features)) < 0.5
        each = choice.time(batch) if each <= _QUICK else each / n_jobs
    seconds = each * evaluations
    if seconds > _SLOW:
        warnings.warn(
            f"the search will take about {seconds:.0f} s{_search_duration_text(seconds)}: {evaluations} evaluations at "
            f"{each:.2g} s each. Limit it by callbacks=EarlyStopping(max_time=...), lower max_evaluations, use more "
            f"n_jobs or a faster estimator; Ctrl-C keeps the best subset found. Any callback silences this warning.",
            stacklevel=6,
        )


def _search_duration_text(seconds: float) -> str:
    if seconds < 120:
        return ""
    return f" ({seconds / 60:.0f} minutes)" if seconds < 7200 else f" ({seconds / 3600:.0f} hours)"
