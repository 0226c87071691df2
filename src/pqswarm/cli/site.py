"""``pqswarm site``: a site file to begin with."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["site"]


def site(
    recording: Annotated[Path, typer.Argument(metavar="FILE", help="A recording of the meter.")],
) -> None:
    """Print a site file for the meter of a recording, to edit.

    It lists all channels of the recording.

    Example: pqswarm site fault.cfg > north.toml
    """
    from pqswarm.recordings import Site, open_recordings

    typer.echo(Site.template(open_recordings(recording)[0]), nl=False)
