"""Text of strangers, fit to be written, and numbers with their nouns.

What a file says of itself (names, stations, notes), and the name of the file, pass :func:`printable` where they come
in; what writes them has then only the signs of its own format to escape.
"""

import os
import unicodedata
from pathlib import Path

__all__ = ["count_text", "disarm", "file_text", "printable"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also of full width


def file_text(path: str | Path) -> str:
    r"""Return the name of a file as text that can be written anywhere, as by :func:`printable`.

    Bytes that are no UTF-8 are shown as ``\xe9``.

    Examples
    --------
    >>> print(file_text("day/st\udce9.csv"))
    day/st\xe9.csv
    """
    try:
        return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))
    except UnicodeEncodeError:  # half of a pair of surrogates
        return printable(str(path))


def printable(text: str) -> str:
    r"""Return a text in one line that steers neither a terminal nor a reader of the text.

    Control characters, ends of lines and paragraphs, marks that turn the direction of text, and halves of pairs of
    surrogates are shown as escapes. All letters and blanks stay, as do characters of private use.

    Examples
    --------
    >>> print(printable("U1\x1b[2J\n, Spannung \u00fc\u202e"))
    U1\x1b[2J\n, Spannung ü\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or unicodedata.category(one) in ("Zs", "Co") else ascii(one)[1:-1] for one in text
    )


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
