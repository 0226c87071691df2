"""Access control: a token or password, tickets for downloads, same-origin requests only, and security headers.

Browsers send cookies to every port of a host, also to servers of other users. The page therefore keeps the token in its
session storage and sends it as a header.
"""

import asyncio
import hmac
import json
import os
import re
import secrets
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from socket import gethostname
from urllib.parse import unquote

from tornado.httputil import HTTPServerRequest

from pqswarm._base.files import read_regular, write_atomically
from pqswarm.errors import PqswarmError

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" the password form would send no Origin
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response: a page loads from and connects to this server only, and runs only its script files."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ALL = ("", "0.0.0.0", "::")  # noqa: S104
_SAFE_METHODS = ("GET", "HEAD")
_PARENT_STEP = re.compile(r"(^|[/\\])\.\.([/\\]|$)")
_VISITOR_ID = re.compile(r"[0-9a-f]{32}")
_TOKEN = re.compile(r"[\w-]{32}", re.ASCII)
_MAX_DECODINGS = 3
_TICKET_SECONDS = 60.0
_MAX_TICKETS = 1000
_MAX_ADDRESS = 2000  # characters of what a ticket is for
_CROSS_SITE = "Cross-site requests are rejected."


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host in _LOOPBACK


@dataclass(frozen=True)
class AccessControl:
    """Checks the origin of requests, the token and the password.

    The password is required if other machines can connect, and empty for this machine only. The token is part of the
    printed address; with a password, it depends on both.
    """

    host: str
    port: int
    password: str = ""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def token(self) -> str:
        """What requests must bring."""
        word = self.password.encode("utf-8", "replace")
        return hmac.digest(self.secret.encode(), word, "sha256").hex() if word else self.secret

    @property
    def address(self) -> str:
        """Address to open in a browser; with the name of this machine if the server listens on all its addresses."""
        name = gethostname() if self.host in _ALL else self.host
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{self.port}/" + ("" if self.password else f"?token={self.token}")

    def reason_to_refuse(self, request: HTTPServerRequest) -> str:
        """Return why a request is refused; empty if it comes from a page of this server."""
        if _escapes_access_root(request.uri or ""):
            return "The address leads outside the server's root."
        host = request.headers.get("Host", "")
        if is_loopback(self.host) and not self._is_own_host(host):
            return "The Host header does not name this server."
        if request.headers.get("Origin", f"http://{host}") not in (f"http://{host}", f"https://{host}"):
            return _CROSS_SITE
        site = request.headers.get("Sec-Fetch-Site", "none")
        mode = request.headers.get("Sec-Fetch-Mode", "navigate")
        if site not in ("none", "same-origin") and not (mode == "navigate" and request.method in _SAFE_METHODS):
            return _CROSS_SITE
        return ""

    def _is_own_host(self, host: str) -> bool:
        """Whether a Host header names this machine and port; this defeats DNS rebinding."""
        own = [f"{name}:{self.port}".removesuffix(":80") for name in ("127.0.0.1", "localhost", "[::1]")]
        return host.lower().removesuffix(":80") in own

    def is_token(self, given: str | None) -> bool:
        """Whether a value is the token."""
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def is_password(self, given: str) -> bool:
        """Whether a value is the password."""
        return bool(self.password) and hmac.compare_digest(
            given.encode("utf-8", "replace"), self.password.encode("utf-8", "replace")
        )


def read_access(path: Path) -> tuple[str, int]:
    """Return the stored token and port of a folder's server; an empty token and 0 if there are none."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):  # missing or damaged: start anew
        found = json.loads(read_regular(path, 1000))
        if _TOKEN.fullmatch(found["token"]) and 0 < found["port"] < 65536:
            return found["token"], int(found["port"])
    return "", 0


def store_access(path: Path, token: str, port: int) -> None:
    """Store token and port in the private state folder, if it can be written, so that links outlive a restart."""
    before = os.umask(0o077)
    try:
        with suppress(PqswarmError):
            write_atomically(path, json.dumps({"token": token, "port": port}))
    finally:
        os.umask(before)


class Tickets:
    """Passes for addresses that a browser opens by itself, such as downloads: each for one address, once, for 60 s."""

    def __init__(self) -> None:
        self._issued: dict[str, tuple[str, str, float]] = {}

    def issue(self, address: str, visitor: str) -> str:
        """Return a ticket for an address and a visitor."""
        if len(address) > _MAX_ADDRESS:
            raise PqswarmError(f"an address has at most {_MAX_ADDRESS} characters.")
        while len(self._issued) >= _MAX_TICKETS:
            del self._issued[next(iter(self._issued))]
        ticket = secrets.token_urlsafe(24)
        self._issued[ticket] = address, visitor, time.monotonic() + _TICKET_SECONDS
        return ticket

    def redeem(self, uri: str) -> str | None:
        """Return the visitor whose ticket a URI ends with; None if it has no valid one."""
        address, _, ticket = uri.rpartition("ticket=")
        known, visitor, end = self._issued.pop(ticket, ("", "", 0.0))
        return visitor if known and known == address[:-1] and time.monotonic() < end else None


class PasswordQueue:
    """Checks the passwords of a sender one at a time, and delays after a wrong one, by `pause` [s].

    Senders are those of :func:`sender_of`. Of more than `max_waiting` passwords of a sender, or
    `max_all` of all, further ones are rejected unchecked.
    """

    def __init__(self, access: AccessControl, pause: float = 1.0, max_waiting: int = 3, max_all: int = 300) -> None:
        self.access = access
        self.pause = pause
        self.max_waiting = max_waiting
        self.max_all = max_all
        self._turns: dict[str, asyncio.Lock] = {}
        self._waiting: Counter[str] = Counter()

    async def check(self, password: str, address: str) -> bool | None:
        """Return whether the password is right; None if the sender has too many waiting."""
        sender = sender_of(address)
        if self._waiting[sender] >= self.max_waiting or self._waiting.total() >= self.max_all:
            return None
        self._waiting[sender] += 1
        try:
            async with self._turns.setdefault(sender, asyncio.Lock()):
                is_right = self.access.is_password(password)
                if not is_right:
                    await asyncio.sleep(self.pause)
                return is_right
        finally:
            self._waiting[sender] -= 1
            if not self._waiting[sender]:
                del self._waiting[sender], self._turns[sender]


def sender_of(address: str) -> str:
    """Return who sends from an address: the address itself, or of IPv6 the network of 64 bits."""
    return IPv6Address(address).exploded[:19] if ":" in address else address


def visitor_id(given: str | None) -> str:
    """Return the visitor ID of a request, or a new one."""
    return given if given is not None and _VISITOR_ID.fullmatch(given) else secrets.token_hex(16)


def _escapes_access_root(address: str) -> bool:
    """Whether the path has a ``..`` step, even if encoded repeatedly; the query may hold any text."""
    path = address.partition("?")[0]
    for _ in range(_MAX_DECODINGS):
        if _PARENT_STEP.search(path) or "\0" in path:
            return True
        path = unquote(path)
    return bool(_PARENT_STEP.search(path))
