"""Routes of the recordings section: recordings, uploads, and the archive with its lists, corrections and notes."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from tornado.web import stream_request_body

from pqswarm._base.checks import is_integer
from pqswarm._base.text import file_text, json_text
from pqswarm.app.handlers import BaseHandler, HTTPMissing, HTTPRefusal
from pqswarm.app.recordings.open_recording import MAX_POINTS, OpenRecording, open_recording_measured_view
from pqswarm.app.recordings.queue import (
    RecordingFile,
    RecordingInFile,
    analyze_queued_file,
    remove_queued_upload,
    upload_folder_name,
)
from pqswarm.app.recordings.section import CHANGED, ID, RecordingsSection, place_in_file
from pqswarm.app.recordings.uploads import Upload
from pqswarm.identify import Analysis, EventFilter, EventResult
from pqswarm.identify.archive.export import DECIMALS, SEPARATORS, export_csv_table
from pqswarm.identify.archive.queries import ORDERS
from pqswarm.identify.show.page import page_html
from pqswarm.identify.show.rows import event_sentence
from pqswarm.identify.tolerance import ITIC, SEMI

_ENVELOPE_WAIT = 0.25
"""Seconds to wait for a better envelope before a coarse view is sent."""
_MAX_CYCLES = 50
_TOLERANCE = 1_000_000
"""Bytes beyond the limit after which the connection is cut."""
_DIGITS = re.compile("[0-9]{1,18}")
"""What int() takes for sure: it refuses ``²``, which is a digit, and thousands of digits."""
_MAX_STATION = 10**9
"""Largest ID of a station."""
_MAX_PAGE = 500
"""Maximum number of rows of a page."""


class RecordingRoute(BaseHandler):
    """Base of the handlers of this section."""

    @property
    def section(self) -> RecordingsSection:
        """State shared by the requests."""
        return self.workbench.recordings

    async def find(self, name: str) -> RecordingInFile:
        """Return a recording by its ID."""
        return await self.work(self.section.find, name, self.visitor)

    async def open(self, name: str) -> tuple[RecordingInFile, OpenRecording]:
        """Return a recording by its ID, and open it."""
        place = await self.find(name)
        return place, await self.work(self.section.open, self.job, place)

    async def send_text(self, make: Callable[[], str], media_type: str, name: str = "") -> None:
        """Send a text made in a thread; with a name, as a download."""
        text = self.workbench.names.hide(await self.work(make))
        self.send_bytes(text.encode("utf-8", "replace"), f"{media_type}; charset=utf-8", name)

    def send_bytes(self, content: bytes, media_type: str, name: str = "") -> None:
        """Send a content; with a name, as a download."""
        self.set_header("Content-Type", media_type)
        if name:
            self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(file_text(name), safe='')}")
        self.finish(content)

    def interval(self, opened: OpenRecording) -> tuple[float, float]:
        """Return start and end [s] of the query, limited to the recording."""
        start = min(max(self.number("from", 0.0), 0.0), opened.seconds)
        return start, min(max(self.number("to", opened.seconds), start), opened.seconds)

    def channels(self, opened: OpenRecording) -> list[int] | None:
        """Return the places of the channels that the query names, ``"0,1,5"``; None for all."""
        text = self.get_query_argument("channels", None)
        if text is None:
            return None
        found = sorted({int(one) for one in text.split(",") if _DIGITS.fullmatch(one) and len(one) < 7})
        if any(one >= len(opened.source.channels) for one in found) or (text and not found):
            raise HTTPRefusal(f"channels must be places from 0 to {len(opened.source.channels) - 1}.", 400)
        return found

    async def remove_upload(self, file: RecordingFile) -> list[str]:
        """Remove an upload with all that is known of it; return the names of the removed files."""
        self.section.close(file)
        try:
            removed = await self.work(remove_queued_upload, file)
        except OSError as error:
            raise HTTPRefusal(f"The file cannot be removed: {error.strerror or type(error).__name__}.", 400) from None
        await self.section.queue.forget(file)
        await self.work(lambda: self.section.stored.look(now=True))
        await self.work(lambda: self.section.files.update(self.visitor, now=True))
        self.workbench.publish(CHANGED, self.visitor)
        return removed

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer of the query."""
        value = self.number(name, float(default))
        if value != int(value) or not low <= value <= high:
            raise HTTPRefusal(f"{name} must be an integer from {low} to {high}.", 400)
        return int(value)


