"""How often a property is tried: in ``make deep``, as often as it may be; in ``make test``, a part of that."""

import os

DEPTH = int(os.environ.get("PQSWARM_DEPTH", "1"))
"""Factor of numbers of random cases."""


def thinned(cases, step=5):
    """Each so many of the cases, from the first; in ``make deep``, all.

    With a step that shares no factor with the numbers of choices, each choice is still met, with each of any other.
    """
    return list(cases) if DEPTH > 1 else list(cases)[::step]


def some(number):
    """A third of that many seeds, from the first; in ``make deep``, all."""
    return number if DEPTH > 1 else -(-number // 3)
