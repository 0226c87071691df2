"""Corrections of verdicts: a file of JSON lines next to the recordings, which is only appended to."""

import json
import os
import warnings
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from errno import EFBIG, EINVAL, EISDIR
from pathlib import Path

from filelock import FileLock, Timeout

from pqswarm._base.files import read_regular, sync_folder
from pqswarm._base.text import file_text
from pqswarm.errors import FileFormatError, PqswarmError, unknown_name
from pqswarm.events.broad import BROAD_CLASSES
from pqswarm.identify.folder.scan import find_candidate
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.training.correction_checks import find_correction_problem
from pqswarm.identify.verdict import EventVerdict, Verdict

_MAX_LINE = 512 * 1024
"""Bytes of a line."""
_MAX_LINES = 100_000
"""Lines of a file."""
_MAX_BYTES = 400_000_000
"""Bytes of a file."""
_BEGIN = b'{"path": "'  # of a line
_WAIT = 30.0
"""Maximum time to wait for another process that writes [s]."""


@dataclass(frozen=True)
class Correction:
    """The class of an event according to a person; :meth:`of` makes one.

    Attributes
    ----------
    path : str
        The file of the recording; in a file of corrections relative to its folder where possible, with ``/``.
    digest : str
        SHA-256 of its content.
    source : str
        Which recording of the file.
    found : EventVerdict
        The event that was corrected, with the verdict on it.
    label : str
        Its class; empty to withdraw an earlier correction.
    by : str
        Author.
    at : str
        Time of the correction (UTC, ISO 8601).
    note : str
        Reason.
    """

    path: str
    digest: str
    source: str
    found: EventVerdict
    label: str
    by: str
    at: str
    note: str = ""

    def __post_init__(self) -> None:
        problem = find_correction_problem(vars(self))
        if problem:
            raise PqswarmError(f"a correction's {problem}.")

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        event: EventVerdict,
        label: str,
        by: str,
        note: str = "",
        *,
        path: str | Path | None = None,
        digest: str | None = None,
    ) -> "Correction":
        """Correct the class of an event.

        Parameters
        ----------
        verdict : Verdict
            On the recording, by :func:`pqswarm.identify.identify_file`.
        event : EventVerdict
            One of its events.
        label : str
            The class of the event; empty to withdraw an earlier correction.
        by, note : str
            Author and reason.
        path : str or Path, optional
            The file, if it differs from that of the verdict, which holds names that are not UTF-8 as text only.
        digest : str, optional
            SHA-256 of the file, if known; by default the file is read.

        Returns
        -------
        Correction
            For :meth:`CorrectionFile.add`.
        """
        own = verdict.path if path is None else path
        if digest is None:
            try:
                digest = find_candidate(own).digest()
            except OSError as error:
                raise PqswarmError(f"cannot read {file_text(own)}: {error.strerror or error}.") from error
        return cls(
            path=os.path.abspath(own),  # noqa: PTH100 (links stay what they are)
            digest=digest,
            source=file_text(verdict.source),
            found=EventVerdict.of(json.loads(json_text(event.as_dict()))),  # as it is read back
            label=label,
            by=by,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            note=note,
        )

    @property
    def place(self) -> str:
        """Which recording of its file, whatever the name of the file."""
        return self.source.removeprefix(file_text(Path(self.path).name))

    @property
    def key(self) -> tuple[str, str, str, float, tuple[str, ...]]:
        """Identifies the event, whatever the path; see :func:`event_key`."""
        return event_key(self.digest, self.place, self.found)

    def __str__(self) -> str:
        """The event as text."""
        event = self.found.event
        where = f"{file_text(self.path)}{self.place}"
        return f"{where}, {event.kind} at {event.start:.3f} s on {', '.join(map(file_text, event.channels))}"