class RecordingListRoute(RecordingRoute):
    """All recordings and their events."""

    async def get(self) -> None:
        """Send the list of recordings."""
        section = self.section
        if await self.work(section.files.update, self.visitor):
            for page in self.workbench.pages.values():
                if page is not self.page:
                    page.send(CHANGED)
        section.queue.wake()
        await self.send_text(lambda: json.dumps(section.summary(self.visitor), allow_nan=False), "application/json")


class OneRecordingRoute(RecordingRoute):
    """The header of a recording."""

    async def get(self, name: str) -> None:
        """Send the metadata; from then on the recording is open, and is analyzed before others.

        Of a deleted recording send what the archive has kept.
        """
        place = await self.find(name)
        kept = await self.work(self.section.kept, place)
        known = {"id": place.id, "path": place.file.name, "upload": bool(place.file.visitor)}
        shown = place.file.name.removeprefix("uploads/")
        if kept and not place.file.stamp:
            known |= {"name": shown, "siblings": [place.id]} | await self.work(self._describe_kept, place, kept)
            self.send_json_text(json_text(known))
            return
        opened = await self.work(self.section.open, self.job, place)
        self.section.queue.prioritize(place)
        header = await self.work(opened.header, self.job.check)
        for number in kept.get("dead", ()):
            header["channels"][number]["is_dead"] = True
        known["name"] = shown + place_in_file(place.file.path.name, opened.source.source)
        known["siblings"] = [RecordingInFile(place.file, number).id for number in range(opened.n_recordings)]
        self.send_json_text(json_text(header | known))

    def _describe_kept(self, place: RecordingInFile, kept: Mapping[str, Any]) -> dict[str, Any]:
        """The metadata of a recording whose file is gone."""
        found = self.section.analysis(place)
        analysis = None if found is None else self.section.archive.analysis(found["number"])
        if analysis is None:
            return {}
        note = "The file is gone: this is the stored analysis, with the small waveform that the archive keeps."
        named = {one.number: {"name": one.channel, "phase": one.phase} for one in analysis.references}
        return {
            "source": analysis.source,
            "name": place.file.name.removeprefix("uploads/")
            + place_in_file(place.file.name.rpartition("/")[2], analysis.source),
            "station": analysis.station,
            "start": None if analysis.start is None else analysis.start.isoformat(),
            "seconds": analysis.duration,
            "n_samples": analysis.n_samples,
            "sampling_rate": analysis.sampling_rate,
            "nominal_frequency": analysis.nominal_frequency,
            "channels": [{"unit": "V", "kind": "voltage", **named[number]} for number in kept["numbers"]],
            "format": "deleted",
            "notes": [note],
            "status": [],
            "is_kept": True,
        }

    async def delete(self, name: str) -> None:
        """Remove an upload."""
        place = await self.find(name)
        if not place.file.visitor:
            raise HTTPRefusal("Only uploads can be removed, not recordings of the folder.")
        self.send_json({"removed": await self.remove_upload(place.file)})


class WaveformRoute(RecordingRoute):
    """The waveforms of an interval."""

    async def get(self, name: str) -> None:
        """Send the view at the resolution reached so far; of a deleted recording the one that was kept."""
        place = await self.find(name)
        kept = {} if place.file.stamp else await self.work(self.section.kept, place)
        if kept:
            self.send_json(kept["view"] | {"urms": None})
            return
        opened = await self.work(self.section.open, self.job, place)
        start, end = self.interval(opened)
        points = self.integer("points", 1000, 1, MAX_POINTS)
        channels = self.channels(opened)
        building = self.section.build_envelope(place, opened)
        analysis = self.section.queue.analyses.get(place.key)
        found = await self.work(opened.view, start, end, points, self.job.check, channels)
        if found["fraction"] < 1 and building is not None:  # a short interval is read directly
            await asyncio.wait({building}, timeout=_ENVELOPE_WAIT)
            found = await self.work(opened.view, start, end, points, self.job.check, channels)

        def write() -> str:
            measured = {} if analysis is None else open_recording_measured_view(analysis, start, end, points, channels)
            return json.dumps(found | {"urms": None} | measured, allow_nan=False, separators=(",", ":"))

        self.send_json_text(await self.work(write))


