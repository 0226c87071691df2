"""The server: its addresses, and how it is started and stopped."""

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from pqswarm import _web
from pqswarm._base.threads import one_blas_thread
from pqswarm.app.access import Door, PasswordQueue, is_loopback
from pqswarm.app.events import routes as events
from pqswarm.app.handlers import Base, Login, Missing, NotFound, Updates
from pqswarm.app.recordings import routes as recordings
from pqswarm.app.recordings.section import RecordingsRoom
from pqswarm.app.studies import routes as studies
from pqswarm.app.warm_up import WarmUp
from pqswarm.app.workbench import Workbench
from pqswarm.errors import PqswarmError

__all__ = ["serve"]

_WEB = files("pqswarm.app") / "web"
_ROOMS = {
    "recordings": (
        "recordings.js",
        "uploads.js",
        "eventlist.js",
        "corrections.js",
        "atcursor.js",
        "bands.js",
        "recording.js",
    ),
    "studies": ("study.js", "studytables.js", "studies.js"),
    "events": ("events_figures.js", "events_fields.js", "events.js"),
}
SCRIPTS = (*_web.SCRIPTS, "app.js", *(name for names in _ROOMS.values() for name in names))
STYLES = (*_web.STYLES, "app.css", "studies.css", "events.css")
"""Of the page, in the order in which it loads them."""

_TYPES = {".js": "text/javascript", ".css": "text/css"}
_BODY = 1_000_000
"""Greatest request that is no upload [byte]; uploads have a limit of their own."""


class Asset(Base):
    """A script or style of ours."""

    def _is_known(self) -> bool:
        """Whoever is asked for a password sees the styles of that page."""
        return super()._is_known() or (bool(self.door.password) and self.request.path.endswith(".css"))

    def get(self, name: str) -> None:
        """Send the file."""
        if name not in (*SCRIPTS, *STYLES):
            raise Missing("There is no such file.")
        folder = files(_web) if name in (*_web.SCRIPTS, *_web.STYLES) else _WEB
        self.set_header("Content-Type", f"{_TYPES[Path(name).suffix]}; charset=utf-8")
        self.finish((folder / name).read_bytes())


def make_application(workbench: Workbench, door: Door) -> Application:
    """Return the application: all addresses, none of which is a path of a file."""
    routes: list[tuple[str, type[Base]]] = [
        (r"/", Login),
        (r"/assets/([a-z0-9_.]+)", Asset),
        (r"/api/updates/([0-9a-f]{32})", Updates),
        *recordings.ROUTES,
        *studies.ROUTES,
        *events.ROUTES,
    ]
    workbench.rooms["recordings"] = RecordingsRoom(workbench)
    settings: dict[str, Any] = {
        "workbench": workbench,
        "door": door,
        "passwords": PasswordQueue(door),
        "template_path": str(_WEB),
    }
    settings |= {"scripts": SCRIPTS, "styles": STYLES}
    return Application(
        routes, default_handler_class=NotFound, compress_response=False, log_function=lambda _: None, **settings
    )


def listen(host: str, port: int) -> list[socket.socket]:
    """Take a port, any free one for 0."""
    try:
        return bind_sockets(port, host)
    except (OSError, OverflowError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise PqswarmError(f"port {port} is in use: name another, or none, by --port.") from error
        raise PqswarmError(
            f"cannot listen at {host}, port {port}: {getattr(error, 'strerror', '') or error}."
        ) from error


def serve(
    workbench: Workbench,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    password: str = "",
    ready: Callable[[str], object] = print,
) -> None:
    """Serve the page until the process is told to end, by Ctrl-C or SIGTERM.

    Parameters
    ----------
    workbench : Workbench
        What is served.
    host, port : str, int
        Where to listen; port 0 takes a free one.
    password : str
        Needed if other machines can ask.
    ready : callable
        Is given the address, once the server listens.
    """
    if not is_loopback(host) and not password:
        raise PqswarmError(f"--host {host} lets other machines in: it needs a --password too.")
    with one_blas_thread():  # changing that for every request would cost more than most of them
        asyncio.run(_serve(workbench, host, port, password, ready))


async def _serve(workbench: Workbench, host: str, port: int, password: str, ready: Callable[[str], object]) -> None:
    sockets = listen(host, port)
    door = Door(host, sockets[0].getsockname()[1], password)
    server = HTTPServer(make_application(workbench, door), max_body_size=_BODY, max_buffer_size=_BODY * 8)
    server.add_sockets(sockets)
    workbench.arrivals.append(WarmUp(workbench).start)
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):  # not on Windows, nor outside of the main thread
            loop.add_signal_handler(number, end.set)
    ready(door.address)
    try:
        await end.wait()
    finally:
        server.stop()
        for page in list(workbench.pages.values()):
            page.close()
        workbench.jobs.close()
