"""Text of strangers, fit to be written, and numbers with their nouns."""

import os
from pathlib import Path

__all__ = ["count_text", "disarm", "file_text", "printable"]

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


def printable(text: str) -> str:
    r"""Return a text for a terminal: characters that would steer it are shown as escapes.

    Examples
    --------
    >>> print(printable("U1\x1b[2J, Spannung \u00fc"))
    U1\x1b[2J, Spannung ü
    """
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def disarm(value: object) -> object:
    """Return a cell for a spreadsheet, with an apostrophe before a text that would be computed as a formula.

    Examples
    --------
    >>> disarm("=cmd|'/c calc'!A1"), disarm(-0.5)
    ("'=cmd|'/c calc'!A1", -0.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def count_text(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count_text(1, "channel"), count_text(1200, "recording"), count_text(0, "no disturbance", "times nothing")
    ('1 channel', '1,200 recordings', '0 times nothing')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
