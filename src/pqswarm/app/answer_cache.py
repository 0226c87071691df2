"""Answers that took time to compute, kept until what they are about has changed."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["AnswerCache"]

_KEPT = 12
"""Answers that are kept, by what they are an answer to."""
_AT_ONCE = 2
"""Answers that are computed at the same time; a thread is left for who asks something quick."""
_REST = 50
"""An answer of what still changes, that took a second, stays for as many seconds."""


class AnswerCache:
    """Keeps answers, and computes each once, however many ask for it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], tuple[object, Any, float]] = OrderedDict()
        self._computed: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()
        self._at_once = asyncio.Semaphore(_AT_ONCE)

    async def get(
        self, key: tuple[str, ...], stamp: object, work: Callable[[], Awaitable[Any]], changing: bool = False
    ) -> Any:
        """Return the answer to a key, else what work returns.

        One that is kept must be of the same stamp; while its subject is changing, it may also be of a moment ago.
        """
        if self._holds(key, stamp, changing):
            return self._kept[key][1]
        lock = self._computed.setdefault(key, asyncio.Lock())
        async with lock:
            if not self._holds(key, stamp, changing):  # nobody computed it meanwhile
                async with self._at_once:
                    begin = time.monotonic()
                    value = await work()
                    end = time.monotonic()
                self._kept[key] = stamp, value, end + _REST * (end - begin)
            found = self._kept[key][1]
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return found

    def _holds(self, key: tuple[str, ...], stamp: object, changing: bool) -> bool:
        if key not in self._kept:
            return False
        of, _, until = self._kept[key]
        self._kept.move_to_end(key)
        return of == stamp or (changing and time.monotonic() < until)
