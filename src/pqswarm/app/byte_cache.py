"""What is at hand of the recordings that were looked at last: bounded, the oldest goes first."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from pqswarm.identify import Verdict

__all__ = ["ByteCache", "verdict_bytes"]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ByteCache(Generic[_Key, _Value]):
    """Keeps what was used last, up to a number of bytes, and the last one whatever its size; for any thread.

    Parameters
    ----------
    most_bytes : int
        Of all together.

    Examples
    --------
    >>> memory = ByteCache(10)
    >>> for name in "abc":
    ...     memory.put(name, name.upper(), 5)
    >>> "a" in memory, memory.get("c")
    (False, 'C')
    >>> memory.drop(lambda key: key == "c")
    >>> memory.get("c")
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: _Key) -> bool:
        return key in self._kept

    def get(self, key: _Key) -> _Value | None:
        """Return what was kept, and keep it longer."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def drop(self, is_unwanted: Callable[[_Key], bool]) -> None:
        """Keep no more what has an unwanted key."""
        with self._lock:
            for key in [key for key in self._kept if is_unwanted(key)]:
                del self._kept[key]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        """Keep something of about so many bytes."""
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (value, size)
            total = sum(size for _, size in self._kept.values())
            while total > self.most_bytes and len(self._kept) > 1:
                total -= self._kept.popitem(last=False)[1][1]


def verdict_bytes(verdict: "Verdict") -> int:
    """Return about how much memory a verdict takes [byte]."""
    series = verdict.characterisation.series
    arrays = [] if series is None else [series.time, series.urms, *vars(series.steady).values()]
    return 20_000 * (1 + len(verdict.events)) + sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))
