"""What is printed suits any terminal, whatever its encoding and whoever wrote the text."""

import codecs
import json
import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

import typer

from pqswarm._base.text import printable

__all__ = ["drop_what_cannot_be_printed", "echo", "escape_what_cannot_be_printed", "say"]


def _escape(error: UnicodeError) -> tuple[str, int]:
    r"""What stands for letters that an encoding lacks: ``\u4e2d``, which JSON reads as the letter."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def escape_what_cannot_be_printed() -> None:
    """Write letters that the encoding of the terminal, or of the file behind a pipe, lacks as escapes."""
    codecs.register_error("pqswarm.escape", _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="pqswarm.escape")


def echo(text: str, *, err: bool = False, nl: bool = True) -> OSError | None:
    """Print a text, and return why it could not be printed: work does not end with ``| head -1``, or a full disk."""
    try:
        typer.echo(text, err=err, nl=nl)
    except OSError as error:
        drop_what_cannot_be_printed(err=err)
        return error
    return None


def drop_what_cannot_be_printed(*, err: bool = False) -> None:
    """Let what is left to be printed, also what a buffer still holds, go nowhere."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), (sys.stderr if err else sys.stdout).fileno())


def say(text: str) -> None:
    """Print what happened or went wrong; what would steer the terminal is shown as escapes, further lines stand in."""
    first, *rest = map(printable, text.split("\n"))
    typer.echo("\n".join([first, *(line if line.startswith(" ") else f"  {line}" for line in rest)]), err=True)
