"""The room of recordings: its addresses."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote

from tornado.web import stream_request_body

from pqswarm.app.handlers import Base, Missing, Refused
from pqswarm.app.jobs import Job
from pqswarm.app.judged import judge_file
from pqswarm.app.opened import MOST_POINTS, Opened, urms_view
from pqswarm.app.room import Place, Room, room_of
from pqswarm.app.shelf import remove_parts, upload_id
from pqswarm.app.uploads import Upload
from pqswarm.errors import PqswarmError
from pqswarm.identify import Verdict
from pqswarm.identify.corrections import Correction
from pqswarm.identify.lines import csv_lines, json_text
from pqswarm.identify.page import page_html
from pqswarm.identify.page.charts import draw_charts
from pqswarm.identify.verdict import COLUMNS

__all__ = ["ROUTES"]

_ID = r"([0-9a-f]{16}(?:-[0-9]{1,6})?)"
_PATIENCE = 0.25
"""Seconds after which a picture is shown as far as it is there."""
_MOST_CYCLES = 50

_Found = TypeVar("_Found")


class InRoom(Base):
    """An answer of this room."""

    @property
    def room(self) -> Room:
        """What the requests share."""
        return room_of(self.workbench)

    def work(self, function: Callable[..., _Found], *arguments: Any) -> Awaitable[_Found]:  # type: ignore[override]
        """Work in a thread; what goes wrong is said without names of folders of this machine."""
        return self._work(function, arguments)

    async def _work(self, function: Callable[..., _Found], arguments: tuple[Any, ...]) -> _Found:
        try:
            return await super().work(function, *arguments)
        except (Refused, Missing):
            raise
        except PqswarmError as error:
            raise Refused(self.room.tidy(str(error)), 400) from None

    async def place(self, name: str) -> Place:
        """Return the recording that is asked for."""
        return await self.work(lambda job: self._place(job, name))

    def _place(self, job: Job, name: str) -> Place:
        place = self.room.find(name, self.visitor)
        self.room.judging.recall([place.file])
        return place

    async def opened(self, name: str) -> tuple[Place, Opened]:
        """Return the recording that is asked for, open; it is judged before others."""
        place = await self.place(name)
        opened = await self.work(self.room.open, place)
        self.room.judging.want(place.file, place.number)
        return place, opened

    async def send_text(self, make: Callable[[], str], kind: str, name: str = "") -> None:
        """Send a text that is made in a thread, to be saved if it has a name."""
        text = await self.work(lambda job: make())
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        if name:
            self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(name, safe='')}")
        self.finish(text.encode("utf-8", "replace"))

    def stretch(self, opened: Opened) -> tuple[float, float]:
        """Return begin and end [s] of what is asked for, inside the recording."""
        begin = min(max(self.number("from", 0.0), 0.0), opened.seconds)
        return begin, min(max(self.number("to", opened.seconds), begin), opened.seconds)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer of the address."""
        value = self.number(name, float(default))
        if value != int(value) or not low <= value <= high:
            raise Refused(f"{name} must be an integer from {low} to {high}.", 400)
        return int(value)


class Recordings(InRoom):
    """All recordings and their events."""

    async def get(self) -> None:
        """List them."""
        room = self.room
        if await self.work(room.look, self.visitor):
            room.judging.wake()
        room.judging.wake()
        await self.send_text(lambda: json.dumps(room.list(self.visitor), allow_nan=False), "application/json")


class Header(InRoom):
    """One recording."""

    async def get(self, name: str) -> None:
        """Say what is known of it without its samples."""
        place, opened = await self.opened(name)
        header = await self.work(lambda job: opened.header())
        known = {
            "id": place.id,
            "name": self.room.name_of(place, opened.source.source),
            "path": place.file.name,
            "upload": bool(place.file.visitor),
            "siblings": [Place(place.file, number).id for number in range(opened.n_recordings)],
        }
        header["notes"] = [self.room.tidy(note) for note in header["notes"]]
        self.set_header("Content-Type", "application/json")
        self.finish(json_text(header | known))

    async def delete(self, name: str) -> None:
        """Remove an upload."""
        place = await self.place(name)
        if not place.file.visitor:
            raise Refused("Only what was uploaded can be removed; recordings of the folder stay.")
        self.room.judging.forget(place.file)
        try:
            removed = await self.work(lambda job: remove_parts(place.file))
        except OSError as error:
            raise Refused(f"The file cannot be removed: {error.strerror or type(error).__name__}.", 400) from None
        await self.work(self.room.look, self.visitor, True)
        self.workbench.publish({"about": "recordings", "id": "", "state": "changed"}, self.visitor)
        self.send_json({"removed": removed})


