"""Uploads: cleaned names, limited sizes, stored atomically."""

import hashlib
import os
import secrets
import shutil
import unicodedata
from collections import Counter
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import BinaryIO

from pqswarm._base.files import file_writer_is_alive
from pqswarm._base.text import count_text
from pqswarm.app.handlers import HTTPRefusal
from pqswarm.app.recordings.queue import upload_folder_name
from pqswarm.identify.folder.batch import Candidate
from pqswarm.recordings.files import COMPANIONS, is_document
from pqswarm.recordings.readers import list_suffixes

_MAX_FILES = 10_000
"""Maximum number of files of a visitor."""
_VISITOR_QUOTA = 4
"""Maximum size of a visitor's files, as a multiple of the maximum file size."""
_SENDER_QUOTA = 10
"""The same of all visitors of an address, since the server started."""
_TOTAL_QUOTA = 20
"""Maximum size of all uploads, as a multiple of the maximum file size."""
_MIN_FREE = 200_000_000
"""Bytes that must stay free on the disk."""
_CHECK_INTERVAL = 16_000_000
"""Bytes between two checks of the free space."""
_MAX_NAME = 150
"""Maximum length of a name [byte]."""
_LOOK_INTERVAL = 10.0
_LOOK_FACTOR = 20.0
"""Minimum time between two looks at all uploads [s], and as a multiple of the duration of a look."""
_MAX_DEPTH = 3
"""Maximum depth of the folders of a dropped folder; those above are left out."""
_PAIRED = (".cfg", *COMPANIONS)
_PARTS_FOLDER = ".parts"
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10))}


def clean_upload_name(given: str) -> str:
    """Return a name to store an upload under: no folders, control characters or leading dots, limited length."""
    last = given.replace("\\", "/").rpartition("/")[2]
    name = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C" and letter not in '<>:"|?*')
    name = unicodedata.normalize("NFC", name).strip().lstrip(". ").rstrip(". ")
    stem = Path(name).stem
    suffix = Path(name).suffix
    known = list_suffixes().union(COMPANIONS)
    if not stem or suffix.casefold() not in known or is_document(name):
        raise HTTPRefusal(f"The name of a recording must end in {', '.join(sorted(known))}.", 400)
    while len(f"{stem}{suffix}".encode()) > _MAX_NAME:
        stem = stem[:-1]
    return f"_{stem}{suffix}" if stem.partition(".")[0].casefold() in _RESERVED else f"{stem.rstrip()}{suffix}"


def clean_upload_folder(given: str) -> Path:
    """Return the folder of an upload in the visitor's own, from that of a dropped folder."""
    names = (
        "".join(x if x.isalnum() or x in "-_ ." else "_" for x in one).strip(". ")[:50] for one in given.split("/")
    )
    return Path(*[f"_{name}" if name.casefold() in _RESERVED else name for name in names if name][-_MAX_DEPTH:])


def clean_upload_parts(uploads: Path) -> None:
    """Remove unfinished uploads of servers that no longer run."""
    with suppress(OSError):
        for part in (uploads / _PARTS_FOLDER).iterdir():
            process = part.name.partition("-")[0]
            known = process.isdigit() and int(process) != os.getpid() and os.name != "nt"  # where it would be killed
            if not known or not file_writer_is_alive(int(process)):
                part.unlink(missing_ok=True)


