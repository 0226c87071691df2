"""Routes of the studies section: all studies of the folder with their progress, and the report of one or two."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from pqswarm.app.handlers import Base, HTTPRefusal
from pqswarm.app.studies.followed import FollowedStudies, FollowedStudy
from pqswarm.errors import PqswarmError
from pqswarm.study.progress import Follower
from pqswarm.study.store import store_stamp


class StudyHandler(Base):
    """Base of the handlers of this section."""

    @property
    def followed(self) -> FollowedStudies:
        """The studies of the folder."""
        sections = self.workbench.sections
        if "studies" not in sections:
            sections["studies"] = FollowedStudies(self.workbench)
        followed: FollowedStudies = sections["studies"]
        return followed


class Studies(StudyHandler):
    """All studies of the folder."""

    async def get(self) -> None:
        """Send a row for each."""
        self.send_json({"folder": self.workbench.folder.name, "studies": await self.followed.run(self.followed.rows)})


class WatchStudies(StudyHandler):
    """Whether a page shows studies."""

    def put(self) -> None:
        """Start or stop sending changes to the page."""
        page = self.page
        wanted = bool(self.read_json().get("watch"))
        if page is not None and wanted:
            self.followed.watch(page)
        elif page is not None:
            self.followed.unwatch(page)
        self.send_json({"watching": wanted and page is not None})


@dataclass(frozen=True, eq=False)
class RenderedReport:
    """A report as HTML, the version of what it shows, and the time that rendering took [s]."""

    html: str
    version: str
    seconds: float


@dataclass(frozen=True, eq=False)
class StudyState:
    """A study, a text that changes when its report does, and whether it is running."""

    study: FollowedStudy
    version: str
    is_running: bool


class Report(StudyHandler):
    """The report of a study, or of two compared (``?with=ID``); nothing is written into the folder."""

    async def post(self, name: str) -> None:
        """Render it, and send its version, whether it is the latest, and how long rendering took [s].

        Of a running study without enough results, send the reason instead.
        """
        states = await self._look(name)
        try:
            report = await self._render(states)
        except PqswarmError as error:
            if not any(state.is_running for state in states):
                raise
            self.send_json({"reason": str(error)})
            return
        is_latest = report.version == _version(states)
        self.send_json({"version": report.version, "latest": is_latest, "seconds": round(report.seconds, 3)})

    async def get(self, name: str) -> None:
        """Send it as a sandboxed page, which only the workbench may show in a frame."""
        report = await self._render(await self._look(name))
        self.set_header("Content-Type", "text/html; charset=utf-8")
        # A CSP in the report itself admits only its own inline script, by hash.
        self.set_header(
            "Content-Security-Policy",
            "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
        )
        self.set_header("X-Frame-Options", "SAMEORIGIN")
        self.set_header("Cross-Origin-Opener-Policy", "unsafe-none")  # required by the sandbox
        self.finish(report.html)

    async def _look(self, name: str) -> list[StudyState]:
        second = self.get_query_argument("with", None)
        if second == name:
            raise HTTPRefusal("Choose another study to compare with.", 400)
        names = [name] if second is None else [name, second]
        return [await self.followed.run(self.followed.use, each, read_state) for each in names]

    async def _render(self, states: list[StudyState]) -> RenderedReport:
        """The latest report, or a recent one of a running study."""
        studies = [state.study for state in states]
        version = _version(states)

        async def render() -> RenderedReport:
            return await self.work(_render_report, self.job.check, studies, version)

        report: RenderedReport = await self.followed.answers.get(
            tuple(study.id for study in studies), version, render, any(state.is_running for state in states)
        )
        return report


def read_state(study: FollowedStudy, follower: Follower) -> StudyState:
    """Return the state of a study; while it runs, only the number of steps done makes a new version."""
    status = follower.look()
    if status.state == "running":
        return StudyState(study, " ".join(str(stage.done) for stage in status.stages), True)
    return StudyState(study, f"{status.state} {store_stamp(study.folder)}", False)


def _version(states: list[StudyState]) -> str:
    return "; ".join(state.version for state in states)


def _render_report(check: Callable[[], None], studies: list[FollowedStudy], version: str) -> RenderedReport:
    from pqswarm.report.html import html_report
    from pqswarm.report.study_report import compose_report

    start = time.monotonic()
    document = compose_report([study.folder for study in studies], [study.name for study in studies], check)
    check()
    return RenderedReport(html_report(document), version, time.monotonic() - start)


_ID = r"([0-9a-f]{16})"
ROUTES: list[tuple[str, type[Base]]] = [
    (r"/api/studies", Studies),
    (r"/api/studies/watch", WatchStudies),
    (rf"/api/studies/{_ID}/report", Report),
]
