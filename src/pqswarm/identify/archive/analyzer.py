"""Analyze files into an archive: each content once, by whoever comes first; many files in several processes."""

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from pqswarm import __version__
from pqswarm._base.text import file_text
from pqswarm._base.threads import one_blas_thread
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.archive.files import LEASE, SeenFile, look_at_file
from pqswarm.identify.archive.picture import RecordingFacts, look_at_recording
from pqswarm.identify.folder.batch import Failure, find_batch_candidate, identify_file, recording_failure
from pqswarm.identify.model import Model, default_model, load_model
from pqswarm.recordings import RecordingSource, Site, open_recordings

if TYPE_CHECKING:
    from pqswarm.identify.archive.archive import Archive
    from pqswarm.study.worker import WorkerPool

_AHEAD = 2
"""Files that are handed out for each worker: all fit into the queue of joblib, which fails on Ctrl-C if others wait."""
_WAIT = 0.2
"""Time between two looks at a file that another process analyzes [s]."""


@dataclass(frozen=True)
class AnalyzedFile:
    """The results of a file, and what else is kept of each of its recordings."""

    results: tuple[Analysis | Failure, ...]
    facts: tuple[RecordingFacts, ...] = ()
    analyzer: str = ""

    @property
    def is_retryable(self) -> bool:
        """Whether another attempt may succeed."""
        return any(isinstance(one, Failure) and one.retryable for one in self.results)


@dataclass(frozen=True)
class ArchiveAnalyzer:
    """Analyzes files with the options of :func:`pqswarm.identify.identify_file`, and the site of their station."""

    options: Mapping[str, Any]
    sites: Mapping[str, Site]

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
        text = f"{model.digest} {text}"
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]

    def analyze(
        self,
        path: "str | Path",
        after: Callable[[RecordingSource, Analysis], object] | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        keep_series: bool = False,
    ) -> AnalyzedFile:
        """Analyze a file; no error but those of `progress` escapes."""
        seen: list[RecordingFacts] = []

        def look(source: RecordingSource, analysis: Analysis) -> None:
            seen.append(look_at_recording(source, analysis))
            if after is not None:
                after(source, analysis)

        site = self.site_of(path)
        results = [
            replace(one, characterization=None) if isinstance(one, Analysis) and not keep_series else one
            for one in identify_file(path, **{**self.options, "site": site}, after=look, progress=progress)
        ]
        left = iter(seen)
        facts = [next(left, RecordingFacts()) if isinstance(one, Analysis) else RecordingFacts() for one in results]
        return AnalyzedFile(tuple(results), tuple(facts), self.digest(site))


@contextmanager
def analyzer_heartbeat(archive: "Archive", contents: Iterable[str]) -> Iterator[None]:
    """Renew the claims of contents, which may change meanwhile, in a thread while they are analyzed."""
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


def analyze_into_archive(
    archive: "Archive",
    file: SeenFile,
    analyze: "Callable[[Path], AnalyzedFile]",
    is_current: Callable[[], bool] = lambda: True,
) -> tuple[AnalyzedFile, int | None]:
    """Analyze a claimed file and write the result; return it, and the number of new events or None.

    None if it could not be read for now, has changed meanwhile, or another process was faster: the claim is given up.
    """
    try:
        with analyzer_heartbeat(archive, [file.content]):
            found = analyze(file.path)
    except Exception as error:  # noqa: BLE001 (any error is this file's failure)
        found = AnalyzedFile((recording_failure(error, file.path, ""),))
    except BaseException:
        archive.files.release([file.content])
        raise
    if found.is_retryable or not is_current():
        archive.files.release([file.content])
        return found, None
    return found, archive.finish(file, found.results, analyzer=found.analyzer, facts=found.facts)


@dataclass
class _AnalyzerFile:
    """A file that is being analyzed, or that another process analyzes."""

    path: Path
    file: SeenFile | None
    state: str
    future: Future[AnalyzedFile] | None = None
    failure: Failure | None = None


