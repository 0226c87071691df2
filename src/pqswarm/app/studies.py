"""The room of studies: all studies of the folder, live while they run, and all that is known of one, or of two."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pqswarm.app.following import Following, Study
from pqswarm.app.handlers import Base, Refused
from pqswarm.app.jobs import Job
from pqswarm.app.study_numbers import about_study, chart_values, document_values, read_runs, run_values
from pqswarm.study.store import Store, store_stamp

if TYPE_CHECKING:
    from pqswarm.report.document import Document
    from pqswarm.report.summary import StudySummary

__all__ = ["ROUTES"]

_KEPT = 12
"""Answers that are kept, by what they are an answer to."""
_CALM = 50
"""What took a second is not computed again for as many seconds, as long as the study runs."""


class Shelf:
    """Answers that took time, until what they are about has changed; one is computed at a time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], tuple[object, Any, float]] = OrderedDict()
        self._one = asyncio.Lock()

    async def get(self, key: tuple[str, ...], stamp: object, work: Callable[[], Any], calm: bool = False) -> Any:
        """Return what is kept under a key if it is of that stamp, or calmly of a moment ago, else what work returns."""
        async with self._one:
            kept = self._kept.get(key)
            if kept is not None and (kept[0] == stamp or (calm and time.monotonic() < kept[2])):
                self._kept.move_to_end(key)
                return kept[1]
            begin = time.monotonic()
            value = await work()
            end = time.monotonic()
            self._kept[key] = stamp, value, end + _CALM * (end - begin)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return value


class Room(Base):
    """An answer about studies."""

    @property
    def following(self) -> Following:
        """Who looks at the studies, for all pages."""
        rooms = self.workbench.rooms
        if "studies" not in rooms:
            rooms["studies"] = Following(self.workbench), Shelf()
        found: Following = rooms["studies"][0]
        return found

    @property
    def shelf(self) -> Shelf:
        """What was computed before."""
        self.following  # noqa: B018 (it is made together with it)
        found: Shelf = self.workbench.rooms["studies"][1]
        return found

    async def study(self, name: str) -> Study:
        """Return a study by its id."""
        return await self.following.do(self.following.find, name)

    async def use(self, name: str, function: Callable[..., Any]) -> Any:
        """Return what a function of a study and its follower returns."""
        return await self.following.do(self.following.use, name, function)


class Studies(Room):
    """All studies of the folder."""

    async def get(self) -> None:
        """Send what is known of each."""
        rows = await self.following.do(self.following.rows)
        self.send_json({"folder": self.workbench.folder.name, "studies": rows})


class Watch(Room):
    """Whether a page shows studies."""

    def put(self) -> None:
        """Tell the page what changes, or no more."""
        page, wanted = self.page, bool(self.read_json().get("watch"))
        if page is not None and wanted:
            self.following.watch(page)
        elif page is not None:
            self.following.leave(page)
        self.send_json({"watching": wanted and page is not None})


class One(Room):
    """One study: its plan and progress."""

    async def get(self, name: str) -> None:
        """Send what it is."""
        self.send_json(await self.use(name, lambda study, follower: {"id": study.id} | about_study(follower)))


class Charts(Room):
    """What the charts of one classifier show."""

    async def get(self, name: str) -> None:
        """Send the numbers."""
        classifier = self.get_query_argument("classifier", "")
        runs = await self.use(name, lambda _, follower: read_runs(follower, classifier))

        async def compute() -> Any:
            return await self.work(lambda job: chart_values(job.check, runs))

        self.send_json(await self.shelf.get(("charts", name, classifier), len(runs.records), compute, calm=True))


class OneRun(Room):
    """One run."""

    async def get(self, name: str) -> None:
        """Send what it found."""
        classifier, algorithm = (self.get_query_argument(key, "") for key in ("classifier", "algorithm"))
        number = int(self.number("run"))
        self.send_json(
            await self.use(name, lambda _, follower: run_values(read_runs(follower, classifier), algorithm, number))
        )


class Tables(Room):
    """All words and tables of the report of a study, or of two side by side, as far as there are any."""

    async def get(self, name: str) -> None:
        """Compute them, which may take a while, and send them."""
        self.send_json(await self.written("tables", name, lambda document: document_values(document)))

    async def written(self, kind: str, name: str, write: "Callable[[Document], Any]") -> Any:
        """Return what is written of the report of a study, or of two."""
        second = self.get_query_argument("with", None)
        studies = [await self.study(one) for one in (name, second) if one is not None]
        if len(studies) == 2 and studies[0] is studies[1]:
            raise Refused("A study is compared with another one.", 400)
        stamp = [store_stamp(study.folder) for study in studies]

        async def compute() -> Any:
            return await self.work(_write, studies, write)

        return await self.shelf.get((kind, *(study.id for study in studies)), stamp, compute)


class Report(Tables):
    """The report as a page of its own, which can do nothing but be read."""

    async def get(self, name: str) -> None:
        """Make it and send it; nothing is written into the folder."""
        from pqswarm.report.html import html_report

        text = await self.written("report", name, html_report)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        # Of the inline scripts the page itself allows only its own, by its digest.
        self.set_header(
            "Content-Security-Policy",
            "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        )
        self.set_header("Cross-Origin-Opener-Policy", "unsafe-none")  # browsers refuse to sandbox a page that has one
        self.finish(text)


def _write(job: Job, studies: list[Study], write: "Callable[[Document], Any]") -> Any:
    from pqswarm.report.comparison import compare_studies
    from pqswarm.report.document import compose

    summaries = [_summary(study) for study in studies]
    job.check()
    if len(summaries) == 1:
        document = compose(summaries[0])
    else:
        document = compare_studies(summaries[0], summaries[1], (studies[0].name, studies[1].name))
    job.check()
    return write(document)


def _summary(study: Study) -> "StudySummary":
    from pqswarm.report.summary import summarize

    with Store(study.folder) as store:
        return summarize(store)


_ID = r"([0-9a-f]{16})"
ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/studies", Studies),
    (r"/api/studies/watch", Watch),
    (rf"/api/studies/{_ID}", One),
    (rf"/api/studies/{_ID}/charts", Charts),
    (rf"/api/studies/{_ID}/run", OneRun),
    (rf"/api/studies/{_ID}/tables", Tables),
    (rf"/api/studies/{_ID}/report", Report),
]
