"""Rows of numbers in a text of any size: one pass finds where rows begin, then any stretch is parsed on demand."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from pqswarm._typing import FloatArray, IntArray
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.text import number, split

__all__ = ["MemoryBytes", "StoredBytes", "TextRows"]

_EVERY = 4096  # rows from one place in the index to the next
_CHUNK = 4_000_000  # bytes looked at at once
_LONGEST_ROW = 1_000_000  # bytes
_COMPILED_FROM = 1_000_000  # bytes; below, compiled code is not worth its loading
_LINE = re.compile(rb"[^\r\n]+")
_NOTHING = b" \t\0\x1a"


class StoredBytes(Protocol):
    """Bytes that are read on demand."""

    @property
    def size(self) -> int:
        """How many there are."""

    def read(self, first: int, stop: int) -> bytes:
        """Return those from `first` to before `stop`."""


class MemoryBytes:
    """Bytes in memory, to be read as those of a file."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.size = len(content)

    def read(self, first: int, stop: int) -> bytes:
        """Return those from `first` to before `stop`."""
        return self.content[first:stop]


class TextRows:
    """The lines of a text that hold something, and at least `least` delimiters.

    A space as `delimiter` stands for any white space. After :meth:`index`, `n_rows` is how many there are, and several
    threads may ask for stretches.
    """

    def __init__(self, content: StoredBytes, delimiter: str, decimal: str, encoding: str, least: int = 0) -> None:
        self.content = content
        self.delimiter = delimiter
        self.decimal = decimal
        self.encoding = encoding
        self.least = least
        self.compiled = content.size >= _COMPILED_FROM and delimiter != decimal
        self.n_rows = 0
        self.places = np.empty(0, np.int64)

    def index(self, column: int | None = None, take: Callable[[FloatArray], None] | None = None) -> int:
        """Find the rows, and return the number of lines with too few delimiters.

        On the way, `take` is given the numbers of a column, piece by piece.
        """
        places: list[IntArray] = []
        n_short = 0
        for at, chunk in self._chunks():
            begins, ends, short = self._find(chunk)
            n_short += short
            wanted = np.arange(-self.n_rows % _EVERY, begins.size, _EVERY)
            places.append(begins[wanted] + at)
            self.n_rows += begins.size
            if take is not None and column is not None:
                take(self._parse(chunk, begins, ends, [column])[:, 0])
        self.places = np.concatenate([*places, [self.content.size]])
        return n_short

    def table(self, first: int, stop: int, columns: Sequence[int]) -> FloatArray:
        """Return columns of a stretch of rows, with NaN where a field is missing or is not a number."""
        if first >= stop:
            return np.empty((0, len(columns)))
        parts = []
        step = max(_CHUNK // max(int(np.diff(self.places).max()), 1), 1)
        begin, end = first // _EVERY, -(-stop // _EVERY)
        for at in range(begin, end, step):
            until = min(at + step, end)
            chunk = self.content.read(int(self.places[at]), int(self.places[until]))
            begins, ends, _ = self._find(chunk)
            chosen = slice(max(first - at * _EVERY, 0), stop - at * _EVERY)
            parts.append(self._parse(chunk, begins[chosen], ends[chosen], columns))
        table = np.concatenate(parts)
        if len(table) != stop - first:
            raise RecordingError("has changed since it was opened.")
        return table

    def _chunks(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines, some megabytes at once, and where they begin."""
        at, rest = 0, b""
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
        """Begin and end of each row, and the number of lines that are too short."""
        delimiter = self.delimiter.encode()
        spans, n_short = [], 0
        for match in _LINE.finditer(chunk):
            line = match[0]
            if line.strip(_NOTHING):
                if self.least and line.count(delimiter) < self.least:
                    n_short += 1
                else:
                    spans.append(match.span())
        found = np.array(spans, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1], n_short

    def _parse(self, chunk: bytes, begins: IntArray, ends: IntArray, columns: Sequence[int]) -> FloatArray:
        table = np.full((begins.size, len(columns)), np.nan)
        for n, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            fields = self.fields(chunk[begin:end])
            for i, column in enumerate(columns):
                if column < len(fields):
                    table[n, i] = number(fields[column].replace(self.decimal, "."))
        return table

    def fields(self, row: bytes) -> list[str]:
        """The fields of a row."""
        return split(row.decode(self.encoding, errors="replace").replace("\0", ""), self.delimiter)
