"""Status channels: on or off, stored as the samples at which they change."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import AnyArray, IntArray

MAX_STATUS = 4096
"""Maximum number of status channels of a recording."""

_MAX_CHANGES = 10_000  # of one channel
_MAX_CHANGES_OF_ALL = 4_000_000  # of all channels together
_CHECK: ContextVar[Callable[[], object] | None] = ContextVar("check", default=None)


@dataclass(frozen=True, eq=False)
class StatusChannel:
    """Something that is on or off: a breaker, a trigger, the output of a relay.

    Attributes
    ----------
    name : str
        Its name in the file.
    normal : int
        Normal state according to the file: 0 or 1.
    places : ndarray of shape (n,)
        Samples at which a state starts, ascending; the first is 0 unless the initial state is unknown.
    states : ndarray of shape (n,)
        The states, 0 or 1, in turn.
    note : str
        What was omitted; empty if nothing was.

    Examples
    --------
    >>> breaker = StatusChannel("52a", 1, np.array([0, 70, 200]), np.array([1, 0, 1]))
    >>> breaker.changes
    ((0, 1), (70, 0), (200, 1))
    >>> breaker.read(100, 300).changes, breaker.expand(69, 72).tolist()
    (((0, 0), (100, 1)), [1, 0, 0])
    """

    name: str
    normal: int
    places: IntArray
    states: IntArray
    note: str = ""

    @property
    def changes(self) -> tuple[tuple[int, int], ...]:
        """Samples at which a state starts, each with the state."""
        return tuple(zip(self.places.tolist(), self.states.tolist(), strict=True))

    def read(self, first: int, stop: int) -> "StatusChannel":
        """Return part of the channel; samples are counted from `first`."""
        begin = max(int(np.searchsorted(self.places, first, "right")) - 1, 0)
        end = int(np.searchsorted(self.places, stop, "left"))
        places = np.maximum(self.places[begin:end] - first, 0)
        return StatusChannel(self.name, self.normal, places, self.states[begin:end], self.note)

    def expand(self, first: int, stop: int) -> IntArray:
        """Return the state of each sample from `first` to `stop` - 1; 0 where it is unknown."""
        places = np.searchsorted(self.places, np.arange(first, stop), "right")
        return np.concatenate([[0], self.states])[places].astype(np.int64)


@contextmanager
def interruptible_status_reading(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` between blocks while status channels are read; its exception stops the search, which can restart."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def find_status_changes(
    fetch: Callable[[int, int], AnyArray], n_samples: int, step: int, names: Sequence[str], normal: Sequence[int]
) -> tuple[StatusChannel, ...]:
    """Find the changes of status channels in blocks of `step` samples.

    `fetch` takes the first sample and the one after the last, and returns a table, samples x channels, of 0, 1, and -1
    where a state is unknown, which counts as unchanged. If a channel changes more than ten thousand times (fewer if
    there are many channels), its shortest states are omitted.
    """
    most = min(_MAX_CHANGES, _MAX_CHANGES_OF_ALL // max(len(names), 1))
    changes = [_StatusChanges(most) for _ in names]
    last = np.full(len(names), -2, np.int8)  # not a state
    check = _CHECK.get()
    for first in range(0, n_samples, step):
        if check is not None:
            check()
        table = fetch(first, min(first + step, n_samples))
        whole = np.vstack([last, table])
        for i in np.flatnonzero((whole[1:] != whole[:-1]).any(axis=0)):
            changes[i].add(first, table[:, i])
        last = table[-1]
    return tuple(
        StatusChannel(name, usual, one.places, one.states.astype(np.int64), one.note)
        for name, usual, one in zip(names, normal, changes, strict=True)
    )


class _StatusChanges:
    """Up to `most` changes of one channel."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.places = np.empty(0, np.int64)
        self.states = np.empty(0, np.int8)
        self.shortest = 1  # samples; of several changes within this time, the first and the last are kept

    def add(self, first: int, states: AnyArray) -> None:
        """Add a block that starts at sample `first`."""
        known = np.flatnonzero(states >= 0)
        self._keep_changes(np.append(self.places, known + first), np.append(self.states, states[known]))
        if self.shortest > 1 and known.size:
            self._merge()
        while self.places.size > self.most:
            self.shortest *= 2
            self._merge()

    def _keep_changes(self, places: IntArray, states: AnyArray) -> None:
        kept = np.append(True, np.diff(states) != 0)[: states.size]
        self.places = places[kept]
        self.states = states[kept]

    def _merge(self) -> None:
        new = np.diff(self.places // self.shortest) > 0
        kept = np.append(True, new) | np.append(new, True)
        self._keep_changes(self.places[kept], self.states[kept])

    @property
    def note(self) -> str:
        """What was omitted."""
        often = f"It changes very often: some states shorter than {self.shortest} samples are omitted."
        return often if self.shortest > 1 else ""