class View(InRoom):
    """The picture of a stretch."""

    async def get(self, name: str) -> None:
        """Send it as far as it is there."""
        place, opened = await self.opened(name)
        begin, end = self.stretch(opened)
        points = self.integer("points", 1000, 1, MOST_POINTS)
        drawing = self.room.draw(place, opened)
        if drawing is not None:
            await asyncio.wait({drawing}, timeout=_PATIENCE)
        verdict = self.room.judging.verdicts.get(place.key)

        def picture(job: Job) -> str:
            found = opened.view(begin, end, points, job.check)
            found["urms"] = None if verdict is None else urms_view(verdict, begin, end, points)
            return json.dumps(found, allow_nan=False, separators=(",", ":"))

        text = await self.work(picture)
        self.set_header("Content-Type", "application/json")
        self.finish(text)


class Judged(InRoom):
    """What was found in a recording."""

    async def get(self, name: str) -> None:
        """Send everything."""
        place = await self.place(name)
        room = self.room
        found = room.found(place)
        if found is None and place.number:
            raise Missing("There is no such recording, or it is not known yet.")
        details = await self.work(lambda job: room.judging.details(place.file, place.number))
        answer: dict[str, Any] = {"id": place.id, **room.state_of(place)}
        empty = {"thresholds": None, "frequency": None, "references": [], "caveats": [], "notes": [], "text": ""}
        events = [] if details is None or found is None else details["events"]
        answer |= empty | (details or {})
        answer["events"] = [
            event | {"index": index, "row": (row := room.row(place, index, self.visitor)), "correction": row["correction"]}
            for index, event in enumerate(events)
        ]
        self.send_json(answer)


class Cursor(InRoom):
    """What is measured at a moment."""

    async def get(self, name: str) -> None:
        """Measure at one moment, or two."""
        _, opened = await self.opened(name)
        moments = [self.number("t")]
        if self.get_query_argument("t2", None) is not None:
            moments.append(self.number("t2"))
        cycles = self.integer("cycles", 1, 1, _MOST_CYCLES)
        measured = await self.work(lambda job: [opened.measure(moment, cycles, None) for moment in moments])
        self.set_header("Content-Type", "application/json")
        self.finish(self.room.tidy(json_text({"moments": measured})))


class Bands(InRoom):
    """Wavelet bands of a stretch."""

    async def get(self, name: str) -> None:
        """Send those of one channel."""
        _, opened = await self.opened(name)
        begin, end = self.stretch(opened)
        channel, points = self.integer("channel", 0, 0, 100_000), self.integer("points", 1000, 1, MOST_POINTS)
        await self.send_text(lambda: json_text(opened.bands(begin, end, channel, points)), "application/json")


class Samples(InRoom):
    """The samples of a stretch, as a table."""

    async def get(self, name: str) -> None:
        """Send them to be saved."""
        place, opened = await self.opened(name)
        begin, end = self.stretch(opened)
        await self.send_text(lambda: opened.table(begin, end), "text/csv", f"{place.file.path.stem}-samples.csv")


class PageOf(InRoom):
    """One page about a recording, to forward."""

    async def get(self, name: str) -> None:
        """Send it to be saved; without a verdict at hand, the recording is judged first."""
        place, opened = await self.opened(name)
        verdict = self.room.judging.verdicts.get(place.key) or await self.work(self._judge, place)
        if not isinstance(verdict, Verdict):
            raise Refused(f"There is no verdict: {self.room.tidy(verdict.reason)}", 400)
        await self.send_text(
            lambda: self.room.tidy(page_html([verdict], find=lambda _: opened.source)),
            "text/html",
            f"{place.file.path.stem}.html",
        )

    def _judge(self, job: Job, place: Place) -> Any:
        found = judge_file(self.workbench, place.file, job.check)
        if place.number >= len(found):
            raise Missing("There is no such recording.")
        return found[place.number][0]


class EventTable(InRoom):
    """All rows."""

    async def get(self) -> None:
        """Send them as CSV, to be saved."""
        room, kinds = self.room, set(self.get_query_arguments("kind"))
        name = self.get_query_argument("recording", "")
        await self.work(room.look, self.visitor)

        def make() -> str:
            rows = [row for place in room.places(self.visitor) for row in room.rows(place, self.visitor)]
            for row in rows:
                said = row["correction"] or {}
                row |= {"corrected": said.get("label", ""), "corrected_by": said.get("by", "")}
            chosen = (row for row in rows if name in ("", row["recording"]) and (not kinds or row["kind"] in kinds))
            return csv_lines(chosen, (*COLUMNS, "corrected", "corrected_by"))

        await self.send_text(make, "text/csv", "events.csv")


class Curves(InRoom):
    """Events on tolerance curves."""

    async def get(self) -> None:
        """Draw those that are asked for."""
        room, kinds = self.room, set(self.get_query_arguments("kind"))
        name, station = self.get_query_argument("recording", ""), self.get_query_argument("station", None)
        await self.work(room.look, self.visitor)

        def draw(job: Job) -> list[dict[str, Any]]:
            marks = [
                mark
                for mark in room.marks(self.visitor)
                if (not kinds or mark.kind in kinds)
                and name in ("", mark.place.id)
                and station in (None, mark.event.row["station"])
            ]
            return [
                {
                    "name": chart.name,
                    "caption": chart.caption,
                    "svg": str(chart.picture),
                    "note": chart.note,
                    "counts": chart.counts,
                }
                for chart in draw_charts(marks)
            ]

        self.send_json({"charts": await self.work(draw)})


