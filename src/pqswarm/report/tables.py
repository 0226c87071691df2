"""A table of a report: rows of plain values, and how to show them in HTML, Markdown, LaTeX or CSV."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from typing import Any

from pqswarm.statistics import table as plain_table

__all__ = ["Table"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of plain values.

    Attributes
    ----------
    name : str
        A short name, for files and links.
    caption : str
        What it shows.
    rows : list of dict
        Rows with the same keys.
    headings : mapping of str to str
        Heading of each column; by default its key.
    formats : mapping of str to str
        Format of the numbers of a column, such as ``.4f``.
    lowest, highest : tuple of str
        Columns whose least or greatest value is shown in bold.
    signed : tuple of str
        Columns whose negative values are marked.
    note : str
        What else must be known.
    """

    name: str
    caption: str
    rows: list[dict[str, Any]]
    headings: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    lowest: tuple[str, ...] = ()
    highest: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    note: str = ""

    @property
    def columns(self) -> list[str]:
        """Keys of the columns."""
        return list(self.rows[0]) if self.rows else []

    def heading(self, column: str) -> str:
        """Return the heading of a column."""
        return self.headings.get(column, column)

    def text(self, row: Mapping[str, Any], column: str) -> str:
        """Return a cell as text."""
        value = row[column]
        if value is None:
            return "–"  # noqa: RUF001 (a dash, as in print)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return format(value, self.formats.get(column, ".4g")) if isfinite(value) else str(value)
        return str(value)

    def is_best(self, row: Mapping[str, Any], column: str) -> bool:
        """Whether a cell holds the best value of its column."""
        if column not in (*self.lowest, *self.highest) or not _is_number(row[column]):
            return False
        values = [other[column] for other in self.rows if _is_number(other[column])]
        return bool(row[column] == (min(values) if column in self.lowest else max(values)))

    def is_bad(self, row: Mapping[str, Any], column: str) -> bool:
        """Whether a cell holds a negative value that should not be."""
        return column in self.signed and _is_number(row[column]) and row[column] < 0

    def html(self) -> str:
        """Return the table as HTML."""
        head = "".join(self._html_heading(column) for column in self.columns)
        body = "".join(f"<tr>{self._html_row(row)}</tr>" for row in self.rows)
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        return (
            f'<figure class="table" id="table-{escape(self.name)}"><figcaption>{escape(self.caption)}</figcaption>'
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.caption)}"><table>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}</figure>"
        )

    def _html_heading(self, column: str) -> str:
        numeric = any(_is_number(row[column]) for row in self.rows)
        kind = ' class="number"' if numeric else ""
        return f'<th scope="col"{kind}>{escape(self.heading(column))}</th>'

    def _html_row(self, row: Mapping[str, Any]) -> str:
        cells = []
        for number, column in enumerate(self.columns):
            kinds = [
                "number" if _is_number(row[column]) or row[column] is None else "",
                "best" if self.is_best(row, column) else "",
                "bad" if self.is_bad(row, column) else "",
            ]
            kind = " ".join(filter(None, kinds))
            shown = f' class="{kind}"' if kind else ""
            text = escape(self.text(row, column))
            cells.append(f'<th scope="row">{text}</th>' if number == 0 else f"<td{shown}>{text}</td>")
        return "".join(cells)

    def markdown(self) -> str:
        """Return the table as Markdown, with its caption and note."""
        parts = [f"**{self.caption}**", "", plain_table(self._shown("**"), "md", headings=self.headings)]
        return "\n".join([*parts, "", self.note] if self.note else parts)

    def latex(self) -> str:
        """Return the table as LaTeX, which needs the package booktabs."""
        shown = plain_table(self._shown(""), "latex", headings=self.headings)
        caption = plain_latex(self.caption)
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{caption}}}",
                rf"\label{{tab:{self.name}}}",
                shown,
                r"\end{table}",
            ]
        )

    def csv(self) -> str:
        """Return the table as CSV, with all digits."""
        return plain_table(self.rows, "csv") + "\n"

    def _shown(self, mark: str) -> list[dict[str, Any]]:
        """The rows as text, the best in `mark`."""
        shown = []
        for row in self.rows:
            cells = {}
            for column in self.columns:
                around = mark if self.is_best(row, column) else ""
                cells[column] = f"{around}{self.text(row, column)}{around}"
            shown.append(cells)
        return shown


def plain_latex(text: str) -> str:
    """Return text with the characters that LaTeX would misunderstand escaped."""
    lines = plain_table([{text: ""}], "latex").splitlines()
    return lines[2].removesuffix(r" \\").rstrip()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
