"""``pqswarm site``: a site file to begin with."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["site"]


def site(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording of the meter.")],
) -> None:
    """Print a site file for a meter, with all channels of one of its recordings, to edit.

    Example: pqswarm site fault.cfg > north.toml
    """
    from pqswarm.recordings import Site, open_recordings

    typer.echo(Site.template(open_recordings(recording)[0]), nl=False)
