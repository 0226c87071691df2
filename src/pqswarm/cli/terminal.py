"""Output for any terminal, whatever its encoding, of possibly untrusted text; and bars of progress."""

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

import typer

from pqswarm._base.text import printable


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
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows a bar for each kind of work: name, amount done, total."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=total)

        yield show
