"""Receivers of the events of a watched folder: a webhook, a JSON Lines file, or the standard output."""

import hashlib
import http.client
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TextIO
from urllib.parse import urlsplit

from pqswarm import __version__
from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify.archive.deliveries import Delivery

_RETRYABLE = (401, 407, 408, 425, 429)
"""Client errors about time or credentials, not about the event."""


class RefusedError(OSError):
    """A receiver refused an event."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


class Receiver(Protocol):
    """Accepts events in order."""

    name: str

    def send(self, entries: "Sequence[Delivery]", length: int | None) -> Iterator[tuple[int, int]]:
        """Deliver events; yield the number of the last one stored, and the length of the file, if it is one.

        `length` is the last one yielded, or None. Raises an OSError if a delivery fails and is to be retried, and
        :class:`RefusedError` if retrying is useless.
        """


class Webhook:
    """Posts each event as JSON.

    An event is repeated until the receiver answers with success (2xx). After a crash it may arrive twice, with the same
    header ``Idempotency-Key``, the ``key`` of the event. Redirects are not followed: they would drop the event. As the
    address may hold a secret, messages and the archive show only its host and part of its SHA-256.
    """

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        host = _receiver_host(url)
        if not host:
            raise PqswarmError(
                "--webhook must be an http or https address such as https://example.org/events, in ASCII, without "
                "user, password and spaces."
            )
        self.url = url
        self.timeout = timeout
        self.name = f"webhook {host} ({hashlib.sha256(url.encode()).hexdigest()[:8]})"
        self._opener = urllib.request.build_opener(_Handler)

    def send(self, entries: "Sequence[Delivery]", length: int | None) -> Iterator[tuple[int, int]]:
        """Post the events in order."""
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
                self._opener.open(request, timeout=self.timeout).close()  # the status tells; the rest may be endless
            except urllib.error.HTTPError as error:
                with error:
                    raise _explain_webhook_error(error, entry.number) from None
            except urllib.error.URLError as error:
                raise OSError(str(getattr(error.reason, "strerror", None) or error.reason)) from None
            except (http.client.HTTPException, ValueError) as error:  # its text may hold the address
                raise OSError(f"its answer is invalid, or took too long ({type(error).__name__})") from None
            yield entry.number, length or 0


class _Connection(http.client.HTTPConnection):
    """A connection whose answer must begin in time; the timeout of a socket restarts with each byte."""

    def connect(self) -> None:
        super().connect()
        self._twin = self.sock.dup()  # of the same connection, also when TLS has taken over the socket
        self._alarm = Timer(self.timeout or 0.0, _end_connection, [self._twin])
        self._alarm.daemon = True
        self._alarm.start()

    def getresponse(self) -> http.client.HTTPResponse:
        try:
            return super().getresponse()
        finally:
            self._alarm.cancel()
            self._twin.close()


class _EncryptedConnection(http.client.HTTPSConnection, _Connection):
    """The same with TLS, whose handshake must end in time, too."""


def _end_connection(connection: socket.socket) -> None:
    """End a connection; whoever waits for its next byte sees the end."""
    with suppress(OSError), connection:
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler, urllib.request.HTTPRedirectHandler):
    """Opens addresses with a time limit, and treats a redirect as an error."""

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_EncryptedConnection, req)

    def redirect_request(self, *_: Any) -> None:
        """Do not follow."""


def _receiver_host(url: str) -> str:
    """Scheme, host and port of an address; empty if it is not valid."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    fine = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    if parts.scheme not in ("http", "https") or not parts.hostname or not fine:
        return ""
    return f"{parts.scheme}://{parts.hostname}" + (f":{port}" if port else "")


def _explain_webhook_error(error: urllib.error.HTTPError, number: int) -> OSError:
    """Turn an error response into an exception."""
    reason = f"it answered {error.code} {http.client.responses.get(error.code, '')}".strip()
    if 300 <= error.code < 400:
        place = _receiver_host(error.headers.get("Location") or "") or "another path"
        return OSError(f"{reason} and redirects to {place}: use the final address")
    if 400 <= error.code < 500 and error.code not in _RETRYABLE:
        return RefusedError(number, reason)
    return OSError(reason)


class JsonLines:
    """Appends a line of JSON per event to a file, each exactly once.

    The archive records the length of the file before lines are written. After a crash, lines found beyond that length
    are not written again, and a torn one is completed. Lines of other programs are left alone.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self.name = f"lines {file_text(self.path)}"

    def send(self, entries: "Sequence[Delivery]", length: int | None) -> Iterator[tuple[int, int]]:
        """Append the lines and flush them to disk."""
        if not entries:
            return
        lines = [f"{entry.line()}\n".encode() for entry in entries]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            start = size if length is None else length if length <= size else 0  # a shorter file is another one
            there, cut = _find_received_lines(file, start, lines)
            missing = [line for line in lines if line not in there]
            if missing and cut and missing[0].startswith(cut):
                missing[0] = missing[0][len(cut) :]
            else:
                if not there and size != length:
                    yield entries[0].number - 1, size
                file.seek(max(size - 1, 0))
                if missing and file.read(1) not in (b"", b"\n"):  # the last line of another program has no end
                    missing.insert(0, b"\n")
            file.write(b"".join(missing))
            file.flush()
            os.fsync(file.fileno())
            yield entries[-1].number, file.seek(0, os.SEEK_END)


def _find_received_lines(file: BinaryIO, start: int, lines: Sequence[bytes]) -> tuple[set[bytes], bytes]:
    """Which of the lines a file has beyond `start`, and the torn line at its end."""
    wanted = set(lines)
    longest = max(map(len, lines))
    there: set[bytes] = set()
    cut = b""
    whole = True
    file.seek(start)
    while piece := file.readline(longest + 1):
        if whole and piece in wanted:
            there.add(piece)
        cut = piece if whole and not piece.endswith(b"\n") else b""
        whole = piece.endswith(b"\n")
    return there, cut


class StreamReceiver:
    """Prints a line of JSON per event; after a crash a line may appear twice."""

    name = "standard output"

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def send(self, entries: "Sequence[Delivery]", length: int | None) -> Iterator[tuple[int, int]]:
        """Print the lines."""
        for entry in entries:
            try:
                self.stream.write(f"{entry.line()}\n")
                self.stream.flush()
            except BrokenPipeError:
                with suppress(OSError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (for the rest of the buffer)
                    os.dup2(nowhere.fileno(), self.stream.fileno())
                raise PqswarmError(
                    f"the {self.name} was closed: the archive keeps the remaining events for the next run."
                ) from None
            yield entry.number, length or 0
