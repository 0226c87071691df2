"""Named random streams: the numbers of a stream depend only on its seed and key."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.checks import check_integer


def checked_seed(seed: object) -> int:
    """Return `seed` as an int of at least 0, or raise an error."""
    return check_integer("seed", seed, 0)


def stream(seed: int, key: Sequence[int]) -> np.random.Generator:
    """Return the generator of the stream `key` under `seed`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(key))))


def derived_seed(seed: int, key: Sequence[int]) -> int:
    """Return the 63-bit seed of the member `key` of the family `seed`."""
    state = np.random.SeedSequence(seed, spawn_key=tuple(key)).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
