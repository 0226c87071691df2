"""The room of events: a class is bent by hand, and its waveform, features and verdicts follow."""

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
    sum_up,
)
from pqswarm.app.events.request import EventRequest, read_request
from pqswarm.app.handlers import Base, Refused
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.errors import PqswarmError
from pqswarm.recordings import write_comtrade, write_csv

__all__ = ["ROUTES"]

_ADDRESSED = frozenset({"from", "to", "points", "over", "steps", "scale", "format", "token"})
"""Words of an address that are no parameters."""
_MOST_POINTS = 4000
_MOST_STEPS = 101


class EventHandler(Base):
    """An answer about an event, which the address names in full: nothing is kept between requests."""

    def asked(self) -> EventRequest:
        """The event."""
        words = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        return read_request({name: text for name, text in words.items() if name not in _ADDRESSED})

    def stretch(self) -> tuple[float | None, float | None, int]:
        """What is looked at: begin and end [s], None for those of the record, and how many parts are wanted."""
        begin = self.number("from") if self.get_query_argument("from", "") else None
        end = self.number("to") if self.get_query_argument("to", "") else None
        return begin, end, int(min(max(self.number("points", 800), 10), _MOST_POINTS))


class Classes(EventHandler):
    """The classes of a preset."""

    async def get(self) -> None:
        """Send them."""
        preset = self.get_query_argument("preset", "paper")
        self.send_json(await self.work(lambda _: describe_classes(preset)))


class OneEvent(EventHandler):
    """An event: fields, record, waveform."""

    async def get(self) -> None:
        """Send it."""
        asked, stretch = self.asked(), self.stretch()
        self.send_json(await self.work(lambda _: describe_event(asked, *stretch)))


class View(EventHandler):
    """A stretch of its waveform."""

    async def get(self) -> None:
        """Send it."""
        asked, stretch = self.asked(), self.stretch()
        self.send_json(await self.work(lambda _: draw_view(asked, *stretch)))


class Features(EventHandler):
    """Its bands and features."""

    async def get(self) -> None:
        """Send them."""
        asked, model = self.asked(), self.workbench.model
        self.send_json(await self.work(lambda _: describe_features(asked, model)))


class Verdict(EventHandler):
    """What the rules and the model say."""

    async def get(self) -> None:
        """Send it."""
        asked, model = self.asked(), self.workbench.model
        self.send_json(await self.work(lambda job: describe_verdict(asked, model, job.check)))


class Sweep(EventHandler):
    """What they say while one parameter moves: a line of JSON for each step, as long as the page listens."""

    async def get(self) -> None:
        """Send one line after another."""
        asked, name = self.asked(), self.get_query_argument("over")
        steps = int(self.number("steps", 31))
        if not 2 <= steps <= _MOST_STEPS:
            raise Refused(f"steps must be from 2 to {_MOST_STEPS}.", 400)
        low, high = self.number("from"), self.number("to")
        if not low < high:
            raise Refused("The sweep must begin below its end.", 400)
        is_log = self.get_query_argument("scale", "") == "log" and low > 0
        values = np.geomspace(low, high, steps) if is_log else np.linspace(low, high, steps)
        self.set_header("Content-Type", "application/x-ndjson")
        try:
            for value in values.tolist():
                line = await self.work(self._step, asked, name, float(f"{value:.6g}"))
                self.write(json.dumps(line, allow_nan=False) + "\n")
                await self.flush()
        except (StreamClosedError, Cancelled):
            return

    def _step(self, job: Job, asked: EventRequest, name: str, value: float) -> dict[str, Any]:
        try:
            return {"value": value, **sum_up(asked.moved(name, value), self.workbench.model, job.check)}
        except PqswarmError as error:
            return {"value": value, "error": str(error)}


class EventFile(EventHandler):
    """The event as a recording: a table, or COMTRADE in an archive."""

    async def get(self) -> None:
        """Send it."""
        asked, kind = self.asked(), self.get_query_argument("format", "csv")
        if kind not in ("csv", "comtrade"):
            raise Refused("format must be csv or comtrade.", 400)
        data = await self.work(lambda _: _write(asked, kind))
        self.set_header("Content-Type", "text/csv; charset=utf-8" if kind == "csv" else "application/zip")
        name = f"{asked.title}.{'csv' if kind == 'csv' else 'zip'}"
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(data)


def _write(asked: EventRequest, kind: str) -> bytes:
    recording = asked.record()[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{asked.title}.{'csv' if kind == 'csv' else 'cfg'}")
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
    (r"/api/events/event", OneEvent),
    (r"/api/events/view", View),
    (r"/api/events/features", Features),
    (r"/api/events/verdict", Verdict),
    (r"/api/events/sweep", Sweep),
    (r"/api/events/file", EventFile),
]
