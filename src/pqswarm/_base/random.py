"""Named random streams: the same key gives the same numbers, whoever asks and in whatever order."""

from collections.abc import Sequence
from operator import index

import numpy as np

from pqswarm.errors import PqswarmError

__all__ = ["checked_seed", "derived_seed", "stream"]


def checked_seed(seed: object) -> int:
    """Return `seed` as a non-negative int, or raise an error that names it."""
    try:
        value = index(seed)  # type: ignore[arg-type]
    except TypeError:
        value = -1
    if value < 0 or isinstance(seed, bool):
        raise PqswarmError(f"seed must be a non-negative integer, not {seed!r}.")
    return value


def stream(seed: int, key: Sequence[int]) -> np.random.Generator:
    """Return the generator of the stream `key` under `seed`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(key))))


def derived_seed(seed: int, key: Sequence[int]) -> int:
    """Return a 63-bit seed of its own for the member `key` of the family `seed`."""
    state = np.random.SeedSequence(seed, spawn_key=tuple(key)).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
