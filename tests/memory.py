"""Limits of memory."""

import tracemalloc
from contextlib import contextmanager


@contextmanager
def memory_below(limit):
    """Require that what is done inside takes fewer bytes than that at any time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit
