"""Stored analyses: the verdicts of each file as JSON, so that a restarted server shows them at once."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from pqswarm import __version__
from pqswarm._base.files import write_atomically
from pqswarm.app.recordings.files import RecordingFile
from pqswarm.app.workbench import mark_workbench_file_used
from pqswarm.errors import PqswarmError
from pqswarm.identify import EventVerdict, Model, Verdict
from pqswarm.identify.show.lines import json_text
from pqswarm.recordings import Site

_FORMAT = "pqswarm verdicts 2"
_MAX_BYTES = 200_000_000
"""Maximum size of a stored analysis [byte]."""


@dataclass(frozen=True)
class StoredRecordingAnalysis:
    """The verdict on a recording, without time series, or the reason why there is none."""

    source: str
    verdict: Verdict | None = None
    n_channels: int | None = None
    reason: str = ""

    @property
    def events(self) -> tuple[EventVerdict, ...]:
        """The events, including the one of kind ``"none"``."""
        return () if self.verdict is None else self.verdict.events

    @property
    def n_events(self) -> int:
        """Number of events, except the one of kind ``"none"``."""
        return sum(one.event.kind != "none" for one in self.events)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the events as values for strict JSON."""
        found: list[dict[str, Any]] = [] if self.verdict is None else json.loads(json_text(self.verdict.rows()))
        return found


@dataclass(frozen=True)
class FileAnalysis:
    """The analysis of a file: its stamp at that time, the SHA-256 of its content, and its recordings in order."""

    stamp: str
    digest: str
    recordings: tuple[StoredRecordingAnalysis, ...]


class VerdictStore:
    """A folder with the analyses, one JSON file each; damaged files and those of other versions are ignored.

    `find_analyser` returns :func:`analyser_digest`; it is called once, on first use.
    """

    def __init__(self, folder: Path, find_analyser: Callable[[], str]) -> None:
        self.folder, self._find_analyser = folder, find_analyser

    @cached_property
    def analyser(self) -> str:
        """Digest of model, site and version."""
        return self._find_analyser()

    def load(self, file: RecordingFile) -> FileAnalysis | None:
        """Return the analysis of a file, unless the file or the analyser has changed."""
        path = self._path(file)
        try:
            if path.stat().st_size > _MAX_BYTES:
                return None
            values = json.loads(path.read_bytes())
            if values["key"] != self._key(file) or not values["recordings"]:
                return None
            found = FileAnalysis(
                file.stamp, str(values["digest"]), tuple(map(_read_stored_analysis, values["recordings"]))
            )
            mark_workbench_file_used(path)
            return found
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, PqswarmError):
            return None

    def save(self, file: RecordingFile, analysis: FileAnalysis) -> None:
        """Store an analysis; if that fails, it is repeated after a restart."""
        recordings = [
            vars(one) | {"verdict": None if one.verdict is None else one.verdict.as_dict()}
            for one in analysis.recordings
        ]
        content = {"key": self._key(file), "digest": analysis.digest, "recordings": recordings}
        try:
            write_atomically(self._path(file), json_text(content))
        except PqswarmError:
            return

    def remove(self, file: RecordingFile) -> None:
        """Remove the analysis of a file."""
        self._path(file).unlink(missing_ok=True)

    def _path(self, file: RecordingFile) -> Path:
        return self.folder / f"{file.id}.json"

    def _key(self, file: RecordingFile) -> dict[str, str]:
        return {"format": _FORMAT, "name": file.name, "stamp": file.stamp, "analyser": self.analyser}


def _read_stored_analysis(values: dict[str, Any]) -> StoredRecordingAnalysis:
    found = StoredRecordingAnalysis(
        str(values["source"]),
        None if values["verdict"] is None else Verdict.of(values["verdict"]),
        None if values["n_channels"] is None else int(values["n_channels"]),
        str(values["reason"]),
    )
    if (found.verdict is None) != bool(found.reason) or not all(isfinite(one.event.end) for one in found.events):
        raise ValueError
    return found


def analyser_digest(model: Model, site: Site | None) -> str:
    """Return a digest of what a verdict depends on, apart from the file: model, site and version."""
    total = hashlib.sha256(repr((__version__, model.class_names, model.subsets, model.classifier.name)).encode())
    settings = sorted(dict(model.classifier.settings).items())
    total.update(repr((settings, None if site is None else vars(site))).encode())
    for table in model.tables:
        for array in (table.codes, table.labels, table.knots):
            total.update(array.tobytes())
    return total.hexdigest()
