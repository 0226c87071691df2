"""Atomic writing, and reading of regular files only: opening a pipe could block forever."""

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from pqswarm.errors import PqswarmError

_BINARY = getattr(os, "O_BINARY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # do not wait for a pipe to be written
_FOLDER: ContextVar[Path | None] = ContextVar("folder", default=None)


@contextmanager
def opening_only_inside(folder: Path) -> Iterator[None]:
    """Refuse files outside a folder, also those that a link leads to, while this thread opens files."""
    before = _FOLDER.set(folder.resolve())
    try:
        yield
    finally:
        _FOLDER.reset(before)


def check_inside(path: str | Path, status: os.stat_result) -> None:
    """Raise an OSError if the file with that status is outside the folder of :func:`opening_only_inside`."""
    folder = _FOLDER.get()
    if folder is None:
        return
    real = Path(path).resolve()
    if not (real.is_relative_to(folder) and os.path.samestat(real.lstat(), status)):  # or it was just replaced
        raise OSError(errno.EPERM, "it leads out of the folder")


def open_regular(path: str | Path) -> BufferedReader:
    """Open a file for reading; raise an OSError if it is missing, a folder, a pipe or a device."""
    try:
        number = os.open(path, os.O_RDONLY | _BINARY | _AT_ONCE)
    except ValueError as error:  # a name with a null byte
        raise OSError(errno.EINVAL, str(error)) from None
    try:
        status = os.fstat(number)
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        check_inside(path, status)
    except BaseException:
        os.close(number)
        raise
    return os.fdopen(number, "rb")


def read_regular(path: str | Path, limit: int) -> bytes:
    """Return the content of a file; raise an OSError as :func:`open_regular` does, or if it exceeds the limit."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise OSError(errno.EFBIG, f"it is larger than {limit / 1e6:g} MB")
        return file.read(size)  # not the limit: read() allocates that much at once


def file_identity(path: str | Path) -> tuple[int, int] | None:
    """Return device and inode, which identify a file whatever is written into it; None if it is missing."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino


def write_atomically(path: str | Path, content: str | bytes | Callable[[BinaryIO], object]) -> Path:
    """Write a file atomically: readers never see a part of it, also after a power cut; an error leaves the old one.

    Missing folders are created. Text is written as UTF-8 with its line ends; a function receives the file. A link is
    replaced, not followed; folders, pipes and devices are refused.
    """
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is not the name of a file to write.")
    part = path.with_name(f".{path.name}.{_machine_id_in_file_names()}-{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is a folder" if path.is_dir() else "it is not a regular file")
        _remove_abandoned_files(path)
        with part.open("x+b") as file:  # a new file, never a link that was put there
            if callable(content):
                content(file)
            else:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
            _sync_file(file)
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
        raise
    return path


def _sync_file(file: BinaryIO) -> None:
    """Flush a file to disk, so that its name cannot outlive its content."""
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):  # not supported by this file system
            raise


def _remove_abandoned_files(path: Path) -> None:
    """Remove partial files left by killed processes of this machine."""
    if os.name == "nt":  # which cannot tell which processes have ended
        return
    parts = re.compile(re.escape(f".{path.name}.{_machine_id_in_file_names()}-") + r"(\d+)-[0-9a-f]+\.part")
    with suppress(OSError):
        for entry in path.parent.iterdir():
            if (match := parts.fullmatch(entry.name)) and not file_writer_is_alive(int(match[1])):
                entry.unlink(missing_ok=True)


def _machine_id_in_file_names() -> str:
    """Distinguish this machine from others that share the folder."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return hashlib.sha256(name.encode()).hexdigest()[:6]


def file_writer_is_alive(pid: int) -> bool:
    """Return whether a process of this machine is running; True if that is unknown."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
