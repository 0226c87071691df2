"""The content of a report, independent of its format: overview, and sections on each classifier and the study."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pqswarm.errors import PqswarmError
from pqswarm.report.overview import (
    describe_dataset,
    describe_multiverse,
    describe_study,
    overview_of_multiverse,
    overview_of_study,
)
from pqswarm.report.section import ClassifierSection, Content, Drawing, Section, StudySection, Table, is_in_paper
from pqswarm.report.sections.registry import (
    PAPER_SECTIONS,
    REGISTRY,
    SECTIONS_OVER_DATASETS,
    SECTIONS_OVER_SPECIFICATIONS,
)
from pqswarm.report.summary import DatasetSummary, MultiverseSummary, StudySummary

_FILE_NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True, eq=False)
class Passage:
    """A section with its content; names of tables and drawings are unique within the report."""

    heading: str
    content: Content


@dataclass(frozen=True, eq=False)
class Chapter:
    """The results with one classifier: its name and description, the answer at the top, and the sections."""

    name: str
    description: str
    answer: tuple[str, ...]
    parts: tuple[Passage, ...]


@dataclass(frozen=True, eq=False)
class Document:
    """A report; the answer of its overview is one line per classifier.

    Its stages, the paper's tables and figures in order, come before the chapters; both are empty if there are none.
    """

    title: str
    overview: Content
    description: str
    version: str
    chapters: tuple[Chapter, ...]
    parts: tuple[Passage, ...]
    stages: tuple[Passage, ...] = ()

    @property
    def contents(self) -> Iterator[Content]:
        """All contents, in order."""
        yield self.overview
        for parts in (self.stages, *(chapter.parts for chapter in self.chapters), self.parts):
            yield from (part.content for part in parts)

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [table for content in self.contents for table in content.tables]

    @property
    def drawings(self) -> list[Drawing]:
        """All drawings."""
        return [drawing for content in self.contents for drawing in content.drawings]


def compose(study: DatasetSummary | StudySummary | MultiverseSummary) -> Document:
    """Return the report of a study: on one data set with all sections, on several, or of a multiverse."""
    if isinstance(study, StudySummary) and study.only is not None:
        return compose(replace(study.only, plan=study.plan))
    kinds: dict[type, tuple[Sequence[Section], Callable[[Any], Content], Callable[[Any], str]]] = {
        DatasetSummary: (tuple(REGISTRY.values()), overview_of_study, describe_dataset),
        StudySummary: (SECTIONS_OVER_DATASETS, overview_of_study, describe_study),
        MultiverseSummary: (SECTIONS_OVER_SPECIFICATIONS, overview_of_multiverse, describe_multiverse),
    }
    sections, overview, describe = kinds[type(study)]
    general = [(s, s.content(study)) for s in sections if isinstance(s, StudySection)]
    stages = [(s, s.content(study)) for s in PAPER_SECTIONS] if study.plan.paper else []
    document = Document(
        title=study.plan.title,
        overview=overview(study),
        description=" ".join([describe(study), *(sentence for _, content in general for sentence in content.answer)]),
        version=study.about.version,
        chapters=tuple(_compose_document_chapter(study, classifier, sections) for classifier in study.classifiers),
        parts=tuple(_name_document_parts(section, content, "") for section, content in general if content.shown),
        stages=tuple(_name_document_parts(section, content, "") for section, content in stages if content.shown),
    )
    return number_contents(document)


def _compose_document_chapter(study: Any, classifier: Any, sections: Sequence[Section]) -> Chapter:
    contents = [(s, s.content(study, classifier)) for s in sections if isinstance(s, ClassifierSection)]
    return Chapter(
        name=classifier.name,
        description=classifier.description,
        answer=tuple(sentence for _, content in contents for sentence in content.answer),
        parts=tuple(
            _name_document_parts(section, content, f"{classifier.slug}-")
            for section, content in contents
            if content.shown
        ),
    )


def number_contents(document: Document) -> Document:
    """Return a report with figures and tables numbered in reading order; their names must be unique."""
    _check_document_names(document)
    figures = count(1)
    tables = count(1)

    def number(content: Content) -> Content:
        return replace(
            content,
            drawings=[d if is_in_paper(d) else replace(d, number=next(figures)) for d in content.drawings],
            tables=[t if is_in_paper(t) else replace(t, number=next(tables)) for t in content.tables],
        )

    def number_parts(parts: Sequence[Passage]) -> tuple[Passage, ...]:
        return tuple(replace(part, content=number(part.content)) for part in parts)

    overview = number(document.overview)  # first, since the numbers are those of the reading order
    stages = number_parts(document.stages)
    chapters = tuple(replace(chapter, parts=number_parts(chapter.parts)) for chapter in document.chapters)
    return replace(document, overview=overview, stages=stages, chapters=chapters, parts=number_parts(document.parts))


def _name_document_parts(section: Section, content: Content, prefix: str) -> Passage:
    """Return a section whose tables are named after the classifier, and drawings after classifier and section."""
    tables = [replace(table, name=f"{prefix}{table.name}") for table in content.tables]
    drawings = [replace(d, name=f"{prefix}{section.name}-{d.name}".rstrip("-")) for d in content.drawings]
    return Passage(section.question, replace(content, tables=tables, drawings=drawings))


def _check_document_names(document: Document) -> None:
    for what, names in (
        ("tables", ["runs", "stage-two", "held-out", *(table.name for table in document.tables)]),  # files of all runs
        ("drawings", [drawing.name for drawing in document.drawings]),
    ):
        for name in names:
            if names.count(name) > 1 or not _FILE_NAME.fullmatch(name):
                raise PqswarmError(
                    f"{what} of the report are named {name!r}: names must be unique, and consist of letters, digits "
                    f"and . _ + -."
                )
