"""A section of a report: one question, answered by text, figures and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pqswarm.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a section: its name there (may be empty if it is the only one), caption, note, and drawing function.

    It is drawn on demand; narrow screens show `narrow` instead, if given. `raster` embeds a figure with very many lines
    as pixels. The number is that in the report, 0 outside a report.
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
        """The caption with the number of the figure."""
        return f"Figure {self.number}. {self.caption}" if self.number else self.caption


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
    numbers : mapping of str to str
        Key numbers shown with the answer for a classifier, by label.
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