class RecordingAnalysisRoute(RecordingRoute):
    """The analysis of a recording."""

    async def get(self, name: str) -> None:
        """Send the analysis of a recording in full."""
        self.send_json_text(await self.work(self._describe, await self.find(name)))

    def _describe(self, place: RecordingInFile) -> str:
        section = self.section
        found = section.analysis(place)
        if found is None and place.number:
            raise HTTPMissing("There is no such recording, or its file was not read yet.")
        analysis = None if found is None else section.archive.analysis(found["number"])
        state = {"id": place.id, **section.state_of(place, found)}
        if found is None or analysis is None:
            lists = ("events", "incidents", "references", "channels", "caveats", "notes")
            empty: dict[str, list[str]] = {name: [] for name in lists}
            return json_text(state | empty | {"thresholds": None, "frequency": None, "text": "", "station": ""})
        ends = [*section.archive.kept(found["number"]).get("worst_ends", ()), *[None] * len(analysis.events)]
        events = [
            row | _route_event_details(result) | {"worst_end": end}
            for result, row, end in zip(analysis.events, section.rows(place), ends, strict=False)  # analyzed again now?
        ]
        known = analysis.as_dict() | {"thresholds": analysis.thresholds.settings(), "text": analysis.text()}
        names = ["thresholds", "frequency", "references", "channels", "caveats", "notes", "text", "station"]
        names.append("no_event_reason")
        incidents = [one.as_dict() | {"title": one.title, "verdict": one.verdict} for one in analysis.incidents]
        more = {
            "events": events,
            "incidents": incidents,
            "again": found["again"],
            "analyzed_at": found["analyzed_at"],
        }
        return json_text(state | {name: known[name] for name in names} | more)


def _route_event_details(result: EventResult) -> dict[str, Any]:
    """What the page of a recording shows of an event, in addition to its row."""
    record = result.as_dict()
    return {
        "parts": record["parts"],
        "also": record["also"],
        "probabilities": record["probabilities"],
        "class_correction": record["correction"],
        "title": event_sentence(result),
    }


class CursorRoute(RecordingRoute):
    """Measurements at the cursors."""

    async def get(self, name: str) -> None:
        """Measure at one or two points in time."""
        _, opened = await self.open(name)
        moments = [self.number("t")]
        if self.get_query_argument("t2", None) is not None:
            moments.append(self.number("t2"))
        cycles = self.integer("cycles", 1, 1, _MAX_CYCLES)
        channels = self.channels(opened)
        measured = await self.work(lambda: [opened.measure(moment, cycles, channels) for moment in moments])
        self.send_json_text(json_text({"moments": measured}))


class SampleTableRoute(RecordingRoute):
    """The samples of an interval as CSV."""

    async def get(self, name: str) -> None:
        """Send the table of samples as a download."""
        place, opened = await self.open(name)
        start, end = self.interval(opened)
        await self.send_text(lambda: opened.table(start, end), "text/csv", f"{place.file.path.stem}-samples.csv")


class RecordingPageRoute(RecordingRoute):
    """One HTML file about a recording, to pass on."""

    async def get(self, name: str) -> None:
        """Send the page as a download; analyze the recording first if necessary."""
        place, opened = await self.open(name)
        analysis = await self.work(self.section.archive.corrected, await self.measured(place), place.file.content)
        name = f"{place.file.path.stem}.html"
        await self.send_text(
            lambda: page_html([replace(analysis, path=place.file.name)], find=lambda _: opened.source),
            "text/html",
            name,
        )

    async def measured(self, place: RecordingInFile) -> Analysis:
        """Return the analysis with its measurements; analyze the recording again if they were dropped."""
        known = self.section.queue.analyses.get(place.key)
        return await self.work(self._analyze, place) if known is None else known

    def _analyze(self, place: RecordingInFile) -> Analysis:
        found = analyze_queued_file(self.workbench, self.section.archive, place.file, self.job.check).results
        one = found[place.number] if place.number < len(found) else None
        if not isinstance(one, Analysis):
            raise HTTPRefusal(f"There is no analysis: {'' if one is None else one.reason}", 400)
        return one


