"""Analyse files into an archive: each content once, by whoever comes first."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from pqswarm import __version__
from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.archive.files import LEASE, SeenFile
from pqswarm.identify.folder.batch import Failure, failure_of, identify_file
from pqswarm.identify.model import Model, default_model
from pqswarm.recordings import RecordingSource, Site, open_recordings

if TYPE_CHECKING:
    from pathlib import Path

    from pqswarm.identify.archive.archive import Archive


@dataclass(frozen=True)
class Analyzed:
    """The results of a file, and the number of channels of each of its recordings."""

    results: tuple[Analysis | Failure, ...]
    n_channels: tuple[int | None, ...]
    analyzer: str

    @property
    def is_retryable(self) -> bool:
        """Whether another attempt may succeed."""
        return any(isinstance(one, Failure) and one.retryable for one in self.results)


@dataclass(frozen=True)
class ArchiveAnalyzer:
    """Analyses files with the options of :func:`pqswarm.identify.identify_file`, and the site of their station."""

    options: Mapping[str, Any]
    sites: Mapping[str, Site]

    @classmethod
    def of(cls, archive: "Archive", options: Mapping[str, Any]) -> "ArchiveAnalyzer":
        """Use the sites of an archive."""
        return cls(options, archive.sites())

    def site_of(self, path: "str | Path") -> Site | None:
        """Return the site of the station of a file: that of the archive, or else the given one."""
        given: Site | None = self.options.get("site")
        if not self.sites:
            return given
        name = "" if given is None else given.station
        try:
            name = name or open_recordings(path, **(self.options.get("reading") or {}))[0].station
        except (OSError, PqswarmError):  # reported by the analysis
            return given
        return self.sites.get(file_text(name), given)

    def digest(self, site: Site | None) -> str:
        """Return a digest of what an analysis depends on, apart from the file: model, site, options and version."""
        model: Model = self.options.get("model") or default_model()
        plain = {k: v for k, v in self.options.items() if k not in ("model", "site")}
        text = repr((__version__, sorted(plain.items()), None if site is None else replace(site, source="")))
        return hashlib.sha256(f"{model_digest(model)} {text}".encode("utf-8", "backslashreplace")).hexdigest()[:16]

    def analyze(
        self,
        path: "str | Path",
        after: Callable[[RecordingSource, Analysis], object] | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        keep_series: bool = False,
    ) -> Analyzed:
        """Analyse a file; no error but those of `progress` escapes."""
        counts: list[int] = []

        def count(source: RecordingSource, analysis: Analysis) -> None:
            counts.append(len(source.channels))
            if after is not None:
                after(source, analysis)

        site = self.site_of(path)
        results = [
            replace(one, characterization=None) if isinstance(one, Analysis) and not keep_series else one
            for one in identify_file(path, **{**self.options, "site": site}, after=count, progress=progress)
        ]
        numbers = iter(counts)
        channels = tuple(next(numbers, None) if isinstance(one, Analysis) else None for one in results)
        return Analyzed(tuple(results), channels, self.digest(site))


def model_digest(model: Model) -> str:
    """Return a digest of a model, computed once."""
    known: str | None = getattr(model, "_digest", None)
    if known is None:
        total = hashlib.sha256(repr((model.class_names, model.subsets, model.classifier.name)).encode())
        total.update(repr(sorted(dict(model.classifier.settings).items())).encode())
        for table in model.tables:
            for array in (table.codes, table.labels, table.knots):
                total.update(array.tobytes())
        known = total.hexdigest()
        object.__setattr__(model, "_digest", known)
    return known


@contextmanager
def heartbeat(archive: "Archive", contents: Iterable[str]) -> Iterator[None]:
    """Renew the claims of contents, which may change meanwhile, in a thread while they are analysed."""
    end = Event()

    def beat() -> None:
        while not end.wait(LEASE / 4):
            try:
                archive.files.renew(list(contents))
            except PqswarmError:  # the result will tell
                continue
        archive.database.close()

    thread = Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join(5.0)


def analyze_into(
    archive: "Archive",
    file: SeenFile,
    analyze: "Callable[[Path], Analyzed]",
    is_current: Callable[[], bool] = lambda: True,
) -> tuple[Analyzed, int | None]:
    """Analyse a claimed file and write the result; return it, and the number of new events or None.

    None if it could not be read for now, has changed meanwhile, or another process was faster: the claim is given up.
    """
    try:
        with heartbeat(archive, [file.content]):
            found = analyze(file.path)
    except Exception as error:  # noqa: BLE001 (any error is this file's failure)
        found = Analyzed((failure_of(error, file.path, ""),), (None,), "")
    except BaseException:
        archive.files.release([file.content])
        raise
    if found.is_retryable or not is_current():
        archive.files.release([file.content])
        return found, None
    return found, archive.finish(file, found.results, analyzer=found.analyzer, n_channels=found.n_channels)
