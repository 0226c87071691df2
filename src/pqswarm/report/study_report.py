"""Write the report of a study: HTML, Markdown, LaTeX or CSV."""

import os
import re
import tempfile
from pathlib import Path

from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.summary import StudySummary, summarize
from pqswarm.report.tables import Table
from pqswarm.study import Store

__all__ = ["FORMATS", "write_report"]

FORMATS: tuple[str, ...] = ("html", "md", "latex", "csv")
"""Formats of a report."""

_NAMES = {"html": "report.html", "md": "report.md", "latex": "report.tex", "csv": "report-csv"}


def write_report(folder: str | Path, format: str = "html", out: str | Path | None = None) -> Path:  # noqa: A002
    """Write the report of a study, finished or not.

    Parameters
    ----------
    folder : str or Path
        Folder of the study.
    format : {"html", "md", "latex", "csv"}
        One file with everything; or its tables as Markdown, as LaTeX, or as a folder of CSV files with all digits.
    out : str or Path, optional
        Where to write; by default into the folder.

    Returns
    -------
    Path
        What was written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    with Store(folder) as store:
        study = summarize(store)
    path = Path(folder) / _NAMES[format] if out is None else Path(out)
    try:
        if format == "csv":
            path.mkdir(parents=True, exist_ok=True)
            for table in _tables(study):
                _write(path / f"{table.name}.csv", table.csv())
            _write(path / "runs.csv", _runs(study).csv())
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, _text(study, format))
    except OSError as error:
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from None
    return path


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _text(study: StudySummary, form: str) -> str:
    if form == "html":
        from pqswarm.report.page import html_report

        return html_report(study)
    if form == "latex":
        needs = "% needs \\usepackage{booktabs,graphicx}"
        return "\n\n".join([needs, *(table.latex() for table in _tables(study))]) + "\n"
    return _markdown(study)


def _markdown(study: StudySummary) -> str:
    from pqswarm.report.answers import answer, classifier_words, description, how
    from pqswarm.report.published import INCONSISTENCIES
    from pqswarm.report.study_tables import classifier_tables

    title = re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", " ".join(study.title.split()))
    parts = [f"# {title}", description(study)]
    for found in study.classifiers:
        answers = "\n".join(f"- {sentence}" for sentence in answer(found))
        parts += [f"## {found.name}", f"The classifier: {classifier_words(found)}.", answers]
        parts += [table.markdown() for table in classifier_tables(found).values()]
    parts += ["## What does not fit together in the paper, or is left open"]
    parts += ["\n".join(f"- {text}" for text in INCONSISTENCIES), "## How it was run", how(study)]
    return "\n\n".join(parts) + "\n"


def _tables(study: StudySummary) -> list[Table]:
    from pqswarm.report.study_tables import classifier_tables

    return [table for found in study.classifiers for table in classifier_tables(found).values()]


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
        for title, records in [*found.runs.items(), *((title, [record]) for title, record in found.sffs.items())]
        for record in records
    ]
    return Table("runs", "All runs", rows)
