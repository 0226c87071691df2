"""Text tables: a time column or a given rate, and one column for each channel.

Separators, decimal comma, header rows (HIOKI MEMORY HiCORDER, Tektronix, Rigol, Keysight, Siglent and plain ones),
units and the time column are detected and described in the notes; arguments of :func:`pqswarm.recordings.read`
override them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, frequency_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.files import EXPORT, FileBytes, MemoryBytes, StoredBytes, refuse_other_formats
from pqswarm.recordings.frequency import MOST_CHANNELS, estimate_nominal
from pqswarm.recordings.names import si_unit, split_unit
from pqswarm.recordings.recording import Options, RawHeader, RawSource, Reader, Recording, RecordingError, shift_time
from pqswarm.recordings.source import scale_source_samples
from pqswarm.recordings.stamps import find_rate_of_stamps
from pqswarm.recordings.text import (
    Clock,
    TextRows,
    clean_name,
    date_from_text,
    decode_text,
    list_date_notes,
    number_from_text,
    split_fields,
)

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
_LENGTH_KEY = re.compile(r"(?:record|memory) length(?:\W.*)?", re.IGNORECASE)
_SETTINGS = (("rate", _RATE_KEY), ("frequency", _FREQUENCY_KEY), ("length", _LENGTH_KEY))
_UNITS_KEY = re.compile(r"vertical units?|y[ _]?units?", re.IGNORECASE)
_SOURCE_KEY = re.compile(r"(?:source|channel)", re.IGNORECASE)
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


def table_cell_kind(text: str, decimal: str) -> str:
    """Return ``"n"`` for a number, ``"t"`` time stamp, ``"u"`` time with unit, ``"d"`` date, ``"x"`` other text."""
    if not text:
        return ""
    if len(text) < 60:
        plain = "x" if decimal != "." and "." in text else text.replace(decimal, ".")
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


def is_table_setting(text: str) -> bool:
    """Whether a cell names a setting of an instrument, not a channel."""
    return _KEYS.fullmatch(text.strip().rstrip(":= ")) is not None


def table_metadata(rows: list[list[str]], decimal: str) -> list[tuple[str, str]]:
    """Pairs of a name and the value to the right, below, or after a colon."""
    pairs: list[tuple[str, str]] = []
    for n, row in enumerate(rows[:HEADER_ROWS]):
        below = rows[n + 1] if n + 1 < len(rows) else []
        for i, text in enumerate(row[:64]):
            key = text.lstrip("#% ").strip()
            if table_cell_kind(key, decimal) != "x":
                continue
            for sign in ("=", ":"):
                name, separator, value = key.partition(sign)
                if separator and value.strip():
                    pairs.append((clean_name(name), value.strip()))
                    break
            if i + 1 < len(row) and row[i + 1]:
                pairs.append((clean_name(key).rstrip(":= "), row[i + 1]))
            if i < len(below) and table_cell_kind(below[i], decimal) == "n":
                pairs.append((clean_name(key), below[i]))
    return pairs


def table_cell_quantity(text: str, decimal: str) -> float:
    """A number with a unit such as ``25 kHz``, ``4 us`` or ``2.5 MS/s``; NaN if it is not."""
    match = _QUANTITY.fullmatch(clean_name(text).replace(decimal, ".") if decimal != "." else clean_name(text))
    if match is None:
        return np.nan
    unit = match[2].casefold()
    if unit in TIME_UNITS:
        return number_from_text(match[1]) * TIME_UNITS[unit]
    prefix = unit[:1] if unit[1:] in ("hz", "s/s", "sps", "sa/s") else ""
    return number_from_text(match[1]) * _FACTORS.get(prefix, 1.0)


def take_table_metadata(layout: "TableLayout", metadata: list[tuple[str, str]], names: list[str]) -> None:
    """Copy what the header says into the layout and the names."""
    triggers = []
    for key, value in metadata:
        amount = table_cell_quantity(value, layout.decimal)
        settings = [name for name, pattern in _SETTINGS if amount > 0 and pattern.fullmatch(key)]
        if settings:
            setattr(layout, settings[0], amount)
        elif amount > 0 and not layout.rate and _INTERVAL_KEY.fullmatch(key):
            layout.rate = 1 / amount if amount > 1e-12 else 0.0
        elif _SOURCE_KEY.fullmatch(key) and len(names) == 2 and names[1].startswith("column "):
            names[1] = value
        elif _TRIGGER_KEY.fullmatch(key):
            triggers.append(value.strip())
    layout.trigger = _trigger_in_table_header(triggers)


def _trigger_in_table_header(texts: list[str]) -> str:
    """The first date and the first time of day in some texts; empty without a date."""
    day = clock = ""
    for text in texts:
        date = None if day else _DAY.match(text)
        if date is not None:
            day = date[0]
        time = _CLOCK.match(text[date.end() :].strip() if date else text)
        clock = clock or (time[0] if time else "")
    return f"{day} {clock}".strip() if day else ""


def take_table_blocks(rows: list[list[str]], columns: list[int], names: list[str], units: list[str]) -> list[int]:
    """Copy names and units of blocks side by side, each with its settings on the left, as Tektronix writes them.

    Return the columns that are not channels: the time of all blocks but the first, and blocks with another time.
    """
    keys = {i for row in rows for i, text in enumerate(row) if i not in columns and is_table_setting(text)}
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


def take_table_units(rows: list[list[str]], units: list[str]) -> None:
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


_CANDIDATES = tuple(
    (pair[:-1], pair[-1]) for pair in ("\t.", ";.", ",.", "\t,", ";,", "|.", " .", " ,", ",,")
)  # delimiter and decimal sign, likely ones first
_TIME_NAME = re.compile(
    r"(?:t|times?|date.*|time ?stamp.*|zeit.*|temps|tiempo|tempo|czas|seconds?|x-axis|时间|время|time\W.*)",
    re.IGNORECASE,
)
_TIME_WITH_UNIT = re.compile(
    r"(t|time|time[ _]?stamp|zeit|temps|tiempo|tempo|czas|x-axis|时间|время)[ _.,:/-]+(?:in[ _]+)?([^\W\d_]+)",
    re.IGNORECASE,
)
_INDEX_NAME = re.compile(r"(?:x|n|no\.?|index|sequence|samples?|sample n.*|#)", re.IGNORECASE)
_GOOD = ("n", "t", "u")  # kinds of samples and times
_LONGEST_LINE = 100_000  # characters
_MAX_COLUMNS = 4096


@dataclass
class TableLayout:
    """Positions in a table, counted from 0, and values of its header.

    A space as `delimiter` means any white space. `time_kind` is ``"number"``, ``"stamp"``, ``"quantity"`` (with units),
    ``"index"`` or empty. `time_unit` is that of the time column [s], a guess if `time_without_unit` holds its name. The
    header gives `rate` and `frequency` [Hz] and the number of samples `length`, each 0 if missing, and `trigger`, the
    date and time to which the time column refers. `date` is that of the first row, if there is a date column.
    """

    delimiter: str
    decimal: str
    first_row: int = 0
    columns: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    time_column: int | None = None
    time_kind: str = ""
    time_unit: float = 1.0
    time_without_unit: str = ""
    rate: float = 0.0
    frequency: float = 0.0
    length: float = 0.0
    trigger: str = ""
    date: str = ""
    notes: list[str] = field(default_factory=list)


def find_table_layout(lines: list[str], options: Options) -> TableLayout:
    """Detect the layout of a table from its non-empty lines; the notes describe it."""
    if any(len(line) > _LONGEST_LINE for line in lines):
        raise RecordingError("is not a table: it has lines of more than 100000 characters.")
    delimiter, decimal, columns = _table_separators(lines, options)
    if not columns:
        raise RecordingError("is not a recognizable table of numbers.")
    if len(columns) > _MAX_COLUMNS:
        raise RecordingError(f"is not a recording: its table has {len(columns)} columns.")
    layout = TableLayout(delimiter, decimal)
    layout.first_row = _first_row_of_table(lines, layout, columns)
    above = lines[max(0, layout.first_row - HEADER_ROWS) : layout.first_row]
    head = [split_fields(line, delimiter) for line in above]
    data = [split_fields(line, delimiter) for line in lines[layout.first_row : layout.first_row + 200]]
    left = [row[: columns[0]] for row in data[:50]]
    settings = [[line] for line in above]  # spaces also separate words
    if delimiter != " ":
        settings = head + [row for row in left if any(row)]
    names, units = _table_column_headers(head, columns, decimal)
    take_table_metadata(layout, table_metadata(settings, decimal), names)
    for column in take_table_blocks(data[:50], columns, names, units):
        at = columns.index(column)
        del columns[at], names[at], units[at]
    take_table_units(head + left, units)
    layout.date = next((text for text in data[0] if table_cell_kind(text, decimal) == "d"), "")
    _find_time_column(layout, columns, names, units, data, options)
    _describe_table_layout(layout)
    stamp = data[0][layout.time_column or 0] if layout.time_kind == "stamp" else ""
    layout.notes += list_date_notes(f"{layout.date} {stamp}".strip()) or list_date_notes(layout.trigger)
    return layout


def _table_separators(lines: list[str], options: Options) -> tuple[str, str, list[int]]:
    """Delimiter, decimal sign and the columns that hold numbers or time stamps."""
    tail = lines[-(len(lines) // 3 + 1) :]
    tail = tail[:-1] if len(tail) > 3 else tail  # the last line may be incomplete
    sample = tail[:: len(tail) // 60 + 1]
    best: tuple[float, int] = (0.0, 0)
    separators: tuple[str, str, list[int]] = (",", ".", [])
    for delimiter, decimal in _CANDIDATES:
        if options.delimiter not in (None, delimiter) or options.decimal not in (None, decimal):
            continue
        rows = [
            [table_cell_kind(text, decimal) for text in split_fields(line, delimiter)[: _MAX_COLUMNS + 1]]
            for line in sample
        ]
        filled = sum(kind != "" for row in rows for kind in row)
        good = sum(kind in _GOOD for row in rows for kind in row)
        width = max((len(row) for row in rows), default=0)
        columns = [
            column
            for column in range(width)
            if sum(column < len(row) and row[column] in _GOOD for row in rows) >= 0.8 * len(rows)
        ]
        score = (round(good / max(filled, 1), 2), len(columns))
        if columns and score > best:
            best = score
            separators = (delimiter, decimal, columns)
    delimiter, decimal, columns = separators
    if (delimiter, decimal, len(columns)) == (",", ".", 2) and _is_one_column_table(lines, sample, options):
        return ";", ",", [0]
    return separators


def _is_one_column_table(lines: list[str], sample: list[str], options: Options) -> bool:
    """Whether two columns of integers are one with decimal commas: the header then has no comma."""
    if options.delimiter is not None or options.decimal is not None or any("." in line for line in sample):
        return False
    head = [line for line in lines[:20] if re.search(r"[^\W\dEe]", line)]
    return bool(head) and not any("," in line for line in head)


def _first_row_of_table(lines: list[str], layout: TableLayout, columns: list[int]) -> int:
    """The first of three successive lines with numbers in the columns."""
    run = 0
    for n, line in enumerate(lines):
        fields = split_fields(line, layout.delimiter)
        fits = all(c < len(fields) and table_cell_kind(fields[c], layout.decimal) in _GOOD for c in columns)
        run = run + 1 if fits else 0
        if run == 3 or (run and n == len(lines) - 1):
            return n - run + 1
    return 0


def _table_column_headers(head: list[list[str]], columns: list[int], decimal: str) -> tuple[list[str], list[str]]:
    """Names and units of the columns, from the last lines before the data."""
    rows = [[row[c].lstrip("#% ") if c < len(row) else "" for c in columns] for row in head[-40:]]
    headings = [row for row in rows if row[-1] and _is_table_heading(row, decimal)]
    names = [f"column {c + 1}" for c in columns]
    units = [""] * len(columns)
    if headings and all(_is_table_unit(text) for text in headings[-1] if text):
        units = headings.pop()
    if headings and sum(map(bool, headings[-1])) * 2 >= len(columns):
        for i, text in enumerate(headings[-1]):
            name, unit = split_unit(text)
            names[i] = f"CH{name}" if name.isdigit() else name or names[i]
            units[i] = unit or units[i]
    return names, units


def _is_table_heading(row: list[str], decimal: str) -> bool:
    """Whether a line may hold names: text, no settings of an instrument, and no numbers except channel numbers."""
    kinds = [table_cell_kind(text, decimal) for text in row]
    numbers = [text for text, kind in zip(row, kinds, strict=True) if kind not in ("x", "")]
    return "x" in kinds and not is_table_setting(row[0]) and all(text.isdigit() and len(text) < 3 for text in numbers)


def _is_table_unit(text: str) -> bool:
    text = text.strip("[]() ")
    return text.casefold() in TIME_UNITS or text.casefold() == "sequence" or si_unit(text)[0] in ("V", "A", "W")


@dataclass(frozen=True)
class _TableColumns:
    """The columns that hold numbers or time stamps; `kinds` are those of the first row of data."""

    places: list[int]
    headings: list[str]
    names: list[str]  # headings without a unit of time
    units: list[str]
    kinds: list[str]
    steps: FloatArray  # of the first column

    @property
    def ascends(self) -> bool:
        """Whether the first column ascends in steps of nearly the same size."""
        steps = self.steps
        up = steps.size > 1 and bool((steps > 0).all())
        return up and float(steps.max() - steps.min()) <= 0.5 * float(steps.max())

    def time_unit(self, at: int) -> str:
        """The unit of time that the header gives for a column, or an empty text."""
        words = (self.units[at].strip("[]() ").casefold(), self.names[at].casefold())
        return next((word for word in words if word in TIME_UNITS), "")


def _choose_time_column(columns: _TableColumns, given: str | int | None) -> int | None:
    """The column that the caller names, else the first by content, else by heading, else the first if it counts."""
    if given is not None:
        known: list[str | int] = list(columns.places) if isinstance(given, int) else list(columns.headings)
        if given not in known:
            names = ", ".join(clean_name(name) for name in columns.headings[:20])
            raise RecordingError(f"has no column {given!r} for the time; it has {names}.")
        return known.index(given)
    by_content = (i for i, kind in enumerate(columns.kinds) if kind in ("t", "u"))
    by_heading = (i for i, name in enumerate(columns.names) if _TIME_NAME.fullmatch(name))
    at = next(chain(by_content, by_heading), None)
    return 0 if at is None and (columns.ascends or _INDEX_NAME.fullmatch(columns.names[0])) else at


def _find_time_column(
    layout: TableLayout,
    columns: list[int],
    headings: list[str],
    units: list[str],
    data: list[list[str]],
    options: Options,
) -> None:
    """Decide which column is the time; the others are channels."""
    described = _describe_table_columns(layout.decimal, columns, headings, units, data)
    at = _choose_time_column(described, options.time_column)
    if at is not None and len(columns) > 1:
        layout.time_column = columns[at]
        layout.time_kind = _kind_of_time_column(layout, described, at)
        unit = described.time_unit(at)
        layout.time_unit = TIME_UNITS.get(unit, 1.0)
        if layout.time_kind == "number" and not unit:
            layout.time_without_unit = clean_name(described.names[at])
    rest = [i for i, c in enumerate(columns) if c != layout.time_column and described.kinds[i] not in ("t", "u")]
    layout.columns = [columns[i] for i in rest]
    layout.names = [described.names[i] for i in rest]
    layout.units = [described.units[i].strip("[]() ") for i in rest]
    if not layout.columns:
        raise RecordingError("is not a recording: its table has only a time column.")


def _describe_table_columns(
    decimal: str, columns: list[int], headings: list[str], units: list[str], data: list[list[str]]
) -> _TableColumns:
    names = list(headings)
    units = list(units)
    for i, name in enumerate(headings):
        match = _TIME_WITH_UNIT.fullmatch(name)
        if match is not None and match[2].casefold() in TIME_UNITS and not units[i]:
            names[i] = match[1]
            units[i] = match[2]
    kinds = [table_cell_kind(data[0][c], decimal) if c < len(data[0]) else "x" for c in columns]
    cells = [row[columns[0]] if columns[0] < len(row) else "" for row in data]
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(np.array([number_from_text(text.replace(decimal, ".")) for text in cells]))
    return _TableColumns(columns, headings, names, units, kinds, steps)


def _kind_of_time_column(layout: TableLayout, columns: _TableColumns, at: int) -> str:
    """What the time column holds; see :class:`TableLayout`."""
    if columns.kinds[at] in ("t", "u"):
        return "stamp" if columns.kinds[at] == "t" else "quantity"
    counts = at == 0 and columns.ascends and bool((columns.steps == 1).all())
    has_unit = columns.units[at].strip("[]() ").casefold() in TIME_UNITS
    return "index" if counts and (not has_unit or layout.rate) else "number"


def _describe_table_layout(layout: TableLayout) -> None:
    separator = {"\t": "tab", " ": "space"}.get(layout.delimiter, layout.delimiter)
    time = "no time column"
    if layout.time_column is not None:
        words = {"stamp": "dates", "index": "sample numbers", "quantity": "each with its unit"}
        kind = words.get(layout.time_kind, f"units of {layout.time_unit:g} s")
        time = f"time in column {layout.time_column + 1} ({kind})"
    layout.notes.insert(
        0,
        f"Read as a table: separator {separator!r}, decimal {layout.decimal!r}, data from line {layout.first_row + 1} "
        f"(empty lines not counted), {time}, {count_text(len(layout.columns), 'channel')}.",
    )


_MAX_HELD = 1_000_000  # rows without a time, after which the last time is repeated


class TimeColumn:
    """The times of rows, in pieces; missing ones are interpolated: the position of a row determines its time."""

    def __init__(self, numbers: Iterable[FloatArray], unit: float) -> None:
        self.numbers = numbers
        self.unit = unit
        self.first = self.last = np.nan
        self.n_times = self.n_missing = 0

    def pieces(self) -> Iterator[FloatArray]:
        """Times of the rows of data [s]."""
        last = np.nan
        held = 0
        begun = False
        for numbers in self.numbers:
            times = numbers * self.unit
            finite = np.isfinite(times)
            self.n_times += int(finite.sum())
            self.n_missing += int((~finite).sum())
            if not begun and times.size:
                self.first = float(times[0])
                begun = True
            if held or not finite.all():
                places = np.flatnonzero(finite) + held
                if not places.size:
                    held += times.size
                    if held > _MAX_HELD and np.isfinite(last):
                        yield np.full(held, last)
                        held = 0
                    continue
                known = times[finite]
                if np.isfinite(last):
                    places = np.append(-1, places)
                    known = np.append(last, known)
                size = held + times.size
                end = int(places[-1]) + 1
                times = np.interp(np.arange(end), places, known)
                held = size - end
            if times.size:
                last = self.last = float(times[-1])
                yield times
        if held and np.isfinite(last):
            yield np.full(held, last)


_WHOLE = 1_000_000  # bytes; of larger files, the start, middle and end are examined
_MIN_RATE = 400.0
_MAX_RATE = 1e8  # of waveforms [Hz]
_LONG_STEP = 1000.0  # steps of this size without a unit are seconds only if they are whole minutes
_BOM = b"\xef\xbb\xbf"


def open_table(path: Path, options: Options) -> list[RawSource]:
    """Open a text table, which holds one recording."""
    content = FileBytes.of(path, 4 * options.max_bytes if options.whole else None)
    stored, lines, n_head, encoding = _open_table_text(content, options)
    if len(lines) < 2:
        raise RecordingError("is not a recording: it has fewer than two lines.")
    layout = find_table_layout(lines, options)
    if layout.first_row >= n_head:
        raise RecordingError("is not a recording: its header is longer than half a megabyte.")
    notes = ([] if encoding == "utf-8" else [f"The text was read as {encoding}."]) + layout.notes
    rows = TextRows(stored, layout.delimiter, layout.decimal, "utf-8" if stored is not content else encoding)
    rate, kept, start = _find_table_rate(rows, layout, options, notes)
    offset = layout.first_row + kept.start

    def fetch(first: int, stop: int, channels: Sequence[int]) -> Sequence[FloatArray]:
        return list(rows.table(offset + first, offset + stop, [layout.columns[i] for i in channels]).T)

    channels = [RawHeader(name, unit, "") for name, unit in zip(layout.names, layout.units, strict=True)]
    source = RawSource(
        channels,
        rate,
        layout.frequency,
        start,
        path.name,
        "CSV",
        notes,
        n_samples=kept.stop - kept.start,
        fetch=fetch,
        missing="Samples missing, or not numbers: {}.",
    )
    return [source]


def _open_table_text(content: FileBytes, options: Options) -> tuple[StoredBytes, list[str], int, str]:
    """The text in an ASCII-compatible encoding, some lines, how many are from its start, and the encoding."""
    head = content.read(0, 10_000)
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and options.encoding is None:
        refuse_other_formats(head)
        if b"\0" in head:
            raise RecordingError(f"is not a text table, nor in another supported format: {EXPORT}.")
    if wide or (options.encoding is not None and not _table_keeps_ascii(options.encoding)):
        options.check_samples(content.size // 8)
        text, encoding = decode_text(content.read(0, content.size), options.encoding)
        lines = _solid_table_lines(text)
        return MemoryBytes(text.encode("utf-8", errors="replace")), lines, len(lines), encoding
    stored = content.after(len(_BOM)) if head.startswith(_BOM) else content
    size = stored.size
    if size <= _WHOLE:
        parts = [stored.read(0, size)]
    else:
        half = _WHOLE // 2
        quarter = _WHOLE // 4
        parts = [stored.read(0, half), stored.read(size // 2, size // 2 + quarter), stored.read(size - quarter, size)]
        parts = [_whole_table_lines(part, i > 0, i < 2) for i, part in enumerate(parts)]
    text, encoding = decode_text(b"\n".join(parts), options.encoding)
    return stored, _solid_table_lines(text), len(_solid_table_lines(parts[0].decode("latin-1"))), encoding


def _table_keeps_ascii(encoding: str) -> bool:
    try:
        return "0,\n".encode(encoding) == b"0,\n"
    except LookupError:
        raise RecordingError(f"cannot be read: there is no encoding {encoding!r}.") from None


def _solid_table_lines(text: str) -> list[str]:
    lines = text.replace("\r", "\n").replace("\0", "").split("\n")
    return [line for line in lines if line.strip(" \t\x1a")]


def _whole_table_lines(part: bytes, cut_first: bool, cut_last: bool) -> bytes:
    """Part of a text, without the incomplete lines at its edges."""
    lines = part.replace(b"\r", b"\n").split(b"\n")
    return b"\n".join(lines[int(cut_first) : len(lines) - int(cut_last)])


def write_csv(recording: Recording, path: str | Path) -> Path:
    r"""Write a recording as a table: ``time [s]`` and one column for each channel, with its unit.

    Parameters
    ----------
    recording : Recording
        The recording. Missing samples become empty fields.
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        The file.

    Notes
    -----
    Phases, nominal frequency and start are not written; a reader infers them from names and samples.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pqswarm.recordings import Channel
    >>> recording = Recording((Channel("Ua", "V", "A", np.array([0.0, 1.5])),), 1000.0, 50.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_csv(recording, f"{folder}/short.csv").read_text().replace("\r", ""))
    time [s],Ua [V]
    0,0
    0.001,1.5
    <BLANKLINE>
    """
    header = [f"{channel.name} [{channel.unit}]" if channel.unit else channel.name for channel in recording.channels]
    lines = [",".join(_quote_csv_cell(text) for text in ("time [s]", *header))]
    columns = [channel.samples.tolist() for channel in recording.channels]
    for n, row in enumerate(zip(*columns, strict=True)):
        fields = ["" if value != value else f"{value:.12g}" for value in row]
        lines.append(f"{n / recording.sampling_rate:.12g},{','.join(fields)}")
    return write_atomically(path, "\r\n".join([*lines, ""]))


def _quote_csv_cell(text: str) -> str:
    text = text.replace('"', "'").replace("\n", " ").replace("\r", " ")
    return f'"{text}"' if set(text) & set(",;\t") else text


def _find_table_rate(
    rows: TextRows, layout: TableLayout, options: Options, notes: list[str]
) -> tuple[float, slice, datetime | None]:
    """Rate [Hz], rows of data to keep, and time of the first one; this also indexes the rows."""
    if layout.time_column is None or layout.time_kind == "index":
        return _table_rate_from_header(rows, layout, options, notes)
    clock = Clock(layout.date) if layout.time_kind == "stamp" else None
    value: Callable[[str], float] | Clock | None = clock
    if layout.time_kind == "quantity":
        value = partial(table_cell_quantity, decimal=layout.decimal)
    column = TimeColumn(rows.index(layout.time_column, layout.first_row, value), layout.time_unit)
    stamp_notes: list[str] = []
    per_second = 1.0

    def find_unit(rate: float) -> float:
        nonlocal per_second
        if layout.time_without_unit:
            per_second = _guess_time_column_unit(rows, layout, rate, notes)
        return per_second

    rate, kept, seconds = find_rate_of_stamps(column.pieces(), stamp_notes, find_unit)
    if column.n_times < 2:
        raise RecordingError("does not give its sampling rate: its time column holds no times.")
    if column.n_missing:
        notes.append(f"{count_text(column.n_missing, 'row')} without a time: interpolated.")
    whole = slice(0, rows.n_rows - layout.first_row)
    start = clock.first if clock else shift_time(date_from_text(layout.trigger), column.first / per_second)
    if options.sampling_rate is not None:
        return rate, whole, start
    span = (column.last - column.first) / per_second
    if stamp_notes and _header_rate_fits_stamps(layout, whole.stop, rate, span):
        if kept != whole:
            notes.append("Some time stamps are wrong: the rate and length of the header are used.")
        return layout.rate, whole, start
    notes += stamp_notes
    if not rate or (layout.rate and abs(layout.rate / rate - 1) < 0.01):
        rate = layout.rate  # more precise than rounded time stamps
    return rate, kept, shift_time(start, seconds) if kept.start else start


def _table_rate_from_header(
    rows: TextRows, layout: TableLayout, options: Options, notes: list[str]
) -> tuple[float, slice, datetime | None]:
    """Do so without a time column."""
    if layout.rate:
        notes.append(f"The sampling rate of {frequency_text(layout.rate)} is from the header.")
    elif options.sampling_rate is None:
        why = "counts samples" if layout.time_kind == "index" else "is missing"
        raise RecordingError(f"does not give its sampling rate: a time column {why}; set sampling_rate.")
    for _ in rows.index():
        pass
    return layout.rate, slice(0, rows.n_rows - layout.first_row), date_from_text(layout.trigger)


def _header_rate_fits_stamps(layout: TableLayout, n_rows: int, rate: float, span: float) -> bool:
    """Whether the rate of the header matches the stamps, apart from rounded or wrong ones."""
    if not layout.rate:
        return False
    expected = (n_rows - 1) / layout.rate
    return abs(span - expected) < max(0.001 * expected, 2 / layout.rate) or (
        layout.length == n_rows and abs(rate / layout.rate - 1) < 0.01
    )


def _guess_time_column_unit(rows: TextRows, layout: TableLayout, rate: float, notes: list[str]) -> float:
    """Units per second of times without a unit: those that make the samples a supply voltage, else 1."""
    n_rows = rows.n_rows - layout.first_row

    def fetch(first: int, stop: int) -> list[FloatArray]:
        table = rows.table(layout.first_row + first, layout.first_row + stop, layout.columns[:MOST_CHANNELS])
        return [scale_source_samples(column, 1.0)[0] for column in table.T]

    for per_second, words in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        possible = rate < _MIN_RATE <= rate * per_second <= _MAX_RATE
        if possible and estimate_nominal(fetch, n_rows, rate * per_second):
            notes.append(
                f"The unit of {layout.time_without_unit!r} is not given: {words}, which gives the samples the "
                "frequency of a grid."
            )
            return per_second
    step = 1 / rate
    if step >= _LONG_STEP and abs(step / 60 - round(step / 60)) > 1e-6:
        raise RecordingError(
            f"does not give the unit of its column {layout.time_without_unit!r}, and steps of {step:g} are hardly "
            "seconds: name the unit, as in 'time [us]', or set sampling_rate."
        )
    notes.append(f"The unit of {layout.time_without_unit!r} is not given: seconds are assumed.")
    return 1.0


TABLE = Reader("csv", (".csv", ".txt"), open=open_table)
