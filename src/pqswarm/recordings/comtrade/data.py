"""The data of a COMTRADE recording: rows of sample number, time stamp, analog values and status bits."""

import re
from dataclasses import dataclass

import numpy as np

from pqswarm._typing import AnyArray, FloatArray
from pqswarm.recordings.comtrade.configuration import Configuration
from pqswarm.recordings.reader import Options
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.text import numbers

__all__ = ["Data", "parse_data"]

_TYPES = {"BINARY": "<i2", "BINARY32": "<i4", "FLOAT32": "<f4"}
_MISSING = {"BINARY": -32768, "BINARY32": -2147483648}
_NO_STAMP = 0xFFFFFFFF


@dataclass
class Data:
    """Stored values (n_samples, n_analog), and time stamps in the unit of the configuration; NaN where missing."""

    values: FloatArray
    stamps: FloatArray
    kind: str
    notes: list[str]


def parse_data(content: bytes, config: Configuration, options: Options) -> Data:
    """Parse all whole rows of the content of a ``.dat``, by what its ``.cfg`` says."""
    kind = config.kind or _sniff(content, config)
    notes: list[str] = []
    if kind != "ASCII" and _looks_ascii(content):
        notes.append(f"The configuration says {kind}, but the data are ASCII.")
        kind = "ASCII"
    if kind == "ASCII":
        data = _ascii(content, config, options, notes)
    else:
        data = _binary(content, kind, config, options, notes)
    if not len(data.values):
        raise RecordingError("has no samples: its data hold no whole row.")
    return data


def _looks_ascii(content: bytes) -> bool:
    return re.match(rb"\s*\d+\s*,\s*\d*\s*,[0-9eE+\-., \t\r\n]*$", content[:200]) is not None


def _sniff(content: bytes, config: Configuration) -> str:
    if _looks_ascii(content):
        return "ASCII"
    for kind in _TYPES:
        rows = np.frombuffer(content, _row(kind, config), count=len(content) // _row(kind, config).itemsize)
        if len(rows) > 1 and (np.diff(rows["n"].astype(np.int64)) == 1).mean() > 0.9:
            return kind
    return "BINARY"


def _row(kind: str, config: Configuration) -> np.dtype[np.void]:
    words = -(-config.n_status // 16)
    return np.dtype(
        [("n", "<u4"), ("t", "<u4"), ("values", _TYPES[kind], (len(config.analog),)), ("status", "<u2", (words,))]
    )


def _binary(content: bytes, kind: str, config: Configuration, options: Options, notes: list[str]) -> Data:
    row = _row(kind, config)
    count = len(content) // row.itemsize
    options.check_samples(count * (len(config.analog) + 1))
    rows = np.frombuffer(content, row, count=count)
    if count > 2 and (np.diff(rows["n"].astype(np.int64)) == 1).mean() < 0.5:
        notes.append("The samples are not numbered in order: the data may be damaged.")
    left = len(content) - count * row.itemsize
    if left:
        notes.append(f"{left} bytes after the last whole row were ignored.")
    with np.errstate(invalid="ignore"):
        values = rows["values"].astype(np.float64)
    if kind == "FLOAT32":
        missing: AnyArray = ~(np.abs(values) < 1e30)
    elif config.revision == 1991:
        # The standard of 1991 marks missing values with FFFF, which is -1 in every sine near its zero: not believed.
        missing = np.zeros(values.shape, bool)
    else:
        missing = rows["values"] == _MISSING[kind]
    if missing.any():
        values[missing] = np.nan
        notes.append(f"{int(missing.sum())} samples are marked as missing.")
    stamps = rows["t"].astype(np.float64)
    stamps[rows["t"] == _NO_STAMP] = np.nan
    return Data(values, stamps, kind, notes)


def _ascii(content: bytes, config: Configuration, options: Options, notes: list[str]) -> Data:
    n_columns = len(config.analog) + 1
    # A row has at least a digit and a comma for each column, so that the file's size bounds the table.
    options.check_samples(min(content.count(b"\n") + 1, len(content) // n_columns + 1) * n_columns)
    lines = [line for line in content.decode("latin-1").replace("\r", "\n").split("\n") if line.strip(" \t\0\x1a")]
    kept = [line for line in lines if line.count(",") >= n_columns]
    if len(kept) < len(lines):
        notes.append(f"{len(lines) - len(kept)} lines of the data are too short and were ignored.")
    if not kept:
        return Data(np.empty((0, len(config.analog))), np.empty(0), "ASCII", notes)
    # Blank fields are legal for time stamps, and mark missing values in 1991.
    if any(",," in line.replace(" ", "") for line in kept[:50]):
        kept = [",".join(field if field.strip() else "nan" for field in line.split(",")) for line in kept]
    table = numbers(kept, ",", list(range(1, n_columns + 1)))
    values, stamps = table[:, 1:], table[:, 0]
    marked = values == 99999 if config.revision > 1991 else np.zeros(values.shape, bool)
    missing = marked | np.isnan(values)
    if missing.any():
        values = np.where(missing, np.nan, values)
        notes.append(f"{int(missing.sum())} samples are missing or are not numbers.")
    return Data(values, stamps, "ASCII", notes)