def event_key(digest: str, place: str, found: EventVerdict) -> tuple[str, str, str, float, tuple[str, ...]]:
    """Return what identifies an event: SHA-256 of its file, place in the file, kind, start [s] and channels."""
    event = found.event
    return digest, place, event.kind, round(event.start, 6), tuple(map(file_text, event.channels))


class CorrectionFile:
    """The corrections of the recordings of a folder; several processes may append at once.

    A correction is written under a lock, completely, and is on disk when :meth:`add` returns.

    Parameters
    ----------
    path : str or Path
        The file, such as that of :func:`corrections_path`; the first correction creates it.
    classes : collection of str
        Allowed labels: the classes that a model can be trained for.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CorrectionFile(f"{folder}/june.corrections.jsonl").current()
    ()
    """

    def __init__(self, path: str | Path, classes: Collection[str] = BROAD_CLASSES) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 (links stay what they are)
        self.classes = tuple(classes)

    def add(self, correction: Correction) -> None:
        """Append a correction.

        Parameters
        ----------
        correction : Correction
            With one of the classes as label, or none.
        """
        if correction.label and correction.label not in self.classes:
            raise unknown_name("class", correction.label, self.classes)
        line = _correction_to_line(correction, self.path.parent)
        if len(line) > _MAX_LINE:
            raise PqswarmError(f"a correction may have {_MAX_LINE} bytes, not {len(line)}: its names are too long.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                self._append(line)
        except Timeout:
            raise PqswarmError(
                f"another process has been writing {file_text(self.path)} for {_WAIT:g} s: end it, then try again."
            ) from None
        except OSError as error:
            raise PqswarmError(f"cannot write {file_text(self.path)}: {error.strerror or error}.") from error

    def history(self) -> tuple[Correction, ...]:
        """Return all corrections in the order in which they were added.

        Returns
        -------
        tuple of Correction
            Empty if there is no file yet.
        """
        content = self._read()
        if not content.endswith(b"\n") and content and self._guard.exists():  # perhaps being written
            with suppress(Timeout, OSError), self._lock():
                content = self._read()
        found, torn = self._parse(content)
        if torn:
            warnings.warn(
                f"{file_text(self.path)}: its last line is cut off, as by a full disk, and is ignored.", stacklevel=2
            )
        return found

    def current(self) -> tuple[Correction, ...]:
        """Return the last correction of each event, without withdrawn ones.

        Returns
        -------
        tuple of Correction
            In order of the events.
        """
        return merge_corrections(self.history())

    @property
    def _guard(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")

    def _lock(self) -> FileLock:
        return FileLock(self._guard, timeout=_WAIT, fallback_to_soft=False)

    def _read(self) -> bytes:
        try:
            return read_regular(self.path, _MAX_BYTES)
        except FileNotFoundError:
            return b""
        except OSError as error:
            name, why = file_text(self.path), "is too large for" if error.errno == EFBIG else "is not"
            if error.errno in (EFBIG, EINVAL, EISDIR):
                raise FileFormatError(f"{name} {why} a file of corrections: give another name.") from error
            raise PqswarmError(f"cannot read {name}: {error.strerror or error}.") from error

    def _parse(self, content: bytes) -> tuple[tuple[Correction, ...], bool]:
        """The corrections in a file, and whether its last line is cut off."""
        if content.count(b"\n") > _MAX_LINES:
            raise FileFormatError(
                f"{file_text(self.path)} has more than {_MAX_LINES} lines: move old ones to another file."
            )
        found = []
        *lines, last = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                if line.strip():
                    found.append(_correction_from_line(line, self.path.parent))
            except ValueError as error:
                raise self._refused(number, error) from None
        try:
            return (*found, *([_correction_from_line(last, self.path.parent)] if last.strip() else [])), False
        except ValueError as error:
            if last.strip(b"\0") and not (last.startswith(_BEGIN) or _BEGIN.startswith(last)):  # another format
                raise self._refused(len(lines) + 1, error) from None
            return tuple(found), True

    def _refused(self, number: int, error: ValueError) -> FileFormatError:
        where = f"{file_text(self.path)}, line {number}"
        return FileFormatError(f"{where}: {file_text(str(error))} Fix or delete this line.")

    def _append(self, line: bytes) -> None:
        """Append a line, or nothing; a torn last line is overwritten."""
        if self.path.is_symlink():  # it may lead anywhere
            raise PqswarmError(f"{file_text(self.path)} is a link: give the name of the file itself.")
        content = self._read()
        found, torn = self._parse(content)
        if len(found) >= _MAX_LINES:
            raise PqswarmError(f"{file_text(self.path)} has {_MAX_LINES} corrections: move old ones to another file.")
        keep = content.rfind(b"\n") + 1 if torn else len(content)
        if content[:keep] and not content[:keep].endswith(b"\n"):
            line = b"\n" + line
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            if torn:
                os.ftruncate(file, keep)
            os.lseek(file, keep, os.SEEK_SET)
            try:
                if os.write(file, line) < len(line):
                    raise OSError("the disk is full")
                os.fsync(file)
            except OSError:
                os.ftruncate(file, keep)
                raise
        finally:
            os.close(file)
        if not content:
            sync_folder(self.path.parent)


def corrections_path(folder: str | Path) -> Path:
    """Return the file of corrections of a folder of recordings: next to it, never inside.

    Parameters
    ----------
    folder : str or Path
        Folder of recordings.

    Returns
    -------
    Path
        Absolute.

    Examples
    --------
    >>> corrections_path("/data/june").name
    'june.corrections.jsonl'
    """
    whole = Path(os.path.abspath(folder))  # noqa: PTH100 (links stay what they are)
    if not whole.name:
        raise PqswarmError(f"nothing can be next to {whole}: name the file of corrections.")
    return whole.with_name(f"{whole.name}.corrections.jsonl")


def load_corrections(path: str | Path) -> tuple[Correction, ...]:
    """Read the corrections in force: the last one of each event, without withdrawn ones.

    Parameters
    ----------
    path : str or Path
        An existing file.

    Returns
    -------
    tuple of Correction
        With absolute paths, in order of the events.

    Raises
    ------
    FileFormatError
        If a line is damaged. A last line that is cut off is ignored with a warning.
    """
    if not Path(path).exists():
        raise PqswarmError(f"the file of corrections {file_text(path)} does not exist.")
    return CorrectionFile(path).current()


def merge_corrections(corrections: Iterable[Correction]) -> tuple[Correction, ...]:
    """Return the last correction of each event, without withdrawn ones, in order of the events."""
    last = {one.key: one for one in corrections}
    return tuple(last[key] for key in sorted(last) if last[key].label)


def _correction_to_line(correction: Correction, folder: Path) -> bytes:
    """A line of the file in ASCII, readable with any encoding."""
    whole = Path(os.path.abspath(folder / correction.path))  # noqa: PTH100
    path = whole.relative_to(folder).as_posix() if whole.is_relative_to(folder) else str(whole)
    values = {**vars(correction), "path": path, "found": correction.found.as_dict()}
    return json.dumps(values, allow_nan=False).encode("ascii") + b"\n"


def _correction_from_line(line: bytes, folder: Path) -> Correction:
    if len(line) > _MAX_LINE:
        raise ValueError(f"it is longer than {_MAX_LINE} bytes.")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("it is not a correction in JSON.") from None
    names = {field.name for field in fields(Correction)}
    if not isinstance(values, dict) or set(values) != names:
        raise ValueError("it is not a correction of this version of pqswarm.")
    try:
        found = EventVerdict.of(values["found"])
    except PqswarmError as error:
        raise ValueError(f"its event is {error}") from None
    problem = find_correction_problem(values)
    if problem:
        raise ValueError(f"its {problem}.")
    path = os.path.abspath(folder / values["path"])  # noqa: PTH100
    return Correction(**values | {"path": path, "found": found})
