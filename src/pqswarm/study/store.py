"""The store of a study: its runs, checkpoints and findings, written by one process and read by all others.

A finished run is written in one transaction, which also removes its checkpoint; committed data survive the death of the
process. SQLite is not safe on network file systems: keep studies on a local disk. A lock on the folder keeps a second
process from running the study.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from errno import ENOLCK, ENOSYS, EOPNOTSUPP
from functools import cached_property
from importlib.resources import files
from math import isfinite, isnan
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from filelock import FileLock, Timeout

from pqswarm._base.files import file_identity
from pqswarm._base.interrupts import raise_interrupt
from pqswarm._base.sqlite import MAX_SQLITE_BYTES, has_schema
from pqswarm._base.text import printable
from pqswarm.errors import FileFormatError, PqswarmError, shorten
from pqswarm.search import SearchResult
from pqswarm.study.findings import About, Events, Finding, HeldOut, StageTwo, place_text
from pqswarm.study.plan import DatasetPlan, StudyPlan, held_out_levels, held_out_seeds
from pqswarm.study.plan_file import restore_plan
from pqswarm.study.records import (
    Checkpoint,
    RunKey,
    RunRecord,
    RunStatus,
    front_text,
    mask_text,
    packed_state,
    text_front,
    text_mask,
    unpacked_state,
)

FILE_NAME = "study.sqlite"
SCHEMA_VERSION = 3

_SCHEMA = (files("pqswarm.study") / "schema.sql").read_text(encoding="utf-8")
_LOCK_NAME = "study.lock"
_LOCK_SECONDS = 1.0  # longer than it takes to look whether the folder is locked
_READ_SECONDS = 60.0  # a foreign file must not occupy the workbench for ever
_STEPS = 100_000  # instructions of SQLite between two looks at the clock


def store_stamp(folder: Path, name: str = FILE_NAME) -> tuple[int, ...]:
    """Return sizes and times of the files of a store, which change with every write; zeros if there are none."""
    stamp: list[int] = []
    for file in (name, f"{name}-wal"):
        try:
            status = (folder / file).stat()
        except OSError:
            stamp += (0, 0)
        else:
            stamp += (status.st_mtime_ns, status.st_size)
    return tuple(stamp)


class StudyDatabase:
    """The SQLite file of the study in a folder, open to read, or to `write`, which creates a missing one."""

    def __init__(self, folder: str | Path, write: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE_NAME
        self._write = write
        self._stamp: tuple[int, ...] | None = None
        self._identity: tuple[int, int] | None = None
        with self.explained():
            self._check_files()
            if write:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._connect(str(self.path))
                self._identity = file_identity(self.path)
            elif self.path.exists():
                self._connect_to_read()
            else:
                raise PqswarmError(f"there is no study in {self.folder}: {FILE_NAME} is missing.")

    def _check_files(self) -> None:
        """Raise an error if a database file is not a regular file: SQLite follows links and truncates foreign logs."""
        for ending in ("", "-wal", "-shm", "-journal"):
            path = self.path.with_name(FILE_NAME + ending)
            linked = path.is_symlink() and (ending or self._write)
            if linked or (path.exists() and not path.is_file()):
                raise FileFormatError(f"{path} is not a regular file: move it away, or use another folder.")

    def check(self) -> None:
        """Raise an error if the open file was removed or replaced, so that writes would be lost."""
        if self._identity is not None and file_identity(self.path) != self._identity:
            raise PqswarmError(
                f"{self.path} was removed or replaced while the study was running; the study was stopped: restore the "
                f"file, or start again in another folder."
            )

    def _connect_to_read(self) -> None:
        """Open the database without changing anything, now or on closing.

        A database without a write-ahead log is read without other files or locks; a writer creates a log, which changes
        the stamp.
        """
        path = self.path.resolve()
        stamp = store_stamp(path.parent, path.name)
        settled = stamp[-1] == 0
        self._connect(f"{path.as_uri()}?{'immutable=1' if settled else 'mode=ro'}", uri=True)
        self._stamp = stamp if settled else None

    def _connect(self, address: str, uri: bool = False) -> None:
        before = getattr(self, "connection", None)
        self.connection = sqlite3.connect(address, isolation_level=None, timeout=30.0, uri=uri)
        self._deadline = monotonic() + _READ_SECONDS
        if not self._write:
            self.connection.set_progress_handler(lambda: monotonic() > self._deadline, _STEPS)
        try:
            self._open()
        except BaseException:
            self.connection.close()
            if before is not None:
                self.connection = before
            raise
        if before is not None:
            before.close()

    def _is_outdated(self) -> bool:
        """Whether the file was written since it was opened as immutable."""
        if self._stamp is None:
            return False
        path = self.path.resolve()
        return store_stamp(path.parent, path.name) != self._stamp

    def select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Select rows of the current database."""
        with self.explained():
            while True:
                if self._is_outdated():
                    self._connect_to_read()
                try:
                    self._deadline = monotonic() + _READ_SECONDS
                    rows = self.connection.execute(statement, values).fetchall()
                except sqlite3.DatabaseError:
                    if not self._is_outdated():
                        raise
                else:
                    if not self._is_outdated():
                        return rows

    def _open(self) -> None:
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_SQLITE_BYTES)
        version = self.connection.execute("PRAGMA user_version").fetchone()[0]
        is_empty = not self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and is_empty and not self._write:
            raise PqswarmError(f"there is no study in {self.folder}: {FILE_NAME} is empty.")
        if version == 0 and is_empty:
            self.connection.execute("PRAGMA journal_mode = WAL")
            with self.transaction():
                for statement in _SCHEMA.split(";"):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif not has_schema(self.connection, _SCHEMA):
            raise FileFormatError(
                f"{self.path} is not a pqswarm study: move it away, or use another folder. Studies of versions before "
                f"0.2.0 open in those versions."
            )
        elif version != SCHEMA_VERSION:
            raise FileFormatError(
                f"{self.path} has schema {version}, but this pqswarm reads {SCHEMA_VERSION}: use the pqswarm that made "
                f"it, or another folder."
            )
        check = self.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise self.damaged(check)
        self._check_rows()
        self.connection.execute("PRAGMA synchronous = FULL" if self._write else "PRAGMA query_only = ON")

    def _check_rows(self) -> None:
        """Compare all rows with their digests: one whose key is damaged would not be found, and not be missed."""
        try:
            for statement in ("SELECT * FROM findings", "SELECT * FROM runs"):
                for row in self.connection.execute(statement):
                    check_row_digest(row)
        except (ValueError, TypeError) as error:
            raise self.damaged(error) from None

    def damaged(self, why: object) -> FileFormatError:
        """Return the error for a damaged database, to be raised by the caller."""
        reason = shorten(" ".join(str(why).split()), 300)
        return FileFormatError(
            f"{self.path} is damaged ({printable(reason)}). It was not changed: restore it from a copy, or recover "
            f"what is readable with 'sqlite3 {FILE_NAME} .recover'."
        )

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn database and disk errors into errors with a remedy."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise_interrupt()
            text = str(error)
            if "decode" in text or "no such" in text:  # column, or table
                raise self.damaged(text) from None
            safe = "Finished runs are safe;"
            again = "run the same command again."
            no_access = f"{self.path} cannot be written ({text}): check the permissions of {self.folder}."
            remedies = {
                "full": f"the disk is full: {self.path} could not be written. {safe} free some space and {again}",
                "readonly": no_access,
                "unable to open": no_access,
                "interrupted": f"{self.path} took longer than {_READ_SECONDS:g} s to read: too large, or no study.",
                "locked": f"{self.path} is locked by another program: close it and try again.",
                "": f"{self.path}: {text}. {safe} {again}",
            }
            raise PqswarmError(next(remedy for word, remedy in remedies.items() if word in text)) from None
        except sqlite3.IntegrityError:
            raise PqswarmError(
                f"{self.path} already contains this result: another process is running the study. Wait until it ends, "
                f"and run the same command again."
            ) from None
        except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:  # their messages may be damaged too
            raise self.damaged(error) from None
        except OSError as error:
            raise PqswarmError(f"cannot use {self.folder} for a study: {error.strerror or error}.") from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all changes to the study, or none."""
        self.check()
        self.connection.execute("BEGIN IMMEDIATE")
        with self.connection:  # commits, or rolls back after an error
            yield

    def close(self) -> None:
        """Close the database; a writer leaves everything in one file, even while others read it."""
        if self._write:
            with suppress(sqlite3.Error):  # nothing is lost: the log is read along with the file
                self.connection.execute("PRAGMA busy_timeout = 1000")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()


def run_key_row(key: RunKey) -> tuple[Any, ...]:
    """Return the key of a run as the first columns of its row."""
    return key.dataset, key.classifier, key.algorithm, key.run


def run_row(record: RunRecord) -> tuple[Any, ...]:
    """Return a finished run as a row of its table, without its digest."""
    result = record.result
    return (
        *run_key_row(record.key),
        str(record.seed),
        result.algorithm,
        result.error + 0.0,  # SQLite does not keep the sign of zero
        mask_text(result.mask),
        result.n_evaluations,
        json.dumps(result.improvements.tolist()),
        front_text(result),
        record.seconds,
    )


def stored_row_digest(row: tuple[Any, ...]) -> str:
    """Return a digest of a row of the database; an empty name of the data set does not count."""
    row = row if row[0] else row[1:]
    return hashlib.sha256(json.dumps(row).encode()).hexdigest()


def check_row_digest(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check the digest at the end of a row and return the row without it."""
    *content, digest = row
    if stored_row_digest(tuple(content)) != digest:
        raise ValueError(f"{', '.join(map(str, content[:4]))} does not match its digest")
    return tuple(content)


