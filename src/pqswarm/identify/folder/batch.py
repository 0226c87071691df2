"""Analyse many files: find the recordings among them; one that fails does not stop the others."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.classify import identify
from pqswarm.identify.folder.scan import is_ours, scan
from pqswarm.identify.model import Model
from pqswarm.measure import Thresholds
from pqswarm.recordings import RecordingSource, Site, open_recordings
from pqswarm.recordings.files import COMPANIONS, find_partner
from pqswarm.recordings.readers import list_suffixes


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
    """Analyse each recording of a file.

    Parameters
    ----------
    path : str or Path
        The file.
    model : Model, str or Path, optional
        A model or its file; by default the bundled model.
    site : Site, optional
        Description of the meter. Arguments given here take precedence.
    reading : mapping, optional
        Options of :func:`pqswarm.recordings.open_recordings`.
    channels, reference, nominal_voltage, thresholds
        As for :func:`pqswarm.identify.identify`.
    after : callable, optional
        Called with each recording and its analysis, for example to plot them.
    progress : callable, optional
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
        yield failure_of(error, path, "")
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
            recording: Any = seen
            analysis = identify(
                recording,
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
            failure = failure_of(error, path, source.source)
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


def failure_of(error: Exception, path: str | Path, source: str) -> Failure:
    """Turn an error into the failure of a file."""
    reason = " ".join(str(error).split())
    for name in (file_text(path), str(path), source, Path(path).name):
        if name and reason.startswith(name):
            reason = reason.removeprefix(name).lstrip(" :")
            break
    if isinstance(error, MemoryError):
        reason = "needs more memory than is available."
    elif not isinstance(error, PqswarmError):
        reason = f"could not be analysed: {type(error).__name__}{': ' if reason else ''}{reason.rstrip('.')}."
    return Failure(file_text(path), file_text(source), file_text(reason), _is_batch_error_retryable(error))


def _is_batch_error_retryable(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is one of disk, network or memory."""
    return error is not None and (
        isinstance(error, OSError | MemoryError) or _is_batch_error_retryable(error.__cause__)
    )
