"""Sanitize untrusted text, write counts with their nouns, and values with SI prefixes instead of powers of ten.

Text from files (names, stations, notes) and file names pass :func:`printable` on input. Writers then only escape the
special characters of their own format.
"""

import json
import os
import re
import unicodedata
from collections.abc import Mapping
from math import inf, isfinite
from pathlib import Path
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # including full-width forms
_SURROGATE = re.compile("[\ud800-\udfff]")
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"))


def file_text(path: str | Path) -> str:
    r"""Return a file name as printable text; bytes that are not valid UTF-8 are shown as ``\xe9``."""
    try:
        return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))
    except UnicodeEncodeError:  # a lone surrogate
        return printable(str(path))


def printable(text: str) -> str:
    """Return text as one line, with controls, separators, direction marks and lone surrogates as escapes."""
    return text if text.isprintable() else "".join(map(_printable_character, text))


def is_encodable(text: str) -> bool:
    """Return whether a text can be written: JSON may hold half of a surrogate pair."""
    return not _SURROGATE.search(text)


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


def scale_of(largest: float) -> tuple[float, str]:
    """Return the factor and the unit prefix that suit values up to `largest`."""
    if not isfinite(largest) or largest <= 0:
        return 1.0, ""
    return next(((factor, prefix) for factor, prefix in _PREFIXES if abs(largest) >= factor), _PREFIXES[-1])


def unit_text(value: float, unit: str) -> str:
    """Format a value with four digits and a unit prefix, ``167.3 kV``; empty if it is not finite."""
    if not isfinite(value):
        return ""
    factor, prefix = scale_of(abs(value))
    return f"{digits_text(value / factor)} {prefix}{unit}"


def voltage_text(volts: float) -> str:
    """Format a voltage [V], such as ``"167.3 kV"``; empty if it is not finite."""
    return unit_text(volts, "V")


def frequency_text(hertz: float) -> str:
    """Format a frequency or sampling rate [Hz], such as ``"15.36 kHz"``; empty if it is not finite."""
    return unit_text(hertz, "Hz")


def noise_level_text(level: float) -> str:
    """Return a noise level as text, such as ``20 dB`` or ``∞ dB``."""
    return "∞ dB" if level == inf else f"{level:g} dB"


def digits_text(value: float, number: int = 4) -> str:
    """Format a number with that many digits, without exponent and trailing zeros."""
    rounded = float(f"{value:.{number}g}")
    return f"{rounded:.0f}" if abs(rounded) >= 10**number else f"{rounded:.10g}"
