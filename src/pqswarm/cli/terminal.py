"""What is printed suits any terminal, whatever its encoding and whoever wrote the text."""

import codecs
import json
import sys
from io import TextIOWrapper

import typer

from pqswarm._text import printable

__all__ = ["escape_what_cannot_be_printed", "say"]


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


def say(text: str) -> None:
    """Print what happened or went wrong; what would steer the terminal is shown as escapes, further lines stand in."""
    first, *rest = map(printable, text.split("\n"))
    typer.echo("\n".join([first, *(line if line.startswith(" ") else f"  {line}" for line in rest)]), err=True)