class StoredUploads:
    """The uploads in a folder, kept in memory: the time of an upload must not grow with their number."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = RLock()
        self.unfinished: set[Upload] = set()
        self.senders: dict[str, str] = {}
        """The address of each visitor who uploaded something."""
        self._looked = -inf
        self._took = 0.0
        self.look()

    def look(self, *, now: bool = False) -> None:
        """Read the folder if that was long ago: another server may use it, too."""
        with self.lock:
            began = monotonic()
            if not now and began - self._looked < max(_LOOK_INTERVAL, _LOOK_FACTOR * self._took):
                return
            self.n_files = Counter[str]()
            self.n_bytes = Counter[str]()
            self._groups: dict[tuple[Path, str], dict[str, Path]] = {}
            self._last: dict[tuple[Path, str], int] = {}
            self._digests: dict[Path, str] = {}
            for place, _, names in os.walk(self.folder):
                for path in (Path(place, name) for name in names):
                    with suppress(OSError):  # just removed
                        self._add(path, path.lstat().st_size)
            self._looked = monotonic()
            self._took = self._looked - began

    def _add(self, path: Path, size: int) -> None:
        owner = path.relative_to(self.folder).parts[0]
        is_own_part = owner == _PARTS_FOLDER and path.name.startswith(f"{os.getpid()}-")
        if path not in self.beside(path) and not is_own_part:
            self.n_files[owner] += 1
            self.n_bytes[owner] += size
            stem = path.stem.casefold()
            self._groups.setdefault((path.parent, stem), {})[path.name.casefold()] = path
            if path.parent.name.isdecimal():  # lower ones may have been removed
                home = (path.parent.parent, stem)
                self._last[home] = max(int(path.parent.name), self._last.get(home, 0))

    def beside(self, path: Path) -> list[Path]:
        """Return the files in the folder of a file with its name, whatever their case and suffix."""
        return list(self._groups.get((path.parent, path.stem.casefold()), {}).values())

    def store(self, part: Path, path: Path, digest: str) -> Path:
        """Move a complete file to its place, or that of another name if there is one already; return it."""
        found = self._place(path)
        if found.exists() and found not in self.beside(found):  # by another server
            self.look(now=True)
            found = self._place(path)
        found.parent.mkdir(parents=True, exist_ok=True)
        part.replace(found)
        self._add(found, found.stat().st_size)
        self._digests[found] = digest
        return self._merge(path, found)

    def _merge(self, path: Path, found: Path) -> Path:
        """Return the same recording that was stored before under this name, and remove this one; or return this one."""
        stem = path.stem.casefold()
        own = self._content(found)
        folders = [folder for folder, name in self._groups if name == stem and path.parent in (folder, folder.parent)]
        for folder in folders:
            if folder != found.parent and self._content(folder / found.name) == own:
                for one in self._parts(found):
                    owner = one.relative_to(self.folder).parts[0]
                    self.n_files[owner] -= 1
                    self.n_bytes[owner] -= one.stat().st_size
                    one.unlink()
                    del self._groups[found.parent, stem][one.name.casefold()]
                if not self._groups[found.parent, stem]:
                    del self._groups[found.parent, stem]
                    self._last.pop((path.parent, stem), None)
                return self._groups[folder, stem][found.name.casefold()]
        return found

    def _parts(self, path: Path) -> list[Path]:
        """The files of the recording that a file is part of: of a pair all next to it, otherwise that of its name."""
        is_pair = path.suffix.casefold() in _PAIRED
        return [one for one in self.beside(path) if is_pair or one.name.casefold() == path.name.casefold()]

    def _content(self, path: Path) -> frozenset[tuple[str, str]]:
        parts = [one for one in self._parts(path) if one.is_file()]
        for one in parts:
            if one not in self._digests:
                self._digests[one] = Candidate("", (one,), "").digest()
        return frozenset((one.suffix.casefold(), self._digests[one]) for one in parts)

    def _place(self, path: Path) -> Path:
        """Return where to store a file. Files of one name, as meters write them, go to folders 2, 3, ... in order.

        The parts of a recording that are sent one after the other stay together.
        """

        def places(number: int) -> Path:
            return path.parent / (str(number) if number > 1 else "")

        stem = path.stem.casefold()
        name = path.name.casefold()
        groups = self._groups
        last = self._last.get((path.parent, stem), 0)
        while (places(last + 1), stem) in groups:
            last += 1
        self._last[path.parent, stem] = last
        is_new = not last or name in groups.get((places(last), stem), ())
        return places(last + is_new) / path.name


class Upload:
    """A file being sent by a visitor: its path as given, its announced size, maximum size [byte], and sender."""

    def __init__(
        self, stored: StoredUploads, visitor: str, name: str, length: int | None, max_bytes: int, sender: str = ""
    ) -> None:
        self.owner = upload_folder_name(visitor)
        self.sender = sender
        self.name = clean_upload_name(name)
        self.stored = stored
        self.path = stored.folder / self.owner / clean_upload_folder(name.rpartition("/")[0]) / self.name
        self._part = stored.folder / _PARTS_FOLDER / f"{os.getpid()}-{secrets.token_hex(8)}"
        self.max_bytes = max_bytes
        self._digest = hashlib.sha256()
        self.size = self._checked = 0
        if length is not None and length > max_bytes:
            raise self._too_large()
        self._check_quota(length or 0)
        self._file: BinaryIO | None = None
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("wb")
            stored.unfinished.add(self)
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
                self._digest.update(chunk)
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
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            with self.stored.lock:
                self.stored.look()
                self._check_quota(self.size)
                self.stored.senders[self.owner] = self.sender
                return self.stored.store(self._part, self.path, hashlib.sha256(self._digest.digest()).hexdigest())
        except OSError as error:
            raise HTTPRefusal(f"The upload cannot be stored: {error.strerror or type(error).__name__}.", 507) from None
        finally:
            self.drop()

    def drop(self) -> None:
        """Remove the unfinished file."""
        self.stored.unfinished.discard(self)
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
        stored = self.stored
        count = stored.n_files[self.owner]
        own = stored.n_bytes[self.owner]
        total = stored.n_bytes.total()
        others = [one for one in list(stored.unfinished) if one is not self]
        total += sum(one.size for one in others)
        near = sum(stored.n_bytes[owner] for owner, sender in list(stored.senders.items()) if sender == self.sender)
        near += sum(one.size for one in others if one.sender == self.sender)
        if count >= _MAX_FILES:
            raise HTTPRefusal(f"You have uploaded {count_text(count, 'file')}: remove some first.", 429)
        quotas = {
            f"Your uploads take {own / 1e6:.0f} MB: remove some first.": (own, _VISITOR_QUOTA),
            "The uploads from your address have reached their quota: remove some first.": (near, _SENDER_QUOTA),
            "The uploads of all visitors have reached the quota: some must be removed first.": (total, _TOTAL_QUOTA),
        }
        for reason, (used, quota) in quotas.items():
            if used + length > quota * self.max_bytes:
                raise HTTPRefusal(reason, 429)
        self._check_disk(length)

    def _check_disk(self, length: int) -> None:
        existing = next(path for path in self.path.parents if path.exists())
        if shutil.disk_usage(existing).free - length < _MIN_FREE:
            raise HTTPRefusal("The server's disk is almost full.", 507)
