"""Which recordings there are: those of the folder, and what a visitor has uploaded."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from time import monotonic

from pqswarm._base.text import file_text
from pqswarm.app.recordings.old_state import touch
from pqswarm.app.workbench import identifier, inside
from pqswarm.identify.folder.scan import Candidate, is_ours, scan, stamp_of

__all__ = ["MOST_FILES", "PARTS", "RecordingFile", "RecordingFiles", "remove_parts", "upload_folder_name", "upload_id"]

MOST_FILES = 10_000
"""Files of a folder that are listed."""
PARTS = (".dat", ".hdr", ".inf")
"""Files of a COMTRADE recording that stand beside its ``.cfg``."""
_FORGOTTEN = 3600.0
"""Seconds after which the uploads of a visitor who asks for nothing are held in memory no longer."""
_AGAIN = 1.0
"""Seconds after which a folder is looked at again, if somebody asks."""


@dataclass(frozen=True)
class RecordingFile:
    """A file of recordings.

    Attributes
    ----------
    id : str
        The same whenever the server is started.
    name : str
        Path from the folder, as text; that of an upload begins with ``uploads/``.
    path : Path
        Where it lies; never shown.
    stamp : str
        Sizes and times of change of its parts; empty as long as it is not complete.
    modified : int
        Time of its last change [ns].
    visitor : str
        Whose upload it is; empty for the folder.
    lack : str
        Why it waits.
    """

    id: str
    name: str
    path: Path
    stamp: str
    modified: int
    visitor: str = ""
    lack: str = ""

    def is_seen_by(self, visitor: str) -> bool:
        """Whether a visitor may know of it."""
        return self.visitor in ("", visitor)


class RecordingFiles:
    """Finds the files of a folder and of visitors; looks again when somebody asks and a moment has passed.

    Parameters
    ----------
    folder : Path
        Of recordings. Links that lead out of it are left out.
    uploads : Path
        Has a folder for each visitor.
    """

    def __init__(self, folder: Path, uploads: Path) -> None:
        self.folder, self.uploads = folder, uploads
        self.has_more = False
        self._files: dict[str, dict[str, RecordingFile]] = {}
        self._looked: dict[str, float] = {}
        self._ours: dict[tuple[Path, str], bool] = {}
        self._looking = Lock()

    def uploads_of(self, visitor: str) -> Path:
        """Return where the uploads of a visitor are."""
        return self.uploads / upload_folder_name(visitor)

    def look(self, visitor: str, *, now: bool = False) -> bool:
        """Look at the folder and the uploads of a visitor, `now` or if it is time; say whether anything changed.

        The folder, which may be large, is never looked at more often than once a second or so.
        """
        with self._looking:
            changed = False
            for owner in ("", visitor):
                if not (now and owner) and monotonic() - self._looked.get(owner, -_AGAIN) < _AGAIN:
                    continue
                found = {one.id: one for one in (self._uploaded(owner) if owner else self._in_folder())}
                changed |= found != self._files.get(owner, found)
                self._files[owner], self._looked[owner] = found, monotonic()
            for owner in [one for one, at in self._looked.items() if one and monotonic() - at > _FORGOTTEN]:
                del self._files[owner], self._looked[owner]
            return changed

    def seen_by(self, visitor: str) -> list[RecordingFile]:
        """Return what a visitor sees, as it was found last."""
        return [*self._files.get("", {}).values(), *self._files.get(visitor, {}).values()]

    def ids(self) -> set[str]:
        """Return the ids of all that was found last."""
        return {name for found in list(self._files.values()) for name in found}

    def find(self, name: str, visitor: str) -> RecordingFile | None:
        """Return a file by its id, if the visitor may know of it and it lies where it should."""
        found = self._known(name, visitor)
        if found is None:
            self.look(visitor)
            found = self._known(name, visitor)
        home = self.folder if found is None or not found.visitor else self.uploads_of(found.visitor)
        return found if found is not None and inside(home, found.path) else None

    def _known(self, name: str, visitor: str) -> RecordingFile | None:
        return self._files.get("", {}).get(name) or self._files.get(visitor, {}).get(name)

    def _in_folder(self) -> Iterator[RecordingFile]:
        candidates = list(islice(scan(self.folder), MOST_FILES + 1))
        self.has_more = len(candidates) > MOST_FILES
        known, self._ours = self._ours, {}
        for one in candidates[:MOST_FILES]:
            key = (one.parts[0], one.stamp)
            self._ours[key] = known[key] if key in known else is_ours(one.parts[0])
            if not self._ours[key] and not self._leads_out(one):
                yield _listed(one, identifier(one.parts[0].relative_to(self.folder).as_posix()), one.name)

    def _leads_out(self, candidate: Candidate) -> bool:
        """Whether a part is a link that leads out of the folder; folders that are links are not searched."""
        return any(part.is_symlink() and not inside(self.folder, part) for part in candidate.parts)

    def _uploaded(self, visitor: str) -> Iterator[RecordingFile]:
        home = self.uploads_of(visitor)
        touch(home)
        found = list(scan(home)) if home.is_dir() else []
        for one in found:
            yield _listed(one, upload_id(visitor, one.parts[0].name), f"uploads/{one.name}", visitor)
        yield from self._lone_parts(visitor, (one.parts[0] for one in found))

    def _lone_parts(self, visitor: str, complete: Iterable[Path]) -> Iterator[RecordingFile]:
        """Data without its configuration, which a visitor may still be sending."""
        stems = {path.stem.casefold() for path in complete if path.suffix.casefold() == ".cfg"}
        home = self.uploads_of(visitor)
        with suppress(OSError):
            for path in sorted(home.iterdir()):
                if path.suffix.casefold() in PARTS and path.stem.casefold() not in stems and path.is_file():
                    name = file_text(path.name)
                    yield RecordingFile(
                        upload_id(visitor, path.name), f"uploads/{name}", path, "", 0, visitor, "waiting for its .cfg"
                    )


def upload_folder_name(visitor: str) -> str:
    """Return the name of the folder of a visitor: it is written into corrections, the visitor's cookie is a secret."""
    return identifier(f"visitor/{visitor}")


def upload_id(visitor: str, name: str) -> str:
    """Return the id of an upload."""
    return identifier(f"upload/{visitor}/{name}")


def _listed(candidate: Candidate, name: str, shown: str, visitor: str = "") -> RecordingFile:
    path = candidate.parts[0]
    stamp = stamp_of(candidate.parts) if candidate.stamp else ""
    alone = len(candidate.parts) == 1 and path.suffix.casefold() == ".cfg"
    lack = "" if stamp else "waiting for its .dat" if alone else "it is empty, or cannot be looked at"
    modified = max((int(part.partition(":")[2]) for part in stamp.split()), default=0)
    return RecordingFile(name, shown, path, stamp, modified, visitor, lack)


def remove_parts(file: RecordingFile) -> list[str]:
    """Remove an upload with all that stands beside its ``.cfg``; return the names of what was removed."""
    stem, suffix = file.path.stem.casefold(), file.path.suffix.casefold()
    gone = []
    for path in sorted(file.path.parent.iterdir()):
        beside = suffix in (".cfg", *PARTS) and path.suffix.casefold() in (".cfg", *PARTS)
        if path == file.path or (beside and path.stem.casefold() == stem):
            os.unlink(path)  # noqa: PTH108 (a folder of that name stays)
            gone.append(file_text(path.name))
    return gone
