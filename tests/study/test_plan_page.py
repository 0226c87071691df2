"""The page of the keys of a plan says what plans are."""

from pqswarm.study import read_plan
from tests.study.plan_tables import PAGE, PARTS, page


def test_page_of_plan_keys_is_up_to_date():
    """Else: python -m tests.study.plan_tables."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_examples_make_plans():
    examples = {part.__name__: example for _, part, example in PARTS}
    common = [examples[name] for name in ("FoldsPlan", "SubsetsPlan", "ClassifierPlan", "AlgorithmPlan")]
    for data, held_out in (("DatasetPlan", "HeldOutPlan"), ("OwnDataPlan", "OwnHeldOutPlan")):
        plan = read_plan("\n".join([examples["StudyPlan"], examples[data], examples[held_out], *common]))
        assert (type(plan.dataset).__name__, type(plan.held_out).__name__) == (data, held_out)
