"""The physical layer of PQDIF: a chain of records, each with a tree of tagged elements.

A record is a header of 64 bytes (signature, kind, size of header and body, link to the next record, checksum) and a
body, which may be compressed by zlib. A body is a collection: a count and that many elements of 28 bytes (tag, kind of
element, physical type, whether the value is embedded, then the value itself or a link into the body and a size).
An element is a collection, a scalar or a vector (a count and that many values). All numbers are little endian.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray
from pqswarm.recordings.pqdif import tags
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.text import decode

_HEADER = struct.Struct("<16s16siiiI16x")
_ELEMENT = struct.Struct("<16sBBBB8s")
_LINK = struct.Struct("<ii")
_COUNT = struct.Struct("<i")
_STAMP = np.dtype([("days", "<u4"), ("seconds", "<f8")])
_NO_CHECKSUM = (0, 1, 0xFFFFFFFF)
_MAX_DEPTH = 12  # an observation needs five

_CODES = (1, 2, 3, 10, 11, 20, 21, 22, 30, 31, 32, 40, 41, 42, 43, 60)
_NAMES = ["u1", "<i2", "<i4", "S1", "<u2", "i1", "<i2", "<i4", "u1", "<u2", "<u4", "<f4", "<f8", "<c8", "<c16", "V16"]
_TYPES: dict[int, np.dtype[Any]] = {code: np.dtype(name) for code, name in zip(_CODES, _NAMES, strict=True)}
_TYPES[50] = _STAMP


class DamageError(RecordingError):
    """A record is damaged; earlier ones are usable."""


@dataclass(frozen=True)
class Scalar:
    """One value."""

    kind: int
    content: bytes

    def number(self) -> float:
        """The value as a number; NaN if it is not a number."""
        if self.kind not in _TYPES or not (self.kind < 10 or 20 <= self.kind <= 41):
            return float("nan")
        return float(np.frombuffer(self.content, _TYPES[self.kind])[0])

    def time(self) -> datetime | None:
        """The value as a time, or None."""
        if self.kind != 50:
            return None
        days, seconds = np.frombuffer(self.content, _STAMP)[0].item()
        return moment(days, seconds)


@dataclass(frozen=True)
class Vector:
    """Values of one type; `content` is a view into the body."""

    kind: int
    size: int
    content: memoryview

    def array(self) -> AnyArray:
        """The values as stored."""
        return np.frombuffer(self.content, _TYPES[self.kind])

    def text(self) -> str:
        """The values as text."""
        if self.kind not in (10, 11):
            return ""
        content = bytes(self.content[:2000])
        text = content.decode("utf-16-le", errors="replace") if self.kind == 11 else decode(content)[0]
        return text.split("\0", 1)[0]


@dataclass(frozen=True)
class Collection:
    """Tagged elements, in order."""

    elements: tuple[tuple[bytes, "Collection | Scalar | Vector"], ...]

    def scalar(self, wanted: bytes) -> Scalar | None:
        """The first scalar with a tag."""
        return next((e for name, e in self.elements if name == wanted and isinstance(e, Scalar)), None)

    def vector(self, wanted: bytes) -> Vector | None:
        """The first vector with a tag."""
        return next((e for name, e in self.elements if name == wanted and isinstance(e, Vector)), None)

    def collection(self, wanted: bytes) -> "Collection":
        """The first collection with a tag; an empty one if there is none."""
        return next((e for name, e in self.elements if name == wanted and isinstance(e, Collection)), Collection(()))

    def collections(self, wanted: bytes) -> "list[Collection]":
        """All collections with a tag."""
        return [e for name, e in self.elements if name == wanted and isinstance(e, Collection)]

    def number(self, wanted: bytes, default: float = float("nan")) -> float:
        """The number of the first scalar with a tag."""
        scalar = self.scalar(wanted)
        value = float("nan") if scalar is None else scalar.number()
        return default if np.isnan(value) else value

    def integer(self, wanted: bytes, default: int = -1) -> int:
        """The integer of the first scalar with a tag."""
        value = self.number(wanted, default)
        return int(value) if abs(value) < 2**53 else default

    def guid(self, wanted: bytes) -> bytes:
        """The GUID of the first scalar with a tag; empty if there is none."""
        scalar = self.scalar(wanted)
        return scalar.content if scalar is not None and scalar.kind == 60 else b""


def moment(days: int, seconds: float) -> datetime | None:
    """Return a PQDIF time; the day count of the standard, from 1900, is off by two."""
    try:
        return datetime(1900, 1, 1) + timedelta(days=days - 2, seconds=seconds)
    except (OverflowError, ValueError):
        return None


def records(content: bytes, unpacked_limit: int, notes: list[str]) -> Iterator[tuple[bytes, Collection, int]]:
    """Yield the kind of each record (a GUID), its body, and the size of the body in bytes.

    All bodies together may have `unpacked_limit` bytes after decompression. Tolerated faults are added to the notes; a
    broken chain or body raises DamageError; records that overlap or exceed the limit raise RecordingError.

    The checksum is Adler-32 of the stored body. Some vendors use the uncompressed body, start with 0 instead of 1, or
    omit it; if it matches no record of a file, the vendor computes something else. Only a wrong checksum among
    right ones indicates damage.
    """
    position = 0
    seen = set[int]()
    packed = False
    stored = unpacked = 0
    checked: set[bool] = set()
    element_limit = 100_000 + len(content) // 7  # waveforms need few elements: more would only waste time
    while True:
        if position + _HEADER.size > len(content):
            raise DamageError(f"the record at byte {position} lies beyond the end of the file")
        seen.add(position)
        signature, kind, header_size, body_size, following, checksum = _HEADER.unpack_from(content, position)
        if signature != tags.SIGNATURE:
            raise DamageError(f"there is no record at byte {position}")
        start = position + max(header_size, _HEADER.size)
        if body_size < 0 or start + body_size > len(content):
            raise DamageError(f"the record at byte {position} is longer than the file")
        stored += body_size
        if stored > len(content):
            raise RecordingError("is damaged: its records overlap.")
        body = content[start : start + body_size]
        sums = {zlib.adler32(body), zlib.adler32(body, 0)}
        if body and packed:
            body = _decompress(body, unpacked_limit - unpacked, position)
            sums |= {zlib.adler32(body), zlib.adler32(body, 0)}
        if checksum not in _NO_CHECKSUM and len(checked) < 2:
            checked.add(checksum in sums)
            if len(checked) == 2:
                notes.append("The checksum of a record is wrong.")
        unpacked += len(body)
        if body:
            tree = _Tree(body, element_limit)
            root = tree.collection(0, 0)
            element_limit -= tree.count_read
            if kind == tags.CONTAINER:
                packed = _is_compressed(root)
            yield kind, root, len(body)
        if following <= 0:
            return
        if following in seen:
            raise DamageError(f"the chain of records loops at byte {following}")
        position = following


def _is_compressed(container: Collection) -> bool:
    style = container.integer(tags.COMPRESSION_STYLE, 0)
    algorithm = container.integer(tags.COMPRESSION_ALGORITHM, 0)
    if style and algorithm not in (0, 1):
        raise RecordingError(f"is compressed with algorithm {algorithm}; only zlib (1) is supported.")
    return bool(style and algorithm)


def _decompress(body: bytes, limit: int, position: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        result = unpacker.decompress(body, max(1, limit))
    except zlib.error:
        raise DamageError(f"the record at byte {position} cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise RecordingError(f"unpacks to more than {limit} bytes, over the limit; max_bytes raises it.")
    return result


class _Tree:
    """The elements of a body, each read once: crossing links cannot multiply the work."""

    def __init__(self, body: bytes, limit: int) -> None:
        self.body = body
        self.view = memoryview(body)
        self.limit = limit
        self.count_read = 0

    def collection(self, link: int, depth: int) -> Collection:
        if depth > _MAX_DEPTH:
            raise DamageError("its elements are nested too deeply")
        count = self.count(link)
        start = link + _COUNT.size
        self.count_read += count
        if count * _ELEMENT.size > len(self.body) - start or self.count_read * _ELEMENT.size > len(self.body):
            raise DamageError("a collection is longer than its record, or read twice")
        if self.count_read > self.limit:
            raise RecordingError("has more elements than a file of its size needs.")
        elements = []
        for i in range(count):
            name, kind, type_, embedded, _, value = _ELEMENT.unpack_from(self.body, start + i * _ELEMENT.size)
            element = self.element(kind, type_, bool(embedded), value, depth)
            if element is not None:
                elements.append((name, element))
        return Collection(tuple(elements))

    def element(
        self, kind: int, type_: int, embedded: bool, value: bytes, depth: int
    ) -> "Collection | Scalar | Vector | None":
        link, _ = _LINK.unpack(value)
        if kind == 1:
            return self.collection(link, depth + 1)
        if type_ not in _TYPES or kind not in (2, 3):
            return None
        size = _TYPES[type_].itemsize
        if kind == 2:
            if embedded:
                return Scalar(type_, value[:size]) if size <= len(value) else None
            if not 0 <= link <= len(self.body) - size:
                raise DamageError("a value lies outside its record")
            return Scalar(type_, self.body[link : link + size])
        count = self.count(link)
        start = link + _COUNT.size
        if count * size > len(self.body) - start:
            raise DamageError("a series is longer than its record")
        return Vector(type_, count, self.view[start : start + count * size])

    def count(self, link: int) -> int:
        if not 0 <= link <= len(self.body) - _COUNT.size:
            raise DamageError("an element lies outside its record")
        (count,) = _COUNT.unpack_from(self.body, link)
        if count < 0:
            raise DamageError("an element has a negative size")
        return int(count)
