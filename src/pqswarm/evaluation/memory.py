"""Memory limits of evaluators."""

from pqswarm.errors import PqswarmError

MAX_TABLE_BYTES = 4 * 2**30
"""Bytes that an evaluator keeps beyond the features, such as copies scaled in each fold."""

MAX_BATCH_BYTES = 2**27
"""Bytes of the predictions of a batch of subsets; larger batches are cut."""

MAX_SOLVED_BYTES = 2**30
"""Bytes of the systems of equations of a subset that a thread solves together."""


def check_memory(what: str, needed: int, remedy: str, limit: int = MAX_TABLE_BYTES) -> None:
    """Raise an error if something would need more bytes than a limit; `what` starts the sentence, `remedy` ends it.

    >>> check_memory("the table", 5_600_000_000, "use fewer samples")
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: the table would take 5.6 GB, more than the 4.3 GB that are allowed: use fewer samples.
    """
    if needed > limit:
        raise PqswarmError(
            f"{what} would take {needed / 1e9:.1f} GB, more than the {limit / 1e9:.1f} GB that are allowed: {remedy}."
        )
