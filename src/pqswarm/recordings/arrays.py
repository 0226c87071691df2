"""Recordings in files of arrays: ``.npz`` archives and MATLAB files of version 5 to 7 (``save -v6``, ``-v7``).

The plain layout, for your own scripts, has one array for each channel, all of one length (or of shape (n_channels,
n_samples)), named like a column of a table (``Ua [kV]``), and ``sampling_rate`` (or ``fs``) as a scalar, or ``time`` in
seconds as one more array; ``nominal_frequency`` (or ``f0``) may be given.

The layout of RTE's digital fault recording database has one array ``DATA_S*`` of shape (n_records, 6, n_samples):
three voltages and three currents at 6400 Hz, in counts of 18.31055 V and 4.314 A.

Nothing is unpickled. SciPy, the oracle of the tests, does not read the MATLAB files here, because it allocates the
memory that a header claims: 4 GB for a file of 300 bytes.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from math import prod
from pathlib import Path

import numpy as np

from pqswarm._base.array_file import DAMAGE, damage_text, read_npy
from pqswarm._base.text import count_text
from pqswarm._base.typing import AnyArray
from pqswarm.errors import FileFormatError
from pqswarm.recordings.files import FileBytes, refuse_other_formats
from pqswarm.recordings.names import split_unit
from pqswarm.recordings.recording import Options, RawChannel, RawRecording, Reader, RecordingError
from pqswarm.recordings.stamps import find_rate_of_stamps

_MEMBERS = 10_000
_RATE_NAMES = ("sampling_rate", "fs", "sample_rate", "rate")
_FREQUENCY_NAMES = ("nominal_frequency", "f0", "frequency")
_TIME_NAMES = ("time", "t", "tout")
_RTE_NAME = re.compile(r"DATA_S\d+")
_RTE_SHORTEST = 1000  # samples; the records of the database have 21000
_RTE_RATE = 6400.0
_RTE_FREQUENCY = 50.0
_RTE_FACTORS = {"Va": 18.31055, "Vb": 18.31055, "Vc": 18.31055, "Ia": 4.314, "Ib": 4.314, "Ic": 4.314}


def read_npz(path: Path, options: Options) -> list[RawRecording]:
    """Read the recordings of an archive."""
    arrays = _unpack_npz_arrays(FileBytes.of(path, 4 * options.max_bytes).read_all(), options)
    rte = [name for name in arrays if _RTE_NAME.fullmatch(name)]
    if len(arrays) == 1 and rte and _is_rte_npz(arrays[rte[0]]):
        return _read_rte_npz(arrays[rte[0]], path.name)
    return [read_plain_layout(arrays, path.name)]


def _unpack_npz_arrays(content: bytes, options: Options) -> dict[str, AnyArray]:
    """All arrays of an archive; sizes are checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            if not members:
                raise RecordingError("holds no arrays.")
            total = sum(info.file_size for info in members)
            # Deflate compresses 1 : 1032 at most, so a larger claim is false.
            if len(members) > _MEMBERS or total > 1032 * len(content) + 1000:
                raise RecordingError("is damaged: it claims more than it can hold.")
            # Measurements compress far less: a small file does not get the memory of a large one.
            limits = replace(options, max_bytes=options.unpacked_limit(len(content), 64_000_000))
            limits.check_samples(total // 8)
            arrays: dict[str, AnyArray] = {}
            n_values = 0
            for info in members:
                name = info.filename[:100]
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise RecordingError(f"compresses {name!r} by a method that .npz archives do not use.")
                arrays[info.filename[:-4]] = array = read_npy(archive.read(info), name)
                n_values += array.size
                limits.check_samples(n_values)  # a value of one byte grows to eight
            return arrays
    except FileFormatError:
        raise
    except (*DAMAGE, OSError) as error:
        raise RecordingError(f"is damaged, or is not an .npz archive ({damage_text(error)}).") from error


def _npz_scalar(arrays: Mapping[str, AnyArray], names: tuple[str, ...]) -> float:
    folded = {name.casefold(): array for name, array in arrays.items()}
    for name in names:
        array = folded.get(name)
        if array is not None and array.size == 1 and array.dtype.kind in "fiu":
            value = float(array.reshape(-1)[0])
            return value if np.isfinite(value) else 0.0
    return 0.0


def _npz_floats(array: AnyArray) -> AnyArray:
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float64)


def _is_rte_npz(array: AnyArray) -> bool:
    return (
        array.ndim == 3
        and array.shape[1] == 6
        and array.shape[0] > 0
        and array.shape[2] >= _RTE_SHORTEST
        and array.dtype.kind in "fi"
        and array.dtype.itemsize >= 2
        and bool((np.abs(array) <= 32768).all() and (array == np.round(array)).all())
    )


def _read_rte_npz(array: AnyArray, source: str) -> list[RawRecording]:
    note = "Recognized by its shape as a file of RTE fault recorders: counts of 18.31055 V and 4.314 A, 6400 Hz."
    recordings = []
    for n, record in enumerate(array, 1):
        channels = [
            RawChannel(name, "V" if name.startswith("V") else "A", name[1].upper(), row * factor)
            for (name, factor), row in zip(_RTE_FACTORS.items(), _npz_floats(record), strict=True)
        ]
        place = f"{source}, record {n}"
        recordings.append(RawRecording(channels, _RTE_RATE, _RTE_FREQUENCY, None, place, "npz (RTE)", [note]))
    return recordings


