"""Files of arrays: those of ``numpy.savez``, and a JSON manifest next to them, readable without pickle.

Equal content gives equal bytes. Files are untrusted: everything is checked, sizes before memory is taken.
"""

import json
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from pqswarm._base.files import open_regular, write_atomically
from pqswarm._base.text import printable
from pqswarm._base.typing import AnyArray
from pqswarm.errors import FileFormatError, PqswarmError, shorten

T = TypeVar("T")

_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 4_000_000  # bytes
_HEADER = re.compile(
    rb"\s*\{\s*'descr':\s*'([<>|=]?[fiubUS]\d{1,7})',\s*'fortran_order':\s*(True|False),"
    rb"\s*'shape':\s*\(([\d, ]{0,100})\),?\s*\}\s*"
)
DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    LookupError,
    OverflowError,
    struct.error,
    zlib.error,
)
"""What reading or assembling a damaged file may raise."""


@dataclass(frozen=True)
class ArrayFile:
    """A file type.

    `format` is its name in the manifest, `what` its name in messages, such as ``"data set"``, and `command` the command
    that writes it. The manifest must have the entries `keys`, the file the `arrays`, with these types. Files above
    `limit` bytes are refused.
    """

    format: str
    what: str
    version: int
    command: str
    keys: Mapping[str, type]
    arrays: Mapping[str, str]
    limit: int | None = None

    def write(self, path: str | Path, entries: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Path:
        """Write a file atomically; `entries` go into the manifest."""
        members = {name: np.asarray(arrays[name], dtype) for name, dtype in self.arrays.items()}
        head = {"format": self.format, "format_version": self.version}
        manifest = json.dumps({**head, **entries}, indent=1)
        return write_atomically(path, lambda file: write_arrays(file, members, {_MANIFEST: manifest}))

    def read(self, path: str | Path, assemble: Callable[[dict[str, Any], dict[str, AnyArray]], T]) -> T:
        """Read and check a file; `assemble` makes the result of manifest and arrays, its errors name the file."""
        path = Path(path)
        try:
            if self.limit is not None and path.stat().st_size > self.limit:
                raise FileFormatError(f"is not a pqswarm {self.what}: it is larger than {self.limit} bytes.")
            with open_regular(path) as file, zipfile.ZipFile(file) as archive:
                manifest = self._manifest(archive)
                arrays = {name: self._array(archive, name) for name in self.arrays}
            return assemble(manifest, arrays)
        except FileNotFoundError as error:
            raise PqswarmError(f"there is no file {path}: `{self.command} --out {path}` writes one.") from error
        except FileFormatError as error:
            raise FileFormatError(f"{path} {error}") from error
        except PqswarmError:
            raise
        except OSError as error:
            raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
        except DAMAGE as error:
            raise FileFormatError(
                f"{path} is damaged, or is not a pqswarm {self.what}: {damage_text(error)}."
            ) from error
        except MemoryError as error:
            raise PqswarmError(f"{path} does not fit into memory.") from error

    def _manifest(self, archive: zipfile.ZipFile) -> dict[str, Any]:
        content = self._member(archive, _MANIFEST, _MANIFEST_LIMIT)
        try:
            manifest = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"is damaged: its manifest is not readable ({damage_text(error)}).") from error
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise FileFormatError(f"is not a pqswarm {self.what}: its manifest names another format.")
        version = manifest.get("format_version")
        if version != self.version:
            raise FileFormatError(
                f"has format version {shorten(repr(version))}, this pqswarm reads version {self.version}: "
                f"make it again with `{self.command}`, or use the pqswarm that wrote it."
            )
        for key, kind in self.keys.items():
            if not isinstance(manifest.get(key), kind):
                raise FileFormatError(f"is damaged: its manifest has no proper {key!r}.")
        return manifest

    def _array(self, archive: zipfile.ZipFile, name: str) -> AnyArray:
        array = read_npy(self._member(archive, f"{name}.npy"), name)
        dtype = self.arrays[name]
        if array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
            raise FileFormatError(f"is damaged: {name!r} is not an array of the expected type.")
        return array.astype(dtype[1:])

    def _member(self, archive: zipfile.ZipFile, name: str, limit: int | None = None) -> bytes:
        """The content of an uncompressed member, which cannot be larger than the file."""
        try:
            info = archive.getinfo(name)
        except KeyError:
            raise FileFormatError(f"is not a pqswarm {self.what}: it has no {name}.") from None
        plain = info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
        if not plain or info.file_size > (archive.start_dir if limit is None else limit):
            raise FileFormatError(f"is not a pqswarm {self.what}: {name} is compressed or too large.")
        return archive.read(info)


def damage_text(error: Exception) -> str:
    """Return an error as one line of at most 200 characters; zipfile may quote kilobytes of the file."""
    return shorten(printable(" ".join(str(error).split())).rstrip("."), 200)


def read_npy(content: bytes, name: str) -> AnyArray:
    """Read an ``.npy`` file of numbers or text, up to three dimensions, as a view of `content`.

    NumPy's own reader evaluates the header, and damaged ones raise errors of many kinds.
    """
    if content[:6] != b"\x93NUMPY" or len(content) < 12:
        raise FileFormatError(f"is damaged: {name!r} is not an array.")
    start = 10 if content[6] == 1 else 12
    length = int.from_bytes(content[8:start], "little")
    match = _HEADER.fullmatch(content[start : start + min(length, 10_000)])
    if match is None:
        raise FileFormatError(f"is damaged, or {name!r} is not an array of plain numbers or text.")
    try:
        dtype = np.dtype(match[1].decode("ascii"))
    except TypeError:
        raise FileFormatError(f"is damaged: {name!r} has the impossible type {match[1].decode('ascii')!r}.") from None
    shape = tuple(int(part) for part in match[3].split(b",") if part.strip())
    if len(shape) > 3 or not dtype.itemsize or prod(shape) * dtype.itemsize != len(content) - start - length:
        raise FileFormatError(f"is damaged: {name!r} is not as long as its header says.")
    if dtype.kind == "U":
        codes = np.frombuffer(content, np.dtype("u4").newbyteorder(dtype.byteorder), offset=start + length)
        if codes.max(initial=0) > sys.maxunicode:
            raise FileFormatError(f"is damaged: {name!r} has characters that do not exist.")
    array = np.frombuffer(content, dtype, offset=start + length)
    return array.reshape(shape, order="F" if match[2] == b"True" else "C")


def write_arrays(
    file: BinaryIO,
    arrays: Mapping[str, AnyArray],
    texts: Mapping[str, str] | None = None,
    compression: int = zipfile.ZIP_STORED,
) -> None:
    """Write arrays as ``numpy.savez`` does, and texts next to them; equal content gives equal bytes."""
    save: Any = np.savez if compression == zipfile.ZIP_STORED else np.savez_compressed
    save(file, **arrays)
    with zipfile.ZipFile(file, "a") as archive:
        for name, text in (texts or {}).items():
            archive.writestr(zipfile.ZipInfo(name), text, compression)
