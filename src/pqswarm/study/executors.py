"""Executors of the searches: this process, processes on this machine, or a Dask cluster."""

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from inspect import signature
from typing import Any

from pqswarm.errors import PqswarmError, how_to_install
from pqswarm.study.worker import begin_worker

_GPU_THREADS = 3  # while one waits for the GPU, the others prepare the next subsets
_PATIENCE = "10s"  # in which a Dask scheduler must answer


class InlineExecutor(Executor):
    """An executor that works immediately, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run the function now."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (raised again by the caller)
            future.set_exception(error)
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


def is_death(error: BaseException | None) -> bool:
    """Whether a worker died, by the error names of all executors."""
    return type(error).__name__ in ("BrokenProcessPool", "TerminatedWorkerError", "KilledWorker", "BrokenExecutor")


@contextmanager
def worker_pool(jobs: int, cluster: str | None = None, device: str = "cpu") -> Iterator[WorkerPool]:
    """Open a pool of workers: a Dask cluster, processes, or this process for a single job; threads of it feed a GPU."""
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
    """Create processes by joblib, which is more robust than plain multiprocessing."""
    from joblib.externals.loky import ProcessPoolExecutor

    made: Executor = ProcessPoolExecutor(
        max_workers=jobs, initializer=begin_worker, initargs=(os.getpid(),), timeout=None
    )
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        return made
    from multiprocessing import resource_tracker

    # Ctrl-C is also sent to the workers; they inherit the blocked signal and ignore it from the start.
    resource_tracker.ensure_running()  # it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        made.submit(int)  # starts all workers
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return made


@contextmanager
def _dask(address: str, device: str) -> Iterator[WorkerPool]:
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
    with _quiet_executor_loggers("distributed", "distributed.client", "asyncio", "tornado.application"), client:
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
def _quiet_executor_loggers(*names: str) -> Iterator[None]:
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
