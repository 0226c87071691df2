"""Uploads: cleaned names, limited sizes, stored atomically."""

import filecmp
import os
import secrets
import shutil
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pqswarm._base.files import file_writer_is_alive
from pqswarm._base.text import count_text
from pqswarm.app.handlers import HTTPRefusal
from pqswarm.app.recordings.files import upload_folder_name
from pqswarm.recordings.files import COMPANIONS
from pqswarm.recordings.readers import list_suffixes

_MAX_FILES = 1000
"""Maximum number of files of a visitor."""
_VISITOR_QUOTA = 4
"""Maximum size of a visitor's files, as a multiple of the maximum file size."""
_TOTAL_QUOTA = 20
"""Maximum size of all uploads, as a multiple of the maximum file size."""
_MIN_FREE = 200_000_000
"""Bytes that must stay free on the disk."""
_CHECK_INTERVAL = 16_000_000
"""Bytes between two checks of the free space."""
_MAX_NAME = 150
"""Maximum length of a name [byte]."""
_MAX_DEPTH = 3
"""Maximum depth of the folders of a dropped folder; those above are left out."""
_PAIRED = (".cfg", *COMPANIONS)
_PARTS_FOLDER = ".parts"
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10))}


def clean_name(given: str) -> str:
    """Return a name to store an upload under: no folders, control characters or leading dots, limited length."""
    last = given.replace("\\", "/").rpartition("/")[2]
    name = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C" and letter not in '<>:"|?*')
    name = unicodedata.normalize("NFC", name).strip().lstrip(". ").rstrip(". ")
    stem, suffix = Path(name).stem, Path(name).suffix
    known = list_suffixes().union(COMPANIONS)
    if not stem or suffix.casefold() not in known:
        raise HTTPRefusal(f"The name of a recording must end in {', '.join(sorted(known))}.", 400)
    while len(f"{stem}{suffix}".encode()) > _MAX_NAME:
        stem = stem[:-1]
    return f"_{stem}{suffix}" if stem.partition(".")[0].casefold() in _RESERVED else f"{stem.rstrip()}{suffix}"


def clean_folder(given: str) -> Path:
    """Return the folder of an upload in the visitor's own, from that of a dropped folder."""
    names = (
        "".join(x if x.isalnum() or x in "-_ ." else "_" for x in one).strip(". ")[:50] for one in given.split("/")
    )
    return Path(*[f"_{name}" if name.casefold() in _RESERVED else name for name in names if name][-_MAX_DEPTH:])


def clean_parts(uploads: Path) -> None:
    """Remove unfinished uploads of servers that no longer run."""
    with suppress(OSError):
        for part in (uploads / _PARTS_FOLDER).iterdir():
            process = part.name.partition("-")[0]
            known = process.isdigit() and int(process) != os.getpid() and os.name != "nt"  # where it would be killed
            if not known or not file_writer_is_alive(int(process)):
                part.unlink(missing_ok=True)