@stream_request_body
class Uploads(InRoom):
    """Takes a file, which is stored as it comes."""

    _upload: Upload | None = None

    def prepare(self) -> None:
        """Refuse what is too large, or no recording, before anything is stored."""
        super().prepare()
        if self.request.method != "PUT":
            raise Missing("There is nothing at this address.")
        length = self.request.headers.get("Content-Length")
        known = int(length) if length is not None and length.isdigit() else None
        try:
            self._upload = Upload(
                self.room.shelf.uploads, self.visitor, self.path_args[0], known, self.workbench.max_bytes
            )
        except Refused:
            self.set_header("Connection", "close")
            raise

    def data_received(self, chunk: bytes) -> None:
        """Store the next bytes."""
        if self._upload is None or self._finished:
            return
        try:
            self._upload.write(chunk)
        except Refused as error:
            self._upload = None
            self.set_header("Connection", "close")
            self.send_error(error.status, exc_info=(Refused, error, None))

    async def put(self, name: str) -> None:
        """Put the file in its place."""
        upload = self._upload
        if upload is None:
            return
        path = await self.work(lambda job: upload.finish())
        room = self.room
        await self.work(room.look, self.visitor, True)
        own = upload_id(self.visitor, path.name)
        stem = path.stem.casefold()
        files = [file for file in room.shelf.files(self.visitor) if file.visitor]
        file = next((one for one in files if one.id == own), None)
        file = file or next((one for one in files if one.path.stem.casefold() == stem), None)
        if file is None:
            raise Refused("The upload is gone.", 400)
        self.workbench.publish({"about": "recordings", "id": "", "state": "changed"}, self.visitor)
        room.judging.wake()
        place = Place(file, 0)
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


class Corrections(InRoom):
    """What people say that events are."""

    async def get(self) -> None:
        """List what holds."""
        room = self.room
        found = await self.work(lambda job: room.all_corrections(self.visitor))
        told = ("source", "kind", "start", "channels", "said", "rule", "label", "by", "at", "note")
        listed = [{"path": room.tidy(one.path), **{name: getattr(one, name) for name in told}} for one in found]
        self.set_header("Content-Type", "application/json")
        self.finish(json_text({"file": self.workbench.corrections.name, "corrections": listed}))

    async def post(self) -> None:
        """Append a correction."""
        given = self.read_json()
        name, index = given.get("recording"), given.get("event")
        texts = [given.get(key, "") for key in ("label", "by", "note")]
        if not isinstance(name, str) or isinstance(index, bool) or not isinstance(index, int):
            raise Refused("A correction needs a recording and the number of an event.", 400)
        if not all(isinstance(text, str) for text in texts):
            raise Refused("label, by and note must be texts.", 400)
        label, by, note = texts
        if not by.strip():
            raise Refused("Say who you are: a correction without a name is not taken.", 400)
        with suppress(ValueError):
            place = await self.place(name)
            await self.work(self._add, place, index, label, by.strip(), note)
            found = self.room.found(place)
            correction = None if found is None else self.room.correction(place, found.events[index], self.visitor)
            message = {"about": "recordings", "id": place.id, "state": "corrected", "event": index}
            self.workbench.publish(message | {"correction": correction}, place.file.visitor or None)
            self.send_json({"correction": correction})
            return
        raise Missing("There is no such recording.")

    def _add(self, job: Job, place: Place, index: int, label: str, by: str, note: str) -> None:
        room = self.room
        found, details = room.found(place), room.judging.details(place.file, place.number)
        findings = room.judging.findings(place.file)
        if found is None or details is None or findings is None or not 0 <= index < len(found.events):
            raise Missing("There is no such event, or it is not judged yet.")
        event, said = found.events[index], details["events"][index]
        if label and label not in said["possible"]:
            raise Refused("This event cannot be that: it contradicts what was measured.", 400)
        room.corrections.add(
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


ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/recordings", Recordings),
    (rf"/api/recordings/{_ID}", Header),
    (rf"/api/recordings/{_ID}/view", View),
    (rf"/api/recordings/{_ID}/judged", Judged),
    (rf"/api/recordings/{_ID}/cursor", Cursor),
    (rf"/api/recordings/{_ID}/bands", Bands),
    (rf"/api/recordings/{_ID}/raw.csv", Samples),
    (rf"/api/recordings/{_ID}/page.html", PageOf),
    (r"/api/table.csv", EventTable),
    (r"/api/curves", Curves),
    (r"/api/uploads/(.+)", Uploads),
    (r"/api/corrections", Corrections),
]