def read_plain_layout(arrays: Mapping[str, AnyArray], source: str, kind: str = "npz") -> RawRecording:
    """Read arrays in the plain layout; `kind` is the format of their file."""
    signals = {
        # There are fewer channels than samples: a tall array has channels in columns.
        name: array.T if array.ndim == 2 and array.shape[0] > array.shape[1] else array
        for name, array in arrays.items()
        if array.ndim in (1, 2) and array.size > 1 and array.dtype.kind in "fiu"
    }
    notes: list[str] = []
    rate = _npz_scalar(arrays, _RATE_NAMES)
    kept = slice(None)
    time = next((name for name, one in signals.items() if name.casefold() in _TIME_NAMES and one.ndim == 1), None)
    if time is not None:
        times = _npz_floats(signals.pop(time))
        signals = {name: array for name, array in signals.items() if array.shape[-1] == times.size}
        if not rate:
            rate, kept, _ = find_rate_of_stamps([times], notes)
    channels = _plain_npz_channels(signals, kept)
    if not channels:
        raise RecordingError("holds no arrays of samples.")
    longest = max(channel.samples.size for channel in channels)
    whole = [channel for channel in channels if channel.samples.size == longest]
    if len(whole) < len(channels):
        notes.append(f"{count_text(len(channels) - len(whole), 'array')} shorter than the longest: ignored.")
    return RawRecording(whole, rate, _npz_scalar(arrays, _FREQUENCY_NAMES), None, source, kind, notes)


def _plain_npz_channels(signals: Mapping[str, AnyArray], kept: slice) -> list[RawChannel]:
    """The rows of arrays, named and with units like columns of a table."""
    channels = []
    for name, array in signals.items():
        rows = _npz_floats(array).reshape(-1, array.shape[-1])
        label, unit = split_unit(name)
        for n, row in enumerate(rows[:_MEMBERS], 1):
            channels.append(RawChannel(label if len(rows) == 1 else f"{label} {n}", unit, "", row[kept]))
    return channels


NPZ = Reader("npz", (".npz",), read_npz, lambda path, head: path.suffix.casefold() == ".npz" and head.startswith(b"PK"))


_MAT_HEADER = 128  # bytes
_MATRIX = 14
_COMPRESSED = 15
_MAT_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


def read_mat(path: Path, options: Options) -> list[RawRecording]:
    """Read the arrays of a file, which are one recording."""
    content = FileBytes.of(path, 4 * options.max_bytes).read_all()
    refuse_other_formats(content[:_MAT_HEADER])
    order = {b"IM": "<", b"MI": ">"}.get(content[126:_MAT_HEADER])
    if order is None:
        raise RecordingError("is not a MATLAB file of version 5 to 7: save it with -v7.")
    limits = replace(options, max_bytes=options.unpacked_limit(len(content), 64_000_000))
    arrays: dict[str, AnyArray | None] = {}
    unpacked = n_values = 0
    for kind, body in islice(_mat_elements(content[_MAT_HEADER:], order), _MEMBERS):
        if kind == _COMPRESSED:
            try:
                plain = zlib.decompressobj().decompress(body, limits.max_bytes - unpacked + 1)
            except zlib.error as error:
                raise RecordingError(f"is damaged: an array cannot be unpacked ({error}).") from error
            unpacked += len(plain)
            limits.check_samples(-(-unpacked // 8))
            kind, body = next(_mat_elements(plain, order), (0, b""))
        if kind == _MATRIX:
            name, array = _mat_array(body, order)
            arrays[name] = array
            n_values += 0 if array is None else array.size
            limits.check_samples(n_values)  # a value of one byte grows to eight
    numeric = {name: array for name, array in arrays.items() if array is not None}
    if not numeric:
        names = ", ".join(arrays)[:100] or "nothing"
        raise RecordingError(f"holds no arrays of real numbers ({names!r}): save signals and sampling_rate as arrays.")
    return [read_plain_layout(numeric, path.name, "MATLAB")]


def _mat_elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of each data element."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        begin = at + 8
        after = at + 8 + size + (0 if kind == _COMPRESSED else -size % 8)
        if kind >> 16:  # a small element: its size is in the upper half of the first word
            kind, size, begin, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        if begin + size > len(data):
            raise RecordingError("is damaged: a data element is longer than the file.")
        yield kind, data[begin : begin + size]
        at = after


def _mat_array(body: bytes, order: str) -> tuple[str, AnyArray | None]:
    """Name and values of an array; None if it holds something else than real numbers."""
    elements = _mat_elements(body, order)
    flags, dims, name = (next(elements, (0, b""))[1] for _ in range(3))
    word = struct.unpack_from(f"{order}I", flags.ljust(4, b"\0"))[0]
    if not 6 <= word & 0xFF <= 15 or word & 0x800:  # the class: double, single, int8 to uint64; complex
        return name[:63].decode("latin-1"), None
    kind, content = next(elements, (0, b""))
    shape = np.frombuffer(dims[: len(dims) // 4 * 4], f"{order}i4").tolist()
    code = _MAT_TYPES.get(kind, "u1")
    if len(shape) < 2 or min(shape) < 0 or prod(shape) * int(code[1]) != len(content):
        raise RecordingError("is damaged: the size of an array does not match its values.")
    array = np.frombuffer(content, order + code).reshape(shape, order="F")
    return name[:63].decode("latin-1"), array.reshape(-1) if len(shape) == 2 and 1 in shape else array


MAT = Reader("mat", (".mat",), read_mat, lambda path, head: head.startswith(b"MATLAB 5.0 MAT-file"))  # noqa: ARG005
