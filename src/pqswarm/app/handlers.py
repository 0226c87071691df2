"""Base of all request handlers: access control, work in threads, strict JSON, clear errors."""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from pqswarm import __version__
from pqswarm.app.access import HEADERS, AccessControl, PasswordQueue, Tickets, sender_of, visitor_id
from pqswarm.app.jobs import Job, JobCancelled
from pqswarm.app.workbench import Workbench, WorkbenchPage
from pqswarm.errors import PqswarmError

_LOG = logging.getLogger("pqswarm.app")
_KEEP_ALIVE = 15.0
"""Seconds between keep-alive comments to an idle page."""
_LARGEST = 1e12
"""Largest number of a query: times and counts beyond it would overflow."""
_NO_TOKEN = "Open the address that pqswarm printed: it contains the token this page needs."  # noqa: S105
_USED_TICKET = "This link works once, for a minute: open it again from the workbench."

_Found = TypeVar("_Found")


class HTTPRefusal(PqswarmError):  # noqa: N818 (an answer)
    """The request is refused, with an HTTP status."""

    def __init__(self, reason: str, status: int = 403) -> None:
        super().__init__(reason)
        self.status = status


class HTTPMissing(PqswarmError):  # noqa: N818
    """The requested thing does not exist."""

    status = 404


class BaseHandler(RequestHandler):
    """Handler of a request that must come with the token."""

    needs_token = True

    def initialize(self) -> None:
        """Create the job of the request, which is canceled when the browser disconnects; name what requests share."""
        self.job = Job()
        self.workbench: Workbench = self.settings["workbench"]
        self.access: AccessControl = self.settings["access"]
        self.tickets: Tickets = self.settings["tickets"]

    def set_default_headers(self) -> None:
        """Set the security headers."""
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse cross-site requests and requests without the token or a ticket."""
        reason = self.access.reason_to_refuse(self.request)
        self.visitor = visitor_id(self.request.headers.get("X-Visitor"))
        if not reason and self.needs_token and not self.access.is_token(self.request.headers.get("X-Token")):
            uri = self.request.uri or ""
            found = self.tickets.redeem(uri) if self.request.method == "GET" else None
            self.visitor = found or self.visitor
            reason = "" if found else _USED_TICKET if "ticket=" in uri else _NO_TOKEN
        if reason:
            raise HTTPRefusal(reason)

    @property
    def sender(self) -> str:
        """The address or network that the request comes from."""
        return sender_of(self.request.remote_ip or "")

    @property
    def page(self) -> WorkbenchPage | None:
        """The open page that sent the request, if the request names it."""
        found = self.workbench.pages.get(self.request.headers.get("X-Page", ""))
        return found if found is not None and found.visitor == self.visitor else None

    async def work(self, function: Callable[..., _Found], *arguments: Any) -> _Found:
        """Return ``function(*arguments)``, run in a thread; long functions call ``self.job.check``."""
        self.job.check()
        if self.workbench.jobs.is_busy_for(self.visitor, self.sender):
            raise HTTPRefusal("Too many requests at once: wait until some have been answered.", 429)
        return await self.workbench.jobs.run(self.job, function, *arguments, owner=self.visitor, sender=self.sender)

    def on_connection_close(self) -> None:
        """Stop working when the browser disconnects."""
        self.job.cancel()

    def send_json(self, value: Any) -> None:
        """Send plain values as JSON."""
        self.send_json_text(json.dumps(value, allow_nan=False, separators=(",", ":")))

    def send_json_text(self, text: str) -> None:
        """Send a JSON text, without names of folders."""
        self.set_header("Content-Type", "application/json")
        self.finish(self.workbench.names.hide(text))

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number of the query."""
        text = self.get_query_argument(name, None)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = None
        if value is None or not abs(value) <= _LARGEST:
            raise HTTPRefusal(f"{name} must be a number from -1e12 to 1e12.", 400)
        return value

    def read_json(self) -> dict[str, Any]:
        """Return the JSON object of the request body."""
        try:
            found = json.loads(self.request.body)
        except (ValueError, RecursionError):  # invalid or too deeply nested
            found = None
        if not isinstance(found, dict):
            raise HTTPRefusal("The request body must be a JSON object.", 400)
        return found

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Send an error; if the response has already started, end it."""
        if not self._headers_written:
            super().send_error(status_code, **kwargs)
        elif not self._finished:
            with suppress(StreamClosedError):
                self.finish()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Send one sentence, without internals of the program or names of folders."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        reason = "Something went wrong; see the terminal." if status_code >= 500 else self._reason
        if isinstance(error, PqswarmError):
            status_code = getattr(error, "status", 400)
            reason = str(error)
        self.set_status(status_code)
        with suppress(StreamClosedError):
            if self.request.headers.get("Sec-Fetch-Dest") == "document":
                self.render("refused.html", reason=self.workbench.names.hide(reason))
            else:
                self.send_json({"error": reason})

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Do not log client errors and disconnects, nor the query, which may hold the token."""
        if not isinstance(value, PqswarmError | JobCancelled | HTTPError | StreamClosedError):
            _LOG.error("cannot answer %s %s", self.request.method, self.request.path, exc_info=(typ, value, tb))


