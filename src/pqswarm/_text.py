"""Text of strangers, fit to be written: names of files that are no text, and cells that look like formulas."""

import os
from pathlib import Path

__all__ = ["disarm", "file_text"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def file_text(path: str | Path) -> str:
    r"""Return the name of a file as text that can be written anywhere; bytes that are no UTF-8 are shown as ``\xe9``.

    Examples
    --------
    >>> print(file_text("day/st\udce9.csv"))
    day/st\xe9.csv
    """
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a pair of surrogates
        return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def disarm(value: object) -> object:
    """Return a cell for a spreadsheet, with an apostrophe before a text that would be computed as a formula.

    Examples
    --------
    >>> disarm("=cmd|'/c calc'!A1"), disarm(-0.5)
    ("'=cmd|'/c calc'!A1", -0.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