class SheetRoute(RecordingPageRoute):
    """The sheets of incidents as PDF, to pass on."""

    async def get(self, name: str) -> None:
        """Send the sheet of the incident of an event, or those of all incidents, as a download."""
        from pqswarm.identify.show.figures import SheetBook

        place, opened = await self.open(name)
        found = await self.measured(place)
        analysis = await self.work(self.section.archive.corrected, found, place.file.content)
        chosen = [one.event for one in found.events]
        if self.get_query_argument("event", None) is not None:
            event = self.integer("event", 0, 0, 1_000_000)
            chosen = chosen[event : event + 1]
        kept = {i for i, one in enumerate(analysis.events) if one.event in chosen}
        incidents = [one for one in analysis.incidents if kept & set(one.events)]
        if not incidents:
            raise HTTPMissing("There is no such incident, or a person called it no event.")
        book = SheetBook()
        await self.work(book.add, opened.source, analysis, incidents)
        self.send_bytes(book.finish(), "application/pdf", f"{place.file.path.stem}.pdf")


@stream_request_body
class UploadRoute(RecordingRoute):
    """Receives a file and stores it as it arrives."""

    _upload: Upload | None = None
    _refusal: HTTPRefusal | None = None

    def prepare(self) -> None:
        """Refuse files that are too large or have the wrong type before anything is stored."""
        super().prepare()
        if self.request.method != "PUT":
            raise HTTPMissing("There is nothing at this address.")
        length = self.request.headers.get("Content-Length")
        known = int(length) if length is not None and _DIGITS.fullmatch(length) else None
        limit = self.workbench.max_bytes
        try:
            self._upload = Upload(self.section.stored, self.visitor, self.path_args[0], known, limit, self.sender)
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
        same = await self.work(section.files.find_same, file)
        if same is not None:
            await self.remove_upload(file)
            self.send_json({"recording": same.id, "name": same.name, "is_known": True})
            return
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


class ArchiveRoute(RecordingRoute):
    """Base of the handlers of the archive."""

    @property
    def owner(self) -> str:
        """The visitor in the archive."""
        return upload_folder_name(self.visitor)

    def event_filter(self) -> EventFilter:
        """Return the events that the query selects."""
        name = self.get_query_argument("recording", "")
        stations = self.get_query_arguments("station")
        if not all(_DIGITS.fullmatch(one) and len(one) < 10 for one in stations):
            raise HTTPRefusal("station must be the ID of a station.", 400)
        return EventFilter(
            start=self.get_query_argument("from", ""),
            end=self.get_query_argument("to", ""),
            stations=tuple(map(int, stations)),
            types=tuple(self.get_query_arguments("type")),
            labels=tuple(self.get_query_arguments("label")),
            causes=tuple(self.get_query_arguments("cause")),
            severity=self.number("severity", 0.0),
            text=self.get_query_argument("text", "")[:200],
            owner=self.owner,
            hidden=self.get_query_argument("hidden", "") == "1",
            recording=self.analyzed(name)["number"] if name else 0,
        )

    def analyzed(self, name: str) -> dict[str, Any]:
        """Return a recording of the archive by its ID."""
        found = self.section.archive.find(name, self.owner)
        if found is None:
            raise HTTPMissing("There is no such recording, or it has not been analyzed yet.")
        return found

    def query_choice(self, name: str, choices: "tuple[str, ...]") -> str:
        """Return one of some words of the query, by default the first."""
        found = self.get_query_argument(name, choices[0], strip=False)
        if found not in choices:
            raise HTTPRefusal(f"{name} must be one of {', '.join(choices)}.", 400)
        return found


class EventPageRoute(ArchiveRoute):
    """A page of the selected events."""

    async def get(self) -> None:
        """Send the rows of the selected events."""
        order = self.query_choice("order", ORDERS)
        limit = self.integer("limit", 100, 1, _MAX_PAGE)
        after = self.get_query_argument("after", "")
        section = self.section

        def find() -> dict[str, Any]:
            page = section.queries.page(self.event_filter(), order, after, limit)
            return page | {"rows": section.named(page["rows"])}

        self.send_json(await self.work(find))


