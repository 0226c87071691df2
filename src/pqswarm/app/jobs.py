"""Work in threads, off the event loop: visitors take turns, and work stops when its result is no longer needed."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Event, Thread
from typing import Any, Literal, TypeVar

from pqswarm._base.threads import one_blas_thread

_Found = TypeVar("_Found")
_THREADS = {"answer": (3, 1), "envelope": (1, 0), "background": (1, 0), "studies": (1, 0)}
"""Threads of each pool, and how many of them run only functions that were short before."""
_SHORT = 0.1
"""Mean time of a short function [s]."""
_MAX_WAITING = 50
"""Maximum number of waiting functions of a visitor."""
_GRACE = 5.0
"""Time for running work to end after the server stopped [s]."""


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


class _Call:
    """A function that waits for a thread, and its owner."""

    def __init__(self, owner: str, name: str, function: Callable[[], Any]) -> None:
        self.owner, self.name, self.function = owner, name, function
        self.future: Future[Any] = Future()


class _Pool:
    """Threads that serve the owner with the fewest running calls first, and then the one who has waited longest.

    They are daemons: exit does not wait for a call that hangs.
    """

    def __init__(self, name: str, n_threads: int, n_short: int) -> None:
        self._threads = [
            Thread(target=self._serve, args=(i < n_short,), name=f"{name}-{i}", daemon=True) for i in range(n_threads)
        ]
        self._changed = Condition()
        self._waiting: dict[str, deque[_Call]] = {}
        self._running: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._closed = False

    def n_waiting(self, owner: str) -> int:
        return len(self._waiting.get(owner, ()))

    def submit(self, call: _Call) -> None:
        with self._changed:
            if not any(thread.ident for thread in self._threads):
                for thread in self._threads:
                    thread.start()
            if self._closed:
                call.future.cancel()
            self._waiting.setdefault(call.owner, deque()).append(call)
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            for queue in self._waiting.values():
                for call in queue:
                    call.future.cancel()
            self._changed.notify_all()

    def join(self, end: float) -> bool:
        """Wait for all threads until a time; return whether they ended."""
        for thread in self._threads:
            if thread.ident:
                thread.join(max(end - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in self._threads)

    def _next(self, only_short: bool) -> _Call | None:
        for owner in sorted(self._waiting, key=self._running.__getitem__):
            queue = self._waiting[owner]
            call = next((one for one in queue if not only_short or self._seconds.get(one.name, 1.0) < _SHORT), None)
            if call is not None:
                queue.remove(call)
                del self._waiting[owner]
                if queue:
                    self._waiting[owner] = queue  # behind all others
                return call
        return None

    def _wait(self, only_short: bool) -> _Call | None:
        """Wait for a call; return None at the end."""
        with self._changed:
            while not self._closed:
                call = self._next(only_short)
                if call is not None:
                    self._running[call.owner] += 1
                    return call
                self._changed.wait()
        return None

    def _serve(self, only_short: bool) -> None:
        while (call := self._wait(only_short)) is not None:
            start = time.monotonic()
            if call.future.set_running_or_notify_cancel():
                try:
                    call.future.set_result(call.function())
                except BaseException as error:  # noqa: BLE001 (the caller receives it)
                    call.future.set_exception(error)
            with self._changed:
                spent = time.monotonic() - start
                self._seconds[call.name] = (spent + self._seconds.get(call.name, spent)) / 2
                self._running[call.owner] -= 1
                if not self._running[call.owner]:
                    del self._running[call.owner]


class Jobs:
    """Threads for answers to requests, envelopes of long recordings, background work, and stores of studies."""

    def __init__(self) -> None:
        self._pools = {name: _Pool(name, *threads) for name, threads in _THREADS.items()}
        self._running: set[Job] = set()
        self.is_closed = False

    def is_busy_for(self, owner: str) -> bool:
        """Whether a visitor has as many functions waiting as allowed."""
        return self._pools["answer"].n_waiting(owner) >= _MAX_WAITING

    async def run(
        self,
        job: Job,
        function: Callable[..., _Found],
        *arguments: Any,
        pool: Literal["answer", "envelope", "background", "studies"] = "answer",
        owner: str = "",
    ) -> _Found:
        """Return ``function(*arguments)``, run in a thread of a pool, unless the job is cancelled first."""

        def run() -> _Found:
            job.check()
            with one_blas_thread():  # several BLAS threads would contend with those of other requests
                return function(*arguments)

        self._running.add(job)
        try:
            call = _Call(owner, getattr(function, "__qualname__", ""), run)
            self._pools[pool].submit(call)
            found: _Found = await asyncio.wrap_future(call.future)
            return found
        finally:
            self._running.discard(job)

    def close(self) -> None:
        """Start no more work and cancel what is running."""
        self.is_closed = True
        for job in self._running:
            job.cancel()
        for pool in self._pools.values():
            pool.close()

    def join(self) -> bool:
        """Wait a while for running work to end; return whether it did."""
        end = time.monotonic() + _GRACE
        return all(pool.join(end) for pool in self._pools.values())
