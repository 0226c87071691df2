"""Files are written whole or not at all."""

import hashlib
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pqswarm.errors import PqswarmError

__all__ = ["sync_folder", "write_atomically"]


def write_atomically(path: str | Path, content: str | bytes | Callable[[BinaryIO], object]) -> Path:
    """Write a file, whole or not at all: a reader never sees half of it, and an error leaves the old one.

    Missing folders are made. Text is written as UTF-8, line ends as they are; a function is given the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(f"{folder}/new/short.txt", "two words").read_text()
    'two words'
    """
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is not the name of a file to write.")
    part = path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        with part.open("wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
        raise
    return path


def _remove_abandoned(path: Path) -> None:
    """Remove what processes of this machine that were killed have left of a file."""
    if os.name == "nt":  # which does not tell who has ended
        return
    parts = re.compile(re.escape(f".{path.name}.{_machine()}-") + r"(\d+)-[0-9a-f]+\.part")
    with suppress(OSError):
        for one in path.parent.iterdir():
            if (match := parts.fullmatch(one.name)) and not _is_alive(int(match[1])):
                one.unlink(missing_ok=True)


def _machine() -> str:
    """What tells this machine from others that share a folder with it."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return hashlib.sha256(name.encode()).hexdigest()[:6]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def sync_folder(folder: Path) -> None:
    """Make the name of a new file last, where folders can be opened."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
