"""Who may ask: a token or a password opens the door, requests of other pages stay outside."""

import asyncio
import hmac
import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from tornado.httputil import HTTPServerRequest

__all__ = ["HEADERS", "Door", "PasswordQueue", "is_loopback"]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without one a form, that of the password, would have no origin
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every answer: a page may load and ask nothing but this server, and runs no script that is not a file of ours."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_READING = ("GET", "HEAD")
_STEPS_UP = re.compile(r"(^|[/\\])\.\.([/\\]|$)")
_VISITOR = re.compile(r"[0-9a-f]{32}")
_MOST_UNQUOTED = 3


def is_loopback(host: str) -> bool:
    """Whether an address is one of this machine alone."""
    return host in _LOOPBACK


@dataclass(frozen=True)
class Door:
    """Lets in who knows the token, or the password.

    Attributes
    ----------
    host, port : str, int
        Where the server listens.
    password : str
        Needed beside the token's place if other machines can ask; empty on this machine alone.
    token : str
        Is part of the address that is printed.
    """

    host: str
    port: int
    password: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Name of the cookie; servers on other ports of this machine have others."""
        return f"pqswarm-{self.port}"

    @property
    def address(self) -> str:
        """What is opened in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + ("" if self.password else f"?token={self.token}")

    def refuse(self, request: HTTPServerRequest) -> str:
        """Say why a request is none of this server's own pages; empty if it is."""
        if _climbs(request.uri or ""):
            return "The address leads outside."
        if is_loopback(self.host) and not self._is_ours(request.headers.get("Host", "")):
            return "The address is not one of this server."
        origin = request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("Host"):
            return "Requests of other pages are not answered."
        site, mode = request.headers.get("Sec-Fetch-Site", "none"), request.headers.get("Sec-Fetch-Mode", "navigate")
        if site not in ("none", "same-origin") and not (mode == "navigate" and request.method in _READING):
            return "Requests of other pages are not answered."
        if request.method not in _READING and origin is None and "X-Page" not in request.headers:
            return "Requests of other pages are not answered."
        return ""

    def _is_ours(self, host: str) -> bool:
        """Whether a name is one of this machine: a name that another server gives out can lead here too."""
        try:
            named = urlsplit(f"//{host}")
            return named.hostname in _LOOPBACK and (named.port or 80) == self.port
        except ValueError:
            return False

    def knows(self, given: str | None) -> bool:
        """Whether what a request brings is the token."""
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def opens(self, password: str) -> bool:
        """Whether it is the password."""
        return bool(self.password) and hmac.compare_digest(
            password.encode("utf-8", "replace"), self.password.encode("utf-8", "replace")
        )


class PasswordQueue:
    """Tries passwords one after the other, however many connections send some: a wrong one takes its time.

    Parameters
    ----------
    door : Door
        Knows the password.
    pause : float
        How long a wrong one takes [s].
    most_waiting : int
        Passwords that wait for their turn; more are refused untried.
    """

    def __init__(self, door: Door, pause: float = 1.0, most_waiting: int = 10) -> None:
        self.door, self.pause, self.most_waiting = door, pause, most_waiting
        self._turn = asyncio.Lock()
        self._n_waiting = 0

    async def opens(self, password: str) -> bool | None:
        """Return whether it is the password; None if it was not tried."""
        if self._n_waiting >= self.most_waiting:
            return None
        self._n_waiting += 1
        try:
            async with self._turn:
                is_right = self.door.opens(password)
                if not is_right:
                    await asyncio.sleep(self.pause)
                return is_right
        finally:
            self._n_waiting -= 1


def checked_visitor(given: str | None) -> str:
    """Return who asks, a new one if that is not known."""
    return given if given is not None and _VISITOR.fullmatch(given) else secrets.token_hex(16)


def _climbs(address: str) -> bool:
    """Whether the path of an address has a step up, however often it is encoded; a query may have any text."""
    path = address.partition("?")[0]
    for _ in range(_MOST_UNQUOTED):
        if _STEPS_UP.search(path) or "\0" in path:
            return True
        path = unquote(path)
    return bool(_STEPS_UP.search(path))
