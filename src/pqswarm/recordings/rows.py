"""Rows of numbers in text of any size: one pass finds the rows, which are then parsed on demand."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.stamps import Clock
from pqswarm.recordings.text import number_from_text, split_fields

_EVERY = 4096  # rows between entries of the index
_CHUNK = 1_000_000  # bytes read at once
_LONGEST_ROW = 1_000_000  # bytes
_COMPILED_FROM = 1_000_000  # bytes; below, loading compiled code does not pay off
_BLANKS = np.frombuffer(b" \t\0\x1a", np.uint8)


class StoredBytes(Protocol):
    """Bytes that are read on demand."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    def read(self, first: int, stop: int) -> bytes:
        """Return those from `first` to before `stop`."""


class MemoryBytes:
    """Bytes in memory, read like those of a file."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.size = len(content)

    def read(self, first: int, stop: int) -> bytes:
        """Return those from `first` to before `stop`."""
        return self.content[first:stop]


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
        """Return columns of some rows, with NaN where a field is missing or not a number."""
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
            from pqswarm.recordings._text_kernels import parse_rows

            unique, places = np.unique(np.asarray(columns, np.int64), return_inverse=True)
            numbers = np.full((begins.size, unique.size), np.nan)
            signs = ord(self.delimiter), ord(self.decimal)
            parse_rows(np.frombuffer(chunk, np.uint8), begins, ends, *signs, unique, numbers, is_odd)
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
        meaning = value.seconds if isinstance(value, Clock) else value
        result = np.full(begins.size, np.nan)
        at = 0
        while at < begins.size:
            if isinstance(value, Clock) and self.compiled and value.minute.isascii() and value.minute:
                at += self._seconds(chunk, begins[at:], ends[at:], column, value, result[at:])
                if at == begins.size:
                    break
            fields = self._fields(chunk[begins[at] : ends[at]], column + 1)
            if column < len(fields):
                result[at] = meaning(fields[column])
            at += 1
        return result

    def _seconds(
        self, chunk: bytes, begins: IntArray, ends: IntArray, column: int, clock: Clock, result: FloatArray
    ) -> int:
        """Fill in the times of the first rows within the minute that the clock knows; return how many."""
        from pqswarm.recordings._text_kernels import parse_seconds

        minute = np.frombuffer(clock.minute.encode("ascii"), np.uint8)
        content = np.frombuffer(chunk, np.uint8)
        return int(parse_seconds(content, begins, ends, ord(self.delimiter), column, minute, clock.begin, result))

    def _fields(self, row: bytes, most: int = -1) -> list[str]:
        """The fields of a row, or at least the first `most`."""
        text = row.decode(self.encoding, errors="replace").replace("\0", "")
        if most > 0 and '"' not in text and self.delimiter != " ":
            return [field.strip() for field in text.split(self.delimiter, most)]
        return split_fields(text, self.delimiter)
