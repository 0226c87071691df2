"""Many verdicts in one table for programs: CSV, one row per event."""

import csv
import io
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from pqswarm.identify.verdict import COLUMNS

if TYPE_CHECKING:
    from pqswarm.identify.verdict import Verdict

__all__ = ["csv_text"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(verdicts: "Iterable[Verdict]", leave_out: Collection[str] = ()) -> str:
    """Return a heading and a row per event as CSV; what a spreadsheet would read as a formula gets an apostrophe."""
    stream = io.StringIO()
    kept = [name for name in COLUMNS if name not in leave_out]
    writer = csv.DictWriter(stream, kept, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for verdict in verdicts:
        writer.writerows({key: _disarm(value) for key, value in row.items()} for row in verdict.rows())
    return stream.getvalue()


def _disarm(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
