"""Access control: a token or password, same-origin requests only, and security headers."""

import asyncio
import hmac
import re
import secrets
from dataclasses import dataclass, field
from socket import gethostname
from urllib.parse import unquote, urlsplit

from tornado.httputil import HTTPServerRequest

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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
_MAX_DECODINGS = 3
_CROSS_SITE = "Cross-site requests are rejected."


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host in _LOOPBACK


@dataclass(frozen=True)
class AccessControl:
    """Checks the origin of requests, the token and the password.

    The password is required if other machines can connect, and empty for this machine only; the token is part of the
    printed address.
    """

    host: str
    port: int
    password: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Name of the cookie; unique per port."""
        return f"pqswarm-{self.port}"

    @property
    def address(self) -> str:
        """Address to open in a browser; with the name of this machine if the server listens on all its addresses."""
        name = gethostname() if self.host in _ALL else self.host
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{self.port}/" + ("" if self.password else f"?token={self.token}")

    def reason_to_refuse(self, request: HTTPServerRequest) -> str:
        """Return why a request is refused; empty if it comes from a page of this server."""
        if _escapes_root(request.uri or ""):
            return "The address leads outside the server's root."
        if is_loopback(self.host) and not self._is_own_host(request.headers.get("Host", "")):
            return "The Host header does not name this server."
        origin = request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("Host"):
            return _CROSS_SITE
        site, mode = request.headers.get("Sec-Fetch-Site", "none"), request.headers.get("Sec-Fetch-Mode", "navigate")
        if site not in ("none", "same-origin") and not (mode == "navigate" and request.method in _SAFE_METHODS):
            return _CROSS_SITE
        if request.method not in _SAFE_METHODS and origin is None and "X-Page" not in request.headers:
            return _CROSS_SITE
        return ""

    def _is_own_host(self, host: str) -> bool:
        """Whether a Host header names this machine and port; this defeats DNS rebinding."""
        try:
            named = urlsplit(f"//{host}")
            return named.hostname in _LOOPBACK and (named.port or 80) == self.port
        except ValueError:
            return False

    def is_token(self, given: str | None) -> bool:
        """Whether a value is the token."""
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def is_password(self, given: str) -> bool:
        """Whether a value is the password."""
        return bool(self.password) and hmac.compare_digest(
            given.encode("utf-8", "replace"), self.password.encode("utf-8", "replace")
        )


class PasswordQueue:
    """Checks passwords one at a time, across all connections, and delays after a wrong one, by `pause` [s].

    Of more than `max_waiting` passwords, further ones are rejected unchecked.
    """

    def __init__(self, access: AccessControl, pause: float = 1.0, max_waiting: int = 10) -> None:
        self.access, self.pause, self.max_waiting = access, pause, max_waiting
        self._turn = asyncio.Lock()
        self._n_waiting = 0

    async def check(self, password: str) -> bool | None:
        """Return whether the password is right; None if the queue is full."""
        if self._n_waiting >= self.max_waiting:
            return None
        self._n_waiting += 1
        try:
            async with self._turn:
                is_right = self.access.is_password(password)
                if not is_right:
                    await asyncio.sleep(self.pause)
                return is_right
        finally:
            self._n_waiting -= 1


def visitor_id(given: str | None) -> str:
    """Return the visitor ID of a cookie, or a new one."""
    return given if given is not None and _VISITOR_ID.fullmatch(given) else secrets.token_hex(16)


def _escapes_root(address: str) -> bool:
    """Whether the path has a ``..`` step, even if encoded repeatedly; the query may hold any text."""
    path = address.partition("?")[0]
    for _ in range(_MAX_DECODINGS):
        if _PARENT_STEP.search(path) or "\0" in path:
            return True
        path = unquote(path)
    return bool(_PARENT_STEP.search(path))
