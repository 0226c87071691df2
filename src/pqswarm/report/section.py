"""A section of a report: one question, answered by text, figures and tables, and how numbers and tables are written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from pqswarm._base.checks import check_name
from pqswarm._base.text import disarm
from pqswarm.errors import PqswarmError
from pqswarm.statistics import table as plain_table
from pqswarm.statistics.latex import LatexTable
from pqswarm.statistics.tables import escape_markdown, is_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SOURCE = "source"
"""The column for the source of a row, in tables with rows of the study and the paper."""

STUDY = "this study"
PAPER = "paper"
"""Its values."""

FORMAT = "_format"
BEST = "_best"
"""Keys that are not shown: format of the numbers of a row; which are in bold: lowest, highest, positive, or none."""

_IN_PAPER = re.compile(r"(Table|Figure) \d+\w? of the paper")
_INTERVAL = "_interval"  # suffix of the keys of intervals
_SENTENCE = 32  # characters from which a cell is wrapped


@dataclass(frozen=True, eq=False)
class Table:
    """A table of plain values.

    Attributes
    ----------
    name, caption : str
        A short name, for files and links; what it shows.
    rows : list of dict
        Rows with the same keys. An interval, with a key ending in ``_interval``, is a pair of numbers; in CSV it has
        two columns.
    columns : mapping of str to (str, str)
        Heading and format of each column, such as ``("mean J", ".4f")``; by default its key, and four digits.
    lowest, highest : tuple of str
        Columns whose minimum or maximum is shown in bold, separately for each source.
    signed, across : tuple of str
        Columns whose negative values are marked; columns compared within each row: the highest is shown in bold, or
        what the row says by `BEST`; they have the format that the row gives by `FORMAT`.
    note : str
        Text below the table.
    conclusions : mapping of str to tuple of str
        Columns of conclusions, colored in HTML, and those of the numbers behind each, which unfold there.
    number : int
        Its number in the report; 0 outside a report.
    """

    name: str
    caption: str
    rows: list[dict[str, Any]]
    columns: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    lowest: tuple[str, ...] = ()
    highest: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    note: str = ""
    conclusions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    number: int = 0

    def __post_init__(self) -> None:
        if not self.rows or any(list(row) != list(self.rows[0]) for row in self.rows):
            raise PqswarmError(f"table {self.name!r} must have rows, all with the same keys: leave an empty table out.")
        for key in (*self.columns, *self.lowest, *self.highest, *self.signed, *self.across, *self.conclusions):
            check_name(f"column of table {self.name!r}", key, self.rows[0])

    @property
    def title(self) -> str:
        """The caption with the number of the table."""
        return f"Table {self.number}. {self.caption}" if self.number else self.caption

    @property
    def keys(self) -> list[str]:
        """Keys of the columns that are shown: those that are not empty."""
        shown = (key for key in self.rows[0] if key not in (FORMAT, BEST))
        return [key for key in shown if any(row[key] not in (None, STUDY) for row in self.rows)]

    @property
    def unfolded(self) -> list[str]:
        """Keys of the columns of a page, where conclusions unfold to their numbers."""
        folded = {key for keys in self.conclusions.values() for key in keys}
        return [key for key in self.keys if key not in folded]

    def details(self, row: Mapping[str, Any], column: str) -> str:
        """Return the numbers behind a conclusion; empty for other columns."""
        numbers = [key for key in self.conclusions.get(column, ()) if row[key] not in (None, "")]
        named = [f"{self.heading(key)} {self.text(row, key)}" if len(numbers) > 1 else row[key] for key in numbers]
        return "; ".join(named)

    def is_numeric(self, column: str) -> bool:
        """Whether a column holds numbers."""
        return any(is_number(row[column]) for row in self.rows) or column.endswith(_INTERVAL)

    def heading(self, column: str) -> str:
        """Return the heading of a column, by default its key."""
        plain = column.capitalize() if column in (self.keys[0], SOURCE) else column
        return self.columns.get(column, (plain, ""))[0]

    def text(self, row: Mapping[str, Any], column: str) -> str:
        """Return a cell as text."""
        value = row[column]
        if value is None:
            return "–"  # noqa: RUF001 (a dash, as in print)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple):
            return " to ".join(self.text({column: end}, column) for end in value)
        if isinstance(value, float):
            of_column = self.columns.get(column, ("", ""))[1] or ".4g"
            form = row.get(FORMAT, of_column) if column in self.across else of_column
            return format(value, form).replace("%", " %") if isfinite(value) else str(value)
        return str(value)

    def is_best(self, row: Mapping[str, Any], column: str) -> bool:
        """Whether a cell holds the best value of its column or row."""
        if column in self.across and is_number(row[column]):
            best = row.get(BEST, "highest")
            if best == "positive":
                return bool(row[column] > 0)
            shown = [row[other] for other in self.across if is_number(row[other])]
            return bool(best and row[column] == {"lowest": min, "highest": max}[best](shown))
        if column not in (*self.lowest, *self.highest) or not is_number(row[column]):
            return False
        peers = [other[column] for other in self.rows if other.get(SOURCE) == row.get(SOURCE)]
        values = [value for value in peers if is_number(value)]
        return bool(row[column] == (min(values) if column in self.lowest else max(values)))

    def is_bad(self, row: Mapping[str, Any], column: str) -> bool:
        """Whether a cell of a signed column is negative."""
        return column in self.signed and is_number(row[column]) and row[column] < 0

    def kinds(self, row: Mapping[str, Any], column: str) -> str:
        """Return the classes of a cell in HTML."""
        is_conclusion = column in self.conclusions
        kinds = {
            "number": self.is_numeric(column),
            "best": self.is_best(row, column),
            "bad": self.is_bad(row, column),
            "wide": self.is_wide(column),
            "conclusion": is_conclusion,
            re.split("[;:]", str(row[column]))[0].replace(" ", "-"): is_conclusion,
        }
        return " ".join(kind for kind, holds in kinds.items() if holds)

    def is_wide(self, column: str) -> bool:
        """Whether a column holds sentences, which are wrapped."""
        return max(len(self.text(row, column)) for row in self.rows) > _SENTENCE

    def value(self, row: Mapping[str, Any], column: str) -> str:
        """Return a number with full precision, for sorting; empty for other values."""
        return repr(row[column]) if is_number(row[column]) else ""

    def markdown(self) -> str:
        """Return the table as Markdown with caption and note; best values in bold, negative ones in italics."""
        cells = [{key: self._marked(row, key) for key in self.keys} for row in self.rows]
        headings = {key: self.heading(key) for key in self.keys}
        head, _, *body = plain_table(cells, "md", headings=headings).splitlines()
        rule = f"|{'|'.join('---:' if self.is_numeric(column) else '---' for column in self.keys)}|"
        parts = [f"**{escape_markdown(self.title)}**", "", head, rule, *body]
        return "\n".join([*parts, "", escape_markdown(self.note)] if self.note else parts)

    def latex(self) -> str:
        """Return the table as LaTeX (packages booktabs and array); best values are bold, negative ones underlined."""
        cells = [(i, row, j, key) for i, row in enumerate(self.rows) for j, key in enumerate(self.keys)]
        marks = {(i, j): "textbf" for i, row, j, key in cells if self.is_best(row, key)}
        marks |= {(i, j): "underline" for i, row, j, key in cells if self.is_bad(row, key)}
        head = [self.heading(key) for key in self.keys]
        body = [[self.text(row, key) for key in self.keys] for row in self.rows]
        numeric = [self.is_numeric(key) for key in self.keys]
        return LatexTable(head, body, numeric, self.caption, self.name, self.note, marks).latex()

    def csv(self) -> str:
        """Return the table as CSV with full precision; formulas in text are escaped by an apostrophe."""
        rows = [
            {str(disarm(key)): disarm(value) for key, value in _split_table_intervals(row).items()} for row in self.rows
        ]
        return plain_table(rows, "csv") + "\n"

    def _marked(self, row: Mapping[str, Any], key: str) -> str:
        """A cell as text, in Markdown."""
        mark = "*" if self.is_bad(row, key) else "**" if self.is_best(row, key) else ""
        return f"{mark}{self.text(row, key)}{mark}"


def _split_table_intervals(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with two entries for each interval."""
    plain: dict[str, Any] = {}
    for key, value in row.items():
        if key in (FORMAT, BEST):
            continue
        if key.endswith(_INTERVAL):
            name = key.removesuffix(_INTERVAL)
            plain |= zip((f"{name}_lower", f"{name}_upper"), value or (None, None), strict=True)
        else:
            plain[key] = value
    return plain


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a section: its name there (may be empty if it is the only one), caption, note, and drawing function.

    It is drawn on demand; narrow screens show `narrow` instead, if given. The number is that in the report, 0 outside a
    report.
    """

    name: str
    caption: str
    note: str
    draw: Callable[[], "Figure"]
    narrow: "Callable[[], Figure] | None" = None
    number: int = 0

    @property
    def title(self) -> str:
        """The caption with the number of the figure."""
        return f"Figure {self.number}. {self.caption}" if self.number else self.caption


def is_in_paper(shown: Table | Drawing) -> bool:
    """Whether a table or figure is one of the paper's, by its caption; it then has no number in the report."""
    return _IN_PAPER.match(shown.caption) is not None