def identify_many(
    paths: Iterable[Path],
    options: Mapping[str, Any],
    *,
    model_path: Path | None = None,
    archive: "Archive | None" = None,
    jobs: int = 1,
    cluster: str | None = None,
    again: bool = False,
    after: Callable[[RecordingSource, Analysis], object] | None = None,
) -> "Iterator[tuple[Path, tuple[Analysis | Failure, ...], str]]":
    """Analyze files with the options of identify_file, and yield their results in order, each with a remark.

    `model_path` is what workers load instead of the model of the options; those of a `cluster` must see the files under
    the same names. `after` is called with each recording and its analysis, only without workers.
    """
    analyzer = ArchiveAnalyzer(options, {} if archive is None else archive.sites())
    plain = {name: value for name, value in options.items() if name != "model"}
    pending: deque[_AnalyzerFile] = deque()
    claimed: list[str] = []

    def submit(pool: "WorkerPool", one: _AnalyzerFile) -> Future[AnalyzedFile]:
        return pool.submit(_run_analyzer_in_worker, plain, model_path, analyzer.sites, str(one.path))

    rest = iter(paths)
    with ExitStack() as stack:
        pool = None
        if jobs != 1 or cluster is not None:
            from pqswarm.study.worker import worker_pool

            pool = stack.enter_context(worker_pool(jobs, cluster))
        if archive is not None:
            stack.enter_context(analyzer_heartbeat(archive, claimed))
            stack.callback(archive.files.release, claimed)
        ahead = 1 if pool is None else _AHEAD * pool.slots
        while True:
            while len(pending) < ahead and (path := next(rest, None)) is not None:
                one = _claim_for_analyzer(archive, path, again)
                if one.state == "mine" and one.file is not None:
                    claimed.append(one.file.content)
                if pool is not None and one.state == "mine":
                    one.future = submit(pool, one)
                pending.append(one)
            if not pending:
                return
            one = pending.popleft()
            if pool is not None and one.future is not None:
                _outlive_analyzer_worker(pool, one, pending, submit)
            results, remark = _await_analyzer_results(archive, one, analyzer, after)
            if one.file is not None and one.file.content in claimed:
                claimed.remove(one.file.content)
            yield one.path, results, remark


def _outlive_analyzer_worker(
    pool: "WorkerPool",
    one: _AnalyzerFile,
    pending: Iterable[_AnalyzerFile],
    submit: "Callable[[WorkerPool, _AnalyzerFile], Future[AnalyzedFile]]",
) -> None:
    """If its worker died, analyze the next file alone, so that it fails only by itself; then the others."""
    from pqswarm.study.worker import is_worker_death

    if one.future is None or not is_worker_death(one.future.exception()):
        return
    pool.restart()
    one.future = submit(pool, one)
    if is_worker_death(one.future.exception()):
        pool.restart()
        failure = Failure(file_text(one.path), "", "ended its worker twice: is there enough memory?", retryable=True)
        one.future = Future()
        one.future.set_result(AnalyzedFile((failure,)))
    for other in pending:
        if other.future is not None and (not other.future.done() or other.future.exception() is not None):
            other.future = submit(pool, other)


def _claim_for_analyzer(archive: "Archive | None", path: Path, again: bool) -> _AnalyzerFile:
    """Claim a file in the archive."""
    if archive is None:
        return _AnalyzerFile(path, None, "mine")
    try:
        candidate = find_batch_candidate(path)
        before = archive.files.get(Path(os.path.abspath(path)))  # noqa: PTH100
        is_known = before is not None and before.stamp == candidate.stamp != "" and before.content
        file = before if before is not None and is_known else look_at_file(candidate, before)
        archive.files.register([] if is_known else [file])
    except (OSError, PqswarmError) as error:
        return _AnalyzerFile(path, None, "failed", failure=recording_failure(error, path, ""))
    return _AnalyzerFile(path, file, archive.files.claim(file.content, again=again))


def _await_analyzer_results(
    archive: "Archive | None",
    one: _AnalyzerFile,
    analyzer: ArchiveAnalyzer,
    after: Callable[[RecordingSource, Analysis], object] | None,
) -> "tuple[tuple[Analysis | Failure, ...], str]":
    """The results of a file, waiting for whoever analyzes it; those of an archive with its corrections and notes."""
    if one.failure is not None:
        return (one.failure,), ""
    if archive is None or one.file is None:
        found = analyzer.analyze(one.path, after) if one.future is None else one.future.result()
        return found.results, ""
    content = one.file.content

    def after_corrected(source: RecordingSource, analysis: Analysis) -> None:
        if after is not None:
            after(source, archive.corrected(analysis, content))

    while one.state == "busy":
        time.sleep(_WAIT)
        one.state = archive.files.claim(content)
    remark = "analyzed before"
    if one.state != "done":
        found = analyzer.analyze(one.path, after_corrected) if one.future is None else one.future.result()
        if found.is_retryable:
            archive.files.release([content])
            return found.results, ""
        written = archive.finish(one.file, found.results, analyzer=found.analyzer, facts=found.facts)
        remark = "" if written is not None else "analyzed by another process"
    return tuple(archive.results(content, file_text(one.path))), remark


_load_analyzer_model = lru_cache(4)(load_model)


def _run_analyzer_in_worker(
    options: Mapping[str, Any], model_path: Path | None, sites: Mapping[str, Site], path: str
) -> AnalyzedFile:
    """Analyze a file in a worker, which keeps its model."""
    model = None if model_path is None else _load_analyzer_model(model_path)
    with one_blas_thread:
        return ArchiveAnalyzer({**options, "model": model}, sites).analyze(path)
