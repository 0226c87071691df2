"""Named random streams: the same key gives the same numbers, whoever asks and in whatever order."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.checks import check_integer

__all__ = ["checked_seed", "derived_seed", "stream"]


def checked_seed(seed: object) -> int:
    """Return `seed` as a non-negative int, or raise an error that names it."""
    return check_integer("seed", seed, 0)


def stream(seed: int, key: Sequence[int]) -> np.random.Generator:
    """Return the generator of the stream `key` under `seed`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(key))))


def derived_seed(seed: int, key: Sequence[int]) -> int:
    """Return a 63-bit seed of its own for the member `key` of the family `seed`."""
    state = np.random.SeedSequence(seed, spawn_key=tuple(key)).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
