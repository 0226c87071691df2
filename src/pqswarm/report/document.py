"""The content of a report, independent of its format: the sections on each classifier and on the study."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf

from pqswarm.errors import PqswarmError
from pqswarm.events import get_preset
from pqswarm.report.opening import opening
from pqswarm.report.section import ClassifierSection, Content, Drawing, Section, StudySection
from pqswarm.report.sections.registry import REGISTRY
from pqswarm.report.shared.sentences import count_runs, enumerate_words
from pqswarm.report.summary import StudySummary
from pqswarm.report.tables import Table
from pqswarm.study.plan import held_out_seeds

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
    numbers: dict[str, str]
    parts: tuple[Passage, ...]


@dataclass(frozen=True, eq=False)
class Document:
    """A report; the answer of its opening is one line per classifier."""

    title: str
    opening: Content
    description: str
    reference: str
    version: str
    chapters: tuple[Chapter, ...]
    parts: tuple[Passage, ...]

    @property
    def contents(self) -> Iterator[Content]:
        """All contents, in order."""
        yield self.opening
        for parts in (*(chapter.parts for chapter in self.chapters), self.parts):
            yield from (part.content for part in parts)

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [table for content in self.contents for table in content.tables]

    @property
    def drawings(self) -> list[Drawing]:
        """All drawings."""
        return [drawing for content in self.contents for drawing in content.drawings]


def compose(study: StudySummary) -> Document:
    """Return the report of a study, made of all sections, including those of other packages."""
    sections = list(REGISTRY.values())
    chapters = []
    for found in study.classifiers:
        contents = [(s, s.content(study, found)) for s in sections if isinstance(s, ClassifierSection)]
        chapters.append(
            Chapter(
                name=found.name,
                description=found.classifier.describe(),
                answer=tuple(sentence for _, content in contents for sentence in content.answer),
                numbers={label: value for _, content in contents for label, value in content.numbers.items()},
                parts=tuple(
                    name_parts(section, content, f"{found.slug}-") for section, content in contents if content.shown
                ),
            )
        )
    general = [(s, s.content(study)) for s in sections if isinstance(s, StudySection)]
    document = Document(
        title=study.plan.title,
        opening=opening(study),
        description=" ".join([describe_study(study), *(text for _, content in general for text in content.answer)]),
        reference=study.reference,
        version=study.about.version,
        chapters=tuple(chapters),
        parts=tuple(name_parts(section, content, "") for section, content in general if content.shown),
    )
    return number_contents(document)


def number_contents(document: Document) -> Document:
    """Return a report with figures and tables numbered in reading order; their names must be unique."""
    _check_document_names(document)
    figures, tables = count(1), count(1)

    def content(given: Content) -> Content:
        return replace(
            given,
            drawings=[replace(drawing, number=next(figures)) for drawing in given.drawings],
            tables=[replace(table, number=next(tables)) for table in given.tables],
        )

    def parts(given: Sequence[Passage]) -> tuple[Passage, ...]:
        return tuple(replace(part, content=content(part.content)) for part in given)

    first = content(document.opening)
    chapters = tuple(replace(chapter, parts=parts(chapter.parts)) for chapter in document.chapters)
    return replace(document, opening=first, chapters=chapters, parts=parts(document.parts))


def name_parts(section: Section, content: Content, prefix: str) -> Passage:
    """Return a section whose tables are named after the classifier, and drawings after classifier and section."""
    tables = [replace(table, name=f"{prefix}{table.name}") for table in content.tables]
    drawings = [replace(d, name=f"{prefix}{section.name}-{d.name}".rstrip("-")) for d in content.drawings]
    return Passage(section.question, replace(content, tables=tables, drawings=drawings))


def _check_document_names(document: Document) -> None:
    for what, names in (
        ("tables", ["runs", *(table.name for table in document.tables)]),  # "runs" is the file of all runs
        ("drawings", [drawing.name for drawing in document.drawings]),
    ):
        for name in names:
            if names.count(name) > 1 or not _FILE_NAME.fullmatch(name):
                raise PqswarmError(
                    f"{what} of the report are named {name!r}: names must be unique, and consist of letters, digits "
                    f"and . _ + -."
                )


def describe_study(study: StudySummary) -> str:
    """Return a paragraph on what was run, and what is not finished."""
    plan, n_classes = study.plan, len(study.class_names)
    names = [c.name for c in study.classifiers]
    searched, sequential = [a.title for a in plan.searched], [a.title for a in plan.sequential]
    once = f" ({enumerate_words(sequential)}: once)" if sequential else ""
    made = study.generated
    standard = " after IEEE 1159" if made and set(study.class_names) <= set(get_preset("paper").classes) else ""
    wavelet = "" if study.wavelet_level is None else "wavelet "
    on = f" on {study.searched_on}" if made else ""
    origin = f" (preset {made.preset_name}, seed {made.seed})" if made else ""
    options = f" ({made.feature_options.describe()})" if made and made.features else ""
    text = (
        f"{study.n_events} {study.item}s of {n_classes} classes{standard}{origin}, with {len(study.feature_names)} "
        f"{wavelet}features each{options}. {enumerate_words(searched + sequential)} searched for the features with "
        f"which {enumerate_words(names)} {'misclassifies' if len(names) == 1 else 'misclassify'} the fewest "
        f"{study.item}s, in {plan.folds.number}-fold cross-validation{on}: {count_runs(plan.runs)} of "
        f"{plan.max_evaluations} evaluations each{once}."
    )
    levels, sets = sum(level != inf for level in plan.dataset.snr), len(held_out_seeds(plan))
    tests = [f"at {levels} noise level{'s' if levels > 1 else ''}"] if levels else []
    each = f"{sets} sets of " if sets > 1 else ""
    tests += [f"on {each}{study.n_held_out} held-out {study.item}s"] if sets else []
    if tests and all(c.noise is not None and bool(c.held_out) == bool(sets) for c in study.classifiers):
        text += f" The best subsets were then tested {enumerate_words(tests)}."
    return " ".join([text, *_say_unfinished(study)])


def _say_unfinished(study: StudySummary) -> list[str]:
    plan, names = study.plan, [c.name for c in study.classifiers]
    behind = [f"{c.name}: {c.n_runs} of {plan.runs} runs" for c in study.classifiers if c.n_runs < plan.runs]
    behind += [f"{c.name}: no run" for c in plan.classifiers if c.name not in names]
    sentences = []
    if behind:
        sentences.append(
            f"The study is not finished ({'; '.join(behind)}): only runs that all algorithms have finished count."
        )
    untested = [c.name for c in study.classifiers if c.noise is None]
    if untested:
        words = enumerate_words(untested)
        noise = " with noise" if study.generated else ""
        sentences.append(f"The tests of the best subsets{noise} are still pending for {words}.")
    return sentences
