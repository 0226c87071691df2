"""Studies: a plan, the runs, and a store of results that survives interruptions."""

from pqswarm.study.plan import AlgorithmPlan, ClassifierPlan, StudyPlan
from pqswarm.study.plan_file import PLANS, format_plan, load_plan, plan_text, read_plan
from pqswarm.study.progress import StudyProgress
from pqswarm.study.records import RunKey, RunRecord, best_run
from pqswarm.study.run import run_study
from pqswarm.study.store import Store, Study, read_study

__all__ = [
    "PLANS",
    "AlgorithmPlan",
    "ClassifierPlan",
    "RunKey",
    "RunRecord",
    "Store",
    "Study",
    "StudyPlan",
    "StudyProgress",
    "best_run",
    "format_plan",
    "load_plan",
    "plan_text",
    "read_plan",
    "read_study",
    "run_study",
]
