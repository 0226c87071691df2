"""The report of a study as Markdown, and its tables as LaTeX."""

import re
from collections.abc import Sequence
from textwrap import indent

from pqswarm.report.document import Document
from pqswarm.report.section import Content

__all__ = ["latex_report", "markdown_report"]


def latex_report(document: Document) -> str:
    """Return the tables of a report as LaTeX, which needs the packages booktabs and graphicx."""
    needs = "% needs \\usepackage{booktabs,graphicx}"
    return "\n\n".join([needs, *(table.latex() for table in document.tables)]) + "\n"


def markdown_report(document: Document) -> str:
    """Return the words and tables of a report as Markdown."""
    title = re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", " ".join(document.title.split()))
    blocks = [f"# {title}", document.description]
    for chapter in document.chapters:
        best = "; ".join(f"{label}: {value}" for label, value in chapter.numbers.items())
        blocks += [f"## {chapter.name}", f"The classifier: {chapter.description}.", _list(chapter.answer)]
        blocks += [f"The best single subset of {document.reference}: {best}."] if best else []
        for part in chapter.parts:
            blocks += [f"### {part.heading}", *_blocks(part.content)]
    for part in document.parts:
        blocks += [f"## {part.heading}", *_blocks(part.content)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _blocks(content: Content) -> list[str]:
    figures = [f"Figure `{drawing.name}`: {drawing.caption}." for drawing in content.drawings]
    tables = [table.markdown() for table in content.tables]
    listings = [f"{what}:\n\n{indent(text, '    ')}" for what, text in content.listings.items()]
    return [*content.words, _list(content.points), *figures, *tables, *listings]


def _list(points: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in points)
