"""Watch a folder, analyze each new recording once, whatever happens to the process, and tell the receivers."""

import hashlib
import http.client
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from math import inf
from pathlib import Path
from threading import Timer
from typing import Any, BinaryIO, NoReturn, Protocol, TextIO
from urllib.parse import urlsplit

from pqswarm import __version__
from pqswarm._base.text import count_text, file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.archive.analyzer import AnalyzedFile, analyze_into_archive
from pqswarm.identify.archive.archive import Archive
from pqswarm.identify.archive.deliveries import Delivery
from pqswarm.identify.archive.files import SeenFile, look_at_file
from pqswarm.identify.folder.batch import Candidate, Failure, batch_file_stamp, is_ours, scan

_RETRYABLE = (401, 407, 408, 425, 429)
"""Client errors about time or credentials, not about the event."""
_MAX_WAIT = 60.0
"""Maximum time between two attempts, and of deliveries to a receiver between two looks at the folder [s]."""
_TRIES = 5
"""Attempts with a receiver or a file in a single pass; refusals after which an event is set aside."""
_FILE_TRIES = 12
"""Attempts with a file that cannot be reached or needs too much memory, until the watcher is restarted."""
_PATIENCE = 300.0
"""Time after which an incomplete file is reported [s]."""


class RefusedError(OSError):
    """A receiver refused an event."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


class Receiver(Protocol):
    """Accepts events in order."""

    name: str

    def send(self, entries: Sequence[Delivery], length: int | None) -> Iterator[tuple[int, int]]:
        """Deliver events; yield the number of the last one stored, and the length of the file, if it is one.

        `length` is the last one yielded, or None. Raises an OSError if a delivery fails and is to be retried, and
        :class:`RefusedError` if retrying is useless.
        """


class Webhook:
    """Posts each event as JSON.

    An event is repeated until the receiver answers with success (2xx). After a crash it may arrive twice, with the same
    header ``Idempotency-Key``, the ``key`` of the event. Redirects are not followed: they would drop the event. As the
    address may hold a secret, messages and the archive show only its host and part of its SHA-256.

    Addresses of this machine, of private networks and other special ones are connected to only if the receiver
    `is_local`, whatever name leads to them.
    """

    def __init__(self, url: str, timeout: float = 10.0, *, is_local: bool = False) -> None:
        host = _receiver_host(url)
        if not host:
            raise PqswarmError(
                "--webhook must be an http or https address such as https://example.org/events, in ASCII, without "
                "user, password and spaces."
            )
        self.url = url
        self.timeout = timeout
        self.name = f"webhook {host} ({hashlib.sha256(url.encode()).hexdigest()[:8]})"
        self._opener = urllib.request.build_opener(_WebhookHandler(is_local))

    def send(self, entries: Sequence[Delivery], length: int | None) -> Iterator[tuple[int, int]]:
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


class _WebhookConnection(http.client.HTTPConnection):
    """A connection whose answer must begin in time; the timeout of a socket restarts with each byte.

    Where it leads is checked after its name was resolved, and the address that was checked is used.
    """

    def __init__(self, *given: Any, is_local: bool, **options: Any) -> None:
        super().__init__(*given, **options)
        self._is_local = is_local

    def connect(self) -> None:
        self._create_connection = self._connect_to_receiver
        super().connect()
        self._twin = self.sock.dup()  # of the same connection, also when TLS has taken over the socket
        self._alarm = Timer(self.timeout or 0.0, _end_webhook_connection, [self._twin])
        self._alarm.daemon = True
        self._alarm.start()

    def _connect_to_receiver(self, place: tuple[str, int], timeout: Any, source: Any) -> socket.socket:
        found = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found if self._is_local or is_public_receiver(str(one[4][0]))]
        if not addresses:
            raise OSError(
                "its address is of this machine, a private network or no single receiver; --local-webhook allows that"
            )
        for address in addresses[:-1]:
            with suppress(OSError):
                return socket.create_connection((address, place[1]), timeout, source)
        return socket.create_connection((addresses[-1], place[1]), timeout, source)

    def getresponse(self) -> http.client.HTTPResponse:
        try:
            return super().getresponse()
        finally:
            self._alarm.cancel()
            self._twin.close()


class _EncryptedWebhookConnection(http.client.HTTPSConnection, _WebhookConnection):
    """The same with TLS, whose handshake must end in time, too."""


def _end_webhook_connection(connection: socket.socket) -> None:
    """End a connection; whoever waits for its next byte sees the end."""
    with suppress(OSError), connection:
        connection.shutdown(socket.SHUT_RDWR)


class _WebhookHandler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler, urllib.request.HTTPRedirectHandler):
    """Opens addresses with a time limit, and treats a redirect as an error."""

    def __init__(self, is_local: bool) -> None:
        super().__init__()
        self._is_local = is_local

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_WebhookConnection, is_local=self._is_local), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_EncryptedWebhookConnection, is_local=self._is_local), req)

    def redirect_request(self, *_: Any) -> None:
        """Do not follow."""


def is_public_receiver(address: str) -> bool:
    """Return whether an IP address is one of the Internet: not of this machine, a private network, or a group.

    Examples
    --------
    >>> [is_public_receiver(one) for one in ("8.8.8.8", "10.0.0.5", "169.254.169.254", "::ffff:127.0.0.1")]
    [True, False, False, False]
    """
    found = ip_address(address.partition("%")[0])
    plain = getattr(found, "ipv4_mapped", None) or found
    return bool(plain.is_global and not plain.is_multicast)


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

    def send(self, entries: Sequence[Delivery], length: int | None) -> Iterator[tuple[int, int]]:
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

    def send(self, entries: Sequence[Delivery], length: int | None) -> Iterator[tuple[int, int]]:
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


class Watcher:
    """Analyzes each new recording of a folder, and of those below it, once, and delivers its events to all receivers.

    The archive knows the analyzed files by path, size and modification time. A file that was touched, renamed or copied
    is recognized by its content and not analyzed again, whoever analyzed it. One that fails is retried when it changes;
    one that cannot be reached is retried several times, and when the watcher is restarted. The events of a file and its
    state are written in one transaction: a crash neither loses nor duplicates an event. An event whose numbers have
    changed, as when its file has grown, is delivered again with the key of the first.

    `analyze` takes a path; `settle` is the time without changes after which a file is analyzed [s]; `say` is called
    with messages.
    """

    def __init__(
        self,
        folder: Path,
        archive: Archive,
        analyze: Callable[[Path], AnalyzedFile],
        receivers: Sequence[Receiver] = (),
        *,
        settle: float = 2.0,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not folder.is_dir():
            raise PqswarmError(f"{folder} is not a folder that can be watched.")
        self.folder = Path(os.path.abspath(folder))  # noqa: PTH100 (without .., as the archive knows its files)
        self.archive = archive
        self.analyze = analyze
        self.receivers = tuple(receivers)
        self.settle = settle
        self.say = say
        self.n_analyzed = 0
        self._seen: dict[str, tuple[Candidate, float]] = {}
        known = archive.files.all(self.folder)
        self._known = {path: one.stamp for path, one in known.items() if one.state in ("done", "failed", "ours")}
        self._failing: dict[str, tuple[int, float]] = {}
        self._retried: dict[str, _WatchRetry] = {}
        self._busy: set[str] = set()
        self._named: set[str] = set()
        self._turn = _MAX_WAIT

    def run(self, interval: float = 5.0) -> NoReturn:
        """Watch until the process is interrupted, at this interval [s]."""
        while True:
            self.look()
            time.sleep(interval)

    def run_once(self) -> bool:
        """Analyze the existing files and deliver their events; return whether nothing remains to be done."""
        self._turn = inf
        if self.look():
            time.sleep(self.settle)
            self.look()
        for attempt in range(_TRIES):
            if not self._failing and not self._retried and not self._busy:
                break
            time.sleep(0.5 * 2**attempt)
            self.look(now=True)
        self._name_waiting(0.0)
        return not self._failing and not self._retried and not self._busy

    def look(self, *, now: bool = False) -> int:
        """Analyze new files that have settled, deliver events, and return the number of files still pending.

        Retryable failures are retried when due, or at once if `now`.
        """
        ready = []
        moment = time.monotonic()
        present = {}
        for candidate in scan(self.folder):
            name = candidate.name
            stamp = candidate.stamp
            if stamp and self._known.get(candidate.parts[0]) == stamp:
                continue
            before, since = self._seen.get(name, (None, moment))
            since = since if before is not None and before.stamp == stamp else moment
            present[name] = (candidate, since)
            if stamp and moment - since >= self.settle and not candidate.is_incomplete:
                ready.append(candidate)
        self._seen = present
        mine = (one.path for one in self.archive.files.waiting() if one.path.is_relative_to(self.folder))
        if gone := [path for path in mine if not path.exists()]:  # before they were analyzed
            self.archive.files.forget(gone)
        self._retried = {name: retry for name, retry in self._retried.items() if name in present}
        waiting = len(present) - len(ready)
        self._name_waiting(_PATIENCE)
        self.deliver(now=now)
        begun = self.archive.files.begun()
        waiting_files = {one.path: one.content for one in self.archive.files.waiting()} if begun and ready else {}
        times = {path: begun.get(content, 0) for path, content in waiting_files.items()}
        for candidate in sorted(ready, key=lambda one: times.get(one.parts[0], 0)):  # crashing files come last
            retry = self._retried.get(candidate.name)
            if retry is None or retry.stamp != candidate.stamp or retry.is_due(now):
                self._take(candidate)
                self.deliver()
        return waiting

    def _name_waiting(self, patience: float) -> None:
        """Report each incomplete file once, after some time [s]."""
        moment = time.monotonic()
        for name, (candidate, since) in self._seen.items():
            settled = candidate.stamp and moment - since >= self.settle
            if not settled and moment - since >= patience and name not in self._named:
                self._named.add(name)
                self.say(f"{name}: waiting: {candidate.lack}.")

    def _take(self, candidate: Candidate) -> None:
        """Analyze a file, unless its content was analyzed before, and write the result."""
        path = candidate.parts[0]
        before = self.archive.files.get(path)
        self._busy.discard(candidate.name)
        try:
            file = look_at_file(candidate, before)
        except OSError as error:
            self._retry(candidate, f"cannot be read: {error.strerror or error}.")
            return
        if is_ours(path):
            self.archive.files.set_aside(path, candidate.stamp, "ours", "a table written by pqswarm.")
            self._note(candidate, "ignored", "a table written by pqswarm.")
            return
        self.archive.files.register([file])
        claim = self.archive.files.claim(file.content)
        if claim == "busy":
            self._busy.add(candidate.name)
        elif claim == "done":
            others = [one for one in self.archive.files.by_content([file.content])[file.content] if one.path != path]
            is_touched = before is not None and before.content == file.content
            said = f"same content as {file_text(others[0].path)}." if others else ""
            self._note(candidate, "" if is_touched else "copy" if others else "analyzed before", said)
        else:
            self._analyze(candidate, file)

    def _analyze(self, candidate: Candidate, file: SeenFile) -> None:
        found, told = analyze_into_archive(
            self.archive, file, self.analyze, lambda: batch_file_stamp(candidate.parts) == candidate.stamp
        )
        failures = [one for one in found.results if isinstance(one, Failure)]
        reasons = " ".join(str(one) if one.place else one.reason for one in failures)
        if found.is_retryable:
            self._retry(candidate, reasons)
        elif told is not None:
            self.n_analyzed += 1
            is_read = any(isinstance(one, Analysis) for one in found.results)
            self._note(candidate, count_text(told, "event") if is_read else "failed", reasons)

    def _retry(self, candidate: Candidate, reason: str) -> None:
        """Schedule another attempt with a file."""
        before = self._retried.get(candidate.name)
        times = 1 + (before.times if before is not None and before.stamp == candidate.stamp else 0)
        wait = min(2.0**times, _MAX_WAIT)
        self._retried[candidate.name] = _WatchRetry(candidate.stamp, times, time.monotonic() + wait)
        if times in (1, _FILE_TRIES):
            when = "" if times == 1 else " when the watcher is restarted"
            self.say(f"{candidate.name}: not analyzed, will be retried{when}; {reason}")

    def _note(self, candidate: Candidate, what: str, reason: str) -> None:
        """Remember that a file is done, and say `what` it was, unless that is empty."""
        self._known[candidate.parts[0]] = candidate.stamp
        self._seen.pop(candidate.name, None)
        self._retried.pop(candidate.name, None)
        if what:
            self.say(f"{candidate.name}: {what}" + (f"; {file_text(reason)}" if reason else ""))

    def deliver(self, *, now: bool = False) -> None:
        """Deliver pending events; a receiver that fails is retried later, or at once if `now`."""
        for receiver in self.receivers:
            tries, again = self._failing.get(receiver.name, (0, 0.0))
            if tries and not now and time.monotonic() < again:
                continue
            try:
                sent = self._deliver_to(receiver)
                self._failing.pop(receiver.name, None)
                if tries and sent:
                    self.say(f"{receiver.name}: delivery resumed.")
            except OSError as error:
                wait = min(2.0**tries, _MAX_WAIT)
                self._failing[receiver.name] = (tries + 1, time.monotonic() + wait)
                self.say(f"{receiver.name}: not delivered, will be retried: {error}.")

    def _deliver_to(self, receiver: Receiver) -> bool:
        """Send pending events to a receiver, set aside those it refuses, and return whether it accepted any."""
        name = f"{receiver.name} of {file_text(self.folder)}"
        sent = False
        began = time.monotonic()
        while entries := self.archive.deliveries.pending(name, self.folder):
            try:
                for last, length in receiver.send(entries, self.archive.deliveries.progress(name)[1]):
                    self.archive.deliveries.delivered(name, last, length)
                    sent = True
                    if time.monotonic() - began > self._turn:  # a slow one: new files are analyzed meanwhile
                        return sent
            except RefusedError as error:
                if not self.archive.deliveries.refuse(name, error.number, str(error), _TRIES):
                    raise
                key = next(entry.key for entry in entries if entry.number == error.number)
                self.say(f"{receiver.name}: event {key} is set aside after {_TRIES} refusals: {error}.")
        return sent


@dataclass(frozen=True)
class _WatchRetry:
    """Attempts with one version of a file, and when the next is due."""

    stamp: str
    times: int
    again: float

    def is_due(self, now: bool) -> bool:
        return self.times < _FILE_TRIES and (now or time.monotonic() >= self.again)
