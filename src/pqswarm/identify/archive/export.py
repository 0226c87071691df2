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
from typing import Any

from pqswarm._base.files import write_atomically
from pqswarm._base.interrupts import raise_interrupt
from pqswarm._base.text import count_text, disarm, file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import COLUMNS
from pqswarm.identify.archive.archive import Archive, apply_corrections
from pqswarm.identify.archive.events import event_records, event_values, to_event_microseconds

SEPARATORS = (",", ";", "\t")
DECIMALS = (".", ",")
EXPORTED = (*COLUMNS, "key", "recording", "event", "severity", "hidden")
"""Columns of an exported table."""
_STEPS = 100_000
"""Instructions of SQLite between two looks at the clock."""
_RELATIONS = {
    "events have no record": "events WHERE number NOT IN (SELECT number FROM event_records)",
    "records have no event": "event_records WHERE number NOT IN (SELECT number FROM events)",
    "events have no recording": "events WHERE recording NOT IN (SELECT id FROM recordings)",
    "events have no incident of theirs": "events WHERE incident NOT NULL AND NOT EXISTS (SELECT 1 FROM incidents "
    "WHERE incidents.recording = events.recording AND incidents.position = events.incident)",
    "incidents have no recording": "incidents WHERE recording NOT IN (SELECT id FROM recordings)",
    "recordings have no record": "recordings WHERE id NOT IN (SELECT recording FROM recording_records)",
    "records have no recording": "recording_records WHERE recording NOT IN (SELECT id FROM recordings)",
    "recordings have no station": "recordings WHERE station NOT IN (SELECT id FROM stations)",
    "recordings have no content": "recordings WHERE content NOT IN (SELECT digest FROM contents)",
    "recordings are newer than the archive": "recordings, revisions WHERE revision > last",
    "recordings have another number of events": "(SELECT 1 FROM recordings LEFT JOIN events ON recording = id "
    "GROUP BY id HAVING count(number) != n_events)",
    "files have no content": "files WHERE content != '' AND content NOT IN (SELECT digest FROM contents)",
    "corrections or notes have no recording": "(SELECT content FROM corrections UNION ALL SELECT content FROM notes) "
    "WHERE content NOT IN (SELECT digest FROM contents)",
}
"""What no archive has, and the rows that would have it."""


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


def export_archive(archive: Archive, path: Path, separator: str = ",", decimal: str = ".") -> int:
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


def export_query(archive: Archive, statement: str, seconds: float) -> Iterator[tuple[Any, ...]]:
    """Yield the names of the columns, then the rows of a query in SQL, which can only read and is stopped in time."""
    connection = archive.database.connection
    end = monotonic() + seconds
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)

    def authorize(action: int, _: str | None, function: str | None, *__: str | None) -> int:
        is_allowed = action in allowed and function != "fts3_tokenizer"  # which tells addresses of this process
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    connection.set_authorizer(authorize)
    connection.set_progress_handler(lambda: monotonic() > end, _STEPS)
    try:
        found = connection.execute(statement)
        yield tuple(one[0] for one in found.description or ())
        yield from found
    except sqlite3.Error as error:
        raise_interrupt()
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


def check_archive(archive: Archive) -> Iterator[tuple[bool, str]]:
    """Yield what is wrong with an archive, and whether it is damage; missing files and failures are not.

    Rows are compared with their digests and with each other. What is not seen: the samples of recordings, who is
    analyzing what, and changes by somebody who also writes digests.
    """
    rows = archive.database.rows
    for (text,) in rows("PRAGMA integrity_check(20)"):
        if text != "ok":
            yield True, f"{file_text(text)}."
    try:
        for table, count in archive.database.broken_rows():
            yield True, f"digests do not match {count_text(count, 'row')} of {table}."
    except PqswarmError as error:
        yield True, str(error)
    for what, where in _RELATIONS.items():
        if count := rows(f"SELECT count(*) FROM {where}")[0][0]:
            yield True, f"{count} {what}."
    for (number,) in rows("SELECT recording FROM recording_records WHERE record != ''"):
        try:
            with archive.database.reading_rows():
                yield from ((True, f"recording {number}: {text}.") for text in _compare_recording(archive, number))
        except PqswarmError as error:
            yield True, f"recording {number}: {error}"
    for what, read in (("sites", archive.sites), ("corrections", archive.class_corrections)):
        try:
            read()
        except PqswarmError as error:
            yield True, f"{what}: {error}"
    try:
        yield from ((False, text) for text in _remark_on_files(archive))
    except PqswarmError as error:
        yield True, str(error)


def _remark_on_files(archive: Archive) -> Iterator[str]:
    """Yield what is missing, failed, was refused or waits."""
    missing = [one for one in archive.files.all().values() if one.content and not one.path.exists()]
    elsewhere = archive.files.by_content(sorted({one.content for one in missing}))
    for one in missing:
        if not any(other.path.exists() for other in elsewhere.get(one.content, ())):
            yield f"{file_text(one.path)}: the file is not there; its events are kept."
    for name, reason in archive.database.rows("SELECT name, reason FROM recordings WHERE reason != '' ORDER BY name"):
        yield f"{name}: {reason}"
    for receiver, key, reason in archive.deliveries.refused():
        yield f"{receiver}: event {key} was set aside: {reason}."
    if waiting := len(archive.files.waiting()):
        yield f"{count_text(waiting, 'file')} wait to be analyzed."


def _compare_recording(archive: Archive, number: int) -> Iterator[str]:
    """Yield which columns of a recording are not those of its analysis with the corrections in force."""
    analysis = archive.analysis(number)
    if analysis is None:
        return
    query = (
        "SELECT content, recordings.position, start, seconds, stations.name, n_events FROM recordings "
        "JOIN stations ON stations.id = station WHERE recordings.id = ?"
    )
    ((content, place, *head),) = archive.database.rows(query, number)
    start = to_event_microseconds(analysis.start)
    if head != [start, analysis.duration, file_text(analysis.station), len(analysis.events)]:
        yield "its start, length, station or number of events is not that of its analysis"
    events = event_values(analysis)
    names = list(events[0]) if events else ["position"]
    columns = ", ".join(f"events.{name}" for name in names)
    query = f"SELECT {columns} FROM events WHERE recording = ? ORDER BY position"
    for known, row in zip(events, archive.database.rows(query, number), strict=False):
        wrong = [name for name, value in zip(names, row, strict=True) if value != known[name]]
        if wrong:
            yield f"event {known['position']} has another {', '.join(wrong)} than its record"
    query = "SELECT position, cause, probability, title FROM incidents WHERE recording = ? ORDER BY position"
    incidents = [(i, one.cause, one.probability, file_text(one.title)) for i, one in enumerate(analysis.incidents)]
    if incidents != archive.database.rows(query, number):
        yield "its incidents have other columns than their records"
    corrected = apply_corrections(analysis, archive.events.corrections_of(content, place))
    if event_records(corrected) != event_records(analysis) or corrected.incidents != analysis.incidents:
        yield "the corrections in force are not those of its events"
