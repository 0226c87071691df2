"""Untrusted text: encodings, numbers, dates, and rows of numbers in text of any size."""

import csv
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.recordings.files import StoredBytes
from pqswarm.recordings.recording import RecordingError

_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_MIXED_WORD = re.compile(rb"[a-z][\x80-\xff]+|(?<![\x80-\xff])[\x80-\xff]++[a-z]")  # each byte is visited once
_DATE = re.compile(r"\s*'?(\d{1,4})[/.\-](\d{1,2})[/.\-](\d{1,4})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,:](\d{1,12}))?)?(?:\s?([ap])\.?m\b)?", re.IGNORECASE)
_MIDNIGHT = _TIME.match("0:00")
_NAME_LIMIT = 120  # characters


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


def clean_name(text: str) -> str:
    """Make a name safe to show: no control characters, at most 120 characters."""
    kept = "".join(
        " " if c in "\t\r\n" else c for c in text[:1000] if c in "\t\r\n" or unicodedata.category(c)[0] != "C"
    )
    return " ".join(kept.split())[:_NAME_LIMIT]


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


_SECONDS = re.compile(r"[0-5]?\d(?:[.,]\d{1,12})?")
_MICROSECOND = timedelta(microseconds=1)
_HALF_A_DAY = timedelta(hours=12)


class Clock:
    """Dates and times of day as seconds from the first one.

    `date` is that of the first row, if it is in a separate column; without dates, midnight is found from the times of
    day. `minute` is the text of the last time up to its minute, `begin` that minute [µs]: of a time that starts with
    the same text, only the seconds are parsed.
    """

    def __init__(self, date: str = "") -> None:
        self.date = date
        self.zero: datetime | None = None
        self.last: datetime | None = None
        self.days = 0
        self.dated = True
        self.minute = ""
        self.begin = 0

    def seconds(self, text: str) -> float:
        """Seconds from the first time to that in a field; NaN if there is none."""
        minute, _, rest = text.rpartition(":")
        if minute and minute == self.minute and _SECONDS.fullmatch(rest):
            whole, _, part = rest.replace(",", ".").partition(".")
            return (self.begin + int(whole) * 1_000_000 + int(part.ljust(6, "0")[:6])) / 1_000_000
        moment = date_from_text(text)
        if moment is None:
            moment = date_from_text(self.date or "2000-01-01", text) if ":" in text else None
            if moment is None:
                return np.nan
            self.dated = bool(self.date)
            if self.last is not None and self.last - moment > _HALF_A_DAY:
                self.days += 1
            self.last = moment
            moment += timedelta(days=self.days)
        if self.zero is None:
            self.zero = moment
        if minute.count(":") == 1 and _SECONDS.fullmatch(rest):
            begin = moment.replace(second=0, microsecond=0) - self.zero
            self.minute = minute
            self.begin = begin // _MICROSECOND
        return (moment - self.zero).total_seconds()

    @property
    def first(self) -> datetime | None:
        """The first time, if its date is known."""
        return self.zero if self.dated else None


_EVERY = 4096  # rows between entries of the index
_CHUNK = 1_000_000  # bytes read at once
_LONGEST_ROW = 1_000_000  # bytes
_COMPILED_FROM = 1_000_000  # bytes; below, loading compiled code does not pay off
_BLANKS = np.frombuffer(b" \t\0\x1a", np.uint8)


