"""Routes of the archive: lists, counts over time, other meters, stations, corrections and notes."""

from typing import Any

from pqswarm._base.checks import is_integer
from pqswarm.app.handlers import Base, HTTPRefusal, Missing
from pqswarm.app.recordings.queue import RecordingInFile, upload_folder_name
from pqswarm.app.recordings.routes import RecordingHandler
from pqswarm.app.recordings.section import CHANGED, ID
from pqswarm.identify import EventFilter, EventResult, possible_labels
from pqswarm.identify.archive.events import NOT_AN_EVENT
from pqswarm.identify.archive.export import DECIMALS, SEPARATORS, csv_table
from pqswarm.identify.archive.queries import ORDERS
from pqswarm.identify.tolerance import ITIC, SEMI, Curve

_MAX_PAGE = 500
"""Maximum number of rows of a page."""


class ArchiveHandler(RecordingHandler):
    """Base of the handlers of the archive."""

    @property
    def owner(self) -> str:
        """The visitor in the archive."""
        return upload_folder_name(self.visitor)

    def event_filter(self) -> EventFilter:
        """Return the events that the query selects."""
        name = self.get_query_argument("recording", "")
        stations = self.get_query_arguments("station")
        if not all(one.isdigit() and len(one) < 10 for one in stations):
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
            raise Missing("There is no such recording, or it has not been analysed yet.")
        return found

    def choice(self, name: str, choices: "tuple[str, ...]") -> str:
        """Return one of some words of the query, by default the first."""
        found = self.get_query_argument(name, choices[0], strip=False)
        if found not in choices:
            raise HTTPRefusal(f"{name} must be one of {', '.join(choices)}.", 400)
        return found


class EventPage(ArchiveHandler):
    """A page of the selected events."""

    async def get(self) -> None:
        """Send their rows."""
        order = self.choice("order", ORDERS)
        limit = self.integer("limit", 100, 1, _MAX_PAGE)
        after = self.get_query_argument("after", "")
        section = self.section

        def find() -> dict[str, Any]:
            page = section.queries.page(self.event_filter(), order, after, limit)
            return page | {"rows": section.named(page["rows"])}

        self.send_json(await self.work(find))


class ArchiveList(ArchiveHandler):
    """A page of all recordings."""

    async def get(self) -> None:
        """Send the recordings, the newest first."""
        station = self.integer("station", 0, 0, 10**9)
        limit = self.integer("limit", 100, 1, _MAX_PAGE)
        names = ("after", "state", "text")
        given = {name: self.get_query_argument(name, "")[:200] for name in names}
        section = self.section
        found = await self.work(
            lambda: section.archive.recordings(owner=self.owner, limit=limit, station=station, **given)
        )
        self.send_json(found | {"recordings": [section.listed(one) for one in found["recordings"]]})


class Counts(ArchiveHandler):
    """Counts of the selected events: by month, by hour and weekday, SARFI, magnitude against duration."""

    async def get(self, what: str) -> None:
        """Send the counts."""
        queries = self.section.queries
        key = {"months": "months", "hours": "hours", "sarfi": "rows"}.get(what)
        found = await self.work(lambda: getattr(queries, what)(self.event_filter()))
        self.send_json({key: found} if key else found | {"curves": [_curve("itic", ITIC), _curve("semi", SEMI)]})


def _curve(name: str, curve: Curve) -> dict[str, Any]:
    def corners(given: "tuple[tuple[float, float], ...]") -> list[list[float | None]]:
        return [[None if seconds == float("inf") else seconds, percent] for seconds, percent in given]

    return {"name": name, "title": curve.title, "lower": corners(curve.lower), "upper": corners(curve.upper)}


class OtherMeters(ArchiveHandler):
    """What other meters saw at the time of a recording."""

    async def get(self, name: str) -> None:
        """Send their events."""
        section = self.section
        seconds = min(max(self.number("seconds", 5.0), 0.0), 86_400.0)

        def find() -> list[dict[str, Any]]:
            return section.named(section.queries.others(self.analyzed(name)["number"], seconds, self.owner))

        self.send_json({"events": await self.work(find)})


class EventTable(ArchiveHandler):
    """The selected events as CSV."""

    async def get(self) -> None:
        """Send the table as a download."""
        separator = self.choice("separator", SEPARATORS)
        decimal = self.choice("decimal", DECIMALS)
        section = self.section

        def make() -> str:
            numbers = section.queries.numbers(self.event_filter())
            rows = (row for part in numbers for row in section.named(list(section.archive.events.rows(part).values())))
            return csv_table(rows, separator, decimal)

        await self.send_text(make, "text/csv", "events.csv")