def row_status(row: tuple[Any, ...]) -> RunStatus:
    """Return the status of the run in a row."""
    dataset, classifier, algorithm, run, n_evaluations, error, size = row
    return RunStatus(RunKey(classifier, algorithm, int(run), dataset), int(n_evaluations), float(error), size)


def row_record(row: tuple[Any, ...]) -> RunRecord:
    """Return the run in a row of the table."""
    dataset, classifier, algorithm, run, seed, search, error, mask, n_evaluations, improvements, front, seconds = row
    steps = np.array(json.loads(improvements), dtype=np.float64).reshape(-1, 3)
    front = text_front(front)
    result = SearchResult(search, text_mask(mask), error, n_evaluations, steps, **front)
    return RunRecord(RunKey(classifier, algorithm, run, dataset), int(seed), result, seconds)


_Kind = TypeVar("_Kind", bound=Finding)


class Store(AbstractContextManager["Store"]):
    """The database of one study.

    Findings and finished runs are those of one data set, by default of the only one; :meth:`of` returns the same store
    for another data set.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    write : bool, default=False
        Whether to write; a missing database is then created.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.study.findings import AllFeatures
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder, write=True) as store:
    ...     store.put(AllFeatures("NB", 0.11))
    ...     store.of("seed 1").put(AllFeatures("NB", 0.12))
    ...     store.find(AllFeatures, "NB").error, store.of("seed 1").find(AllFeatures, "NB").error
    (0.11, 0.12)
    """

    def __init__(self, folder: str | Path, write: bool = False) -> None:
        self.database = StudyDatabase(folder, write)
        self.folder = self.database.folder
        self.path = self.database.path
        self.dataset = ""

    def of(self, dataset: str) -> "Store":
        """Return the same store for another data set of the study, by its name; close only one of them."""
        other = copy(self)
        other.dataset = dataset
        return other

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; a writer leaves everything in one file, even while others read it."""
        self.database.close()

    def put(self, *findings: Finding, replace: bool = False) -> None:
        """Store findings in one transaction; existing ones are replaced, or raise an error."""
        rows = [(self.dataset, finding.kind, *finding.place, finding.to_json()) for finding in findings]
        statement = f"{'REPLACE' if replace else 'INSERT'} INTO findings VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
        with self.database.explained(), self.database.transaction():
            self.database.connection.executemany(statement, [(*row, stored_row_digest(row)) for row in rows])

    def find(
        self, kind: type[_Kind], classifier: str = "", level: float | None = None, seed: int | None = None
    ) -> _Kind | None:
        """Return a finding of a kind, a class of :mod:`pqswarm.study.findings`, or None if there is none yet.

        It belongs to a classifier, or to the study; findings of stage II and of held-out events also have a noise level
        [dB], the latter a seed.
        """
        place = (self.dataset, kind.kind, classifier, place_text(level, seed))
        statement = "SELECT * FROM findings WHERE dataset = ? AND kind = ? AND classifier = ? AND level = ?"
        rows = self.database.select(statement, *place)
        if not rows:
            return None
        try:
            return kind.from_json(check_row_digest(rows[0])[4])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise self.database.damaged(error) from None

    def about(self) -> About:
        """Return the plan and the start of the study; raise an error if it has not started."""
        about = self.of("").find(About)
        if about is None:
            raise PqswarmError(f"{self.folder} holds a study that has not started: run it first.")
        return about

    def finish(self, record: RunRecord) -> None:
        """Store a finished run and remove its checkpoint."""
        row = run_row(record)
        place = run_key_row(record.key)
        with self.database.explained(), self.database.transaction():
            self.database.connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, stored_row_digest(row))
            )
            self.database.connection.execute(
                "DELETE FROM checkpoints WHERE dataset = ? AND classifier = ? AND algorithm = ? AND run = ?", place
            )

    def save_checkpoints(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Store checkpoints in one transaction."""
        rows = [
            (*run_key_row(c.key), c.n_evaluations, c.best_error, c.seconds, packed_state(c.state)) for c in checkpoints
        ]
        with self.database.explained(), self.database.transaction():
            self.database.connection.executemany(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def finished(self) -> list[RunRecord]:
        """Return the finished runs on the data set, by classifier, algorithm and number."""
        statement = "SELECT * FROM runs WHERE dataset = ? ORDER BY classifier, algorithm, run"
        rows = self.database.select(statement, self.dataset)
        try:
            return [row_record(check_row_digest(row)) for row in rows]
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise self.database.damaged(error) from None

    def statuses(self) -> list[RunStatus]:
        """Return the status of all runs on all data sets, without their large parts."""
        begun = "SELECT dataset, classifier, algorithm, run, n_evaluations, best_error, NULL FROM checkpoints"
        ended = (
            "SELECT dataset, classifier, algorithm, run, n_evaluations, error, length(replace(mask, '0', '')) FROM runs"
        )
        # In this order: a run that ends meanwhile is in both.
        rows = self.database.select(begun) + self.database.select(ended)
        try:
            statuses = {status.key: status for status in map(row_status, rows)}
        except (ValueError, TypeError, OverflowError) as error:
            raise self.database.damaged(error) from None
        return list(statuses.values())

    def finding_places(self) -> list[tuple[Any, ...]]:
        """Return the keys of all findings: data set, kind, classifier, and level and seed as by :func:`place_text`."""
        return self.database.select("SELECT dataset, kind, classifier, level FROM findings")

    def checkpoints(self) -> dict[RunKey, Checkpoint]:
        """Return the checkpoints of the data set; damaged ones are left out, and their runs start again."""
        rows = self.database.select("SELECT * FROM checkpoints WHERE dataset = ?", self.dataset)
        checkpoints = {}
        for *place, n_evaluations, best_error, seconds, state in rows:
            with suppress(ValueError, TypeError, OverflowError):
                status = row_status((*place, n_evaluations, best_error, None))
                if isfinite(seconds) and not isnan(status.error):
                    checkpoints[status.key] = Checkpoint(
                        status.key, status.n_evaluations, status.error, unpacked_state(state), seconds
                    )
        return checkpoints


def is_study_locked(folder: Path) -> bool | None:
    """Return whether a process runs the study in a folder; None where that cannot be tested."""
    path = folder / _LOCK_NAME
    if not path.is_file():
        return False
    try:
        import fcntl

        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):  # on Windows, or without permission
        return None
    return False


