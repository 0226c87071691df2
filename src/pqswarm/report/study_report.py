"""Write the report of one study or of several compared as HTML, Markdown, LaTeX or CSV, or only its figures."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

from pqswarm._base.files import write_atomically
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.comparison import compare_studies
from pqswarm.report.document import Document, compose
from pqswarm.report.html import html_report
from pqswarm.report.section import Content, Drawing, Table, latex_text
from pqswarm.report.style import COLUMN, FIGURE_FORMATS, PAGE, save_figure
from pqswarm.report.summary import MultiverseSummary, StudySummary, read_summary
from pqswarm.statistics.tables import escape_markdown

_NAMES = {"html": "report.html", "md": "report.md", "latex": "report.tex", "csv": "report-csv"}
FORMATS: tuple[str, ...] = tuple(_NAMES)
"""Formats of a report."""


def write_report(
    folder: str | Path,
    format: str = "html",  # noqa: A002
    out: str | Path | None = None,
    *,
    control: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    dataset: str | None = None,
    where: Mapping[str, str] | None = None,
) -> Path:
    """Write the report of a study, finished or not.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    format : {"html", "md", "latex", "csv"}
        One file with everything; text and tables as Markdown; figures and tables as LaTeX; or tables as a folder of CSV
        files with full precision.
    out : str or Path, optional
        Output path; by default in the folder.
    control : str, optional
        The algorithm that tests compare with the others, or ``"best"``; by default that of the plan.
    pairs : sequence of (str, str), optional
        Additional pairs of algorithms to compare, instead of those of the plan.
    dataset : str, optional
        Of a study on several data sets, the one to report on alone.
    where : mapping of str to str, optional
        Of a multiverse, the choices and alternatives of the specifications to report on.

    Returns
    -------
    Path
        The file or folder written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    part = [dataset] if dataset is not None else [word for pair in (where or {}).items() for word in pair]
    name = re.sub(r"[^\w.]+", "-", "-".join([*part, _NAMES[format]]))
    path = _report_path(folder, name) if out is None else Path(out)
    study = read_summary(folder, dataset, where)
    plan = study.plan
    compared = plan.compared(plan.control if control is None else control, plan.comparisons if pairs is None else pairs)
    return _write_report_document(compose(replace(study, plan=compared)), format, path, _report_runs_table(study))


def write_comparison(
    folders: Sequence[str | Path],
    format: str = "html",  # noqa: A002
    out: str | Path | None = None,
) -> Path:
    """Write a report that compares studies, each on one or several data sets.

    Parameters
    ----------
    folders : sequence of str or Path
        Folders of two or more studies, which must have common classifiers and algorithms.
    format : {"html", "md", "latex", "csv"}
        As for :func:`write_report`.
    out : str or Path, optional
        Output path; by default in the first folder, named after the others.

    Returns
    -------
    Path
        The file or folder written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    name = _NAMES[format].replace("report", "-".join(["beside", *(Path(each).resolve().name for each in folders[1:])]))
    path = _report_path(folders[0], name) if out is None else Path(out)
    return _write_report_document(compose_report(folders), format, path)


def compose_report(
    folders: Sequence[str | Path], names: Sequence[str] = (), check: Callable[[], None] = lambda: None
) -> Document:
    """Return the report of a study, or of several compared; `check`, called between steps, may raise an error."""
    names = names or [Path(folder).resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
        if len(set(names)) < len(names):
            raise PqswarmError(f"{max(names, key=names.count)} is given twice: give different studies.")
    studies = {}
    for name, folder in zip(names, folders, strict=True):
        studies[name] = read_summary(folder)
        check()
    if len(studies) == 1:
        return compose(*studies.values())
    return compare_studies(studies)


def _report_path(folder: str | Path, name: str) -> Path:
    """The path of a report in the folder of a study, which may be untrusted: links to other folders are refused."""
    path = Path(folder) / name
    if path.is_symlink() and path.is_dir():
        raise PqswarmError(f"{path} is a link to another folder: remove it, or choose another place with --out.")
    return path


def _write_report_document(document: Document, format: str, path: Path, *more: Table) -> Path:  # noqa: A002
    if format == "csv":
        for table in (*document.tables, *more):
            write_atomically(path / f"{table.name}.csv", table.csv())
        return path
    writers = {"html": html_report, "md": markdown_report, "latex": latex_report}
    return write_atomically(path, writers[format](document))


def write_figures(
    folders: str | Path | Sequence[str | Path],
    out: str | Path,
    format: str = "svg",  # noqa: A002
    *,
    column: bool = False,
) -> list[Path]:
    """Write all figures of the report of a study, or of the comparison of several, one file each.

    Parameters
    ----------
    folders : str, Path or a sequence of these
        Folder of the study, or of several to compare.
    out : str or Path
        Output folder, created if necessary.
    format : {"svg", "pdf", "png"}
        Format of the files.
    column : bool
        Draw them for a column of a journal, as PDF 3.5 inches wide; those that need more room 7.16.

    Returns
    -------
    list of Path
        The files written, named by classifier and section, such as ``"k-nn-algorithms-convergence.svg"``.
    """
    if format not in FIGURE_FORMATS:
        raise unknown_name("format of figures", format, FIGURE_FORMATS)
    if column and format != "pdf":
        raise PqswarmError(f"figures for a column are written as PDF: give --format pdf, not {format}.")
    drawings = compose_report([folders] if isinstance(folders, str | Path) else folders).drawings
    if not column:
        return [save_figure(each.draw(), Path(out) / f"{each.name}.{format}") for each in drawings]
    return [
        save_figure((each.narrow or each.draw)(), Path(out) / f"{each.name}.pdf", COLUMN if each.narrow else PAGE)
        for each in drawings
    ]


def _report_runs_table(study: StudySummary | MultiverseSummary) -> Table:
    """All runs, for your own statistics; of a multiverse only errors and sizes."""
    if isinstance(study, StudySummary):
        return Table("runs", "All runs", list(_report_runs_rows(study)))
    rows = [
        {
            "specification": specification.name,
            "dataset": dataset,
            "classifier": classifier.name,
            "algorithm": title,
            "run": run,
            "error": float(errors[i, j, run]),
            "size": int(classifier.sizes[title][i, j, run]),
        }
        for classifier in study.classifiers
        for title, errors in classifier.errors.items()
        for i, specification in enumerate(study.specifications)
        for j, dataset in enumerate(study.datasets)
        for run in range(errors.shape[2])
    ]
    return Table("runs", "All runs", rows)


def _report_runs_rows(study: StudySummary) -> Iterator[dict[str, Any]]:
    """The column of the data set is left out if there is only one."""
    for name, dataset in study.datasets.items():
        for classifier in dataset.classifiers:
            for title, records in classifier.groups.items():
                for record in records:
                    yield ({"dataset": name} if name else {}) | {
                        "classifier": classifier.name,
                        "algorithm": title,
                        "run": record.key.run,
                        "seed": str(record.seed),
                        "error": record.error,
                        "size": record.size,
                        "evaluations": record.result.n_evaluations,
                        "features": " ".join(str(i) for i in record.result.selected),
                        "names": "; ".join(dataset.feature_names[i] for i in record.result.selected),
                    }


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
        rf"\caption{{{latex_text(drawing.caption)}}}",
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