class ArchiveListRoute(ArchiveRoute):
    """A page of all recordings."""

    async def get(self) -> None:
        """Send the recordings, the newest first."""
        station = self.integer("station", 0, 0, _MAX_STATION)
        limit = self.integer("limit", 100, 1, _MAX_PAGE)
        given = {name: self.get_query_argument(name, "")[:200] for name in ("after", "state", "text")}
        section = self.section
        found = await self.work(
            lambda: section.archive.recordings(owner=self.owner, limit=limit, station=station, **given)
        )
        self.send_json(found | {"recordings": [section.listed(one) for one in found["recordings"]]})


class CountsRoute(ArchiveRoute):
    """Counts of the selected events: by month, by hour and weekday, SARFI, magnitude against duration."""

    async def get(self, what: str) -> None:
        """Send the counts of events."""
        queries = self.section.queries
        key = {"months": "months", "hours": "hours", "sarfi": "rows"}.get(what)
        found = await self.work(lambda: getattr(queries, what)(self.event_filter()))
        curves = [
            {"name": name, "title": curve.title, "lower": curve.lower, "upper": curve.upper}
            for name, curve in (("itic", ITIC), ("semi", SEMI))
        ]
        self.send_json_text(json_text({key: found} if key else found | {"curves": curves}))


class OtherMetersRoute(ArchiveRoute):
    """What other meters saw at the time of a recording."""

    async def get(self, name: str) -> None:
        """Send the events of other meters."""
        section = self.section
        seconds = min(max(self.number("seconds", 5.0), 0.0), 86_400.0)

        rows = await self.work(lambda: section.queries.others(self.analyzed(name)["number"], seconds, self.owner))
        self.send_json({"events": section.named(rows)})


class EventTableRoute(ArchiveRoute):
    """The selected events as CSV."""

    async def get(self) -> None:
        """Send the table of events as a download."""
        separator = self.query_choice("separator", SEPARATORS)
        decimal = self.query_choice("decimal", DECIMALS)
        section = self.section

        def make() -> str:
            numbers = section.queries.numbers(self.event_filter())
            rows = (row for part in numbers for row in section.named(list(section.archive.events.rows(part).values())))
            return export_csv_table(rows, separator, decimal)

        await self.send_text(make, "text/csv", "events.csv")


class StationsRoute(ArchiveRoute):
    """The stations and their sites."""

    async def get(self) -> None:
        """List the stations and their sites."""
        self.send_json({"stations": await self.work(self.section.archive.stations)})


class StationRoute(ArchiveRoute):
    """One station."""

    async def put(self, number: str) -> None:
        """Set the site of a station."""
        given = self.read_json()
        site = given.get("site")
        by = given.get("by")
        if not isinstance(site, str | dict) or not isinstance(by, str):
            raise HTTPRefusal("A station needs a site, as text or as an object, and by, your name.", 400)
        self.send_json(await self.work(self._set, int(number), site, by))

    def _set(self, number: int, site: "str | dict[str, Any]", by: str) -> dict[str, Any]:
        archive = self.section.archive
        names = self.section.queries.stations_by_id()
        if number not in names:
            raise HTTPMissing("There is no such station.")
        archive.set_site(names[number], site, by)
        found = next((one for one in archive.stations() if one["id"] == number), {"n_recordings": 0})
        return {"station": found, "recordings": found["n_recordings"]}


class AnalyzeAgainRoute(ArchiveRoute):
    """Analyze recordings again, with the present site, model and version."""

    async def post(self) -> None:
        """Let the recordings of a station, or one, be analyzed again."""
        given = self.read_json()
        station = given.get("station")
        name = given.get("recording")
        is_station = is_integer(station) and 0 <= station <= _MAX_STATION
        if not (is_station if name is None else isinstance(name, str)):
            raise HTTPRefusal("Name a station, by its ID, or a recording.", 400)
        contents = await self.work(self._ask, station, name)
        self.section.queue.ask_again(contents)
        self.section.files.look_again()
        await self.work(self.section.files.update, self.visitor)
        self.section.queue.wake()
        self.workbench.publish(CHANGED)
        self.send_json({"files": len(contents)})

    def _ask(self, station: int | None, name: str | None) -> list[str]:
        archive = self.section.archive
        if name is None:
            return archive.ask_again_for(station)
        contents = [self.analyzed(name)["content"]]
        archive.files.ask_again(contents)
        return contents


