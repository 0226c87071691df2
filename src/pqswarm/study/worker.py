"""Workers of a study: a slice of work on runs that step together, and the pools of workers that do it."""

import gc
import hashlib
import logging
import multiprocessing.connection
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, Literal

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, how_to_install, naming_plugin
from pqswarm.evaluation import (
    CachedEvaluator,
    ClassificationEvaluator,
    Classifier,
    FeatureGroups,
    Folds,
    GroupedEvaluator,
)
from pqswarm.search import Run, Search, advance_runs
from pqswarm.search.base import checked_errors
from pqswarm.study.records import Checkpoint, RunKey, RunRecord


@dataclass(frozen=True, eq=False)
class StudyProblem:
    """The cross-validated error of a classifier on given events, for any process."""

    X: FloatArray  # (n_events, n_features)
    y: IntArray  # (n_events,)
    test_fold: IntArray  # (n_events,): the fold in which each event is tested
    classifier: Classifier
    scaling: Literal["once", "minmax", "standard", "robust"] = "once"
    groups: FeatureGroups | None = None  # the features that each bit of a search selects; None: one each

    @cached_property
    def key(self) -> str:
        """A digest of everything that determines the errors."""
        # Digests are older than this option.
        settings = [each for each in self.classifier.settings.items() if each != ("underflow", False)]
        classifier = (self.classifier.name, sorted(settings), self.scaling)
        digest = hashlib.sha256(repr(classifier).encode())
        for array in (self.X, self.y, self.test_fold, *([self.groups.owner] if self.groups else [])):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def evaluator(self, n_jobs: int | None = None, device: str = "cpu") -> ClassificationEvaluator:
        """Return the evaluator of the classifier, for a number of threads and a device."""
        return self.classifier.evaluator(
            self.X, self.y, Folds(self.test_fold), scaling=self.scaling, n_jobs=n_jobs, device=device
        )

    def error_of_all(self, n_jobs: int) -> float:
        """Return the error of all features; refuse a classifier of another package that violates its contract."""
        masks = np.ones((3, self.X.shape[1]), dtype=np.bool_)
        masks[2, 0] = False
        with naming_plugin("classifier", self.classifier):
            evaluator = self.evaluator(n_jobs)
            errors, again = (checked_errors(evaluator.errors(masks), 3) for _ in range(2))
            if masks.sum() != masks.size - 1 or errors[0] != errors[1] or (again != errors).any():
                raise PqswarmError("it changes the masks, or gives a subset two errors")
            if errors.min() < 0.0 or errors.max() > 1.0:
                raise PqswarmError(f"its errors must be from 0 to 1, not {errors.tolist()}")
        return float(errors[0])

    def searched(self, n_jobs: int | None = None, device: str = "cpu") -> Any:
        """Return the evaluator of the bits of a search."""
        evaluator = self.evaluator(n_jobs, device)
        return evaluator if self.groups is None else GroupedEvaluator(evaluator, self.groups)


_GPU_THREADS = 3  # while one waits for the GPU, the others prepare the next subsets
# Evaluators that a process keeps: on the CPU one for each of the paper's classifiers, on a GPU one for each thread.
# With fewer, each slice of a thread would begin by making its evaluator again.
_MAX_EVALUATORS = {"cpu": 2, "cuda": _GPU_THREADS}
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


def begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and exit when it has ended, possibly before this one started.

    Where psutil is installed, joblib ends a worker that has grown by 300 MB since its first call, and warns of it. A
    worker of a study grows by that much when it imports and compiles what it needs, and keeps subsets on purpose.
    """
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False
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
    evaluator = _CheckedEvaluator(_worker_evaluator(group.problem, group.device), group.problem.classifier)
    runs = [_resume_run(group, key, evaluator) for key in group.planned]
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
    return Outcome(tuple(finished), tuple(running))


def _resume_run(group: RunGroup, key: RunKey, evaluator: "_CheckedEvaluator") -> Run:
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


class _CheckedEvaluator:
    """An evaluator that checks what it returns, and says in errors whose they are."""

    def __init__(self, evaluator: CachedEvaluator, classifier: Classifier) -> None:
        self._evaluator = evaluator
        self._classifier = classifier
        self.n_features = evaluator.n_features
        self.blocks = evaluator.blocks

    def errors(self, masks: BoolArray) -> FloatArray:
        return self._checked(self._evaluator.errors, masks)

    def raced(self, *given: AnyArray) -> FloatArray:
        return self._checked(self._evaluator.raced, *given)

    def _checked(self, evaluate: Callable[..., FloatArray], *given: AnyArray) -> FloatArray:
        with naming_plugin("classifier", self._classifier):
            return checked_errors(evaluate(*given), len(given[0]), raced=len(given) > 1)


def _worker_evaluator(problem: StudyProblem, device: str) -> CachedEvaluator:
    """The evaluator of a problem, kept between slices; on the CPU it uses one thread."""
    key = f"{device} {problem.key}"
    with _evaluators_lock:
        if key not in _evaluators:
            _evaluators[key] = CachedEvaluator(problem.searched(1 if device == "cpu" else None, device), _MEMORY)
            while len(_evaluators) > _MAX_EVALUATORS[device]:
                _evaluators.popitem(last=False)
        _evaluators.move_to_end(key)
        return _evaluators[key]


_PATIENCE = "10s"  # in which a Dask scheduler must answer
_LAST_WORDS = 2.0  # seconds in which joblib itself ends the workers after one has died


class InlineExecutor(Executor):
    """An executor that works immediately, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run the function now; :meth:`WorkerPool.submit` catches its errors."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class WorkerPool:
    """An executor, its number of parallel slices, and how to restart it when a worker has died."""

    def __init__(self, make: Callable[[], Executor], slots: int, slice_seconds: float, device: str = "cpu") -> None:
        self._make = make
        self.device = device  # where the workers evaluate subsets
        self._executor: Executor | None = None  # created on first use
        self.slots = slots  # parallel slices
        self.slice_seconds = slice_seconds  # target duration of a slice

    def submit(self, fn: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Start a slice; errors, such as the death of an idle worker, become its result."""
        try:
            if self._executor is None:
                self._executor = self._make()
            return self._executor.submit(fn, *args)
        except Exception as error:  # noqa: BLE001 (raised again by the caller)
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed

    def restart(self) -> None:
        """Restart after the death of a worker."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        self._executor = None

    def close(self, kill: bool = False) -> None:
        """Stop the workers; with `kill` also those that are working."""
        if self._executor is None:
            return
        if kill and "kill_workers" in signature(self._executor.shutdown).parameters:
            self._executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
        else:
            self._executor.shutdown(wait=not kill)


def is_worker_death(error: BaseException | None) -> bool:
    """Whether a worker died, by the error names of all executors."""
    return type(error).__name__ in ("BrokenProcessPool", "TerminatedWorkerError", "KilledWorker", "BrokenExecutor")


@contextmanager
def worker_pool(jobs: int, cluster: str | None = None, device: str = "cpu") -> Iterator[WorkerPool]:
    """Open a pool of workers: a Dask cluster, processes, or this process for a single job; threads of it feed a GPU."""
    if cluster is not None:
        with _dask_pool(cluster, device) as pool:
            yield pool
        return
    if device == "cuda":
        pool = WorkerPool(lambda: ThreadPoolExecutor(_GPU_THREADS), _GPU_THREADS, 5.0, device)
    else:
        pool = WorkerPool(
            InlineExecutor if jobs == 1 else lambda: _process_executor(jobs), jobs, 2.0 if jobs == 1 else 5.0
        )
    try:
        yield pool
    except BaseException:
        pool.close(kill=True)
        raise
    pool.close()


def _process_executor(jobs: int) -> Any:
    """Create an executor of processes by joblib, which is more robust than plain multiprocessing."""
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=jobs, initializer=begin_worker, initargs=(os.getpid(),), timeout=None)
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        return executor
    from multiprocessing import resource_tracker

    # Ctrl-C is also sent to the workers; they inherit the blocked signal and ignore it from the start.
    resource_tracker.ensure_running()  # it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        executor.submit(int)  # starts all workers
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    executor._result_queue._writer.close()  # only workers write: without them, a half-written result ends
    threading.Thread(target=_end_together, args=(list(executor._processes.values()),), daemon=True).start()
    return executor


def _end_together(workers: Sequence[Any]) -> None:
    """End all workers after one has died: the rest of a result that it was sending is awaited while any can write."""
    multiprocessing.connection.wait([worker.sentinel for worker in workers])
    time.sleep(_LAST_WORDS)
    for worker in workers:
        with suppress(ProcessLookupError):
            if worker.is_alive():
                os.kill(worker.pid, signal.SIGKILL)


@contextmanager
def _dask_pool(address: str, device: str) -> Iterator[WorkerPool]:
    try:
        from distributed import Client
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise PqswarmError(f"a Dask cluster needs the package distributed: {how_to_install('dask')}.") from None
    try:
        client: Any = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise PqswarmError(
            f"there is no Dask scheduler at {address!r}: {error}. Start one with 'dask scheduler'."
        ) from None
    with _quiet_dask_loggers("distributed", "distributed.client", "asyncio", "tornado.application"), client:
        threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
        if not threads:
            raise PqswarmError(
                f"the Dask cluster at {address} has no workers: start some with 'dask worker {address}'."
            )
        try:
            # A slice goes to another worker when its own dies.
            yield WorkerPool(lambda: client.get_executor(pure=False, retries=5), 2 * threads, 5.0, device)
        except (CancelledError, CommClosedError):
            raise PqswarmError(
                f"the Dask cluster at {address} was lost. Results so far are kept: run the same command again when "
                f"the cluster is back."
            ) from None


@contextmanager
def _quiet_dask_loggers(*names: str) -> Iterator[None]:
    """Silence loggers whose errors are reported elsewhere."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        gc.collect()  # abandoned tasks log their errors when they are collected
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
