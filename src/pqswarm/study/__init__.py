"""Studies: a plan, its runs in a store that survives being killed, and what was found."""

from pqswarm.study.plan import PLANS, AlgorithmPlan, ClassifierPlan, StudyPlan, load_plan, plan_text, read_plan
from pqswarm.study.records import RunKey, RunRecord
from pqswarm.study.runner import StudyProgress, best_of, run_study
from pqswarm.study.store import Store

__all__ = [
    "PLANS",
    "AlgorithmPlan",
    "ClassifierPlan",
    "RunKey",
    "RunRecord",
    "Store",
    "StudyPlan",
    "StudyProgress",
    "best_of",
    "load_plan",
    "plan_text",
    "read_plan",
    "run_study",
]