class CorrectionsRoute(ArchiveRoute):
    """Lists and stores corrections."""

    async def get(self) -> None:
        """Send the log of corrections."""
        section = self.section
        found = await self.work(section.archive.correction_log, self.owner)
        self.send_json({"corrections": [one | {"path": section.name_of(one["path"], one["upload"])} for one in found]})

    async def post(self) -> None:
        """Add a correction."""
        given = self.read_json()
        name = given.get("recording")
        index = given.get("event")
        what = given.get("what", "class")
        texts = [given.get(key, "") for key in ("label", "by", "note")]
        if not isinstance(name, str) or not is_integer(index) or what not in ("class", "cause"):
            raise HTTPRefusal("A correction needs a recording, the number of an event, and what: class or cause.", 400)
        if not all(isinstance(text, str) for text in texts):
            raise HTTPRefusal("label, by and note must be strings.", 400)
        place = await self.find(name)
        row = await self.work(self._add, place, index, what, *texts)
        message = {"about": "recordings", "id": place.id, "state": "corrected", "event": index, "what": what}
        self.workbench.publish(message | {"row": row}, place.file.visitor or None)
        self.send_json({"row": row})

    def _add(self, place: RecordingInFile, index: int, what: str, label: str, by: str, note: str) -> dict[str, Any]:
        section = self.section
        found = section.analysis(place)
        analysis = None if found is None else section.archive.analysis(found["number"])
        if found is None or analysis is None or not 0 <= index < len(analysis.events):
            raise HTTPMissing("There is no such event, or the recording has not been analyzed yet.")
        section.archive.correct(found["number"], index, label, by, note, what=what)
        return section.rows(place)[index]


class NotesRoute(ArchiveRoute):
    """Notes on a recording."""

    async def get(self, name: str) -> None:
        """List the notes on a recording."""
        self.send_json(await self.work(self._list, name))

    async def post(self, name: str) -> None:
        """Add a note to a recording."""
        given = self.read_json()
        text = given.get("text")
        by = given.get("by")
        stretch = [given[one] for one in ("start", "end") if one in given]
        if not isinstance(text, str) or not isinstance(by, str) or not all(isinstance(x, int | float) for x in stretch):
            raise HTTPRefusal("A note needs a text, and by, your name; a stretch, start and end in seconds.", 400)
        await self.work(lambda: self.section.archive.add_note(self.analyzed(name)["number"], text, by, *stretch))
        self.send_json(await self.work(self._list, name))

    async def delete(self, name: str) -> None:
        """Remove a note from a recording."""
        number = self.integer("number", 0, 0, 2**53)
        by = self.get_query_argument("by", "")
        notes = (await self.work(self._list, name))["notes"]
        if number not in [one["number"] for one in notes]:
            raise HTTPMissing("There is no such note.")
        await self.work(self.section.archive.remove_note, number, by)
        self.send_json(await self.work(self._list, name))

    def _list(self, name: str) -> dict[str, Any]:
        return {"notes": self.section.archive.notes(self.analyzed(name)["number"])}


ROUTES: list[tuple[str, type[BaseHandler]]] = [
    (r"/api/recordings", RecordingListRoute),
    (rf"/api/recordings/({ID})", OneRecordingRoute),
    (rf"/api/recordings/({ID})/view", WaveformRoute),
    (rf"/api/recordings/({ID})/analysis", RecordingAnalysisRoute),
    (rf"/api/recordings/({ID})/cursor", CursorRoute),
    (rf"/api/recordings/({ID})/raw.csv", SampleTableRoute),
    (rf"/api/recordings/({ID})/page.html", RecordingPageRoute),
    (rf"/api/recordings/({ID})/sheet.pdf", SheetRoute),
    (r"/api/uploads/(.+)", UploadRoute),
    (r"/api/events", EventPageRoute),
    (r"/api/archive", ArchiveListRoute),
    (r"/api/(months|hours|sarfi|scatter)", CountsRoute),
    (rf"/api/recordings/({ID})/others", OtherMetersRoute),
    (rf"/api/recordings/({ID})/notes", NotesRoute),
    (r"/api/table.csv", EventTableRoute),
    (r"/api/stations", StationsRoute),
    (r"/api/stations/([0-9]{1,9})", StationRoute),
    (r"/api/again", AnalyzeAgainRoute),
    (r"/api/corrections", CorrectionsRoute),
]
