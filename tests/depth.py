"""How often a property is tried: in ``make deep``, as often as it may be; in ``make test``, a part of that."""

import os

DEPTH = int(os.environ.get("PQSWARM_DEPTH", "1"))
"""Factor of numbers of random cases."""


def some(number):
    """A third of that many seeds, from the first; in ``make deep``, all."""
    return number if DEPTH > 1 else -(-number // 3)
