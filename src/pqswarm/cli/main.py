"""The entry point: collects the commands and turns errors of the user into one line."""

import sys
from typing import Annotated

import typer

from pqswarm import __version__
from pqswarm.cli.compare import compare
from pqswarm.cli.dataset import dataset
from pqswarm.cli.features import features
from pqswarm.cli.identify import identify
from pqswarm.cli.options import Stopped
from pqswarm.cli.plan import app as plan
from pqswarm.cli.plot import plot
from pqswarm.cli.report import report
from pqswarm.cli.study import study
from pqswarm.cli.train import train
from pqswarm.errors import PqswarmError

__all__ = ["app", "main"]

app = typer.Typer(
    name="pqswarm",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find the few signal features that identify a power-quality event.",
    epilog="Try: pqswarm study quick",
)
for _command in (study, report, compare, identify, train, dataset, features, plot):
    app.command()(_command)
app.add_typer(plan, name="plan")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pqswarm {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Find the few signal features that identify a power-quality event."""


def main() -> None:
    """Run the command line."""
    try:
        app()
    except PqswarmError as error:
        typer.echo(f"pqswarm: {error}", err=True)
        sys.exit(2)
    except Stopped as stop:
        typer.echo(f"pqswarm: {stop}", err=True)
        sys.exit(130)
