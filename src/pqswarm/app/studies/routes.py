"""Routes of the studies section: all studies of the folder, one study, or two compared."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pqswarm.app.handlers import Base, HTTPRefusal
from pqswarm.app.studies.followed import FollowedStudies, FollowedStudy
from pqswarm.app.studies.values import chart_values, current_runs, document_values, read_runs, run_values, study_values
from pqswarm.study.database import store_stamp

if TYPE_CHECKING:
    from pqswarm.report.document import Document
    from pqswarm.study.live_progress import Follower


class StudyHandler(Base):
    """Base of the handlers of this section."""

    @property
    def followed(self) -> FollowedStudies:
        """The studies of the folder."""
        sections = self.workbench.sections
        if "studies" not in sections:
            sections["studies"] = FollowedStudies(self.workbench)
        found: FollowedStudies = sections["studies"]
        return found

    async def use(self, name: str, function: Callable[..., Any]) -> Any:
        """Apply a function to a study and its follower."""
        return await self.followed.run(self.followed.use, name, function)


class Studies(StudyHandler):
    """All studies of the folder."""

    async def get(self) -> None:
        """Send a row for each."""
        rows = await self.followed.run(self.followed.rows)
        self.send_json({"folder": self.workbench.folder.name, "studies": rows})


class WatchStudies(StudyHandler):
    """Whether a page shows studies."""

    def put(self) -> None:
        """Start or stop sending changes to the page."""
        page, wanted = self.page, bool(self.read_json().get("watch"))
        if page is not None and wanted:
            self.followed.watch(page)
        elif page is not None:
            self.followed.unwatch(page)
        self.send_json({"watching": wanted and page is not None})


class OneStudy(StudyHandler):
    """Plan and progress of a study."""

    async def get(self, name: str) -> None:
        """Send both."""
        self.send_json(await self.use(name, lambda study, follower: {"id": study.id} | study_values(follower)))


class Charts(StudyHandler):
    """Chart data of one classifier."""

    async def get(self, name: str) -> None:
        """Send the data."""
        classifier, dataset = (self.get_query_argument(key, "") for key in ("classifier", "dataset"))
        runs, changing = await self.use(name, lambda _, follower: current_runs(follower, classifier, dataset))

        async def compute() -> Any:
            return await self.work(chart_values, self.job.check, runs)

        key = ("charts", name, classifier, dataset)
        self.send_json(await self.followed.answers.get(key, len(runs.records), compute, changing))


class OneRun(StudyHandler):
    """One run."""

    async def get(self, name: str) -> None:
        """Send its result."""
        keys = ("classifier", "dataset", "algorithm")
        classifier, dataset, algorithm = (self.get_query_argument(key, "") for key in keys)
        number = int(self.number("run"))

        def one(_: FollowedStudy, follower: "Follower") -> Any:
            return run_values(read_runs(follower, classifier, dataset), algorithm, number)

        self.send_json(await self.use(name, one))


class Tables(StudyHandler):
    """Texts and tables of the report of a study, or of two compared."""

    async def get(self, name: str) -> None:
        """Compute and send them; this may take a while."""
        self.send_json(await self.render_report("tables", name, document_values))

    async def render_report(self, kind: str, name: str, render: "Callable[[Document], Any]") -> Any:
        """Return the rendered report of a study, or of two."""
        second = self.get_query_argument("with", None)
        names = [one for one in (name, second) if one is not None]
        studies = [await self.followed.run(self.followed.find, one) for one in names]
        if len(studies) == 2 and studies[0] is studies[1]:
            raise HTTPRefusal("Choose another study to compare with.", 400)
        stamp = [store_stamp(study.folder) for study in studies]

        async def compute() -> Any:
            return await self.work(_render_requested_studies, self.job.check, studies, render)

        return await self.followed.answers.get((kind, *(study.id for study in studies)), stamp, compute)


class Report(Tables):
    """The report as a sandboxed page."""

    async def get(self, name: str) -> None:
        """Send it; nothing is written into the folder."""
        from pqswarm.report.html import html_report

        text = await self.render_report("report", name, html_report)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        # A CSP in the report itself admits only its own inline script, by hash.
        self.set_header(
            "Content-Security-Policy",
            "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        )
        self.set_header("Cross-Origin-Opener-Policy", "unsafe-none")  # required by the sandbox
        self.finish(text)


def _render_requested_studies(
    check: Callable[[], None], studies: list[FollowedStudy], render: "Callable[[Document], Any]"
) -> Any:
    from pqswarm.report.study_report import compose_report

    document = compose_report([study.folder for study in studies], [study.name for study in studies], check)
    check()
    return render(document)


_ID = r"([0-9a-f]{16})"
ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/studies", Studies),
    (r"/api/studies/watch", WatchStudies),
    (rf"/api/studies/{_ID}", OneStudy),
    (rf"/api/studies/{_ID}/charts", Charts),
    (rf"/api/studies/{_ID}/run", OneRun),
    (rf"/api/studies/{_ID}/tables", Tables),
    (rf"/api/studies/{_ID}/report", Report),
]
