"""What visitors send: recordings, and what they say that events are."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tornado.web import stream_request_body

from pqswarm._base.checks import is_integer
from pqswarm.app.handlers import Missing, Refused
from pqswarm.app.recordings.entries import RecordingInFile
from pqswarm.app.recordings.files import upload_folder_name, upload_id
from pqswarm.app.recordings.handler import RecordingHandler
from pqswarm.app.recordings.section import CHANGED
from pqswarm.app.recordings.uploads import Upload
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.training.corrections import Correction

__all__ = ["CorrectionHandler", "UploadHandler"]

_SPARE = 1_000_000
"""Bytes beyond the limit after which a connection is cut."""


@stream_request_body
class UploadHandler(RecordingHandler):
    """Takes a file, which is stored as it comes."""

    _upload: Upload | None = None
    _refusal: Refused | None = None

    def prepare(self) -> None:
        """Refuse what is too large, or no recording, before anything is stored."""
        super().prepare()
        if self.request.method != "PUT":
            raise Missing("There is nothing at this address.")
        length = self.request.headers.get("Content-Length")
        known = int(length) if length is not None and length.isdigit() else None
        most = self.workbench.max_bytes
        try:
            self._upload = Upload(self.room.files.uploads, self.visitor, self.path_args[0], known, most)
        except Refused as error:
            if known is None or known > most + _SPARE:
                raise
            self._refusal = error  # told after the rest has come: a browser that still sends would not hear it
        connection: Any = self.request.connection
        connection.set_max_body_size(most + _SPARE)  # beyond that, it is cut off

    def data_received(self, chunk: bytes) -> None:
        """Store the next bytes."""
        if self._upload is None or self._finished:
            return
        try:
            self._upload.write(chunk)
        except Refused as error:
            self._upload = None
            self.send_error(error.status, exc_info=(Refused, error, None))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Let the browser send no more on this connection."""
        self.set_header("Connection", "close")
        super().write_error(status_code, **kwargs)

    async def put(self, _: str) -> None:
        """Put the file in its place."""
        if self._refusal is not None:
            raise self._refusal
        upload, self._upload = self._upload, None  # from now on, a connection that breaks does not touch it
        if upload is None:
            return
        try:
            path = await self.call(upload.finish)
        finally:
            upload.drop()
        room = self.room
        await self.call(lambda: room.look(self.visitor, now=True))
        own = upload_id(self.visitor, path.name)
        stem = path.stem.casefold()
        files = [file for file in room.files.seen_by(self.visitor) if file.visitor]
        file = next((one for one in files if one.id == own), None)
        file = file or next((one for one in files if one.path.stem.casefold() == stem), None)
        if file is None:
            raise Refused("The upload is gone.", 400)
        self.workbench.publish(CHANGED, self.visitor)
        room.judging.wake()
        place = RecordingInFile(file, 0)
        self.send_json({"recording": place.id, "name": path.name, **room.state_of(place)})

    def on_connection_close(self) -> None:
        """Leave nothing of what was not finished."""
        super().on_connection_close()
        self.on_finish()

    def on_finish(self) -> None:
        """Leave nothing of what was refused."""
        if self._upload is not None:
            self._upload.drop()
            self._upload = None


class CorrectionHandler(RecordingHandler):
    """What people say that events are."""

    async def get(self) -> None:
        """List what holds."""
        room = self.room
        found = await self.call(room.corrections.seen_by, upload_folder_name(self.visitor))
        told = ("source", "kind", "start", "channels", "said", "rule", "label", "by", "at", "note")
        listed = [{"path": self._shown(Path(one.path)), **{name: getattr(one, name) for name in told}} for one in found]
        self.set_header("Content-Type", "application/json")
        self.finish(json_text({"file": self.workbench.corrections.name, "corrections": listed}))

    async def post(self) -> None:
        """Append a correction."""
        given = self.read_json()
        name, index = given.get("recording"), given.get("event")
        texts = [given.get(key, "") for key in ("label", "by", "note")]
        if not isinstance(name, str) or not is_integer(index):
            raise Refused("A correction needs a recording and the number of an event.", 400)
        if not all(isinstance(text, str) for text in texts):
            raise Refused("label, by and note must be texts.", 400)
        label, by, note = texts
        if not by.strip():
            raise Refused("Say who you are: a correction without a name is not taken.", 400)
        place = await self.place(name)
        correction = await self.call(self._add, place, index, label, by.strip(), note)
        message = {"about": "recordings", "id": place.id, "state": "corrected", "event": index}
        self.workbench.publish(message | {"correction": correction}, place.file.visitor or None)
        self.send_json({"correction": correction})

    def _shown(self, path: Path) -> str:
        """The name of a file as it is listed."""
        is_upload = bool(self.room.corrections.owner_of(path))
        return f"uploads/{path.name}" if is_upload else self.room.tidy(str(path))

    def _add(self, place: RecordingInFile, index: int, label: str, by: str, note: str) -> dict[str, Any] | None:
        room = self.room
        found, details = room.found(place), room.judging.details(place.file, place.number)
        findings = room.judging.findings(place.file)
        if found is None or details is None or findings is None or not 0 <= index < len(found.events):
            raise Missing("There is no such event, or it is not judged yet.")
        event, said = found.events[index], details["events"][index]
        if label and label not in said["possible"]:
            raise Refused("This event cannot be that: it contradicts what was measured.", 400)
        room.corrections.file.add(
            Correction(
                path=str(place.file.path),
                digest=findings.digest,
                source=found.source,
                kind=event.row["kind"],
                start=round(event.start, 6),
                channels=event.channels,
                said=event.row["class"],
                rule=event.row["rule_class"],
                label=label,
                by=by,
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                note=note,
            )
        )
        return room.correction(place, event, room.corrections.read_or_none())
