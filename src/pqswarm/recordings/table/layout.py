"""The layout of a text table: separators, first row of data, names, units, time, and the settings of its header."""

import re
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.reader import Options
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.text import list_date_notes, number_from_text, split
from pqswarm.recordings.units import clean, si_unit, split_unit

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


def kind_of(text: str, decimal: str) -> str:
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
                name, separator, value = key.partition(sign)
                if separator and value.strip():
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


def take_metadata(layout: "Layout", metadata: list[tuple[str, str]], names: list[str]) -> None:
    """Copy what the header says into the layout and the names."""
    triggers = []
    for key, value in metadata:
        amount = quantity(value, layout.decimal)
        settings = [name for name, pattern in _SETTINGS if amount > 0 and pattern.fullmatch(key)]
        if settings:
            setattr(layout, settings[0], amount)
        elif amount > 0 and not layout.rate and _INTERVAL_KEY.fullmatch(key):
            layout.rate = 1 / amount if amount > 1e-12 else 0.0
        elif _SOURCE_KEY.fullmatch(key) and len(names) == 2 and names[1].startswith("column "):
            names[1] = value
        elif _TRIGGER_KEY.fullmatch(key):
            triggers.append(value.strip())
    layout.trigger = _find_trigger(triggers)


def _find_trigger(texts: list[str]) -> str:
    """The first date and the first time of day in some texts; empty without a date."""
    day = clock = ""
    for text in texts:
        date = None if day else _DAY.match(text)
        if date is not None:
            day = date[0]
        time = _CLOCK.match(text[date.end() :].strip() if date else text)
        clock = clock or (time[0] if time else "")
    return f"{day} {clock}".strip() if day else ""


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
class Layout:
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


def find_layout(lines: list[str], options: Options) -> Layout:
    """Detect the layout of a table from its non-empty lines; the notes describe it."""
    if any(len(line) > _LONGEST_LINE for line in lines):
        raise RecordingError("is not a table: it has lines of more than 100000 characters.")
    delimiter, decimal, columns = _separators(lines, options)
    if not columns:
        raise RecordingError("is not a recognisable table of numbers.")
    if len(columns) > _MAX_COLUMNS:
        raise RecordingError(f"is not a recording: its table has {len(columns)} columns.")
    layout = Layout(delimiter, decimal)
    layout.first_row = _first_row_of_data(lines, layout, columns)
    above = lines[max(0, layout.first_row - HEADER_ROWS) : layout.first_row]
    head = [split(line, delimiter) for line in above]
    data = [split(line, delimiter) for line in lines[layout.first_row : layout.first_row + 200]]
    left = [row[: columns[0]] for row in data[:50]]
    settings = [[line] for line in above]  # spaces also separate words
    if delimiter != " ":
        settings = head + [row for row in left if any(row)]
    names, units = _column_headers(head, columns, decimal)
    take_metadata(layout, metadata_of(settings, decimal), names)
    for column in take_blocks(data[:50], columns, names, units):
        at = columns.index(column)
        del columns[at], names[at], units[at]
    take_units(head + left, units)
    layout.date = next((text for text in data[0] if kind_of(text, decimal) == "d"), "")
    _find_time(layout, columns, names, units, data, options)
    _describe_layout(layout)
    stamp = data[0][layout.time_column or 0] if layout.time_kind == "stamp" else ""
    layout.notes += list_date_notes(f"{layout.date} {stamp}".strip()) or list_date_notes(layout.trigger)
    return layout


