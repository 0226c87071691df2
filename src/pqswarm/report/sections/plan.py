"""The plan of the study, to run it again."""

from pqswarm.report.section import Content, StudySection
from pqswarm.report.summary import StudySummary
from pqswarm.study import format_plan

__all__ = ["SECTION"]


def _content(study: StudySummary) -> Content:
    words = "To run the study again, save this as a TOML file and give it to pqswarm study."
    return Content(words=[words], code=format_plan(study.plan))


SECTION = StudySection("plan", "The plan", _content)
