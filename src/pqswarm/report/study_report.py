"""Write the report of one or two studies as HTML, Markdown, LaTeX or CSV, or only its figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from pqswarm._base.files import write_atomically
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.comparison import compare_studies
from pqswarm.report.datasets.document import compose_datasets
from pqswarm.report.datasets.summary import DatasetsSummary, summarize_datasets
from pqswarm.report.document import Document, compose
from pqswarm.report.html import html_report
from pqswarm.report.multiverse.document import compose_multiverse
from pqswarm.report.multiverse.summary import MultiverseSummary, summarize_multiverse
from pqswarm.report.section import Drawing
from pqswarm.report.style import FIGURE_FORMATS, save_figure
from pqswarm.report.summary import StudySummary, summarize
from pqswarm.report.tables import Table
from pqswarm.report.text import latex_report, markdown_report
from pqswarm.study import Store, findings
from pqswarm.study.planfile import restore_plan

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

    Returns
    -------
    Path
        The file or folder written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    name = _NAMES[format] if dataset is None else f"{dataset.replace(' ', '-')}-{_NAMES[format]}"
    path = _report_path(folder, name) if out is None else Path(out)
    study = read_summary(folder, dataset)
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
    return _write_document(compose_report([first, second]), format, path)


def compose_report(
    folders: Sequence[str | Path], names: Sequence[str] = (), check: Callable[[], None] = lambda: None
) -> Document:
    """Return the report of a study, or of two compared, by default named after their folders.

    `check` is called between the steps, and may raise an error to stop them.
    """
    studies = []
    for folder in folders:
        studies.append(read_summary(folder))
        check()
    if len(studies) == 1:
        return _compose(studies[0])[0]
    names = names or [Path(folder).resolve().name for folder in folders]
    if names[0] == names[1]:
        names = [str(folder) for folder in folders]
    one, other = studies
    if not (isinstance(one, StudySummary) and isinstance(other, StudySummary)):
        raise PqswarmError("studies on several data sets cannot be compared: give studies on one data set.")
    return compare_studies(one, other, (names[0], names[1]))


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


def study_figures(folder: str | Path, second: str | Path | None = None) -> dict[str, Figure]:
    """Draw all figures of the report of the study in a folder, or of its comparison with a second one.

    They are named by classifier and section, such as ``"k-nn-algorithms-convergence"``.
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
    folder, out : str or Path
        Folder of the study; output folder, created if necessary.
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
    return compose_report([folder] if second is None else [folder, second]).drawings


def read_summary(folder: str | Path, dataset: str | None = None) -> StudySummary | DatasetsSummary | MultiverseSummary:
    """Read the results of a study: on its only data set, on one of several, or on all of them."""
    with Store(folder) as store:
        about = store.find(findings.About)
        plan = None if about is None else restore_plan(about.plan)
        names = [""] if plan is None else list(plan.cells())
        if dataset is None and plan is not None and plan.multiverse is not None:
            return summarize_multiverse(store)
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
        }
        for name, study in members.items()
        for found in study.classifiers
        for title, records in found.groups.items()
        for record in records
    ]
    return Table("runs", "All runs", rows)
