"""``pqswarm make-samples`` and ``site-file``: sample recordings, and a site file to edit."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.options import Rate, Seed, argument, check_folder, check_no_folder, option


def make_samples(
    folder: Annotated[Path, argument("DIR", "Folder to write; it must be new or empty.")],
    seed: Seed = 0,
    minutes: Annotated[float, option("MINUTES", "Length of the long recording, 10.8 MB per minute.")] = 2.0,
) -> None:
    """Write sample recordings with known disturbances.

    COMTRADE and CSV files, a long recording, a site file, and a table of the true disturbances.

    Example: pqswarm make-samples samples && pqswarm identify samples --site samples/site.toml
    """
    check_folder(folder, "DIR")
    from pqswarm.recordings import write_samples

    for path in write_samples(folder, seed=seed, minutes=minutes):
        typer.echo(f"wrote {path}")


def site_file(recording: Annotated[Path, argument("FILE", "A recording of the meter.")], rate: Rate = None) -> None:
    """Print a site file for the meter of a recording.

    It lists all channels of the recording, ready to edit.

    Example: pqswarm site-file fault.cfg > north.toml
    """
    check_no_folder(recording, "one recording of the meter")
    from pqswarm.recordings import Site, open_recordings

    typer.echo(Site.template(open_recordings(recording, sampling_rate=rate)[0]), nl=False)
