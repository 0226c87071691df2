"""Work in threads, off the event loop, that stops when the result is no longer needed."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Literal, TypeVar

from pqswarm._base.threads import one_blas_thread

_Found = TypeVar("_Found")
_THREADS = {"answer": 3, "envelope": 1, "background": 1}


class Cancelled(Exception):  # noqa: N818 (not an error)
    """The result is no longer needed."""


class Job:
    """Work that can be cancelled."""

    def __init__(self) -> None:
        self._cancelled = Event()

    @property
    def cancelled(self) -> bool:
        """Whether the job was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop the work at its next check."""
        self._cancelled.set()

    def check(self, *_: object) -> None:
        """Raise :class:`Cancelled` if the job was cancelled; long work calls this often, e.g. as progress callback."""
        if self._cancelled.is_set():
            raise Cancelled


class Jobs:
    """Thread pools for answers to requests, for envelopes of long recordings, and for background work."""

    def __init__(self) -> None:
        self._pools = {name: ThreadPoolExecutor(n, thread_name_prefix=name) for name, n in _THREADS.items()}
        self._running: set[Job] = set()
        self.is_closed = False

    async def run(
        self,
        job: Job,
        function: Callable[..., _Found],
        *arguments: Any,
        pool: Literal["answer", "envelope", "background"] = "answer",
    ) -> _Found:
        """Return ``function(*arguments)``, run in a thread of a pool, unless the job is cancelled first."""

        def run() -> _Found:
            job.check()
            with one_blas_thread():  # several BLAS threads would contend with those of other requests
                return function(*arguments)

        self._running.add(job)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pools[pool], run)
        finally:
            self._running.discard(job)

    def close(self) -> None:
        """Start no more work and cancel what is running; otherwise the process would wait for it."""
        self.is_closed = True
        for job in self._running:
            job.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
