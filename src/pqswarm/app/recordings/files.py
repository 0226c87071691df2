"""Recording files: those of the folder, and the uploads of each visitor."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from time import monotonic

from pqswarm._base.text import file_text
from pqswarm.app.workbench import is_inside, mark_workbench_file_used, workbench_id
from pqswarm.identify.folder.scan import Candidate, is_ours, scan, scanned_file_stamp
from pqswarm.recordings.files import COMPANIONS

MAX_FILES = 10_000
"""Maximum number of files listed from a folder."""
_FORGET_AFTER = 3600.0
"""Seconds after which the uploads of an inactive visitor are dropped from memory."""
_SCAN_INTERVAL = 1.0
"""Minimum time between two scans of a folder [s]."""


@dataclass(frozen=True)
class RecordingFile:
    """A file with one or more recordings.

    The ID survives restarts of the server. The name is the path relative to the folder, as text; uploads start with
    ``uploads/`` and belong to a visitor. The stamp holds sizes and modification times of its parts; it is empty while
    parts are missing, and `problem` says why. The path is never shown; `modified` is the time of the last change [ns];
    nothing outside `home` may be opened.
    """

    id: str
    name: str
    parts: tuple[Path, ...]
    stamp: str
    modified: int
    home: Path
    visitor: str = ""
    problem: str = ""

    @property
    def path(self) -> Path:
        """The file that represents all of them."""
        return self.parts[0]

    def is_visible_to(self, visitor: str) -> bool:
        """Whether a visitor may see it."""
        return self.visitor in ("", visitor)


@dataclass(frozen=True)
class RecordingInFile:
    """One recording of a file, by its number."""

    file: RecordingFile
    number: int

    @property
    def id(self) -> str:
        """ID used in URLs: that of the file, followed by the position from the second recording on."""
        return self.file.id if not self.number else f"{self.file.id}-{self.number + 1}"

    @property
    def key(self) -> tuple[str, int, str]:
        """Cache key; it changes with the file."""
        return self.file.id, self.number, self.file.stamp


class RecordingFiles:
    """Finds the files of a folder and of visitors; scans again on request, at most once a second.

    Links that point outside the folder are skipped; `uploads` has a folder for each visitor.
    """

    def __init__(self, folder: Path, uploads: Path) -> None:
        self.folder, self.uploads = folder, uploads
        self.has_more = False
        self._files: dict[str, dict[str, RecordingFile]] = {}
        self._scanned: dict[str, float] = {}
        self._ours: dict[tuple[Path, str], bool] = {}
        self._scanning = Lock()

    def uploads_of(self, visitor: str) -> Path:
        """Return the upload folder of a visitor."""
        return self.uploads / upload_folder_name(visitor)

    def update(self, visitor: str, *, now: bool = False) -> bool:
        """Scan the folder and the uploads of a visitor if a second has passed; return whether anything changed.

        With `now`, uploads are scanned in any case; the folder, which may be large, is not.
        """
        with self._scanning:
            changed = False
            for owner in ("", visitor):
                if not (now and owner) and monotonic() - self._scanned.get(owner, -_SCAN_INTERVAL) < _SCAN_INTERVAL:
                    continue
                found = {one.id: one for one in (self._uploads(owner) if owner else self._in_folder())}
                changed |= found != self._files.get(owner, found)
                self._files[owner], self._scanned[owner] = found, monotonic()
            for owner in [one for one, at in self._scanned.items() if one and monotonic() - at > _FORGET_AFTER]:
                del self._files[owner], self._scanned[owner]
            return changed

    def visible_to(self, visitor: str) -> list[RecordingFile]:
        """Return the files that a visitor may see, as of the last scan."""
        return [*self._files.get("", {}).values(), *self._files.get(visitor, {}).values()]

    def ids(self) -> set[str]:
        """Return the IDs of all files, as of the last scan."""
        return {name for found in list(self._files.values()) for name in found}

    def find(self, name: str, visitor: str) -> RecordingFile | None:
        """Return a file by its ID, if the visitor may see it and it is still inside its folder."""
        found = self._known(name, visitor)
        if found is None:
            self.update(visitor)
            found = self._known(name, visitor)
        return found if found is not None and all(is_inside(found.home, part) for part in found.parts) else None

    def _known(self, name: str, visitor: str) -> RecordingFile | None:
        return self._files.get("", {}).get(name) or self._files.get(visitor, {}).get(name)

    def _in_folder(self) -> Iterator[RecordingFile]:
        candidates = list(islice(scan(self.folder), MAX_FILES + 1))
        self.has_more = len(candidates) > MAX_FILES
        known, self._ours = self._ours, {}
        for one in candidates[:MAX_FILES]:
            key = (one.parts[0], one.stamp)
            self._ours[key] = known[key] if key in known else is_ours(one.parts[0])
            leads_outside = any(part.is_symlink() and not is_inside(self.folder, part) for part in one.parts)
            if not self._ours[key] and not leads_outside:  # linked folders are not scanned
                file_id = workbench_id(one.parts[0].relative_to(self.folder).as_posix())
                yield _recording_file(one, file_id, one.name, self.folder)

    def _uploads(self, visitor: str) -> Iterator[RecordingFile]:
        home = self.uploads_of(visitor)
        mark_workbench_file_used(home)
        found = list(scan(home)) if home.is_dir() else []
        for one in found:
            file_id = uploaded_file_id(visitor, one.parts[0].name)
            yield _recording_file(one, file_id, f"uploads/{one.name}", home, visitor)
        yield from self._without_cfg(visitor, (one.parts[0] for one in found))

    def _without_cfg(self, visitor: str, complete: Iterable[Path]) -> Iterator[RecordingFile]:
        """Data files whose configuration the visitor may still be sending."""
        stems = {path.stem.casefold() for path in complete if path.suffix.casefold() == ".cfg"}
        home = self.uploads_of(visitor)
        with suppress(OSError):
            for path in sorted(home.iterdir()):
                if path.suffix.casefold() in COMPANIONS and path.stem.casefold() not in stems and path.is_file():
                    name = f"uploads/{file_text(path.name)}"
                    file_id = uploaded_file_id(visitor, path.name)
                    yield RecordingFile(file_id, name, (path,), "", 0, home, visitor, "waiting for its .cfg")


def upload_folder_name(visitor: str) -> str:
    """Return the folder name of a visitor; it appears in corrections, so it must not reveal the secret cookie."""
    return workbench_id(f"visitor/{visitor}")


def uploaded_file_id(visitor: str, name: str) -> str:
    """Return the ID of an upload."""
    return workbench_id(f"upload/{visitor}/{name}")


def _recording_file(candidate: Candidate, file_id: str, name: str, home: Path, visitor: str = "") -> RecordingFile:
    parts = candidate.parts
    stamp = scanned_file_stamp(parts) if candidate.stamp else ""
    is_alone = len(parts) == 1 and parts[0].suffix.casefold() == ".cfg"
    problem = "" if stamp else "waiting for its .dat" if is_alone else "empty or unreadable"
    modified = max((int(part.partition(":")[2]) for part in stamp.split()), default=0)
    return RecordingFile(file_id, name, parts, stamp, modified, home, visitor, problem)


def remove_uploaded_file(file: RecordingFile) -> list[str]:
    """Remove an upload with the companions of its ``.cfg``; return the names of the removed files."""
    stem, suffix = file.path.stem.casefold(), file.path.suffix.casefold()
    removed = []
    for path in sorted(file.path.parent.iterdir()):
        is_comtrade = suffix in (".cfg", *COMPANIONS) and path.suffix.casefold() in (".cfg", *COMPANIONS)
        if path == file.path or (is_comtrade and path.stem.casefold() == stem):
            os.unlink(path)  # noqa: PTH108 (a folder of that name stays)
            removed.append(file_text(path.name))
    return removed
