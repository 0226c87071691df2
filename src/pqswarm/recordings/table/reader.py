"""Text tables: a time column or a given rate, and one column for each channel.

Separators, decimal comma, header rows (HIOKI MEMORY HiCORDER, Tektronix, Rigol, Keysight, Siglent and plain ones),
units and the time column are detected and described in the notes; arguments of :func:`pqswarm.recordings.read`
override them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, frequency_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.files import EXPORT, FileBytes, refuse_other_formats
from pqswarm.recordings.frequency import MOST_CHANNELS, estimate_nominal
from pqswarm.recordings.reader import Options, RawHeader, RawSource, Reader
from pqswarm.recordings.recording import Recording, RecordingError, shift_time
from pqswarm.recordings.rows import MemoryBytes, StoredBytes, TextRows
from pqswarm.recordings.source import scale_samples
from pqswarm.recordings.stamps import Clock, find_rate_of_pieces
from pqswarm.recordings.table.layout import Layout, find_layout, quantity
from pqswarm.recordings.text import date_from_text, decode

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
_BOM = b"\xef\xbb\xbf"


def open_table(path: Path, options: Options) -> list[RawSource]:
    """Open a text table, which holds one recording."""
    content = FileBytes.of(path, 4 * options.max_bytes if options.whole else None)
    stored, lines, n_head, encoding = _open_text(content, options)
    if len(lines) < 2:
        raise RecordingError("is not a recording: it has fewer than two lines.")
    layout = find_layout(lines, options)
    if layout.first_row >= n_head:
        raise RecordingError("is not a recording: its header is longer than half a megabyte.")
    notes = ([] if encoding == "utf-8" else [f"The text was read as {encoding}."]) + layout.notes
    rows = TextRows(stored, layout.delimiter, layout.decimal, "utf-8" if stored is not content else encoding)
    rate, kept, start = _find_rate(rows, layout, options, notes)
    offset = layout.first_row + kept.start

    def fetch(first: int, stop: int, channels: Sequence[int]) -> Sequence[FloatArray]:
        table = rows.table(offset + first, offset + stop, [layout.columns[i] for i in channels])
        return list(table.T)

    channels = [RawHeader(name, unit, "") for name, unit in zip(layout.names, layout.units, strict=True)]
    n_samples = kept.stop - kept.start
    source = RawSource(channels, rate, n_samples, fetch, layout.frequency, start, path.name, "CSV", notes)
    source.missing = "Samples missing, or not numbers: {}."
    return [source]


def _open_text(content: FileBytes, options: Options) -> tuple[StoredBytes, list[str], int, str]:
    """The text in an ASCII-compatible encoding, some lines, how many are from its start, and the encoding."""
    head = content.read(0, 10_000)
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and options.encoding is None:
        refuse_other_formats(head)
        if b"\0" in head:
            raise RecordingError(f"is not a text table, and its kind is unknown: {EXPORT}.")
    if wide or (options.encoding is not None and not _keeps_ascii(options.encoding)):
        options.check_samples(content.size // 8)
        text, encoding = decode(content.read(0, content.size), options.encoding)
        lines = _solid_lines(text)
        return MemoryBytes(text.encode("utf-8", errors="replace")), lines, len(lines), encoding
    stored = content.after(len(_BOM)) if head.startswith(_BOM) else content
    size = stored.size
    if size <= _WHOLE:
        parts = [stored.read(0, size)]
    else:
        half = _WHOLE // 2
        quarter = _WHOLE // 4
        parts = [stored.read(0, half), stored.read(size // 2, size // 2 + quarter), stored.read(size - quarter, size)]
        parts = [_whole_lines(part, i > 0, i < 2) for i, part in enumerate(parts)]
    text, encoding = decode(b"\n".join(parts), options.encoding)
    return stored, _solid_lines(text), len(_solid_lines(parts[0].decode("latin-1"))), encoding


def _keeps_ascii(encoding: str) -> bool:
    try:
        return "0,\n".encode(encoding) == b"0,\n"
    except LookupError:
        raise RecordingError(f"cannot be read: there is no encoding {encoding!r}.") from None


def _solid_lines(text: str) -> list[str]:
    lines = text.replace("\r", "\n").replace("\0", "").split("\n")
    return [line for line in lines if line.strip(" \t\x1a")]


def _whole_lines(part: bytes, cut_first: bool, cut_last: bool) -> bytes:
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
    header = ["time [s]"]
    header += [f"{channel.name} [{channel.unit}]" if channel.unit else channel.name for channel in recording.channels]
    lines = [",".join(_quote(text) for text in header)]
    columns = [channel.samples.tolist() for channel in recording.channels]
    for n, row in enumerate(zip(*columns, strict=True)):
        fields = ["" if value != value else f"{value:.12g}" for value in row]
        lines.append(f"{n / recording.sampling_rate:.12g},{','.join(fields)}")
    return write_atomically(path, "\r\n".join([*lines, ""]))


def _quote(text: str) -> str:
    text = text.replace('"', "'").replace("\n", " ").replace("\r", " ")
    return f'"{text}"' if set(text) & set(",;\t") else text


def _find_rate(
    rows: TextRows, layout: Layout, options: Options, notes: list[str]
) -> tuple[float, slice, datetime | None]:
    """Rate [Hz], rows of data to keep, and time of the first one; this also indexes the rows."""
    if layout.time_column is None or layout.time_kind == "index":
        return _take_rate_of_header(rows, layout, options, notes)
    clock = Clock(layout.date) if layout.time_kind == "stamp" else None
    value: Callable[[str], float] | Clock | None = clock
    if layout.time_kind == "quantity":
        value = partial(quantity, decimal=layout.decimal)
    column = TimeColumn(rows.index(layout.time_column, layout.first_row, value), layout.time_unit)
    stamp_notes: list[str] = []
    per_second = 1.0

    def find_unit(rate: float) -> float:
        nonlocal per_second
        if layout.time_without_unit:
            per_second = _guess_time_unit(rows, layout, rate, notes)
        return per_second

    rate, kept, seconds = find_rate_of_pieces(column.pieces(), stamp_notes, find_unit)
    if column.n_times < 2:
        raise RecordingError("does not give its sampling rate: its time column holds no times.")
    if column.n_missing:
        notes.append(f"{count_text(column.n_missing, 'row')} without a time: interpolated.")
    whole = slice(0, rows.n_rows - layout.first_row)
    start = clock.first if clock else shift_time(date_from_text(layout.trigger), column.first / per_second)
    if options.sampling_rate is not None:
        return rate, whole, start
    span = (column.last - column.first) / per_second
    if stamp_notes and _agrees_with_stamps(layout, whole.stop, rate, span):
        if kept != whole:
            notes.append("Some time stamps are wrong: the rate and length of the header are used.")
        return layout.rate, whole, start
    notes += stamp_notes
    if not rate or (layout.rate and abs(layout.rate / rate - 1) < 0.01):
        rate = layout.rate  # more precise than rounded time stamps
    return rate, kept, shift_time(start, seconds) if kept.start else start


def _take_rate_of_header(
    rows: TextRows, layout: Layout, options: Options, notes: list[str]
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


def _agrees_with_stamps(layout: Layout, n_rows: int, rate: float, span: float) -> bool:
    """Whether the rate of the header matches the stamps, apart from rounded or wrong ones."""
    if not layout.rate:
        return False
    expected = (n_rows - 1) / layout.rate
    return abs(span - expected) < max(0.001 * expected, 2 / layout.rate) or (
        layout.length == n_rows and abs(rate / layout.rate - 1) < 0.01
    )


def _guess_time_unit(rows: TextRows, layout: Layout, rate: float, notes: list[str]) -> float:
    """Units per second of times without a unit: those that make the samples a supply voltage, else 1."""
    n_rows = rows.n_rows - layout.first_row

    def fetch(first: int, stop: int) -> list[FloatArray]:
        table = rows.table(layout.first_row + first, layout.first_row + stop, layout.columns[:MOST_CHANNELS])
        return [scale_samples(column, 1.0)[0] for column in table.T]

    for per_second, words in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        possible = rate < _MIN_RATE <= rate * per_second <= _MAX_RATE
        if possible and estimate_nominal(fetch, n_rows, rate * per_second):
            notes.append(
                f"The unit of {layout.time_without_unit!r} is not given: {words}, which gives the samples the "
                "frequency of a grid."
            )
            return per_second
    notes.append(f"The unit of {layout.time_without_unit!r} is not given: seconds are assumed.")
    return 1.0


TABLE = Reader("csv", (".csv", ".txt"), open=open_table)
