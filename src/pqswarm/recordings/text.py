"""Text from strangers: encodings, tables of numbers, dates, and sampling rates from time stamps."""

import re
from contextlib import suppress
from datetime import datetime, timedelta

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.recordings.recording import RecordingError

__all__ = ["decode", "find_rate", "number", "numbers", "shift", "stamp"]

_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_MIXED_WORD = re.compile(rb"[a-z][\x80-\xff]+|[\x80-\xff]+[a-z]")
_DATE = re.compile(r"\s*'?(\d{1,4})[/.\-](\d{1,2})[/.\-](\d{1,4})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,:](\d{1,12}))?)?")


def decode(content: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Decode text of unknown encoding, and return the name of the encoding too.

    UTF-8 and UTF-16 are certain. Else the bytes tell: Russian (cp1251) has words of high bytes, almost all of them
    letters, Western text has high bytes among others, Chinese (GBK) comes in pairs that decode without error.
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
        touching = len(_MIXED_WORD.findall(content[:1_000_000]))
        if 2 * touching > len(runs) or len(high) < 2 * len(runs):
            return content.decode("latin-1"), "latin-1"
        return content.decode("cp1251", errors="replace"), "cp1251"
    text = content.decode("gbk", errors="replace")
    if len(high) > len(runs) and text.count("\ufffd") <= 0.02 * len(high):
        return text, "gbk"
    return content.decode("latin-1"), "latin-1"


def number(text: str, default: float = np.nan) -> float:
    """Return the number a field holds, or `default`."""
    try:
        return float(text) if len(text) < 100 and "_" not in text else default
    except ValueError:
        return default


def numbers(lines: list[str], delimiter: str | None, columns: list[int], decimal: str = ".") -> FloatArray:
    """Return columns of a table of text, with NaN where a field is missing or is not a number.

    No line may be empty; `delimiter` None stands for white space.

    Examples
    --------
    >>> numbers(["1;0,5;x", "2;;3"], ";", [1, 2], ",")
    array([[0.5, nan],
           [nan, 3. ]])
    """
    if decimal != ".":
        lines = [line.replace(decimal, ".") for line in lines]
    with suppress(ValueError, IndexError, OverflowError):
        table = np.loadtxt(lines, delimiter=delimiter, usecols=columns, comments=None, quotechar='"', ndmin=2)
        return np.asarray(table, np.float64)
    table = np.full((len(lines), len(columns)), np.nan)
    for row, line in enumerate(lines):
        fields = line.split(delimiter)
        for i, column in enumerate(columns):
            if column < len(fields):
                table[row, i] = number(fields[column].strip().strip('"'))
    return table


def stamp(date: str, time: str = "", *, month_first: bool = False) -> datetime | None:
    """Return a date and time of day, or None if they are malformed or impossible.

    Day, month and year may have any order that can be told apart; `month_first` says how an ambiguous date is read.
    `date` may hold the time too. Digits after microseconds are cut.
    """
    day_match = _DATE.match(date)
    if day_match is None:
        return None
    first, second, third = (int(group) for group in day_match.groups())
    if len(day_match[1]) == 4 or day_match[0].lstrip().startswith("'"):
        year, month, day = first, second, third
    else:
        day, month, year = (second, first, third) if month_first else (first, second, third)
        if month > 12:
            day, month = month, day
    if year < 100:
        year += 2000 if year < 70 else 1900
    if year < 1900:
        return None
    time_match = _TIME.search(time or date[day_match.end() :])
    if time_match is None:
        hour = minute = second_of_minute = microsecond = 0
        if time.strip():
            return None
    else:
        hour, minute, second_of_minute = (int(group or 0) for group in time_match.groups()[:3])
        microsecond = int((time_match[4] or "0").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, minute) + timedelta(seconds=second_of_minute, microseconds=microsecond)
    except (ValueError, OverflowError):
        return None


def shift(start: datetime | None, seconds: float) -> datetime | None:
    """Return a time some seconds later, or None if there is none."""
    try:
        return None if start is None else start + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


def find_rate(times: FloatArray, notes: list[str]) -> tuple[float, slice]:
    """Return the sampling rate [Hz] that time stamps [s] tell, 0 if none, and the longest stretch without a gap.

    Rounded stamps are averaged over the stretch, and a rate that is an integer within their rounding is taken as that.
    What is found out is added to the notes.

    Examples
    --------
    >>> find_rate(np.round(np.arange(1000) / 6400, 6), [])
    (6400.0, slice(0, 1000, None))
    """
    everything = slice(0, times.size)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(times)
    if times.size < 2 or not np.isfinite(steps).all():
        return 0.0, everything
    typical = float(np.median(steps))
    if typical <= 0:
        # Stamps coarser than the sampling: many equal ones, then a step.
        typical = float(times[-1] - times[0]) / (times.size - 1)
        if typical <= 0 or (steps < 0).any() or steps.max() > 100 * typical:
            return 0.0, everything
        notes.append("The time stamps are coarser than the sampling: the rate is their mean.")
        kept = everything
    else:
        breaks = np.flatnonzero((steps > 2.5 * typical) | (steps < -0.5 * typical)) + 1
        edges = np.concatenate([[0], breaks, [times.size]])
        longest = int(np.argmax(np.diff(edges)))
        kept = slice(int(edges[longest]), int(edges[longest + 1]))
        if breaks.size:
            notes.append(
                f"The time stamps have {breaks.size} gaps: of {times.size} samples the longest stretch without one, "
                f"{kept.stop - kept.start}, is used."
            )
    span = float(times[kept.stop - 1] - times[kept.start])
    count = kept.stop - kept.start - 1
    if count < 1 or not span > 0:
        return 0.0, everything
    rate = count / span
    if not np.isfinite(rate):
        return 0.0, everything
    rounding = float(np.max(np.abs(times[kept] - times[kept.start] - np.arange(count + 1) / rate)))
    tolerance = rate * (2 * rounding / span + 1e-9)
    # The roundest number within the rounding: 6400 rather than 6399, and nothing rounder than three digits.
    for unit in (100.0, 10.0, 1.0, 0.1):
        nearest = round(rate / unit) * unit
        if rate >= 100 * unit and abs(nearest - rate) <= tolerance:
            rate = float(nearest)
            break
    if rounding > 0.6 / rate and typical > 0:
        notes.append("The time stamps are uneven: the rate is their mean.")
    return rate, kept
