"""Write the report of one study or of several compared as HTML, Markdown, LaTeX or CSV, or only its figures."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pqswarm._base.checks import check_name
from pqswarm._base.files import write_atomically
from pqswarm.errors import PqswarmError
from pqswarm.report.comparison import compare_studies
from pqswarm.report.document import Document, compose
from pqswarm.report.html import html_report
from pqswarm.report.section import Drawing, Table
from pqswarm.report.style import COLUMN, FIGURE_FORMATS, PAGE, save_figure
from pqswarm.report.summary import MultiverseSummary, StudySummary, read_summary
from pqswarm.statistics.latex import latex_text
from pqswarm.statistics.tables import escape_markdown
from pqswarm.study import Study, read_study

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
    format : {"html", "md", "latex", "csv"}, default="html"
        One file with everything; text and tables as Markdown; figures and tables as LaTeX; or tables as a folder of CSV
        files with full precision.
    out : str or Path, default=None
        Output path; by default in the folder.
    control : str, default=None
        The algorithm that tests compare with the others, or ``"best"``; by default that of the plan.
    pairs : sequence of (str, str), default=None
        Additional pairs of algorithms to compare, instead of those of the plan.
    dataset : str, default=None
        Of a study on several data sets, the one to report on alone.
    where : mapping of str to str, default=None
        Of a multiverse, the choices and alternatives of the specifications to report on.

    Returns
    -------
    Path
        The file or folder written.
    """
    check_name("format", format, FORMATS)
    part = [dataset] if dataset is not None else [word for pair in (where or {}).items() for word in pair]
    name = re.sub(r"[^\w.]+", "-", "-".join([*part, _NAMES[format]]))
    path = _report_path(folder, name) if out is None else Path(out)
    study = read_summary(folder, dataset, where)
    plan = study.plan
    compared = plan.compared(plan.control if control is None else control, plan.comparisons if pairs is None else pairs)
    more = _report_run_tables(read_study(folder), study, dataset) if format == "csv" else ()
    return _write_report_document(compose(replace(study, plan=compared)), format, path, *more)


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
    format : {"html", "md", "latex", "csv"}, default="html"
        As for :func:`write_report`.
    out : str or Path, default=None
        Output path; by default in the first folder, named after the others.

    Returns
    -------
    Path
        The file or folder written.
    """
    check_name("format", format, FORMATS)
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
    return compose(*studies.values()) if len(studies) == 1 else compare_studies(studies)


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
    if format == "latex":
        return write_atomically(path, latex_report(document, path.stem))
    return write_atomically(path, (html_report if format == "html" else markdown_report)(document))


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
    format : {"svg", "pdf", "png"}, default="svg"
        Format of the files.
    column : bool, default=False
        Whether to draw them for a column of a journal, as PDF 3.5 inches wide; those that need more room 7.16.

    Returns
    -------
    list of Path
        The files written, named by classifier and section, such as ``"k-nn-algorithms-convergence.svg"``.
    """
    check_name("format of figures", format, FIGURE_FORMATS)
    if column and format != "pdf":
        raise PqswarmError(f"figures for a column are written as PDF: give --format pdf, not {format}.")
    drawings = compose_report([folders] if isinstance(folders, str | Path) else folders).drawings
    if not column:
        return [save_figure(each.draw(), Path(out) / f"{each.name}.{format}") for each in drawings]
    return [
        save_figure((each.narrow or each.draw)(), Path(out) / f"{each.name}.pdf", COLUMN if each.narrow else PAGE)
        for each in drawings
    ]


def _report_run_tables(results: Study, study: StudySummary | MultiverseSummary, dataset: str | None) -> Iterator[Table]:
    """All runs, and the subset of each in stage II and on held-out events, for your own statistics."""
    tables = {"runs": results.rows(), "stage-two": results.stage_two_rows(), "held-out": results.held_out_rows()}
    shown = {"dataset": {dataset}} if dataset is not None else {}
    if isinstance(study, MultiverseSummary):
        shown = {"specification": {specification.name for specification in study.specifications}}
    for name, rows in tables.items():
        kept = [row for row in rows if all(row[column] in names for column, names in shown.items())]
        if kept:
            yield Table(name, "All runs", [_report_run_row(row) for row in kept])


def _report_run_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what a file need not say: the name of the only data set, and times."""
    joints = {"features": " ", "names": "; "}
    kept = {key: value for key, value in row.items() if (key, value) != ("dataset", "") and key != "seconds"}
    return {key: joints[key].join(map(str, value)) if key in joints else value for key, value in kept.items()}


_LATEX_HEAD = r"""% Tables and figures for an article in two columns; refer to them by \ref{tab:...} and \ref{fig:...}.
% A document with all of them, in this or another class of journals in two columns:
%   \documentclass[5p,twocolumn]{elsarticle}
%   \usepackage{array,booktabs,graphicx}
%   \extrafloats{500}\maxdeadcycles=1000
%   \begin{document}
%   \input{FILE}
%   \end{document}
% The figures are the output of: pqswarm report DIR --figures figures --single-column"""


def latex_report(document: Document, name: str = "report") -> str:
    """Return tables and, where their files are present, figures as LaTeX, for the columns and pages of a journal."""
    blocks = [_LATEX_HEAD.replace("FILE", name)]
    for content in document.contents:
        blocks += [*map(_latex_figure, content.drawings), *(table.latex() for table in content.tables)]
    return "\n\n".join(blocks) + "\n"


def _latex_figure(drawing: Drawing) -> str:
    """A figure, across the page if it has no form for a column."""
    file = f"figures/{drawing.name}.pdf"
    environment = "figure" if drawing.narrow else "figure*"
    lines = [
        rf"\IfFileExists{{{file}}}{{%",
        rf"\begin{{{environment}}}",
        r"\centering\sloppy",
        rf"\includegraphics[width=\linewidth]{{{file}}}",
        rf"\caption{{{latex_text(drawing.caption)}}}",
        rf"\label{{fig:{drawing.name}}}",
        rf"\end{{{environment}}}}}{{}}",
    ]
    return "\n".join(lines)


def markdown_report(document: Document) -> str:
    """Return the text and tables of a report as Markdown, with special characters escaped."""
    from jinja2 import Environment, PackageLoader

    loader = Environment(loader=PackageLoader("pqswarm.report"), trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    loader.filters["md"] = escape_markdown
    title = re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", document.title)
    text = loader.get_template("report.md.jinja").render(document=document, title=title)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
