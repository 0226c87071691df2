"""``pqswarm report``: write the report of a study, only its figures, or a comparison of several studies."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm._base.text import count_text
from pqswarm.cli.options import argument, choose_format, option
from pqswarm.errors import PqswarmError

_ENDINGS = {"html": ".html", "md": ".md", "latex": ".tex", "csv": ""}


def report(
    folder: Annotated[Path, argument("DIR", "Folder of a study.")],
    others: Annotated[list[Path] | None, argument("DIR2", "Folders of other studies to compare with.")] = None,
    format: Annotated[  # noqa: A002
        str | None,
        option(
            "NAME",
            "html, md, latex or csv; with --figures: svg, pdf or png.",
            "--format",
            "-f",
            show_default="from the suffix of --out; otherwise html, or svg with --figures",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option("PATH", "Output file, or folder for csv.", "--out", "-o", show_default="report.FORMAT in DIR"),
    ] = None,
    figures: Annotated[Path | None, option("DIR", "Write only the figures, to this folder.", file_okay=False)] = None,
    single_column: Annotated[
        bool,
        typer.Option("--single-column", help="Draw figures as PDF for a journal's column, 3.5 inches wide."),
    ] = False,
    control: Annotated[
        str | None, option("NAME", "Algorithm to compare the others with, or best.", show_default="from the plan")
    ] = None,
    pair: Annotated[
        tuple[str, str] | None, option("A B", "Also compare these two algorithms.", show_default="from the plan")
    ] = None,
    dataset: Annotated[
        str | None, option("NAME", "Report on one of several data sets, such as 'seed 3'.", show_default="all")
    ] = None,
    where: Annotated[
        list[str] | None,
        option(
            "CHOICE=NAME",
            "Report on the specifications of a multiverse with this alternative, such as border=zero.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Write the report of a study, or compare several studies.

    The study may still be running.

    Example: pqswarm report study-quick --figures figures --format pdf
    """
    from pqswarm.report import write_comparison, write_figures, write_report

    about_one = {"--control": control, "--pair": pair, "--dataset": dataset, "--where": where}
    given = [name for name, value in about_one.items() if value is not None]
    if given and (others or figures is not None):
        raise PqswarmError(f"{given[0]} is for the report of one study: leave it out.")
    studies = [folder, *(others or ())]
    if figures is not None:
        if out is not None:
            raise PqswarmError("give --out for the report or --figures for only its figures, not both.")
        form = format or ("pdf" if single_column else "svg")
        written = write_figures(studies, figures, form, column=single_column)
        typer.echo(f"wrote {count_text(len(written), 'figure')} to {figures.resolve()}")
        return
    if single_column:
        raise PqswarmError("--single-column is for figures: give --figures a folder.")
    form = choose_format(format, out, _ENDINGS, "html")
    if form == "csv" and out is not None and out.suffix:
        raise PqswarmError(f"--format csv writes a folder of tables: give --out a folder, not {out.name!r}.")
    if others:
        path = write_comparison(studies, form, out)
    else:
        pairs = None if pair is None else [pair]
        path = write_report(
            folder, form, out, control=control, pairs=pairs, dataset=dataset, where=_read_where_option(where)
        )
    typer.echo(f"wrote {path.resolve()}")


def _read_where_option(where: list[str] | None) -> dict[str, str]:
    """Read alternatives such as ``border=zero``."""
    chosen = {}
    for text in where or ():
        choice, equals, name = text.partition("=")
        if not equals:
            raise PqswarmError(f"--where takes CHOICE=NAME, such as border=zero, not {text!r}.")
        chosen[choice.strip()] = name.strip()
    return chosen