class Stations(ArchiveHandler):
    """The stations and their sites."""

    async def get(self) -> None:
        """List them."""
        self.send_json({"stations": await self.work(self.section.archive.stations)})

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
            raise Missing("There is no such station.")
        archive.set_site(names[number], site, by)
        found = next((one for one in archive.stations() if one["id"] == number), {"n_recordings": 0})
        return {"station": found, "recordings": found["n_recordings"]}


class AnalyzeAgain(ArchiveHandler):
    """Analyse recordings again, with the present site, model and version."""

    async def post(self) -> None:
        """Let those of a station, or one, be analysed again."""
        given = self.read_json()
        station = given.get("station")
        name = given.get("recording")
        if not is_integer(station) and not isinstance(name, str):
            raise HTTPRefusal("Name a station or a recording.", 400)
        contents = await self.work(self._ask, station, name)
        self.section.queue.ask_again(contents)
        self.section.files.look_again()
        await self.work(self.section.update, self.visitor)
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


class Corrections(ArchiveHandler):
    """Lists and stores corrections."""

    async def get(self) -> None:
        """Send the log."""
        section = self.section
        found = await self.work(section.archive.correction_log, self.owner)
        listed = [one | {"path": section.name_of(one["path"], one["upload"])} for one in found]
        self.send_json({"corrections": listed})

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
        correction = row["correction" if what == "class" else "cause_correction"]
        message = {"about": "recordings", "id": place.id, "state": "corrected", "event": index, "what": what}
        self.workbench.publish(message | {"correction": correction, "row": row}, place.file.visitor or None)
        self.send_json({"correction": correction})

    def _add(self, place: RecordingInFile, index: int, what: str, label: str, by: str, note: str) -> dict[str, Any]:
        section = self.section
        found = section.analysis(place)
        analysis = None if found is None else section.archive.analysis(found["number"])
        if found is None or analysis is None or not 0 <= index < len(analysis.events):
            raise Missing("There is no such event, or the recording has not been analysed yet.")
        if what == "class" and label not in ("", NOT_AN_EVENT, *_possible(analysis, index)):
            raise HTTPRefusal("That class contradicts the measurements.", 400)
        section.archive.correct(found["number"], index, label, by, note, what=what)
        return section.rows(place)[index]


def _possible(analysis: Any, index: int) -> "tuple[str, ...]":
    event: EventResult = analysis.events[index]
    return tuple(possible_labels(analysis, event))


class Notes(ArchiveHandler):
    """Notes on a recording."""

    async def get(self, name: str) -> None:
        """List them."""
        self.send_json(await self.work(self._list, name))

    async def post(self, name: str) -> None:
        """Add one."""
        given = self.read_json()
        text = given.get("text")
        by = given.get("by")
        stretch = [given[one] for one in ("start", "end") if one in given]
        if not isinstance(text, str) or not isinstance(by, str) or not all(isinstance(x, int | float) for x in stretch):
            raise HTTPRefusal("A note needs a text, and by, your name; a stretch, start and end in seconds.", 400)
        await self.work(lambda: self.section.archive.add_note(self.analyzed(name)["number"], text, by, *stretch))
        self.send_json(await self.work(self._list, name))

    async def delete(self, name: str) -> None:
        """Remove one."""
        number = self.integer("number", 0, 0, 2**53)
        by = self.get_query_argument("by", "")
        notes = (await self.work(self._list, name))["notes"]
        if number not in [one["number"] for one in notes]:
            raise Missing("There is no such note.")
        await self.work(self.section.archive.remove_note, number, by)
        self.send_json(await self.work(self._list, name))

    def _list(self, name: str) -> dict[str, Any]:
        return {"notes": self.section.archive.notes(self.analyzed(name)["number"])}


ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/events", EventPage),
    (r"/api/archive", ArchiveList),
    (r"/api/(months|hours|sarfi|scatter)", Counts),
    (rf"/api/recordings/({ID})/others", OtherMeters),
    (rf"/api/recordings/({ID})/notes", Notes),
    (r"/api/table.csv", EventTable),
    (r"/api/stations", Stations),
    (r"/api/stations/([0-9]{1,9})", Stations),
    (r"/api/again", AnalyzeAgain),
    (r"/api/corrections", Corrections),
]
