"""Files that visitors send: names are cleaned, sizes bounded, and nothing is there before it is whole."""

import os
import secrets
import shutil
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pqswarm._base.text import count_text
from pqswarm.app.handlers import Refused
from pqswarm.app.recordings.files import PARTS, upload_folder_name
from pqswarm.recordings import READERS

__all__ = ["Upload", "clean_name", "clean_parts"]

_MOST_FILES = 1000
"""Files of a visitor."""
_TIMES = 4
"""All files of a visitor together may have so many times the bytes of the greatest one."""
_TIMES_ALL = 20
"""All files of all visitors together may have so many times the bytes of the greatest one."""
_SPARE = 200_000_000
"""Bytes that must stay free on the disk."""
_OFTEN = 16_000_000
"""Bytes after which the disk is looked at again."""
_LONGEST = 150
"""Bytes of a name."""
_PARTS_FOLDER = ".parts"
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10))}


def clean_name(given: str) -> str:
    r"""Return the name that an upload gets: without folders, control characters, leading dots, and not too long.

    Examples
    --------
    >>> clean_name("C:\\day\\..\\.fault\u202e\n 1.CFG"), clean_name("con.csv")
    ('fault 1.CFG', '_con.csv')
    """
    last = given.replace("\\", "/").rpartition("/")[2]
    name = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C" and letter not in '<>:"|?*')
    name = unicodedata.normalize("NFC", name).strip().lstrip(". ").rstrip(". ")
    stem, suffix = Path(name).stem, Path(name).suffix
    known = {suffix for reader in READERS.values() for suffix in reader.suffixes} | set(PARTS)
    if not stem or suffix.casefold() not in known:
        raise Refused(f"Recordings have names that end in {', '.join(sorted(known))}.", 400)
    while len(f"{stem}{suffix}".encode()) > _LONGEST:
        stem = stem[:-1]
    return f"_{stem}{suffix}" if stem.partition(".")[0].casefold() in _RESERVED else f"{stem.rstrip()}{suffix}"


def clean_parts(uploads: Path) -> None:
    """Remove what servers that are gone have left of unfinished uploads."""
    with suppress(OSError):
        for part in (uploads / _PARTS_FOLDER).iterdir():
            process = part.name.partition("-")[0]
            if not process.isdigit() or int(process) == os.getpid() or not _is_alive(int(process)):
                part.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # there, a signal would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


class Upload:
    """A file that is being sent.

    Parameters
    ----------
    uploads : Path
        Folder of all uploads.
    visitor : str
        Who sends it.
    name : str
        As given by the visitor.
    length : int or None
        Bytes that were announced.
    most : int
        Bytes that a file may have.
    """

    def __init__(self, uploads: Path, visitor: str, name: str, length: int | None, most: int) -> None:
        self.name = clean_name(name)
        self.uploads, self.home = uploads, uploads / upload_folder_name(visitor)
        self._part = uploads / _PARTS_FOLDER / f"{os.getpid()}-{secrets.token_hex(8)}"
        self.most = most
        self.size = self._looked = 0
        if length is not None and length > most:
            raise self._too_large()
        self._check_room(length or 0)
        self._file: BinaryIO | None = None
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("wb")
        except OSError as error:
            raise Refused(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None

    def write(self, chunk: bytes) -> None:
        """Store the next bytes."""
        self.size += len(chunk)
        if self.size > self.most:
            self.drop()
            raise self._too_large()
        try:
            if self.size - self._looked > _OFTEN:
                self._looked = self.size
                self._check_disk(0)
            if self._file is not None:
                self._file.write(chunk)
        except OSError as error:
            self.drop()
            raise Refused(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None
        except Refused:
            self.drop()
            raise

    def finish(self) -> Path:
        """Put the file in its place, whole."""
        if self._file is None:
            raise Refused("The upload was not finished.", 400)
        try:
            self._check_room(self.size)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self.home.mkdir(parents=True, exist_ok=True)
            path = next((old for old in self.home.iterdir() if old.name.casefold() == self.name.casefold()), None)
            if path is not None and path.name != self.name:
                path.unlink()
            return self._part.replace(self.home / self.name)
        except OSError as error:
            raise Refused(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None
        finally:
            self.drop()

    def drop(self) -> None:
        """Leave nothing of what was not finished."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
        with suppress(OSError):
            self._part.unlink(missing_ok=True)

    def _too_large(self) -> Refused:
        return Refused(f"Files of up to {self.most / 1e6:g} MB can be sent; --max-mb allows more.", 413)

    def _check_room(self, length: int) -> None:
        """Refuse what is too much for the visitor, or for the disk."""
        sizes = {}
        with suppress(OSError):
            sizes = {path.name: path.stat().st_size for path in self.home.iterdir()}
        sizes.pop(self.name, None)
        if len(sizes) >= _MOST_FILES:
            raise Refused(f"You have sent {count_text(len(sizes), 'file')}: remove some first.", 429)
        if sum(sizes.values()) + length > _TIMES * self.most:
            raise Refused(f"Your files have {sum(sizes.values()) / 1e6:.0f} MB together: remove some first.", 429)
        if self._size_of_all() + length > _TIMES_ALL * self.most:
            raise Refused("The uploads of all visitors take all the room that there is: some must be removed.", 429)
        self._check_disk(length)

    def _size_of_all(self) -> int:
        """Bytes of the uploads of all visitors, finished or not, without this one."""
        total = 0
        with suppress(OSError):
            for home in self.uploads.iterdir():
                with suppress(OSError):  # it was just removed, or is no folder
                    total += sum(path.stat().st_size for path in home.iterdir() if path != self._part)
        return total

    def _check_disk(self, length: int) -> None:
        existing = next(path for path in (self.home, *self.home.parents) if path.exists())
        if shutil.disk_usage(existing).free - length < _SPARE:
            raise Refused("The disk of the server is almost full.", 507)
