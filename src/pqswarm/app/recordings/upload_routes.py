"""Route for uploads."""

from typing import Any

from tornado.web import stream_request_body

from pqswarm.app.handlers import Base, HTTPRefusal, Missing
from pqswarm.app.recordings.files import RecordingInFile
from pqswarm.app.recordings.routes import RecordingHandler
from pqswarm.app.recordings.section import CHANGED
from pqswarm.app.recordings.uploads import Upload

_TOLERANCE = 1_000_000
"""Bytes beyond the limit after which the connection is cut."""


@stream_request_body
class UploadHandler(RecordingHandler):
    """Receives a file and stores it as it arrives."""

    _upload: Upload | None = None
    _refusal: HTTPRefusal | None = None

    def prepare(self) -> None:
        """Refuse files that are too large or have the wrong type before anything is stored."""
        super().prepare()
        if self.request.method != "PUT":
            raise Missing("There is nothing at this address.")
        length = self.request.headers.get("Content-Length")
        known = int(length) if length is not None and length.isdigit() else None
        limit = self.workbench.max_bytes
        try:
            self._upload = Upload(self.section.stored, self.visitor, self.path_args[0], known, limit)
        except HTTPRefusal as error:
            if known is None or known > limit + _TOLERANCE:
                raise
            self._refusal = error  # sent after the body: a browser that is still sending would not read it
        connection: Any = self.request.connection
        connection.set_max_body_size(limit + _TOLERANCE)
        connection.set_body_timeout(3600.0)  # seconds

    def data_received(self, chunk: bytes) -> None:
        """Store the next bytes."""
        if self._upload is None or self._finished:
            return
        try:
            self._upload.write(chunk)
        except HTTPRefusal as error:
            self._upload = None
            self.send_error(error.status, exc_info=(HTTPRefusal, error, None))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Close the connection, so that the browser stops sending."""
        self.set_header("Connection", "close")
        super().write_error(status_code, **kwargs)

    async def put(self, _: str) -> None:
        """Move the complete file to its place."""
        if self._refusal is not None:
            raise self._refusal
        upload = self._upload
        self._upload = None  # from here on, a disconnect must not remove the file
        if upload is None:
            return
        try:
            path = await self.work(upload.finish)
        finally:
            upload.drop()
        section = self.section
        file = await self.work(section.files.add, path, self.visitor, section.stored.beside(path))
        self.workbench.publish(CHANGED, self.visitor)
        section.queue.wake()
        place = RecordingInFile(file, 0)
        self.send_json({"recording": place.id, "name": path.name} | await self.work(section.state_of, place))

    def on_connection_close(self) -> None:
        """Remove the unfinished file."""
        super().on_connection_close()
        self.on_finish()

    def on_finish(self) -> None:
        """Remove the file of a refused upload."""
        if self._upload is not None:
            self._upload.drop()
            self._upload = None


ROUTES: list[tuple[str, type[Base]]] = [(r"/api/uploads/(.+)", UploadHandler)]
