"""What commands print: help, messages in terms of the command line, bars of progress; on any terminal."""

import codecs
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from pqswarm._base.text import printable
from pqswarm.cli.options import Stopped
from pqswarm.errors import PqswarmError


def _escape_for_terminal(error: UnicodeError) -> tuple[str, int]:
    r"""Escape characters that an encoding lacks, as ``\u4e2d``, which is valid in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def escape_unencodable() -> None:
    """Escape characters that the encoding of the output lacks."""
    codecs.register_error("pqswarm.escape", _escape_for_terminal)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="pqswarm.escape")


def echo(text: str, *, err: bool = False, nl: bool = True) -> OSError | None:
    """Print a text; return the error if that fails, so that ``| head -1`` or a full disk does not stop the work."""
    try:
        typer.echo(text, err=err, nl=nl)
    except OSError as error:
        discard_output(err=err)
        return error
    return None


def discard_output(*, err: bool = False) -> None:
    """Discard all further output, including buffered text."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), (sys.stderr if err else sys.stdout).fileno())


def say(text: str) -> None:
    """Print a message to the standard error, with control characters escaped and further lines indented."""
    first, *rest = map(printable, text.split("\n"))
    typer.echo("\n".join([first, *(line if line.startswith(" ") else f"  {line}" for line in rest)]), err=True)


@contextmanager
def progress_bars(kept: str = "nothing was written") -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows a bar for each kind of work: name, amount done, total; Ctrl-C says what is kept."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def show(what: str, done: int, total: int) -> None:
        bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what)
        bar.update(tasks[what], completed=done, total=total)

    try:
        yield show
    except KeyboardInterrupt:
        raise Stopped(f"stopped; {kept}.") from None
    finally:
        if tasks:  # otherwise it prints an empty line
            bar.stop()


# Arguments of the library whose options have other names.
_OPTION_NAMES = {
    "channels": "--channel",
    "jobs": "--jobs",
    "max_bytes": "--max-mb",
    "max_evaluations": "--evaluations",
    "n_jobs": "--jobs",
    "nominal_frequency": "--frequency",
    "nominal_voltage": "--nominal",
    "sampling_rate": "--rate",
}

# Names with an underscore are always arguments; others may be words of the sentence.
_ANYWHERE = r"(?<![\w.'-])NAME\b(?!\.\w|=)"
_AS_ARGUMENT = r"(?<![\w.-])(?<!\w )NAME(?= must )|(?<=name one in )NAME\b|\bNAME of features\b"


def name_options(text: str, options: Iterable[str]) -> str:
    """Return a message of the library with options of a command in place of arguments, but not of plain words."""
    text = re.sub(r" of \w*(?:Hyperp|P)arameters\b", "", text)  # the message says which ones
    if re.match(r"\S+\.toml\b", text):  # keys of a file keep their names
        return text
    known = set(options)
    names = {option.removeprefix("--").replace("-", "_"): option for option in known} | _OPTION_NAMES
    text, listed, rest = text.partition(" Known: ")
    text = text.replace(" or None for all", " for all").replace(", or None,", ",")
    for name, option in names.items():
        if option in known:
            place = _ANYWHERE if "_" in name else _AS_ARGUMENT
            text = re.sub(place.replace("NAME", name), option, text)
    return text + listed + rest


def help_rows(command: Any, context: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the arguments and options of a command: syntax and meaning."""
    arguments = []
    options = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        meaning = re.sub(r"default: \((.*)\)\]", r"default: \1]", record[1])
        if parameter.param_type_name == "argument":
            arguments.append((_argument_name(parameter), meaning.replace("  [required]", "")))
        else:
            options.append((record[0], meaning))
    return arguments, options


class Command(TyperCommand):
    """A command, whose help gives arguments without their types."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # commands with something to say handle it themselves
            raise Stopped("stopped.") from None
        except PqswarmError as error:
            options = [name for parameter in self.params for name in parameter.opts if name.startswith("--")]
            raise PqswarmError(name_options(str(error), options)) from error

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; a file to write that was given without its option is named."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # its class is Click's, or that of Typer
            message = getattr(error, "message", "")
            if "extra argument" in message and any("--out" in parameter.opts for parameter in self.params):
                error.message = f"{message}: the file to write is given by --out {given[-1]}."  # type: ignore[attr-defined]
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage after the name of the command."""
        arguments = [parameter for parameter in self.get_params(ctx) if parameter.param_type_name == "argument"]
        names = [(_argument_name(argument), argument.required) for argument in arguments]
        return ["[OPTIONS]", *(name if is_required else f"[{name}]" for name, is_required in names)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        for title, rows in zip(("Arguments", "Options"), help_rows(self, ctx), strict=True):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class CommandGroup(TyperGroup):
    """A command with subcommands, which its help lists by their panels."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            row = (name, command.get_short_help_str(80))
            panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(row)
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _argument_name(argument: Any) -> str:
    """The name of an argument in the help."""
    return f"{argument.metavar or argument.name.upper()}{'...' if argument.nargs != 1 else ''}"
