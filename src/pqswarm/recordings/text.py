"""Untrusted text: encodings, numbers and dates."""

import csv
import re
from contextlib import suppress
from datetime import datetime, timedelta

import numpy as np

from pqswarm.recordings.recording import RecordingError

_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_MIXED_WORD = re.compile(rb"[a-z][\x80-\xff]+|(?<![\x80-\xff])[\x80-\xff]++[a-z]")  # each byte is visited once
_DATE = re.compile(r"\s*'?(\d{1,4})[/.\-](\d{1,2})[/.\-](\d{1,4})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,:](\d{1,12}))?)?(?:\s?([ap])\.?m\b)?", re.IGNORECASE)
_MIDNIGHT = _TIME.match("0:00")


def decode_text(content: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Decode text of unknown encoding; also return the name of the encoding.

    UTF-8 and UTF-16 are certain. Otherwise, Russian (cp1251) has words of high bytes, almost all letters; Western text
    has single high bytes; Chinese (GBK) has pairs that decode without error.
    """
    if encoding is not None:
        try:
            return content.decode(encoding, errors="replace"), encoding
        except LookupError:
            raise RecordingError(f"cannot be read: there is no encoding {encoding!r}.") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace"), "utf-16"
    with suppress(UnicodeDecodeError):
        return content.decode("utf-8-sig"), "utf-8"
    runs = _HIGH_RUN.findall(content[:1_000_000])
    high = b"".join(runs)
    if sum(byte >= 0xC0 for byte in high) >= 0.9 * len(high):
        if 2 * len(_MIXED_WORD.findall(content[:1_000_000])) > len(runs) or len(high) < 2 * len(runs):
            return content.decode("latin-1"), "latin-1"
        return content.decode("cp1251", errors="replace"), "cp1251"
    text = content.decode("gbk", errors="replace")
    if len(high) > len(runs) and text.count("\ufffd") <= 0.02 * len(high):
        return text, "gbk"
    return content.decode("latin-1"), "latin-1"


def number_from_text(text: str, default: float = np.nan) -> float:
    """Return the number in a field, or `default`."""
    try:
        return float(text) if len(text) < 100 and "_" not in text else default
    except ValueError:
        return default


def first_names(names: list[str], most: int) -> str:
    """List names for a note; of many, the first ones."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def split_fields(line: str, delimiter: str) -> list[str]:
    """Split a line into fields without quotes and outer spaces."""
    if delimiter == " ":
        return line.replace('"', "").split()
    if '"' in line:
        try:
            return [part.strip() for part in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
        except csv.Error:
            return [part.strip(' "') for part in line.split(delimiter)]
    return [part.strip() for part in line.split(delimiter)]


def list_date_notes(date: str, *, month_first: bool = False) -> list[str]:
    """Return a note if day and month of a date may be exchanged; :func:`date_from_text` reads it in this order."""
    match = _DATE.match(date)
    if match is None or "'" in match[0] or "." in match[0] or len(match[1]) == 4:  # points: the day is first
        return []
    if int(match[1]) == int(match[2]) or max(int(match[1]), int(match[2])) > 12:
        return []
    half = (time := _TIME.search(date, match.end())) is not None and time[5]
    order = "month/day" if month_first or half else "day/month"
    return [f"The date {match[0].strip()} is ambiguous: read as {order}/year."]


def date_from_text(date: str, time: str = "", *, month_first: bool = False) -> datetime | None:
    """Return a date and time of day, or None if they are malformed or impossible.

    Day, month and year may have any unambiguous order; `month_first` decides ambiguous dates, and so does AM or PM,
    which is American. `date` may include the time. Digits beyond microseconds are dropped.
    """
    day_match = _DATE.match(date)
    if day_match is None:
        return None
    time_match = _TIME.search(time or date[day_match.end() :]) or (None if time.strip() else _MIDNIGHT)
    if time_match is None:
        return None
    half = (time_match[5] or "").casefold() if "." not in day_match[0] else ""
    year, month, day = _date_parts_from_text(day_match, month_first=month_first or bool(half))
    hour, minute, second = (int(group or 0) for group in time_match.groups()[:3])
    microsecond = int((time_match[4] or "0").ljust(6, "0")[:6])
    if half and hour <= 12:
        hour = hour % 12 + 12 * (half == "p")
    try:
        moment = datetime(year, month, day, hour, minute) + timedelta(seconds=second, microseconds=microsecond)
    except (ValueError, OverflowError):
        return None
    return moment if year >= 1900 else None


def _date_parts_from_text(match: re.Match[str], *, month_first: bool) -> tuple[int, int, int]:
    """Year, month and day of a date in any order."""
    first, second, third = (int(group) for group in match.groups())
    if len(match[1]) == 4 or match[0].lstrip().startswith("'"):
        year, month, day = first, second, third
    else:
        day, month, year = (second, first, third) if month_first else (first, second, third)
        if month > 12:
            day, month = month, day
    if year < 100:
        year += 2000 if year < 70 else 1900
    return year, month, day
