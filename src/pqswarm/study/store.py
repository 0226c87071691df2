"""The store of a study: one SQLite file, written by one process, from which everything else reads.

A finished run is written in one transaction, which also removes its checkpoint; what was committed survives
the death of the process at any moment. SQLite is not safe on network file systems: keep studies on a local disk.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study.records import (
    Checkpoint,
    RunKey,
    RunRecord,
    improvements_text,
    mask_text,
    packed_state,
    text_mask,
    unpacked_state,
)

__all__ = ["FILE_NAME", "SCHEMA_VERSION", "Store"]

FILE_NAME = "study.sqlite"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    classifier TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    run INTEGER NOT NULL,
    seed TEXT NOT NULL,
    error REAL NOT NULL,
    size INTEGER NOT NULL,
    mask TEXT NOT NULL,
    n_evaluations INTEGER NOT NULL,
    improvements TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (classifier, algorithm, run)
) WITHOUT ROWID;
CREATE TABLE checkpoints (
    classifier TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    run INTEGER NOT NULL,
    n_evaluations INTEGER NOT NULL,
    best_error REAL NOT NULL,
    seconds REAL NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (classifier, algorithm, run)
);
"""
_TABLES = {"facts", "runs", "checkpoints"}


class Store:
    """The database of one study.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    write : bool
        Whether to write; a missing database is made then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder, write=True) as store:
    ...     store.put_fact("J(U)", {"NB": 0.11})
    ...     store.fact("J(U)")
    {'NB': 0.11}
    """

    def __init__(self, folder: str | Path, write: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE_NAME
        self._write = write
        with self._explained():
            if write:
                self.folder.mkdir(parents=True, exist_ok=True)
            elif not self.path.exists():
                raise PqswarmError(f"there is no study in {self.folder}: {FILE_NAME} is missing.")
            try:
                self._connect(str(self.path), uri=False)
            except sqlite3.OperationalError:
                # A finished study in a folder that cannot be written, such as an archive, can still be read.
                rest = self.path.with_name(f"{FILE_NAME}-wal")
                if write or (rest.exists() and rest.stat().st_size):
                    raise
                self._connect(f"{self.path.resolve().as_uri()}?immutable=1", uri=True)

    def _connect(self, address: str, uri: bool) -> None:
        self._db = sqlite3.connect(address, isolation_level=None, timeout=30.0, uri=uri)
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        names = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master")}
        if version == 0 and not names and self._write:
            self._db.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif version == 0 and not names:
            raise PqswarmError(f"there is no study in {self.folder}: {FILE_NAME} is empty.")
        elif version == 0 or (version == SCHEMA_VERSION and not names >= _TABLES):
            raise FileFormatError(f"{self.path} is no study of pqswarm: move it away, or use another folder.")
        elif version != SCHEMA_VERSION:
            raise FileFormatError(
                f"{self.path} has schema {version}, but this pqswarm reads {SCHEMA_VERSION}: use the pqswarm that made "
                f"it, or another folder."
            )
        self._db.execute("PRAGMA synchronous = FULL" if self._write else "PRAGMA query_only = ON")
        check = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise FileFormatError(self._damaged(check))

    def damaged(self, why: object) -> FileFormatError:
        """Return the error that the database is damaged, to be raised by the caller."""
        return FileFormatError(self._damaged(why))

    def _damaged(self, why: object) -> str:
        reason = " ".join(str(why).split())
        return (
            f"{self.path} is damaged ({reason}). It was left as it is: restore it from a copy, or save what can be "
            f"read with 'sqlite3 {FILE_NAME} .recover'."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the database and the disk into errors that say what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            text = str(error)
            if "full" in text:
                raise PqswarmError(
                    f"the disk is full: {self.path} could not be written. Finished runs are safe; make room and run "
                    f"the same command again."
                ) from None
            if "readonly" in text or "unable to open" in text:
                raise PqswarmError(
                    f"{self.path} cannot be written ({text}): check the permissions of {self.folder}."
                ) from None
            if "decode" in text:
                raise FileFormatError(self._damaged(text)) from None
            if "locked" in text:
                raise PqswarmError(f"{self.path} is locked by another program: close it and try again.") from None
            raise PqswarmError(f"{self.path}: {text}. Finished runs are safe; run the same command again.") from None
        except sqlite3.DatabaseError as error:
            raise FileFormatError(self._damaged(error)) from None
        except OSError as error:
            raise PqswarmError(f"cannot use {self.folder} for a study: {error.strerror or error}.") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
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
        """Close the database."""
        self._db.close()

    def put_fact(self, name: str, value: Any) -> None:
        """Keep a value that JSON can write, under a name.

        Parameters
        ----------
        name : str
            Its name; what was there is replaced.
        value : object
            Numbers, text, lists and dicts of them.
        """
        self.put_facts({name: value})

    def put_facts(self, values: Mapping[str, Any]) -> None:
        """Keep several values, by name, all in one transaction; see :meth:`put_fact`."""
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        with self._explained(), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def fact(self, name: str, default: Any = None) -> Any:
        """Return the value kept under a name, or `default`."""
        with self._explained():
            row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return default if row is None else self._decoded(row[0])

    def facts(self, prefix: str) -> dict[str, Any]:
        """Return all values whose names begin with `prefix`, by the rest of their names."""
        with self._explained():
            rows = self._db.execute("SELECT name, value FROM facts ORDER BY name").fetchall()
        return {name[len(prefix) :]: self._decoded(value) for name, value in rows if name.startswith(prefix)}

    def _decoded(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            raise FileFormatError(self._damaged(error)) from None

    def finish(self, record: RunRecord) -> None:
        """Keep a finished run, for good, and drop its checkpoint.

        Parameters
        ----------
        record : RunRecord
            The run.
        """
        key = record.key
        place = (key.classifier, key.algorithm, key.run)
        row = (
            *place,
            str(record.seed),
            record.error,
            record.size,
            mask_text(record.mask),
            record.n_evaluations,
            improvements_text(record.improvements),
            record.seconds,
        )
        with self._explained(), self._transaction():
            self._db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._db.execute("DELETE FROM checkpoints WHERE classifier = ? AND algorithm = ? AND run = ?", place)

    def save_checkpoints(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Keep where runs are now, all in one transaction.

        Parameters
        ----------
        checkpoints : iterable of Checkpoint
            Runs on their way.
        """
        rows = [
            (
                c.key.classifier,
                c.key.algorithm,
                c.key.run,
                c.n_evaluations,
                c.best_error,
                c.seconds,
                packed_state(c.state),
            )
            for c in checkpoints
        ]
        with self._explained(), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def finished(self) -> list[RunRecord]:
        """Return all finished runs, by classifier, algorithm and number."""
        with self._explained():
            rows = self._db.execute(
                "SELECT classifier, algorithm, run, seed, error, size, mask, n_evaluations, improvements, seconds "
                "FROM runs ORDER BY classifier, algorithm, run"
            ).fetchall()
        try:
            return [_record(row) for row in rows]
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise FileFormatError(self._damaged(error)) from None

    def checkpoints(self) -> dict[RunKey, Checkpoint]:
        """Return where the runs on their way are; a damaged one is left out, and so begins anew."""
        with self._explained():
            rows = self._db.execute(
                "SELECT classifier, algorithm, run, n_evaluations, best_error, seconds, state FROM checkpoints"
            ).fetchall()
        found = {}
        for classifier, algorithm, run, n_evaluations, best_error, seconds, state in rows:
            key = RunKey(classifier, algorithm, run)
            with suppress(FileFormatError, TypeError):
                found[key] = Checkpoint(key, n_evaluations, best_error, unpacked_state(state), seconds)
        return found


def _record(row: tuple[Any, ...]) -> RunRecord:
    """The run that a row of the table holds, or a ValueError if it cannot be what was written."""
    classifier, algorithm, run, seed, error, size, mask, n_evaluations, improvements, seconds = row
    if set(mask) - {"0", "1"} or mask.count("1") != size:
        raise ValueError(f"the mask of {classifier}, {algorithm}, run {run} is not of {size} features")
    return RunRecord(
        key=RunKey(classifier, algorithm, run),
        seed=int(seed),
        error=float(error),
        mask=text_mask(mask),
        n_evaluations=n_evaluations,
        improvements=np.array(json.loads(improvements), dtype=np.float64).reshape(-1, 3),
        seconds=float(seconds),
    )