def adaptive_drawing(name: str, caption: str, note: str, plot: "Callable[..., Figure]", *values: Any) -> Drawing:
    """Return a drawing by a function of these values that takes `narrow`, whether the screen is."""
    return Drawing(name, caption, note, partial(plot, *values), narrow=partial(plot, *values, narrow=True))


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a section; a section without content is left out.

    Attributes
    ----------
    words, points : sequence of str
        Paragraphs, and list items after them.
    drawings, tables : sequence of Drawing, and of Table
        Figures and tables; tables of a classifier have unique names.
    listings : mapping of str to str
        Preformatted texts, by title.
    answer : sequence of str
        Sentences for the answer at the top, which collects those of all sections.
    """

    words: Sequence[str] = ()
    points: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    listings: Mapping[str, str] = field(default_factory=dict)
    answer: Sequence[str] = ()

    @property
    def shown(self) -> bool:
        """Whether there is anything to show below the heading."""
        return any((self.words, self.points, self.drawings, self.tables, self.listings))


@dataclass(frozen=True)
class Section:
    """A question of a report: its name, used in file names, and the question, used as the heading."""

    name: str
    question: str


@dataclass(frozen=True)
class ClassifierSection(Section):
    """A question answered for each classifier: `content` takes the summaries of the study and of the classifier.

    Examples
    --------
    >>> def content(study, found):
    ...     rows = [{"algorithm": title, "runs": len(runs)} for title, runs in found.runs.items()]
    ...     return Content(tables=[Table("number", "Finished runs", rows)])
    >>> ClassifierSection("number", "How many runs are finished?", content).question
    'How many runs are finished?'
    """

    content: Callable[[Any, Any], Content]


@dataclass(frozen=True)
class StudySection(Section):
    """A question about the whole study: `content` takes its summary."""

    content: Callable[[Any], Content]


def percent(fraction: float) -> str:
    """Return a fraction in percent: 0.0638 is ``6.38 %``."""
    return f"{100 * fraction:.2f} %"


def probability(p: float) -> str:
    """Return a p-value as text: ``p = 0.031``, or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def count(mean: float) -> str:
    """Return a mean number, with one decimal if it is not an integer."""
    return f"{mean:.0f}" if mean == round(mean) else f"{mean:.1f}"


def features(number: int) -> str:
    """Return a number of features as text."""
    return f"{number} feature{'s' * (number != 1)}"


def count_runs(number: int) -> str:
    """Return a number of runs as text."""
    return f"{number} runs" if number > 1 else "one run"


def duration(seconds: float) -> str:
    """Return a duration [s] as text, in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def points(value: float) -> str:
    """Return a number of percentage points with two decimals, never as minus zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def enumerate_words(words: Sequence[str]) -> str:
    """Return words as a list: ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
