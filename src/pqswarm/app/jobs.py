"""Work in threads, off the event loop: visitors take turns, work stops when nobody needs it, and answers are kept."""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Any, Generic, Literal, TypeVar
from weakref import WeakValueDictionary

from pqswarm._base.threads import one_blas_thread

_Found = TypeVar("_Found")
_ANSWERING = 3
"""Threads for answers; one of them is left to short functions."""
_THREADS = {"answer": _ANSWERING, "envelope": 1, "background": 1, "studies": 1}
_SHORT = 0.1
"""Recent mean time of a short function [s]."""
_MAX_WAITING = 50
_MAX_WAITING_OF_SENDER = 150
"""Maximum number of waiting functions of a visitor, whose ID is what the browser says, and of one address."""
_GRACE = 5.0
"""Time for running work to end after the server stopped [s]."""
_MAX_ANSWERS = 12
_REUSE_FACTOR = 3
"""An answer about a changing subject is reused for this many times its computing time."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class JobCancelled(Exception):  # noqa: N818 (not an error)
    """The result is no longer needed."""


class Job(Event):
    """Work that can be canceled: it stops at its next check."""

    cancel = Event.set
    is_cancelled = Event.is_set

    def check(self, *_: object) -> None:
        """Raise :class:`JobCancelled` if it was canceled; long work calls this often, e.g. as progress callback."""
        if self.is_cancelled():
            raise JobCancelled


class Jobs:
    """Threads for answers to requests, envelopes of long recordings, background work, and stores of studies.

    Answers are computed in turns: of the visitor with the fewest running functions, then of the one who waited longest.
    Used on the event loop only.
    """

    def __init__(self) -> None:
        self._pools = {name: ThreadPoolExecutor(n, thread_name_prefix=name) for name, n in _THREADS.items()}
        self._running: set[Job] = set()
        self._calls: set[Future[Any]] = set()
        self._waiting: dict[str, deque[tuple[asyncio.Future[None], bool]]] = {}
        self._n_waiting: Counter[str] = Counter()
        self._active: Counter[str] = Counter()
        self._n_long = 0
        self._seconds: dict[str, float] = {}
        self.is_closed = False

    def is_busy_for(self, owner: str, sender: str = "") -> bool:
        """Whether a visitor, or all those of an address, have as many functions waiting as allowed."""
        own = len(self._waiting.get(owner, ()))
        return own >= _MAX_WAITING or self._n_waiting[sender] >= _MAX_WAITING_OF_SENDER

    async def run(
        self,
        job: Job,
        function: Callable[..., _Found],
        *arguments: Any,
        pool: Literal["answer", "envelope", "background", "studies"] = "answer",
        owner: str = "",
        sender: str = "",
    ) -> _Found:
        """Return ``function(*arguments)``, run in a thread of a pool, unless the job is canceled first."""

        def run() -> _Found:
            job.check()
            with one_blas_thread:  # several BLAS threads would contend with those of other requests
                return function(*arguments)

        async def call() -> _Found:
            future = self._pools[pool].submit(run)
            self._calls.add(future)
            future.add_done_callback(self._calls.discard)
            return await asyncio.wrap_future(future)

        self._running.add(job)
        try:
            if pool != "answer":
                return await call()
            found: _Found = await self._in_turn(call, owner, sender, getattr(function, "__qualname__", ""))
            return found
        finally:
            self._running.discard(job)

    async def _in_turn(self, call: Callable[..., Any], owner: str, sender: str, name: str) -> Any:
        is_long = self._seconds.get(name, 1.0) >= _SHORT
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append((turn, is_long))
        self._n_waiting[sender] += 1
        self._give_turns()
        try:
            try:
                await turn
            finally:
                self._n_waiting[sender] -= 1
            start = time.monotonic()
            found = await call()
            spent = time.monotonic() - start
            self._seconds[name] = (spent + self._seconds.get(name, spent)) / 2
            return found
        finally:
            if not turn.cancelled():
                self._active[owner] -= 1
                self._n_long -= is_long
                self._give_turns()

    def _give_turns(self) -> None:
        while self._active.total() < _ANSWERING:
            for owner in sorted(self._waiting, key=self._active.__getitem__):
                queue = self._waiting[owner]
                chosen = next((one for one in queue if not one[1] or self._n_long < _ANSWERING - 1), None)
                if chosen is not None:
                    break
            else:
                return
            queue.remove(chosen)
            del self._waiting[owner]
            if queue:
                self._waiting[owner] = queue  # behind all others
            if not chosen[0].done():  # nor canceled
                chosen[0].set_result(None)
                self._active[owner] += 1
                self._n_long += chosen[1]

    def close(self) -> None:
        """Start no more work and cancel what is running."""
        self.is_closed = True
        for job in self._running:
            job.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)

    def join(self) -> bool:
        """Wait a while for running work to end; return whether it did."""
        return not wait(self._calls.copy(), _GRACE).not_done


class AnswerCache:
    """Keeps answers and computes each only once, however many requests ask for it."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, ...], tuple[object, Any, float]] = OrderedDict()
        self._computing: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()

    async def get(
        self, key: tuple[str, ...], stamp: object, work: Callable[[], Awaitable[Any]], changing: bool = False
    ) -> Any:
        """Return the cached answer for a key, or the result of `work`.

        A cached answer must have the same stamp; while its subject is changing, a recent one is enough.
        """
        lock = self._computing.setdefault(key, asyncio.Lock())
        async with lock:
            known_stamp, answer, reusable_until = self._answers.get(key, (None, None, 0.0))
            if known_stamp != stamp and not (changing and time.monotonic() < reusable_until):
                start = time.monotonic()
                answer = await work()
                end = time.monotonic()
                self._answers[key] = stamp, answer, end + _REUSE_FACTOR * (end - start)
            self._answers.move_to_end(key)
            while len(self._answers) > _MAX_ANSWERS:
                self._answers.popitem(last=False)
            return answer


class ByteCache(Generic[_Key, _Value]):
    """Thread-safe cache of the most recently used objects, limited in bytes; the last one is always kept."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._entries: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: _Key) -> bool:
        return key in self._entries

    def get(self, key: _Key) -> _Value | None:
        """Return an entry and mark it as used."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def drop(self, matches: Callable[[_Key], bool]) -> None:
        """Remove the entries whose key matches."""
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                del self._entries[key]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        """Store an object of about `size` bytes."""
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = (value, size)
            total = sum(size for _, size in self._entries.values())
            while total > self.max_bytes and len(self._entries) > 1:
                total -= self._entries.popitem(last=False)[1][1]
