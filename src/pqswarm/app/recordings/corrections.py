"""Corrections that hold: those of the folder for everybody, those of an upload for the visitor who sent it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pqswarm.errors import PqswarmError
from pqswarm.identify.training.corrections import Correction, CorrectionFile, merge_corrections

__all__ = ["CorrectionsByOwner", "KnownCorrections"]

CorrectionsByOwner = Mapping[str, Mapping[tuple[Any, ...], Correction]]
"""Corrections by their events, by whose they are: ``""`` for the folder, else the name of a folder of uploads."""


class KnownCorrections:
    """The corrections of a file, read again when it has changed; for any thread.

    What is said of an upload never replaces what is said of the folder, even if the contents are the same.

    Parameters
    ----------
    file : CorrectionFile
        With the corrections of the folder and of uploads.
    uploads : Path
        Has a folder for each visitor.
    """

    def __init__(self, file: CorrectionFile, uploads: Path) -> None:
        self.file = file
        self._uploads = tuple({uploads, uploads.resolve()})
        self._known: tuple[str, CorrectionsByOwner] = ("", {})

    def read(self) -> CorrectionsByOwner:
        """Return the last correction of each event, without those that were withdrawn."""
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
        """Return them, or none if the file is damaged."""
        try:
            return self.read()
        except PqswarmError:
            return {}

    def seen_by(self, owner: str) -> list[Correction]:
        """Return those of the folder, and of the uploads of one visitor."""
        known = self.read()
        return [one for name in ("", owner) for one in known.get(name, {}).values()]

    def owner_of(self, path: Path) -> str:
        """Return whose a file is, the name of a folder of uploads; empty for the folder's own."""
        for uploads in self._uploads:
            if path.is_relative_to(uploads):
                return path.relative_to(uploads).parts[0]
        return ""

    def _merge(self, history: Iterable[Correction]) -> CorrectionsByOwner:
        by_owner: dict[str, list[Correction]] = defaultdict(list)
        for one in history:
            by_owner[self.owner_of(Path(one.path))].append(one)
        return {owner: {one.event: one for one in merge_corrections(own)} for owner, own in by_owner.items()}
