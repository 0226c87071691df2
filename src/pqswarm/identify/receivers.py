"""Who is told of the events of a watched folder: a web address, a file of lines, or the standard output."""

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, TextIO
from urllib.parse import urlsplit

from pqswarm import __version__
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify.journal import Entry

__all__ = ["JsonLines", "Receiver", "Stream", "Webhook"]


class Receiver(Protocol):
    """Takes events in order."""

    name: str

    def send(self, entries: "Sequence[Entry]", length: int) -> Iterator[tuple[int, int]]:
        """Deliver events; yield the number of the last one that is safe, and the length of the file, if it is one.

        What cannot be delivered raises an OSError, and is tried again later.
        """


class Webhook:
    """Posts each event as JSON.

    An event is repeated until the receiver answers with success (2xx), so that it may come twice, after a crash between
    its answer and our note of it. The header ``Idempotency-Key``, which is the event's ``key``, is the same each time.

    Parameters
    ----------
    url : str
        http or https.
    timeout : float
        Of one post [s].
    """

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PqswarmError(f"--webhook must be an address such as https://example.org/events, not {url!r}.")
        self.url, self.timeout, self.name = url, timeout, f"webhook {url}"

    def send(self, entries: "Sequence[Entry]", length: int) -> Iterator[tuple[int, int]]:
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
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:  # noqa: S310
                    answer.read(1000)
            except urllib.error.HTTPError as error:
                with error:
                    raise OSError(f"it answered {error.code} {error.reason}") from error
            except urllib.error.URLError as error:
                raise OSError(str(getattr(error.reason, "strerror", None) or error.reason)) from error
            except (http.client.HTTPException, ValueError) as error:
                raise OSError(f"{type(error).__name__} {error}".strip()) from error
            yield entry.number, length


class JsonLines:
    """Appends a line of JSON per event to a file, each exactly once.

    The journal knows how long the file was when its last lines were safe. What lies behind that after a crash is the
    begin of the next lines, and is completed; anything else there, of another program, stays.

    Parameters
    ----------
    path : str or Path
        The file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self.name = f"lines {self.path}"

    def send(self, entries: "Sequence[Entry]", length: int) -> Iterator[tuple[int, int]]:
        """Append the lines, and wait until they are on the disk."""
        if not entries:
            return
        lines = "".join(f"{entry.line()}\n" for entry in entries).encode("utf-8")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(min(length, size))
            left = file.read()
            if size >= length and lines.startswith(left):
                lines = lines[len(left) :]
            elif not _ends_line(file, size):
                lines = b"\n" + lines
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
            yield entries[-1].number, file.seek(0, os.SEEK_END)


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

    def send(self, entries: "Sequence[Entry]", length: int) -> Iterator[tuple[int, int]]:
        """Print the lines."""
        for entry in entries:
            self.stream.write(f"{entry.line()}\n")
            self.stream.flush()
            yield entry.number, length
