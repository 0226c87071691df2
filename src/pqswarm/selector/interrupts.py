"""Ctrl-C where it does no harm: never between the parts of a step that belong together."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import numpy.typing as npt

from pqswarm._base.typing import FloatArray

__all__ = ["Interrupts"]


class Interrupts:
    """While it is entered, SIGINT takes effect only inside :meth:`window`; one that comes before waits for it.

    So a search is never left half told. In threads other than the main one, which get no signals, and where somebody
    else's handler is not a function, nothing is changed.
    """

    def __init__(self) -> None:
        self._open = False
        self._waiting: tuple[int, FrameType | None] | None = None
        self._previous: Any = None

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            if self._waiting is not None and kind is None:
                self._previous(*self._waiting)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._open:
            self._previous(number, frame)
        else:
            self._waiting = number, frame

    @contextmanager
    def window(self) -> Iterator[None]:
        """Let Ctrl-C take effect, also one that has come before."""
        self._open = True
        try:
            if self._waiting is not None:
                waiting, self._waiting = self._waiting, None
                self._previous(*waiting)
            yield
        finally:
            self._open = False

    def opened_by(self, evaluator: Any) -> Any:
        """Return an evaluator that can be interrupted, and nothing but it."""
        return _Opened(evaluator, self)


class _Opened:
    def __init__(self, evaluator: Any, interrupts: Interrupts) -> None:
        self.n_features: int = evaluator.n_features
        self._evaluator, self._interrupts = evaluator, interrupts

    def errors(self, masks: npt.ArrayLike) -> FloatArray:
        with self._interrupts.window():
            found: FloatArray = self._evaluator.errors(masks)
        return found
