"""Sanitise untrusted text, and write counts with their nouns.

Text from files (names, stations, notes) and file names pass :func:`printable` on input. Writers then only escape the
special characters of their own format.
"""

import json
import os
import unicodedata
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

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


def json_text(value: Any, indent: int | None = None) -> str:
    """Return strict JSON, with null for NaN and infinity."""
    return json.dumps(_json_value(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(entry) for entry in value]
    if isinstance(value, str):
        return file_text(value)
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not isfinite(value) else value
