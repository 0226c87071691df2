"""Files of ours: one zip archive of ``.npy`` arrays and a JSON manifest, readable without pickle.

The same content always gives the same bytes. A file may come from a stranger: everything is checked.
"""

import hashlib
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.lib import format as npy

from pqswarm.errors import FileFormatError, PqswarmError

if TYPE_CHECKING:
    from pqswarm._typing import AnyArray

__all__ = ["Archive"]

T = TypeVar("T")

_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 4_000_000  # bytes
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DAMAGE = (
    *(zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError),
    *(LookupError, OverflowError, struct.error, zlib.error),
)  # what a damaged archive, or an assembler that is fed with one, may raise


@dataclass(frozen=True)
class Archive:
    """A kind of file.

    Attributes
    ----------
    format : str
        Its name in the manifest.
    what : str
        What it holds, in words, such as ``"data set"``.
    version : int
        Version of the format.
    command : str
        The command that makes such a file, for messages.
    keys : mapping of str to type
        Entries that the manifest must have, and their types.
    arrays : mapping of str to str
        Arrays that it must have, and their types.
    limit : int or None
        Bytes of the largest file that is read.
    """

    format: str
    what: str
    version: int
    command: str
    keys: Mapping[str, type]
    arrays: Mapping[str, str]
    limit: int | None = None

    def write(self, path: str | Path, entries: Mapping[str, Any], arrays: "Mapping[str, AnyArray]") -> Path:
        """Write a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; missing folders are made.
        entries : mapping
            What the manifest holds.
        arrays : mapping of str to ndarray
            The arrays.

        Returns
        -------
        Path
            Where it was written.
        """
        path = Path(path)
        if not path.name:
            raise PqswarmError(f"{str(path)!r} is no name of a file to write.")
        members = {name: _npy_bytes(np.asarray(arrays[name], dtype)) for name, dtype in self.arrays.items()}
        checksums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
        head = {"format": self.format, "format_version": self.version}
        manifest = {**head, **entries, "sha256": checksums}
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), json.dumps(manifest, indent=1))
                for name, content in members.items():
                    archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content)
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
        return path

    def read(self, path: str | Path, assemble: "Callable[[dict[str, Any], dict[str, AnyArray]], T]") -> T:
        """Read a file, checking everything on the way.

        Parameters
        ----------
        path : str or Path
            The file.
        assemble : callable
            Makes the thing from manifest and arrays; its FileFormatError is completed with the name of the file.

        Returns
        -------
        object
            What `assemble` made.
        """
        path = Path(path)
        try:
            if self.limit is not None and path.stat().st_size > self.limit:
                raise FileFormatError(f"is no {self.what} of pqswarm: it is larger than {self.limit} bytes.")
            with zipfile.ZipFile(path) as archive:
                manifest = self._manifest(archive)
                arrays = {name: self._array(archive, name, manifest["sha256"]) for name in self.arrays}
            return assemble(manifest, arrays)
        except FileNotFoundError as error:
            raise PqswarmError(f"there is no file {path}; `{self.command} --out {path}` would make one.") from error
        except FileFormatError as error:
            raise FileFormatError(f"{path} {error}") from error
        except PqswarmError:
            raise
        except OSError as error:
            raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
        except _DAMAGE as error:
            raise FileFormatError(f"{path} is damaged, or is no {self.what} of pqswarm: {error}") from error

    def _manifest(self, archive: zipfile.ZipFile) -> dict[str, Any]:
        try:
            manifest = json.loads(self._member(archive, _MANIFEST, _MANIFEST_LIMIT))
        except (ValueError, RecursionError) as error:
            if isinstance(error, FileFormatError):
                raise
            raise FileFormatError(f"is damaged: its manifest is not readable ({error}).") from error
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise FileFormatError(f"is no {self.what} of pqswarm: its manifest says otherwise.")
        if manifest.get("format_version") != self.version:
            raise FileFormatError(
                f"has format version {manifest.get('format_version')!r}, this pqswarm reads version {self.version}: "
                f"make it again with `{self.command}`, or use the pqswarm that wrote it."
            )
        for key, kind in {**self.keys, "sha256": dict}.items():
            if not isinstance(manifest.get(key), kind):
                raise FileFormatError(f"is damaged: its manifest has no proper {key!r}.")
        return manifest

    def _array(self, archive: zipfile.ZipFile, name: str, checksums: dict[str, Any]) -> "AnyArray":
        content, dtype = self._member(archive, f"{name}.npy"), self.arrays[name]
        if hashlib.sha256(content).hexdigest() != checksums.get(name):
            raise FileFormatError(f"is damaged: the checksum of {name!r} does not match its manifest.")
        buffer = io.BytesIO(content)
        try:
            npy.read_magic(buffer)
            shape, fortran, found = npy.read_array_header_1_0(buffer)
        except ValueError as error:
            raise FileFormatError(f"is damaged: {name!r} is no array ({error}).") from error
        size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
        if found != np.dtype(dtype) or fortran or len(content) - buffer.tell() != size:
            raise FileFormatError(f"is damaged: {name!r} is not an array of the expected type and size.")
        return np.frombuffer(content, dtype, offset=buffer.tell()).reshape(shape).astype(dtype[1:])

    def _member(self, archive: zipfile.ZipFile, name: str, limit: int | None = None) -> bytes:
        """The content of a member that is stored uncompressed, so that it cannot be larger than the file."""
        try:
            info = archive.getinfo(name)
        except KeyError:
            raise FileFormatError(f"is no {self.what} of pqswarm: it has no {name}.") from None
        plain = info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
        if not plain or (limit is not None and info.file_size > limit):
            raise FileFormatError(f"is no {self.what} of pqswarm: {name} is not stored as pqswarm does.")
        return archive.read(info)


def _npy_bytes(array: "AnyArray") -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()
