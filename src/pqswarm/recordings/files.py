"""Files from disk: sizes are checked before memory is allocated, and formats that are not read are refused."""

import os
import re
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pqswarm._base.files import check_inside, open_regular
from pqswarm._base.text import file_text
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.recordings.recording import RecordingError

COMPANIONS = (".dat", ".hdr", ".inf")
"""Suffixes of the files that belong to a COMTRADE ``.cfg``."""
_DOCUMENT = re.compile(r"(?:readme|licen[cs]e|copying|notice|changelog|[\w-]*requirements|cmakelists)\b.*\.txt", re.I)


@contextmanager
def naming_file(path: str | Path) -> Iterator[None]:
    """Add the file name to errors, and turn those of damaged files into :class:`RecordingError`."""
    name = file_text(path)
    try:
        yield
    except FileFormatError as error:
        raise RecordingError(f"{name} {error}") from error
    except PqswarmError:
        raise
    except OSError as error:
        raise RecordingError(f"{name} cannot be read: {error.strerror or error}.") from error
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, struct.error, zlib.error) as error:
        # Fuzz tests count this as a failure of the reader; a user gets a message, and the next file is read.
        raise RecordingError(f"{name} is damaged in an unforeseen way ({type(error).__name__}: {error}).") from error


class StoredBytes(Protocol):
    """Bytes that are read on demand."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    def read(self, first: int, stop: int) -> bytes:
        """Return those from `first` to before `stop`."""


class MemoryBytes:
    """Bytes in memory, read like those of a file."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.size = len(content)

    def read(self, first: int, stop: int) -> bytes:
        """Return those from `first` to before `stop`."""
        return self.content[first:stop]


@dataclass(frozen=True)
class FileBytes:
    """The `size` bytes of a file from `offset`, read by any thread; refused if the file vanished or changed."""

    path: Path
    size: int
    offset: int
    state: tuple[int, ...]

    @classmethod
    def of(cls, path: Path, limit: int | None = None, remedy: str = "max_bytes raises it.") -> "FileBytes":
        """Return all bytes of a regular file, of at most `limit` bytes if one is given."""
        try:
            state = path.stat()
        except FileNotFoundError:
            raise RecordingError("does not exist.") from None
        except ValueError as error:  # a name with a null byte
            raise RecordingError(f"cannot be read: {error}.") from error
        if not stat.S_ISREG(state.st_mode):  # opening a pipe would block
            raise RecordingError("is not a regular file.")
        if limit is not None and state.st_size > limit:
            raise RecordingError(f"has {state.st_size / 1e6:.0f} MB, over the limit of {limit / 1e6:.0f} MB; {remedy}")
        check_inside(path, state)
        return cls(path, state.st_size, 0, _file_state(state))

    def after(self, offset: int) -> "FileBytes":
        """Return the bytes from `offset` on."""
        return replace(self, size=self.size - offset, offset=self.offset + offset)

    def read(self, first: int, stop: int) -> bytes:
        """Return the bytes from `first` to before `stop`, or fewer at the end."""
        stop = min(stop, self.size)
        with open_regular(self.path) as file:
            if _file_state(os.fstat(file.fileno())) != self.state:
                raise RecordingError("has changed since it was opened.")
            file.seek(self.offset + first)
            content = file.read(max(stop - first, 0))
        if len(content) < stop - first:
            raise RecordingError("became shorter while it was read.")
        return content

    def read_all(self) -> bytes:
        """Return all bytes."""
        return self.read(0, self.size)


def _file_state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino


def is_document(name: str) -> bool:
    """Whether the name of a text file, such as ``README.txt`` or ``requirements.txt``, is not that of a recording."""
    return _DOCUMENT.fullmatch(name) is not None


def find_partner(path: Path, suffix: str) -> Path | None:
    """Return the file next to `path` with that suffix, ignoring case; the first of :func:`sort_partners` if several."""
    exact = path.with_suffix(suffix)
    if os.path.isfile(exact):  # noqa: PTH113 (which takes any name, however long)
        return exact
    try:
        beside = sort_partners(path.name, suffix, (one.name for one in path.parent.iterdir()))
        return next((other for name in beside if (other := path.with_name(name)).is_file()), None)
    except OSError:
        return None


def sort_partners(name: str, suffix: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ in their suffix only, whatever the case of both; those of the same case first."""
    stem = Path(name).stem
    wanted = (stem + suffix).casefold()
    partners = [one for one in names if one.casefold() == wanted]
    return sorted(partners, key=lambda one: (Path(one).stem != stem, Path(one).suffix != suffix, one))


LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a file that Git LFS did not download."""
EXPORT = "export the waveforms as COMTRADE, PQDIF or CSV"
"""The remedy if there is none of its own."""
_OTHER_FORMATS = (
    (rb"MATLAB 7\.3", "a MATLAB 7.3 file (HDF5)", "save it with -v7"),
    (rb"\x89HDF", "an HDF5 file", EXPORT),
    (rb"TDSm.\0", "a LabVIEW file (TDMS)", EXPORT),
    (rb"RIFF[^\r\n,;]{4}WAVE", "a WAV file", "save samples in volts and sampling_rate as .npz"),
    (rb"\x93NUMPY", "a single array (.npy)", "save it and sampling_rate as .npz"),
    (rb"PAR1[\x15\x19\x1c]|ARROW1\0|Obj\x01", "a Parquet, Arrow or Avro file", "save the table as CSV"),
    (rb"\xd0\xcf\x11\xe0", "an Excel 97 or other OLE file", "save the sheet with the samples as CSV"),
    (rb"\x1f\x8b|BZh\d1AY|\xfd7zXZ|7z\xbc\xaf|Rar!", "a packed file", "unpack it first"),
    (rb"%PDF|\x89PNG|\xff\xd8\xff", "a document or picture", "get the recording itself"),
    (rb"<(?=.*comtrade)", "a COMTRADE file in XML", "export it as .cfg with .dat"),
    (rb"<[?!a-z]|[{]\s*\"", "an XML, HTML or JSON file", EXPORT),
)


def refuse_other_formats(head: bytes) -> None:
    """Raise an error if the first bytes of a file are those of a kind that is not read."""
    for start, kind, remedy in _OTHER_FORMATS:
        if re.match(rb"(?:\xef\xbb\xbf)?\s*+(?:" + start + rb")", head, re.IGNORECASE | re.DOTALL):
            raise RecordingError(f"is {kind}, which is not read: {remedy}.")
