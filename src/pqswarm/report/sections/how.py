"""How the study was run: version, machine, time, seeds, and the plan; and what to know about the paper it follows."""

from pqswarm.report.paper import INCONSISTENCIES
from pqswarm.report.section import Content
from pqswarm.report.sentences import duration, enumerate_words, say_machine
from pqswarm.report.summary import DatasetSummary
from pqswarm.study import format_plan
from pqswarm.study.plan import held_out_seeds


def how_content(study: DatasetSummary) -> Content:
    """State version, machine, time and seeds, and show the plan."""
    plan = study.plan
    seeds = {"events": study.generated and study.generated.seed, "searches": plan.seed}
    listed = [f"{seed} ({what})" for what, seed in seeds.items() if seed is not None]
    listed.insert(-1, f"{plan.folds.seed} and {plan.folds.stage_two_seed} (folds)")
    held_out = [str(seed) for seed in held_out_seeds(plan)]
    listed += [f"{enumerate_words(held_out)} (held-out {study.item}s)"] if held_out else []
    words = (
        f"{say_machine(study.about)} All searches together took {duration(study.seconds)} of computing time. Seeds: "
        f"{', '.join(listed)}. The same plan gives the same numbers, regardless of workers and interruptions."
    )
    return Content(words=[words], listings={"The plan, to repeat the study": format_plan(plan)})


def inconsistencies_content(study: DatasetSummary) -> Content:
    """List the inconsistencies of the paper, if the plan asks for it."""
    if not study.plan.paper:
        return Content()
    words = (
        "The study follows F. Hafiz, A. Swain, C. Naik, N. Patel, “Efficient feature selection of power quality events "
        "using two dimensional (2D) particle swarms”, Applied Soft Computing 81 (2019). Its values are marked “paper” "
        "in the tables. What to know about them:"
    )
    return Content(words=[words], points=INCONSISTENCIES)