class NotFoundHandler(BaseHandler):
    """Any other address."""

    def prepare(self) -> None:
        """Answer 404 to authorized requests."""
        super().prepare()
        raise HTTPMissing("There is nothing at this address.")


class FrameHandler(BaseHandler):
    """The page without any data; it asks for them with the token, or for the password first."""

    needs_token = False

    def get(self) -> None:
        """Send it."""
        kinds = {kind: self.settings[kind] for kind in ("scripts", "styles")}
        self.render("index.html", version=__version__, password=bool(self.access.password), **kinds)


class LoginHandler(BaseHandler):
    """Exchanges the password for the token."""

    needs_token = False

    async def post(self) -> None:
        """Send the token if the password is right."""
        passwords: PasswordQueue = self.settings["passwords"]
        given = self.read_json().get("password")
        is_right = await passwords.check(given if isinstance(given, str) else "", self.request.remote_ip or "")
        if is_right is None:
            raise HTTPRefusal("Too many login attempts: try again in a few seconds.", 429)
        if not is_right:
            raise HTTPRefusal("Wrong password.")
        self.send_json({"token": self.access.token})


class TicketHandler(BaseHandler):
    """Issues tickets."""

    def post(self) -> None:
        """Send a ticket for an address of this server."""
        address = self.read_json().get("address")
        self.send_json({"ticket": self.tickets.issue(address if isinstance(address, str) else "", self.visitor)})


class PageUpdatesHandler(BaseHandler):
    """Server-sent events for an open page; when it closes, its jobs are canceled."""

    _page: WorkbenchPage | None = None

    async def get(self, name: str) -> None:
        """Send messages as they come."""
        old = self.workbench.pages.get(name)
        if old is not None and old.visitor != self.visitor:
            raise HTTPRefusal("This page belongs to another visitor.")
        self._page = page = WorkbenchPage(name, self.visitor)
        self.workbench.register_page(page)
        self.set_header("Content-Type", "text/event-stream")
        try:
            self.write("retry: 1000\n\n")
            await self.flush()
            while True:
                try:
                    message = await asyncio.wait_for(page.messages.get(), _KEEP_ALIVE)
                except TimeoutError:
                    self.write(": keep-alive\n\n")
                else:
                    text = self.workbench.names.hide(json.dumps(message, allow_nan=False))
                    self.write(f"data: {text}\n\n")
                await self.flush()
        except StreamClosedError:
            pass
        finally:
            page.close()
            if self.workbench.pages.get(page.name) is page:
                del self.workbench.pages[page.name]

    def on_connection_close(self) -> None:
        """Wake the loop of :meth:`get`, which then finds the stream closed."""
        super().on_connection_close()
        if self._page is not None:
            self._page.send({})
