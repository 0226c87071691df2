"""Tables of results as text, CSV, Markdown or LaTeX."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pqswarm._base.checks import check_name
from pqswarm._base.text import disarm, printable
from pqswarm.statistics.latex import LatexTable

TABLE_STYLES = ("text", "csv", "md", "latex")

_MARKDOWN = {character: f"\\{character}" for character in "\\|`[]"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def table(
    rows: Iterable[Mapping[str, Any]],
    style: str = "text",
    *,
    headings: Mapping[str, str] | None = None,
    digits: int = 5,
    caption: str = "",
    label: str = "",
    note: str = "",
) -> str:
    r"""Write rows as a table.

    Parameters
    ----------
    rows : iterable of mappings
        Rows with the same keys, such as :meth:`FriedmanResult.rows` returns.
    style : {"text", "csv", "md", "latex"}, default="text"
        ``latex`` is a ``table`` that fits the column of a journal, or a ``table*`` that fits its page; it needs the
        packages booktabs and array. ``csv`` has the keys as headings and full precision, and escapes formulas by an
        apostrophe. Untrusted names are escaped in all styles.
    headings : mapping of str to str, default=None
        Headings that differ from the keys; not in CSV.
    digits : int, default=5
        Significant digits; not in CSV. p-values have three.
    caption, label, note : str, default=""
        In LaTeX, the caption, the name for references, without ``tab:``, and text below the table.

    Returns
    -------
    str
        The table, without a final newline.

    Examples
    --------
    >>> print(table([{"name": "GA", "rank": 5.85}, {"name": "2D-UPSO", "rank": 1.3}]))
    name     rank
    GA       5.85
    2D-UPSO   1.3
    """
    check_name("style of a table", style, TABLE_STYLES)
    given = [dict(row) for row in rows]
    keys = list(given[0]) if given else []
    if style == "csv":
        return _csv_table(keys, given)
    names = [printable((headings or {}).get(key, key)) for key in keys]
    cells = [names, *([_table_cell(row[key], 3 if key.startswith("p_") else digits) for key in keys] for row in given)]
    numeric = [all(is_number(row[key]) or row[key] is None for row in given) for key in keys]
    if style == "latex":
        return LatexTable(names, cells[1:], numeric, caption, label, note).latex()
    if style == "text":
        return "\n".join("  ".join(line).rstrip() for line in _padded_table(cells, numeric))
    escaped = [list(map(escape_markdown, line)) for line in cells]
    head, *body = [f"| {' | '.join(line)} |" for line in _padded_table(escaped, numeric)]
    return "\n".join([head, f"|{'|'.join('---:' if right else '---' for right in numeric)}|", *body])


def is_number(value: Any) -> bool:
    """Whether a cell holds a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _table_cell(value: Any, digits: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{digits}g}" if isinstance(value, float) else "" if value is None else printable(str(value))


def _csv_table(keys: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_csv_table_cell, keys))
    writer.writerows([_csv_table_cell(row[key]) for key in keys] for row in rows)
    return file.getvalue().removesuffix("\n")


def csv_comment_cell(text: str) -> str:
    """Return a comment of CSV, as one cell where a spreadsheet would compute what stands behind a separator.

    >>> csv_comment_cell("# against GA, with restarts"), csv_comment_cell("# against GA,=1+1")
    ('# against GA, with restarts', '"# against GA,=1+1"')
    """
    parts = [part.strip() for part in re.split(r"[,;\t]", text)]
    computed = any(disarm(part) != part for part in parts)
    return '"' + text.replace('"', '""') + '"' if computed else text


def _csv_table_cell(value: Any) -> Any:
    return disarm(printable(value)) if isinstance(value, str) else value


def _padded_table(cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[list[str]]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        for line in cells
    ]


def escape_markdown(text: str) -> str:
    """Return text with special characters of Markdown and HTML escaped."""
    return "".join(_MARKDOWN.get(character, character) for character in printable(text))
