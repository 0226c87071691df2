"""Many verdicts in one table: CSV for programs, HTML for people."""

import csv
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from pqswarm.identify.agreement import in_words

if TYPE_CHECKING:
    from pqswarm.identify.verdict import Verdict

__all__ = ["csv_text", "html_text"]

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35em .8em .35em 0; border-bottom: 1px solid #d8dde3; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.disagree td:last-child { color: #b3261e; }
@media (prefers-color-scheme: dark) {
  body { background: #14171a; color: #e4e7ea; } th, td { border-color: #3a4047; }
  tr.disagree td:last-child { color: #ff8a80; }
}
"""
_HEADINGS = (
    *("recording", "channel", "by the rules (IEEE 1159)"),
    *("by the model", "probability", "runner-up", "agreement"),
)


def csv_text(verdicts: "Sequence[Verdict]") -> str:
    """Return a heading and a row per channel as CSV; what a spreadsheet would read as a formula gets an apostrophe."""
    rows = [row for verdict in verdicts for row in verdict.rows()]
    stream = io.StringIO()
    if rows:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _disarm(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()


def _disarm(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def html_text(verdicts: "Sequence[Verdict]", failures: Sequence[str] = ()) -> str:
    """Return one page that opens offline: a row per channel, and why some recordings have none."""
    body = []
    for row in (row for verdict in verdicts for row in verdict.rows()):
        cells = [
            row["source"],
            row["channels"] + (f" ({row['phases']})" if row["phases"] else ""),
            row["sentence"],
            in_words(row["class"]),
            f"{100 * row['probability']:.0f} %" if row["class"] else "",
            in_words(row["runner_up"]),
            row["agreement"],
        ]
        kind = "disagree" if row["agreement"].startswith("disagree") else ""
        inside = "".join(
            f'<td class="number">{escape(cell)}</td>' if i == 4 else f"<td>{escape(cell)}</td>"
            for i, cell in enumerate(cells)
        )
        body.append(f'<tr class="{kind}" title="{escape(row["caveats"])}">{inside}</tr>')
    failed = "".join(f"<li>{escape(text)}</li>" for text in failures)
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>pqswarm: verdicts</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>Verdicts on {len(verdicts)} recordings</h1>\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(body)
        + "\n</tbody></table>\n"
        + (f"<h2>Not read</h2><ul>{failed}</ul>\n" if failures else "")
        + "<p>Hold the pointer over a row for the caveats of its verdict.</p></body></html>\n"
    )
