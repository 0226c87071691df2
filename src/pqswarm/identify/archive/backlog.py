"""Analyse many files: in this process, in several, or on a Dask cluster; with an archive, each content once."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm._base.text import file_text
from pqswarm._base.threads import one_blas_thread
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.archive.analyzer import Analyzed, ArchiveAnalyzer, heartbeat
from pqswarm.identify.archive.files import SeenFile, look_at
from pqswarm.identify.folder.batch import Failure, failure_of
from pqswarm.identify.folder.scan import find_candidate
from pqswarm.identify.model_file import load_model
from pqswarm.recordings import RecordingSource, Site
from pqswarm.study.worker import WorkerPool, is_death, worker_pool

if TYPE_CHECKING:
    from pqswarm.identify.archive.archive import Archive
    from pqswarm.identify.model import Model

_AHEAD = 4
"""Files that are handed out for each worker."""
_WAIT = 0.2
"""Time between two looks at a file that another process analyses [s]."""


@dataclass
class _BacklogFile:
    """A file that is being analysed, or that another process analyses."""

    path: Path
    file: SeenFile | None
    state: str
    future: Future[Analyzed] | None = None
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
    """Analyse files with the options of identify_file, and yield their results in order, each with a remark.

    `model_path` is what workers load instead of the model of the options; those of a `cluster` must see the files under
    the same names. `after` is called with each recording and its analysis, only without workers.
    """
    analyzer = ArchiveAnalyzer(options, {}) if archive is None else ArchiveAnalyzer.of(archive, options)
    plain = {name: value for name, value in options.items() if name != "model"}
    pending: deque[_BacklogFile] = deque()
    claimed: list[str] = []

    def submit(pool: WorkerPool, one: _BacklogFile) -> Future[Analyzed]:
        return pool.submit(_analyze_in_worker, plain, model_path, analyzer.sites, str(one.path))

    rest = iter(paths)
    with ExitStack() as stack:
        pool = None if jobs == 1 and cluster is None else stack.enter_context(worker_pool(jobs, cluster))
        if archive is not None:
            stack.enter_context(heartbeat(archive, claimed))
            stack.callback(archive.files.release, claimed)
        ahead = 1 if pool is None else _AHEAD * pool.slots
        while True:
            while len(pending) < ahead and (path := next(rest, None)) is not None:
                one = _take(archive, path, again)
                if one.state == "mine" and one.file is not None:
                    claimed.append(one.file.content)
                if pool is not None and one.state == "mine":
                    one.future = submit(pool, one)
                pending.append(one)
            if not pending:
                return
            one = pending.popleft()
            if pool is not None and one.future is not None and is_death(one.future.exception()):
                _outlive(pool, one, pending, submit)
            results, remark = _results(archive, one, lambda path: analyzer.analyze(path, after))
            if one.file is not None and one.file.content in claimed:
                claimed.remove(one.file.content)
            yield one.path, results, remark


def _outlive(
    pool: WorkerPool,
    one: _BacklogFile,
    pending: Iterable[_BacklogFile],
    submit: Callable[[WorkerPool, _BacklogFile], Future[Analyzed]],
) -> None:
    """After the death of a worker, analyse the next file alone, so that it fails only by itself; then the others."""
    pool.restart()
    one.future = submit(pool, one)
    if is_death(one.future.exception()):
        pool.restart()
        failure = Failure(file_text(one.path), "", "ended its worker twice: is there enough memory?", retryable=True)
        one.future = Future()
        one.future.set_result(Analyzed((failure,), (None,), ""))
    for other in pending:
        if other.future is not None and (not other.future.done() or other.future.exception() is not None):
            other.future = submit(pool, other)


def _take(archive: "Archive | None", path: Path, again: bool) -> _BacklogFile:
    """Claim a file in the archive."""
    if archive is None:
        return _BacklogFile(path, None, "mine")
    try:
        candidate = find_candidate(path)
        before = archive.files.get(Path(os.path.abspath(path)))  # noqa: PTH100
        if before is not None and before.stamp == candidate.stamp != "" and before.content:
            file = SeenFile(before.path, before.stamp, before.content)
        else:
            file = look_at(candidate, before)
            archive.files.register([file])
    except (OSError, PqswarmError) as error:
        return _BacklogFile(path, None, "failed", failure=failure_of(error, path, ""))
    return _BacklogFile(path, file, archive.files.claim(file.content, again=again))


def _results(
    archive: "Archive | None", one: _BacklogFile, analyze: Callable[[Path], Analyzed]
) -> "tuple[tuple[Analysis | Failure, ...], str]":
    """The results of a file, waiting for whoever analyses it."""
    if one.failure is not None:
        return (one.failure,), ""
    while archive is not None and one.file is not None and one.state == "busy":
        time.sleep(_WAIT)
        one.state = archive.files.claim(one.file.content)
    if archive is not None and one.file is not None and one.state == "done":
        return tuple(archive.results(one.file.content, file_text(one.path))), "analysed before"
    found = analyze(one.path) if one.future is None else one.future.result()
    if archive is None or one.file is None:
        return found.results, ""
    if found.is_retryable:
        archive.files.release([one.file.content])
        return found.results, ""
    written = archive.finish(one.file, found.results, analyzer=found.analyzer, n_channels=found.n_channels)
    return found.results, "" if written is not None else "analysed by another process"


@lru_cache(maxsize=4)
def _load_model_once(path: Path) -> "Model":
    return load_model(path)


def _analyze_in_worker(
    options: Mapping[str, Any], model_path: Path | None, sites: Mapping[str, Site], path: str
) -> Analyzed:
    """Analyse a file in a worker, which keeps its model."""
    model = None if model_path is None else _load_model_once(model_path)
    with one_blas_thread():
        return ArchiveAnalyzer({**options, "model": model}, sites).analyze(path)
