"""The room of recordings: its addresses."""

import asyncio
import json
from dataclasses import replace
from typing import Any

from pqswarm.app.handlers import Base, Missing, Refused
from pqswarm.app.jobs import Job
from pqswarm.app.recordings.entries import RecordingInFile
from pqswarm.app.recordings.files import remove_parts
from pqswarm.app.recordings.handler import ID, RecordingHandler
from pqswarm.app.recordings.opened import MOST_POINTS, urms_view
from pqswarm.app.recordings.queue import judge_file
from pqswarm.app.recordings.section import CHANGED
from pqswarm.app.recordings.upload_routes import CorrectionHandler, UploadHandler
from pqswarm.identify import Verdict
from pqswarm.identify.show.lines import csv_lines, json_text
from pqswarm.identify.show.page import page_html
from pqswarm.identify.show.page.charts import draw_charts
from pqswarm.identify.verdict import COLUMNS

__all__ = ["ROUTES"]

_PATIENCE = 0.25
"""Seconds after which a picture is shown as far as it is there."""
_MOST_CYCLES = 50


class Recordings(RecordingHandler):
    """All recordings and their events."""

    async def get(self) -> None:
        """List them."""
        room = self.room
        if await self.call(room.look, self.visitor):
            for page in self.workbench.pages.values():
                if page is not self.page:
                    page.tell(CHANGED)
        room.judging.wake()
        await self.send_text(lambda: json.dumps(room.summary(self.visitor), allow_nan=False), "application/json")


class Header(RecordingHandler):
    """One recording."""

    async def get(self, name: str) -> None:
        """Say what is known of it without its samples; it is open then, and judged before others."""
        place, opened = await self.opened(name)
        self.room.judging.want(place.file, place.number)
        header = await self.work(lambda job: opened.header(job.check))
        known = {
            "id": place.id,
            "name": self.room.name_of(place, opened.source.source),
            "path": place.file.name,
            "upload": bool(place.file.visitor),
            "siblings": [RecordingInFile(place.file, number).id for number in range(opened.n_recordings)],
        }
        header["notes"] = [self.room.tidy(note) for note in header["notes"]]
        self.set_header("Content-Type", "application/json")
        self.finish(json_text(header | known))

    async def delete(self, name: str) -> None:
        """Remove an upload."""
        place = await self.place(name)
        if not place.file.visitor:
            raise Refused("Only what was uploaded can be removed; recordings of the folder stay.")
        self.room.close(place.file)
        try:
            removed = await self.call(remove_parts, place.file)
        except OSError as error:
            raise Refused(f"The file cannot be removed: {error.strerror or type(error).__name__}.", 400) from None
        await self.call(lambda: self.room.look(self.visitor, now=True))
        await self.room.judging.forget(place.file)
        self.workbench.publish(CHANGED, self.visitor)
        self.send_json({"removed": removed})


class View(RecordingHandler):
    """The picture of a stretch."""

    async def get(self, name: str) -> None:
        """Send it as far as it is there."""
        place, opened = await self.opened(name)
        begin, end = self.stretch(opened)
        points = self.integer("points", 1000, 1, MOST_POINTS)
        drawing = self.room.draw(place, opened)
        verdict = self.room.judging.verdicts.get(place.key)

        def look(job: Job) -> dict[str, Any]:
            return opened.view(begin, end, points, job.check)

        found = await self.work(look)
        if found["share"] < 1 and drawing is not None:  # a short stretch needs no more than its samples
            await asyncio.wait({drawing}, timeout=_PATIENCE)
            found = await self.work(look)

        def write() -> str:
            urms = None if verdict is None else urms_view(verdict, begin, end, points)
            return json.dumps(found | {"urms": urms}, allow_nan=False, separators=(",", ":"))

        text = await self.call(write)
        self.set_header("Content-Type", "application/json")
        self.finish(text)


class Judged(RecordingHandler):
    """What was found in a recording."""

    async def get(self, name: str) -> None:
        """Send everything."""
        place = await self.place(name)
        room = self.room
        found = room.found(place)
        if found is None and place.number:
            raise Missing("There is no such recording, or it is not known yet.")
        details = await self.call(room.judging.details, place.file, place.number)
        answer: dict[str, Any] = {"id": place.id, **room.state_of(place)}
        answer |= {"thresholds": None, "frequency": None, "references": [], "caveats": [], "notes": [], "text": ""}
        events = [] if details is None or found is None else details["events"]
        answer |= details or {}
        rows = await self.call(room.rows, [place])
        answer["events"] = [
            event | {"index": row["event"], "row": row, "correction": row["correction"]}
            for event, row in zip(events, rows, strict=False)  # they may just have been judged again
        ]
        self.send_json(answer)


