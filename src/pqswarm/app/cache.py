"""Caches in memory: answers that took time to compute, and the most recently used objects up to a number of bytes."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

_MAX_ANSWERS = 12
_MAX_CONCURRENT = 2
"""Answers computed at the same time; this leaves a thread for quick requests."""
_REUSE_FACTOR = 3
"""An answer about a changing subject is reused for this many times its computing time."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class AnswerCache:
    """Keeps answers and computes each only once, however many requests ask for it."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, ...], tuple[object, Any, float]] = OrderedDict()
        self._computing: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)

    async def get(
        self, key: tuple[str, ...], stamp: object, work: Callable[[], Awaitable[Any]], changing: bool = False
    ) -> Any:
        """Return the cached answer for a key, or the result of `work`.

        A cached answer must have the same stamp; while its subject is changing, a recent one is enough.
        """
        if self._holds(key, stamp, changing):
            return self._answers[key][1]
        lock = self._computing.setdefault(key, asyncio.Lock())
        async with lock:
            if not self._holds(key, stamp, changing):  # it was not computed meanwhile
                async with self._slots:
                    start = time.monotonic()
                    value = await work()
                    end = time.monotonic()
                self._answers[key] = stamp, value, end + _REUSE_FACTOR * (end - start)
            found = self._answers[key][1]
            while len(self._answers) > _MAX_ANSWERS:
                self._answers.popitem(last=False)
            return found

    def _holds(self, key: tuple[str, ...], stamp: object, changing: bool) -> bool:
        if key not in self._answers:
            return False
        known_stamp, _, reusable_until = self._answers[key]
        self._answers.move_to_end(key)
        return known_stamp == stamp or (changing and time.monotonic() < reusable_until)


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
