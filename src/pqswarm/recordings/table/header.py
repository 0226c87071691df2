"""The header of a table: rates, frequencies, units and dates, to the right of, below or after their names."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pqswarm.recordings.text import number_from_text
from pqswarm.recordings.units import clean

if TYPE_CHECKING:
    from pqswarm.recordings.table.layout import Layout

HEADER_ROWS = 300
TIME_UNITS = {
    word: factor
    for words, factor in (
        ("s sec second seconds sekunden с сек 秒", 1.0),  # noqa: RUF001
        ("ms msec millisecond milliseconds мс мсек 毫秒", 1e-3),
        ("us µs μs usec µsec μsec microsecond microseconds мкс мксек 微秒", 1e-6),
        ("ns nsec nanosecond nanoseconds нс 纳秒", 1e-9),
        ("min minute minutes мин 分钟", 60.0),
        ("h hour hours ч 小时", 3600.0),
    )
    for word in words.split()
}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?(?:nan|inf)", re.IGNORECASE)
_TIME_OF_DAY = r"\d{1,2}:\d{1,2}(?::\d{1,2}(?:[.,:]\d{1,12})?)?(?: ?[ap]\.?m\b\.?)?"
_STAMP = re.compile(
    rf"'?(?:\d{{1,4}}[/.\-]\d{{1,2}}[/.\-]\d{{1,4}}[ T]+)?{_TIME_OF_DAY}(?:Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)
_INTERVAL_KEY = re.compile(
    r"(?:sampl(?:e|ing) (?:interval|period)|x?[ _]?increment|interval|dt|delta ?t)(?:\W.*)?", re.IGNORECASE
)
_RATE_KEY = re.compile(r"(?:sampl(?:e|ing)[ _]?(?:rate|frequency)|fs)(?:\W.*)?", re.IGNORECASE)
_FREQUENCY_KEY = re.compile(r"(?:nominal|line|mains|grid|system)[ _]?frequency(?:\W.*)?", re.IGNORECASE)
_UNITS_KEY = re.compile(r"vertical units?|y[ _]?units?", re.IGNORECASE)
_SOURCE_KEY = re.compile(r"(?:source|channel)", re.IGNORECASE)
_LENGTH_KEY = re.compile(r"(?:record|memory) length(?:\W.*)?", re.IGNORECASE)
_TRIGGER_KEY = re.compile(
    r"(?:trigger|start|recording|measurement) ?(?:date|time).*|date|time|date(?: ?[/&] ?| and )time", re.IGNORECASE
)
_DAY = re.compile(r"'?\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}")
_CLOCK = re.compile(_TIME_OF_DAY, re.IGNORECASE)
_KEYS = re.compile(
    r"(?:record|memory) length|sampl(?:e|ing) (?:interval|rate|frequency|period)|x?[ _]?increment"
    r"|(?:vertical|horizontal|trigger|probe|firmware|model|serial|waveform|gating|filter"
    r"|point format|pt[. ]?fmt|y ?zero|label|source)\b.*",
    re.IGNORECASE,
)
_QUANTITY = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d{1,3})?)\s*([^\W\d_]*(?:/[A-Za-z]+)?)")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


def kind_of(text: str, decimal: str) -> str:
    """Return ``"n"`` for a number, ``"t"`` time stamp, ``"u"`` time with unit, ``"d"`` date, ``"x"`` other text."""
    if not text:
        return ""
    if len(text) < 60:
        plain = text if decimal == "." else ("x" if "." in text else text.replace(decimal, "."))
        if _NUMBER.fullmatch(plain):
            return "n"
        if _STAMP.fullmatch(text):
            return "t"
        if _DAY.fullmatch(text):
            return "d"
        amount, _, unit = plain.partition(" ")
        if unit.strip().casefold() in TIME_UNITS and _NUMBER.fullmatch(amount):
            return "u"
    return "x"


def is_header_key(text: str) -> bool:
    """Whether a cell names a setting of an instrument, not a channel."""
    return _KEYS.fullmatch(text.strip().rstrip(":= ")) is not None


def metadata_of(rows: list[list[str]], decimal: str) -> list[tuple[str, str]]:
    """Pairs of a name and the value to the right, below, or after a colon."""
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


def quantity(text: str, decimal: str) -> float:
    """A number with a unit such as ``25 kHz``, ``4 us`` or ``2.5 MS/s``; NaN if it is not."""
    match = _QUANTITY.fullmatch(clean(text).replace(decimal, ".") if decimal != "." else clean(text))
    if match is None:
        return np.nan
    unit = match[2].casefold()
    if unit in TIME_UNITS:
        return number_from_text(match[1]) * TIME_UNITS[unit]
    prefix = unit[:1] if unit[1:] in ("hz", "s/s", "sps", "sa/s") else ""
    return number_from_text(match[1]) * _FACTORS.get(prefix, 1.0)


def take_header_metadata(layout: "Layout", metadata: list[tuple[str, str]], names: list[str]) -> None:
    """Copy what the header says into the layout and the names."""
    day = clock = ""
    for key, value in metadata:
        amount = quantity(value, layout.decimal)
        if _INTERVAL_KEY.fullmatch(key) and amount > 0 and not layout.rate:
            layout.rate = 1 / amount if amount > 1e-12 else 0.0
        elif _RATE_KEY.fullmatch(key) and amount > 0:
            layout.rate = amount
        elif _FREQUENCY_KEY.fullmatch(key) and amount > 0:
            layout.frequency = amount
        elif _LENGTH_KEY.fullmatch(key) and amount > 0:
            layout.length = amount
        elif _SOURCE_KEY.fullmatch(key) and len(names) == 2 and names[1].startswith("column "):
            names[1] = value
        elif _TRIGGER_KEY.fullmatch(key):
            if not day and (found := _DAY.match(value.strip())):
                day = found[0]
                value = value.strip()[found.end() :]
            if not clock and (found := _CLOCK.match(value.strip())):
                clock = found[0]
    layout.trigger = f"{day} {clock}".strip() if day else ""


def take_blocks(rows: list[list[str]], columns: list[int], names: list[str], units: list[str]) -> list[int]:
    """Copy names and units of blocks side by side, each with its settings on the left, as Tektronix writes them.

    Return the columns that are not channels: the time of all blocks but the first, and blocks with another time.
    """
    keys = {i for row in rows for i, text in enumerate(row) if i not in columns and is_header_key(text)}
    first_time = -1
    left_out = []
    for begin, end in pairwise([*sorted(keys), 1_000_000]):
        inside = [n for n, c in enumerate(columns) if begin < c < end]
        if len(inside) < 2:
            continue
        settings = {row[begin].strip().casefold(): row[begin + 1].strip()[:20] for row in rows if begin + 1 < len(row)}
        time = columns[inside[0]]
        units[inside[0]] = settings.get("horizontal units", units[inside[0]])
        for n in inside[1:]:
            names[n] = settings.get("source") or names[n]
            units[n] = settings.get("vertical units") or units[n]
        if first_time < 0:
            first_time = time
        else:
            shared = all(row[time] == row[first_time] for row in rows if len(row) > time)
            left_out += [time] if shared else [columns[n] for n in inside]
    return left_out


def take_units(rows: list[list[str]], units: list[str]) -> None:
    """Copy the units from the header of an oscilloscope: one for each channel, or one for all."""
    for row in rows:
        for i, text in enumerate(row):
            if _UNITS_KEY.fullmatch(text.strip().rstrip(":= ")):
                given = [value.strip()[:20] for value in row[i + 1 :] if value.strip()]
                n_channels = max(len(units) - 1, 1)
                given = given * n_channels if len(given) == 1 else given[:n_channels]
                if len(given) == n_channels and not any(units[-n_channels:]):
                    units[-n_channels:] = given
                return
