"""Write COMTRADE 1999, so that other tools can read generated and imported recordings."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.files import write_atomically
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.recordings.recording import Recording, RecordingSource

_RANGES = {"ASCII": 99998, "BINARY": 32767}
_MISSING = {"ASCII": 99999, "BINARY": -32768}
_LAST_STAMP = 4_294_967_294
_STRETCH = 262_144  # samples written at once


def write_comtrade(recording: RecordingSource, path: str | Path, encoding: str = "ASCII") -> Path:
    """Write a recording as COMTRADE 1999: a ``.cfg`` and a ``.dat`` beside it.

    Parameters
    ----------
    recording : RecordingSource
        The recording, which is read twice, in blocks. Missing samples get the marker of the standard. Status channels
        are also written.
    path : str or Path
        The files to write; the suffix is replaced.
    encoding : {"ASCII", "BINARY"}
        Format of the data. Samples are rounded to 1/199996 of a channel's range in ASCII, and to 1/65534 in BINARY.

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
    check_name("encoding of COMTRADE data", encoding, _RANGES)
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is not a valid file name.")
    n_channels = len(recording.channels)
    status = recording.status
    scales = [
        _scale_of_dat_integers(low, high, _RANGES[encoding]) for low, high in _ranges_of_written_channels(recording)
    ]
    lines = [
        f"{_cfg_field_text(recording.station or 'pqswarm')[:64]},{_cfg_field_text(recording.source)[:64]},1999",
        f"{n_channels + len(status)},{n_channels}A,{len(status)}D",
    ]
    limit = _RANGES[encoding]
    for n, (channel, (factor, offset)) in enumerate(zip(recording.channels, scales, strict=True), 1):
        lines.append(
            f"{n},{_cfg_field_text(channel.name)[:64]},{_cfg_field_text(channel.phase)},,"
            f"{_cfg_field_text(channel.unit)},{factor!r},{offset!r},0,{-limit},{limit},1,1,P"
        )
    lines += [f"{n},{_cfg_field_text(one.name)[:64]},,,{one.normal}" for n, one in enumerate(status, 1)]
    multiplier = _dat_time_multiplier(recording.n_samples / recording.sampling_rate)
    began = _cfg_date_text(recording.start)
    lines += [
        f"{recording.nominal_frequency:.12g}",
        "1",
        f"{recording.sampling_rate!r},{recording.n_samples}",
        began,
        began,
        encoding,
        f"{multiplier:g}",
    ]

    def write(file: BinaryIO) -> None:
        for first, part in _stretches_to_write(recording):
            numbers = np.arange(first, first + part.n_samples)
            stamps = np.rint(numbers / recording.sampling_rate * 1e6 / multiplier).astype(np.int64)
            columns = [
                _encode_dat_samples(channel.samples, *scale, _MISSING[encoding])
                for channel, scale in zip(part.channels, scales, strict=True)
            ]
            states = [one.expand(first, first + part.n_samples) for one in status]
            file.write(
                (_write_ascii_dat if encoding == "ASCII" else _write_binary_dat)(numbers + 1, stamps, columns, states)
            )
        file.write(b"\x1a" if encoding == "ASCII" else b"")

    write_atomically(path.with_suffix(".dat"), write)
    return write_atomically(path.with_suffix(".cfg"), "\r\n".join(lines) + "\r\n")


def _stretches_to_write(recording: RecordingSource) -> Iterator[tuple[int, Recording]]:
    for first in range(0, recording.n_samples, _STRETCH):
        yield first, recording.read(first, min(first + _STRETCH, recording.n_samples))


def _ranges_of_written_channels(recording: RecordingSource) -> list[tuple[float, float]]:
    """Minimum and maximum sample of each channel; 0 if there is none."""
    ranges = [(np.inf, -np.inf)] * len(recording.channels)
    for _, part in _stretches_to_write(recording):
        finite = [channel.samples[np.isfinite(channel.samples)] for channel in part.channels]
        ranges = [
            (min(low, float(x.min(initial=np.inf))), max(high, float(x.max(initial=-np.inf))))
            for (low, high), x in zip(ranges, finite, strict=True)
        ]
    return [one if one[0] <= one[1] else (0.0, 0.0) for one in ranges]


def _cfg_field_text(text: str) -> str:
    return re.sub(r"[,\x00-\x1f\x7f]+", " ", text).strip()


def _scale_of_dat_integers(low: float, high: float, limit: int) -> tuple[float, float]:
    """Factor and offset from integers up to `limit` to samples."""
    # The offset stays 0 for signals that swing about 0, whose zero is then exact.
    offset = 0.0 if low <= 0 <= high else (low + high) / 2
    reach = max(abs(low - offset), abs(high - offset))
    return (reach / limit if reach > 0 else 1.0), offset


def _encode_dat_samples(samples: FloatArray, factor: float, offset: float, missing: int) -> IntArray:
    values = np.full(samples.shape, missing, np.int64)
    kept = np.isfinite(samples)
    values[kept] = np.rint((samples[kept] - offset) / factor).astype(np.int64)
    return values


def _dat_time_multiplier(duration: float) -> float:
    """The factor that keeps time stamps within 32 bits; their unit is that many microseconds."""
    multiplier = 1.0
    while duration * 1e6 / multiplier > _LAST_STAMP:
        multiplier *= 10
    return multiplier


def _cfg_date_text(start: datetime | None) -> str:
    moment = start or datetime(1970, 1, 1)
    return f"{moment:%d/%m/}{moment.year:04d}{moment:,%H:%M:%S.%f}"


def _write_ascii_dat(numbers: IntArray, stamps: IntArray, columns: list[IntArray], states: list[IntArray]) -> bytes:
    table = np.column_stack([numbers, stamps, *columns, *states])
    return "".join(",".join(map(str, row)) + "\r\n" for row in table.tolist()).encode("ascii")


def _write_binary_dat(numbers: IntArray, stamps: IntArray, columns: list[IntArray], states: list[IntArray]) -> bytes:
    words = -(-len(states) // 16)
    row = [("n", "<u4"), ("t", "<u4"), ("values", "<i2", (len(columns),)), ("status", "<u2", (words,))]
    rows = np.zeros(stamps.size, np.dtype(row))
    rows["n"] = numbers
    rows["t"] = stamps
    rows["values"] = np.column_stack(columns)
    for i, bits in enumerate(states):
        rows["status"][:, i // 16] |= bits.astype(np.uint16) << (i % 16)
    return rows.tobytes()
