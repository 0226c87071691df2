"""The server: its routes, and how it starts and stops."""

import asyncio
import contextlib
import errno
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets
from tornado.web import Application

from pqswarm import _web
from pqswarm._base.threads import one_blas_thread
from pqswarm.app import studies
from pqswarm.app.access import AccessControl, PasswordQueue, Tickets, is_loopback, read_access, store_access
from pqswarm.app.handlers import (
    BaseHandler,
    FrameHandler,
    HTTPMissing,
    LoginHandler,
    NotFoundHandler,
    PageUpdatesHandler,
    TicketHandler,
)
from pqswarm.app.recordings import routes as recordings
from pqswarm.app.recordings.section import RecordingsSection
from pqswarm.app.workbench import Workbench
from pqswarm.errors import PqswarmError

_WEB = files("pqswarm.app") / "web"
_SECTION_SCRIPTS = {
    "recordings": (
        "recordings.js",
        "uploads.js",
        "filters.js",
        "event_list.js",
        "statistics.js",
        "stations.js",
        "corrections.js",
        "cursor_readings.js",
        "around.js",
        "recording.js",
        "compare.js",
    ),
    "studies": ("study.js", "studies.js"),
}
_OWN_SCRIPTS = ("app.js", *(f"{section}/{name}" for section, names in _SECTION_SCRIPTS.items() for name in names))
_OWN_STYLES = ("app.css", *(f"{section}/{section}.css" for section in _SECTION_SCRIPTS))
SCRIPTS = (*_web.SCRIPTS, *_OWN_SCRIPTS)
"""Scripts of the page, in loading order."""
STYLES = (*_web.STYLES, *_OWN_STYLES)
"""Style sheets of the page, in loading order."""

_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
_LIMITS = {"max_body_size": 1_000_000, "max_buffer_size": 8_000_000, "idle_connection_timeout": 60, "body_timeout": 60}
"""Limits of requests: sizes [byte], and times for headers and bodies [s]; uploads have their own for the body."""
_MAX_CONNECTIONS = 250
"""Maximum number of connections from one address; fewer if the process may open few files."""
_PAUSE = 1.0
"""Time without new connections after file handles ran out [s]."""
_LOG = logging.getLogger("pqswarm.app")


class ServerAsset(BaseHandler):
    """A script or style sheet of the page, which holds no data."""

    needs_token = False

    def get(self, name: str) -> None:
        """Send the file."""
        if name not in (*SCRIPTS, *STYLES):
            raise HTTPMissing("There is no such file.")
        folder = _WEB if name in (*_OWN_SCRIPTS, *_OWN_STYLES) else files(_web)
        self.set_header("Content-Type", f"{_MEDIA_TYPES[Path(name).suffix]}; charset=utf-8")
        self.finish(folder.joinpath(*name.split("/")).read_bytes())


