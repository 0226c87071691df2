"""Work in threads, off the event loop, that stops when nobody waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

from pqswarm._base.threads import one_blas_thread

__all__ = ["Cancelled", "Job", "Jobs"]

_Found = TypeVar("_Found")


class Cancelled(Exception):  # noqa: N818 (not an error)
    """Nobody waits for the work any more."""


class Job:
    """Work for somebody who may go away.

    Examples
    --------
    >>> job = Job()
    >>> job.check()
    >>> job.cancel()
    >>> job.cancelled
    True
    """

    def __init__(self) -> None:
        self._gone = Event()

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits any more."""
        return self._gone.is_set()

    def cancel(self) -> None:
        """Stop the work at its next check."""
        self._gone.set()

    def check(self, *_: object) -> None:
        """Raise :class:`Cancelled` if nobody waits any more; long work calls it often, as a progress callback say."""
        if self._gone.is_set():
            raise Cancelled


class Jobs:
    """Pools of threads: for answers that somebody waits for, for pictures of long recordings, and for long work."""

    def __init__(self) -> None:
        self._answers = ThreadPoolExecutor(3, thread_name_prefix="answer")
        self._pictures = ThreadPoolExecutor(1, thread_name_prefix="picture")
        self._background = ThreadPoolExecutor(1, thread_name_prefix="background")
        self._begun: set[Job] = set()
        self.is_closed = False

    async def answer(self, job: Job, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """Return what ``function(job, *arguments)`` returns, run in a thread."""
        return await self._run(self._answers, job, function, arguments)

    async def picture(self, job: Job, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """The same, one after the other, beside the answers: a picture takes shape while it is looked at."""
        return await self._run(self._pictures, job, function, arguments)

    async def background(self, job: Job, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """The same, after all other work of the background."""
        return await self._run(self._background, job, function, arguments)

    async def _run(
        self, pool: ThreadPoolExecutor, job: Job, function: Callable[..., _Found], arguments: tuple[Any, ...]
    ) -> _Found:
        def run() -> _Found:
            job.check()
            with one_blas_thread():  # those of the libraries would wait for each other, and the page for them
                return function(job, *arguments)

        self._begun.add(job)
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, run)
        finally:
            self._begun.discard(job)

    def close(self) -> None:
        """Begin no more work, and stop what was begun: the process would wait for it."""
        self.is_closed = True
        for job in self._begun:
            job.cancel()
        for pool in (self._answers, self._pictures, self._background):
            pool.shutdown(wait=False, cancel_futures=True)
