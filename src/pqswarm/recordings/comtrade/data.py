"""The data of a COMTRADE recording: rows of sample number, time stamp, analog values and status bits.

They stay in the file and are read on demand.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.recordings.comtrade.configuration import Configuration
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.rows import StoredBytes, TextRows

_TYPES = {"BINARY": "<i2", "BINARY32": "<i4", "FLOAT32": "<f4"}
_MISSING = {"BINARY": -32768, "BINARY32": -2147483648}
_NO_STAMP = 0xFFFFFFFF
_PIECE = 65536  # rows read at once
_CHUNK = 8_000_000  # bytes read at once
_PLACES = 16  # positions at which the row order of a long file is checked


@dataclass
class DataRows:
    """Rows of a ``.dat``.

    `fetch` takes the first row, the one after the last, and the numbers of channels; it returns stored values, with NaN
    for missing ones. `stamps` yields the time stamps of all rows in pieces, in the unit of the configuration. `missing`
    is the note on missing samples. `status` takes the first row and the one after the last; it returns a table, rows x
    status channels, of 0, 1, and -1 for unknown states.
    """

    kind: str
    n_rows: int
    fetch: Callable[[int, int, Sequence[int]], list[FloatArray]]
    stamps: Callable[[], Iterator[FloatArray]]
    missing: str
    notes: list[str]
    status: Callable[[int, int], AnyArray]


def open_rows(content: StoredBytes, config: Configuration) -> DataRows:
    """Open the content of a ``.dat`` as its ``.cfg`` describes it."""
    head = content.read(0, 200)
    kind = config.kind or _sniff(content, head, config)
    notes: list[str] = []
    if kind != "ASCII" and _looks_ascii(head):
        notes.append(f"The configuration says {kind}, but the data are ASCII.")
        kind = "ASCII"
    data = _open_ascii(content, config, notes) if kind == "ASCII" else _open_binary(content, kind, config, notes)
    if not data.n_rows:
        raise RecordingError("has no samples: its data hold no whole row.")
    return data


def _looks_ascii(head: bytes) -> bool:
    return re.match(rb"\s*\d+\s*,\s*\d*\s*,[0-9eE+\-., \t\r\n]*$", head) is not None


def _sniff(content: StoredBytes, head: bytes, config: Configuration) -> str:
    if _looks_ascii(head):
        return "ASCII"
    for kind in _TYPES:
        row = _row_type(kind, config)
        if content.size // row.itemsize > 1 and _fraction_in_order(content, row) > 0.9:
            return kind
    return "BINARY"


def _row_type(kind: str, config: Configuration) -> np.dtype[np.void]:
    words = -(-config.n_status // 16)
    return np.dtype(
        [("n", "<u4"), ("t", "<u4"), ("values", _TYPES[kind], (len(config.analog),)), ("status", "<u2", (words,))]
    )


def _read_rows(content: StoredBytes, row: np.dtype[np.void], first: int, stop: int) -> AnyArray:
    return np.frombuffer(content.read(first * row.itemsize, stop * row.itemsize), row)


def _fraction_in_order(content: StoredBytes, row: np.dtype[np.void]) -> float:
    """Fraction of rows whose number follows that of the previous row; long files are sampled."""
    count = content.size // row.itemsize
    length = min(count, _PIECE, max(_CHUNK // row.itemsize, 2 * _PLACES))
    if count > length:
        length = max(length // _PLACES, 2)
    places = np.unique(np.linspace(0, count - length, _PLACES).astype(np.int64)) if count > length else [0]
    follows = [np.diff(_read_rows(content, row, int(at), int(at) + length)["n"].astype(np.int64)) == 1 for at in places]
    return float(np.concatenate(follows).mean())


def _open_binary(content: StoredBytes, kind: str, config: Configuration, notes: list[str]) -> DataRows:
    row = _row_type(kind, config)
    count, left = divmod(content.size, row.itemsize)
    if count > 2 and _fraction_in_order(content, row) < 0.5:
        notes.append("The samples are not numbered in order: the data may be damaged.")
    if left:
        notes.append(f"{count_text(left, 'byte')} after the last whole row: ignored.")

    step = max(_CHUNK // row.itemsize, 1)

    def fetch(first: int, stop: int, channels: Sequence[int]) -> list[FloatArray]:
        columns = [np.empty(stop - first) for _ in channels]
        for begin in range(first, stop, step):
            end = min(begin + step, stop)
            rows = _read_rows(content, row, begin, end)
            for i, column in zip(channels, columns, strict=True):
                stored = rows["values"][:, i]
                values = column[begin - first : end - first]
                with np.errstate(invalid="ignore"):
                    values[:] = stored
                # The 1991 edition marks missing values with FFFF, which is also -1, as in any sine near zero: ignored.
                if kind == "FLOAT32":
                    values[~(np.abs(values) < 1e30)] = np.nan
                elif config.revision > 1991:
                    values[stored == _MISSING[kind]] = np.nan
        return columns

    def stamps() -> Iterator[FloatArray]:
        for first in range(0, count, step):
            stored = _read_rows(content, row, first, min(first + step, count))["t"]
            yield np.where(stored == _NO_STAMP, np.nan, stored)

    def status(first: int, stop: int) -> AnyArray:
        words = -(-len(config.status) // 16)
        pieces = [
            _read_rows(content, row, at, min(at + step, stop))["status"][:, :words] for at in range(first, stop, step)
        ]
        stored = np.concatenate(pieces).view(np.uint8)
        return np.unpackbits(stored, axis=1, count=len(config.status), bitorder="little").view(np.int8)

    return DataRows(kind, count, fetch, stamps, "Samples marked as missing: {}.", notes, status)


def _open_ascii(content: StoredBytes, config: Configuration, notes: list[str]) -> DataRows:
    rows = TextRows(content, ",", ".", "latin-1", minimum=len(config.analog) + 1)
    for _ in rows.index():
        pass
    if rows.n_short:
        notes.append(f"{count_text(rows.n_short, 'line')} of the data too short: ignored.")

    def fetch(first: int, stop: int, channels: Sequence[int]) -> list[FloatArray]:
        table = rows.table(first, stop, [i + 2 for i in channels])
        if config.revision > 1991:
            table[table == 99999] = np.nan
        return [np.ascontiguousarray(column) for column in table.T]

    def stamps() -> Iterator[FloatArray]:
        for first in range(0, rows.n_rows, _PIECE):
            yield rows.table(first, min(first + _PIECE, rows.n_rows), [1])[:, 0]

    def status(first: int, stop: int) -> AnyArray:
        begin = len(config.analog) + 2
        table = rows.table(first, stop, range(begin, begin + len(config.status)))
        return np.where(np.isnan(table), -1, table != 0).astype(np.int8)

    return DataRows("ASCII", rows.n_rows, fetch, stamps, "Samples missing, or not numbers: {}.", notes, status)