def make_application(workbench: Workbench, access: AccessControl) -> Application:
    """Return the application with all its routes; none of them maps to a path on disk."""
    routes: list[tuple[str, type[BaseHandler]]] = [
        (r"/", FrameHandler),
        (r"/api/login", LoginHandler),
        (r"/api/tickets", TicketHandler),
        (r"/assets/([a-z0-9_./]+)", ServerAsset),
        (r"/api/updates/([0-9a-f]{32})", PageUpdatesHandler),
        *recordings.ROUTES,
        *studies.ROUTES,
    ]
    workbench.recordings = RecordingsSection(workbench)
    workbench.studies = studies.FollowedStudies(workbench)
    settings: dict[str, Any] = {
        "workbench": workbench,
        "access": access,
        "passwords": PasswordQueue(access),
        "tickets": Tickets(),
        "template_path": str(_WEB),
        "scripts": SCRIPTS,
        "styles": STYLES,
    }
    return Application(
        routes, default_handler_class=NotFoundHandler, compress_response=True, log_function=lambda _: None, **settings
    )


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind a port; port 0 selects a free one."""
    try:
        return bind_sockets(port, host)
    except (OSError, OverflowError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise PqswarmError(f"port {port} is in use: choose another with --port, or omit it.") from error
        raise PqswarmError(
            f"cannot listen on {host}, port {port}: {getattr(error, 'strerror', '') or error}."
        ) from error


def serve(
    workbench: Workbench,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    password: str = "",
    new_token: bool = False,
    ready: Callable[[str], object] = print,
) -> None:
    """Serve the page until Ctrl-C or SIGTERM; `ready` is called with the address once the server listens."""
    if not is_loopback(host) and not password:
        raise PqswarmError(f"--host {host} lets other machines connect: set a password with --password-file.")
    with one_blas_thread:  # switching for every request would cost more than most requests
        asyncio.run(_serve(workbench, host, port, password, new_token, ready))
    if not workbench.jobs.join():
        _LOG.error("some work did not end within 5 s and was abandoned.")
        sys.stderr.flush()
        os._exit(1)


class _Server(HTTPServer):
    """A server that limits the number of connections from one address, to a third of the handles at most."""

    def initialize(self, *arguments: Any, **options: Any) -> None:
        super().initialize(*arguments, **options)
        self.max_connections = _MAX_CONNECTIONS
        with contextlib.suppress(ImportError):  # on Windows
            import resource

            handles = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            if handles != resource.RLIM_INFINITY:
                self.max_connections = min(_MAX_CONNECTIONS, handles // 3)

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        connections: Any = self._connections
        if sum(one.context.address[:1] == address[:1] for one in connections) < self.max_connections:
            super().handle_stream(stream, address)
        else:
            stream.close()


async def _serve(
    workbench: Workbench, host: str, port: int, password: str, new_token: bool, ready: Callable[[str], object]
) -> None:
    secret, known_port = read_access(workbench.state / "access.json")
    try:
        sockets = listen(host, port or known_port)
    except PqswarmError:
        if port:
            raise
        sockets = listen(host, 0)  # the port of the last time is in use
    access = AccessControl(
        host, sockets[0].getsockname()[1], password, secrets.token_urlsafe(24) if new_token or not secret else secret
    )
    store_access(workbench.state / "access.json", access.secret, access.port)
    try:
        server = _Server(make_application(workbench, access), **_LIMITS)
    except BaseException:
        for one in sockets:
            one.close()
        raise
    server.add_sockets(sockets)
    Thread(target=_warm_up_server, args=(workbench,), name="warm-up", daemon=True).start()  # not awaited at exit
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(partial(_pause_server_without_handles, sockets))
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):  # not on Windows, nor outside the main thread
            loop.add_signal_handler(number, end.set)
    ready(access.address)
    try:
        await end.wait()
    finally:
        server.stop()
        for page in list(workbench.pages.values()):
            page.close()
        workbench.jobs.close()


def _pause_server_without_handles(sockets: list[socket.socket], loop: asyncio.AbstractEventLoop, context: Any) -> None:
    """Accept no connections for a while if accepting one failed for lack of file handles; log other errors."""

    def listen_for(events: int) -> None:
        for one in sockets:
            with contextlib.suppress(KeyError):  # the server has stopped
                IOLoop.current().update_handler(one.fileno(), events)

    if getattr(context.get("exception"), "errno", None) not in (errno.EMFILE, errno.ENFILE):
        loop.default_exception_handler(context)
        return
    _LOG.warning("too many open files: new connections have to wait.")
    listen_for(0)
    loop.call_later(_PAUSE, listen_for, IOLoop.READ)


def _warm_up_server(workbench: Workbench) -> None:
    """Load the libraries, the model and the compiled code that the first analysis and measurement need."""
    try:
        import numpy as np

        from pqswarm.identify import default_model, identify
        from pqswarm.measure import measure_at
        from pqswarm.recordings import Channel, Recording

        time = np.arange(3200) / 6400
        wave = 325.0 * np.cos(2 * np.pi * 50 * time) * np.where((time > 0.2) & (time < 0.3), 0.5, 1.0)
        recording = Recording((Channel("U", "V", "A", wave),), 6400.0, 50.0)
        measure_at(recording, 0.1)
        if not workbench.jobs.is_closed:
            identify(recording, model=workbench.model or default_model())
    except Exception:  # noqa: BLE001 (the first real analysis reports it)
        _LOG.debug("cannot warm up", exc_info=True)
