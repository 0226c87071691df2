"""The report of a study as Markdown, and its figures and tables as LaTeX."""

import re
from collections.abc import Sequence
from textwrap import indent

from pqswarm.report.document import Document
from pqswarm.report.section import Content, Drawing, section_text_in_latex
from pqswarm.statistics.tables import escape_markdown


def latex_report(document: Document) -> str:
    """Return figures with a file and tables as LaTeX, which needs the packages booktabs and graphicx."""
    needs = [
        "% needs \\usepackage{booktabs,graphicx}",
        "% and, for the figures, the output of: pqswarm report DIR --figures figures --format pdf",
    ]
    blocks = []
    for content in document.contents:
        blocks += [*map(_latex_figure, content.drawings), *(table.latex() for table in content.tables)]
    return "\n\n".join(["\n".join(needs), *blocks]) + "\n"


def _latex_figure(drawing: Drawing) -> str:
    file = f"figures/{drawing.name}.pdf"
    lines = [
        rf"\IfFileExists{{{file}}}{{%",
        f"% Figure {drawing.number}",
        r"\begin{figure}",
        r"\centering",
        rf"\includegraphics[width=\linewidth]{{{file}}}",
        rf"\caption{{{section_text_in_latex(drawing.caption)}}}",
        rf"\label{{fig:{drawing.name}}}",
        r"\end{figure}}{}",
    ]
    return "\n".join(lines)


def markdown_report(document: Document) -> str:
    """Return the text and tables of a report as Markdown, with special characters escaped."""
    title = re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", document.title)
    answer = (f"**{escape_markdown(line)}**" for line in document.overview.answer)
    blocks = [f"# {title}", *answer, *_markdown_blocks(document.overview), escape_markdown(document.description)]
    blocks += ["The figures are written by `pqswarm report DIR --figures figures`."]
    for chapter in document.chapters:
        best = "; ".join(f"{label}: {value}" for label, value in chapter.numbers.items())
        described = escape_markdown(f"The classifier: {chapter.description}.")
        blocks += [f"## {escape_markdown(chapter.name)}", described, _markdown_list(chapter.answer)]
        blocks += [escape_markdown(f"Best single subset of {document.baseline}: {best}.")] if best else []
        for part in chapter.parts:
            blocks += [f"### {escape_markdown(part.heading)}", *_markdown_blocks(part.content)]
    for part in document.parts:
        blocks += [f"## {escape_markdown(part.heading)}", *_markdown_blocks(part.content)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _markdown_blocks(content: Content) -> list[str]:
    figures = [f"![{escape_markdown(one.title)}](figures/{one.name}.svg)" for one in content.drawings]
    tables = [table.markdown() for table in content.tables]
    listings = [f"{what}:\n\n{indent(text, '    ')}" for what, text in content.listings.items()]
    return [*map(escape_markdown, content.words), _markdown_list(content.points), *figures, *tables, *listings]


def _markdown_list(points: Sequence[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in points)
