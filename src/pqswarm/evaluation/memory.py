"""How much memory evaluators may take, and the refusal of what would take more."""

from pqswarm.errors import PqswarmError

__all__ = ["MAX_BATCH_BYTES", "MAX_SOLVED_BYTES", "MAX_TABLE_BYTES", "check_memory"]

MAX_TABLE_BYTES = 4 * 2**30
"""Bytes of what an evaluator keeps besides the features themselves, such as copies scaled inside the folds."""

MAX_BATCH_BYTES = 2**27
"""Bytes of the predictions of subsets that are evaluated together; larger batches are cut."""

MAX_SOLVED_BYTES = 2**30
"""Bytes of the systems of equations of a subset, which a thread solves at once."""


def check_memory(what: str, needed: int, remedy: str, most: int = MAX_TABLE_BYTES) -> None:
    """Raise an error that names the number if something would take more memory than it may.

    Parameters
    ----------
    what : str
        What would take it, the beginning of a sentence.
    needed : int
        Bytes.
    remedy : str
        What to do instead, the end of the sentence.
    most : int
        Bytes that are allowed.

    Examples
    --------
    >>> check_memory("the table", 5_600_000_000, "use fewer events")
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: the table would take 5.6 GB, more than the 4.3 GB that are allowed: use fewer events.
    """
    if needed > most:
        raise PqswarmError(
            f"{what} would take {needed / 1e9:.1f} GB, more than the {most / 1e9:.1f} GB that are allowed: {remedy}."
        )
