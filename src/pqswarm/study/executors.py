"""Where slices of work are done: in this process, in others on this machine, or on a Dask cluster."""

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from inspect import signature
from typing import Any

from pqswarm.errors import PqswarmError
from pqswarm.study.worker import begin_worker

__all__ = ["WorkerPool", "worker_pool"]

_GPU_THREADS = 3  # while one waits for the GPU, the others make the next subsets
_PATIENCE = "10s"  # in which a Dask scheduler must answer


class InlineExecutor(Executor):
    """An executor that does the work at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Do the work now."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (it is raised again where the result is taken)
            future.set_exception(error)
        return future


class WorkerPool:
    """An executor, how many slices it does at once, and how to restart it when a worker has died."""

    def __init__(self, make: Callable[[], Executor], slots: int, slice_seconds: float, device: str = "cpu") -> None:
        self._make = make
        self.device = device  # where its workers evaluate subsets
        self._executor: Executor | None = None  # made when there is something to do
        self.slots = slots  # slices in work at the same time
        self.slice_seconds = slice_seconds  # how long one should last

    def submit(self, fn: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Begin a slice."""
        if self._executor is None:
            self._executor = self._make()
        return self._executor.submit(fn, *args)

    def restart(self) -> None:
        """Begin anew after the death of a worker."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        self._executor = None

    def close(self, kill: bool = False) -> None:
        """End the workers; with `kill` also those in the midst of a slice."""
        if self._executor is None:
            return
        if kill and "kill_workers" in signature(self._executor.shutdown).parameters:
            self._executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
        else:
            self._executor.shutdown(wait=not kill)


@contextmanager
def worker_pool(jobs: int, cluster: str | None = None, device: str = "cpu") -> Iterator[WorkerPool]:
    """Open a pool of workers: a Dask cluster, or processes on this machine, of which one works in this process.

    Threads of this process feed a GPU.
    """
    if cluster is not None:
        with _dask(cluster, device) as pool:
            yield pool
        return
    if device == "cuda":
        pool = WorkerPool(lambda: ThreadPoolExecutor(_GPU_THREADS), _GPU_THREADS, 5.0, device)
    else:
        pool = WorkerPool(InlineExecutor if jobs == 1 else lambda: _processes(jobs), jobs, 2.0 if jobs == 1 else 5.0)
    try:
        yield pool
    except BaseException:
        pool.close(kill=True)
        raise
    pool.close()


def _processes(jobs: int) -> Executor:
    """Processes by joblib, which survives what plain multiprocessing does not."""
    from joblib.externals.loky import ProcessPoolExecutor

    made: Executor = ProcessPoolExecutor(
        max_workers=jobs, initializer=begin_worker, initargs=(os.getpid(),), timeout=None
    )
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        return made
    from multiprocessing import resource_tracker

    # Ctrl-C is sent to the workers too. They inherit that it is blocked, and so are deaf to it from the beginning.
    resource_tracker.ensure_running()  # which would unblock it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        made.submit(int)  # all workers begin with the first task
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return made


@contextmanager
def _dask(address: str, device: str) -> Iterator[WorkerPool]:
    try:
        from distributed import Client
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise PqswarmError("a Dask cluster needs the package distributed: pip install 'pqswarm[dask]'.") from None
    try:
        client: Any = Client(address, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise PqswarmError(
            f"there is no Dask scheduler at {address!r}: {error}. Start one with 'dask scheduler'."
        ) from None
    with _quiet("distributed", "distributed.client", "asyncio", "tornado.application"), client:
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
                f"the Dask cluster at {address} has gone. What was found is kept: run the same command again when "
                f"there is a cluster."
            ) from None


@contextmanager
def _quiet(*names: str) -> Iterator[None]:
    """Keep loggers from telling of errors that are told otherwise."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        gc.collect()  # tasks that nobody waits for any more tell of their errors when they go
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
