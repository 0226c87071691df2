"""``pqswarm report``: write the report of a study, only its figures, or a comparison of two studies."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.options import check_folder, choose_format
from pqswarm.errors import PqswarmError

_ENDINGS = {"html": ".html", "md": ".md", "latex": ".tex", "csv": ""}


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a study.")],
    second: Annotated[
        Path | None, typer.Argument(metavar="DIR2", help="Folder of a second study to compare with.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="html, md, latex or csv; with --figures: svg, pdf or png.",
            show_default="by the suffix of --out, or html; svg",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH", help="Output file, or folder for csv.", show_default="report.FORMAT in DIR"
        ),
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="DIR", help="Write only the figures, to this folder.")] = None,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Algorithm to compare the others with, or best.", show_default="from the plan"
        ),
    ] = None,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Also compare these two algorithms.", show_default="from the plan"),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Report on one of several data sets, such as 'seed 3'.", show_default="all"),
    ] = None,
) -> None:
    """Write the report of a study, or compare two studies.

    The study may still be running.

    Example: pqswarm report study-quick --figures figures --format pdf
    """
    from pqswarm.report import write_comparison, write_figures, write_report

    if figures is not None:
        check_folder(figures, "--figures")
    pairs = None if pair is None else [pair]
    if figures is None:
        form = choose_format(format, out, _ENDINGS, "html")
        if form == "csv" and out is not None and out.suffix:
            raise PqswarmError(f"--format csv writes a folder of tables: give --out a folder, not {out.name!r}.")
        if second is None:
            path = write_report(folder, form, out, control=control, pairs=pairs, dataset=dataset)
        else:
            path = write_comparison(folder, second, form, out)
        typer.echo(f"wrote {path.resolve()}")
    elif out is not None:
        raise PqswarmError("give --out for the report or --figures for only its figures, not both.")
    else:
        number = len(write_figures(folder, figures, format or "svg", second))
        typer.echo(f"wrote {number} figure{'s' * (number != 1)} to {figures.resolve()}")
