"""Corrections in force: those of the folder for everyone, those of an upload for its visitor."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pqswarm.errors import PqswarmError
from pqswarm.identify.training.corrections import Correction, CorrectionFile, merge_corrections

CorrectionsByOwner = Mapping[str, Mapping[tuple[Any, ...], Correction]]
"""Corrections by event, by owner: ``""`` for the folder, otherwise the name of an upload folder."""


class KnownCorrections:
    """The corrections of a file, of the folder and of uploads, reread when it changes; thread-safe.

    A correction of an upload never replaces one of the folder, even if the contents are the same. `uploads` has a
    folder for each visitor.
    """

    def __init__(self, file: CorrectionFile, uploads: Path) -> None:
        self.file = file
        self._uploads = tuple({uploads, uploads.resolve()})
        self._known: tuple[str, CorrectionsByOwner] = ("", {})

    def read(self) -> CorrectionsByOwner:
        """Return the last correction of each event, except withdrawn ones."""
        try:
            state = self.file.path.stat()
            stamp = f"{state.st_size}:{state.st_mtime_ns}"
        except OSError:
            stamp = "none"
        known = self._known
        if stamp != known[0]:
            known = self._known = (stamp, self._merge(self.file.history()))
        return known[1]

    def read_or_none(self) -> CorrectionsByOwner:
        """Return the corrections, or none if the file is damaged."""
        try:
            return self.read()
        except PqswarmError:
            return {}

    def visible_to(self, owner: str) -> list[Correction]:
        """Return the corrections of the folder and of one visitor's uploads."""
        known = self.read()
        return [one for name in ("", owner) for one in known.get(name, {}).values()]

    def owner_of(self, path: Path) -> str:
        """Return the upload folder that a file belongs to; empty for files of the folder."""
        for uploads in self._uploads:
            if path.is_relative_to(uploads):
                return path.relative_to(uploads).parts[0]
        return ""

    def _merge(self, history: Iterable[Correction]) -> CorrectionsByOwner:
        by_owner: dict[str, list[Correction]] = defaultdict(list)
        for one in history:
            by_owner[self.owner_of(Path(one.path))].append(one)
        return {owner: {one.key: one for one in merge_corrections(own)} for owner, own in by_owner.items()}
