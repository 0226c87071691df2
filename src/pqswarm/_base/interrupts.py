"""Ctrl-C while SQLite works: it hides what the functions that it calls raise, and says something else instead."""

import signal
from math import inf
from time import monotonic
from types import FrameType

_SOON = 5.0  # seconds in which SQLite tells of it
_last = -inf


def note_interrupts() -> None:
    """Note when Ctrl-C is pressed, and go on as Python does."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note_interrupt)


def _note_interrupt(number: int, frame: FrameType | None) -> None:
    global _last
    _last = monotonic()
    signal.default_int_handler(number, frame)


def raise_interrupt() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was just pressed, whatever SQLite says."""
    if monotonic() - _last < _SOON:
        raise KeyboardInterrupt
