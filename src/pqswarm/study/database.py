"""The database file of a study: opening, transactions, and errors with a remedy.

A finished run is written in one transaction, which also removes its checkpoint; committed data survive the death of the
process. SQLite is not safe on network file systems: keep studies on a local disk.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Any

from pqswarm._base.files import file_identity
from pqswarm._base.text import printable
from pqswarm.errors import FileFormatError, PqswarmError, shorten

FILE_NAME = "study.sqlite"
SCHEMA_VERSION = 3

_SCHEMA = (files("pqswarm.study") / "schema.sql").read_text(encoding="utf-8")
_TABLES = ("findings", "runs", "checkpoints")
_READ_SECONDS = 60.0  # a foreign file must not occupy the workbench for ever
_STEPS = 100_000  # instructions of SQLite between two looks at the clock
_ONE_DATASET = 2  # the schema of studies of one data set, whose name is empty; rows are otherwise the same


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


class Database:
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
        version = self.connection.execute("PRAGMA user_version").fetchone()[0]
        kinds: dict[str, str] = dict(self.connection.execute("SELECT name, type FROM sqlite_master"))
        needed = {*_TABLES} if version >= _ONE_DATASET else {"runs", "checkpoints"}
        # which may do or take anything
        names = {*kinds}
        foreign = not {"view", "trigger"}.isdisjoint(kinds.values())
        if version == 0 and not names and not self._write:
            raise PqswarmError(f"there is no study in {self.folder}: {FILE_NAME} is empty.")
        if version == 0 and not names:
            self.connection.execute("PRAGMA journal_mode = WAL")
            self._create()
        elif version == 0 or foreign or not names >= needed:
            raise FileFormatError(f"{self.path} is not a pqswarm study: move it away, or use another folder.")
        elif version not in (_ONE_DATASET, SCHEMA_VERSION):
            raise FileFormatError(
                f"{self.path} has schema {version}, but this pqswarm reads {_ONE_DATASET} and {SCHEMA_VERSION}: use "
                f"the pqswarm that made it, or another folder."
            )
        check = self.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise self.damaged(check)
        if version == _ONE_DATASET:
            self._add_datasets()
        self.connection.execute("PRAGMA synchronous = FULL" if self._write else "PRAGMA query_only = ON")

    def _create(self) -> None:
        with self.transaction():
            for statement in _SCHEMA.split(";"):
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _add_datasets(self) -> None:
        """Give the tables of an older study the column of the data set; a reader sees it without changing the file."""
        if not self._write:
            for table in _TABLES:
                self.connection.execute(f"CREATE TEMP VIEW {table} AS SELECT '' AS dataset, * FROM main.{table}")  # noqa: S608
            return
        with self.transaction():
            for table in _TABLES:
                self.connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
            for statement in _SCHEMA.split(";"):
                self.connection.execute(statement)
            for table in _TABLES:
                self.connection.execute(f"INSERT INTO {table} SELECT '', * FROM old_{table}")  # noqa: S608
                self.connection.execute(f"DROP TABLE old_{table}")
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

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
            text = str(error)
            safe = "Finished runs are safe;"
            again = "run the same command again."
            if "full" in text:
                text = f"the disk is full: {self.path} could not be written. {safe} free some space and {again}"
            elif "readonly" in text or "unable to open" in text:
                text = f"{self.path} cannot be written ({text}): check the permissions of {self.folder}."
            elif "decode" in text or "no such" in text:  # column, or table
                raise self.damaged(text) from None
            elif "interrupted" in text:
                text = f"{self.path} took longer than {_READ_SECONDS:g} s to read: it is too large, or no study."
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
    def transaction(self) -> Iterator[None]:
        """Write all that follows, or nothing."""
        self.check()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the database; a writer leaves everything in one file, even while others read it."""
        if self._write:
            with suppress(sqlite3.Error):  # nothing is lost: the log is read along with the file
                self.connection.execute("PRAGMA busy_timeout = 1000")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()
