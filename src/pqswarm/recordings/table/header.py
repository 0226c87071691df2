"""What the header of a table tells: rates, frequencies, units and dates, beside, below or after their names."""

import re
from typing import TYPE_CHECKING

import numpy as np

from pqswarm.recordings.text import number
from pqswarm.recordings.units import clean

if TYPE_CHECKING:
    from pqswarm.recordings.table.layout import Layout

__all__ = ["HEADER_ROWS", "TIME_UNITS", "kind_of", "metadata_of", "take_metadata"]

HEADER_ROWS = 300
TIME_UNITS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6}
TIME_UNITS |= {"μs": 1e-6, "usec": 1e-6, "ns": 1e-9, "min": 60.0}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?(?:nan|inf)", re.IGNORECASE)
_STAMP = re.compile(
    r"'?(?:\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}[ T]+)?\d{1,2}:\d{1,2}(?::\d{1,2}(?:[.,:]\d{1,12})?)?(?:Z|[+-]\d\d:?\d\d)?"
)
_INTERVAL_KEY = re.compile(
    r"(?:sampl(?:e|ing) (?:interval|period)|x?[ _]?increment|interval|dt|delta ?t)(?:\W.*)?", re.IGNORECASE
)
_RATE_KEY = re.compile(r"(?:sampl(?:e|ing)[ _]?(?:rate|frequency)|fs)(?:\W.*)?", re.IGNORECASE)
_FREQUENCY_KEY = re.compile(r"(?:nominal|line|mains|grid|system)[ _]?frequency(?:\W.*)?", re.IGNORECASE)
_UNITS_KEY = re.compile(r"vertical units?", re.IGNORECASE)
_SOURCE_KEY = re.compile(r"(?:source|channel)", re.IGNORECASE)
_TRIGGER_KEY = re.compile(r"(?:trigger|start) (?:time|date).*", re.IGNORECASE)
_QUANTITY = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d{1,3})?)\s*([A-Za-zµμ/]*)")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


def kind_of(text: str, decimal: str) -> str:
    """``"n"`` for a number, ``"t"`` for a time stamp, ``""`` for nothing, ``"x"`` for other text."""
    if not text:
        return ""
    if len(text) < 60:
        plain = text if decimal == "." else ("x" if "." in text else text.replace(decimal, "."))
        if _NUMBER.fullmatch(plain):
            return "n"
        if _STAMP.fullmatch(text):
            return "t"
    return "x"


def metadata_of(rows: list[list[str]], decimal: str) -> list[tuple[str, str]]:
    """Pairs of a name and what stands right of it, below it, or after a colon."""
    pairs: list[tuple[str, str]] = []
    for n, row in enumerate(rows[:HEADER_ROWS]):
        below = rows[n + 1] if n + 1 < len(rows) else []
        for i, text in enumerate(row[:64]):
            key = text.lstrip("#% ").strip()
            if kind_of(key, decimal) != "x":
                continue
            for sign in ("=", ":"):
                name, found, value = key.partition(sign)
                if found and value.strip():
                    pairs.append((clean(name), value.strip()))
                    break
            if i + 1 < len(row) and row[i + 1]:
                pairs.append((clean(key).rstrip(":= "), row[i + 1]))
            if i < len(below) and kind_of(below[i], decimal) == "n":
                pairs.append((clean(key), below[i]))
    return pairs


def _quantity(text: str, decimal: str) -> float:
    """A number with a unit such as ``25 kHz``, ``4 us`` or ``2.5 MS/s``; NaN if it is none."""
    match = _QUANTITY.fullmatch(clean(text).replace(decimal, ".") if decimal != "." else clean(text))
    if match is None:
        return np.nan
    unit = match[2].casefold()
    if unit in TIME_UNITS:
        return number(match[1]) * TIME_UNITS[unit]
    prefix = unit[:1] if unit[1:] in ("hz", "s/s", "sps", "sa/s") else ""
    return number(match[1]) * _FACTORS.get(prefix, 1.0)


def take_metadata(layout: "Layout", metadata: list[tuple[str, str]], names: list[str], units: list[str]) -> None:
    """Take over into the layout, names and units what the header says of them."""
    for key, value in metadata:
        amount = _quantity(value, layout.decimal)
        if _INTERVAL_KEY.fullmatch(key) and amount > 0 and not layout.rate:
            layout.rate = 1 / amount if amount > 1e-12 else 0.0
        elif _RATE_KEY.fullmatch(key) and amount > 0:
            layout.rate = amount
        elif _FREQUENCY_KEY.fullmatch(key) and amount > 0:
            layout.frequency = amount
        elif _UNITS_KEY.fullmatch(key) and len(units) == 2 and not units[1]:
            units[1] = value[:20]
        elif _SOURCE_KEY.fullmatch(key) and len(names) == 2 and names[1].startswith("column "):
            names[1] = value
        elif _TRIGGER_KEY.fullmatch(key) and not layout.trigger:
            layout.trigger = value[:60]
