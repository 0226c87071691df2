"""Write the report of one or two studies as HTML, Markdown, LaTeX or CSV, or only its figures."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pqswarm._base.files import write_atomically
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.comparison import compare_studies
from pqswarm.report.document import Document, compose
from pqswarm.report.html import html_report
from pqswarm.report.section import Drawing
from pqswarm.report.style import FIGURE_FORMATS, save_figure
from pqswarm.report.summary import StudySummary, summarize
from pqswarm.report.tables import Table
from pqswarm.report.text import latex_report, markdown_report
from pqswarm.study import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "study_figures", "write_comparison", "write_figures", "write_report"]

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

    Returns
    -------
    Path
        The file or folder written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    path = _report_path(folder, _NAMES[format]) if out is None else Path(out)
    study = _read_summary(folder)
    plan = study.plan
    compared = plan.compared(plan.control if control is None else control, plan.comparisons if pairs is None else pairs)
    study = replace(study, plan=compared)
    document = compose(study)
    return _write_document(document, format, path, _runs_table(study))


def write_comparison(
    first: str | Path,
    second: str | Path,
    format: str = "html",  # noqa: A002
    out: str | Path | None = None,
) -> Path:
    """Write a report that compares two studies.

    Parameters
    ----------
    first, second : str or Path
        Folders of the studies, which must have common classifiers and algorithms.
    format : {"html", "md", "latex", "csv"}
        As for :func:`write_report`.
    out : str or Path, optional
        Output path; by default in the first folder, named after the second.

    Returns
    -------
    Path
        The file or folder written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    name = _NAMES[format].replace("report", f"beside-{Path(second).resolve().name}")
    path = _report_path(first, name) if out is None else Path(out)
    return _write_document(_compare(first, second), format, path)


def _compare(first: str | Path, second: str | Path) -> Document:
    """Compare two studies, named after their folders."""
    names = Path(first).resolve().name, Path(second).resolve().name
    if names[0] == names[1]:
        names = str(first), str(second)
    return compare_studies(_read_summary(first), _read_summary(second), names)


def _report_path(folder: str | Path, name: str) -> Path:
    """The path of a report in the folder of a study, which may be untrusted: links to other folders are refused."""
    path = Path(folder) / name
    if path.is_symlink() and path.is_dir():
        raise PqswarmError(f"{path} is a link to another folder: remove it, or choose another place with --out.")
    return path


def _write_document(document: Document, format: str, path: Path, *more: Table) -> Path:  # noqa: A002
    if format == "csv":
        for table in (*document.tables, *more):
            write_atomically(path / f"{table.name}.csv", table.csv())
        return path
    writers = {"html": html_report, "md": markdown_report, "latex": latex_report}
    return write_atomically(path, writers[format](document))


def study_figures(folder: str | Path, second: str | Path | None = None) -> "dict[str, Figure]":
    """Draw all figures of the report of a study, or of the comparison of two.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    second : str or Path, optional
        Folder of a second study to compare with.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By classifier and section, such as ``"k-nn-algorithms-convergence"``.
    """
    return {drawing.name: drawing.draw() for drawing in _drawings(folder, second)}


def write_figures(
    folder: str | Path,
    out: str | Path,
    format: str = "svg",  # noqa: A002
    second: str | Path | None = None,
) -> list[Path]:
    """Write all figures of the report of a study, or of the comparison of two, one file each.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    out : str or Path
        Output folder, created if necessary.
    format : {"svg", "pdf", "png"}
        Format of the files.
    second : str or Path, optional
        Folder of a second study to compare with.

    Returns
    -------
    list of Path
        The files written; see :func:`study_figures` for their names.
    """
    if format not in FIGURE_FORMATS:
        raise unknown_name("format of figures", format, FIGURE_FORMATS)
    drawings = _drawings(folder, second)
    return [save_figure(drawing.draw(), Path(out) / f"{drawing.name}.{format}") for drawing in drawings]


def _drawings(folder: str | Path, second: str | Path | None) -> list[Drawing]:
    document = compose(_read_summary(folder)) if second is None else _compare(folder, second)
    return document.drawings


def _read_summary(folder: str | Path) -> StudySummary:
    with Store(folder) as store:
        return summarize(store)


def _runs_table(study: StudySummary) -> Table:
    """All runs, for your own statistics."""
    rows = [
        {
            "classifier": found.name,
            "algorithm": title,
            "run": record.key.run,
            "seed": str(record.seed),
            "error": record.error,
            "size": record.size,
            "evaluations": record.result.n_evaluations,
            "features": " ".join(str(i) for i in record.result.selected),
        }
        for found in study.classifiers
        for title, records in [*found.runs.items(), *((title, [record]) for title, record in found.sequential.items())]
        for record in records
    ]
    return Table("runs", "All runs", rows)
