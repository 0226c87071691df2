"""The store of a study: its runs, checkpoints and findings, written by one process and read by all others."""

from collections.abc import Iterable
from contextlib import suppress
from math import isfinite, isnan
from pathlib import Path
from typing import Any, TypeVar

from pqswarm.errors import FileFormatError
from pqswarm.study import records
from pqswarm.study.database import Database
from pqswarm.study.findings import Finding, place_text
from pqswarm.study.records import Checkpoint, RunKey, RunRecord, RunStatus
from pqswarm.study.rows import checked_row, key_row, row_digest, row_record, row_status, run_row

_Kind = TypeVar("_Kind", bound=Finding)


class Store:
    """The database of one study.

    Findings and finished runs are those of one data set, by default of the only one; :meth:`of` returns the same store
    for another data set.

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
    ...     store.of("seed 1").put(AllFeatures("NB", 0.12))
    ...     store.find(AllFeatures, "NB").error, store.of("seed 1").find(AllFeatures, "NB").error
    (0.11, 0.12)
    """

    def __init__(self, folder: str | Path, write: bool = False) -> None:
        self._database = Database(folder, write)
        self.folder, self.path, self.dataset = self._database.folder, self._database.path, ""

    def of(self, dataset: str) -> "Store":
        """Return the same store for another data set of the study, by its name; close only one of them."""
        other = object.__new__(Store)
        other._database = self._database
        other.folder = self.folder
        other.path = self.path
        other.dataset = dataset
        return other

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; a writer leaves everything in one file, even while others read it."""
        self._database.close()

    def check(self) -> None:
        """Raise an error if the open file was removed or replaced, so that writes would be lost."""
        self._database.check()

    def damaged(self, why: object) -> FileFormatError:
        """Return the error for a damaged database, to be raised by the caller."""
        return self._database.damaged(why)

    def put(self, *findings: Finding) -> None:
        """Store findings in one transaction; existing ones raise an error."""
        rows = [(self.dataset, found.kind, *found.place, found.to_json()) for found in findings]
        with self._database.explained(), self._database.transaction():
            self._database.connection.executemany(
                "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?)", [(*row, row_digest(row)) for row in rows]
            )

    def revise(self, finding: Finding) -> None:
        """Replace a stored finding."""
        row = (self.dataset, finding.kind, *finding.place, finding.to_json())
        with self._database.explained(), self._database.transaction():
            self._database.connection.execute(
                "REPLACE INTO findings VALUES (?, ?, ?, ?, ?, ?)", (*row, row_digest(row))
            )

    def find(
        self, kind: type[_Kind], classifier: str = "", level: float | None = None, seed: int | None = None
    ) -> _Kind | None:
        """Return a finding of a kind, a class of :mod:`pqswarm.study.findings`, or None if there is none yet.

        It belongs to a classifier, or to the study; findings of stage II and of held-out events also have a noise level
        [dB], the latter a seed.
        """
        place = (self.dataset, kind.kind, classifier, place_text(level, seed))
        statement = "SELECT * FROM findings WHERE dataset = ? AND kind = ? AND classifier = ? AND level = ?"
        rows = self._database.select(statement, *place)
        if not rows:
            return None
        try:
            return kind.from_json(checked_row(rows[0])[4])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise self.damaged(error) from None

    def finish(self, record: RunRecord) -> None:
        """Store a finished run and remove its checkpoint."""
        row = run_row(record)
        place = key_row(record.key)
        with self._database.explained(), self._database.transaction():
            self._database.connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, row_digest(row))
            )
            self._database.connection.execute(
                "DELETE FROM checkpoints WHERE dataset = ? AND classifier = ? AND algorithm = ? AND run = ?", place
            )

    def save_checkpoints(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Store checkpoints in one transaction."""
        rows = [
            (*key_row(c.key), c.n_evaluations, c.best_error, c.seconds, records.packed_state(c.state))
            for c in checkpoints
        ]
        with self._database.explained(), self._database.transaction():
            self._database.connection.executemany(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def finished(self) -> list[RunRecord]:
        """Return the finished runs on the data set, by classifier, algorithm and number."""
        statement = "SELECT * FROM runs WHERE dataset = ? ORDER BY classifier, algorithm, run"
        rows = self._database.select(statement, self.dataset)
        return [self._restored(row) for row in rows]

    def _restored(self, row: tuple[Any, ...]) -> RunRecord:
        try:
            return row_record(checked_row(row))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise self.damaged(error) from None

    def records(self, keys: Iterable[RunKey]) -> list[RunRecord]:
        """Return the finished runs of some keys, of any data set, in the given order."""
        statement = "SELECT * FROM runs WHERE dataset = ? AND classifier = ? AND algorithm = ? AND run = ?"
        return [self._restored(row) for key in keys for row in self._database.select(statement, *key_row(key))]

    def statuses(self) -> list[RunStatus]:
        """Return the status of all runs on all data sets, without their large parts."""
        begun = "SELECT dataset, classifier, algorithm, run, n_evaluations, best_error, NULL FROM checkpoints"
        ended = (
            "SELECT dataset, classifier, algorithm, run, n_evaluations, error, length(replace(mask, '0', '')) FROM runs"
        )
        rows = self._database.select(begun) + self._database.select(
            ended
        )  # in this order: a run that ends meanwhile is in both
        try:
            statuses = {one.key: one for one in map(row_status, rows)}
        except (ValueError, TypeError, OverflowError) as error:
            raise self.damaged(error) from None
        return list(statuses.values())

    def places(self) -> list[tuple[str, str, str, str]]:
        """Return the keys of all findings: data set, kind, classifier, and level and seed as by :func:`place_text`."""
        rows = self._database.select("SELECT dataset, kind, classifier, level FROM findings")
        return [(dataset, kind, classifier, level) for dataset, kind, classifier, level in rows]

    def checkpoints(self) -> dict[RunKey, Checkpoint]:
        """Return the checkpoints of the data set; damaged ones are left out, and their runs start again."""
        rows = self._database.select("SELECT * FROM checkpoints WHERE dataset = ?", self.dataset)
        found = {}
        for *place, n_evaluations, best_error, seconds, state in rows:
            with suppress(ValueError, TypeError, OverflowError):
                status = row_status((*place, n_evaluations, best_error, None))
                if isfinite(seconds) and not isnan(status.error):
                    kept = records.unpacked_state(state)
                    found[status.key] = Checkpoint(status.key, status.n_evaluations, status.error, kept, seconds)
        return found
