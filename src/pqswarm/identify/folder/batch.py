"""Analyze many files: find the recordings among them; one that fails does not stop the others."""

import hashlib
import os
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from pqswarm._base.files import open_regular
from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.classify import identify
from pqswarm.identify.model import Model
from pqswarm.measure import Thresholds
from pqswarm.recordings import RecordingSource, Site, open_recordings
from pqswarm.recordings.comtrade import count_missing_comtrade_samples
from pqswarm.recordings.files import COMPANIONS, find_partner, is_document, sort_partners
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
        """Why it is not analyzed yet."""
        if self.stamp:
            return "its .dat is not complete" if self.is_incomplete else "it still changes"
        alone = len(self.parts) == 1 and self.parts[0].suffix.casefold() == ".cfg"
        return "its .dat is missing" if alone else "it is empty or cannot be accessed"

    @property
    def is_incomplete(self) -> bool:
        """Whether its ``.dat`` has fewer samples than its ``.cfg`` says, and has changed in the last five minutes.

        A time far in the future is that of another clock: nothing is known of when such a file changed.
        """
        return (
            len(self.parts) == 2
            and abs(time.time_ns() - max(int(one.partition(":")[2]) for one in self.stamp.split())) <= _DONE
            and count_missing_comtrade_samples(self.parts[0]) > 0
        )

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
            if _is_batch_entry_kind(entry, folder=True):
                waiting.append(Path(entry.path))
            elif Path(entry.name).suffix.casefold() in suffixes and _is_batch_entry_kind(entry, folder=False):
                yield batch_candidate_of(folder, entry, by_name[entry.name.casefold().removesuffix(".cfg") + ".dat"])


def batch_candidate_of(
    folder: Path, entry: "os.DirEntry[str] | Path", beside: "Mapping[str, os.DirEntry[str] | Path]"
) -> Candidate:
    """Return the recording of a file in a folder; `beside` holds the files that may be its ``.dat``, by name."""
    parts = [entry]
    is_cfg = entry.name.casefold().endswith(".cfg")
    if is_cfg:
        ordered = (beside[name] for name in sort_partners(entry.name, ".dat", beside))
        parts += [one for one in ordered if _is_batch_entry_kind(one, folder=False)][:1]
    paths = tuple(Path(os.fspath(part)) for part in parts)
    stamp = "" if is_cfg and len(parts) < 2 else batch_file_stamp(parts)
    return Candidate(file_text(paths[0].relative_to(folder).as_posix()), paths, stamp)


def find_batch_candidate(path: str | Path) -> Candidate:
    """Return the recording of a file, which must exist."""
    whole = Path(path)
    data = find_partner(whole, ".dat") if whole.suffix.casefold() == ".cfg" else None
    parts = (whole,) if data is None else (whole, data)
    if not all(part.is_file() for part in parts):  # a pipe would block
        raise PqswarmError(f"{file_text(path)} is not there, or is not a regular file.")
    return Candidate(file_text(whole.name), parts, batch_file_stamp(parts))


def batch_file_stamp(parts: "Sequence[os.DirEntry[str] | Path]") -> str:
    """Return sizes and modification times; empty if a part is missing or empty."""
    try:
        found = [part.stat() for part in parts]
    except OSError:
        return ""
    return " ".join(f"{one.st_size}:{one.st_mtime_ns}" for one in found) if all(one.st_size for one in found) else ""


def _is_batch_entry_kind(entry: "os.DirEntry[str] | Path", *, folder: bool) -> bool:
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


@dataclass(frozen=True)
class Failure:
    """Why a file or recording has no analysis.

    Attributes
    ----------
    path : str
        The file, as given.
    source : str
        The recording in it; empty if the whole file could not be read.
    reason : str
        One sentence.
    retryable : bool
        Whether another attempt may succeed: the file could not be reached, or memory ran out.
    """

    path: str
    source: str
    reason: str
    retryable: bool = field(default=False, compare=False)

    @property
    def place(self) -> str:
        """Place of the recording in the file, to follow the name of the file; empty if it is the whole file."""
        name = Path(self.path).name
        begins_so = not self.source or self.source.startswith(name)
        return self.source.removeprefix(name) if begins_so else f", {self.source}"

    def __str__(self) -> str:
        """The file, the place in it and the reason."""
        return f"{self.path}{self.place}: {self.reason}"

    def as_dict(self) -> dict[str, str]:
        """Return the attributes."""
        return {"path": self.path, "source": self.source, "reason": self.reason}


def find_recordings(files: Iterable[str | Path]) -> tuple[list[Path], list[Failure]]:
    """Find the recordings among files and in folders.

    Parameters
    ----------
    files : iterable of str or Path
        Files are taken as they are; folders are searched recursively for the suffixes of all formats.

    Returns
    -------
    list of Path
        In the order given, those of a folder by name, each once; a ``.dat`` is listed as its ``.cfg``. Tables written
        by pqswarm are left out of folders.
    list of Failure
        Folders without recordings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.cfg", "b.dat", "a.csv", "notes.md"):
    ...         _ = Path(folder, name).write_text("")
    ...     [path.name for path in find_recordings([folder, f"{folder}/b.dat"])[0]]
    ['a.csv', 'b.cfg']
    """
    found: dict[str, Path] = {}
    failures = []
    for path in files:
        if not str(path):
            failures.append(Failure("''", "", "is not the name of a file or folder."))
            continue
        given = Path(path)
        inside = [given]
        if os.path.isdir(given):  # noqa: PTH112 (it takes names of any length)
            inside = sorted(one.parts[0] for one in scan(given) if not is_ours(one.parts[0]))
            if not inside:
                suffixes = ", ".join(sorted(list_suffixes()))
                failures.append(Failure(file_text(given), "", f"contains no recordings ({suffixes})."))
        for one in inside:
            whole = (find_partner(one, ".cfg") if one.suffix.lower() in COMPANIONS else None) or one
            found.setdefault(os.path.abspath(whole), whole)  # noqa: PTH100 (links stay what they are)
    return list(found.values()), failures


