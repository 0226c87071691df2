"""What was found in a file, as plain values that are kept on disk: after a restart all of it is there at once."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm import __version__
from pqswarm._base.checks import is_finite, is_integer
from pqswarm._base.files import write_atomically
from pqswarm.app.recordings.files import RecordingFile
from pqswarm.app.workbench import mark_used
from pqswarm.errors import PqswarmError
from pqswarm.identify.verdict import COLUMNS

if TYPE_CHECKING:
    from pqswarm.identify import Model
    from pqswarm.recordings import Site

__all__ = ["FileFindings", "RecordingFindings", "StoredEvent", "VerdictStore", "analyser_digest"]

_FORMAT = "pqswarm verdicts 2"
_LARGEST = 200_000_000
_DETAILS = {"thresholds": dict, "frequency": float, "references": list, "events": list, "caveats": list, "notes": list}


@dataclass(frozen=True)
class StoredEvent:
    """An event of a recording.

    Attributes
    ----------
    row : dict
        With the keys of :data:`pqswarm.identify.verdict.COLUMNS`.
    start, end : float
        On the waveform [s].
    point : tuple of float or None
        Duration [s] and voltage [%] for tolerance curves.
    severity : tuple of float
        By which the worst comes first.
    tip : str
        What is said of it on a chart.
    channels : tuple of str
        That take part in it.
    """

    row: dict[str, Any]
    start: float
    end: float
    point: tuple[float, float] | None
    severity: tuple[float, float]
    tip: str
    channels: tuple[str, ...]

    @classmethod
    def of(cls, values: Any) -> "StoredEvent":
        """Check what was kept."""
        row = values["row"]
        if set(row) != set(COLUMNS) or not all(
            isinstance(value, str) or value is None or is_finite(value) for value in row.values()
        ):
            raise ValueError
        point, severity = values["point"], tuple(map(_number, values["severity"]))
        if len(severity) != 2 or (point is not None and len(point) != 2):
            raise ValueError
        return cls(
            row,
            _number(values["start"]),
            _number(values["end"]),
            None if point is None else (_number(point[0]), _number(point[1])),
            severity,
            _text(values["tip"]),
            tuple(map(_text, values["channels"])),
        )


@dataclass(frozen=True)
class RecordingFindings:
    """What was found in a recording, or why nothing could be.

    Attributes
    ----------
    source, station : str
        Its name and place in the file, and where it was recorded.
    start : str or None
        Time of its first sample (ISO 8601).
    seconds : float or None
        Its length.
    n_channels : int or None
        All of its channels.
    reason : str
        Why it could not be judged; empty if it was.
    events : tuple of StoredEvent
        In order of time.
    """

    source: str
    station: str = ""
    start: str | None = None
    seconds: float | None = None
    n_channels: int | None = None
    reason: str = ""
    events: tuple[StoredEvent, ...] = ()

    @property
    def n_events(self) -> int:
        """Without the one that says that there are none."""
        return sum(one.row["kind"] != "none" for one in self.events)

    @classmethod
    def of(cls, values: Any) -> "RecordingFindings":
        """Check what was kept."""
        start, seconds, n_channels = values["start"], values["seconds"], values["n_channels"]
        if n_channels is not None and not is_integer(n_channels):
            raise ValueError
        return cls(
            _text(values["source"]),
            _text(values["station"]),
            None if start is None else _text(start),
            None if seconds is None else _number(seconds),
            n_channels,
            _text(values["reason"]),
            tuple(map(StoredEvent.of, values["events"])),
        )


@dataclass(frozen=True)
class FileFindings:
    """What was found in a file.

    Attributes
    ----------
    stamp : str
        Of the file when it was judged.
    digest : str
        SHA-256 of its content.
    recordings : tuple of RecordingFindings
        In order.
    details : tuple of dict or None
        Everything about each of them, if it could not be written.
    """

    stamp: str
    digest: str
    recordings: tuple[RecordingFindings, ...]
    details: tuple[dict[str, Any] | None, ...] | None = field(default=None, compare=False)


class VerdictStore:
    """A folder with what was found in files, a file of JSON for each; what is damaged there is not there.

    Parameters
    ----------
    folder : Path
        Where.
    find_judge : callable
        Returns a digest of everything that a verdict depends on beside the file; called once, when it is needed.
    """

    def __init__(self, folder: Path, find_judge: Callable[[], str]) -> None:
        self.folder, self._find_judge = folder, find_judge

    @cached_property
    def judge(self) -> str:
        """Digest of everything that a verdict depends on beside the file."""
        return self._find_judge()

    def load(self, file: RecordingFile) -> FileFindings | None:
        """Return what was found in a file, if it has not changed since, nor has the judge."""
        content = self._read(file)
        return None if content is None else content[0]

    def details(self, file: RecordingFile, number: int) -> dict[str, Any] | None:
        """Return everything about one recording of a file."""
        content = self._read(file)
        return None if content is None or number >= len(content[1]) else content[1][number]

    def save(
        self, file: RecordingFile, findings: FileFindings, details: "tuple[dict[str, Any] | None, ...]"
    ) -> FileFindings:
        """Write what was found; where that is not possible, it is kept in memory."""
        content = {
            "key": self._key(file),
            "digest": findings.digest,
            "recordings": [_plain(one) for one in findings.recordings],
            "details": details,
        }
        try:
            write_atomically(self._path(file), json.dumps(content, allow_nan=False, separators=(",", ":")))
        except (PqswarmError, ValueError):
            return FileFindings(findings.stamp, findings.digest, findings.recordings, details)
        return findings

    def forget(self, file: RecordingFile) -> None:
        """Remove what was found in a file."""
        self._path(file).unlink(missing_ok=True)

    def _path(self, file: RecordingFile) -> Path:
        return self.folder / f"{file.id}.json"

    def _key(self, file: RecordingFile) -> dict[str, str]:
        return {"format": _FORMAT, "name": file.name, "stamp": file.stamp, "judge": self.judge}

    def _read(self, file: RecordingFile) -> tuple[FileFindings, list[dict[str, Any] | None]] | None:
        path = self._path(file)
        try:
            if path.stat().st_size > _LARGEST:
                return None
            values = json.loads(path.read_bytes())
            if values["key"] != self._key(file):
                return None
            recordings = tuple(map(RecordingFindings.of, values["recordings"]))
            details = values["details"]
            if not recordings or len(details) != len(recordings):
                return None
            for one, found in zip(details, recordings, strict=True):
                _check_details(one, found)
            mark_used(path)
            return FileFindings(file.stamp, _text(values["digest"]), recordings), details
        except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return None


def _check_details(values: Any, found: RecordingFindings) -> None:
    if values is None:
        if not found.reason:
            raise ValueError
        return
    if any(not isinstance(values[name], kind) for name, kind in _DETAILS.items()):
        raise ValueError
    if len(values["events"]) != len(found.events) or not all(isinstance(one, dict) for one in values["events"]):
        raise ValueError
    for one in values["events"]:
        tuple(map(_text, one["possible"]))


def _plain(found: RecordingFindings) -> dict[str, Any]:
    return {**vars(found), "events": [vars(one) for one in found.events]}


def _number(value: Any) -> float:
    if not is_finite(value):
        raise ValueError
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def analyser_digest(model: "Model", site: "Site | None") -> str:
    """Return a digest of everything that a verdict depends on beside the file: model, site and version."""
    total = hashlib.sha256(repr((__version__, model.class_names, model.subsets, model.classifier.name)).encode())
    settings = sorted(dict(model.classifier.settings).items())
    total.update(repr((settings, None if site is None else vars(site))).encode())
    for table in model.tables:
        for array in (table.codes, table.labels, table.knots):
            total.update(array.tobytes())
    return total.hexdigest()
