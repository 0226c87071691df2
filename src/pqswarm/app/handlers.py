"""What all answers have in common: the door, work in threads, strict JSON, errors in one sentence."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from pqswarm import __version__
from pqswarm.app.access import HEADERS, Door, PasswordQueue, checked_visitor
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.workbench import Page, Workbench
from pqswarm.errors import PqswarmError

__all__ = ["Base", "Login", "Missing", "Refused", "Updates"]

_VISITOR = "pqswarm-visitor"
_YEAR = 365
_ALIVE = 15.0
"""Seconds after which an idle page is told that the server is there."""

_Found = TypeVar("_Found")


class Missing(PqswarmError):  # noqa: N818 (an answer)
    """What was asked for is not there."""


class Refused(PqswarmError):  # noqa: N818
    """What was asked for is not given, with the HTTP status."""

    def __init__(self, reason: str, status: int = 403) -> None:
        super().__init__(reason)
        self.status = status


class Base(RequestHandler):
    """An answer to somebody whom the door let in."""

    needs_token = True

    def initialize(self) -> None:
        """Begin without work."""
        self._jobs: set[Job] = set()
        self._has_left = False

    @property
    def workbench(self) -> Workbench:
        """What all requests share."""
        found: Workbench = self.settings["workbench"]
        return found

    @property
    def door(self) -> Door:
        """Who lets in."""
        found: Door = self.settings["door"]
        return found

    def set_default_headers(self) -> None:
        """Let the page load nothing of others."""
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse what other pages ask, and who does not know the token."""
        reason = self.door.refuse(self.request)
        if not reason and self.needs_token and not self._is_known():
            reason = "Open the address that pqswarm printed: it has the token that this page needs."
        if reason:
            raise Refused(reason)
        self.visitor = checked_visitor(self.get_cookie(_VISITOR))
        if self.get_cookie(_VISITOR) != self.visitor:
            self.set_cookie(_VISITOR, self.visitor, expires_days=_YEAR, httponly=True, samesite="Strict")

    def _is_known(self) -> bool:
        if self.door.knows(self.get_cookie(self.door.cookie)):
            return True
        return not self.door.password and self.door.knows(self.get_query_argument("token", None))

    def remember(self) -> None:
        """Let the browser in from now on."""
        self.set_cookie(self.door.cookie, self.door.token, expires_days=None, httponly=True, samesite="Strict")

    @property
    def page(self) -> Page | None:
        """The open page that asks, if it says which."""
        found = self.workbench.pages.get(self.request.headers.get("X-Page", ""))
        return found if found is not None and found.visitor == self.visitor else None

    async def work(self, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """Return what ``function(job, *arguments)`` returns, run in a thread, as long as the browser waits for it."""
        if self._has_left:  # while the handler waited for something else
            raise Cancelled
        job = Job()
        self._jobs.add(job)
        try:
            return await self.workbench.jobs.answer(job, function, *arguments)
        finally:
            self._jobs.discard(job)

    def on_connection_close(self) -> None:
        """Stop the work when the browser goes away, and begin no more."""
        self._has_left = True
        for job in self._jobs:
            job.cancel()

    def send_json(self, value: Any) -> None:
        """Answer with plain values."""
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(value, allow_nan=False, separators=(",", ":")))

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number of the address."""
        text = self.get_query_argument(name, None)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = None
        if value is None or value != value or abs(value) == float("inf"):
            raise Refused(f"{name} must be a number.", 400)
        return value

    def read_json(self) -> dict[str, Any]:
        """Return what was sent as JSON."""
        try:
            found = json.loads(self.request.body)
        except (ValueError, RecursionError):  # no JSON, or nested without end
            found = None
        if not isinstance(found, dict):
            raise Refused("The request must be an object in JSON.", 400)
        return found

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Answer with an error, unless an answer has begun: then it ends."""
        if not self._headers_written:
            super().send_error(status_code, **kwargs)
        elif not self._finished:
            with suppress(StreamClosedError):
                self.finish()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with one sentence, without details of the program."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        reason = "Something went wrong; see the terminal." if status_code >= 500 else self._reason
        if isinstance(error, PqswarmError):
            status_code = error.status if isinstance(error, Refused) else 404 if isinstance(error, Missing) else 400
            reason = self.workbench.names.hide(str(error))
        self.set_status(status_code)
        with suppress(StreamClosedError):
            if self.request.headers.get("Sec-Fetch-Dest") == "document":
                self.render("refused.html", reason=reason)
            else:
                self.send_json({"error": reason})

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Keep quiet about mistakes of who asks, and about who went away."""
        if not isinstance(value, PqswarmError | Cancelled | HTTPError | StreamClosedError):
            super().log_exception(typ, value, tb)


class NotFound(Base):
    """Nothing is there."""

    def prepare(self) -> None:
        """Say so to who may know."""
        super().prepare()
        raise Missing("There is nothing at this address.")


class Login(Base):
    """The first answer: the page, to who knows the token or the password."""

    needs_token = False

    def get(self) -> None:
        """Let in who brings the token, and show the page to who was let in."""
        given = self.get_query_argument("token", None)
        if self._is_known():
            if given is not None:  # the token does not stay in the address
                self.remember()
                self._go_on()
                return
            self.render(
                "index.html", version=__version__, **{kind: self.settings[kind] for kind in ("scripts", "styles")}
            )
        elif self.door.password:
            self.render("login.html", wrong=False)
        else:
            raise Refused("Open the address that pqswarm printed: it has the token that this page needs.")

    def _go_on(self) -> None:
        """Lead to the page; a redirect of what began at another page, or a file, would come without the cookie."""
        if self.request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
            self.redirect("/")
        else:
            self.finish('<!DOCTYPE html><title>pqswarm</title><meta http-equiv="refresh" content="0; url=/">')

    async def post(self) -> None:
        """Let in who knows the password."""
        passwords: PasswordQueue = self.settings["passwords"]
        is_right = await passwords.opens(self.get_body_argument("password", ""))
        if is_right is None:
            raise Refused("Too many passwords are being tried: try again in some seconds.", 429)
        if is_right:
            self.remember()
            self.redirect("/")
            return
        self.set_status(403)
        self.render("login.html", wrong=True)


class Updates(Base):
    """Tells an open page what happens, as long as it is open; then its work stops."""

    async def get(self, name: str) -> None:
        """Send messages as they come."""
        page = Page(name, self.visitor)
        old = self.workbench.pages.get(name)
        if old is not None and old.visitor != self.visitor:
            raise Refused("This page is somebody else's.")
        self.workbench.arrive(page)
        self._page = page
        self.set_header("Content-Type", "text/event-stream")
        try:
            self.write("retry: 1000\n\n")
            await self.flush()
            while True:
                try:
                    message = await asyncio.wait_for(page.messages.get(), _ALIVE)
                except TimeoutError:
                    self.write(": still here\n\n")
                else:
                    self.write(f"data: {json.dumps(message, allow_nan=False)}\n\n")
                await self.flush()
        except StreamClosedError:
            pass
        finally:
            self._leave()

    def on_connection_close(self) -> None:
        """Stop all work for the page."""
        super().on_connection_close()
        self._leave()
        if hasattr(self, "_page"):
            self._page.tell({})  # who waits for a message finds that nobody listens

    def _leave(self) -> None:
        page: Page | None = getattr(self, "_page", None)
        if page is not None:
            page.close()
            if self.workbench.pages.get(page.name) is page:
                del self.workbench.pages[page.name]