class TextRows:
    """The lines of a text that are not empty and have at least `minimum` delimiters.

    A space as `delimiter` means any white space. After :meth:`index`, `n_rows` is the number of rows, `n_short` the
    number of lines with too few delimiters, and several threads may read rows.
    """

    def __init__(self, content: StoredBytes, delimiter: str, decimal: str, encoding: str, minimum: int = 0) -> None:
        self.content = content
        self.delimiter = delimiter
        self.decimal = decimal
        self.encoding = encoding
        self.minimum = minimum
        self.compiled = content.size >= _COMPILED_FROM
        self.n_rows = self.n_short = 0
        self.places = np.empty(0, np.int64)
        self._kept: dict[int, FloatArray] = {}

    def index(
        self, column: int | None = None, first_row: int = 0, value: Callable[[str], float] | Clock | None = None
    ) -> Iterator[FloatArray]:
        """Find all rows, and yield the numbers of a column on the way, from `first_row` on.

        `value` converts a field that is not a plain number; a clock converts dates to seconds.
        """
        places: list[IntArray] = []
        for at, chunk in self._chunks():
            begins, ends, short = self._find(chunk)
            n_found = begins.size
            places.append(begins[-self.n_rows % _EVERY :: _EVERY] + at)
            begins = begins[max(first_row - self.n_rows, 0) :]
            ends = ends[max(first_row - self.n_rows, 0) :]
            self.n_rows += n_found
            self.n_short += short
            if column is not None and value is not None:
                yield self._column(chunk, begins, ends, column, value)
            elif column is not None:
                yield self._parse(chunk, begins, ends, [column])[:, 0]
        self.places = np.concatenate([*places, [self.content.size]])

    def table(self, first: int, stop: int, columns: Sequence[int]) -> FloatArray:
        """Return columns of some rows, with NaN where a field is missing or not a number.

        Columns of a small text are parsed once, and kept.
        """
        if self.compiled:
            return self._read(first, stop, columns)
        self.content.read(0, 0)  # fails if it has changed
        missing = [column for column in dict.fromkeys(columns) if column not in self._kept]
        if missing:
            self._kept |= zip(missing, self._read(0, self.n_rows, missing).T, strict=True)
        kept = [self._kept[column][first:stop] for column in columns]
        return np.stack(kept, axis=1) if kept else np.empty((max(stop - first, 0), 0))

    def _read(self, first: int, stop: int, columns: Sequence[int]) -> FloatArray:
        """Columns of some rows, parsed."""
        parts = [np.empty((0, len(columns)))]
        at = first // _EVERY
        end = -(-stop // _EVERY)
        while at < end:
            # As many entries of the index as fit into a chunk, at least one.
            until = int(np.searchsorted(self.places, self.places[at] + _CHUNK, "right")) - 1
            until = min(max(until, at + 1), end)
            chunk = self.content.read(int(self.places[at]), int(self.places[until]))
            begins, ends, _ = self._find(chunk)
            chosen = slice(max(first - at * _EVERY, 0), stop - at * _EVERY)
            parts.append(self._parse(chunk, begins[chosen], ends[chosen], columns))
            at = until
        table = np.concatenate(parts)
        if len(table) != max(stop - first, 0):
            raise RecordingError("has changed since it was opened.")
        return table

    def _chunks(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines, some megabytes at once, and their positions."""
        at = 0
        rest = b""
        for first in range(0, self.content.size, _CHUNK):
            chunk = rest + self.content.read(first, first + _CHUNK)
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if first + _CHUNK >= self.content.size:
                end = len(chunk)
            rest = chunk[end:]
            if len(rest) > _LONGEST_ROW:
                raise RecordingError(f"has lines of more than {_LONGEST_ROW} bytes.")
            yield at, chunk[:end]
            at += end

    def _find(self, chunk: bytes) -> tuple[IntArray, IntArray, int]:
        """Start and end of each row, and the number of lines with too few delimiters."""
        content = np.frombuffer(chunk, np.uint8)
        breaks = np.flatnonzero((content == ord("\n")) | (content == ord("\r")))
        begins = np.append(0, breaks + 1)
        ends = np.append(breaks, content.size)
        is_line = ends > begins
        begins = begins[is_line]
        ends = ends[is_line]
        is_line = ~np.isin(content[begins], _BLANKS)
        for n in np.flatnonzero(~is_line):
            is_line[n] = bool(chunk[begins[n] : ends[n]].strip(_BLANKS.tobytes()))
        delimiters = np.flatnonzero(content == ord(self.delimiter))
        n_delimiters = np.searchsorted(delimiters, ends) - np.searchsorted(delimiters, begins)
        is_row = is_line & (n_delimiters >= self.minimum)
        return begins[is_row], ends[is_row], int(is_line.sum() - is_row.sum())

    def _parse(self, chunk: bytes, begins: IntArray, ends: IntArray, columns: Sequence[int]) -> FloatArray:
        """The numbers of some columns of rows."""
        table = np.full((begins.size, len(columns)), np.nan)
        is_odd = np.ones(begins.size, np.bool_)
        if self.compiled and self.delimiter != self.decimal:
            from pqswarm.recordings._text_kernels import parse_text_rows

            unique, places = np.unique(np.asarray(columns, np.int64), return_inverse=True)
            numbers = np.full((begins.size, unique.size), np.nan)
            signs = ord(self.delimiter), ord(self.decimal)
            parse_text_rows(np.frombuffer(chunk, np.uint8), begins, ends, *signs, unique, numbers, is_odd)
            table = numbers[:, places]
        for n in np.flatnonzero(is_odd).tolist():
            fields = self._fields(chunk[begins[n] : ends[n]])
            table[n] = [
                number_from_text(fields[c].replace(self.decimal, ".")) if c < len(fields) else np.nan for c in columns
            ]
        return table

    def _column(
        self, chunk: bytes, begins: IntArray, ends: IntArray, column: int, value: Callable[[str], float] | Clock
    ) -> FloatArray:
        """The values of the fields of a column."""
        content = np.frombuffer(chunk, np.uint8)
        result = np.full(begins.size, np.nan)
        at = 0
        while at < begins.size:
            if isinstance(value, Clock) and self.compiled and value.minute.isascii() and value.minute:
                from pqswarm.recordings._text_kernels import parse_text_seconds

                minute = np.frombuffer(value.minute.encode("ascii"), np.uint8)
                cells = begins[at:], ends[at:], ord(self.delimiter), column
                at += parse_text_seconds(content, *cells, minute, value.begin, result[at:])
                if at == begins.size:
                    break
            fields = self._fields(chunk[begins[at] : ends[at]])
            if column < len(fields):
                result[at] = value.seconds(fields[column]) if isinstance(value, Clock) else value(fields[column])
            at += 1
        return result

    def _fields(self, row: bytes) -> list[str]:
        return split_fields(row.decode(self.encoding, errors="replace").replace("\0", ""), self.delimiter)
