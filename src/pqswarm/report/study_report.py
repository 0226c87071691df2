"""Write the report of a study: HTML, Markdown, LaTeX or CSV; or its figures alone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pqswarm._files import write_atomically
from pqswarm.errors import unknown_name
from pqswarm.report.document import compose
from pqswarm.report.html import html_report
from pqswarm.report.style import FIGURE_FORMATS, save_figure
from pqswarm.report.summary import StudySummary, summarize
from pqswarm.report.tables import Table
from pqswarm.report.text import latex_report, markdown_report
from pqswarm.study import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "study_figures", "write_figures", "write_report"]

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
        One file with everything; its words and tables as Markdown; or its tables as LaTeX, or as a folder of CSV
        files with all digits.
    out : str or Path, optional
        Where to write; by default into the folder.
    control : str, optional
        The algorithm that tests compare with each of the others, or ``"best"``; by default that of the plan.
    pairs : sequence of (str, str), optional
        Pairs of algorithms to compare besides, instead of the plan's.

    Returns
    -------
    Path
        What was written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    study = _read(folder)
    plan = study.plan
    compared = plan.compared(plan.control if control is None else control, plan.comparisons if pairs is None else pairs)
    study = replace(study, plan=compared)
    document = compose(study)
    path = Path(folder) / _NAMES[format] if out is None else Path(out)
    if format == "csv":
        for table in (*document.tables, _runs(study)):
            write_atomically(path / f"{table.name}.csv", table.csv())
        return path
    writers = {"html": html_report, "md": markdown_report, "latex": latex_report}
    return write_atomically(path, writers[format](document))


def study_figures(folder: str | Path) -> "dict[str, Figure]":
    """Draw all figures of the report of a study.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By classifier and section, such as ``"k-nn-algorithms-convergence"``.
    """
    return {drawing.name: drawing.draw() for drawing in compose(_read(folder)).drawings}


def write_figures(folder: str | Path, out: str | Path, format: str = "svg") -> list[Path]:  # noqa: A002
    """Write all figures of the report of a study, a file for each.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    out : str or Path
        Folder to write into; it is made if need be.
    format : {"svg", "pdf", "png"}
        Format of the files.

    Returns
    -------
    list of Path
        What was written: see :func:`study_figures` for the names.
    """
    if format not in FIGURE_FORMATS:
        raise unknown_name("format of figures", format, FIGURE_FORMATS)
    return [save_figure(figure, Path(out) / f"{name}.{format}") for name, figure in study_figures(folder).items()]


def _read(folder: str | Path) -> StudySummary:
    with Store(folder) as store:
        return summarize(store)


def _runs(study: StudySummary) -> Table:
    """Every run, for one's own statistics."""
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
