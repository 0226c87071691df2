"""Sanitise untrusted text, and write counts with their nouns.

Text from files (names, stations, notes) and file names pass :func:`printable` on input. Writers then only escape the
special characters of their own format.
"""

import os
import unicodedata
from pathlib import Path

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # including full-width forms


def file_text(path: str | Path) -> str:
    r"""Return a file name as printable text; bytes that are not valid UTF-8 are shown as ``\xe9``."""
    try:
        return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))
    except UnicodeEncodeError:  # a lone surrogate
        return printable(str(path))


def printable(text: str) -> str:
    """Return text as one line, with controls, separators, direction marks and lone surrogates as escapes."""
    return text if text.isprintable() else "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    is_shown = character.isprintable() or unicodedata.category(character) in ("Zs", "Co")
    return character if is_shown else ascii(character)[1:-1]


def disarm(value: object) -> object:
    """Return a spreadsheet cell, with an apostrophe before text that would be evaluated as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def count_text(number: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun: ``1 channel``, ``1,200 recordings``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