@contextmanager
def lock_study(folder: Path) -> Iterator[Callable[[], None]]:
    """Keep other processes from running the study in a folder; yield a function that checks that the lock exists."""
    path = folder / _LOCK_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise PqswarmError(f"cannot use {folder} for a study: {path} is not a regular file: move it away.")
        is_new = not path.exists()
        lock = FileLock(path, fallback_to_soft=False)
        lock.acquire(timeout=_LOCK_SECONDS)
        held = file_identity(path)
    except Timeout:
        raise PqswarmError(f"another process is running the study in {folder}: wait until it ends.") from None
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in (ENOLCK, ENOSYS, EOPNOTSUPP):
            why = f"its file system cannot lock {path.name} ({why}): use a folder on a local disk"
        raise PqswarmError(f"cannot use {folder} for a study: {why}.") from None

    def check() -> None:
        if file_identity(path) != held:
            raise PqswarmError(
                f"{path} was removed while the study was running; it keeps other processes out. Results so far are "
                f"kept: run the same command again when no other process is running the study."
            )

    try:
        yield check
    except FileFormatError:  # the content of the folder is rejected, and left unchanged
        if is_new:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        lock.release()


@dataclass(frozen=True, eq=False)
class Study:
    """The finished runs of a study.

    Attributes
    ----------
    plan : StudyPlan
        Its plan.
    runs : dict of str to tuple of RunRecord
        Finished runs by data set; the only one of a study has an empty name.
    feature_names : dict of str to tuple of str
        Names of the features of each data set.
    stage_two : dict of str to tuple of StageTwo
        Accuracies at the noise levels, by data set.
    held_out : dict of str to tuple of HeldOut
        Errors on events of other seeds, by data set.
    """

    plan: StudyPlan
    runs: dict[str, tuple[RunRecord, ...]]
    feature_names: dict[str, tuple[str, ...]]
    stage_two: dict[str, tuple[StageTwo, ...]]
    held_out: dict[str, tuple[HeldOut, ...]]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per run, with its seed, error and features, by position and by name."""
        return [
            {
                **place,
                "classifier": classifier.name,
                "algorithm": algorithm.title,
                "run": record.key.run,
                "seed": record.seed,
                "error": record.error,
                "size": record.size,
                "evaluations": record.result.n_evaluations,
                "seconds": record.seconds,
                "features": tuple(record.result.selected.tolist()),
                "names": tuple(self.feature_names[dataset][i] for i in record.result.selected),
            }
            for dataset, place in self._places.items()
            for classifier in self.plan.classifiers
            for algorithm in self.plan.algorithms
            for record in self.runs[dataset]
            if (record.key.classifier, record.key.algorithm) == (classifier.name, algorithm.name)
        ]

    def stage_two_rows(self) -> list[dict[str, Any]]:
        """Return one row per subset and noise level [dB], with its accuracy [%].

        Subsets that are not of a run, such as all features, have no `run`.
        """
        return [
            {**place, **subset, "snr": found.level, "accuracy": accuracy}
            for dataset, place in self._places.items()
            for found in self.stage_two[dataset]
            for subset, accuracy in self._subset_rows(found.classifier, found.accuracy)
        ]

    def held_out_rows(self) -> list[dict[str, Any]]:
        """Return one row per subset, noise level [dB] and seed of the events it was tested on, with its error there."""
        return [
            {**place, **subset, "target_seed": found.seed, "snr": found.level, "error": error}
            for dataset, place in self._places.items()
            for found in self.held_out[dataset]
            for subset, error in self._subset_rows(found.classifier, found.errors)
        ]

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {algorithm.name: algorithm.title for algorithm in self.plan.algorithms}

    @cached_property
    def _places(self) -> dict[str, dict[str, Any]]:
        """The columns that name each data set: its specification, name, and seed of generated events."""
        places = {}
        cells = self.plan.cells()
        for name in self.runs:
            data = cells[name].dataset
            seed = data.seed if isinstance(data, DatasetPlan) else None
            place: dict[str, Any] = {"dataset": name}
            if self.plan.multiverse is not None:
                specification, _, dataset = name.partition(", ")
                place = {"specification": specification, "dataset": dataset or f"seed {seed}"}
            places[name] = place | {"dataset_seed": seed}
        return places

    def _subset_rows(
        self, classifier: str, values: Mapping[str, tuple[float, ...]]
    ) -> Iterator[tuple[dict[str, Any], float]]:
        """Each subset of a classifier, with its value."""
        for name, each in values.items():
            for run, value in enumerate(each):
                number = run if name in self._titles else None
                yield {"classifier": classifier, "algorithm": self._titles.get(name, name), "run": number}, value

    def to_frame(self) -> Any:
        """Return :meth:`rows` as a pandas data frame."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            raise PqswarmError("a data frame needs the package pandas: pip install pandas.") from None
        return pd.DataFrame(self.rows())


