"""How the study was run: version, machine, time, seeds, and the plan, to run it again."""

from pqswarm.report.section import Content
from pqswarm.report.sentences import duration
from pqswarm.report.summary import StudySummary
from pqswarm.study import format_plan

__all__ = ["content"]


def content(study: StudySummary) -> Content:
    """Tell version, machine, time and seeds, and give the plan."""
    about, machine, plan = study.about, study.about.machine, study.plan
    words = (
        f"pqswarm {about.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}). All searches together took {duration(study.seconds)} of computing time. Seeds: "
        f"{plan.dataset.seed} (events), {plan.folds.seed} and {plan.folds.stage_two_seed} (folds), {plan.seed} "
        f"(searches), {plan.held_out.seed} (held-out events). The same plan gives the same numbers, whatever the "
        f"number of workers and interruptions."
    )
    return Content(words=[words], listings={"The plan, to run it again": format_plan(plan)})
