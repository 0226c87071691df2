"""Many files: which are recordings, and what happened in each; one that fails does not stop the others."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import identify
from pqswarm.identify.folder.scan import is_ours, scan
from pqswarm.measure import Thresholds
from pqswarm.recordings import READERS, Site, open_recordings
from pqswarm.recordings.files import find_partner

if TYPE_CHECKING:
    from pqswarm.identify.model import Model
    from pqswarm.identify.verdict import Verdict
    from pqswarm.recordings import RecordingSource

__all__ = ["Failure", "explain", "find_recordings", "identify_file", "load_site", "open_for_analysis"]

_PARTS = (".dat", ".hdr", ".inf")
"""Files of a COMTRADE recording that stand beside its ``.cfg``."""


@dataclass(frozen=True)
class Failure:
    """Why there is no verdict.

    Attributes
    ----------
    path : str
        The file, as it was given.
    source : str
        The recording in it; empty if the whole file could not be read.
    reason : str
        In one sentence.
    retryable : bool
        Whether another attempt may succeed: the file could not be reached, or memory ran out.
    """

    path: str
    source: str
    reason: str
    retryable: bool = field(default=False, compare=False)

    @property
    def place(self) -> str:
        """Where in the file the recording is, as it follows the name of the file; empty if that is all there is."""
        name = Path(self.path).name
        if not self.source or self.source.startswith(name):
            return self.source.removeprefix(name)
        return f", {self.source}"

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
        Files are taken as they are; folders are searched, with all below them, for the suffixes of all formats.

    Returns
    -------
    list of Path
        In the order given, those of a folder by name, each once. The ``.cfg`` stands for its ``.dat``. Tables that
        pqswarm wrote itself are left out of folders.
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
            failures.append(Failure("''", "", "is not the name of a file or a folder."))
            continue
        given = Path(path)
        inside = [given]
        if os.path.isdir(given):  # noqa: PTH112 (which takes any name, however long)
            inside = sorted(one.parts[0] for one in scan(given) if not is_ours(one.parts[0]))
            if not inside:
                suffixes = (suffix for reader in READERS.values() for suffix in reader.suffixes)
                failures.append(Failure(file_text(given), "", f"has no recordings ({', '.join(suffixes)})."))
        for one in inside:
            whole = (find_partner(one, ".cfg") if one.suffix.lower() in _PARTS else None) or one
            found.setdefault(os.path.abspath(whole), whole)  # noqa: PTH100 (links stay what they are)
    return list(found.values()), failures


def load_site(path: str | Path) -> Site:
    """Read a site file, and check its thresholds too.

    Parameters
    ----------
    path : str or Path
        TOML.

    Returns
    -------
    Site
        See :class:`pqswarm.recordings.Site`.
    """
    site = Site.load(path)
    try:
        Thresholds.of(site.thresholds)
    except PqswarmError as error:
        raise PqswarmError(f"{path}: thresholds: {error}") from None
    return site


def identify_file(
    path: str | Path,
    *,
    model: "Model | str | Path | None" = None,
    site: Site | None = None,
    reading: Mapping[str, Any] | None = None,
    channels: Sequence[str] | None = None,
    reference: str | float | None = None,
    nominal_voltage: float | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    after: "Callable[[RecordingSource, Verdict], object] | None" = None,
    progress: Callable[[int, int], None] | None = None,
) -> "Iterator[Verdict | Failure]":
    """Say what happened in each recording of a file, or why that cannot be said.

    Parameters
    ----------
    path : str or Path
        The file.
    model : Model, str or Path, optional
        Or the file of one; by default the bundled model.
    site : Site, optional
        What is known of the place of the meter. What is given here comes before it.
    reading : mapping, optional
        Options of :func:`pqswarm.recordings.open_recordings`.
    channels, reference, nominal_voltage, thresholds
        As for :func:`pqswarm.identify.identify`.
    after : callable, optional
        Is given each recording and its verdict, to draw them, say.
    progress : callable, optional
        Is called with the samples done, and in all, of the recording that is being looked at, as by
        :func:`pqswarm.measure.characterise`. What it raises is no failure of the file, but ends the work.

    Returns
    -------
    iterator of Verdict or Failure
        One for each recording; a failure if anything goes wrong, whatever it is, but for an interruption by the user.

    Examples
    --------
    >>> [str(found) for found in identify_file("nowhere.csv")]
    ['nowhere.csv: does not exist.']
    """
    try:
        sources = open_for_analysis(path, site, reading)
    except Exception as error:  # noqa: BLE001 (whatever happens, it is this file's failure)
        yield explain(error, path, "")
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
        verdict = None
        try:
            seen = source if site is None else site.apply(source)
            levels = site.thresholds if site is not None and thresholds is None else thresholds
            known: Any = nominal_voltage if nominal_voltage is not None or site is None else _nominals(site, seen)
            chosen = reference if reference is not None else site.reference if site is not None else None
            recording: Any = seen
            verdict = identify(
                recording,
                model,
                channels,
                reference="auto" if chosen is None else chosen,
                nominal_voltage=known,
                thresholds=levels,
                progress=report,
            )
            verdict = replace(verdict, path=file_text(path))
            if after is not None:
                after(seen, verdict)
        except Exception as error:
            if stops:
                raise
            failure = explain(error, path, source.source)
            if verdict is not None:  # the verdict stands; what was done with it failed
                yield verdict
            yield failure
        else:
            yield verdict


def open_for_analysis(
    path: str | Path, site: Site | None, reading: Mapping[str, Any] | None
) -> "tuple[RecordingSource, ...]":
    """Open the recordings of a file with the options that are given, and what the site knows of them."""
    options = dict(reading or {})
    return open_recordings(path, **(options if site is None else _complete(options, site)))


def _complete(options: dict[str, Any], site: Site) -> dict[str, Any]:
    """Options of reading, with what the site knows."""
    more: dict[str, Any] = {"nominal_frequency": options.get("nominal_frequency") or site.nominal_frequency}
    if "units" not in options and (site.unit or len(site.units)):
        more["units"] = site.units
    return options | {key: value for key, value in more.items() if value is not None}


def _nominals(site: Site, source: "RecordingSource") -> float | dict[str, float] | None:
    """The nominal voltage of the channels, by name if they differ [V]."""
    known = {channel.name: site.nominal_voltage(channel) for channel in source.channels if channel.is_voltage}
    given = {name: volts for name, volts in known.items() if volts is not None}
    if len(given) == len(known) and len(set(given.values())) == 1:
        return next(iter(given.values()))
    return given or None


def explain(error: Exception, path: str | Path, source: str) -> Failure:
    """Return the failure of a file in one sentence."""
    reason = " ".join(str(error).split())
    for name in (file_text(path), str(path), source, Path(path).name):
        if name and reason.startswith(name):
            reason = reason.removeprefix(name).lstrip(" :")
            break
    if isinstance(error, MemoryError):
        reason = "takes more memory than there is."
    elif not isinstance(error, PqswarmError):
        reason = f"could not be analysed: {type(error).__name__}{': ' if reason else ''}{reason.rstrip('.')}."
    return Failure(file_text(path), file_text(source), file_text(reason), _is_retryable(error))


def _is_retryable(error: BaseException | None) -> bool:
    """Whether an error, or what led to it, is one of the disk, the network or the memory."""
    return error is not None and (isinstance(error, OSError | MemoryError) or _is_retryable(error.__cause__))