def _separators(lines: list[str], options: Options) -> tuple[str, str, list[int]]:
    """Delimiter, decimal sign and the columns that hold numbers or time stamps."""
    tail = lines[-(len(lines) // 3 + 1) :]
    tail = tail[:-1] if len(tail) > 3 else tail  # the last line may be incomplete
    sample = tail[:: len(tail) // 60 + 1]
    best: tuple[float, int] = (0.0, 0)
    separators: tuple[str, str, list[int]] = (",", ".", [])
    for delimiter, decimal in _CANDIDATES:
        if options.delimiter not in (None, delimiter) or options.decimal not in (None, decimal):
            continue
        rows = [[kind_of(text, decimal) for text in split(line, delimiter)[: _MAX_COLUMNS + 1]] for line in sample]
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
    if (delimiter, decimal, len(columns)) == (",", ".", 2) and _is_one_column(lines, sample, options):
        return ";", ",", [0]
    return separators


def _is_one_column(lines: list[str], sample: list[str], options: Options) -> bool:
    """Whether two columns of integers are one with decimal commas: the header then has no comma."""
    if options.delimiter is not None or options.decimal is not None or any("." in line for line in sample):
        return False
    head = [line for line in lines[:20] if re.search(r"[^\W\dEe]", line)]
    return bool(head) and not any("," in line for line in head)


def _first_row_of_data(lines: list[str], layout: Layout, columns: list[int]) -> int:
    """The first of three successive lines with numbers in the columns."""
    run = 0
    for n, line in enumerate(lines):
        fields = split(line, layout.delimiter)
        fits = all(c < len(fields) and kind_of(fields[c], layout.decimal) in _GOOD for c in columns)
        run = run + 1 if fits else 0
        if run == 3 or (run and n == len(lines) - 1):
            return n - run + 1
    return 0


def _column_headers(head: list[list[str]], columns: list[int], decimal: str) -> tuple[list[str], list[str]]:
    """Names and units of the columns, from the last lines before the data."""
    rows = [[row[c].lstrip("#% ") if c < len(row) else "" for c in columns] for row in head[-40:]]
    headings = [row for row in rows if row[-1] and _is_heading_row(row, decimal)]
    names = [f"column {c + 1}" for c in columns]
    units = [""] * len(columns)
    if headings and all(_is_unit_cell(text) for text in headings[-1] if text):
        units = headings.pop()
    if headings and sum(map(bool, headings[-1])) * 2 >= len(columns):
        for i, text in enumerate(headings[-1]):
            name, unit = split_unit(text)
            names[i] = f"CH{name}" if name.isdigit() else name or names[i]
            units[i] = unit or units[i]
    return names, units


def _is_heading_row(row: list[str], decimal: str) -> bool:
    """Whether a line may hold names: text, no settings of an instrument, and no numbers except channel numbers."""
    kinds = [kind_of(text, decimal) for text in row]
    numbers = [text for text, kind in zip(row, kinds, strict=True) if kind not in ("x", "")]
    return "x" in kinds and not is_header_key(row[0]) and all(text.isdigit() and len(text) < 3 for text in numbers)


def _is_unit_cell(text: str) -> bool:
    text = text.strip("[]() ")
    return text.casefold() in TIME_UNITS or text.casefold() == "sequence" or si_unit(text)[0] in ("V", "A", "W")


@dataclass(frozen=True)
class _Columns:
    """The columns that hold numbers or time stamps; `kinds` are those of the first row of data."""

    places: list[int]
    headings: list[str]
    names: list[str]  # headings without a unit of time
    units: list[str]
    kinds: list[str]
    steps: FloatArray  # of the first column
    time_column: str | int | None  # given by the caller

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


def _choose_time_column(columns: _Columns) -> int | None:
    """The column that the caller names, else the first by content, else by heading, else the first if it counts."""
    given = columns.time_column
    if given is not None:
        known: list[str | int] = list(columns.places) if isinstance(given, int) else list(columns.headings)
        if given not in known:
            names = ", ".join(clean(name) for name in columns.headings[:20])
            raise RecordingError(f"has no column {given!r} for the time; it has {names}.")
        return known.index(given)
    by_content = (i for i, kind in enumerate(columns.kinds) if kind in ("t", "u"))
    by_heading = (i for i, name in enumerate(columns.names) if _TIME_NAME.fullmatch(name))
    at = next(chain(by_content, by_heading), None)
    return 0 if at is None and (columns.ascends or _INDEX_NAME.fullmatch(columns.names[0])) else at


def _find_time(
    layout: Layout, columns: list[int], headings: list[str], units: list[str], data: list[list[str]], options: Options
) -> None:
    """Decide which column is the time; the others are channels."""
    described = _describe_columns(layout.decimal, columns, headings, units, data, options)
    at = _choose_time_column(described)
    if at is not None and len(columns) > 1:
        layout.time_column = columns[at]
        layout.time_kind = _time_kind(layout, described, at)
        unit = described.time_unit(at)
        layout.time_unit = TIME_UNITS.get(unit, 1.0)
        if layout.time_kind == "number" and not unit:
            layout.time_without_unit = clean(described.names[at])
    rest = [i for i, c in enumerate(columns) if c != layout.time_column and described.kinds[i] not in ("t", "u")]
    layout.columns = [columns[i] for i in rest]
    layout.names = [described.names[i] for i in rest]
    layout.units = [described.units[i].strip("[]() ") for i in rest]
    if not layout.columns:
        raise RecordingError("is not a recording: its table has only a time column.")


def _describe_columns(
    decimal: str, columns: list[int], headings: list[str], units: list[str], data: list[list[str]], options: Options
) -> _Columns:
    names = list(headings)
    units = list(units)
    for i, name in enumerate(headings):
        match = _TIME_WITH_UNIT.fullmatch(name)
        if match is not None and match[2].casefold() in TIME_UNITS and not units[i]:
            names[i] = match[1]
            units[i] = match[2]
    kinds = [kind_of(data[0][c], decimal) if c < len(data[0]) else "x" for c in columns]
    cells = [row[columns[0]] if columns[0] < len(row) else "" for row in data]
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(np.array([number_from_text(text.replace(decimal, ".")) for text in cells]))
    return _Columns(columns, headings, names, units, kinds, steps, options.time_column)


def _time_kind(layout: Layout, columns: _Columns, at: int) -> str:
    """What the time column holds; see :class:`Layout`."""
    if columns.kinds[at] in ("t", "u"):
        return "stamp" if columns.kinds[at] == "t" else "quantity"
    counts = at == 0 and columns.ascends and bool((columns.steps == 1).all())
    has_unit = columns.units[at].strip("[]() ").casefold() in TIME_UNITS
    return "index" if counts and (not has_unit or layout.rate) else "number"


def _describe_layout(layout: Layout) -> None:
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