def load_site(path: str | Path) -> Site:
    """Read a site file and check its thresholds.

    Parameters
    ----------
    path : str or Path
        TOML file.

    Returns
    -------
    Site
        See :class:`pqswarm.recordings.Site`.
    """
    return check_site(Site.load(path))


def check_site(site: Site) -> Site:
    """Return a site, or raise an error if its thresholds cannot be used."""
    try:
        Thresholds.of(site.thresholds)
    except PqswarmError as error:
        raise PqswarmError(f"{site.source}: thresholds: {error}") from None
    return site


def identify_file(
    path: str | Path,
    *,
    model: Model | str | Path | None = None,
    site: Site | None = None,
    reading: Mapping[str, Any] | None = None,
    channels: Sequence[str] | None = None,
    reference: str | float | None = None,
    nominal_voltage: float | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    after: Callable[[RecordingSource, Analysis], object] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> "Iterator[Analysis | Failure]":
    """Analyze each recording of a file.

    Parameters
    ----------
    path : str or Path
        The file.
    model : Model, str or Path, default=None
        A model or its file; by default the bundled model.
    site : Site, default=None
        Description of the meter. Arguments given here take precedence.
    reading : mapping, default=None
        Options of :func:`pqswarm.recordings.open_recordings`.
    channels, reference, nominal_voltage, thresholds
        As for :func:`pqswarm.identify.identify`.
    after : callable, default=None
        Called with each recording and its analysis, for example to plot them.
    progress : callable, default=None
        Called with the samples done and in total, as by :func:`pqswarm.measure.characterize`. Its exceptions are not
        caught: they end the analysis.

    Returns
    -------
    iterator of Analysis or Failure
        One for each recording; any error but an interruption by the user becomes a failure.

    Examples
    --------
    >>> [str(found) for found in identify_file("nowhere.csv")]
    ['nowhere.csv: does not exist.']
    """
    try:
        sources = open_for_analysis(path, site, reading)
    except Exception as error:  # noqa: BLE001 (any error is this file's failure)
        yield recording_failure(error, path, "")
        return
    stops: list[Exception] = []

    def report(done: int, total: int) -> None:
        try:
            if progress is not None:
                progress(done, total)
        except Exception as error:
            stops.append(error)
            raise

    for source in sources:
        analysis = None
        try:
            seen = source if site is None else site.apply(source)
            levels = site.thresholds if site is not None and thresholds is None else thresholds
            known: Any = (
                nominal_voltage if nominal_voltage is not None or site is None else _batch_nominal_voltages(site, seen)
            )
            chosen = reference if reference is not None else site.reference if site is not None else None
            analysis = identify(
                seen,
                model,
                channels,
                reference="auto" if chosen is None else chosen,
                nominal_voltage=known,
                thresholds=levels,
                progress=report,
            )
            analysis = replace(analysis, path=file_text(path))
            if after is not None:
                after(seen, analysis)
        except Exception as error:
            if stops:
                raise
            failure = recording_failure(error, path, source.source)
            if analysis is not None:  # the analysis is valid: `after` failed
                yield analysis
            yield failure
        else:
            yield analysis


def open_for_analysis(
    path: str | Path, site: Site | None, reading: Mapping[str, Any] | None
) -> tuple[RecordingSource, ...]:
    """Open the recordings of a file as :func:`identify_file` does, with the settings of the site."""
    options = dict(reading or {})
    if site is not None:
        if not options.get("nominal_frequency") and site.nominal_frequency is not None:
            options["nominal_frequency"] = site.nominal_frequency
        if "units" not in options and (site.unit or len(site.units)):
            options["units"] = site.units
    return open_recordings(path, **options)


def _batch_nominal_voltages(site: Site, source: RecordingSource) -> float | dict[str, float] | None:
    """Nominal voltage of the channels, by name if they differ [V]."""
    known = {channel.name: site.nominal_voltage(channel) for channel in source.channels if channel.is_voltage}
    given = {name: volts for name, volts in known.items() if volts is not None}
    if len(given) == len(known) and len(set(given.values())) == 1:
        return next(iter(given.values()))
    return given or None


def recording_failure(error: Exception, path: str | Path, source: str) -> Failure:
    """Turn an error into the failure of a file."""
    reason = " ".join(str(error).split())
    for name in (file_text(path), str(path), source, Path(path).name):
        if name and reason.startswith(name):
            reason = reason.removeprefix(name).lstrip(" :")
            break
    if isinstance(error, MemoryError):
        reason = "needs more memory than is available."
    elif not isinstance(error, PqswarmError):
        reason = f"could not be analyzed: {type(error).__name__}{': ' if reason else ''}{reason.rstrip('.')}."
    return Failure(file_text(path), file_text(source), file_text(reason), _is_batch_error_retryable(error))


def _is_batch_error_retryable(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is one of disk, network or memory."""
    return error is not None and (
        isinstance(error, OSError | MemoryError) or _is_batch_error_retryable(error.__cause__)
    )