class Cursor(RecordingHandler):
    """What is measured at a moment."""

    async def get(self, name: str) -> None:
        """Measure at one moment, or two."""
        _, opened = await self.opened(name)
        moments = [self.number("t")]
        if self.get_query_argument("t2", None) is not None:
            moments.append(self.number("t2"))
        cycles = self.integer("cycles", 1, 1, _MOST_CYCLES)
        measured = await self.call(lambda: [opened.measure(moment, cycles) for moment in moments])
        self.set_header("Content-Type", "application/json")
        told = [one | {"error": self.room.tidy(one["error"])} if "error" in one else one for one in measured]
        self.finish(json_text({"moments": told}))


class Bands(RecordingHandler):
    """Wavelet bands of a stretch."""

    async def get(self, name: str) -> None:
        """Send those of one channel."""
        _, opened = await self.opened(name)
        begin, end = self.stretch(opened)
        channel, points = self.integer("channel", 0, 0, 100_000), self.integer("points", 1000, 1, MOST_POINTS)
        await self.send_text(lambda: json_text(opened.bands(begin, end, channel, points)), "application/json")


class Samples(RecordingHandler):
    """The samples of a stretch, as a table."""

    async def get(self, name: str) -> None:
        """Send them to be saved."""
        place, opened = await self.opened(name)
        begin, end = self.stretch(opened)
        await self.send_text(lambda: opened.table(begin, end), "text/csv", f"{place.file.path.stem}-samples.csv")


class PageOf(RecordingHandler):
    """One page about a recording, to forward."""

    async def get(self, name: str) -> None:
        """Send it to be saved; without a verdict at hand, the recording is judged first."""
        place, opened = await self.opened(name)
        known = self.room.judging.verdicts.get(place.key)
        verdict = await self.work(self._judge, place) if known is None else known
        await self.send_text(
            lambda: page_html([self._tidied(verdict)], find=lambda _: opened.source),
            "text/html",
            f"{place.file.path.stem}.html",
        )

    def _tidied(self, verdict: Verdict) -> Verdict:
        """The words that may have names of folders in them, without; its numbers as they are."""
        tidy = self.room.tidy
        return replace(
            verdict,
            source=tidy(verdict.source),
            station=tidy(verdict.station),
            caveats=tuple(map(tidy, verdict.caveats)),
            notes=tuple(map(tidy, verdict.notes)),
        )

    def _judge(self, job: Job, place: RecordingInFile) -> Verdict:
        found = [one for one, _ in judge_file(self.workbench, place.file, job.check)]
        one = found[place.number] if place.number < len(found) else None
        if not isinstance(one, Verdict):
            raise Refused(f"There is no verdict: {'' if one is None else self.room.tidy(one.reason)}", 400)
        return one


class EventTable(RecordingHandler):
    """All rows."""

    async def get(self) -> None:
        """Send them as CSV, to be saved."""
        room, kinds = self.room, set(self.get_query_arguments("kind"))
        name = self.get_query_argument("recording", "")
        await self.call(room.look, self.visitor)

        def make() -> str:
            rows = room.rows(room.places(self.visitor))
            for row in rows:
                said = row["correction"] or {}
                row |= {"corrected": said.get("label", ""), "corrected_by": said.get("by", "")}
            chosen = (row for row in rows if name in ("", row["recording"]) and (not kinds or row["kind"] in kinds))
            return csv_lines(chosen, (*COLUMNS, "corrected", "corrected_by"))

        await self.send_text(make, "text/csv", "events.csv")


class Curves(RecordingHandler):
    """Events on tolerance curves."""

    async def get(self) -> None:
        """Draw those that are asked for."""
        room, kinds = self.room, set(self.get_query_arguments("kind"))
        name, station = self.get_query_argument("recording", ""), self.get_query_argument("station", None)
        await self.call(room.look, self.visitor)

        def draw() -> list[dict[str, Any]]:
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

        self.send_json({"charts": await self.call(draw)})


ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/recordings", Recordings),
    (rf"/api/recordings/{ID}", Header),
    (rf"/api/recordings/{ID}/view", View),
    (rf"/api/recordings/{ID}/judged", Judged),
    (rf"/api/recordings/{ID}/cursor", Cursor),
    (rf"/api/recordings/{ID}/bands", Bands),
    (rf"/api/recordings/{ID}/raw.csv", Samples),
    (rf"/api/recordings/{ID}/page.html", PageOf),
    (r"/api/table.csv", EventTable),
    (r"/api/curves", Curves),
    (r"/api/uploads/(.+)", UploadHandler),
    (r"/api/corrections", CorrectionHandler),
]
