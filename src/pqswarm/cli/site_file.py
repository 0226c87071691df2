"""``pqswarm site-file``: print a site file to edit."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.analysis_options import Rate
from pqswarm.cli.options import argument, check_no_folder


def site_file(recording: Annotated[Path, argument("FILE", "A recording of the meter.")], rate: Rate = None) -> None:
    """Print a site file for the meter of a recording.

    It lists all channels of the recording, ready to edit.

    Example: pqswarm site-file fault.cfg > north.toml
    """
    check_no_folder(recording, "one recording of the meter")
    from pqswarm.recordings import Site, open_recordings

    typer.echo(Site.template(open_recordings(recording, sampling_rate=rate)[0]), nl=False)
