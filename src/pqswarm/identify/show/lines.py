"""Rows of events as lines of text, CSV and JSON."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from pqswarm._base.text import disarm, file_text, voltage_text
from pqswarm.identify.agreement import in_words
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.rows import COLUMNS
from pqswarm.identify.words import duration_text, time_text
from pqswarm.measure.event import event_time


def line_heading(analysis: Analysis) -> str:
    """Return the heading of the events of a recording: station, date, file, and place in it."""
    path = analysis.path
    source = analysis.source
    start = analysis.events[0].event.start if analysis.events else 0.0
    date = time_text(event_time(analysis.start, start))[:10]
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    place = f"{path}{source.removeprefix(name)}" if name and source.startswith(name) else path or source
    return ", ".join(filter(None, (analysis.station, date, place))) or "recording"


def text_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each event, in columns: time, type, phases, magnitude, duration, cause, class, agreement."""
    cells = [_text_line_cells(row) for row in rows]
    used = [i for i in range(len(cells[0])) if any(row[i] for row in cells)] if cells else []
    cells = [tuple(row[i] for i in used) for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(used))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _text_line_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = str(row["category"] or row["type"])
    if row["sag_type"]:
        what += f" (type {row['sag_type']})"
    where = " ".join(sorted(str(row["phases"]).split())) or str(row["channels"])
    where += f" of {row['system']}" if row["system"] else ""
    sure = f" {100 * row['probability']:.0f} %" if isinstance(row["probability"], float) else ""
    label = in_words(row["label"]) + sure if row["label"] else ""
    return (
        f"{row['date']} {row['time']}" if row["time"] else f"+{row['offset_s'] or 0:.3f} s",
        what,
        where,
        _line_magnitude(row["magnitude"], str(row["unit"]), row["volts"]),
        _line_duration(row["duration_s"], row["cycles"]),
        str(row["cause"]),
        label,
        str(row["agreement"]),
    )


def _line_magnitude(value: Any, unit: str, volts: Any) -> str:
    if value is None or not isfinite(value):
        return ""
    if unit != "pu":
        return f"{value:.3g} {unit}"
    return f"{value:.2f} pu" + (f" ({voltage_text(volts)})" if isinstance(volts, float) else "")


def _line_duration(seconds: float | None, cycles: float | None) -> str:
    return duration_text(seconds, cycles / seconds) if seconds and cycles else ""


def csv_lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> str:
    """Return a header and a row for each event; cells that look like formulas get an apostrophe."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({key: _csv_line_cell(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()


def _csv_line_cell(value: object) -> object:
    if isinstance(value, float) and not isfinite(value):
        return ""
    return disarm(file_text(value)) if isinstance(value, str) else value