def read_study(folder: str | Path) -> Study:
    """Read the plan and the finished runs of the study in a folder, finished or not.

    Parameters
    ----------
    folder : str or Path
        Folder of the study, which may still be running.

    Returns
    -------
    Study
        The plan, and for each data set the runs, their feature names, and the tests of their subsets.

    Examples
    --------
    >>> def mean_errors(folder):
    ...     frame = read_study(folder).to_frame()
    ...     return frame.groupby(["classifier", "algorithm", "dataset"])["error"].mean()
    """
    with Store(folder) as store:
        plan = restore_plan(store.about().plan)
        study = Study(plan, {}, {}, {}, {})
        for dataset, cell in plan.cells().items():
            own = store.of(dataset)
            events = own.find(Events)
            records = tuple(own.finished())
            if events is None or not records:
                continue
            study.feature_names[dataset] = events.feature_names
            study.runs[dataset] = records
            names = [classifier.name for classifier in cell.classifiers]
            tested = [own.find(StageTwo, name, level) for name in names for level in cell.dataset.snr]
            study.stage_two[dataset] = tuple(filter(None, tested))
            held_out = [
                own.find(HeldOut, name, level, seed)
                for name in names
                for seed in held_out_seeds(cell)
                for level in held_out_levels(cell)
            ]
            study.held_out[dataset] = tuple(filter(None, held_out))
        return study