class Upload:
    """A file being sent by a visitor: its path as given, its announced size, and the maximum size [byte]."""

    def __init__(self, uploads: Path, visitor: str, name: str, length: int | None, max_bytes: int) -> None:
        self.name, self.folder = clean_name(name), clean_folder(name.rpartition("/")[0])
        self.uploads, self.home = uploads, uploads / upload_folder_name(visitor)
        self._part = uploads / _PARTS_FOLDER / f"{os.getpid()}-{secrets.token_hex(8)}"
        self.max_bytes = max_bytes
        self.size = self._checked = 0
        if length is not None and length > max_bytes:
            raise self._too_large()
        self._check_quota(length or 0)
        self._file: BinaryIO | None = None
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("wb")
        except OSError as error:
            raise HTTPRefusal(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None

    def write(self, chunk: bytes) -> None:
        """Store the next bytes."""
        self.size += len(chunk)
        if self.size > self.max_bytes:
            self.drop()
            raise self._too_large()
        try:
            if self.size - self._checked > _CHECK_INTERVAL:
                self._checked = self.size
                self._check_disk(0)
            if self._file is not None:
                self._file.write(chunk)
        except OSError as error:
            self.drop()
            raise HTTPRefusal(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None
        except HTTPRefusal:
            self.drop()
            raise

    def finish(self) -> Path:
        """Move the complete file to its place."""
        if self._file is None:
            raise HTTPRefusal("The upload is incomplete.", 400)
        try:
            self._check_quota(self.size)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            path = self._place()
            path.parent.mkdir(parents=True, exist_ok=True)
            return self._merge(self._part.replace(path))
        except OSError as error:
            raise HTTPRefusal(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None
        finally:
            self.drop()

    def _place(self) -> Path:
        """Return where to store the file. Files of one name, as meters write them, go to folders 2, 3, ... in order.

        The parts of a recording that are sent one after the other stay together.
        """
        own, number, before = Path(self.name), 1, None
        while True:
            folder = self.home / self.folder / (str(number) if number > 1 else "")
            here = {one.name.casefold(): one for one in folder.iterdir() if one.is_file()} if folder.is_dir() else {}
            if not any(Path(name).stem == own.stem.casefold() for name in here):
                return before or folder / own
            same = here.get(self.name.casefold())
            if (
                same is not None
                and own.suffix.casefold() not in _PAIRED
                and filecmp.cmp(same, self._part, shallow=False)
            ):
                return same
            before, number = None if same else folder / own, number + 1

    def _merge(self, path: Path) -> Path:
        """Return the same recording that was stored before, and remove this one, or return it."""
        parts, home = _parts_of(path), self.home / self.folder
        for folder in {home, *home.glob("[0-9]*")} - {path.parent}:
            other = _parts_of(folder / path.name)
            if other.keys() == parts.keys() and all(filecmp.cmp(other[x], parts[x], shallow=False) for x in parts):
                for part in parts.values():
                    part.unlink()
                return other[path.suffix.casefold()]
        return path

    def drop(self) -> None:
        """Remove the unfinished file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
        with suppress(OSError):
            self._part.unlink(missing_ok=True)

    def _too_large(self) -> HTTPRefusal:
        return HTTPRefusal(f"The limit is {self.max_bytes / 1e6:g} MB per file; --max-mb raises it.", 413)

    def _check_quota(self, length: int) -> None:
        """Refuse files beyond the quota of the visitor, of all visitors, or of the disk."""
        sizes = {}
        with suppress(OSError):
            sizes = {path: path.stat().st_size for path in self.home.rglob("*") if path.is_file()}
        if len(sizes) >= _MAX_FILES:
            raise HTTPRefusal(f"You have uploaded {count_text(len(sizes), 'file')}: remove some first.", 429)
        if sum(sizes.values()) + length > _VISITOR_QUOTA * self.max_bytes:
            raise HTTPRefusal(f"Your uploads take {sum(sizes.values()) / 1e6:.0f} MB: remove some first.", 429)
        if self._size_of_all() + length > _TOTAL_QUOTA * self.max_bytes:
            raise HTTPRefusal("The uploads of all visitors have reached the quota: some must be removed first.", 429)
        self._check_disk(length)

    def _size_of_all(self) -> int:
        """Return the size of all uploads, unfinished ones included, except this one [byte]."""
        total = 0
        with suppress(OSError):
            for home in self.uploads.iterdir():
                with suppress(OSError):  # just removed, or not a folder
                    total += sum(path.stat().st_size for path in home.rglob("*") if path != self._part)
        return total

    def _check_disk(self, length: int) -> None:
        existing = next(path for path in (self.home, *self.home.parents) if path.exists())
        if shutil.disk_usage(existing).free - length < _MIN_FREE:
            raise HTTPRefusal("The server's disk is almost full.", 507)


def _parts_of(path: Path) -> dict[str, Path]:
    """The files of a recording by their endings."""
    stem = path.stem.casefold()
    listed = path.parent.iterdir() if path.parent.is_dir() else ()
    return {one.suffix.casefold(): one for one in listed if one.stem.casefold() == stem and one.is_file()}
