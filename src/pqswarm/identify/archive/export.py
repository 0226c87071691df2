"""Events of an archive as tables: CSV with a choice of separator and decimal mark, Parquet; SQL; and checks."""

import csv
import io
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, disarm, file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.rows import COLUMNS

if TYPE_CHECKING:
    from pqswarm.identify.archive.archive import Archive

SEPARATORS = (",", ";", "\t")
DECIMALS = (".", ",")
EXPORTED = (*COLUMNS, "key", "recording", "event", "severity", "hidden")
"""Columns of an exported table."""
_STEPS = 100_000
_LONGEST = 100_000_000
"""Instructions of SQLite between two looks at the clock; bytes of a text, which a single instruction may make."""


def export_csv_table(
    rows: Iterable[Mapping[str, Any]], separator: str = ",", decimal: str = ".", columns: Sequence[str] = EXPORTED
) -> str:
    """Return rows as CSV; cells that look like formulas get an apostrophe."""
    return "".join(export_csv_parts(rows, separator, decimal, columns))


def export_csv_parts(
    rows: Iterable[Mapping[str, Any]], separator: str = ",", decimal: str = ".", columns: Sequence[str] = EXPORTED
) -> Iterator[str]:
    """Yield the lines of a table."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([export_table_cell(row[name], decimal) for name in columns])
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    yield stream.getvalue()


def export_table_cell(value: Any, decimal: str) -> Any:
    """Return a value as a cell of CSV."""
    if value is None or isinstance(value, bool):
        return "" if value is None else int(value)
    if isinstance(value, float):
        return repr(value).replace(".", decimal) if isfinite(value) else ""
    if isinstance(value, bytes):  # paths are bytes
        value = os.fsdecode(value)
    return disarm(file_text(value)) if isinstance(value, str) else value


def export_archive(archive: "Archive", path: Path, separator: str = ",", decimal: str = ".") -> int:
    """Write all events to a CSV or Parquet file; return their number."""
    count = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal count
        for row in archive.events.all():
            count += 1
            yield row

    if path.suffix.lower() == ".parquet":
        _export_parquet(path, counted())
    else:
        write_atomically(
            path,
            lambda file: [file.write(text.encode("utf-8")) for text in export_csv_parts(counted(), separator, decimal)],
        )
    return count


def _export_parquet(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise PqswarmError("Parquet needs the package pyarrow: pip install pyarrow, or export to .csv.") from None
    numbers = {"offset_s", "cause_probability", "magnitude", "volts", "duration_s", "cycles", "probability", "severity"}
    numbers |= {"runner_up_probability", "reference_volts", "frequency", "sampling_rate"}
    types = {name: pyarrow.float64() if name in numbers else pyarrow.string() for name in EXPORTED}
    types |= {"event": pyarrow.int64(), "hidden": pyarrow.bool_(), "incident": pyarrow.int64()}
    schema = pyarrow.schema(list(types.items()))

    def plain(row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: None if row[name] == "" and types[name] != pyarrow.string() else row[name] for name in EXPORTED}

    def write(file: Any) -> None:
        left = map(plain, rows)
        with pyarrow.parquet.ParquetWriter(file, schema) as writer:
            while some := list(islice(left, 10_000)):
                writer.write_table(pyarrow.Table.from_pylist(some, schema))

    write_atomically(path, write)


def export_query(archive: "Archive", statement: str, seconds: float) -> Iterator[tuple[Any, ...]]:
    """Yield the names of the columns, then the rows of a query in SQL, which can only read and is stopped in time."""
    connection = archive.database.connection
    end = monotonic() + seconds
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY)
    connection.set_progress_handler(lambda: monotonic() > end, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    try:
        found = connection.execute(statement)
        yield tuple(one[0] for one in found.description or ())
        yield from found
    except sqlite3.Error as error:
        if "interrupted" in str(error):
            raise PqswarmError(
                f"the query took longer than {seconds:g} s and was stopped: --seconds allows more."
            ) from None
        raise PqswarmError(f"the query cannot be run: {file_text(str(error)).rstrip('.')}.") from None
    except sqlite3.Warning as error:
        raise PqswarmError(f"the query cannot be run: {error}") from None
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)


def check_archive(archive: "Archive") -> Iterator[tuple[bool, str]]:
    """Yield what is wrong with an archive, and whether it is damage; missing files and failures are not."""
    rows = archive.database.rows
    for (text,) in rows("PRAGMA integrity_check(20)"):
        if text != "ok":
            yield True, f"{file_text(text)}."
    joined = "SELECT 1 FROM recordings LEFT JOIN events ON recording = recordings.id"
    checks = {
        "events have no record": "number NOT IN (SELECT number FROM event_records)",
        "events have no recording": "recording NOT IN (SELECT id FROM recordings)",
    }
    counts = {what: f"SELECT count(*) FROM events WHERE {where}" for what, where in checks.items()}
    grouped = f"{joined} GROUP BY recordings.id HAVING count(number) != n_events"
    counts["recordings have another number of events"] = f"SELECT count(*) FROM ({grouped})"
    for what, query in counts.items():
        if count := rows(query)[0][0]:
            yield True, f"{count} {what}."
    for (number,) in rows("SELECT recording FROM recording_records WHERE record != ''"):
        try:
            archive.analysis(number)
        except PqswarmError as error:
            yield True, f"recording {number}: {error}"
    missing = [one for one in archive.files.all().values() if one.content and not one.path.exists()]
    elsewhere = archive.files.by_content(sorted({one.content for one in missing}))
    for one in missing:
        if not any(other.path.exists() for other in elsewhere.get(one.content, ())):
            yield False, f"{one.name}: the file is not there; its events are kept."
    for name, reason in rows("SELECT name, reason FROM recordings WHERE reason != '' ORDER BY name"):
        yield False, f"{name}: {reason}"
    for receiver, key, reason in archive.deliveries.refused():
        yield False, f"{receiver}: event {key} was set aside: {reason}."
    if waiting := len(archive.files.waiting()):
        yield False, f"{count_text(waiting, 'file')} wait to be analysed."
