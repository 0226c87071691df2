"""A section of a report: one question, and its answer as words, figures and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pqswarm.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pqswarm.report.summary import ClassifierSummary, StudySummary

__all__ = ["ClassifierSection", "Content", "Drawing", "Section", "StudySection"]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a section: its name there, empty for the only one, what it shows, how to read it, and how to draw it.

    It is drawn when it is needed; on the screen of a phone a page shows `narrow` instead, if there is one. A page holds
    one with very many lines as pixels: `raster`. The number is that in the report, 0 outside of one.
    """

    name: str
    caption: str
    note: str
    draw: Callable[[], "Figure"]
    raster: bool = False
    narrow: "Callable[[], Figure] | None" = None
    number: int = 0

    @property
    def title(self) -> str:
        """The caption, after the number of the figure."""
        return f"Figure {self.number}. {self.caption}" if self.number else self.caption


@dataclass(frozen=True, eq=False)
class Content:
    """What a section has to say; one that has nothing to say is left out.

    Attributes
    ----------
    words, points : sequence of str
        Paragraphs, and what is listed after them.
    drawings, tables : sequence of Drawing, and of Table
        Figures and tables; no two tables of a classifier have the same name.
    listings : mapping of str to str
        Texts to be shown as they are, by what they are.
    answer : sequence of str
        Sentences for the answer at the top, which is made of those of all sections, or on the study.
    numbers : mapping of str to str
        What stands in large figures beside the answer for a classifier, by its label.
    """

    words: Sequence[str] = ()
    points: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    listings: Mapping[str, str] = field(default_factory=dict)
    answer: Sequence[str] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> bool:
        """Whether there is anything to show under the heading of the section."""
        return any((self.words, self.points, self.drawings, self.tables, self.listings))


@dataclass(frozen=True)
class Section:
    """A question of a report: its name for files, the question, which is its heading, and how to answer it."""

    name: str
    question: str


@dataclass(frozen=True)
class ClassifierSection(Section):
    """A question that is answered for each classifier: `content` takes the summaries of the study and of it.

    Examples
    --------
    >>> def content(study, found):
    ...     rows = [{"algorithm": title, "runs": len(runs)} for title, runs in found.runs.items()]
    ...     return Content(tables=[Table("number", "Finished runs", rows)])
    >>> ClassifierSection("number", "How many runs are finished?", content).question
    'How many runs are finished?'
    """

    content: Callable[["StudySummary", "ClassifierSummary"], Content]


@dataclass(frozen=True)
class StudySection(Section):
    """A question about the whole study: `content` takes its summary."""

    content: Callable[["StudySummary"], Content]
