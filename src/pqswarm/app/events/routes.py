"""Routes of the events section: generate an event, and see its waveform, features and verdict."""

import json
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from tornado.iostream import StreamClosedError

from pqswarm.app.events.answers import (
    describe_classes,
    describe_event,
    describe_features,
    describe_verdict,
    draw_view,
    summarise_verdict,
)
from pqswarm.app.events.request import EventRequest, read_request
from pqswarm.app.handlers import Base, HTTPRefusal
from pqswarm.app.jobs import Cancelled
from pqswarm.errors import PqswarmError
from pqswarm.recordings import write_comtrade, write_csv

_NOT_PARAMETERS = frozenset({"from", "to", "points", "over", "steps", "scale", "format", "ticket"})
"""Query words that are not parameters of the event."""
_MAX_POINTS = 4000
_MAX_STEPS = 101


class EventHandler(Base):
    """Base of the handlers of this section. The URL describes the event in full: the server keeps no state."""

    def event_request(self) -> EventRequest:
        """Return the requested event."""
        words = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        return read_request({name: text for name, text in words.items() if name not in _NOT_PARAMETERS})

    def interval(self) -> tuple[float | None, float | None, int]:
        """Return start and end of the view [s], None for those of the record, and the number of columns."""
        start = self.number("from") if self.get_query_argument("from", "") else None
        end = self.number("to") if self.get_query_argument("to", "") else None
        return start, end, int(min(max(self.number("points", 800), 10), _MAX_POINTS))


class Classes(EventHandler):
    """The classes of a preset."""

    async def get(self) -> None:
        """Send them."""
        preset = self.get_query_argument("preset", "paper")
        self.send_json(await self.work(describe_classes, preset))


class EventAnswer(EventHandler):
    """An event with its fields and waveform, its waveform in an interval, its features, or the verdict on it."""

    async def get(self, what: str) -> None:
        """Send it."""
        request, model = self.event_request(), self.workbench.model
        if what in ("event", "view"):
            answer = self.work(describe_event if what == "event" else draw_view, request, *self.interval())
        elif what == "features":
            answer = self.work(describe_features, request, model)
        else:
            answer = self.work(describe_verdict, request, model, self.job.check)
        self.send_json(await answer)


class Sweep(EventHandler):
    """Verdicts while one parameter varies: a line of JSON per step, until the page disconnects."""

    async def get(self) -> None:
        """Send the lines."""
        request, name = self.event_request(), self.get_query_argument("over")
        steps = int(self.number("steps", 31))
        if not 2 <= steps <= _MAX_STEPS:
            raise HTTPRefusal(f"steps must be from 2 to {_MAX_STEPS}.", 400)
        low, high = self.number("from"), self.number("to")
        if not low < high:
            raise HTTPRefusal("The sweep must start below its end.", 400)
        is_log = self.get_query_argument("scale", "") == "log" and low > 0
        values = np.geomspace(low, high, steps) if is_log else np.linspace(low, high, steps)
        self.set_header("Content-Type", "application/x-ndjson")
        try:
            for value in values.tolist():
                line = await self.work(self._step, request, name, float(f"{value:.6g}"))
                self.write(json.dumps(line, allow_nan=False) + "\n")
                await self.flush()
        except (StreamClosedError, Cancelled):
            return

    def _step(self, request: EventRequest, name: str, value: float) -> dict[str, Any]:
        try:
            return {
                "value": value,
                **summarise_verdict(request.with_parameter(name, value), self.workbench.model, self.job.check),
            }
        except PqswarmError as error:
            return {"value": value, "error": str(error)}


class EventFile(EventHandler):
    """The event as a recording: a table, or COMTRADE in an archive."""

    async def get(self) -> None:
        """Send it."""
        request, kind = self.event_request(), self.get_query_argument("format", "csv")
        if kind not in ("csv", "comtrade"):
            raise HTTPRefusal("format must be csv or comtrade.", 400)
        data = await self.work(_write_event_recording, request, kind)
        self.set_header("Content-Type", "text/csv; charset=utf-8" if kind == "csv" else "application/zip")
        name = f"{request.title}.{'csv' if kind == 'csv' else 'zip'}"
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(data)


def _write_event_recording(request: EventRequest, kind: str) -> bytes:
    recording = request.record()[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{request.title}.{'csv' if kind == 'csv' else 'cfg'}")
        if kind == "csv":
            return write_csv(recording, path).read_bytes()
        write_comtrade(recording, path)
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in sorted(Path(folder).iterdir()):
                archive.write(part, part.name)
        return packed.getvalue()


ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/events/classes", Classes),
    (r"/api/events/(event|view|features|verdict)", EventAnswer),
    (r"/api/events/sweep", Sweep),
    (r"/api/events/file", EventFile),
]
