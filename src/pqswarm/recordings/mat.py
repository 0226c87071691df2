"""MATLAB files of version 5 to 7 (``save -v6``, ``-v7``): arrays of numbers, named as in the plain layout of ``.npz``.

SciPy is the oracle of the tests. It is not used here, because it allocates the memory that a header claims: 4 GB for a
file of 300 bytes.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import prod
from pathlib import Path

import numpy as np

from pqswarm._base.typing import AnyArray
from pqswarm.recordings.files import FileBytes, refuse_other_formats
from pqswarm.recordings.npz import read_plain_layout
from pqswarm.recordings.recording import Options, RawRecording, Reader, RecordingError

_HEADER = 128  # bytes
_MAX_VARIABLES = 10_000
_MATRIX = 14
_COMPRESSED = 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


def read_mat(path: Path, options: Options) -> list[RawRecording]:
    """Read the arrays of a file, which are one recording."""
    content = FileBytes.of(path, 4 * options.max_bytes).read_all()
    refuse_other_formats(content[:_HEADER])
    order = {b"IM": "<", b"MI": ">"}.get(content[126:_HEADER])
    if order is None:
        raise RecordingError("is not a MATLAB file of version 5 to 7: save it with -v7.")
    limits = replace(options, max_bytes=options.unpacked_limit(len(content), 64_000_000))
    arrays: dict[str, AnyArray | None] = {}
    unpacked = n_values = 0
    for kind, body in islice(_mat_elements(content[_HEADER:], order), _MAX_VARIABLES):
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
    code = _TYPES.get(kind, "u1")
    if len(shape) < 2 or min(shape) < 0 or prod(shape) * int(code[1]) != len(content):
        raise RecordingError("is damaged: the size of an array does not match its values.")
    array = np.frombuffer(content, order + code).reshape(shape, order="F")
    return name[:63].decode("latin-1"), array.reshape(-1) if len(shape) == 2 and 1 in shape else array


MAT = Reader("mat", (".mat",), read_mat, lambda path, head: head.startswith(b"MATLAB 5.0 MAT-file"))  # noqa: ARG005
