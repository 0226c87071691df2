"""The recordings of a folder, and files there that pqswarm wrote."""

import hashlib
import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from pqswarm._base.files import open_regular
from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.recordings.comtrade.reader import count_missing_samples
from pqswarm.recordings.files import find_partner, is_document, sort_partners
from pqswarm.recordings.readers import list_suffixes

_BLOCK = 1 << 20
"""Bytes that are read at a time."""

_DONE = 300 * 10**9
"""Time after which a file that was not written to is taken for complete [ns]."""
_OURS = (b"source,path,station,", b"file,type,phases,")
"""First bytes of tables written by pqswarm: events, and true disturbances of samples."""
_OUR_SAMPLES = {"X.npy", "y.npy", "feature_names.npy", "class_names.npy"}
"""Members of the samples of a study."""
_MANIFEST = "manifest.json"
_OUR_MANIFEST = b'"format": "pqswarm '
"""Member of data sets and models."""


@dataclass(frozen=True)
class Candidate:
    """A recording in the folder: its path relative to it, with ``/``, and its files.

    `stamp` holds their sizes [byte] and modification times [ns]; it is empty while a part is missing or empty.
    """

    name: str
    parts: tuple[Path, ...]
    stamp: str

    @property
    def lack(self) -> str:
        """Why it is not analysed yet."""
        if self.stamp:
            return "its .dat is not complete" if self.is_incomplete else "it still changes"
        alone = len(self.parts) == 1 and self.parts[0].suffix.casefold() == ".cfg"
        return "its .dat is missing" if alone else "it is empty or cannot be accessed"

    @property
    def is_incomplete(self) -> bool:
        """Whether its ``.dat`` has fewer samples than its ``.cfg`` says, and has changed in the last five minutes."""
        if (
            len(self.parts) < 2
            or time.time_ns() - max(int(one.partition(":")[2]) for one in self.stamp.split()) > _DONE
        ):
            return False
        return count_missing_samples(self.parts[0]) > 0

    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        total = hashlib.sha256()
        for part in self.parts:
            with open_regular(part) as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()

    def has_grown(self, stamp: str, digest: str) -> bool:
        """Whether an earlier content, given by its sizes and SHA-256, is the start of this one."""
        sizes = [int(part.partition(":")[0]) for part in stamp.split()]
        if len(sizes) != len(self.parts):
            return False
        total = hashlib.sha256()
        for part, size in zip(self.parts, sizes, strict=True):
            own = hashlib.sha256()
            with open_regular(part) as file:
                while size > 0 and (block := file.read(min(size, _BLOCK))):
                    own.update(block)
                    size -= len(block)
            total.update(own.digest())
        return total.hexdigest() == digest


def scan(folder: Path) -> Iterator[Candidate]:
    """Yield the recordings of a folder and its subfolders, complete or not, by name; no hidden files and READMEs."""
    suffixes = list_suffixes()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                shown = (one for one in entries if not (one.name.startswith(".") or is_document(one.name)))
                found = sorted(shown, key=lambda entry: entry.name)
        except OSError:  # removed, or not readable
            continue
        by_name: dict[str, dict[str, os.DirEntry[str]]] = defaultdict(dict)
        for entry in found:
            by_name[entry.name.casefold()][entry.name] = entry
        for entry in found:
            if _is_entry_kind(entry, folder=True):
                waiting.append(Path(entry.path))
            elif Path(entry.name).suffix.casefold() in suffixes and _is_entry_kind(entry, folder=False):
                yield candidate_of(folder, entry, by_name[entry.name.casefold().removesuffix(".cfg") + ".dat"])


def candidate_of(
    folder: Path, entry: "os.DirEntry[str] | Path", beside: "Mapping[str, os.DirEntry[str] | Path]"
) -> Candidate:
    """Return the recording of a file in a folder; `beside` holds the files that may be its ``.dat``, by name."""
    parts = [entry]
    is_cfg = entry.name.casefold().endswith(".cfg")
    if is_cfg:
        ordered = (beside[name] for name in sort_partners(entry.name, ".dat", beside))
        parts += [one for one in ordered if _is_entry_kind(one, folder=False)][:1]
    paths = tuple(Path(os.fspath(part)) for part in parts)
    stamp = "" if is_cfg and len(parts) < 2 else scanned_file_stamp(parts)
    return Candidate(file_text(paths[0].relative_to(folder).as_posix()), paths, stamp)


def find_candidate(path: str | Path) -> Candidate:
    """Return the recording of a file, which must exist."""
    whole = Path(path)
    data = find_partner(whole, ".dat") if whole.suffix.casefold() == ".cfg" else None
    parts = (whole,) if data is None else (whole, data)
    if not all(part.is_file() for part in parts):  # a pipe would block
        raise PqswarmError(f"{file_text(path)} is not there, or is not a regular file.")
    return Candidate(file_text(whole.name), parts, scanned_file_stamp(parts))


def scanned_file_stamp(parts: "Sequence[os.DirEntry[str] | Path]") -> str:
    """Return sizes and modification times; empty if a part is missing or empty."""
    try:
        found = [part.stat() for part in parts]
    except OSError:
        return ""
    return " ".join(f"{one.st_size}:{one.st_mtime_ns}" for one in found) if all(one.st_size for one in found) else ""


def _is_entry_kind(entry: "os.DirEntry[str] | Path", *, folder: bool) -> bool:
    """Whether it is a folder, but not a link to one, or a regular file."""
    try:
        return entry.is_dir() and not entry.is_symlink() if folder else entry.is_file()
    except OSError:
        return False


def is_ours(path: Path) -> bool:
    """Whether a file is a table, data set or model written by pqswarm, or a temporary file."""
    if path.name.startswith("."):
        return True
    try:
        if path.suffix.lower() == ".npz":
            with open_regular(path) as content, ZipFile(content) as file:
                members = set(file.namelist())
                if _MANIFEST in members:
                    with file.open(_MANIFEST) as manifest:
                        return _OUR_MANIFEST in manifest.read(256)
                return members >= _OUR_SAMPLES
        if path.suffix.lower() == ".csv":
            with open_regular(path) as file:
                return file.read(64).removeprefix(b"\xef\xbb\xbf").startswith(_OURS)
    except (OSError, ValueError, BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error):
        pass
    return False
