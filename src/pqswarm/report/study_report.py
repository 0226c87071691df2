"""Write the report of one study or of several compared as HTML, Markdown, LaTeX or CSV, or only its figures."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pqswarm._base.files import write_atomically
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.comparison import compare_studies
from pqswarm.report.datasets.document import compose_datasets
from pqswarm.report.datasets.summary import DatasetsSummary, summarize_datasets
from pqswarm.report.document import Document, compose
from pqswarm.report.html import html_report
from pqswarm.report.multiverse.document import compose_multiverse
from pqswarm.report.multiverse.summary import MultiverseSummary, summarize_multiverse
from pqswarm.report.style import COLUMN, FIGURE_FORMATS, PAGE, save_figure
from pqswarm.report.summary import StudySummary, summarize
from pqswarm.report.tables import Table
from pqswarm.report.text import latex_report, markdown_report
from pqswarm.study import Store, findings
from pqswarm.study.plan_file import restore_plan

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
        Of a multiverse, the choices and alternatives of the readings to report on.

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
    document, runs = _compose(replace(study, plan=compared))
    return _write_document(document, format, path, runs)


def _compose(study: StudySummary | DatasetsSummary | MultiverseSummary) -> tuple[Document, Table]:
    """The report of a study, and all of its runs."""
    if isinstance(study, StudySummary):
        return compose(study), _table_of_runs({"": study})
    if isinstance(study, MultiverseSummary):
        return compose_multiverse(study), _table_of_reading_runs(study)
    return compose_datasets(study), _table_of_runs(study.members)


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
    return _write_document(compose_report(folders), format, path)


def compose_report(
    folders: Sequence[str | Path], names: Sequence[str] = (), check: Callable[[], None] = lambda: None
) -> Document:
    """Return the report of a study, or of several compared; `check`, called between steps, may raise an error."""
    names = names or [Path(folder).resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
        if len(set(names)) < len(names):
            raise PqswarmError(f"{max(names, key=names.count)} is given twice: give different studies.")
    studies = []
    for folder in folders:
        studies.append(read_summary(folder))
        check()
    if len(studies) == 1:
        return _compose(studies[0])[0]
    compared: dict[str, DatasetsSummary] = {}
    for name, study in zip(names, studies, strict=True):
        if isinstance(study, MultiverseSummary):
            raise PqswarmError(f"{name} is a multiverse: its report compares its readings; compare other studies.")
        compared[name] = DatasetsSummary.of(study) if isinstance(study, StudySummary) else study
    return compare_studies(compared)


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


def read_summary(
    folder: str | Path, dataset: str | None = None, where: Mapping[str, str] | None = None
) -> StudySummary | DatasetsSummary | MultiverseSummary:
    """Read the results of a study: on its only data set, on one of several, or on all of them."""
    with Store(folder) as store:
        about = store.find(findings.About)
        plan = None if about is None else restore_plan(about.plan)
        names = [""] if plan is None else list(plan.cells())
        if dataset is None and plan is not None and plan.multiverse is not None:
            return summarize_multiverse(store, where or {})
        if where:
            raise PqswarmError(f"the study in {folder} is not a multiverse: leave --where out.")
        if names == [""]:
            if dataset is not None:
                raise PqswarmError(f"the study in {folder} has one data set: leave --dataset out.")
            return summarize(store)
        if dataset is None:
            return summarize_datasets(store)
        if dataset not in names:
            raise unknown_name("data set", dataset, names)
        return summarize(store.of(dataset))


def _table_of_reading_runs(study: MultiverseSummary) -> Table:
    """The error and size of all runs of a multiverse."""
    rows = [
        {"reading": reading.name, "dataset": dataset, "classifier": found.name, "algorithm": title, "run": run}
        | {"error": float(errors[i, j, run]), "size": int(found.sizes[title][i, j, run])}
        for found in study.classifiers
        for title, errors in found.errors.items()
        for i, reading in enumerate(study.readings)
        for j, dataset in enumerate(study.datasets)
        for run in range(errors.shape[2])
    ]
    return Table("runs", "All runs", rows)


def _table_of_runs(members: Mapping[str, StudySummary]) -> Table:
    """All runs, for your own statistics; the column of the data set only if there are several."""
    rows = [
        ({"dataset": name} if name else {})
        | {
            "classifier": found.name,
            "algorithm": title,
            "run": record.key.run,
            "seed": str(record.seed),
            "error": record.error,
            "size": record.size,
            "evaluations": record.result.n_evaluations,
            "features": " ".join(str(i) for i in record.result.selected),
            "names": "; ".join(study.feature_names[i] for i in record.result.selected),
        }
        for name, study in members.items()
        for found in study.classifiers
        for title, records in found.groups.items()
        for record in records
    ]
    return Table("runs", "All runs", rows)
