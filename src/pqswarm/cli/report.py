"""``pqswarm report``: write the report of a study again, or in another format."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a study.")],
    format: Annotated[str, typer.Option("--format", "-f", help="html, md, latex or csv.")] = "html",  # noqa: A002
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write it; by default into the folder.", show_default=False),
    ] = None,
) -> None:
    """Write the report of a study, also of one that is still running.

    Example: pqswarm report study-quick --format latex
    """
    from pqswarm.report import write_report

    typer.echo(f"wrote {write_report(folder, format, out).resolve()}")
