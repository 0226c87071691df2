"""The file of an archive: schema, opening, transactions, digests of rows, and errors with a remedy.

A rollback journal, not a write-ahead log: the latter does not work on network shares, where archives often are.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from math import inf
from pathlib import Path
from threading import local
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import quote
from weakref import finalize

from pqswarm._base.files import file_identity
from pqswarm._base.interrupts import raise_interrupt
from pqswarm._base.sqlite import MAX_SQLITE_BYTES, has_schema
from pqswarm._base.text import file_text, is_encodable
from pqswarm.errors import FileFormatError, PqswarmError, shorten

FILE_NAME = "archive.sqlite"
SCHEMA_VERSION = 4
_APPLICATION = 0x70717361
"""Identifies archives among SQLite files."""
_READ_SECONDS = 60.0
"""Time after which a query is interrupted: a foreign file must not occupy the workbench [s]."""
_STEPS = 100_000
"""Instructions of SQLite between two looks at the clock."""
_SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
_SEALED = {
    "stations": "id, name, site, author, at",
    "files": "path, name, stamp, content, owner, state, reason",
    "contents": "digest, state, reason, analyzer, at, serial",
    "recordings": "id, content, position, source, name, owner, station, start, seconds, n_channels, n_events, reason, "
    "revision",
    "recording_records": "recording, record, picture",
    "incidents": "recording, position, cause, probability, title, record",
    "events": "number, key, refers, recording, position, incident, start, type, category, label, cause, phases, "
    "system, magnitude, unit, duration, tier, severity, hidden, seconds, percent, cut",
    "event_records": "number, record",
    "corrections": "number, content, position, what, label, author, at, note, record, found",
    "notes": "number, content, position, text, author, at, removed, start, stop",
    "receivers": "name, last, length",
    "refused": "name, number, times, reason",
}
"""The columns of each table that its column `seal` is a digest of."""
_STRANGE = (TypeError, ValueError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError)
"""Errors about values that a damaged file has, and no column can exclude."""
_Read = TypeVar("_Read", bound=Callable[..., Any])


def reads_archive(method: _Read) -> _Read:
    """Let a method of an archive, or of a part of it, explain what a damaged file does to it."""

    @wraps(method)
    def read(self: Any, *arguments: Any, **options: Any) -> Any:
        with self.database.reading_rows():
            return method(self, *arguments, **options)

    return cast("_Read", read)


def row_seal(*row: Any) -> str:
    """Return the digest of the values of a row."""
    return hashlib.sha256(repr(row).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def intact(table: str) -> str:
    """Return a condition in SQL that holds for each row of a table; one that does not match its seal is an error."""
    columns = ", ".join(f"{table}.{name}" for name in _SEALED[table].split(", "))
    return f"intact('{table}', {table}.seal, {columns})"


def seal_rows(database: sqlite3.Connection, table: str, where: str, values: Any = ()) -> None:
    """Seal rows that were just written, those of a condition in SQL."""
    database.execute(f"UPDATE {table} SET seal = row_seal({_SEALED[table]}) WHERE {where}", values)


def insert(
    database: sqlite3.Connection,
    table: str,
    values: Mapping[str, Any],
    own: str = "rowid = last_insert_rowid()",
    *,
    verb: str = "INSERT",
) -> int:
    """Write a row by the names of its columns, and seal it by a condition that only it fulfils; return its number."""
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    number = database.execute(f"{verb} INTO {table} ({names}) VALUES ({marks})", values).lastrowid or 0
    seal_rows(database, table, own, values)
    return number


def update(database: sqlite3.Connection, table: str, columns: str, where: str, values: Mapping[str, Any]) -> None:
    """Change some columns of the intact rows that fulfil a condition, both in SQL with named values, and seal them."""
    database.execute(f"UPDATE {table} SET {columns} WHERE ({where}) AND {intact(table)}", values)
    seal_rows(database, table, where, values)


class _ArchiveConnection(sqlite3.Connection):
    """A connection that refuses values which no column can hold, so that they are not taken for damage."""

    def execute(self, statement: str, values: Any = (), /) -> sqlite3.Cursor:
        for value in values.values() if isinstance(values, Mapping) else values:
            is_too_large = isinstance(value, int) and not -(2**63) <= value < 2**63
            if is_too_large or (isinstance(value, str) and not is_encodable(value)):
                raise PqswarmError("a number is too large, or a text has half of a surrogate pair: it is not stored.")
        return super().execute(statement, values)


class ArchiveDatabase:
    """The SQLite file in the folder of an archive; each thread has a connection of its own.

    With `read_only` nothing is written and a missing archive is an error; otherwise it is created.
    """

    def __init__(self, folder: str | Path, *, read_only: bool = False) -> None:
        self.folder = Path(folder)
        self.read_only = read_only
        self.path = self.folder / FILE_NAME
        self._local = local()
        self._all: list[sqlite3.Connection] = []
        finalize(self, _close_database_connections, self._all)
        with self.explained():
            if read_only and not self.path.exists():
                raise PqswarmError(f"there is no archive in {file_text(self.folder)}: {FILE_NAME} is missing.")
            if self.folder.exists() and not self.folder.is_dir():
                raise PqswarmError(f"{file_text(self.folder)} is not a folder: give --archive the name of a folder.")
            self._check_files()
            if not read_only:
                self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise
            self._identity = file_identity(self.path)

    def _check_files(self) -> None:
        """Refuse links and what is no regular file: SQLite follows links and truncates foreign journals."""
        for ending in ("", "-journal", "-wal", "-shm"):
            path = self.path.with_name(FILE_NAME + ending)
            linked = path.is_symlink() and (ending or not self.read_only)
            if linked or (path.exists() and not path.is_file()):
                raise FileFormatError(f"{file_text(path)} is not a regular file: move it away, or use another folder.")

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            mode = "rw" if self.read_only or self.path.exists() else "rwc"
            uri = f"file:{quote(os.fsencode(self.path.absolute().as_posix()))}?mode={mode}"
            connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, timeout=60.0, check_same_thread=False, factory=_ArchiveConnection
            )
            self._all.append(connection)
            self._local.connection = connection
            self._local.deadline = monotonic() + _READ_SECONDS
            here = self._local
            connection.set_progress_handler(lambda: monotonic() > here.deadline, _STEPS)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_SQLITE_BYTES)
            connection.create_function("row_seal", -1, row_seal, deterministic=True)
            connection.create_function("intact", -1, partial(_check_seal, here))
            connection.execute("PRAGMA trusted_schema = OFF")
            if self.read_only:
                connection.execute("PRAGMA query_only = ON")
            else:
                connection.execute("PRAGMA journal_mode = TRUNCATE")
                connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        """Create the tables of a new file; refuse one of another format or with anything that is not ours."""
        marks = self._marks()
        if marks == (0, 0) and not self.read_only:
            with self.transaction() as database:  # another process may be creating it
                if self._marks() == (0, 0) and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    for statement in _SCHEMA.strip().rstrip(";").split(";"):
                        database.execute(statement)
                    database.execute(f"PRAGMA application_id = {_APPLICATION}")
                    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            marks = self._marks()
        if marks == (_APPLICATION, SCHEMA_VERSION - 1) and not self.read_only:
            with self.transaction() as database:
                if self._marks()[1] == SCHEMA_VERSION - 1:  # another process may have converted it
                    self._local.deadline = inf
                    for table in _SEALED:
                        database.execute(f"ALTER TABLE {table} ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
                        seal_rows(database, table, "1")
                    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                    self._check_objects()
            marks = self._marks()
        name = file_text(self.path)
        if marks[0] != _APPLICATION:
            raise FileFormatError(f"{name} is not an archive of pqswarm and was not changed: use another folder.")
        if marks[1] != SCHEMA_VERSION:
            raise FileFormatError(
                f"{name} has schema {marks[1]}, but this pqswarm uses {SCHEMA_VERSION}; it was not changed: "
                + (
                    "pqswarm identify --archive, watch and app convert it, with its corrections."
                    if marks[1] == SCHEMA_VERSION - 1
                    else "use the pqswarm that made it, or analyze the recordings into another folder."
                )
            )
        self._check_objects()

    def _check_objects(self) -> None:
        """Refuse a file with anything that is not ours."""
        if not has_schema(self.connection, _SCHEMA):
            name = file_text(self.path)
            raise FileFormatError(f"{name} has tables, views or triggers that are not of pqswarm: it is not used.")

    def _marks(self) -> tuple[int, int]:
        names = ("application_id", "user_version")
        application, version = (int(self.connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
        return application, version

    def _timed_connection(self) -> sqlite3.Connection:
        """The connection of this thread, with the whole time of a query left."""
        connection = self.connection
        self._local.deadline = monotonic() + _READ_SECONDS
        return connection

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.explained():
            return self._timed_connection().execute(query, values).fetchall()

    def named_rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Return the rows of a query, by the names of the columns."""
        with self.explained():
            cursor = self._timed_connection().execute(query, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def columns(self, query: str, *values: Any, size: int = 50_000) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the columns of a query, some rows at a time."""
        cursor = self._timed_connection().execute(query, values)
        while rows := cursor.fetchmany(size):
            yield list(zip(*rows, strict=True))

    def broken_rows(self) -> Iterator[tuple[str, int]]:
        """Yield the tables with rows that do not match their seals, and the number of such rows; takes its time."""
        for table, columns in _SEALED.items():
            connection = self._timed_connection()
            self._local.deadline = inf
            self._local.broken = table
            query = f"SELECT count(*) FROM {table} WHERE seal IS NOT row_seal({columns})"
            with self.explained():
                count = connection.execute(query).fetchone()[0]
            if count:
                yield table, count

    def next_revision(self) -> int:
        """Count a change, in a transaction."""
        self.connection.execute("UPDATE revisions SET last = last + 1")
        return int(self.connection.execute("SELECT last FROM revisions").fetchone()[0])

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all changes to the archive, or none."""
        with self.explained():
            identity = getattr(self, "_identity", None)
            if identity is not None and file_identity(self.path) != identity:
                raise PqswarmError(f"{file_text(self.path)} was removed or replaced meanwhile: start again.")
            connection = self._timed_connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def damaged(self, why: object) -> FileFormatError:
        """Return the error for a damaged archive, to be raised by the caller."""
        reason = file_text(shorten(" ".join(str(why).split()), 300))
        return FileFormatError(f"{file_text(self.path)} is damaged ({reason}): restore it from a backup.")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn database and disk errors into errors with a remedy."""
        name = file_text(self.path)
        try:
            yield
        except PqswarmError:
            raise
        except sqlite3.OperationalError as error:
            raise_interrupt()
            text = str(error)
            if "user-defined function" in text:
                raise self.damaged(f"a row of {self._local.broken} does not match its digest") from None
            if "no such" in text or "decode" in text:
                raise self.damaged(text) from None
            safe = "what was written before is safe"
            no_locks = "its file system has no locks: choose a local disk by --archive"
            remedies = {
                "full": f"the disk is full: {name} could not be written; {safe}. Free some space and try again.",
                "interrupted": f"{name}: a query took longer than {_READ_SECONDS:g} s and was stopped.",
                "locked": f"{name} is locked by another program, which must end first, or {no_locks}.",
                "readonly": f"{name} cannot be written: check the permissions of the file and its folder; {safe}.",
                "": f"{name} cannot be used ({text}): check the disk and its permissions, or {no_locks}.",
            }
            raise PqswarmError(next(remedy for word, remedy in remedies.items() if word in text)) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # its message may be damaged, too
            raise self.damaged(error) from None
        except OSError as error:
            raise PqswarmError(f"cannot use {file_text(self.folder)} as archive: {error.strerror or error}.") from error

    @contextmanager
    def reading_rows(self) -> Iterator[None]:
        """Turn also errors about values of rows into errors with a remedy: arguments must have been checked before."""
        with self.explained():
            try:
                yield
            except PqswarmError:
                raise
            except _STRANGE as error:
                raise self.damaged(error) from None

    def close(self) -> None:
        """Close the connection of this thread; others may be in use, and are closed when the archive is collected."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            self._all.remove(connection)
            connection.close()


def _check_seal(here: local, table: str, stored: object, *row: Any) -> bool:
    """The function `intact` of SQL."""
    here.broken = table
    if row_seal(*row) != stored:
        raise ValueError("a row does not match its seal")
    return True


def _close_database_connections(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
