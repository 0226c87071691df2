"""Who is told of the events of a watched folder: a web address, a file of lines, or the standard output."""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TextIO
from urllib.parse import urlsplit

from pqswarm import __version__
from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify.folder.journal import Entry

__all__ = ["JsonLines", "Receiver", "RefusedError", "Stream", "Webhook"]

_PASSING = (401, 407, 408, 425, 429)
"""Answers to a client that are about time or credentials, not about the event."""


class RefusedError(OSError):
    """A receiver does not want an event, and says so."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


class Receiver(Protocol):
    """Takes events in order."""

    name: str

    def send(self, entries: "Sequence[Entry]", length: int | None) -> Iterator[tuple[int, int]]:
        """Deliver events; yield the number of the last one that is safe, and the length of the file, if it is one.

        `length` is what was yielded last, None if nothing was. What cannot be delivered raises an OSError, and is tried
        again later; :class:`RefusedError` if trying again is of no use.
        """


class Webhook:
    """Posts each event as JSON.

    An event is repeated until the receiver answers with success (2xx), so that it may come twice, after a crash between
    its answer and our note of it. The header ``Idempotency-Key``, which is the event's ``key``, is the same each time.
    Redirections are not followed: a post would become a request without an event.

    Parameters
    ----------
    url : str
        http or https. It may hold a secret: messages and the journal name its host, and a few digits of its SHA-256.
    timeout : float
        Of one post [s].
    """

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        host = _host(url)
        if not host:
            raise PqswarmError(
                "--webhook must be an http or https address such as https://example.org/events, without user and "
                "password, spaces and signs that are no ASCII."
            )
        self.url, self.timeout = url, timeout
        self.name = f"webhook {host} ({hashlib.sha256(url.encode()).hexdigest()[:8]})"
        self._opener = urllib.request.build_opener(_NoRedirection)

    def send(self, entries: "Sequence[Entry]", length: int | None) -> Iterator[tuple[int, int]]:
        """Post the events one after the other."""
        for entry in entries:
            request = urllib.request.Request(  # noqa: S310 (the scheme was checked)
                self.url,
                data=entry.line().encode("utf-8"),
                headers={
                    "Content-Type": "application/json",
                    "Idempotency-Key": entry.key,
                    "User-Agent": f"pqswarm/{__version__}",
                },
                method="POST",
            )
            try:
                with self._opener.open(request, timeout=self.timeout) as answer:
                    answer.read(1000)
            except urllib.error.HTTPError as error:
                with error:
                    raise _explain(error, entry.number) from None
            except urllib.error.URLError as error:
                raise OSError(str(getattr(error.reason, "strerror", None) or error.reason)) from None
            except (http.client.HTTPException, ValueError) as error:  # whose text may hold the address
                raise OSError(f"its answer is not understood ({type(error).__name__})") from None
            yield entry.number, length or 0


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Takes a redirection for an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def _host(url: str) -> str:
    """Scheme, host and port of an address; empty if nothing can be posted to it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    fine = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    if parts.scheme not in ("http", "https") or not parts.hostname or not fine:
        return ""
    return f"{parts.scheme}://{parts.hostname}" + (f":{port}" if port else "")


def _explain(error: urllib.error.HTTPError, number: int) -> OSError:
    """What an answer other than success means."""
    reason = f"it answered {error.code} {http.client.responses.get(error.code, '')}".strip()
    if 300 <= error.code < 400:
        place = _host(error.headers.get("Location") or "") or "another path"
        return OSError(f"{reason} and points to {place}: give the address where events are taken")
    if 400 <= error.code < 500 and error.code not in _PASSING:
        return RefusedError(number, reason)
    return OSError(reason)


class JsonLines:
    """Appends a line of JSON per event to a file, each exactly once.

    Before lines are written, the journal notes how long the file is. After a crash, those of them that stand behind
    that, among lines of other programs or not, are not written again, and one that was cut is completed.

    Parameters
    ----------
    path : str or Path
        The file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self.name = f"lines {file_text(self.path)}"

    def send(self, entries: "Sequence[Entry]", length: int | None) -> Iterator[tuple[int, int]]:
        """Append the lines, and wait until they are on the disk."""
        if not entries:
            return
        lines = [f"{entry.line()}\n".encode() for entry in entries]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            begin = size if length is None else length if length <= size else 0  # a shorter file is another one
            there, cut = _find_lines(file, begin, lines)
            missing = [line for line in lines if line not in there]
            if missing and cut and missing[0].startswith(cut):
                missing[0] = missing[0][len(cut) :]
            else:
                if not there and size != length:
                    yield entries[0].number - 1, size
                if missing and not _ends_line(file, size):
                    missing.insert(0, b"\n")
            file.write(b"".join(missing))
            file.flush()
            os.fsync(file.fileno())
            yield entries[-1].number, file.seek(0, os.SEEK_END)


def _find_lines(file: BinaryIO, begin: int, lines: Sequence[bytes]) -> tuple[set[bytes], bytes]:
    """Which of the lines stand behind a place of a file, and the start of a line at its end."""
    wanted, longest = set(lines), max(map(len, lines))
    there: set[bytes] = set()
    cut, whole = b"", True
    file.seek(begin)
    while piece := file.readline(longest + 1):
        if whole and piece in wanted:
            there.add(piece)
        cut = piece if whole and not piece.endswith(b"\n") else b""
        whole = piece.endswith(b"\n")
    return there, cut


def _ends_line(file: BinaryIO, size: int) -> bool:
    """Whether the file is empty, or ends with a line's end."""
    file.seek(max(size - 1, 0))
    return file.read(1) in (b"", b"\n")


class Stream:
    """Prints a line of JSON per event; a line may come twice after a crash.

    Parameters
    ----------
    stream : file
        Such as the standard output.
    """

    name = "standard output"

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def send(self, entries: "Sequence[Entry]", length: int | None) -> Iterator[tuple[int, int]]:
        """Print the lines."""
        for entry in entries:
            try:
                self.stream.write(f"{entry.line()}\n")
                self.stream.flush()
            except BrokenPipeError:
                with suppress(OSError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (what is left in the buffer)
                    os.dup2(nowhere.fileno(), self.stream.fileno())
                raise PqswarmError(
                    f"nobody reads the {self.name} any more: the journal keeps what was not printed for the next run."
                ) from None
            yield entry.number, length or 0
