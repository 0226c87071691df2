"""How the study was run: version, machine, time, seeds, and the plan; and what to know about the paper it follows."""

from pqswarm.report.paper import INCONSISTENCIES
from pqswarm.report.section import Content, duration, enumerate_words
from pqswarm.report.summary import DatasetSummary, MultiverseSummary, StudySummary, Summary
from pqswarm.study import format_plan
from pqswarm.study.plan import held_out_seeds


def how_content(study: DatasetSummary) -> Content:
    """State version, machine, time and seeds, and show the plan."""
    plan = study.plan
    listed = [] if study.generated is None else [f"{study.generated.seed} (events)"]
    listed += [f"{plan.folds.seed} and {plan.folds.stage_two_seed} (folds)", f"{plan.seed} (searches)"]
    held_out = [str(seed) for seed in held_out_seeds(plan)]
    listed += [f"{enumerate_words(held_out)} (held-out {study.item}s)"] if held_out else []
    words = (
        f"All searches together took {duration(study.seconds)} of computing time. Seeds: {', '.join(listed)}. The "
        f"same plan gives the same numbers, regardless of workers and interruptions."
    )
    return _how_to_repeat_content(study, words)


def how_over_datasets(study: StudySummary) -> Content:
    """State version, machine and time of a study on several data sets, and show the plan."""
    seconds = sum(dataset.seconds for dataset in study.datasets.values())
    words = (
        f"All searches together took {duration(seconds)} of computing time. The same plan gives the same numbers, "
        "regardless of workers and interruptions; the runs on one data set are those of a study on it alone."
    )
    return _how_to_repeat_content(study, words)


def how_over_specifications(study: MultiverseSummary) -> Content:
    """State version and machine of a multiverse, and show the plan."""
    return _how_to_repeat_content(
        study, "The same plan gives the same numbers, regardless of workers, device and interruptions."
    )


def _how_to_repeat_content(study: Summary, words: str) -> Content:
    machine = study.about.machine
    run_on = (
        f"pqswarm {study.about.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']})."
    )
    return Content(words=[f"{run_on} {words}"], listings={"The plan, to repeat the study": format_plan(study.plan)})


def how_paper_is_inconsistent(study: DatasetSummary) -> Content:
    """List the inconsistencies of the paper, if the plan asks for it."""
    if not study.plan.paper:
        return Content()
    words = (
        "The study follows F. Hafiz, A. Swain, C. Naik, N. Patel, “Efficient feature selection of power quality events "
        "using two dimensional (2D) particle swarms”, Applied Soft Computing 81 (2019). Its values are marked “paper” "
        "in the tables. What to know about them:"
    )
    return Content(words=[words], points=INCONSISTENCIES)
