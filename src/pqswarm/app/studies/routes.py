"""The room of studies: all studies of the folder, live while they run, and all that is known of one, or of two."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pqswarm.app.answer_cache import AnswerCache
from pqswarm.app.handlers import Base, Refused
from pqswarm.app.jobs import Job
from pqswarm.app.studies.followed import FollowedStudies, Study
from pqswarm.app.studies.values import Runs, about_study, chart_values, document_values, read_runs, run_values
from pqswarm.study.store import Store, store_stamp

if TYPE_CHECKING:
    from pqswarm.report.document import Document
    from pqswarm.report.summary import StudySummary
    from pqswarm.study.following import Follower

__all__ = ["ROUTES"]


class StudyHandler(Base):
    """An answer about studies."""

    @property
    def followed(self) -> FollowedStudies:
        """The studies of the folder, for all pages."""
        rooms = self.workbench.rooms
        if "studies" not in rooms:
            rooms["studies"] = FollowedStudies(self.workbench), AnswerCache()
        found: FollowedStudies = rooms["studies"][0]
        return found

    @property
    def cache(self) -> AnswerCache:
        """What was computed before."""
        self.followed  # noqa: B018 (it is made together with it)
        found: AnswerCache = self.workbench.rooms["studies"][1]
        return found

    async def study(self, name: str) -> Study:
        """Return a study by its id."""
        return await self.followed.do(self.followed.find, name)

    async def use(self, name: str, function: Callable[..., Any]) -> Any:
        """Return what a function of a study and its follower returns."""
        return await self.followed.do(self.followed.use, name, function)


class Studies(StudyHandler):
    """All studies of the folder."""

    async def get(self) -> None:
        """Send what is known of each."""
        rows = await self.followed.do(self.followed.rows)
        self.send_json({"folder": self.workbench.folder.name, "studies": rows})


class Watch(StudyHandler):
    """Whether a page shows studies."""

    def put(self) -> None:
        """Tell the page what changes, or no more."""
        page, wanted = self.page, bool(self.read_json().get("watch"))
        if page is not None and wanted:
            self.followed.watch(page)
        elif page is not None:
            self.followed.leave(page)
        self.send_json({"watching": wanted and page is not None})


class One(StudyHandler):
    """One study: its plan and progress."""

    async def get(self, name: str) -> None:
        """Send what it is."""
        self.send_json(await self.use(name, lambda study, follower: {"id": study.id} | about_study(follower)))


class Charts(StudyHandler):
    """What the charts of one classifier show."""

    async def get(self, name: str) -> None:
        """Send the numbers."""
        classifier = self.get_query_argument("classifier", "")
        runs, changing = await self.use(name, lambda _, follower: _current_runs(follower, classifier))

        async def compute() -> Any:
            return await self.work(lambda job: chart_values(job.check, runs))

        key = ("charts", name, classifier)
        self.send_json(await self.cache.get(key, len(runs.records), compute, changing))


def _current_runs(follower: "Follower", classifier: str) -> tuple[Runs, bool]:
    """The finished runs with a classifier, and whether there will soon be more."""
    seen = follower.look()
    more = seen.state == "running" and seen.progress.runs_done < seen.progress.runs_total
    return read_runs(follower, classifier), more


class OneRun(StudyHandler):
    """One run."""

    async def get(self, name: str) -> None:
        """Send what it found."""
        classifier, algorithm = (self.get_query_argument(key, "") for key in ("classifier", "algorithm"))
        number = int(self.number("run"))
        self.send_json(
            await self.use(name, lambda _, follower: run_values(read_runs(follower, classifier), algorithm, number))
        )


class Tables(StudyHandler):
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

        return await self.cache.get((kind, *(study.id for study in studies)), stamp, compute)


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
