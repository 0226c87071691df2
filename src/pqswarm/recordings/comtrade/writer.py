"""Writing COMTRADE 1999, so that other tools can read generated and imported recordings."""

import re
from datetime import datetime
from pathlib import Path

import numpy as np

from pqswarm._files import write_atomically
from pqswarm._typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.recordings.recording import Recording

__all__ = ["write_comtrade"]

_RANGES = {"ASCII": 99998, "BINARY": 32767}
_MISSING = {"ASCII": 99999, "BINARY": -32768}
_LAST_STAMP = 4_294_967_294


def write_comtrade(recording: Recording, path: str | Path, encoding: str = "ASCII") -> Path:
    """Write a recording as COMTRADE 1999: a ``.cfg`` and a ``.dat`` beside it.

    Parameters
    ----------
    recording : Recording
        The recording. Missing samples get the standard's marker.
    path : str or Path
        The files to write; the suffix is replaced.
    encoding : {"ASCII", "BINARY"}
        Of the data. Samples are rounded to 1/199996 of a channel's range in ASCII, and to 1/65534 in BINARY.

    Returns
    -------
    Path
        The ``.cfg``.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.recordings import Channel, read
    >>> recording = Recording((Channel("Ua", "V", "A", np.array([-2.0, 0.0, 2.0])),), 1000.0, 50.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read(write_comtrade(recording, f"{folder}/ramp.cfg", "BINARY")).channel("Ua").samples
    array([-2.,  0.,  2.])
    """
    if encoding not in _RANGES:
        raise unknown_name("encoding of COMTRADE data", encoding, _RANGES)
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is not the name of a file to write.")
    n_channels = len(recording.channels)
    # As a reader joins them.
    station, _, recorder = (recording.station or f"pqswarm, {recording.source}").partition(", ")
    lines = [f"{_field(station)[:64]},{_field(recorder)[:64]},1999", f"{n_channels},{n_channels}A,0D"]
    columns = []
    for n, channel in enumerate(recording.channels, 1):
        stored, factor, offset = _encode(channel.samples, encoding)
        columns.append(stored)
        limit = _RANGES[encoding]
        lines.append(
            f"{n},{_field(channel.name)[:64]},{_field(channel.phase)},,{_field(channel.unit)},{factor!r},{offset!r},0,"
            f"{-limit},{limit},1,1,P"
        )
    stamps, multiplier = _stamps(recording)
    began = _date(recording.start)
    lines += [
        f"{recording.nominal_frequency:.12g}",
        "1",
        f"{recording.sampling_rate!r},{recording.n_samples}",
        began,
        began,
        encoding,
        f"{multiplier:g}",
    ]
    data = _ascii(stamps, columns) if encoding == "ASCII" else _binary(stamps, columns)
    write_atomically(path.with_suffix(".dat"), data)
    return write_atomically(path.with_suffix(".cfg"), "\r\n".join(lines) + "\r\n")


def _field(text: str) -> str:
    return re.sub(r"[,\x00-\x1f\x7f]+", " ", text).strip()


def _encode(samples: FloatArray, encoding: str) -> tuple[IntArray, float, float]:
    """Integers, and what makes samples of them: factor and offset."""
    finite = samples[np.isfinite(samples)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    # The offset stays 0 for what swings about 0, so that its zero is exact.
    offset = 0.0 if low <= 0 <= high else (low + high) / 2
    reach = max(abs(low - offset), abs(high - offset))
    factor = reach / _RANGES[encoding] if reach > 0 else 1.0
    values = np.full(samples.shape, _MISSING[encoding], np.int64)
    kept = np.isfinite(samples)
    values[kept] = np.rint((samples[kept] - offset) / factor).astype(np.int64)
    return values, factor, offset


def _stamps(recording: Recording) -> tuple[IntArray, float]:
    """Time stamps, and the multiplier that keeps them within 32 bits; their unit is the microsecond times that."""
    multiplier = 1.0
    while recording.duration * 1e6 / multiplier > _LAST_STAMP:
        multiplier *= 10
    return np.rint(recording.time * 1e6 / multiplier).astype(np.int64), multiplier


def _date(start: datetime | None) -> str:
    moment = start or datetime(1970, 1, 1)
    return moment.strftime("%d/%m/") + f"{moment.year:04d}" + moment.strftime(",%H:%M:%S.%f")


def _ascii(stamps: IntArray, columns: list[IntArray]) -> bytes:
    table = np.column_stack([np.arange(1, stamps.size + 1), stamps, *columns])
    return ("\r\n".join(",".join(map(str, row)) for row in table.tolist()) + "\r\n\x1a").encode("ascii")


def _binary(stamps: IntArray, columns: list[IntArray]) -> bytes:
    rows = np.zeros(stamps.size, np.dtype([("n", "<u4"), ("t", "<u4"), ("values", "<i2", (len(columns),))]))
    rows["n"] = np.arange(1, stamps.size + 1)
    rows["t"] = stamps
    rows["values"] = np.column_stack(columns)
    return rows.tobytes()
