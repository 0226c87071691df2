"""Errors that users can cause and correct.

The command line prints their message without a traceback; library users can catch all of them as
:class:`PqswarmError` or :class:`ValueError`.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pqswarm._base.text import printable

_SHOWN = 80  # characters of a wrong value
_LONGEST_LINE = 500  # characters
_MOST_LINES = 25  # of a list of mistakes


class PqswarmError(ValueError):
    """A value, option or file cannot be used; the message says why and what would work.

    Its lines have at most 500 characters and no control characters, whatever text of a file they quote.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__("\n".join(map(_message_line, str(message).split("\n")[:_MOST_LINES])))


class FileFormatError(PqswarmError):
    """A file is damaged, or was not written by pqswarm."""


def _message_line(text: str) -> str:
    """A line of a message; of a long one the middle is left out, since the end says what would work."""
    line = printable(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:300]} ... {line[-195:]}"


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra: in a clone by make, elsewhere by pip."""
    is_clone = (Path(__file__).parents[2] / "Makefile").is_file()
    return f"make {extra}" if is_clone else f"pip install 'pqswarm[{extra}]'"


def shorten(value: object, limit: int = _SHOWN) -> str:
    """Return a wrong value as messages show it: text as it is, anything else by its repr, shortened."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer with too many digits
        return f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."


@contextmanager
def naming_plugin(what: str, member: Any) -> Iterator[None]:
    """Say in errors of an algorithm or a classifier of another package whose they are."""
    try:
        yield
    except (Exception, SystemExit) as error:
        module = type(member).__module__
        if module.startswith("pqswarm.") or isinstance(error, MemoryError | ImportError):
            raise
        kind = "" if isinstance(error, PqswarmError) else f"{type(error).__name__}: "
        reason = f"{kind}{shorten(str(error), 200).rstrip('.')}"
        raise PqswarmError(f"the {what} {member.name!r} of {module} failed ({reason}).") from error


def unknown_name(what: str, name: object, known: Iterable[str]) -> PqswarmError:
    """Build the error for a misspelled name, with the nearest known name and the list of all names."""
    names = list(known)
    given = shorten(name)
    same = [one for one in names if f"-{one}".lower().endswith(f"-{given}".lower())]
    close = same or difflib.get_close_matches(given, names)
    hint = f": did you mean {close[0]!r}?" if close else "."
    return PqswarmError(f"unknown {what} {shorten(repr(name))}{hint} Known: {', '.join(names)}.")
