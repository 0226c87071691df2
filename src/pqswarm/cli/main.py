"""The entry point: collects the commands and reports errors in one line."""

import atexit
import gc
import os
import sys
import warnings
from collections.abc import Callable
from errno import EDQUOT, EFBIG, EIO, ENOSPC
from typing import Annotated, Any

import typer

from pqswarm import __version__
from pqswarm._base.interrupts import note_interrupts
from pqswarm._base.text import file_text
from pqswarm._kernels.compile_times import call_when_compiling
from pqswarm.cli.app import app as workbench
from pqswarm.cli.archive import app as archive
from pqswarm.cli.compare import compare
from pqswarm.cli.data import dataset, make_samples, plot, preset_commands, site_file
from pqswarm.cli.identify import identify
from pqswarm.cli.options import Stopped
from pqswarm.cli.report import report
from pqswarm.cli.study import plan_commands, study
from pqswarm.cli.terminal import Command, CommandGroup, discard_output, escape_unencodable, say
from pqswarm.cli.train import train
from pqswarm.cli.watch import watch
from pqswarm.errors import PqswarmError, shorten

app = typer.Typer(
    name="pqswarm",
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try: pqswarm study quick",
)
_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Recordings": (identify, watch, workbench, site_file, make_samples, train),
    "Studies": (study, report, compare),
    "Data": (dataset, plot),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(cls=Command, rich_help_panel=_panel)(_command)
app.add_typer(archive, name="archive", rich_help_panel="Recordings")
app.add_typer(plan_commands, name="plan", rich_help_panel="Studies")
app.add_typer(preset_commands, name="preset", rich_help_panel="Data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pqswarm {__version__}")
        raise typer.Exit


@app.callback()
def _version_option(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Analyze power-quality recordings and select the features that identify events."""


def _show_warnings_once() -> None:
    """Show each warning once, in one line; worker processes, which would repeat them, show none."""
    shown = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in shown:
            shown.add(text)
            say(f"warning: {text}")

    warnings.showwarning = show
    os.environ.setdefault("PYTHONWARNINGS", "ignore")


def main() -> None:
    """Run the command line."""
    escape_unencodable()
    _show_warnings_once()
    call_when_compiling(lambda: say("compiling functions that this machine has not run before: up to two minutes."))
    note_interrupts()
    gc.set_threshold(50_000)  # looking for garbage took a sixth of the time of a report
    atexit.register(gc.freeze)  # and an eighth of that of a small recording, at its end
    try:
        if "" in sys.argv[1:]:
            raise PqswarmError("an argument is empty: omit it, or give a value.")
        app(prog_name="pqswarm")
    except PqswarmError as error:
        say(f"pqswarm: {error}")
        sys.exit(2)
    except (MemoryError, ImportError) as error:  # without memory, libraries fail to load too
        if isinstance(error, ModuleNotFoundError):
            raise
        why = f" ({shorten(str(error), 200)})" if str(error) else ""
        typer.echo(f"pqswarm: not enough memory{why}: try less data or fewer jobs.", err=True)
        sys.exit(2)
    except (Stopped, KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != 130:  # which Typer gives Ctrl-C while it reads the arguments
            raise
        say(f"pqswarm: {stop if isinstance(stop, Stopped) else 'stopped.'}")
        sys.exit(130)
    except OSError as error:
        if error.filename is not None:
            say(f"pqswarm: cannot use {file_text(error.filename)}: {error.strerror or error}.")
        elif error.errno in (EDQUOT, EFBIG, EIO, ENOSPC):  # file errors name the file: this is the standard output
            discard_output()
            say(f"pqswarm: cannot write the output: {error.strerror}.")
        elif error.errno is None:
            say(f"pqswarm: not enough memory ({shorten(str(error), 200)}): try less data or fewer jobs.")
        else:
            raise
        sys.exit(2)
