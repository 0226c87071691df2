"""``pqswarm sample``: recordings to try."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.options import Seed, check_folder

__all__ = ["sample"]


def sample(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; it must be new or empty.")],
    seed: Seed = 0,
    minutes: Annotated[
        float, typer.Option(metavar="MINUTES", help="Length of the long recording, 10.8 MB a minute.")
    ] = 2.0,
) -> None:
    """Write generated recordings to try, and the truth.

    COMTRADE and CSV, a long one, a site file, and a table of what was put in.

    Example: pqswarm sample samples && pqswarm identify samples --site samples/site.toml
    """
    check_folder(folder, "DIR")
    from pqswarm.recordings import write_samples

    for path in write_samples(folder, seed=seed, minutes=minutes):
        typer.echo(f"wrote {path}")
