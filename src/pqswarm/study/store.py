"""The store of a study: one SQLite file, written by one process and read by all others.

A finished run is written in one transaction, which also removes its checkpoint; committed data survive the death of the
process. SQLite is not safe on network file systems: keep studies on a local disk.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple
from math import isfinite, isnan
from pathlib import Path
from typing import Any, TypeVar

from pqswarm._base.files import file_identity
from pqswarm._base.text import printable
from pqswarm.errors import FileFormatError, PqswarmError, shorten
from pqswarm.study import records
from pqswarm.study.findings import Finding, place_text
from pqswarm.study.records import Checkpoint, RunKey, RunRecord, RunStatus
from pqswarm.study.rows import checked_row, row_digest, row_record, row_status, run_row

__all__ = ["FILE_NAME", "SCHEMA_VERSION", "Store", "store_stamp"]

FILE_NAME = "study.sqlite"
SCHEMA_VERSION = 2

_Kind = TypeVar("_Kind", bound=Finding)

_SCHEMA = """
CREATE TABLE findings (
    kind TEXT NOT NULL, classifier TEXT NOT NULL, level TEXT NOT NULL,
    value TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (kind, classifier, level)
) WITHOUT ROWID;
CREATE TABLE runs (
    classifier TEXT NOT NULL, algorithm TEXT NOT NULL, run INTEGER NOT NULL,
    seed TEXT NOT NULL, search TEXT NOT NULL, error REAL NOT NULL, mask TEXT NOT NULL, n_evaluations INTEGER NOT NULL,
    improvements TEXT NOT NULL, front TEXT, seconds REAL NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (classifier, algorithm, run)
) WITHOUT ROWID;
CREATE TABLE checkpoints (
    classifier TEXT NOT NULL, algorithm TEXT NOT NULL, run INTEGER NOT NULL,
    n_evaluations INTEGER NOT NULL, best_error REAL NOT NULL, seconds REAL NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (classifier, algorithm, run)
);
"""
_TABLES = {"findings", "runs", "checkpoints"}


def store_stamp(folder: Path, name: str = FILE_NAME) -> tuple[int, ...]:
    """Return sizes and times of the files of a store, which change with every write.

    Examples
    --------
    >>> store_stamp(Path("nowhere"))
    (0, 0, 0, 0)
    """
    stamp: list[int] = []
    for file in (name, f"{name}-wal"):
        try:
            status = (folder / file).stat()
        except OSError:
            stamp += (0, 0)
        else:
            stamp += (status.st_mtime_ns, status.st_size)
    return tuple(stamp)


class Store:
    """The database of one study.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    write : bool
        Whether to write; a missing database is then created.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.study.findings import AllFeatures
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder, write=True) as store:
    ...     store.put(AllFeatures("NB", 0.11))
    ...     store.find(AllFeatures, "NB").error
    0.11
    """

    def __init__(self, folder: str | Path, write: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE_NAME
        self._write = write
        self._stamp: tuple[int, ...] | None = None
        self._identity: tuple[int, int] | None = None
        with self._explained():
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
        before = getattr(self, "_db", None)
        self._db = sqlite3.connect(address, isolation_level=None, timeout=30.0, uri=uri)
        try:
            self._open()
        except BaseException:
            self._db.close()
            if before is not None:
                self._db = before
            raise
        if before is not None:
            before.close()

    def _is_outdated(self) -> bool:
        """Whether the file was written since it was opened as immutable."""
        if self._stamp is None:
            return False
        path = self.path.resolve()
        return store_stamp(path.parent, path.name) != self._stamp

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Select rows of the current database."""
        with self._explained():
            while True:
                if self._is_outdated():
                    self._connect_to_read()
                try:
                    rows = self._db.execute(statement, values).fetchall()
                except sqlite3.DatabaseError:
                    if not self._is_outdated():
                        raise
                else:
                    if not self._is_outdated():
                        return rows

    def _open(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        names = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master")}
        if version == 0 and not names and not self._write:
            raise PqswarmError(f"there is no study in {self.folder}: {FILE_NAME} is empty.")
        if version == 0 and not names:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._create()
        elif version == 0 or not names >= (_TABLES if version == SCHEMA_VERSION else {"runs", "checkpoints"}):
            raise FileFormatError(f"{self.path} is not a pqswarm study: move it away, or use another folder.")
        elif version != SCHEMA_VERSION:
            raise FileFormatError(
                f"{self.path} has schema {version}, but this pqswarm reads {SCHEMA_VERSION}: use the pqswarm that made "
                f"it, or another folder."
            )
        check = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise self.damaged(check)
        self._db.execute("PRAGMA synchronous = FULL" if self._write else "PRAGMA query_only = ON")

    def _create(self) -> None:
        with self._transaction():
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def damaged(self, why: object) -> FileFormatError:
        """Return the error for a damaged database, to be raised by the caller."""
        reason = shorten(" ".join(str(why).split()), 300)
        return FileFormatError(
            f"{self.path} is damaged ({printable(reason)}). It was not changed: restore it from a copy, or recover "
            f"what is readable with 'sqlite3 {FILE_NAME} .recover'."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn database and disk errors into errors with a remedy."""
        try:
            yield
        except sqlite3.OperationalError as error:
            text, safe, again = str(error), "Finished runs are safe;", "run the same command again."
            if "full" in text:
                text = f"the disk is full: {self.path} could not be written. {safe} free some space and {again}"
            elif "readonly" in text or "unable to open" in text:
                text = f"{self.path} cannot be written ({text}): check the permissions of {self.folder}."
            elif "decode" in text or "no such" in text:  # column, or table
                raise self.damaged(text) from None
            elif "locked" in text:
                text = f"{self.path} is locked by another program: close it and try again."
            else:
                text = f"{self.path}: {text}. {safe} {again}"
            raise PqswarmError(text) from None
        except sqlite3.IntegrityError:
            raise PqswarmError(
                f"{self.path} already contains this result: another process is running the study. Wait until it ends, "
                f"and run the same command again."
            ) from None
        except (
            sqlite3.DatabaseError,
            UnicodeDecodeError,
            OverflowError,
        ) as error:  # messages about damage may themselves be damaged
            raise self.damaged(error) from None
        except OSError as error:
            raise PqswarmError(f"cannot use {self.folder} for a study: {error.strerror or error}.") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.check()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; a writer leaves everything in one file, even while others read it."""
        if self._write:
            with suppress(sqlite3.Error):  # nothing is lost: the log is read along with the file
                self._db.execute("PRAGMA busy_timeout = 1000")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def put(self, *findings: Finding) -> None:
        """Store findings in one transaction; existing ones raise an error."""
        rows = [(found.kind, *found.place, found.to_json()) for found in findings]
        with self._explained(), self._transaction():
            self._db.executemany(
                "INSERT INTO findings VALUES (?, ?, ?, ?, ?)", [(*row, row_digest(row)) for row in rows]
            )

    def revise(self, finding: Finding) -> None:
        """Replace a stored finding."""
        row = (finding.kind, *finding.place, finding.to_json())
        with self._explained(), self._transaction():
            self._db.execute("REPLACE INTO findings VALUES (?, ?, ?, ?, ?)", (*row, row_digest(row)))

    def find(
        self, kind: type[_Kind], classifier: str = "", level: float | None = None, seed: int | None = None
    ) -> _Kind | None:
        """Return a finding of a kind, a class of :mod:`pqswarm.study.findings`, or None if there is none yet.

        It belongs to a classifier, or to the study; findings of stage II and of held-out events also have a noise level
        [dB], the latter a seed.
        """
        place = (kind.kind, classifier, place_text(level, seed))
        statement = "SELECT * FROM findings WHERE kind = ? AND classifier = ? AND level = ?"
        rows = self._select(statement, *place)
        if not rows:
            return None
        try:
            return kind.from_json(checked_row(rows[0])[3])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise self.damaged(error) from None

    def finish(self, record: RunRecord) -> None:
        """Store a finished run and remove its checkpoint."""
        row, place = run_row(record), astuple(record.key)
        with self._explained(), self._transaction():
            self._db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, row_digest(row)))
            self._db.execute("DELETE FROM checkpoints WHERE classifier = ? AND algorithm = ? AND run = ?", place)

    def save_checkpoints(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Store checkpoints in one transaction."""
        rows = [
            (*astuple(c.key), c.n_evaluations, c.best_error, c.seconds, records.packed_state(c.state))
            for c in checkpoints
        ]
        with self._explained(), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def finished(self) -> list[RunRecord]:
        """Return all finished runs, by classifier, algorithm and number."""
        rows = self._select("SELECT * FROM runs ORDER BY classifier, algorithm, run")
        return [self._restored(row) for row in rows]

    def _restored(self, row: tuple[Any, ...]) -> RunRecord:
        try:
            return row_record(checked_row(row))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise self.damaged(error) from None

    def records(self, keys: Iterable[RunKey]) -> list[RunRecord]:
        """Return the finished runs of some keys, in the given order."""
        statement = "SELECT * FROM runs WHERE classifier = ? AND algorithm = ? AND run = ?"
        return [self._restored(row) for key in keys for row in self._select(statement, *astuple(key))]

    def statuses(self) -> list[RunStatus]:
        """Return the status of all runs, without their large parts."""
        begun = "SELECT classifier, algorithm, run, n_evaluations, best_error, NULL FROM checkpoints"
        ended = "SELECT classifier, algorithm, run, n_evaluations, error, length(replace(mask, '0', '')) FROM runs"
        rows = self._select(begun) + self._select(ended)  # in this order: a run that ends meanwhile is in both
        try:
            found = {one.key: one for one in map(row_status, rows)}
        except (ValueError, TypeError, OverflowError) as error:
            raise self.damaged(error) from None
        return list(found.values())

    def places(self) -> list[tuple[str, str, str]]:
        """Return the keys of all findings: kind, classifier, and level and seed as :func:`place_text` writes them."""
        rows = self._select("SELECT kind, classifier, level FROM findings")
        return [(kind, classifier, level) for kind, classifier, level in rows]

    def checkpoints(self) -> dict[RunKey, Checkpoint]:
        """Return all checkpoints; damaged ones are left out, and their runs start again."""
        rows = self._select("SELECT * FROM checkpoints")
        found = {}
        for *place, n_evaluations, best_error, seconds, state in rows:
            with suppress(ValueError, TypeError, OverflowError):
                status = row_status((*place, n_evaluations, best_error, None))
                if isfinite(seconds) and not isnan(status.error):
                    kept = records.unpacked_state(state)
                    found[status.key] = Checkpoint(status.key, status.n_evaluations, status.error, kept, seconds)
        return found
