"""When functions are compiled, for progress messages; does not load the compiler."""

import logging
import time
from collections.abc import Callable
from math import inf

_listener: Callable[[], None] | None = None
_last = -inf


def call_when_compiling(listener: Callable[[], None] | None) -> None:
    """Call a function once, from any thread, when this process starts to compile, or to wait for one that does."""
    global _listener
    _listener = listener


def log_compiling() -> None:
    """Log once when this process starts to compile, unless something else listens."""
    if _listener is None and _last == -inf:
        text = "compiling functions that this machine has not run before: up to 10 s."
        call_when_compiling(lambda: logging.getLogger("pqswarm").warning(text))


def note_compile_time() -> None:
    """Note that this process compiles, or has just done so."""
    global _last, _listener
    _last = time.monotonic()
    listener = _listener
    _listener = None
    if listener is not None:
        listener()


def last_compiled() -> float:
    """Return when this process last compiled something, by :func:`time.monotonic`; -inf if never."""
    return _last
