"""What a worker does: advance some runs together for a few seconds, and return them."""

import multiprocessing
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError, naming_plugin
from pqswarm.evaluation import CachedEvaluator, Classifier
from pqswarm.search import Run, Search, advance_runs
from pqswarm.search.base import checked_errors
from pqswarm.study.problem import StudyProblem
from pqswarm.study.records import Checkpoint, RunKey, RunRecord

_MAX_EVALUATORS = 2  # kept by a worker: one for each of the paper's classifiers
_MEMORY = 400_000  # subsets remembered by each
_evaluators: OrderedDict[str, CachedEvaluator] = OrderedDict()  # of this process
_evaluators_lock = threading.Lock()


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """A search, its parameters, the number of evaluations, and the seed."""

    search: type[Search]  # the class, not its name: it may come from the user's module
    parameters: Mapping[str, Any]
    max_evaluations: int
    seed: int


@dataclass(frozen=True, eq=False)
class RunGroup:
    """Runs on one problem that step together."""

    problem: StudyProblem
    planned: Mapping[RunKey, PlannedRun]
    checkpoints: Mapping[RunKey, Checkpoint]  # of runs that have started
    slices: int = 0  # of time used so far
    device: str = "cpu"  # where subsets are evaluated


@dataclass(frozen=True, eq=False)
class Outcome:
    """The runs of a group after a time slice: finished or running."""

    finished: tuple[RunRecord, ...]
    running: tuple[Checkpoint, ...]
    evaluations: int  # in the slice
    seconds: float  # duration
    evaluating: float  # seconds of that spent in the evaluator


def begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and exit when it has ended, possibly before this one started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        above = multiprocessing.parent_process()
        if os.name == "nt" and above is not None:
            above.join()  # Windows keeps reporting the ID of an ended parent
        while os.name != "nt" and os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def advance(group: RunGroup, limit: float) -> Outcome:
    """Advance the runs of a group until they are done or the time limit [s] is reached; batches are finished."""
    start = time.monotonic()
    evaluator = _TimedEvaluator(_evaluator(group.problem, group.device), group.problem.classifier)
    runs = [_resume_run(group, key, evaluator) for key in group.planned]
    before = sum(run.n_evaluations for run in runs)
    while not all(run.done for run in runs):
        advance_runs(runs, evaluator)
        if time.monotonic() - start >= limit:
            break
    seconds = time.monotonic() - start
    finished = []
    running = []
    for (key, planned), run in zip(group.planned.items(), runs, strict=True):
        spent = seconds / len(runs) + (group.checkpoints[key].seconds if key in group.checkpoints else 0.0)
        if run.done:
            groups = group.problem.groups
            result = run.result()
            finished.append(
                RunRecord(key, planned.seed, result if groups is None else groups.expand_result(result), spent)
            )
        else:
            running.append(Checkpoint(key, run.n_evaluations, run.best_error, run.state(), spent))
    evaluations = sum(run.n_evaluations for run in runs) - before
    return Outcome(tuple(finished), tuple(running), evaluations, seconds, evaluator.seconds)


def _resume_run(group: RunGroup, key: RunKey, evaluator: "_TimedEvaluator") -> Run:
    """A run at its checkpoint; without a usable one it starts again."""
    planned = group.planned[key]

    def make() -> Run:
        search = planned.search(evaluator.n_features, planned.seed, dict(planned.parameters))
        return Run(search, planned.max_evaluations, evaluator.blocks)

    run = make()
    if key in group.checkpoints:
        try:
            with naming_plugin("search", run.search):
                run.restore(group.checkpoints[key].state)
        except PqswarmError:
            if group.slices:  # it is its own state, not one from a damaged store
                raise
            return make()
    return run


class _TimedEvaluator:
    """An evaluator that measures its time, and says in errors whose they are."""

    def __init__(self, evaluator: CachedEvaluator, classifier: Classifier) -> None:
        self._evaluator = evaluator
        self._classifier = classifier
        self.n_features = evaluator.n_features
        self.blocks = evaluator.blocks
        self.seconds = 0.0

    def errors(self, masks: BoolArray) -> FloatArray:
        return self._timed(self._evaluator.errors, masks)

    def raced(self, *given: AnyArray) -> FloatArray:
        return self._timed(self._evaluator.raced, *given)

    def _timed(self, evaluate: Callable[..., FloatArray], *given: AnyArray) -> FloatArray:
        start = time.monotonic()
        with naming_plugin("classifier", self._classifier):
            errors = checked_errors(evaluate(*given), len(given[0]), raced=len(given) > 1)
        self.seconds += time.monotonic() - start
        return errors


def _evaluator(problem: StudyProblem, device: str) -> CachedEvaluator:
    """The evaluator of a problem, kept between slices; on the CPU it uses one thread."""
    key = f"{device} {problem.key}"
    with _evaluators_lock:
        if key not in _evaluators:
            _evaluators[key] = CachedEvaluator(problem.searched(1 if device == "cpu" else None, device), _MEMORY)
            while len(_evaluators) > _MAX_EVALUATORS:
                _evaluators.popitem(last=False)
        _evaluators.move_to_end(key)
        return _evaluators[key]
